#!/bin/sh
# Tests packed recordings: what convert --index writes, what a replay reads of it, and what is left of damaged ones.
. tests/cli/lib/assertions.sh

long=$recordings/s09_collections_return.trace
"$tracehost" convert --index=4KiB "$long" "$work/long.trace.zst"

# With sanitizers, and in an emulator, tests that take long have one recording.
some=$(echo "$recordings"/s[01]*.trace)
few=
case $BUILD_DIR:${EMULATOR:-} in
*:?*) some=$long few=yes ;;
*/asan: | */tsan:) few=yes ;;
esac

plain_again() {
    for trace in $some; do
        for size in 500 1MiB; do
            "$tracehost" convert --index=$size "$trace" "$work/x.trace.zst" && zstd -qdc "$work/x.trace.zst" | cmp - "$trace" &&
                "$tracehost" convert "$work/x.trace.zst" "$work/x.trace" && cmp "$work/x.trace" "$trace" || return 1
        done
    done
}
check 'zstd -d and convert give the plain file back' plain_again
# Records that another encoder wrote: in the older encodings of atoms, integers and pids, compressed, with a time that is
# none, and a term that is no trace message. A record that is no term is left out.
other_encodings() {
    python3 - "$work/other.trace" "$work/unsound.trace" <<'PY'
import struct, sys, zlib
def record(data):
    return b'\0' + struct.pack('>I', len(data)) + data
def atom(text):
    return b'd' + struct.pack('>H', len(text)) + text.encode()
def message(pid, *elements):
    return b'h' + bytes([3 + len(elements)]) + atom('trace_ts') + pid + atom('call') + b''.join(elements)
old_pid = b'g' + atom('nonode@nohost') + struct.pack('>IIB', 80, 0, 0)
new_pid = b'X' + atom('nonode@nohost') + struct.pack('>III', 80, 0, 0)
function = b'i' + struct.pack('>I', 3) + atom('lists') + atom('reverse') + b'b' + struct.pack('>I', 1)
stamp = b'h\3' + b''.join(b'b' + struct.pack('>I', part) for part in (1700, 1, 5))
plain = message(new_pid, function, stamp)
records = [b'\x83' + plain, b'\x83' + message(old_pid, function, stamp), b'\x83P' + struct.pack('>I', len(plain)) + zlib.compress(plain),
           b'\x83' + message(new_pid, function, atom('now')), b'\x83' + b'h\1' + atom('note')]
open(sys.argv[1], 'wb').write(b''.join(map(record, records)))
open(sys.argv[2], 'wb').write(b''.join(map(record, [records[0], records[1][:-3], records[2] + b'a', records[2]])))
PY
    for name in other unsound; do
        "$tracehost" convert --index "$work/$name.trace" "$work/$name.trace.zst" 2>&1 | sed "s,$work/,,"
        [ $name = unsound ] || zstd -qdc "$work/$name.trace.zst" | cmp - "$work/$name.trace"
        "$tracehost" dump "$work/$name.trace.zst" 2>/dev/null
    done
}
expect 'records are packed as they are' other_encodings <<'OUT'
tracehost convert: other.trace: record 4 at byte 295 is damaged, and is kept unchanged
  the last element is not a time stamp
tracehost convert: other.trace: record 5 at byte 384 is damaged, and is kept unchanged
  the record is not a trace message
tracehost convert: other.trace: recovered 5 records
{trace_ts,<0.80.0>,call,{lists,reverse,1},{1700,1,5}}.
{trace_ts,<0.80.0>,call,{lists,reverse,1},{1700,1,5}}.
{trace_ts,<0.80.0>,call,{lists,reverse,1},{1700,1,5}}.
{trace_ts,<0.80.0>,call,{lists,reverse,1},now}.
{note}.
tracehost convert: unsound.trace: record 2 at byte 100 was skipped
  external term, byte 87, tag 98 (INTEGER_EXT): truncated after 2 bytes
tracehost convert: unsound.trace: record 3 at byte 194 is damaged
  1 bytes follow the term
tracehost convert: unsound.trace: recovered 2 records, skipped 2
{trace_ts,<0.80.0>,call,{lists,reverse,1},{1700,1,5}}.
{trace_ts,<0.80.0>,call,{lists,reverse,1},{1700,1,5}}.
OUT
# Two calls of one function; the end of the first and the beginning of the second are in frames that are lost.
lost_between() {
    {
        echo '{"tracehost":1,"node":"nonode@nohost","creation":0}'
        for record in '1000 call {m,f,[]}' '2000 return_from {m,f,0}' '3000 call {m,f,[]}' '4000 return_from {m,f,0}' '5000 call {m,g,[]}'; do
            # shellcheck disable=SC2086 # three words
            set -- $record
            echo '{"tracee":"<0.79.0>","tag":"'"$2"'","term":"'"$3"'","ts":'"$1"',"ts_kind":"monotonic"'"$([ "$2" = call ] || echo ',"extra":"1"')"'}'
        done
    } >"$work/two.jsonl"
    "$tracehost" convert --index=1 "$work/two.jsonl" "$work/two.trace.zst"
    python3 - "$work/two.trace.zst" <<'PY'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
frames = [at for at in range(len(data)) if data[at:at + 4] == b'\x28\xb5\x2f\xfd']
for frame in frames[1:3]:
    data[frames[frames.index(frame) + 1] - 1] ^= 1
open(sys.argv[1], 'wb').write(data)
PY
    for options in '-p m:f/0 --return' '--min-duration=3500ns'; do
        # shellcheck disable=SC2086
        "$tracehost" replay -t text $options "$work/two.trace.zst" 2>/dev/null
        echo "$options: $?"
    done
}
expect 'a call does not end behind records that are lost' lost_between <<'OUT'
0.000000 <0.79.0>   call m:f()
-p m:f/0 --return: 4
0.000000 <0.79.0>   call m:f()
0.000003 <0.79.0>   return m:f/0 -> 1
0.000004 <0.79.0>   call m:g()
--min-duration=3500ns: 4
OUT
listed() {
    zstd -l "$work/long.trace.zst" 2>&1 | awk 'NR == 2 { print $1, "frames,", $2, "skippable" }'
}
expect 'zstd -l lists mark, index and seek table as skippable' listed <<'OUT'
34 frames, 3 skippable
OUT
stats() {
    "$tracehost" replay -t count --stats "$@" 2>&1 >/dev/null | grep 'records\? read\|passed over\|frames'
}
narrowed() {
    "$tracehost" convert --index=1KiB "$recordings/s15_kitchen_sink.trace" "$work/sink.trace.zst"
    stats "$work/sink.trace.zst"
    stats --from=10ms --to=11ms "$work/sink.trace.zst"
}
expect 'a replay reads only frames that have what is wanted, and --stats tells how many' narrowed <<'OUT'
         377  records read
          50  frames of packed recordings
          50  frames that were read
          54  records read
         323  records passed over by the index, as no tracer can get them
          50  frames of packed recordings
           1  frames that were read
OUT
# Open calls matter to a return: the frames that have them are read, too.
by_function() {
    "$tracehost" convert --index=1KiB "$long" "$work/small.trace.zst"
    for options in '-p gb_trees:insert/3' '-p gb_trees:insert/_ -p maps:from_list/1' '-p nobody:calls/0' '-p gb_trees:insert/3 --return'; do
        # shellcheck disable=SC2086
        stats $options "$work/small.trace.zst" | sed -n '$p'
    done
}
expect 'a replay of functions reads only frames that have them' by_function <<'OUT'
           3  frames that were read
           5  frames that were read
           0  frames that were read
         115  frames that were read
OUT
wrong_outputs() {
    "$tracehost" convert --index "$long" "$work/x.trace"
    "$tracehost" convert --index "$long" "$work/x.jsonl.zst"
    "$tracehost" convert --index "$long" "$work/x.trace.gz"
    "$tracehost" convert --index=1GiB "$long" "$work/x.trace.zst"
}
expect 'an index needs .trace.zst' wrong_outputs <<'OUT'
-- stderr
tracehost convert: --index needs an output in the format trace.zst
tracehost convert: --index needs an output in the format trace.zst
tracehost convert: --index needs an output in the format trace.zst
tracehost convert: --index must be at most 256MiB, not '1GiB'
Try `tracehost convert --help' or `tracehost convert --usage' for more
information.
-- status 2
OUT

# As a recorder leaves it that is killed.
torn() {
    "$tracehost" convert --index=1KiB "$long" "$work/whole.trace.zst"
    head -c 30000 "$work/whole.trace.zst" >"$work/torn.trace.zst"
    "$tracehost" convert --to=trace "$work/torn.trace.zst" - >"$work/records" 2>"$work/complaints"
    echo "status $?"
    cmp -n "$(wc -c <"$work/records")" "$work/records" "$long" && [ "$(wc -c <"$work/records")" -gt 60000 ] && echo 'most records are there'
    sed "s|$work|WORK|" "$work/complaints" | tail -n 2
}
expect 'a file without an end has the records of all whole frames' torn <<'OUT'
status 4
most records are there
  cannot read the input: the compressed data (zstd) are cut off
tracehost convert: WORK/torn.trace.zst: recovered 530 records
OUT
# Cut behind its last frame of records, a file has only whole frames. How it ends is known in a pipe, too, with pieces of any size.
torn_between() {
    table=$(python3 -c 'import sys; print(open(sys.argv[1], "rb").read().rfind(b"\x5e\x2a\x4d\x18"))' "$work/whole.trace.zst")
    head -c "$table" "$work/whole.trace.zst" >"$work/torn.trace.zst"
    for from in "$work/whole.trace.zst" "$work/torn.trace.zst"; do
        for piece in 3 64K; do
            dd "if=$from" bs=$piece status=none | "$tracehost" convert --to=trace - - 2>"$work/complaints" >"$work/records"
            echo "status $?"
            cmp "$work/records" "$long" && cat "$work/complaints"
        done
    done
    "$tracehost" convert --to=trace "$work/torn.trace.zst" - 2>&1 >"$work/records" | sed "s|$work|WORK|"
    cmp "$work/records" "$long"
}
expect 'a file without its last part' torn_between <<'OUT'
status 0
status 0
status 4
tracehost convert: stdin: record 767 at byte 127807 and the rest of the file are lost
  cannot read the input: the recording has no end: its recorder was killed, or is still writing; what it had not written is missing
tracehost convert: stdin: recovered 766 records
status 4
tracehost convert: stdin: record 767 at byte 127807 and the rest of the file are lost
  cannot read the input: the recording has no end: its recorder was killed, or is still writing; what it had not written is missing
tracehost convert: stdin: recovered 766 records
tracehost convert: WORK/torn.trace.zst: the recording has no end: its recorder was killed, or is still writing; what it had not written is missing
tracehost convert: WORK/torn.trace.zst: recovered 766 records
OUT
wrong_index() {
    cp "$work/long.trace.zst" "$work/wrong.trace.zst"
    python3 - "$work/wrong.trace.zst" <<'PY'
import sys
with open(sys.argv[1], 'r+b') as file:
    data = file.read()
    file.seek(data.find(b'\x51\x2a\x4d\x18') + 60)
    file.write(b'?????')
PY
    "$tracehost" replay -t text --from=1us "$work/wrong.trace.zst" >"$work/got" 2>"$work/complaints"
    echo "status $?"
    sed "s|$work|WORK|" "$work/complaints"
    "$tracehost" replay -t text --from=1us "$long" | cmp - "$work/got"
}
expect 'a damaged index is not used, with a warning' wrong_index <<'OUT'
status 0
tracehost replay: WORK/wrong.trace.zst: its index is damaged: the file is read from its beginning
OUT
bad_frame() {
    python3 - "$work/long.trace.zst" "$work/bad.trace.zst" <<'PY'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.find(b'\x28\xb5\x2f\xfd', data.find(b'\x28\xb5\x2f\xfd') + 1)
data[at + 40] ^= 1
open(sys.argv[2], 'wb').write(data)
PY
    "$tracehost" convert --to=trace "$work/bad.trace.zst" - 2>"$work/complaints" >"$work/got"
    echo "status $?"
    sed "s|$work|WORK|" "$work/complaints"
}
expect 'a damaged frame is lost, the others are not' bad_frame <<'OUT'
status 4
tracehost convert: WORK/bad.trace.zst: records 34 to 60 at byte 4227 are lost
  the compressed data (zstd) are damaged: Data corruption detected
tracehost convert: WORK/bad.trace.zst: recovered 766 records
OUT

# The comparisons with plain recordings. SEED, COUNT: more of them.
sum() {
    "$@" >"$work/compared"
    grep -v '^seed' "$work/compared" | tail -n 20
    tail -n 1 "$work/compared" | grep -q ' 0 failed$'
}
# shellcheck disable=SC2086 # no recording: all
check 'packed recordings are replayed as plain ones' sum env COUNT="${COUNT:-1}" python3 tests/cli/packed_compare same ${few:+"$long"}
[ -z "${EMULATOR:-}" ] || : "${DAMAGES:=2}"
check 'damaged packed recordings give no wrong answer' sum python3 tests/cli/packed_compare damaged "${DAMAGES:-10}"

finish
