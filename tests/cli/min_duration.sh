#!/bin/sh
# Tests --min-duration and --depth: tracers get the calls, and their ends, that a computation in Python finds.
# MIN_DURATION_SEEDS sets the number of generated recordings of each form (4; 2 with sanitizers; 1 in an emulator).
. tests/cli/lib/assertions.sh
case $BUILD_DIR:${EMULATOR:-} in
*:?*) : "${MIN_DURATION_SEEDS:=1}" ;;
*asan: | *tsan:) : "${MIN_DURATION_SEEDS:=2}" ;;
*) : "${MIN_DURATION_SEEDS:=4}" ;;
esac

# compared STREAM T N...: compares what is delivered; T in nanoseconds, N levels, 0: any.
compared() {
    stream=$1
    least=$2
    shift 2
    "$tracehost" dump --allow-partial --format=jsonl-flat -o "$work/rows" "$stream" 2>/dev/null &&
        "$tracehost" dump --allow-partial --format=jsonl -o "$work/lines" "$stream" 2>/dev/null &&
        "$tracehost" replay --allow-partial -t "jsonl,output=$work/whole" "$stream" 2>/dev/null || return
    for deep; do
        set -- --min-duration="${least}ns"
        [ "$deep" = 0 ] || set -- "$@" --depth="$deep"
        "$tracehost" replay --allow-partial "$@" -t "jsonl,output=$work/filtered" "$stream" 2>/dev/null &&
            python3 tests/cli/lib/call_filter.py compare "$least" "$deep" "$work/rows" "$work/lines" \
                "$work/whole" "$work/filtered" || return
    done
}

least=30000
for trace in "$recordings"/*.trace; do
    check "calls of $(basename "$trace" .trace)" compared "$trace" $least 0 2
    least=$((least == 30000 ? 3000 : 30000))
done
for form in beam tails; do
    seed=0
    while [ $seed -lt "$MIN_DURATION_SEEDS" ]; do
        seed=$((seed + 1))
        python3 tests/cli/lib/call_filter.py make $seed $form >"$work/made.jsonl"
        check "calls of a recording of the form $form, $seed" compared "$work/made.jsonl" $((seed * 700)) 0 1 3
        check "depth alone, of the form $form, $seed" compared "$work/made.jsonl" 0 $seed
    done
done

# Options that leave out nothing change nothing.
unchanged() {
    for stream in "$recordings/s15_kitchen_sink.trace" "$work/made.jsonl"; do
        "$tracehost" replay "$stream" >"$work/expected" 2>/dev/null
        for option in --min-duration=0 --depth=1000000; do
            "$tracehost" replay $option "$stream" 2>/dev/null | cmp - "$work/expected" || return
        done
        "$tracehost" replay --stats "$stream" 2>&1 >/dev/null | grep -v '^played' >"$work/expected"
        "$tracehost" replay --stats --min-duration=0 "$stream" 2>&1 >/dev/null | grep -v '^played' |
            cmp - "$work/expected" || return
    done
}
check 'options that leave out nothing change nothing' unchanged

# --- what the recording does not tell

line() { # TS TAG TERM [MORE]
    printf '{"ts":%s,"tracee":"<0.9.0>","tag":"%s","term":"%s"%s}\n' "$1" "$2" "$3" "${4:-}"
}
{
    line 1000 call '{m,open,[]}'
    line 1010 call '{m,short,[]}'
    line 1020 send hello ',"extra":"<0.8.0>"'
    line 1030 return_from '{m,short,0}' ',"extra":"ok"'
    line 1040 call '{m,lost,[]}'
    echo '{"drop":2}'
    line 1050 return_from '{m,lost,0}' ',"extra":"ok"'
    line 9000 call '{m,last,[]}'
} >"$work/told.jsonl"
told() {
    "$tracehost" replay --min-duration=100ns "$work/told.jsonl"
}
expect 'calls without an end are kept, and counted' told <<'OUT'
0.000000 <0.9.0>    call m:open()
0.000000 <0.9.0>    send hello -> <0.8.0>
0.000000 <0.9.0>    call m:lost()
0.000000 <0.9.0>    return m:lost/0 -> ok
0.000008 <0.9.0>    call m:last()
-- stderr
tracehost replay: WORK/told.jsonl: the recorder dropped 2 events
tracehost replay: calls left out, shorter than --min-duration: 1
tracehost replay: ends left out with their calls: 1
tracehost replay: calls kept, as no record shows how long they lasted: 3
tracehost replay: ends kept, as their calls were not recorded: 1
OUT
no_ends() {
    "$tracehost" replay --min-duration=1ms -t count "$recordings/s01_seed_local_caller.trace" | sed -n '$s/^  *//p' 
}
expect 'a recording without ends is told' no_ends <<'OUT'
1    6.67  ex:'of'/0
-- stderr
tracehost replay: warning: the recording has no ends of calls: it shows neither durations nor depths; record the ends: --exception, or dbg:tpl(MODULE, x)
tracehost replay: calls kept, as they have no time: 15
OUT
limits() {
    "$tracehost" replay --min-duration=100ns --max-records=4 "$work/told.jsonl"
    "$tracehost" replay --min-duration=100ns --max-events=2 "$work/told.jsonl" 2>/dev/null
    "$tracehost" replay --min-duration=1us --from=5us "$work/told.jsonl" 2>/dev/null
}
expect 'limits count the records of the stream, and the delivered events' limits <<'OUT'
0.000000 <0.9.0>    call m:open()
0.000000 <0.9.0>    send hello -> <0.8.0>
0.000000 <0.9.0>    call m:open()
0.000000 <0.9.0>    send hello -> <0.8.0>
0.000008 <0.9.0>    call m:last()
-- stderr
tracehost replay: calls left out, shorter than --min-duration: 1
tracehost replay: ends left out with their calls: 1
tracehost replay: calls kept, as no record shows how long they lasted: 1
OUT

# A server whose loop is not traced: a call that may have ended is not counted in the depth of the next.
doubtful_depth() {
    for at in 1 2 3; do
        line ${at}000 call '{m,handle,[]}'
        line ${at}100 call '{m,reply,[]}'
        line ${at}200 return_to '{u,loop,0}'
    done >"$work/server.jsonl"
    "$tracehost" replay --depth=1 -t count "$work/server.jsonl"
}
expect 'calls that may have ended do not make others too deep' doubtful_depth <<'OUT'
      events       %  tag
           3   50.00  call
           3   50.00  return_to
           6  100.00  all

       calls       %  function
           3  100.00  m:handle/0
-- stderr
tracehost replay: calls left out, deeper than --depth: 3
tracehost replay: calls kept, as they are not deeper than --depth if calls around them have ended: 2
OUT

# --- other options

isolated() {
    "$tracehost" replay --min-duration=3us -t text "$recordings/s03_exceptions_return_to.trace" >"$work/one" 2>"$work/one.told"
    "$tracehost" replay --min-duration=3us --isolate -t text -t "jsonl,output=$work/two.jsonl" \
        "$recordings/s03_exceptions_return_to.trace" >"$work/two" 2>"$work/two.told"
    cmp "$work/one" "$work/two" && cmp "$work/one.told" "$work/two.told" && [ -s "$work/one" ]
}
check 'isolated tracers get the same' isolated
from_pipe() {
    "$tracehost" replay --min-duration=3us - <"$recordings/s03_exceptions_return_to.trace" 2>/dev/null | cmp - "$work/one"
}
check 'a pipe gives the same' from_pipe
merged() {
    for node in a b; do
        {
            echo "{\"tracehost\":1,\"node\":\"$node@h\",\"creation\":1}"
            line 1795233753000100000 call "{m,$node,[]}" ',"ts_kind":"timestamp"'
            line 1795233753000300000 return_from "{m,$node,0}" ',"extra":"ok","ts_kind":"timestamp"'
        } >"$work/$node.jsonl"
        [ $node = a ] || sed -i 's/300000,/700000,/' "$work/$node.jsonl"
        "$tracehost" convert "$work/$node.jsonl" "$work/$node.trace" || return
    done
    "$tracehost" replay --min-duration=300us "$work/a.trace" "$work/b.trace" 2>/dev/null >"$work/merged"
    [ "$(grep -c 'm:b' "$work/merged")" = 2 ] && ! grep 'm:a' "$work/merged"
}
check 'calls of merged nodes have their own ends' merged
patterns() {
    "$tracehost" replay --min-duration=10us -p ex:b1/1 --return "$recordings/s03_exceptions_return_to.trace" 2>/dev/null |
        sed 's/^[^ ]* *//' | sort | uniq -c | sed 's/^ *//'
}
expect 'patterns get the calls that lasted' patterns <<'OUT'
1 <0.89.0>   call ex:b1(err)
1 <0.89.0>   call ex:b1(ex)
1 <0.89.0>   call ex:b1(fine)
1 <0.89.0>   call ex:b1(thr)
1 <0.89.0>   return ex:b1/1 -> {b1,{b3,fine}}
OUT
refused() {
    "$tracehost" replay --min-duration=1ms --shards=2 "$recordings/s13_procs.trace"
    "$tracehost" replay --depth=2 --shards=2 "$recordings/s13_procs.trace"
    "$tracehost" replay --depth=2 --on-crash=minimize -t count "$recordings/s13_procs.trace"
    "$tracehost" replay --depth=0 "$recordings/s13_procs.trace"
}
expect 'what cannot be combined is refused' refused <<'OUT'
-- stderr
tracehost replay: --shards cannot be used with --min-duration: a call may end in another share
tracehost replay: --shards cannot be used with --depth: a share does not know the open calls before
tracehost replay: --on-crash=minimize cannot be combined with --depth: calls in a part of the stream have other durations and depths
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
tracehost replay: --depth must be a number from 1 on, not '0'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
OUT

# --- memory

# One call that is undecided, and messages of 8 MiB behind it, in a window without end.
python3 - >"$work/large.jsonl" <<'PYTHON'
import base64, struct, zlib
size = 8 << 20
term = base64.b64encode(b'\x83P' + struct.pack('>I', size + 5) + zlib.compress(b'm' + struct.pack('>I', size) + bytes(size))).decode()
print('{"ts":1,"tracee":"<0.9.0>","tag":"call","term":"{m,f,[]}"}')
for n in range(40):
    print('{"ts":%d,"tracee":"<0.9.0>","tag":"send","term":{"$etf":"%s"},"extra":"<0.9.0>"}' % (n + 2, term))
print('{"ts":99,"tracee":"<0.9.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}')
PYTHON
bounded() {
    (ulimit -v 3000000; "$tracehost" replay --min-duration=60min -t count,format=json,top=0 "$work/large.jsonl") 2>&1
}
case $BUILD_DIR in
*asan | *tsan) skip 'held records are bounded' 'a sanitizer takes more memory' ;;
*)
    expect 'held records are bounded, and what exceeds the bound is counted' bounded <<'OUT'
tracehost replay: calls kept, as too many records were held back: 1
{"tags":[
{"events":40,"tag":"send"},
{"events":1,"tag":"call"},
{"events":1,"tag":"return_from"}
],
"functions":[
{"calls":1,"errors":0,"function":"m:f/0"}
]}
OUT
    ;;
esac

# --- a live stream

mkfifo "$work/fifo"
"$tracehost" replay --min-duration=200ms "$work/fifo" >"$work/live" 2>"$work/live.told" &
replay=$!
exec 9>"$work/fifo"
{
    line 1000 call '{m,waits,[]}'
    line 2000 call '{m,quick,[]}'
    line 3000 return_from '{m,quick,0}' ',"extra":"ok"'
    line 4000 send hello ',"extra":"<0.8.0>"'
} >&9
check 'a quiet stream delivers what it has held' until_so grep -q 'send hello' "$work/live"
line 5000 return_from '{m,waits,0}' ',"extra":"ok"' >&9
line 600000000 call '{m,next,[]}' >&9
line 600001000 send bye ',"extra":"<0.8.0>"' >&9
sleep 0.05
kill -TERM $replay
wait $replay
interrupted=$?
exec 9>&-
expect 'a signal ends the wait, and loses nothing' sed 's/^[^ ]* //; s/  */ /g' "$work/live" <<'OUT'
<0.9.0> call m:waits()
<0.9.0> send hello -> <0.8.0>
<0.9.0> return m:waits/0 -> ok
<0.9.0> call m:next()
<0.9.0> send bye -> <0.8.0>
OUT
check 'the exit status is that of the signal' [ $interrupted = 143 ]
finish
