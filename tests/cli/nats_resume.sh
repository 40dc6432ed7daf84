#!/bin/sh
# Tests consumers of a log that go on where they were (replay --resume): consumers that are killed at any record, and between
# telling and marking; logs that grow, have gaps and doubled batches; servers that are killed, and buckets that are deleted.
. tests/cli/lib/assertions.sh
. tests/cli/lib/needs_nats.sh
needs_nats 'consumers that go on in a log'
. tests/cli/lib/nats_server.sh
start_server $store

long=$recordings/s09_collections_return.trace
told=$tracers/told.so
"$tracehost" replay -t text "$long" >"$work/whole"

log() { # NAME
    convert "$long" "$1?batch=4KiB"
}
resume() { # NAME OPTION...: goes on as the reader `r`
    name=$1
    shift
    "$tracehost" replay --resume=r "$url/$name" "$@"
}
# position NAME [READER]: prints the position.
position() {
    "$tracehost" streams "$url/$1" | sed -n "s/^  reader ${2:-r} of .*: position \([0-9]*\), .*/\1/p"
}
# hide: writes what differs from run to run as words.
hide() {
    sed "s/:$port/:PORT/g; s/$id/ID/g; s/ $(hostname):[0-9]*/ HOST:PID/"
}
# is_part FILE WHOLE FIRST: FILE has the lines of WHOLE from FIRST on, without those at its end.
is_part() {
    tail -n +"$3" "$2" | head -n "$(wc -l <"$1")" | cmp - "$1"
}
# begin COMMAND...: starts a group of processes, $group; its status goes to $work/status.
begin() {
    rm -f "$work/status" "$work/group"
    (
        # shellcheck disable=SC2016
        setsid env --default-signal=INT sh -c 'echo $$ >"$0"; exec "$@"' "$work/group" "$@" >"$work/out" 2>"$work/err" 3>&- 4>&-
        echo $? >"$work/status"
        [ ! -p "$work/gate" ] || exec cat "$work/gate" >/dev/null # the tracer has not come to the gate
    ) &
    runner=$!
    until_so [ -s "$work/group" ]
    group=$(cat "$work/group")
}
ended() { # waits for the group; prints its status
    wait $runner
    echo "status $(cat "$work/status")"
}
# gate AT COMMAND...: starts a group whose tracer waits in event AT, and returns when it does.
gate() {
    at=$1
    shift
    rm -f "$work/gate"
    mkfifo "$work/gate"
    begin env TOLD_GATE="$work/gate" TOLD_AT="$at" "$@"
    exec 4>"$work/gate"
    rm "$work/gate"
}

# --- Parts that follow each other ---------------------------------------------------------------------------------------

in_parts() {
    for trace in "$long" "$recordings/s04_genserver_pingpong.trace" "$recordings/s05_supervisor_restarts.trace"; do
        convert "$trace" 'parts?batch=2KiB'
        for tracer in text msg; do
            "$tracehost" replay -t $tracer "$trace" >"$work/all"
            : >"$work/parts"
            for count in 1 58 100 7 150 1000000; do
                "$tracehost" replay --resume=$tracer "$url/parts?recording=$id" -t $tracer --max-events=$count >>"$work/parts" || return 1
            done
            cmp "$work/all" "$work/parts" || { echo "$trace $tracer"; return 1; }
        done
    done
}
check 'parts that follow each other are the whole, also with names from before' in_parts
of_file() {
    log file
    for count in 10 300 1000000; do
        resume file -t "jsonl,output=$work/file.jsonl" -t "trace_port,output=$work/file.trace" -t "text,output=$work/file.gz" \
            --max-events=$((3 * count)) || return 1
    done
    "$tracehost" replay -t jsonl "$long" | cmp - "$work/file.jsonl" && "$tracehost" replay -t text "$work/file.trace" | cmp - "$work/whole" &&
        zcat "$work/file.gz" | cmp - "$work/whole"
}
check 'files of tracers go on at their ends' of_file
caught_up() {
    log caught
    resume caught >/dev/null
    resume caught -t text
    echo "status $?"
    "$tracehost" streams "$url/caught" | hide | sed 's/^caught .*/caught/'
}
expect 'a consumer that has had all gets nothing' caught_up <<'OUT'
status 0
stream            recording         node                       records           bytes            span
caught
  reader r of ID: position 767, 0 records behind the end; HOST:PID wrote it
OUT
selected() {
    log selected
    "$tracehost" replay -p lists:_ "$long" >"$work/all"
    for count in 3 100 20 1000000; do
        resume selected -p lists:_ --max-events=$count || return 1
    done | cmp - "$work/all" && [ -s "$work/all" ] && [ "$(position selected)" = 767 ]
}
check 'patterns that need no open calls' selected

# --- Consumers that are killed ------------------------------------------------------------------------------------------

# killed SEED: a consumer is killed in an event from 60 to 149 of its run, four times; the fifth one comes to the end. A
# barrier is due every millisecond, and each 40th event takes two, so each run has one, whatever the speed of the machine. Stdout and
# the file have, from the position on, what comes there in one replay; and the next position is not behind what they have.
killed() {
    log "killed$1"
    "$tracehost" replay -t jsonl "$long" >"$work/all.jsonl"
    rm -f "$work/out.jsonl"
    moved=0
    for round in 1 2 3 4 5; do
        from=$(position "killed$1")
        from=${from:-1}
        lines=0
        [ "$from" = 1 ] || lines=$(wc -l <"$work/out.jsonl")
        at=$((60 + ($1 * 37 + round * 53) % 90))
        [ $round != 5 ] || at=0
        begin env TOLD_AT=$at TOLD_PAUSE=40 TOLD_MS=2 "$tracehost" replay --resume=r --every=1ms "$url/killed$1" -t text \
            -t "jsonl,output=$work/out.jsonl" -t "$told"
        ended
        to=$(position "killed$1")
        has=$(wc -l <"$work/out")
        is_part "$work/out" "$work/whole" "$from" || return 1
        # The first line of the file is a head.
        [ "$from" != 1 ] || { head -n 1 "$work/out.jsonl" | cmp - "$work/all.head" || return 1; lines=1; }
        tail -n +$((lines + 1)) "$work/out.jsonl" >"$work/new"
        is_part "$work/new" "$work/all.jsonl" $((from + 1)) || return 1
        [ "$to" -ge "$from" ] && [ "$to" -le $((from + has)) ] && [ "$to" -le $((from + $(wc -l <"$work/new"))) ] ||
            { echo "from $from to $to, written $has"; return 1; }
        moved=$((moved + (to > from)))
    done
    [ "$to" = 767 ] && [ $((from + has)) = 767 ] && [ $moved = 5 ] && echo 'all is there'
}
"$tracehost" replay -t jsonl "$long" | head -n 1 >"$work/all.head"
for seed in ${RESUME_SEEDS:-1 2 3}; do
    expect "a consumer that is killed in random events, seed $seed" killed "$seed" <<'OUT'
status 137
status 137
status 137
status 137
status 0
all is there
OUT
done
full() { # far more records than the pipe of the feeder has room for; the feeder waits for room when the tracer has paused
    python3 - "$work/full.trace" <<'PY'
import struct, sys
pid = b'X' + b'd\0\15nonode@nohost' + struct.pack('>III', 80, 0, 0)
with open(sys.argv[1], 'wb') as out:
    for number in range(40000):
        term = b'\x83h\5d\0\5trace' + pid + b'd\0\4sendb' + struct.pack('>i', number) + pid
        out.write(b'\0' + struct.pack('>I', len(term)) + term)
PY
    convert "$work/full.trace" full && "$tracehost" replay -t text "$work/full.trace" >"$work/all" || return 1
    TOLD_PAUSE=5000 TOLD_MS=50 resume full --every=1ms -t "$told" -t text --max-events=25000 >"$work/parts" &&
        TOLD_PAUSE=5000 TOLD_MS=50 resume full --every=1ms -t "$told" -t text >>"$work/parts" && cmp "$work/all" "$work/parts"
}
check 'a consumer that is slower than the log' full
unmarked() {
    log unmarked
    rm -f "$work/proxy" "$work/proxy.met"
    tests/cli/lib/nats_proxy.py "$port" "$work/proxy" 'H?PUB [^ ]*[.]readers[.]r [^\n]*\n(?s:.){0,200}position 201 ' 4>&- &
    proxy=$!
    until_so [ -s "$work/proxy" ]
    begin "$tracehost" replay --resume=r "nats://127.0.0.1:$(cat "$work/proxy")/unmarked" -t text --max-events=200
    until_so [ -e "$work/proxy.met" ]
    kill -KILL "-$group"
    ended
    kill $proxy
    wait $proxy 2>/dev/null
    head -n 200 "$work/whole" | cmp - "$work/out" && echo "200 events were written, the position is $(position unmarked)"
    resume unmarked -t text | cmp - "$work/whole" && echo 'they come twice'
}
expect 'a consumer that is killed between telling and marking' unmarked <<'OUT'
status 137
200 events were written, the position is 1
they come twice
OUT
no_room() {
    log room
    resume room -t text --max-events=5 >/dev/null && resume room -t text --max-events=20 >/dev/full
    echo "status $?, position $(position room)"
    resume room -t text,output=/dev/full --max-events=20
    echo "status $?, position $(position room)"
}
expect 'an output that cannot be written stops the consumer, and the position stays' no_room <<'OUT'
status 1, position 6
status 1, position 6
-- stderr
tracehost replay: the position of the reader r stays where it was
  an output could not be written
tracehost replay: cannot write to stdout: No space left on device
tracehost replay: tracer 'text' failed: cannot write /dev/full: No space left on device
tracehost replay: the position of the reader r stays where it was
  the tracer 'text' takes no more events
OUT

# --- Logs that grow, and have gaps and doubled batches ------------------------------------------------------------------

# grow NAME: starts a producer that has got some of the recording; more goes to descriptor 3.
grow() {
    start_producer "$1?batch=2KiB"
    head -c 60000 "$long" >&3
    until_so has_records "$1"
}
beginning=$(head -c 60000 "$long" | "$tracehost" dump - 2>/dev/null | wc -l)
has_records() { # NAME: the recording has all records of the beginning
    "$tracehost" streams "$url/$1" | awk -v wanted="$beginning" 'NR == 2 && $4 == wanted { found = 1 } END { exit !found }'
}
grow_on() { # the producer gets the rest
    tail -c +60001 "$long" >&3
    exec 3>&-
    wait $producer
}
grows() {
    grow grows
    resume 'grows?follow=no' -t text >"$work/parts" 2>/dev/null
    echo "status $?"
    first=$(wc -l <"$work/parts")
    [ "$first" = "$beginning" ] && [ "$(position grows)" = $((first + 1)) ] && echo 'a beginning'
    grow_on
    resume grows -t text >>"$work/parts" && cmp "$work/whole" "$work/parts" && echo 'all'
}
expect 'a log that grows between two runs' grows <<'OUT'
status 4
a beginning
all
OUT
interrupted() { # SIGNAL
    grow "live$1"
    begin "$tracehost" replay --resume=r "$url/live$1" -t text
    until_so [ -s "$work/out" ]
    kill "-$1" "$group" # the supervisor alone
    ended
    cp "$work/out" "$work/parts"
    [ "$(position "live$1")" = $(($(wc -l <"$work/parts") + 1)) ] && echo 'the position is behind the last event'
    grow_on
    resume "live$1" -t text >>"$work/parts" && cmp "$work/whole" "$work/parts" && echo 'all'
}
for row in 'INT 130' 'TERM 143'; do
    expect "SIG${row% *} writes the position" interrupted "${row% *}" <<OUT
status ${row#* }
the position is behind the last event
all
OUT
done
idle() {
    grow idle
    begin "$tracehost" replay --resume=r --every=1ms "$url/idle" -t text
    until_so [ -s "$work/out" ]
    until_so marked_all idle && echo 'the position follows while no records come'
    kill -KILL "-$group"
    ended
    cp "$work/out" "$work/parts"
    grow_on
    resume idle -t text >>"$work/parts" && cmp "$work/whole" "$work/parts" && echo 'nothing comes twice'
}
marked_all() { # NAME: the position is behind all records that there are
    "$tracehost" streams "$url/$1" | grep -q 'reader r .* 0 records behind'
}
expect 'a consumer that waits for records' idle <<'OUT'
the position follows while no records come
status 137
nothing comes twice
OUT
doubled() {
    log doubled
    third=$(sequence doubled 3)
    resume doubled -t text --max-events=300 >"$work/parts"
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
        again doubled "$third" >/dev/null || return 1
    done
    resume doubled -t text --max-events=300 >>"$work/parts" && resume doubled -t text >>"$work/parts" && cmp "$work/whole" "$work/parts"
}
check 'batches that were sent again behind the position are dropped by number' doubled
gap() { # COUNT...: parts of a recording in which records 59 to 85 are missing
    name=gap$1
    log "$name" && api "STREAM.MSG.DELETE.$name" "{\"seq\":$(sequence "$name" 3)}" >/dev/null
    sed 59,85d "$work/whole" >"$work/rest"
    for count in "$@"; do
        resume "$name" -t text --max-events="$count" 2>"$work/said"
        echo "status $?, position $(position "$name")$(sed -n 's/.*: the recorder \(dropped .*\)/, \1/p' "$work/said")" >&2
    done >"$work/parts"
    cmp "$work/rest" "$work/parts" && echo 'the rest is there, once'
}
expect 'a gap between two positions' gap 40 30 100000 <<'OUT'
the rest is there, once
-- stderr
status 0, position 41
status 0, position 98, dropped 27 events
status 0, position 767
OUT
expect 'a gap at the position' gap 58 1 1 100000 <<'OUT'
the rest is there, once
-- stderr
status 0, position 59
status 0, position 87, dropped 27 events
status 0, position 88
status 0, position 767
OUT

copies() { # the recording has lost the copies of the world's records of one batch
    convert "$recordings/s05_supervisor_restarts.trace" 'copies?batch=2KiB'
    "$tracehost" replay -t text "$recordings/s05_supervisor_restarts.trace" >"$work/all"
    resume copies -t text --max-events=200 >"$work/parts"
    seq=$(api STREAM.MSG.GET.copies "{\"next_by_subj\":\"tracehost.copies.world.$id\",\"seq\":2}" | grep -o '"seq":[0-9]*' | head -n 1)
    api STREAM.MSG.DELETE.copies "{$seq}" >/dev/null
    resume copies -t text >>"$work/parts" 2>"$work/said"
    echo "status $?, position $(position copies)"
    sed "s/.*message [0-9]* of/message N of/; s/:$port/:PORT/; s/recovered [0-9]* /recovered N /" "$work/said"
    cmp "$work/all" "$work/parts" && echo 'all events, once'
}
expect "copies of the world's records that are missing are reported" copies <<'OUT'
status 4, position 223
message N of the stream: copies of the world's records before it are missing
tracehost replay: nats://127.0.0.1:PORT/copies: recovered N records
all events, once
OUT

# --- Servers, buckets and readers ---------------------------------------------------------------------------------------

outage() {
    log outage
    gate 100 "$tracehost" replay --resume=r --every=1ms "$url/outage" -t text -t "$told"
    same=$port
    stop_server
    port=$same
    start_server $store
    exec 4>&-
    ended
    cat "$work/err"
    cmp "$work/whole" "$work/out" && echo "position $(position outage)"
}
expect 'a server that is killed and started again' outage <<'OUT'
status 0
position 767
OUT
deleted() {
    log deleted
    gate 100 "$tracehost" replay --resume=r --every=1ms "$url/deleted" -t text -t "$told"
    api STREAM.DELETE.KV_tracehost_deleted >/dev/null
    exec 4>&-
    ended
    cat "$work/err"
    resume deleted -t text | cmp - "$work/whole" && echo 'all comes again'
    subject=$(api STREAM.INFO.KV_tracehost_deleted '{"subjects_filter":"$KV.>"}' | grep -o '\$KV[^"]*readers[^"]*')
    tests/cli/lib/nats_client.py "$port" publish "$subject" '' 'KV-Operation: DEL' >/dev/null
    resume deleted -t text | cmp - "$work/whole" && echo 'and again'
    tests/cli/lib/nats_client.py "$port" publish "$subject" 'position x' >/dev/null
    resume deleted -t text 2>&1 | sed 1d | hide
}
expect 'a bucket or a position that is deleted, or is none' deleted <<'OUT'
status 1
tracehost replay: the position of the reader r stays where it was
  the server has no stream KV_tracehost_deleted
all comes again
and again
  the key $KV.tracehost_deleted.ID.readers.r is no position: 'position x'
OUT
killed_feeder() {
    log feeder
    gate 100 "$tracehost" replay --resume=r "$url/feeder" -t text -t "$told"
    for name in /proc/[0-9]*/comm; do
        process=${name#/proc/}
        process=${process%/comm}
        [ "$(cat "$name" 2>/dev/null)" = tracehost-log ] &&
            [ "$(sed 's/.*) [A-Z] [0-9]* \([0-9]*\) .*/\1/' "/proc/$process/stat")" = "$group" ] && kill -KILL "$process"
    done
    exec 4>&-
    ended
    sed "s/:$port/:PORT/; s/recovered [0-9]* /recovered N /" "$work/err"
    echo "position $(position feeder)"
}
expect 'the process with the connection is killed: the position stays' killed_feeder <<'OUT'
status 1
tracehost replay: the position of the reader r stays where it was
  the process that speaks with the log has ended
tracehost replay: nats://127.0.0.1:PORT/feeder: the process that spoke with the log was killed: what the log sent last is lost
  signal 9, Killed
tracehost replay: nats://127.0.0.1:PORT/feeder: recovered N records
position 1
OUT
two() {
    log two
    gate 100 "$tracehost" replay --resume=r "$url/two" -t text -t "$told"
    resume two -t text --max-events=300 >"$work/second"
    echo "the second: status $?"
    exec 4>&-
    ended
    hide <"$work/err"
    "$tracehost" replay --resume=other "$url/two" -t text | cmp - "$work/whole" && echo 'another name is another reader'
    resume two -t text >>"$work/second" && cmp "$work/whole" "$work/second" && echo 'the second one has all'
}
expect 'two processes of one reader: the one that began first fails' two <<'OUT'
the second: status 0
status 1
tracehost replay: the position of the reader r stays where it was
  another process, HOST:PID, reads as r
another name is another reader
the second one has all
OUT
refused() {
    while read -r words; do
        # shellcheck disable=SC2086
        "$tracehost" replay --resume=r $words 2>&1 >/dev/null | sed '/^Try /d; /^information/d; /^tracehost replay: cannot read/d'
    done <<ROWS
$url/file $url/caught
$url/file --shards=2
$url/file --join
$url/file --isolate
$url/file --on-crash=continue
$url/file --on-crash=minimize
$url/file --control=$work/socket
$url/file --watch
$url/file --min-duration=1us
$url/file --depth=2
$url/file --max-records=5
$url/file -p lists:_ --return
$url/file -p lists:_ --caller-line
$url/file -p lists:_ --flags=call,return_to
$url/file --processes=new
$url/file --flags=call,strict_monotonic_timestamp
$long
$url/file?from=1s
$url/file?begin=100
$url/file --every=0
$url/file -t count
$url/file -t tree
$url/file -t otlp
$url/file -t $tracers/gated.so
ROWS
    for name in '' a.b 'a b' aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg; do
        "$tracehost" replay "--resume=$name" "$url/file" 2>&1 | sed '/^Try /d; /^information/d'
    done
    "$tracehost" replay --every=1s "$url/file" 2>&1 | sed '/^Try /d; /^information/d'
    resume none 2>&1 | sed 1d
}
expect 'what cannot be right' refused <<OUT
tracehost replay: --resume cannot be used with several streams: a position is that of one log
tracehost replay: --resume cannot be used with --shards: one process must get the events in their order
tracehost replay: --resume cannot be used with --join: workers keep their results on the server by themselves
tracehost replay: --resume cannot be used with --isolate: the position is that of all tracers together
tracehost replay: --resume cannot be used with --on-crash=continue: a tracer that is loaded again plays records again that are before the position
tracehost replay: --resume cannot be used with --on-crash=minimize: the search plays the events again
tracehost replay: --resume cannot be used with --control: a tracer that it attaches may need the events before the position
tracehost replay: --resume cannot be used with --watch: the new tracer may need the events before the position
tracehost replay: --resume cannot be used with --min-duration: a call is held back until it ends, which may be behind the position
tracehost replay: --resume cannot be used with --depth: the depth of the calls that are open at the position is not known
tracehost replay: --resume cannot be used with --max-records: records that come again before the position count, too; use --max-events
tracehost replay: --resume cannot be used with -p and --return, --exception, --caller, --match-spec, --kind, --meta-tracer or the flag return_to: they need the calls that are open at the position
tracehost replay: --resume cannot be used with -p and --return, --exception, --caller, --match-spec, --kind, --meta-tracer or the flag return_to: they need the calls that are open at the position
tracehost replay: --resume cannot be used with -p and --return, --exception, --caller, --match-spec, --kind, --meta-tracer or the flag return_to: they need the calls that are open at the position
tracehost replay: --resume cannot be used with --processes: nobody knows which tracees have inherited flags before the position
tracehost replay: --resume cannot be used with --flags=strict_monotonic_timestamp: the numbers before the position are not known
tracehost replay: --resume needs a log, nats://HOST/NAME, not '$long': a position is kept on the log's server
  from=, begin=, end= and past= cannot be given with --resume: the position says where the reader begins
  from=, begin=, end= and past= cannot be given with --resume: the position says where the reader begins
tracehost replay: --every must be a time of at least 1ms, not '0'
tracehost replay: --resume cannot be used with the tracer 'count', whose output needs events from before the position: use --join, by which its results are kept on the server
tracehost replay: --resume cannot be used with the tracer 'tree', whose output needs events from before the position: replay the whole recording
tracehost replay: --resume cannot be used with the tracer 'otlp', whose output needs events from before the position: replay the whole recording
tracehost replay: --resume cannot be used with the tracer 'BUILD/tests/tracers/gated.so', whose output needs events from before the position: use --join, by which its results are kept on the server
tracehost replay: --resume must be a name of at most 64 letters, digits, - and _, not ''
tracehost replay: --resume must be a name of at most 64 letters, digits, - and _, not 'a.b'
tracehost replay: --resume must be a name of at most 64 letters, digits, - and _, not 'a b'
tracehost replay: --resume must be a name of at most 64 letters, digits, - and _, not 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg'
tracehost replay: --every needs --resume
  the server has no stream none
OUT
finish
