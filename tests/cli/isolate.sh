#!/bin/sh
# Tests replay --isolate: stdout, stderr, files and status are those of a plain replay, also of the tracers beside one that
# dies. What becomes of the one that died: play_again.sh.
. tests/cli/lib/assertions.sh
. tests/cli/isolate/tracers.sh

# --- equal to a plain replay ---

# equal ARGUMENT...: compares a plain replay with --isolate.
equal() {
    replayed plain "$@"
    replayed isolated --isolate "$@"
    diff -r "$work/plain" "$work/isolated"
}
# Tracers that show times read real clocks if the recording has no times. No tracer is given twice, as two sessions of one
# process with equal settings share the tracer's data.
timeless='text msg jsonl count coverage trace_port sequence'
timed="$timeless time chrome perfetto speedscope flame otlp report"
patterns='-t text -t count --flags=call --session one -t msg --session two -t sequence -p _:_/_ --kind=count,time
    --session three -t jsonl -p gen_server:_ --caller --session four -t trace_port,output=bytes -p _:_/_ --kind=count
    --session five -t coverage --flags=running'
streams=$(ls "$recordings"/*.trace)
[ -z "$slow" ] || streams=$(echo "$streams" | awk 'NR % 8 == 1')
for file in $streams; do
    title=$(basename "$file" .trace)
    shipped=$timed
    if "$tracehost" replay -t jsonl "$file" 2>"$work/err" | grep -v '^{"tracehost"' | grep -qv '"ts":'; then
        shipped=$timeless
    fi
    to_stdout=$(printf -- '-t %s ' $shipped)
    check "$title: all tracers on stdout" equal $to_stdout "$top/$file"
    check "$title: all tracers with files" equal $(printf -- '-t %s,output=%s ' $(printf '%s\n' $shipped | sed p)) "$top/$file"
    check "$title: several sessions with patterns" equal $patterns "$top/$file"
    check "$title: --stats" equal -t text -t count --stats "$top/$file"
done
to_stdout=$(printf -- '-t %s ' $timed)
check 'several streams' equal -t text -t msg -t count --stats "$pingpong" "$pingpong" "$top/$recordings/s22_killed_vm.trace"
check '--from and --to' equal -t text -t msg --from=10us --to=400us "$pingpong"
check '--from after the end' equal -t text -t msg --from=1000s "$pingpong"
check 'counts as JSON' equal --format=json -p wl:_ --kind=count --session b -t text -p wl:_ --kind=count "$pingpong"
check 'displayed terms' equal -t text -t count -p _:_ --match-spec "[{'_',[],[{display,x}]}]" "$pingpong"
check 'a match specification that is refused' equal -t text -t msg -p _:_ --match-spec "[{'_',[],[{x}]}]" "$pingpong"
check 'a missing file' equal -t text -t msg "$pingpong" missing
check 'no tracer is named' equal "$pingpong"
check 'a tracer that is refused, alone' equal -t nothing "$pingpong"

# slow_reader: the same with a reader that is slower than the tracers.
slow_reader() {
    "$tracehost" replay --isolate $to_stdout "$pingpong" | (sleep 0.3 && cat) >"$work/slow"
    replayed plain $to_stdout "$pingpong"
    cmp "$work/slow" "$work/plain/stdout"
}
check 'a slow reader' slow_reader
# held_back: each of two tracers with more output than is held waits for a tracer that sleeps.
held_back() {
    many=$(yes "$top/$recordings/s09_collections_return.trace" | head -n 48)
    equal -L "$work/lib" -t jsonl -t dying,pause=20 -t text $many
    ls -l "$work/isolated/stdout"
    [ "$(wc -c <"$work/isolated/stdout")" -gt 13000000 ]
}
check 'tracers that are far ahead are held back' held_back
# full_disk: the first error of stdout is reported once.
full_disk() {
    "$tracehost" replay "$@" -t text -t msg "$pingpong" >/dev/full
}
expect 'a full disk' full_disk --isolate <<EOF
-- stderr
tracehost replay: cannot write to stdout: No space left on device
-- status 1
EOF
to_head() {
    {
        "$tracehost" replay --isolate -t text -t jsonl "$top/$recordings/s09_collections_return.trace" 2>"$work/err"
        echo "status $?" >"$work/status"
    } | head -n 1
    cat "$work/status" "$work/err"
}
expect 'a closed pipe ends the replay quietly' to_head <<'EOF'
0.000000 <0.129.0>  call lists:seq(1,20) [result {wl,coll,0}]
status 141
EOF

# --- deaths ---

# survivors SEED SIGNAL: three tracers die at records that the seed decides; the others' output is complete.
survivors() {
    set -- "$1" "$2" $(awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 3; i++) print 1 + int(719 * rand()) }')
    dying=
    for at in "$3" "$4" "$5"; do dying="$dying -t dying,output=dying$at,at=$at,how=$2"; done
    replayed isolated --isolate --on-crash=stop -L "$work/lib" -t text $dying -t msg,output=msg -t jsonl "$pingpong"
    replayed plain -t text -t msg,output=msg -t jsonl "$pingpong"
    for file in stdout msg; do cmp "$work/plain/$file" "$work/isolated/$file" || return 1; done
    for at in "$3" "$4" "$5"; do
        echo "dying at $at wrote $(wc -l <"$work/isolated/dying$at") lines"
        [ "$(wc -l <"$work/isolated/dying$at")" = "$at" ] || return 1
    done
    cat "$work/isolated/status"
    [ "$(cat "$work/isolated/status")" = "$([ "$2" = 9 ] && echo 137 || echo 6)" ]
}
for seed in 1 2 3 4 5 6; do
    check "SIGKILL of three tracers, seed $seed" survivors $seed 9
    check "SIGSEGV of three tracers, seed $seed" survivors $seed 11
    check "_exit() of three tracers, seed $seed" survivors $seed 0
done

# terminated: SIGTERM to the supervisor. Prints stderr without the number of records.
terminated() {
    "$tracehost" replay --isolate -L "$work/lib" -t dying,pause=5000,output="$work/a" -t text -t msg "$pingpong" \
        >"$work/out" 2>"$work/err" &
    until_so test -s "$work/a"
    kill -TERM $!
    wait $!
    status=$?
    sed "s|$top/||; s/after [0-9]* records*$/after N records/" "$work/err" >&2
    return $status
}
expect 'SIGTERM ends all tracers, and is reported once' terminated <<'EOF'
-- stderr
tracehost replay: samples/recordings/s04_genserver_pingpong.trace: received SIGTERM after N records
-- status 143
EOF
# killed: SIGKILL to the worker of the first tracer.
killed() {
    "$tracehost" replay --isolate -L "$work/lib" -t dying,pause=3600000000,output="$work/b" -t text -t msg "$pingpong" \
        >"$work/out" 2>"$work/err" &
    until_so test -s "$work/b"
    kill -KILL "$(pgrep -o -P $!)"
    wait $! 2>"$work/of_shell"
    status=$?
    sed 's/record [0-9]*/record N/' "$work/err" >&2
    replayed plain -t text -t msg "$pingpong"
    cmp "$work/out" "$work/plain/stdout"
    return $status
}
# An emulator maps no memory a second time, and the supervisor cannot see the record.
at_record=", at record N"
[ -z "${EMULATOR:-}" ] || at_record=
expect 'a worker that is killed from outside does not go on' killed <<EOF
-- stderr
tracehost replay: tracer 'dying': killed from outside: SIGKILL, Killed$at_record
-- status 137
EOF

# --- refused ---

# refused TEXT ARGUMENT...
refused() {
    text=$1
    shift
    "$tracehost" replay --isolate "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    head -1 "$work/err"
    [ $status = 2 ] && [ ! -s "$work/out" ] && head -1 "$work/err" | grep -qF -e "$text"
}
for option in control=x watch check probes max-events=3 shards=2; do
    check "--$option is refused" refused "--isolate cannot be combined with --${option%=*}: " "--$option" "$pingpong"
done
check '--on-crash=minimize is refused' refused '--on-crash=minimize cannot be combined with --isolate: ' \
    --on-crash=minimize "$pingpong"
check '--supervisor=no is refused' refused 'need the supervisor: leave out --supervisor=no' --supervisor=no "$pingpong"
check 'one file for two tracers is refused' refused 'two tracers write the file' -t "text,output=$work/one" \
    -t "msg,output=$work/./one" "$pingpong"
expect 'several tracers in one process do not go on' "$tracehost" replay --on-crash=continue -t text -t msg "$pingpong" <<'EOF'
-- stderr
tracehost replay: --on-crash=continue with several tracers needs --isolate, as the tracers of one process die together
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

finish
