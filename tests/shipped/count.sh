#!/bin/sh
# Tests the tracer `count`: both tables against OTP's counts, settings, sessions side by side.
. tests/cli/lib/assertions.sh

expect 'two tables show events by tag and calls by function' "$tracehost" replay -t count,top=3 "$recordings/s03_exceptions_return_to.trace" <<'LINES'
      events       %  tag
          34   39.08  call
          19   21.84  return_to
          18   20.69  exception_from
          16   18.39  return_from
          87  100.00  all

       calls       %   errors  function
           4   11.76        3  ex:b1/1
           4   11.76        3  ex:b2/1
           4   11.76        3  ex:b3/1
          22   64.71        9  9 more
LINES

of_exceptions() {
    "$tracehost" replay -t "count,$1" "$recordings/s03_exceptions_return_to.trace"
}
expect 'by=function prints only the table of functions' of_exceptions by=function,top=1 <<'LINES'
       calls       %   errors  function
           4   11.76        3  ex:b1/1
          30   88.24       15  11 more
LINES
expect 'by=tag prints only the table of tags' of_exceptions by=tag,top=1 <<'LINES'
      events       %  tag
          34   39.08  call
          19   21.84  return_to
          18   20.69  exception_from
          16   18.39  return_from
          87  100.00  all
LINES
expect 'by=process prints events and calls of the busiest process' "$tracehost" replay -t count,by=process,top=1 "$recordings/s04_genserver_pingpong.trace" <<'LINES'
      events       %        calls  process
         399   55.49          271  <0.95.0>
         320   44.51          166  1 more
LINES
expect 'format=json prints both tables as JSON' of_exceptions format=json,top=2 <<'LINES'
{"tags":[
{"events":34,"tag":"call"},
{"events":19,"tag":"return_to"},
{"events":18,"tag":"exception_from"},
{"events":16,"tag":"return_from"}
],
"functions":[
{"calls":4,"errors":3,"function":"ex:b1/1"},
{"calls":4,"errors":3,"function":"ex:b2/1"}
]}
LINES
expect 'format=csv prints functions as CSV' of_exceptions format=csv,top=1 <<'LINES'
calls,errors,function
4,3,ex:b1/1
LINES
expect 'format=csv,by=process prints processes as CSV' of_exceptions format=csv,by=process <<'LINES'
events,calls,errors,process,name
87,34,18,<0.89.0>,
LINES
expect 'an unknown value of a setting is refused' of_exceptions by=color,format=xml,top=1 <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'count'
  tracer 'count': the setting 'by' cannot be 'color'
  the setting must be function, process or tag
-- status 2
LINES

# OTP's counts of a stream, trace and trace_ts together, as "N tag" and "N module:function/arity", are all among what count
# prints.
otp_counts() {
    awk '/^tag/ { gsub(/\x27/, "", $3); sum[$3] += $4 } /^call / { sum[$2] = $3 } END { for (of in sum) print sum[of], of }' "$1"
}
counted() {
    "$tracehost" replay -t count,top=0 "$1" | awk '$1 ~ /^[0-9]+$/ { print $1, $NF }'
}
same_counts() {
    counted "${1%.counts.txt}.trace" | sort >"$work/counted" && otp_counts "$1" | sort >"$work/otp" &&
        [ -s "$work/otp" ] && [ -z "$(comm -23 "$work/otp" "$work/counted" | tee /dev/stderr)" ]
}
as_json() {
    "$tracehost" replay -t count,format=json "$1" >"$work/json" &&
        python3 -c 'import json, sys
for table in json.load(sys.stdin).values():
    for row in table:
        print(row.get("calls", row.get("events")), row.get("function", row.get("tag")))' <"$work/json"
}
same_in_json() {
    "$tracehost" replay -t count,top=0 "$1" | awk '$1 ~ /^[0-9]+$/ && $3 != "all" { sub(/^ *[0-9]+ +[0-9.]+ +([0-9]+  )?/, $1 " "); print }' |
        sort >"$work/counted" && as_json "$1" | sort | diff - "$work/counted" && [ -s "$work/counted" ]
}
for name in s03_exceptions_return_to s09_collections_return s15_kitchen_sink; do
    check "the JSON equals the text: $name" same_in_json "$recordings/$name.trace"
done

for counts in "$recordings"/s0[3-9]*.counts.txt "$recordings"/s1[1235]*.counts.txt "$large"/*.counts.txt; do
    name=$(basename "$counts" .counts.txt)
    if [ -e "$counts" ]; then
        check "the counts include those of OTP: $name" same_counts "$counts"
    else
        skip "the counts include those of OTP: $large" 'these recordings are not here'
    fi
done

# OTP's totals again, by process and in JSON.
totals_by_process() {
    "$tracehost" replay -t count,by=process,format=csv "$1" | awk -F, 'NR > 1 { e += $1; c += $2; x += $3 } END { print e, c, x }' >"$work/ours"
    awk '/^total/ { e = $2 } /^tag .* call / { c += $4 } /^tag .* exception_from / { x += $4 } END { print e, c + 0, x + 0 }' "${1%.trace}.counts.txt" |
        diff - "$work/ours"
}
for name in s03_exceptions_return_to s04_genserver_pingpong s10_seq_trace s13_procs s15_kitchen_sink; do
    check "the sums of all processes equal the totals of OTP: $name" totals_by_process "$recordings/$name.trace"
done

# Two sessions take turns at every event; each has the whole of it, and a third of the same state has
# its table.
side_by_side() {
    stream=$recordings/s04_genserver_pingpong.trace
    "$tracehost" replay -t count,top=0 "$stream" >"$work/alone" &&
        "$tracehost" replay -t "count,top=0,output=$work/one" -t "count,top=0,output=$work/other" "$stream" &&
        cmp "$work/one" "$work/alone" && cmp "$work/other" "$work/alone"
}
check 'sessions with different outputs count separately' side_by_side

twice() {
    "$tracehost" replay -t count -t count "$recordings/s01_seed_local_caller.trace" | head -2
}
expect 'sessions with equal settings share one table' twice <<'LINES'
      events       %  tag
          30  100.00  call
LINES

expect 'a value of top that is not a number is refused' "$tracehost" replay -t count,top=most "$recordings/s01_seed_local_caller.trace" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'count'
  tracer 'count': the setting 'top' cannot be 'most'
  the setting must be a number from 0 to 4294967295
-- status 2
LINES

# Names that JSON and CSV have marks for.
cat >"$work/names.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{m,'a,\"b\\\\',1}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,'\\x{e9}\\x{20ac}',1}"}
LINES
names_in() {
    "$tracehost" replay -t "count,by=function,format=$1" "$work/names.jsonl"
}
names_are() {
    names_in csv >"$work/csv" && names_in json >"$work/json" && python3 - "$work" <<'PROGRAM'
import csv, json, sys
names = sorted(row["function"] for row in json.load(open(sys.argv[1] + "/json", encoding="utf-8"))["functions"])
assert names == sorted(row["function"] for row in csv.DictReader(open(sys.argv[1] + "/csv", encoding="utf-8"))), names
assert names == ["m:'a,\"b\\\\'/1", "m:'\u00e9\\x{20AC}'/1"], names
PROGRAM
}
check 'special characters of names are escaped in JSON and CSV' names_are

# Calls whose term is none of a call count for the tag alone.
cat >"$work/odd.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[1|2]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{\"m\",f,1}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,-1}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,1}"}
{"tracee":"<0.1.0>","tag":"call","term":"m"}
LINES
expect 'a call event with a malformed term counts only for its tag' "$tracehost" replay -t count "$work/odd.jsonl" <<'LINES'
      events       %  tag
           5  100.00  call
           5  100.00  all

       calls       %  function
           1  100.00  m:f/1
LINES

finish
