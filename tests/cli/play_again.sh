#!/bin/sh
# Tests --on-crash=continue: a tracer that died plays all records again but those that it died of, so that its result is that
# of a recording without these records.
. tests/cli/lib/assertions.sh
. tests/cli/isolate/tracers.sh
needs_machine 'a tracer plays again' 'the emulator maps no memory a second time, and the supervisor cannot see the record'

# --- as a recording without the records ---

tracers='text msg jsonl count coverage trace_port sequence time chrome perfetto speedscope flame otlp report'
mkdir "$work/fatal"
for name in $tracers; do
    build_tracer "$work/fatal/$name.so" tests/cli/isolate/fatal.c "-DNAME=\"$name\"" || exit 1
done
export FATAL_TRACERS="$BUILD_DIR/lib/tracehost/tracers" FATAL_EVERY FATAL_SEED FATAL_HOW

# bytes_of_deaths FILE: prints the bytes at which the records of deaths begin in FILE.
bytes_of_deaths() {
    sed -n "s|.*, at byte \([0-9]*\) of $1\(: it .*\)*\$|\1|p" "$work/died/stderr" | sort -un
}
# as_cut EVERY SEED ARGUMENT...: tracers die at the times that are chosen; compares with a recording without the records. The
# number of the recording's records in `report` is left out.
as_cut() {
    FATAL_EVERY=$1 FATAL_SEED=$2
    shift 2
    replayed died --isolate --max-crashes=1000 -L "$work/fatal" "$@"
    for file in "$work/one.trace" "$work/two.trace"; do
        deaths=$(bytes_of_deaths "$file")
        echo "deaths in $file:" $deaths
        # shellcheck disable=SC2086
        tests/cli/isolate/cut.py "$file" $deaths
    done
    replayed cut "$@"
    [ "$(cat "$work/died/status")" = 6 ] || return 1
    sed -i 's/\("name":"[^"]*.trace","records":\)[0-9]*/\1N/' "$work"/died/* "$work"/cut/*
    rm "$work"/*/status "$work"/*/stderr
    diff -ra "$work/died" "$work/cut"
}
to_stdout=$(printf -- '-t %s ' $tracers)
to_files=$(printf -- '-t %s,output=%s ' $(printf '%s\n' $tracers | sed p))
FATAL_HOW=0
rows='s03_exceptions_return_to:100 s04_genserver_pingpong:250 s05_supervisor_restarts:100 s07_running_exiting:100
    s09_collections_return:150 s11_mnesia_arity:200 s15_kitchen_sink:100 s22_killed_vm:200'
[ -z "$slow" ] || rows='s04_genserver_pingpong:250 s15_kitchen_sink:100'
for row in $rows; do
    for seed in 1 2; do
        FATAL_HOW=$((11 - FATAL_HOW))
        for outputs in stdout files; do
            cp "$recordings/${row%:*}.trace" "$work/one.trace"
            : >"$work/two.trace"
            to=$to_files
            [ $outputs = files ] || to=$to_stdout
            check "${row%:*}, seed $seed: $outputs are those without the records" \
                as_cut "${row#*:}" $seed $to "$work/one.trace"
        done
    done
done
# of_pingpong FILE ARGUMENT...
of_pingpong() {
    cp "$pingpong" "$work/one.trace"
    cp "$pingpong" "$work/two.trace"
    as_cut 250 2 "$@"
}
check 'two streams: stdout is that without the records of both' of_pingpong $to_stdout "$work/one.trace" "$work/two.trace"

# after_writing EVERY ARGUMENT...: a tracer that dies after it has written the event has written each event once.
after_writing() {
    FATAL_EVERY=$1 FATAL_SEED=1 FATAL_AFTER=1
    export FATAL_AFTER
    shift
    replayed died --on-crash=continue --max-crashes=1000 -L "$work/fatal" "$@" "$pingpong"
    unset FATAL_AFTER
    replayed plain "$@" "$pingpong"
    [ "$(grep -c 'plays all records again' "$work/died/stderr")" -ge 3 ] || return 1
    cmp "$work/died/stdout" "$work/plain/stdout"
}
for name in text msg jsonl trace_port; do
    check "$name: no text is written twice, nor lost" after_writing 15 -t $name
done
for name in text jsonl trace_port; do
    check "$name: the head is written once" after_writing 1 -t $name --flags=receive --max-records=60
done
# one_event TRACER: the only event is that of the death.
one_event() {
    FATAL_EVERY=1
    replayed died --on-crash=continue -L "$work/fatal" -t "$1,output=file" --max-records=1 "$pingpong"
    replayed plain -t "$1,output=file" --processes=new --max-records=1 "$pingpong"
    grep 'plays all records' "$work/died/stderr" && diff -a "$work/died/file" "$work/plain/file"
}
for name in text jsonl chrome perfetto; do
    check "$name: the file of no event" one_event $name
done

# --- messages, limits ---

# dies ARGUMENT...: the tracer `dying` with the settings of $dying.
dies() {
    "$tracehost" replay -L "$work/lib" -t "dying,output=-,$dying" "$@" "$pingpong" >"$work/out" 2>"$work/err"
    status=$?
    echo "$(grep -c . "$work/out") lines"
    sed "s|$top/||" "$work/err" >&2
    return $status
}
dying=at=300
expect 'a tracer stops by default' dies --max-records=500 <<'EOF'
300 lines
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 300, at byte 54686 of samples/recordings/s04_genserver_pingpong.trace
-- status 6
EOF
dying=every=250,seed=2
expect 'a tracer plays again without the records' dies --on-crash=continue <<'EOF'
719 lines
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 315, at byte 57144 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 315
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 533, at byte 92576 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 533 and 1 before it
-- status 6
EOF
# One line is enough for a death of the same signal at the same place; one in another callback has a report of its own.
shortened() {
    dies "$@" 2>&1 | sed '/^  at /d; /^  lines: /d; s|^  event: .*|  event: ...|'
}
dying=every=100,seed=2,how=6
expect 'a tracer that crashes again in the same way has one line' shortened --isolate --max-crashes=3 <<'EOF'
533 lines
tracehost: tracer 'dying' crashed: SIGABRT, it called abort(), in trace
  record 98, at byte 18020 of samples/recordings/s04_genserver_pingpong.trace
  event: ...
tracehost replay: tracer 'dying' plays all records again, without record 98
tracehost replay: tracer 'dying' crashed again in the same way, in record 286, at byte 52929 of samples/recordings/s04_genserver_pingpong.trace: it plays all records again, without record 286 and 1 before it
tracehost replay: tracer 'dying' crashed again in the same way, in record 375, at byte 66949 of samples/recordings/s04_genserver_pingpong.trace: it plays all records again, without record 375 and 2 before it
tracehost replay: tracer 'dying' crashed again in the same way, in record 533, at byte 92576 of samples/recordings/s04_genserver_pingpong.trace: it has crashed 4 times, and gets no more events: see --max-crashes
EOF
dying=every=250,seed=2,how=6,unload=1
expect 'a crash in another callback is no repetition' shortened --isolate <<'EOF'
719 lines
tracehost: tracer 'dying' crashed: SIGABRT, it called abort(), in trace
  record 315, at byte 57144 of samples/recordings/s04_genserver_pingpong.trace
  event: ...
tracehost replay: tracer 'dying' plays all records again, without record 315
tracehost replay: tracer 'dying' crashed again in the same way, in record 533, at byte 92576 of samples/recordings/s04_genserver_pingpong.trace: it plays all records again, without record 533 and 1 before it
tracehost: tracer 'WORK/lib/dying.so' crashed: SIGABRT, it called abort(), in unload
EOF
dying=every=250,seed=2
expect '--max-crashes' dies --isolate --max-crashes=1 <<'EOF'
533 lines
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 315, at byte 57144 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 315
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 533, at byte 92576 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' has crashed 2 times, and gets no more events: see --max-crashes
-- status 6
EOF
dying=at=300
expect 'a tracer that dies in three records in a row goes on without its state' dies --on-crash=continue <<'EOF'
719 lines
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 300, at byte 54686 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 300
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 301, at byte 54830 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 301 and 1 before it
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 302, at byte 55016 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 303, without its earlier state
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 602, at byte 105174 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 603, without its earlier state
-- status 6
EOF
dying=unload=1
expect 'a death outside of a record is final' dies --on-crash=continue <<'EOF'
719 lines
-- stderr
tracehost: tracer 'WORK/lib/dying.so' ended the program: _exit(0), in unload
-- status 6
EOF

# gone: the tracer's file is removed when the tracer dies.
gone() {
    mkdir "$work/gone"
    cp "$work/lib/dying.so" "$work/gone/dying.so"
    DYING_REMOVES=$work/gone/dying.so "$tracehost" replay --on-crash=continue -t "$work/gone/dying.so,output=-,at=5" \
        "$top/$recordings/s20_empty.trace" "$pingpong" 2>"$work/err"
    status=$?
    sed "s|$top/||" "$work/err" >&2
    return $status
}
expect 'a tracer that cannot be loaded again' gone <<'EOF'
event 1: 'receive' <0.94.0>
event 2: call <0.94.0>
event 3: call <0.94.0>
event 4: spawn <0.94.0>
event 5: link <0.94.0>
-- stderr
tracehost: tracer 'WORK/gone/dying.so' ended the program: _exit(0), in trace
  record 5, at byte 652 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'WORK/gone/dying.so' plays all records again, without record 5
tracehost replay: cannot open WORK/gone/dying.so
  No such file or directory
-- status 6
EOF

# --- a tracer that does not repeat ---

# turns TURN...: each process of the tracer dies at the event of its TURN; 0: at none. The numbers are those of events of the
# process.
turns() {
    printf '%s\n' "$@" >"$work/turns"
    echo 'of another program' >"$work/file"
    DYING_TURNS=$work/turns DYING_EARLY=$work/early "$tracehost" replay -L "$work/lib" -t "dying,output=$work/file" --on-crash=continue \
        --max-records=8 "$pingpong" 2>"$work/err"
    status=$?
    cat "$work/file"
    sed "s|$top/||" "$work/err" >&2
    return $status
}
expect 'a tracer that dies earlier goes on without its state, and its file has all other records' turns 6 3 0 <<'EOF'
event 1: 'receive' <0.94.0>
event 2: call <0.94.0>
event 3: call <0.94.0>
event 1: spawn <0.94.0>
event 2: link <0.94.0>
event 3: getting_linked <0.95.0>
event 4: call <0.95.0>
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 6, at byte 753 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 6
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 3, at byte 279 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 4, without its earlier state
-- status 6
EOF
expect 'a tracer that dies again without its state goes on likewise' turns 4 2 1 3 0 <<'EOF'
event 1: 'receive' <0.94.0>
event 2: call <0.94.0>
event 1: call <0.94.0>
event 1: link <0.94.0>
event 2: spawned <0.95.0>
event 3: getting_linked <0.95.0>
event 1: call <0.95.0>
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 4, at byte 392 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 4
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 2, at byte 185 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 3, without its earlier state
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 3, at byte 279 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 4, without its earlier state
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 7, at byte 1015 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 8, without its earlier state
-- status 6
EOF

printf '%s\n' 0 0 1 0 >"$work/early"
expect 'a tracer that dies before it has begun its file again appends to the file' turns 6 3 0 0 <<'EOF'
event 1: 'receive' <0.94.0>
event 2: call <0.94.0>
event 3: call <0.94.0>
event 1: link <0.94.0>
event 2: getting_linked <0.95.0>
event 3: call <0.95.0>
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 6, at byte 753 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 6
tracehost: tracer 'dying' ended the program: _exit(0), in trace
  record 3, at byte 279 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 4, without its earlier state
tracehost: tracer 'dying' ended the program: _exit(0), in enabled
  record 4, at byte 392 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' goes on from record 5, without its earlier state
-- status 6
EOF
printf '%s\n' 1 0 >"$work/early"
expect 'a tracer that dies before it has begun its file begins it' turns 0 0 <<'EOF'
event 1: call <0.94.0>
event 2: call <0.94.0>
event 3: spawn <0.94.0>
event 4: link <0.94.0>
event 5: spawned <0.95.0>
event 6: getting_linked <0.95.0>
event 7: call <0.95.0>
-- stderr
tracehost: tracer 'dying' ended the program: _exit(0), in enabled
  record 1, at byte 0 of samples/recordings/s04_genserver_pingpong.trace
tracehost replay: tracer 'dying' plays all records again, without record 1
-- status 6
EOF

# --- the world ---

# each_event_once SETTINGS ARGUMENT...: compares the tracees and tags with those of a tracer that lives.
each_event_once() {
    settings=$1
    shift
    DYING_TAG='' replayed plain -L "$work/lib" -t dying "$@"
    replayed died --isolate -L "$work/lib" -t text,output=text -t "dying,$settings" --max-crashes=1000 "$@"
    sed 's/event [0-9]*//' "$work/plain/stdout" >"$work/lived"
    sed 's/event [0-9]*//' "$work/died/stdout" >"$work/died/events"
    tail -1 "$work/died/stderr"
    [ "$(grep -c 'plays all records again' "$work/died/stderr")" -ge 1 ] || return 1
    cmp "$work/lived" "$work/died/events"
}
often=every=30,seed=1
check 'each event is delivered once' each_event_once $often "$pingpong"
check 'each event of two streams is delivered once' each_event_once $often "$pingpong" "$pingpong"
check 'each event of a damaged stream is delivered once' each_event_once $often "$top/$recordings/s22_killed_vm.trace"
damage_once() {
    each_event_once $often "$top/$recordings/s22_killed_vm.trace"
    grep -v "'dying'\|, at byte .* of " "$work/died/stderr" | diff "$work/plain/stderr" -
}
check 'a damage is reported once, also by tracers that play again' damage_once
for DYING_TAG in spawn register unregister exit; do
    export DYING_TAG
    check "the record of a death changes the world: $DYING_TAG" each_event_once at=0 --flags=procs,set_on_spawn \
        --processes='<0.169.0>' "$top/$recordings/s13_procs.trace"
done

finish
