#!/bin/sh
# The tracer `count`: both tables against what OTP counted, settings, sessions side by side.
. tests/cli/report

expect 'tags and functions' "$tracehost" replay -t count,top=3 "$recordings/s03_exceptions_return_to.trace" <<'LINES'
      events       %  tag
          34   39.08  call
          19   21.84  return_to
          18   20.69  exception_from
          16   18.39  return_from
          87  100.00  all

       calls       %  function
           4   11.76  ex:b1/1
           4   11.76  ex:b2/1
           4   11.76  ex:b3/1
          22   64.71  9 more
LINES

# OTP's counts of a stream, trace and trace_ts together, as "N tag" and "N module:function/arity", are all among what count
# prints.
otp_counts() {
    awk '/^tag/ { gsub(/\x27/, "", $3); sum[$3] += $4 } /^call / { sum[$2] = $3 } END { for (of in sum) print sum[of], of }' "$1"
}
counted() {
    "$tracehost" replay -t count,top=0 "$1" | awk '$1 ~ /^[0-9]+$/ { print $1, $3 }'
}
same_counts() {
    counted "${1%.counts.txt}.trace" | sort >"$work/counted" && otp_counts "$1" | sort >"$work/otp" &&
        [ -s "$work/otp" ] && [ -z "$(comm -23 "$work/otp" "$work/counted" | tee /dev/stderr)" ]
}
for counts in "$recordings"/s0[3-9]*.counts.txt "$recordings"/s1[1235]*.counts.txt "$large"/*.counts.txt; do
    name=$(basename "$counts" .counts.txt)
    if [ -e "$counts" ]; then
        check "as OTP counted: $name" same_counts "$counts"
    else
        skip "as OTP counted: $large" 'these recordings are not here'
    fi
done

# Two sessions take turns at every event; each has the whole of it, and a third of the same state has
# its table.
side_by_side() {
    stream=$recordings/s04_genserver_pingpong.trace
    "$tracehost" replay -t count,top=0 "$stream" >"$work/alone" &&
        "$tracehost" replay -t "count,top=0,output=$work/one" -t "count,top=0,output=$work/other" "$stream" &&
        cmp "$work/one" "$work/alone" && cmp "$work/other" "$work/alone"
}
check 'sessions side by side' side_by_side

twice() {
    "$tracehost" replay -t count -t count "$recordings/s01_seed_local_caller.trace" | head -2
}
expect 'sessions of one state count together' twice <<'LINES'
      events       %  tag
          30  100.00  call
LINES

expect 'top that is no number' "$tracehost" replay -t count,top=most "$recordings/s01_seed_local_caller.trace" <<'LINES'
      events       %  tag
          15  100.00  call
          15  100.00  all

       calls       %  function
          11   73.33  ex:bar/1
           1    6.67  ex:foo/0
           1    6.67  ex:indirections/0
           1    6.67  ex:lots/0
           1    6.67  ex:'of'/0
-- stderr
count: top is no number; 20 functions are shown
LINES

# Calls whose term is none of a call count for the tag alone.
cat >"$work/odd.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[1|2]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{\"m\",f,1}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,-1}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,1}"}
{"tracee":"<0.1.0>","tag":"call","term":"m"}
LINES
expect 'calls that are none' "$tracehost" replay -t count "$work/odd.jsonl" <<'LINES'
      events       %  tag
           5  100.00  call
           5  100.00  all

       calls       %  function
           1  100.00  m:f/1
LINES

finish
