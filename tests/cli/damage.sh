#!/bin/sh
# Tests damaged and unreadable streams: messages, exit statuses, and the output for records before the damage.
# Long because: it holds whole outputs.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace

# put FILE BYTE VALUE: VALUE is octal.
put() {
    printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>"$work/dd"
}

# --- each byte of a record ---

# Commands agree on which records are damaged, although each command decodes other parts of a record.
# agreed FILE SIZE: damages each of the bytes up to SIZE in turn, except those of the first head; in slow
# builds one of ten.
[ -z "$slow" ] && step=1 || step=10
agreed() {
    byte=5
    while [ $byte -lt "$2" ]; do
        cp "$1" "$work/agreed.trace"
        put "$work/agreed.trace" $byte 200
        {
            "$tracehost" dump "$work/agreed.trace" || echo "status $?"
            "$tracehost" info "$work/agreed.trace" || echo "status $?"
            "$tracehost" replay "$work/agreed.trace" || echo "status $?"
            "$tracehost" convert "$work/agreed.trace" "$work/agreed.jsonl" || echo "status $?"
        } 2>&1 | grep '^status' | uniq -c >"$work/statuses"
        case $(cat "$work/statuses") in
        '' | '      4 status '[34]) ;;
        *) echo "byte $byte:" $(cat "$work/statuses") ;;
        esac
        byte=$((byte + step))
    done
}
head -c 162 "$calls" >"$work/calls"
expect 'dump, info, replay and convert agree on each damaged byte' agreed "$work/calls" 81 <<'EOF'
EOF
"$tracehost" convert --to=trace - "$work/timed" <<'EOF'
{"tracehost":1,"node":"a@h","creation":1}
{"ts":1000,"ts_kind":"strict_monotonic","ts_unique":-5,"tracee":"<0.50.0>","tag":"return_from","term":"{m,f,1}","extra":"ok"}
EOF
expect 'all commands agree on each damaged byte of a record with a time' agreed "$work/timed" "$(wc -c <"$work/timed")" <<'EOF'
EOF
sed 's/return_from/return_fr\x80m/' "$work/timed" >"$work/no_tag"
kept() {
    for command in dump info replay; do
        "$tracehost" $command "$work/no_tag"
        echo "status $?"
    done
    "$tracehost" convert --to=jsonl "$work/no_tag" -
}
expect 'a record that is no trace message is kept, and counted as damaged' kept <<'EOF'
{trace_ts,<0.50.0>,'return_fr\200m',{m,f,1},ok,{1000,-5}}.
status 4
stream      WORK/no_tag (trace-port)
node        a@h
records     0, 81 bytes
time        none recorded
other       1 record of another kind than trace messages
damage      1 record skipped
status 4
status 4
{"tracehost":1,"node":"a@h","creation":1}
{"other":"{trace_ts,<0.50.0>,'return_fr\\200m',{m,f,1},ok,{1000,-5}}"}
-- stderr
tracehost dump: WORK/no_tag: record 1 at byte 0 is damaged, and is kept unchanged
  the record is not a trace message
tracehost dump: WORK/no_tag: recovered 1 record
tracehost info: WORK/no_tag: record 1 at byte 0 was skipped
  the record is not a trace message
tracehost info: WORK/no_tag: recovered 0 records, skipped 1
tracehost replay: WORK/no_tag: record 1 at byte 0 was skipped
  the record is not a trace message
tracehost replay: WORK/no_tag: recovered 0 records, skipped 1
tracehost convert: WORK/no_tag: record 1 at byte 0 is damaged, and is kept unchanged
  the record is not a trace message
tracehost convert: WORK/no_tag: recovered 1 record
-- status 4
EOF

# --- cut off ---

for name in trunc_body trunc_hdr trunc_hdr_only s22_killed_vm; do
    # Compares stderr; dump.sh compares the recovered records.
    told() {
        "$tracehost" "$@" >"$work/out"
    }
    file=$recordings/$name.trace
    {
        for command in dump info replay; do
            told $command "$file" 2>&1
            echo "status $?"
        done
        told replay --allow-partial "$file" 2>"$work/err"
        echo "status $? with --allow-partial"
    } >"$work/$name"
done
expect 'a stream that ends inside a record is reported' cat "$work/trunc_body" <<'EOF'
tracehost dump: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost dump: samples/recordings/trunc_body.trace: recovered 14 records
status 4
tracehost info: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost info: samples/recordings/trunc_body.trace: recovered 14 records
status 4
tracehost replay: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost replay: samples/recordings/trunc_body.trace: recovered 14 records
status 4
status 0 with --allow-partial
EOF
expect 'a stream that ends inside the head of a record is reported' cat "$work/trunc_hdr" <<'EOF'
tracehost dump: samples/recordings/trunc_hdr.trace: record 15 at byte 1172 is truncated
  the input ends after 2 of the 5 bytes of the record's head
tracehost dump: samples/recordings/trunc_hdr.trace: recovered 14 records
status 4
tracehost info: samples/recordings/trunc_hdr.trace: record 15 at byte 1172 is truncated
  the input ends after 2 of the 5 bytes of the record's head
tracehost info: samples/recordings/trunc_hdr.trace: recovered 14 records
status 4
tracehost replay: samples/recordings/trunc_hdr.trace: record 15 at byte 1172 is truncated
  the input ends after 2 of the 5 bytes of the record's head
tracehost replay: samples/recordings/trunc_hdr.trace: recovered 14 records
status 4
status 0 with --allow-partial
EOF
expect 'a stream that ends after the head of a record is reported' cat "$work/trunc_hdr_only" <<'EOF'
tracehost dump: samples/recordings/trunc_hdr_only.trace: record 15 at byte 1172 is truncated
  the input ends after the head of the record, before its 79 bytes
tracehost dump: samples/recordings/trunc_hdr_only.trace: recovered 14 records
status 4
tracehost info: samples/recordings/trunc_hdr_only.trace: record 15 at byte 1172 is truncated
  the input ends after the head of the record, before its 79 bytes
tracehost info: samples/recordings/trunc_hdr_only.trace: recovered 14 records
status 4
tracehost replay: samples/recordings/trunc_hdr_only.trace: record 15 at byte 1172 is truncated
  the input ends after the head of the record, before its 79 bytes
tracehost replay: samples/recordings/trunc_hdr_only.trace: recovered 14 records
status 4
status 0 with --allow-partial
EOF
expect 'a recording of a killed VM is reported as truncated' cat "$work/s22_killed_vm" <<'EOF'
tracehost dump: samples/recordings/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost dump: samples/recordings/s22_killed_vm.trace: recovered 1156 records
status 4
tracehost info: samples/recordings/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost info: samples/recordings/s22_killed_vm.trace: recovered 1156 records
status 4
tracehost replay: samples/recordings/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost replay: samples/recordings/s22_killed_vm.trace: recovered 1156 records
status 4
status 0 with --allow-partial
EOF
expect 'records before a truncation are played' "$tracehost" replay -t count "$recordings/trunc_body.trace" <<'EOF'
      events       %  tag
          14  100.00  call
          14  100.00  all

       calls       %  function
          10   71.43  ex:bar/1
           1    7.14  ex:foo/0
           1    7.14  ex:indirections/0
           1    7.14  ex:lots/0
           1    7.14  ex:'of'/0
-- stderr
tracehost replay: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost replay: samples/recordings/trunc_body.trace: recovered 14 records
-- status 4
EOF
expect 'info counts the records before a truncation' "$tracehost" info "$recordings/trunc_hdr.trace" <<'EOF'
stream      samples/recordings/trunc_hdr.trace (trace-port)
node        nonode@nohost
records     14, 1174 bytes
time        none recorded
damage      truncated or damaged in 1 place

   records  tag
        14  trace call/5

   records  tracee (1)
        14  <0.79.0>

     calls  function (14 calls of 5 functions)
        10  ex:bar/1
         1  ex:foo/0
         1  ex:indirections/0
         1  ex:lots/0
         1  ex:'of'/0
-- stderr
tracehost info: samples/recordings/trunc_hdr.trace: record 15 at byte 1172 is truncated
  the input ends after 2 of the 5 bytes of the record's head
tracehost info: samples/recordings/trunc_hdr.trace: recovered 14 records
-- status 4
EOF

partial() {
    "$tracehost" info --allow-partial --format=json "$1" | grep -E '"(total|partial|malformed|damages)"'
}
expect 'info --format=json marks a truncated stream as partial' partial "$recordings/trunc_hdr.trace" <<'EOF'
  "total": 14,
  "malformed": 0,
  "damages": 1,
  "partial": true,
-- stderr
tracehost info: samples/recordings/trunc_hdr.trace: record 15 at byte 1172 is truncated
  the input ends after 2 of the 5 bytes of the record's head
tracehost info: samples/recordings/trunc_hdr.trace: recovered 14 records
EOF

cut_in_two() {
    head -c 1252 "$calls" | "$tracehost" convert - "$work/cut.jsonl"
    "$tracehost" dump "$work/cut.jsonl" | tail -n 1
}
expect 'records before a truncation are converted' cut_in_two <<'EOF'
{trace,<0.79.0>,call,{ex,bar,[1]},{ex,foo,0}}.
-- stderr
tracehost convert: stdin: record 15 at byte 1172 is truncated
  the input ends after 75 of the record's 79 bytes
tracehost convert: stdin: recovered 14 records
EOF

# --- damaged in the middle ---

cp "$calls" "$work/op"
put "$work/op" 162 7
expect 'a byte that begins no record loses the rest of the file' "$tracehost" dump "$work/op" <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
-- stderr
tracehost dump: WORK/op: record 3 at byte 162 is damaged: the rest of the file is lost
  the record begins with byte 7, not with 0 (a message) or 1 (a drop)
tracehost dump: WORK/op: recovered 2 records
-- status 4
EOF
cp "$calls" "$work/size"
put "$work/size" 163 177
expect 'a record size beyond the end of the file is reported' "$tracehost" replay -t text "$work/size" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
-- stderr
tracehost replay: WORK/size: record 3 at byte 162 is truncated
  the input ends after 1089 of the record's 2130706507 bytes
tracehost replay: WORK/size: recovered 2 records
-- status 4
EOF

cp "$calls" "$work/payload"
put "$work/payload" 168 377
expect 'a record that is no term is skipped by replay' "$tracehost" replay "$work/payload" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
<0.79.0>   call ex:bar(10) [result {ex,foo,0}]
<0.79.0>   call ex:bar(9) [result {ex,foo,0}]
<0.79.0>   call ex:bar(8) [result {ex,foo,0}]
<0.79.0>   call ex:bar(7) [result {ex,foo,0}]
<0.79.0>   call ex:bar(6) [result {ex,foo,0}]
<0.79.0>   call ex:bar(5) [result {ex,foo,0}]
<0.79.0>   call ex:bar(4) [result {ex,foo,0}]
<0.79.0>   call ex:bar(3) [result {ex,foo,0}]
<0.79.0>   call ex:bar(2) [result {ex,foo,0}]
<0.79.0>   call ex:bar(1) [result {ex,foo,0}]
<0.79.0>   call ex:bar(0) [result {ex,foo,0}]
-- stderr
tracehost replay: WORK/payload: record 3 at byte 162 is damaged
  the term is damaged or truncated
tracehost replay: WORK/payload: recovered 14 records, skipped 1
-- status 4
EOF
expect '--allow-partial sets status 0 although a record is no term' \
    "$tracehost" replay --allow-partial -t count,top=1 "$work/payload" <<'EOF'
      events       %  tag
          14  100.00  call
          14  100.00  all

       calls       %  function
          11   78.57  ex:bar/1
           3   21.43  3 more
-- stderr
tracehost replay: WORK/payload: record 3 at byte 162 is damaged
  the term is damaged or truncated
tracehost replay: WORK/payload: recovered 14 records, skipped 1
EOF
expect 'a record that is no term is skipped by dump' "$tracehost" dump --max-events=4 "$work/payload" <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
{trace,<0.79.0>,call,{ex,indirections,[]},{ex,foo,0}}.
-- stderr
tracehost dump: WORK/payload: record 3 at byte 162 is damaged
  the term is damaged or truncated
tracehost dump: WORK/payload: recovered 3 records, skipped 1
-- status 4
EOF

# Damages only the last element of record 3, the result of the match specification.
cp "$calls" "$work/deep"
put "$work/deep" 240 377
deep() {
    "$tracehost" "$@" "$work/deep" >"$work/out"
}
expect 'replay skips a record with a damaged element' deep replay --max-records=4 <<'EOF'
-- stderr
tracehost replay: WORK/deep: record 3 at byte 162 was skipped
  the element at byte 60 of the term is damaged
  external term, byte 13, tag 255: there is no such tag
tracehost replay: WORK/deep: recovered 3 records, skipped 1
-- status 4
EOF
expect 'dump skips a record with a damaged element' deep dump --max-events=4 <<'EOF'
-- stderr
tracehost dump: WORK/deep: record 3 at byte 162 was skipped
  external term, byte 73, tag 255: there is no such tag
tracehost dump: WORK/deep: recovered 3 records, skipped 1
-- status 4
EOF
expect 'info skips a record with a damaged element' "$tracehost" info --max-events=4 "$work/deep" <<'EOF'
stream      WORK/deep (trace-port)
node        nonode@nohost
records     3, 332 bytes
time        none recorded
damage      1 record skipped

   records  tag
         3  trace call/5

   records  tracee (1)
         3  <0.79.0>

     calls  function (3 calls of 3 functions)
         1  ex:foo/0
         1  ex:indirections/0
         1  ex:lots/0
-- stderr
tracehost info: WORK/deep: record 3 at byte 162 was skipped
  the element at byte 60 of the term is damaged
  external term, byte 13, tag 255: there is no such tag
tracehost info: WORK/deep: recovered 3 records, skipped 1
-- status 4
EOF
expect 'damage in an element that is not decoded is not reported' deep replay --flags=ports <<'EOF'
-- stderr
tracehost replay: warning: tracer 'text': no event matches --flags=ports; there are call events
EOF
expect '--verify reports damage in an element that is not decoded' deep replay --verify --flags=ports <<'EOF'
-- stderr
tracehost replay: WORK/deep: record 3 at byte 162 was skipped
  the element at byte 60 of the term is damaged
  external term, byte 13, tag 255: there is no such tag
tracehost replay: WORK/deep: recovered 14 records, skipped 1
tracehost replay: warning: tracer 'text': no event matches --flags=ports; there are call events
-- status 4
EOF

# Records that are no terms.
i=2
cp "$recordings/wrap/w1.log" "$work/all"
while [ $i -lt 28 ]; do
    put "$work/all" $((i * 81 + 5)) 377
    i=$((i + 1))
done
expect 'only the first ten faults are printed' "$tracehost" dump --allow-partial "$work/all" <<'EOF'
{trace,<0.242.0>,call,{wl,id,[{n,317}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,318}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,345}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,346}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,347}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,348}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,349}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,350}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,351}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,352}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,353}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,354}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,355}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,356}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,357}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,358}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,359}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,360}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,361}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,362}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,363}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,364}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,365}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,366}]}}.
{trace,<0.242.0>,call,{wl,id,[{n,367}]}}.
-- stderr
tracehost dump: WORK/all: record 3 at byte 162 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 4 at byte 243 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 5 at byte 324 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 6 at byte 405 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 7 at byte 486 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 8 at byte 567 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 9 at byte 648 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 10 at byte 729 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 11 at byte 810 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: record 12 at byte 891 is damaged
  the record begins with byte 255, not with 131 as a term does
tracehost dump: WORK/all: recovered 25 records, skipped 26; only the first 10 faults are shown
EOF

# A replay continues with the next file of a wrap set.
set_with_damage() {
    cp "$recordings"/wrap/w[1-4].log "$work/set" &&
        put "$work/set/w2.log" 162 7 &&
        "$tracehost" replay -t count "$work/set/w*.log"
}
mkdir "$work/set"
expect 'a replay continues after damage with the next file of a wrap set' set_with_damage <<'EOF'
      events       %  tag
         135  100.00  call
         135  100.00  all

       calls       %  function
         135  100.00  wl:id/1
-- stderr
tracehost replay: WORK/set/w2.log: record 54 at byte 162 is damaged: the rest of the file is lost
  the record begins with byte 7, not with 0 (a message) or 1 (a drop)
tracehost replay: WORK/set/w*.log: recovered 135 records
-- status 4
EOF

# --- not a stream ---

is_not() {
    printf "$1" >"$work/file"
    "$tracehost" dump "$work/file"
}
expect 'a missing file is reported' "$tracehost" replay "$work/none" <<'EOF'
-- stderr
tracehost replay: cannot read WORK/none
  No such file or directory
-- status 3
EOF
expect 'a folder is refused' "$tracehost" info "$work" <<'EOF'
-- stderr
tracehost info: cannot read WORK
  the path is a folder
-- status 3
EOF
expect 'a read error is reported' "$tracehost" dump /proc/self/mem <<'EOF'
-- stderr
tracehost dump: cannot read /proc/self/mem
  Input/output error
-- status 3
EOF
expect 'an empty file has no records and no damage' "$tracehost" info "$recordings/s20_empty.trace" <<'EOF'
stream      samples/recordings/s20_empty.trace (trace-port)
records     0, 0 bytes
time        none recorded
EOF
expect 'a text file is refused' is_not 'hello, world\n' <<'EOF'
-- stderr
tracehost dump: cannot read WORK/file
  the input begins with byte 104; a trace-port file begins with 0 or 1, JSON lines begin with {
-- status 3
EOF
expect 'a file of unknown bytes is refused' is_not '\377\376\n' <<'EOF'
-- stderr
tracehost dump: cannot read WORK/file
  the input begins with byte 255; a trace-port file begins with 0 or 1, JSON lines begin with {
-- status 3
EOF
expect 'a file of zeros is refused' is_not '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' <<'EOF'
-- stderr
tracehost dump: cannot read WORK/file
  the input is not a recorded stream: byte 0 stands first, as in a trace-port file, but no external term follows
-- status 3
EOF
expect 'a file of a single byte is reported as truncated' is_not '\0' <<'EOF'
-- stderr
tracehost dump: WORK/file: record 1 at byte 0 is truncated
  the input ends after 1 of the 5 bytes of the record's head
tracehost dump: WORK/file: recovered 0 records
-- status 4
EOF
expect 'a program is refused' "$tracehost" dump "$tracehost" <<'EOF'
-- stderr
tracehost dump: cannot read BUILD/bin/tracehost
  the input is a program or shared object (ELF), not a recording
-- status 3
EOF
expect 'a file of one external term is refused' is_not '\203h\1a\1' <<'EOF'
-- stderr
tracehost dump: cannot read WORK/file
  the input is one external term, not a recording
-- status 3
EOF
expect 'Erlang terms as text are refused' is_not '{trace,<0.1.0>,call,{a,b,[]}}.\n' <<'EOF'
-- stderr
tracehost dump: cannot read WORK/file
  the input is not a recorded stream: its first lines are not JSON objects
  column 6: string or '}' expected near 'trace'
-- status 3
EOF
archived() {
    xz -c "$calls" >"$work/calls.xz"
    "$tracehost" replay "$work/calls.xz"
}
expect 'a file compressed with xz is refused' archived <<'EOF'
-- stderr
tracehost replay: cannot read WORK/calls.xz
  the input is compressed with xz; decompress it, or use a pipe: unxz -c FILE | tracehost ... -
-- status 3
EOF
unreadable() {
    cp "$calls" "$work/secret"
    chmod 0 "$work/secret"
    "$tracehost" dump "$work/secret"
}
if [ "$(id -u)" = 0 ]; then
    skip 'a file without read permission is reported' 'root may read all'
else
    expect 'a file without read permission is reported' unreadable <<'EOF'
-- stderr
tracehost dump: cannot read WORK/secret
  Permission denied
-- status 3
EOF
fi

# --- JSON lines ---

lines() {
    cat >"$work/lines.jsonl"
    "$tracehost" dump "$work/lines.jsonl"
}
sound='{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,[]}"}'
with_bad_lines() {
    lines <<EOF
$sound
{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,["}
{"tracee":"<0.79.0>","tag":"fall","term":"{ex,foo,[]}"}
{"tracee":"<0.79.0>","tag":"call"}
{"tracee":"0.79.0","tag":"call","term":"{ex,foo,[]}"}
{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,[]}","colour":"red"}
not even JSON

$sound
EOF
}
expect 'bad JSON lines are reported; good lines are read' with_bad_lines <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]}}.
{trace,<0.79.0>,call,{ex,foo,[]}}.
-- stderr
tracehost dump: WORK/lines.jsonl: record 2 at byte 56 was skipped
  cannot read the field "term"
  line 1, column 10: expected a term, found the end of the text
tracehost dump: WORK/lines.jsonl: record 3 at byte 110 (line 3) is damaged
  the field "tag" is not a known tag
tracehost dump: WORK/lines.jsonl: record 4 at byte 166 (line 4) is damaged
  the field "term" is missing
tracehost dump: WORK/lines.jsonl: record 5 at byte 201 (line 5) is damaged
  cannot read the field "tracee"
  line 1, column 5: expected the end of the term (only constants are read, no expressions), found ".0"
tracehost dump: WORK/lines.jsonl: record 6 at byte 255 (line 6) is damaged
  unknown field "colour"
tracehost dump: WORK/lines.jsonl: record 7 at byte 326 (line 7) is damaged
  column 3: '[' or '{' expected near 'not'
tracehost dump: WORK/lines.jsonl: recovered 2 records, skipped 6
-- status 4
EOF
no_end() {
    printf '%s\n%.30s' "$sound" "$sound" >"$work/lines.jsonl"
    "$tracehost" replay "$work/lines.jsonl"
}
expect 'a last JSON line that is cut off is reported' no_end <<'EOF'
<0.79.0>   call ex:foo()
-- stderr
tracehost replay: WORK/lines.jsonl: record 2 at byte 56 (line 2) is truncated
  column 30: premature end of input near '"ca'; the line is incomplete
tracehost replay: WORK/lines.jsonl: recovered 1 record
-- status 4
EOF
bad_header() {
    printf '{"tracehost":2}\n%s\n' "$sound" >"$work/lines.jsonl"
    "$tracehost" replay "$work/lines.jsonl"
}
expect 'a header of another version is refused' bad_header <<'EOF'
-- stderr
tracehost replay: cannot read WORK/lines.jsonl
  cannot read the header in line 1
  the version must be 1
-- status 3
EOF
converted() {
    with_bad_lines 2>"$work/err" >"$work/out"
    "$tracehost" convert --allow-partial "$work/lines.jsonl" "$work/lines.trace" 2>"$work/err" &&
        "$tracehost" dump "$work/lines.trace"
}
expect 'convert keeps the good JSON lines' converted <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]}}.
{trace,<0.79.0>,call,{ex,foo,[]}}.
EOF

finish
