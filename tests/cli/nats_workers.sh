#!/bin/sh
# Tests workers on a recording in a log (replay --join), and merge, which prints what one replay prints: with workers that are
# stopped, killed or crash, with servers that are killed, and with states that are missing or damaged.
. tests/cli/lib/assertions.sh
. tests/cli/lib/needs_nats.sh
needs_nats 'workers on a recording in a log'
. tests/cli/lib/nats_server.sh
start_server $store

long=$recordings/s09_collections_return.trace
gated=$tracers/gated.so
events=766
options='--segment=32KiB' # four segments

log() { # NAME
    convert "$long" "$1?batch=4KiB"
}
lease=300ms # so others take the segment of a worker that is stopped or killed; one that waits at a gate keeps its segment
join() { # NAME OPTION...
    name=$1
    shift
    "$tracehost" replay --join $options --lease=$lease "$url/$name" "$@" 4>&-
}
merge() { # NAME OPTION...
    name=$1
    shift
    "$tracehost" merge $options "$url/$name" "$@"
}
# hide: writes what differs from run to run as words.
hide() {
    sed "s/:$port/:PORT/g; s/$id/ID/g; s/job [0-9a-f]\{16\}/job JOB/; s/ $(hostname):[0-9]*/ HOST:PID/; s/^played in .*, in/played in/; s/^played in .*s$/played/"
}
# has_state NAME TEXT: `tracehost streams` shows TEXT.
has_state() {
    "$tracehost" streams "$url/$1" | grep -q "$2"
}
# one NAME OPTION...: compares what merge prints with what a replay prints, with statistics. The states were merged.
one() {
    name=$1
    shift
    merge "$name" --stats "$@" >"$work/merge.out" 2>"$work/merge.err"
    merged=$?
    "$tracehost" replay --stats "$url/$name" "$@" >"$work/replay.out" 2>"$work/replay.err"
    [ $? = $merged ] || { echo "status $merged"; cat "$work/merge.err"; return 1; }
    grep -q ', in 5 shares' "$work/merge.err" || { cat "$work/merge.err"; return 1; }
    sed -i 's/^played in .*/played/' "$work/merge.err" "$work/replay.err"
    cmp "$work/merge.out" "$work/replay.out" && diff "$work/replay.err" "$work/merge.err"
}

# begin NAME VARIABLE=VALUE...: starts a worker whose tracer waits at a gate, and returns when it is there, or has ended. The
# worker's processes are a group, $group.
begin() {
    name=$1
    shift
    rm -f "$work/gate" "$work/status" "$work/group"
    mkfifo "$work/gate"
    (
        # shellcheck disable=SC2016
        setsid sh -c 'echo $$ >"$0"; exec "$@"' "$work/group" env GATED="$work/gate" "$@" \
            "$tracehost" replay --join $options --lease=10s "${through:-$url}/$name" -t "$gated" >"$work/worker.out" 2>"$work/worker.err"
        echo $? >"$work/status"
        exec cat "$work/gate" >/dev/null 2>&1
    ) &
    runner=$!
    exec 4>"$work/gate"
    rm "$work/gate" # for the other segments
    group=$(cat "$work/group")
}
# end: opens the gate; prints the worker's exit status and messages.
end() {
    exec 4>&-
    until_so [ -s "$work/status" ]
    kill $runner 2>/dev/null
    wait $runner 2>/dev/null
    echo "status $(cat "$work/status")"
    cat "$work/worker.out" "$work/worker.err"
}

# --- One worker, and several --------------------------------------------------------------------------------------------

log plain
for tracer in count count,by=process,format=json coverage time flame,by=calls report "$tracers/listing.so"; do
    by_one() {
        join plain -t "$tracer" && one plain -t "$tracer"
    }
    check "merge prints what one replay prints: $tracer" by_one
done
two_tracers() {
    join plain -t count,by=tag -t time && one plain -t count,by=tag -t time &&
        join plain -t count --from=100us --to=1ms --flags=call,procs && one plain -t count --from=100us --to=1ms --flags=call,procs
}
check 'two tracers, with and without the past; bounds and flags' two_tracers
all_recordings() {
    for trace in $(ls "$recordings"/*.trace | awk -v slow="$slow" 'NR % (slow ? 12 : 3) == 1'); do
        convert "$trace" 'each?batch=1KiB'
        name="each?recording=$id"
        size=$(($(wc -c <"$trace") / 5 + 1))
        for tracer in count time; do
            "$tracehost" replay --join --segment=$size "$url/$name" -t $tracer 2>"$work/said" || { cat "$work/said"; return 1; }
            "$tracehost" merge --segment=$size "$url/$name" -t $tracer >"$work/merge.out" 2>"$work/merge.err"
            merged=$?
            "$tracehost" replay "$url/$name" -t $tracer >"$work/replay.out" 2>"$work/replay.err"
            [ $merged = $? ] && cmp "$work/merge.out" "$work/replay.out" &&
                sed 's/^tracehost merge/tracehost replay/' "$work/merge.err" | diff "$work/replay.err" - || { echo "$trace"; return 1; }
        done
    done
}
check 'recordings of all kinds' all_recordings

at_one_segment() {
    log two
    begin two
    until_so has_state two ' plays segment 0, '
    "$tracehost" streams "$url/two" | hide | sed 's/-t .*gated.so/-t gated/; s/^two .*/two/'
    (exec 4>&- && lease=10s && join two -t "$gated" 2>"$work/other.err") &
    other=$!
    until_so has_state two '3 done, 1 claimed, 4 in all'
    kill -0 $other && echo 'the other one waits'
    end
    wait $other
    cat "$work/other.err"
    merge two -t "$gated"
    id=$("$tracehost" streams "$url/two" | sed -n 's/^  job \([0-9a-f]*\) .*/\1/p')
    for job in "$id" "$id" 'x.>'; do
        "$tracehost" streams --remove-job="$job" "$url/two" 2>&1 | sed "s/$id/ID/; s/recording [0-9a-f]*/recording ID/; s/:$port/:PORT/"
    done
    "$tracehost" streams "$url/two" | sed -n 3p
    "$tracehost" streams --remove-job="$id" "$url" 2>&1 | sed "s/:$port/:PORT/"
}
expect 'two workers: the second one takes other segments, and waits for the last one' at_one_segment <<OUT
stream            recording         node                       records           bytes            span
two
  job JOB of ID: -t gated --segment=32768; segments: 0 done, 1 claimed, 4 in all
    HOST:PID plays segment 0, 127807 bytes behind the end
the other one waits
status 0
tracehost replay: this worker has done 1 segment
tracehost replay: this worker has done 3 segments
$events events
tracehost streams: cannot remove a job of nats://127.0.0.1:PORT/two
  the recording ID has no job ID
tracehost streams: cannot remove a job of nats://127.0.0.1:PORT/two
  the recording ID has no job x.>
tracehost streams: cannot remove a job of nats://127.0.0.1:PORT
  the name lacks the stream: nats://HOST[:PORT]/NAME
OUT

# passes NAME: prints how many events before its segments one worker has given to its tracer, and what merge prints.
passes() {
    rm -f "$work/passed"
    log "$1"
    PASSED=$work/passed join "$1" -t "$tracers/passed.so" 2>/dev/null && wc -c <"$work/passed" &&
        PASSED_THREAD= merge "$1" -t "$tracers/passed.so"
}
before() { # POSITION: prints the number of records before the first batch from POSITION on
    "$tracehost" info "$url/passes?begin=1&past=yes&end=$1" | sed -n 's/^records *\([0-9]*\),.*/\1/p'
}
once() {
    passes passes >"$work/walking" || return
    for segment in 32768 65536 98304; do before $segment; done >"$work/before"
    { tail -n 1 "$work/before" && echo "$events events"; } | diff - "$work/walking" &&
        PASSED_THREAD=yes passes threaded >"$work/again" || return
    # The first segment follows the first batch.
    before 1 >>"$work/before"
    { awk '{ sum += $1 } END { print sum }' "$work/before" && echo "$events events"; } | diff - "$work/again"
}
check 'a worker passes over what comes before its segments once; a tracer with a thread is begun again for each' once

# --- Workers that are stopped, killed, or crash -------------------------------------------------------------------------

stalled() {
    log stalled
    begin stalled
    # shellcheck disable=SC2046 # words
    stop_process $(pgrep -g "$group")
    join stalled -t "$gated"
    exec 4>&-
    kill -CONT "-$group"
    end
    merge stalled -t "$gated"
}
expect 'a worker that was stopped for longer than its lease comes back' stalled <<OUT
status 0
tracehost replay: this worker has done 0 segments, and lost 1 to other workers
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
killed() {
    log killed
    begin killed
    kill -KILL "-$group"
    join killed -t "$gated"
    end | sed -n 1p
    merge killed -t "$gated"
}
expect 'a worker that was killed' killed <<OUT
status 137
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
# pieces NAME: prints how many pieces the bucket has.
pieces() {
    api "STREAM.INFO.KV_tracehost_$1" '{"subjects_filter":"$KV.*.*.*.pieces.>"}' | grep -o '\.pieces\.[^"]*"' | wc -l
}
killed_at() { # NAME PATTERN: the worker is killed when the server has got all before PATTERN
    log "$1"
    rm -f "$work/proxy" "$work/proxy.met"
    tests/cli/lib/nats_proxy.py "$port" "$work/proxy" "$2" 4>&- &
    proxy=$!
    until_so [ -s "$work/proxy" ]
    through=nats://127.0.0.1:$(cat "$work/proxy")
    begin "$1" GATED_BULK=3000000
    exec 4>&-
    through=
    until_so [ -e "$work/proxy.met" ] && echo "$(pieces "$1") pieces"
    kill -KILL "-$group"
    join "$1" -t "$gated"
    end | sed -n 1p
    kill $proxy
    wait $proxy 2>/dev/null
    merge "$1" -t "$gated"
    echo "$(pieces "$1") pieces"
}
expect 'a worker that was killed between two pieces' killed_at pieces 'H?PUB [^ ]*[.]pieces[.][^ ]*[.]0[.]3 ' <<OUT
3 pieces
status 137
$events events
4 pieces
-- stderr
tracehost replay: this worker has done 4 segments
OUT
expect 'a worker that was killed between the last piece and the mark' killed_at unmarked \
    'H?PUB [^ ]*[.]segments[.]0 [^\n]*\n(?s:.){0,200}done ' <<OUT
6 pieces
status 137
$events events
4 pieces
-- stderr
tracehost replay: this worker has done 4 segments
OUT
bulk() {
    log bulk
    GATED_BULK=3000000 join bulk -t "$gated" && echo "$(pieces bulk) pieces" && merge bulk -t "$gated"
}
expect 'states over a megabyte' bulk <<OUT
24 pieces
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
crashed() {
    log crashed
    GATED=crash GATED_AT=3 join crashed -t "$gated" 2>"$work/crash.err"
    echo "status $?"
    sed -n '1s/ in .*//p' "$work/crash.err"
    until_so has_state crashed '0 done, 0 claimed' && echo 'the segment is free'
    join crashed -t "$gated" && merge crashed -t "$gated"
}
expect 'a tracer that crashes' crashed <<OUT
status 6
tracehost: tracer 'BUILD/tests/tracers/gated.so' crashed: SIGABRT, it called abort(),
the segment is free
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
# child NAME: prints the process of the worker's group that plays (player) or has the connection (keeper).
child() {
    for status in /proc/[0-9]*/stat; do
        sed 's/.*(\(.*\)) [A-Z] \([0-9]*\) \([0-9]*\) .*/\1 \2 \3/' "$status" 2>/dev/null | grep -q "^$1 .* $group\$" &&
            echo "${status#/proc/}" | sed 's/.stat//'
    done
}
lost_player() {
    log player
    begin player
    main=$(worker_of "$group")
    for process in $(child tracehost); do
        [ "$process" = "$group" ] || [ "$process" = "$main" ] || kill -KILL "$process"
    done
    end
    join player -t "$gated"
    merge player -t "$gated"
}
expect 'the process that plays is killed: the main process plays the segment' lost_player <<OUT
status 1
tracehost replay: the process that played segment 0 has ended; this one has played the segment again
  it was killed, or its tracer has ended it
$events events
-- stderr
tracehost replay: this worker has done 3 segments
OUT
lost_keeper() {
    log keeper
    begin keeper
    kill -KILL "$(child tracehost-keepe)"
    end
    join keeper -t "$gated" && merge keeper -t "$gated"
}
expect 'the process with the connection is killed: the worker fails' lost_keeper <<OUT
status 1
tracehost replay: the process that speaks with the server has ended
tracehost replay: this worker has done 0 segments
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
interrupted() {
    log interrupted
    begin interrupted
    kill -TERM "-$group"
    end
    has_state interrupted '0 done, 0 claimed' && echo 'the segment is free'
}
expect 'a signal that ends a worker gives the segment back' interrupted <<'OUT'
status 143
tracehost replay: this worker has done 0 segments
the segment is free
OUT

# --- Servers, recordings and states -------------------------------------------------------------------------------------

outage() {
    log outage
    begin outage
    same=$port
    stop_server
    port=$same
    start_server $store
    end
    merge outage -t "$gated"
}
expect 'a server that is killed and started again' outage <<OUT
status 0
tracehost replay: this worker has done 4 segments
$events events
OUT
grows() {
    start_producer 'grows?batch=4KiB'
    head -c 80000 "$long" >&3
    until_so has_state grows 'not complete'
    (exec 3>&- && join grows -t count 2>"$work/worker.err") &
    other=$!
    until_so has_state grows '2 done, 0 claimed, 2 in all' && echo 'two segments'
    merge grows -t count 2>&1 | sed "s/:$port/:PORT/; s/recording [0-9a-f]*/recording ID/"
    join 'grows?follow=no' -t count
    tail -c +80001 "$long" >&3
    exec 3>&-
    wait $producer $other
    cat "$work/worker.err"
    one grows -t count
}
expect 'a recording in the making gets new segments' grows <<'OUT'
two segments
tracehost merge: cannot merge nats://127.0.0.1:PORT/grows
  the recording ID has no end: its producer is still writing, or was killed
tracehost replay: this worker has done 4 segments
-- stderr
tracehost replay: this worker has done 0 segments
OUT
missing() {
    log missing
    begin missing
    merge missing -t "$gated" 2>&1 | hide
    kill -TERM "-$group"
    end >/dev/null
    merge missing -t "$gated" 2>&1 | hide
    merge missing -t "$gated" 2>/dev/null
    echo "status $?"
    merge missing -t count 2>&1 | hide | sed 's/-t .*gated.so/-t gated/'
    merge missing -t count 2>/dev/null
    echo "status $?"
    log none
    merge none -t count --segment=1MiB 2>&1 | hide
    "$tracehost" merge "$url/plain" -t count 2>&1 | grep -q 'job .* --segment=32768' && echo 'other jobs'
}
expect 'merge tells what is missing, and which jobs there are' missing <<'OUT'
tracehost merge: cannot merge nats://127.0.0.1:PORT/missing
  4 of 4 segments are missing; HOST:PID plays the first of them, segment 0
tracehost merge: cannot merge nats://127.0.0.1:PORT/missing
  4 of 4 segments are missing; no worker has the first of them, segment 0
status 4
tracehost merge: cannot merge nats://127.0.0.1:PORT/missing
  no worker plays, or has played, the recording ID with these options, this build and these tracers
  job JOB of ID: -t gated --segment=32768; segments: 0 done, 0 claimed, 4 in all
status 2
tracehost merge: cannot merge nats://127.0.0.1:PORT/none
  no worker plays, or has played, the recording ID with these options, this build and these tracers
  there is no job: begin one with tracehost replay --join
other jobs
OUT
other_build() { # a tracer that was compiled again is another job, and so is another encoding
    log build
    mkdir -p "$work/one" "$work/two"
    cp "$gated" "$work/one/gated.so" && { cat "$gated"; echo; } >"$work/two/gated.so"
    join build -L "$work/one" -t gated && merge build -L "$work/one" -t gated
    merge build -L "$work/two" -t gated 2>/dev/null
    echo "status $?"
    merge build -L "$work/one" -t gated --encoding=unicode 2>/dev/null
    echo "status $?"
}
expect 'another build of a tracer, or another encoding, is another job' other_build <<OUT
$events events
status 2
status 2
-- stderr
tracehost replay: this worker has done 4 segments
OUT
deleted() {
    log deleted
    begin deleted
    api STREAM.DELETE.KV_tracehost_deleted >/dev/null
    end
    merge deleted -t "$gated" >/dev/null 2>&1
    echo "status $?"
    join deleted -t "$gated" && merge deleted -t "$gated"
}
expect 'a bucket that was deleted' deleted <<OUT
status 1
tracehost replay: the server has no stream KV_tracehost_deleted
tracehost replay: this worker has done 0 segments
status 2
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT
# piece NAME: the subject of a piece of the state of segment 2.
piece() {
    api "STREAM.INFO.KV_tracehost_$1" '{"subjects_filter":"$KV.*.*.*.pieces.*.2.*"}' | grep -o '\$KV[^"]*[.]2[.]0'
}
damaged() {
    log damaged
    join damaged -t "$gated"
    tests/cli/lib/nats_client.py "$port" publish "$(piece damaged)" 'no state' >/dev/null
    merge damaged -t "$gated"
    api STREAM.PURGE.KV_tracehost_damaged "{\"filter\":\"$(piece damaged)\"}" >/dev/null
    merge damaged -t "$gated"
}
expect 'a piece that is damaged, and one that is missing: merge plays the recording' damaged <<OUT
$events events
$events events
-- stderr
tracehost replay: this worker has done 4 segments
tracehost merge: the results of the workers cannot be used: the recording is played here
  the state of segment 2 cannot be read
  its pieces do not have the size of the state
tracehost merge: the results of the workers cannot be used: the recording is played here
  the state of segment 2 cannot be read
  piece 0 of 1 is missing
OUT
bad_mark() {
    log mark
    join mark -t "$gated"
    subject=$(piece mark | sed 's/pieces.*/segments.2/')
    tests/cli/lib/nats_client.py "$port" publish "$subject" 'done badly' >/dev/null
    join mark -t "$gated" && merge mark -t "$gated"
}
expect 'a mark that is none: the segment is played again' bad_mark <<OUT
$events events
-- stderr
tracehost replay: this worker has done 4 segments
tracehost replay: this worker has done 1 segment
OUT
# played_by_merge: merge prints what a replay prints, though the states cannot be merged.
played_by_merge() { # NAME
    merge "$1" -t count >"$work/merge.out" 2>"$work/merge.err"
    echo "status $?"
    "$tracehost" replay "$url/$1" -t count >"$work/replay.out" 2>"$work/replay.err"
    echo "status $?"
    cmp "$work/merge.out" "$work/replay.out" && sed 's/^tracehost merge/tracehost replay/' "$work/merge.err" | diff "$work/replay.err" - && echo same
}
gaps() { # the messages 2, 3 and 10 of records are missing in turn: at the first batch, at a segment's edge or within one
    for number in 2 3 9 10; do
        name=gap$number
        log $name
        api "STREAM.MSG.DELETE.$name" "{\"seq\":$(sequence $name $number)}" >/dev/null
        join $name -t count 2>/dev/null
        played_by_merge $name
    done
    log doubled
    last=$(sequence doubled 33)
    again doubled "$(sequence doubled 5)" >/dev/null
    again doubled "$(sequence doubled 6)" >/dev/null
    again doubled "$last" >/dev/null
    join doubled -t count 2>/dev/null
    played_by_merge doubled
}
expect 'losses in the log are reported by merge as by one replay; doubled batches count once' gaps <<'OUT'
status 4
status 4
same
status 4
status 4
same
status 4
status 4
same
status 4
status 4
same
status 0
status 0
same
OUT
tells() {
    log tells
    GATED=tell join tells -t "$gated"
    merge tells -t "$gated"
}
expect 'a tracer that prints in a segment: merge plays the recording' tells <<OUT
$events events
-- stderr
tracehost replay: this worker has done 4 segments
OUT

bucket() {
    api STREAM.INFO.KV_tracehost_plain | tr ',}' '\n\n' | grep -e '"max_msgs_per_subject"' -e '"deny_delete"' -e '"allow_rollup_hdrs"' -e '"discard":'
}
expect 'the bucket is a key-value bucket of NATS' bucket <<'OUT'
"max_msgs_per_subject":1
"discard":"new"
"deny_delete":true
"allow_rollup_hdrs":true
OUT

refusals() {
    for words in "$long -t count" "$url/plain -t count -p lists:_" "$url/plain -t text" "$url/plain?begin=7 -t count" \
        "$url/plain -t count --shards=2" "$url/plain -t count --min-duration=1ms" "$url/plain -t nothing" "$url/none-such -t count" \
        "$url/plain -t count --isolate"; do
        # shellcheck disable=SC2086
        "$tracehost" replay --join $words 2>&1 | hide | sed "s|$recordings|RECORDINGS|" | head -n 2
        # shellcheck disable=SC2086
        "$tracehost" replay --join $words 2>/dev/null
        echo "status $?"
    done
    "$tracehost" merge "$long" -t count
}
expect 'refusals' refusals <<'OUT'
tracehost replay: --join needs a recording in a log, nats://HOST/NAME: write it with tracehost convert
status 2
tracehost replay: --join cannot be used with -p: patterns need the calls that are open where a share begins
status 2
tracehost replay: --join cannot be used with tracers that write while events come: their files do not pass to other machines
status 2
tracehost replay: cannot join the workers of nats://127.0.0.1:PORT/plain?begin=7
  from=, begin= and end= cannot be given: workers play the whole recording
status 2
tracehost replay: --join cannot be used with --shards
status 2
tracehost replay: --join cannot be used with --min-duration: a call may end in another share
status 2
tracehost replay: there is no library 'nothing'
  looked for nothing.so in BUILD/lib/tracehost/tracers (built in)
status 5
tracehost replay: cannot join the workers of nats://127.0.0.1:PORT/none-such
  the server has no stream none-such
status 3
tracehost replay: --isolate cannot be combined with --join: each process reads the whole stream
Try `tracehost replay --help' or `tracehost replay --usage' for more
status 2
-- stderr
tracehost merge: merge needs a recording in a log, nats://HOST/NAME: write it with tracehost convert
-- status 2
OUT

# --- Deaths at seeded moments -------------------------------------------------------------------------------------------

stop_server
mkdir "$work/chaos"
export TRACEHOST
if [ "${NATS_WORKERS:-}" = all ]; then
    check 'workers and servers that are killed: large recordings' tests/cli/lib/nats_workers.py "$work/chaos" 10 1,2,4 count+time+flame+coverage \
        "$large"/l1_*.trace "$large"/l2_*.trace "$large"/l3_*.trace
    grep runs "$work/said"
    mkdir "$work/chaos_of_l3" # which has no times
    check 'workers and servers that are killed: flame by calls of l3' \
        tests/cli/lib/nats_workers.py "$work/chaos_of_l3" 10 1,2,4 flame,by=calls "$large"/l3_*.trace
    grep runs "$work/said"
else
    check 'workers and servers that are killed' env GATED_BULK=2000000 tests/cli/lib/nats_workers.py "$work/chaos" 1 2,4 "count+time+$gated" "$long"
fi
finish
