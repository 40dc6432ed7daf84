#!/bin/sh
# Tests that a replay in shares prints what a plain replay prints, on stdout and stderr, and ends with its status. SHARES='2 3 7'
# plays each recording in each of these numbers of shares.
. tests/cli/lib/assertions.sh
[ -z "${EMULATOR:-}" ] || large=

# replay_in SHARES OPTION... writes WORK/SHARES.out and WORK/SHARES.err, with the status and without the duration.
replay_in() {
    shares=$1
    shift
    rm -f "$work/output"
    "$tracehost" replay --stats --shards="$shares" "$@" >"$work/$shares.out" 2>"$work/$shares.raw" </dev/null
    echo "status $?" >>"$work/$shares.raw"
    [ ! -e "$work/output" ] || cat "$work/output" >>"$work/$shares.out"
    sed 's/^played in .*/played/' "$work/$shares.raw" >"$work/$shares.err"
}

# same_in SHARES: compares that replay with the plain one.
same_in() {
    cmp "$work/1.out" "$work/$1.out" || { diff "$work/1.out" "$work/$1.out" | head -n 5; return 1; }
    diff "$work/1.err" "$work/$1.err"
}

# is_merged SHARES: the shares were merged, not played again.
is_merged() {
    grep -q ", in $1 shares" "$work/$1.raw" || { cat "$work/$1.raw"; return 1; }
}

# A damaged recording is played in one share.
sound() {
    case $1 in */trunc_* | */s20_empty* | */s22_*) return 1 ;; esac
}

streams=$(ls "$recordings"/*.trace)
[ -z "$slow" ] || streams=$(echo "$streams" | awk 'NR % 8 == 1')
[ -z "${EMULATOR:-}" ] || streams=$(echo "$streams" | head -n 2)

# equal STREAM OPTION...: a number of shares prints the same as one; the numbers 2, 3 and 7 take turns, or SHARES has all of them.
row=0 turn=0
equal() {
    stream=$1
    shift
    turn=$((turn + 1))
    replay_in 1 "$@" "$stream"
    for shares in ${SHARES:-$(echo 2 3 7 | cut -d ' ' -f $((turn % 3 + 1)))}; do
        replay_in $shares "$@" "$stream"
        same_in $shares || return 1
        if sound "$stream"; then is_merged $shares || return 1; fi
    done
}

all_equal() {
    turn=$((row = row + 1))
    for stream in $streams; do
        equal "$stream" "$@" || { echo "$stream"; return 1; }
    done
}

for tracer in count count,by=process,format=json count,by=tag coverage coverage,format=lcov text text,color=always \
    text,time=absolute,args=full jsonl jsonl,ts=string trace_port time time,by=process,format=json time,frames=4 \
    flame,by=calls flame,by=calls,format=svg report report,title=shares "$tracers/listing.so"; do
    check "shares of all recordings: $tracer" all_equal -t "$tracer"
done
for tracer in count coverage text jsonl trace_port report; do
    check "into a file: $tracer" all_equal -t "$tracer,output=$work/output"
done

# Without time stamps some tracers read the clock of the host.
equal_if_timed() {
    stream=$1
    shift
    replay_in 1 "$@" "$stream"
    cp "$work/1.out" "$work/again.out"
    replay_in 1 "$@" "$stream"
    ! cmp -s "$work/1.out" "$work/again.out" || equal "$stream" "$@"
}

timed_equal() {
    turn=$((row = row + 1))
    for stream in $streams; do
        equal_if_timed "$stream" "$@" || { echo "$stream"; return 1; }
    done
}
for tracer in chrome perfetto,args=full otlp otlp,args=full,traces=messages,batch=3 flame flame,format=svg "chrome,output=$work/output" \
    "flame,output=$work/output"; do
    check "shares of all recordings with times: $tracer" timed_equal -t "$tracer"
done
check 'tracers with and without the past' timed_equal -t count,by=process -t chrome
check 'two tracers' all_equal -t count -t "jsonl,output=$work/output"
check 'two tracers that take calls of the past' timed_equal -t time -t "flame,output=$work/output"
check 'flags' all_equal -t text --flags=call,procs,arity
check 'bounds of times' all_equal -t text --from=100us --to=1ms
check 'bounds of times, with the past' all_equal -t time --from=100us --to=1ms
check 'flags, with the past' timed_equal -t time --flags=call,return_to,timestamp
check 'decoding everything' all_equal -t count --verify
check 'two sessions of a tracer with one state' all_equal --session one -t time --session two -t time
check 'two sessions of a tracer' all_equal --session one -t count,by=tag --session two -t count,by=process
check 'two reports' all_equal --session one -t report --session two -t "report,title=two,output=$work/output"

# A node's recording begins with notes. With them, processes have the names of their first functions.
printf '{"other":"{tracehost,names,[{<0.9.0>,shop}]}"}\n' >"$work/note.jsonl"
"$tracehost" convert "$work/note.jsonl" "$work/note.trace"
awk 'BEGIN {
    for (i = 100; i < 1500; i++) {
        printf "{\"tracee\":\"<0.9.0>\",\"tag\":\"spawn\",\"term\":\"<0.%d.0>\",\"extra\":\"{proc_lib,init_p,[self,[],gen,init_it,[gen_server,self,self,server%d,[],[]]]}\"}\n", i, i
        printf "{\"tracee\":\"<0.%d.0>\",\"tag\":\"spawned\",\"term\":\"<0.9.0>\",\"extra\":\"{worker%d,start,[]}\"}\n", i + 1500, i
    }
    for (i = 3000; i > 100; i--)
        printf "{\"tracee\":\"<0.%d.0>\",\"tag\":\"receive\",\"term\":\"go\"}\n", i
}' >"$work/births.jsonl"
"$tracehost" convert "$work/births.jsonl" "$work/births.trace"
noted_equal() {
    turn=$((row = row + 1))
    for stream in $streams "$work/births.trace"; do
        sound "$stream" || continue
        cat "$work/note.trace" "$stream" >"$work/noted.trace"
        equal_if_timed "$work/noted.trace" "$@" || { echo "$stream"; return 1; }
    done
}
for tracer in text jsonl count,by=process time,by=process report chrome; do
    check "shares of recordings of a node: $tracer" noted_equal -t "$tracer"
done

# other_node FILE: messages of many atoms, the last one with a pid of another node.
other_node() {
    {
        printf '{"tracehost":1,"node":"a@b","creation":1}\n'
        seq -f '{"tracee":"<0.9.0>","tag":"receive","term":"{atom%g,x}"}' 3000
        printf '{"tracee":"<0.9.0>","tag":"receive","term":{"$etf":"g1hkAAN4QHkAAAAJAAAAAAAAAAU="}}\n'
    } >"$work/other_node.jsonl"
    "$tracehost" convert "$work/other_node.jsonl" "$1"
}
other_node_equal() {
    other_node "$work/other_node.trace" && equal "$work/other_node.trace" -t text || return 1
    tail -n 1 "$work/1.out" >"$work/last"
    grep 'receive <[1-9][0-9]*\.9\.0>' "$work/last" || return 1
    for options in '-t count,output=/dev/null -t text' '--isolate -t text'; do
        "$tracehost" replay $options "$work/other_node.trace" | tail -n 1 | diff "$work/last" - || return 1
    done
}
check 'a pid of another node is the same text however it is played' other_node_equal

# report_of PERCENT: a report with another th_tracer_past, so that the recording is cut elsewhere.
report_of() {
    mkdir -p "$work/$1"
    python3 tests/cli/lib/past.py "$BUILD_DIR/lib/tracehost/tracers/report.so" "$work/$1/report.so" "$1"
}
for percent in 2 50; do
    check "report, cut for $percent percent" report_of $percent
    check "shares of all recordings: report, cut for $percent percent" all_equal -t "$work/$percent/report.so"
done

# limited KIND: a recording that goes beyond what a report keeps.
limited() {
    python3 tests/shipped/report_limits "$1" >"$work/$1.jsonl" &&
        "$tracehost" convert "$work/$1.jsonl" "$work/$1.trace" && rm "$work/$1.jsonl"
}
limits_equal() {
    limited "$1" && equal "$work/$1.trace" -t report && equal "$work/$1.trace" -t "$work/50/report.so"
}
kinds='processes reused living crowd pairs messages functions deep stages'
[ -z "${EMULATOR:-}" ] || kinds='living deep'
for kind in $kinds; do
    check "shares beyond the limits of a report: $kind" limits_equal $kind
done

if [ -d "$large" ]; then
    for stream in "$large"/*.trace; do
        for tracer in count coverage text jsonl trace_port time flame,by=calls report; do
            check "a large recording: $tracer, ${stream##*/}" equal "$stream" -t "$tracer"
        done
        for tracer in flame flame,format=svg; do
            check "a large recording: $tracer, ${stream##*/}" equal_if_timed "$stream" -t "$tracer"
        done
    done
else
    skip 'large recordings' 'the large recordings are not here, or would take minutes in an emulator'
fi

# The comparison notices wrong merges.
one=$recordings/s04_genserver_pingpong.trace
broken() {
    replay_in 1 -t "$tracers/listing.so" "$one"
    LISTING_BREAKS=$1
    export LISTING_BREAKS
    replay_in 3 -t "$tracers/listing.so" "$one"
    unset LISTING_BREAKS
    is_merged 3 && ! same_in 3 >"$work/seen" && grep -q differ "$work/seen"
}
check 'a merge that forgets a share is noticed' broken forget
check 'a merge in the wrong order is noticed' broken turn

# Shares that cannot be merged are played again.
again() {
    LISTING_BREAKS=$3
    export LISTING_BREAKS
    replay_in 1 -t "$1" "$2"
    replay_in 3 -t "$1" "$2"
    unset LISTING_BREAKS
    same_in 3 && grep -q ', in 1 share$' "$work/3.raw"
}
check 'a tracer that cannot save' again "$tracers/listing.so" "$one" refuse
check 'a tracer that crashes in a share' again "$tracers/listing.so" "$one" crash
prints_before() {
    LISTING_BREAKS=load
    export LISTING_BREAKS
    equal "$one" --progress=always -t "$tracers/listing.so"
    status=$?
    unset LISTING_BREAKS
    return $status
}
check 'a tracer may print before the share' prints_before
check 'a tracer that prints a line in a share' again "$tracers/listing.so" "$one" tell
crashes() {
    for shares in 1 3; do
        LISTING_BREAKS=exit "$tracehost" replay --shards=$shares -t text -t "$tracers/listing.so" "$one" \
            >"$work/$shares.out" 2>"$work/$shares.err"
        [ $? = 6 ] || return 1
        sed -i '/^  at /d; /addr2line/d; /with --isolate/d' "$work/$shares.err" # no advice for shares, which exclude it
    done
    same_in 3
}
check 'a tracer that crashes at an event in a share' crashes
check 'times since the line before' again text,time=delta "$one"
check 'spans of open calls' again otlp,open=write "$recordings/s03_exceptions_return_to.trace"
cp "$one" "$work/damaged.trace"
printf '\377' | dd of="$work/damaged.trace" bs=1 seek=60000 conv=notrunc 2>"$work/dd"
too_many_functions() {
    limited late && again "$work/50/report.so" "$work/late.trace"
}
if [ -n "${EMULATOR:-}" ]; then
    skip 'more functions in a share than a report keeps' 'an emulator takes minutes for 17 MB of records'
else
    check 'more functions in a share than a report keeps' too_many_functions
fi
check 'damage inside of a record' again count "$work/damaged.trace"
check 'a truncated recording' again count "$recordings/s22_killed_vm.trace"
not_merged() {
    LISTING_BREAKS=fail "$tracehost" replay --shards=2 -t "$tracers/listing.so" "$one" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && grep 'merge() returned 1' "$work/err"
}
check 'a merge that fails is an error' not_merged

# Refusals.
expect 'the stream must be a file' "$tracehost" replay --shards=2 - <<'LINES'
-- stderr
tracehost replay: --shards needs a file, which can be read at several places: record the stream with tracehost convert
-- status 2
LINES
"$tracehost" replay -t "jsonl,output=$work/lines.jsonl" "$one"
expect 'JSON lines are not cut' "$tracehost" replay --shards=2 "$work/lines.jsonl" <<'LINES'
-- stderr
tracehost replay: --shards needs a trace-port file: convert the JSON lines with tracehost convert
-- status 2
LINES
expect 'patterns need the calls before' "$tracehost" replay --shards=2 -p ex:_ "$one" <<'LINES'
-- stderr
tracehost replay: --shards cannot be used with -p: patterns need the calls that are open where a share begins
-- status 2
LINES
expect 'tracees need the births before' "$tracehost" replay --shards=2 --processes=new "$one" <<'LINES'
-- stderr
tracehost replay: --shards cannot be used with --processes: a share does not know which tracees have inherited their flags
-- status 2
LINES
expect 'bounds of events need the events before' "$tracehost" replay --shards=2 --max-events=3 "$one" <<'LINES'
-- stderr
tracehost replay: --shards cannot be used with --max-events: a share does not know the events before
-- status 2
LINES
expect 'several streams are not shared' "$tracehost" replay --shards=2 "$one" "$one" <<'LINES'
-- stderr
tracehost replay: --shards cannot be used with several streams: play each stream by itself
-- status 2
LINES
expect 'a tracer without save and merge is named' "$tracehost" replay --shards=2 -t "$tracers/echo.so" "$one" <<'LINES'
state #{}
-- stderr
tracehost replay: --shards cannot be used with the tracer 'BUILD/tests/tracers/echo.so': it has no save() and merge(); replay without --shards
-- status 2
LINES

finish
