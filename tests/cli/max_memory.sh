#!/bin/sh
# Tests --max-memory: each command that reads streams skips records that need more memory.
. tests/cli/lib/assertions.sh

# A list of 20 million elements, 320 MB and more, in 20 kB of a compressed term; one of five million in 10 MB of text; a record and a line of
# 20 MB. Each stands between two small events.
python3 - "$work" <<'EOF'
import struct, sys, zlib
def atom(name):
    return b'd' + struct.pack('>H', len(name)) + name
def pid(number):
    return b'X' + atom(b'nonode@nohost') + struct.pack('>III', number, 0, 0)
def record(term, packed=False):
    term = b'h\5' + atom(b'trace') + pid(94) + atom(b'send') + term + pid(95)
    term = b'P' + struct.pack('>I', len(term)) + zlib.compress(term, 9) if packed else term
    return b'\0' + struct.pack('>I', len(term) + 1) + b'\x83' + term
def line(term):
    return b'{"tracee":"<0.94.0>","tag":"send","term":%s,"extra":"<0.95.0>"}\n' % term
for name, make, middle in (
        ('list.trace', record, record(b'l' + struct.pack('>I', 20000000) + b'j' * 20000001, packed=True)),
        ('long.trace', record, record(b'm' + struct.pack('>I', 20000000) + b'x' * 20000000)),
        ('list.jsonl', line, line(b'"[a' + b',a' * 5000000 + b']"')),
        ('long.jsonl', line, line(b'"' + b'x' * 20000000 + b'"'))):
    small = atom(b'small') if make is record else b'"small"'
    with open(sys.argv[1] + '/' + name, 'wb') as file:
        file.write(make(small) + middle + make(small))
EOF

# bounded COMMAND...: runs the command with 100 MB of memory, which would not be enough without --max-memory. A sanitizer
# or an emulator needs more.
bounded() {
    case $BUILD_DIR:${EMULATOR:-} in
    *asan: | *tsan: | *:?*) "$tracehost" "$@" ;;
    *) (ulimit -v 120000 && MALLOC_ARENA_MAX=1 "$tracehost" "$@") ;;
    esac
}
each() {
    for stream in list.trace long.trace list.jsonl long.jsonl; do
        echo "- $stream"
        bounded "$@" "$work/$stream" 2>&1 || echo "status $?"
    done
}
expect 'replay skips a record whose term is too large, and plays the others' each replay --max-memory=32MiB <<'EOF'
- list.trace
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.trace: record 2 at byte 89 is damaged
  in a compressed term of 19532 bytes, 20000081 inflated
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.trace: recovered 2 records, skipped 1
status 4
- long.trace
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.trace: record 2 at byte 89 was skipped
  the element at byte 47 of the term is damaged
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.trace: recovered 2 records, skipped 1
status 4
- list.jsonl
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.jsonl: record 2 at byte 69 (line 2) is damaged
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.jsonl: recovered 2 records, skipped 1
status 4
- long.jsonl
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.jsonl: record 2 at byte 69 (line 2) is damaged
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.jsonl: recovered 2 records, skipped 1
status 4
EOF
expect 'replay skips a record that is itself longer than the limit' each replay --max-memory=1MiB <<'EOF'
- list.trace
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.trace: record 2 at byte 89 is damaged
  the event needs more memory than the limit of 1048576 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.trace: recovered 2 records, skipped 1
status 4
- long.trace
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.trace: record 2 at byte 89 is damaged
  the event needs more memory than the limit of 1048576 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.trace: recovered 2 records, skipped 1
status 4
- list.jsonl
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.jsonl: record 2 at byte 69 (line 2) is damaged
  the line is longer than 1048576 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/list.jsonl: recovered 2 records, skipped 1
status 4
- long.jsonl
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.jsonl: record 2 at byte 69 (line 2) is damaged
  the line is longer than 1048576 bytes (--max-memory)
<0.94.0>   send small -> <0.95.0>
tracehost replay: WORK/long.jsonl: recovered 2 records, skipped 1
status 4
EOF
expect 'dump skips a record whose term is too large' bounded dump --max-memory=32MiB "$work/list.trace" <<'EOF'
{trace,<0.94.0>,send,small,<0.95.0>}.
{trace,<0.94.0>,send,small,<0.95.0>}.
-- stderr
tracehost dump: WORK/list.trace: record 2 at byte 89 is damaged
  in a compressed term of 19532 bytes, 20000081 inflated
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
tracehost dump: WORK/list.trace: recovered 2 records, skipped 1
-- status 4
EOF
expect 'info skips a record whose term is too large' bounded info --max-memory=32MiB "$work/list.trace" <<'EOF'
stream      WORK/list.trace (trace-port)
node        nonode@nohost
records     2, 19717 bytes
time        none recorded
damage      1 record skipped

   records  tag
         2  trace send/5

   records  tracee (1)
         2  <0.94.0>
-- stderr
tracehost info: WORK/list.trace: record 2 at byte 89 is damaged
  in a compressed term of 19532 bytes, 20000081 inflated
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
tracehost info: WORK/list.trace: recovered 2 records, skipped 1
-- status 4
EOF
expect 'convert skips a record whose term is too large' bounded convert --max-memory=32MiB --to=jsonl "$work/list.trace" - <<'EOF'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"tracee":"<0.94.0>","tag":"send","term":"small","extra":"<0.95.0>"}
{"tracee":"<0.94.0>","tag":"send","term":"small","extra":"<0.95.0>"}
-- stderr
tracehost convert: WORK/list.trace: record 2 at byte 89 is damaged
  in a compressed term of 19532 bytes, 20000081 inflated
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
tracehost convert: WORK/list.trace: recovered 2 records, skipped 1
-- status 4
EOF
expect 'report skips a record whose term is too large' bounded report --max-memory=32MiB -o "$work/page" "$work/list.trace" <<'EOF'
-- stderr
tracehost report: WORK/list.trace: record 2 at byte 89 is damaged
  in a compressed term of 19532 bytes, 20000081 inflated
  the event needs more memory than the limit of 33554432 bytes (--max-memory)
tracehost report: WORK/list.trace: recovered 2 records, skipped 1
-- status 4
EOF
# fitting FILE: prints the status of each command; some commands read a record twice.
fitting() {
    for command in replay info dump 'convert --to=trace' 'convert --to=jsonl'; do
        case $command in
        convert*) "$tracehost" $command --max-memory=48MiB "$work/$1" "$work/converted" ;;
        *) "$tracehost" $command --max-memory=48MiB "$work/$1" >/dev/null ;;
        esac
        echo "$command: $?"
    done
}
expect 'a record that fits in the limit is read by each command' fitting long.trace <<'EOF'
replay: 0
info: 0
dump: 0
convert --to=trace: 0
convert --to=jsonl: 0
EOF
sizes() {
    for size in "$@"; do
        "$tracehost" info --max-memory="$size" "$recordings/s04_genserver_pingpong.trace" 2>&1 | grep -E '^records|must be'
    done
}
expect 'a size that is too small or malformed is refused' sizes 1 1023KiB 1x 1Mi -1MiB 99999999999G '' <<'EOF'
tracehost info: --max-memory must be at least 1MiB, not '1'
tracehost info: --max-memory must be at least 1MiB, not '1023KiB'
tracehost info: --max-memory must be a size such as 1048576, 64KiB or 2GiB, not '1x'
tracehost info: --max-memory must be a size such as 1048576, 64KiB or 2GiB, not '1Mi'
tracehost info: --max-memory must be a size such as 1048576, 64KiB or 2GiB, not '-1MiB'
tracehost info: --max-memory must be a size such as 1048576, 64KiB or 2GiB, not '99999999999G'
tracehost info: --max-memory must be a size such as 1048576, 64KiB or 2GiB, not ''
EOF
expect 'a size may have a unit' sizes 1048576 1024K 1MiB 64M 2GiB <<'EOF'
records     719, 122215 bytes
records     719, 122215 bytes
records     719, 122215 bytes
records     719, 122215 bytes
records     719, 122215 bytes
EOF

finish
