#!/bin/sh
# Tests the tracer `trace_port`: tracehost and OTP's dbg read the recorded events from its output.
. tests/cli/lib/assertions.sh

# again STREAM OPTION...: replays into $work/again.trace, without the messages about damage.
again() {
    rm -f "$work/again.trace"
    "$tracehost" replay -t trace_port,output="$work/again.trace" "$@" >"$work/replay" 2>&1
    case $? in
    0 | 4) [ "$(echo "$work"/again.trace*)" = "$work/again.trace" ] ;;
    *) cat "$work/replay" && false ;;
    esac
}

same_bytes() {
    again "$1" && cmp "$1" "$work/again.trace"
}
for stream in "$recordings"/*.trace "$large"/l1*.trace; do
    case $stream in
    */s21_* | */s22_* | */trunc_*) continue ;;
    esac
    if [ -e "$stream" ]; then
        check "the written file equals the recording: $(basename "$stream" .trace)" same_bytes "$stream"
    else
        skip "the written file equals the recording: $stream" 'this recording is not here'
    fi
done

# Damage at the end is not written again; the host reports drops.
events() {
    "$tracehost" dump "$1" 2>/dev/null | sed '/^{drop,[0-9]*}\.$/d'
}
same_events() {
    again "$1" && events "$1" >"$work/wanted" && events "$work/again.trace" | diff - "$work/wanted" && [ -s "$work/wanted" ]
}
for name in s21_ip_drop_extract s22_killed_vm trunc_body trunc_hdr; do
    check "the written file has the same events: $name" same_events "$recordings/$name.trace"
done
if [ -e "$large/l2_mnesia_full.trace" ]; then
    check 'the written file has the same events: l2_mnesia_full' same_events "$large/l2_mnesia_full.trace"
else
    skip 'the written file has the same events: l2_mnesia_full' 'this recording is not here'
fi

# Text sorts negative numbers of equal length in reverse.
rising() {
    again "$recordings/s07_running_exiting.trace" && "$tracehost" dump "$work/again.trace" |
        sed 's/.*,\(-[0-9]*\)}}\.$/\1/' >"$work/numbers" && LC_ALL=C sort -r -u -c "$work/numbers" && [ -s "$work/numbers" ]
}
check 'strictly monotonic times rise' rising

filtered() {
    "$tracehost" replay -p ex:c4/1 --exception -t trace_port,output="$work/small.trace" --max-records=17 \
        "$recordings/s03_exceptions_return_to.trace" && "$tracehost" dump "$work/small.trace"
}
expect 'only events that pass the filters are written' filtered <<'LINES'
{trace_ts,<0.89.0>,call,{ex,c4,[err]},{1795,233753,912940}}.
{trace_ts,<0.89.0>,exception_from,{ex,c4,1},{error,boom},{1795,233753,912942}}.
LINES
expect 'the default output is stdout' sh -c "$tracehost replay -t trace_port --max-events=1 $recordings/s06_ports.trace | $tracehost dump -" <<'LINES'
{trace,<0.111.0>,'receive',{go,<0.9.0>,fun wl:ports/0}}.
LINES
expect 'dropped events of a recording are reported' "$tracehost" replay -t trace_port,output="$work/rest.trace" "$recordings/s21_ip_drop_extract.trace" <<'LINES'
-- stderr
tracehost replay: samples/recordings/s21_ip_drop_extract.trace: the recorder dropped 2243 events
LINES

# A plugin's run is traced into a file, which replays as the run happened.
live() {
    "$tracehost" run -p fib:fib/1 --return -t text,output="$work/happened" -t trace_port,output="$work/live.trace" fib 'fib:fib(4)' &&
        "$tracehost" replay "$work/live.trace" | diff "$work/happened" - && wc -l <"$work/happened"
}
expect 'a recorded run replays as the run happened' live <<'LINES'
3
18
-- stderr
trace_port: calls written without `external`, `tail` and callers (jsonl keeps them): 9
LINES

# An empty file in place of an earlier one.
nothing() {
    echo earlier >"$work/again.trace"
    "$tracehost" replay -t trace_port,output="$work/again.trace" -p no:such/1 "$recordings/s06_ports.trace"
    [ -e "$work/again.trace" ] && "$tracehost" dump "$work/again.trace"
}
expect 'a stream without events leaves an empty file' nothing <<'LINES'
-- stderr
tracehost replay: warning: -p no:such/1: no such function was called
LINES

# With a limit the file has so many whole records, and the number of events that came too late.
limited() {
    rm -f "$work/limited.trace"
    "$tracehost" replay -t "trace_port,output=$work/limited.trace,$1" --max-events=9 "$recordings/s03_exceptions_return_to.trace"
    "$tracehost" info "$work/limited.trace" | sed -n 's/^records *//p'
    [ "$(wc -c <"$work/limited.trace")" -le "$2" ] && "$tracehost" dump "$work/limited.trace" | tail -n 1
}
expect 'max_events is the number of recorded events' limited max_events=3 1000 <<'LINES'
4, 298 bytes
{drop,2}.
-- stderr
tracehost replay: tracer 'trace_port': tracees removed from the tracer, as it answered neither 'trace' nor 'discard': 1
LINES
expect 'max_bytes is the largest size of the file' limited max_bytes=300 300 <<'LINES'
4, 298 bytes
{drop,2}.
-- stderr
tracehost replay: tracer 'trace_port': tracees removed from the tracer, as it answered neither 'trace' nor 'discard': 1
LINES
expect 'events within the limits are all recorded' limited max_events=9,max_bytes=100000 100000 <<'LINES'
9, 903 bytes
{trace_ts,<0.89.0>,exception_from,{ex,b4,1},{error,boom},{1795,233753,912943}}.
LINES
limited_shares() {
    "$tracehost" replay --shards=3 -t "trace_port,output=$work/shares.trace,max_events=300" "$recordings/s04_genserver_pingpong.trace" 2>/dev/null
    "$tracehost" dump "$work/shares.trace" | grep -c '^{trace'
}
expect 'a limit holds for all shares together' limited_shares <<'LINES'
300
LINES

# The stream that is read is not written over.
itself() {
    cp "$recordings/s06_ports.trace" "$work/itself.trace"
    "$tracehost" replay -t trace_port,output="$work/itself.trace" "$work/itself.trace"
    [ $? = 2 ] && cmp "$work/itself.trace" "$recordings/s06_ports.trace"
}
check 'the stream that is read is refused as output' itself

if ! command -v escript >/dev/null; then
    skip 'dbg reads the written file' 'no Erlang here'
    finish
fi
dbg_reads() {
    stream=$1
    shift
    timeout 120 escript tests/shipped/dbg_reads.escript "$stream" "$work/again.trace" "$@"
}
all_for_dbg() {
    again "$1" && dbg_reads "$1"
}
for name in s04_genserver_pingpong s06_ports s08_gc s10_seq_trace s15_kitchen_sink s16_terms s21_ip_drop_extract; do
    count=$(awk '/^total / { n = $2 } /^tag drop / { n -= $4 } END { print n }' "$recordings/$name.counts.txt")
    expect "dbg reads the written file: $name" all_for_dbg "$recordings/$name.trace" <<LINES
$count
LINES
done
some_for_dbg() {
    again "$recordings/s04_genserver_pingpong.trace" -p gen_server:call/_ &&
        dbg_reads "$recordings/s04_genserver_pingpong.trace" gen_server call
}
expect 'dbg reads a filtered file' some_for_dbg <<'LINES'
20
LINES

finish
