#!/bin/sh
# Tests replay --isolate and --on-crash=continue of streams that can be read once: stdin, pipes, connections. stdout, stderr
# and status are those of a plain replay of the same stream. tests/replay/test_spool.c tests the limits.
. tests/cli/lib/assertions.sh

ulimit -c 0
export TRACEHOST
mkdir "$work/lib"
"$CC" -std=gnu11 -D_GNU_SOURCE -O1 -fPIC -shared -Iplugin_api -I. -o "$work/lib/dying.so" tests/cli/isolate/dying.c ||
    exit 1
pingpong=$recordings/s04_genserver_pingpong.trace
mkfifo "$work/fifo"

# --- equal to a plain replay ---

# replayed WAY FILE ARGUMENT...: replays FILE in one of the ways below. The time of a replay is left out.
replayed() {
    way=$1
    file=$2
    shift 2
    case $way in
        pipe) cat "$file" | timeout 60 "$tracehost" replay "$@" - ;;
        file) timeout 60 "$tracehost" replay "$@" - <"$file" ;;
        fifo)
            cat "$file" >"$work/fifo" &
            timeout 60 "$tracehost" replay "$@" "$work/fifo"
            ;;
        pieces) tests/cli/lib/write_pieces.py "$file" 7 | timeout 60 "$tracehost" replay "$@" - ;;
        named) timeout 60 "$tracehost" replay "$@" "$file" ;;
        tcp) # the events may contain the number of the port, which serve_node.py replaces
            out=$work/stdout tests/cli/lib/serve_node.py "$file" -- \
                sh -c 'exec timeout 60 "$@" >"$out"' sh "$tracehost" replay "$@" tcp://127.0.0.1:PORT
            ;;
    esac >"$work/stdout" 2>"$work/stderr"
    echo "status $?" >>"$work/stderr"
    sed -i 's/^played in .*/played/' "$work/stderr"
}
# equal WAY FILE ARGUMENT...: compares a plain replay with --isolate.
equal() {
    replayed "$@"
    mv "$work/stdout" "$work/plain"
    mv "$work/stderr" "$work/plain_stderr"
    way=$1
    file=$2
    shift 2
    replayed "$way" "$file" --isolate "$@"
    cmp "$work/plain" "$work/stdout" && diff "$work/plain_stderr" "$work/stderr"
}
tracers='-t text -t msg -t jsonl -t count -t coverage -t trace_port -t sequence'
streams=$(ls "$recordings"/*.trace)
[ -z "$slow" ] || streams=$(echo "$streams" | awk 'NR % 8 == 1')
for file in $streams; do
    title=$(basename "$file" .trace)
    for way in pipe tcp; do
        check "$title: $way" equal $way "$file" $tracers --stats
    done
    [ "$(wc -c <"$file")" -gt 20000 ] || check "$title: pieces" equal pieces "$file" $tracers
done
for way in file fifo; do
    check "another way: $way" equal $way "$pingpong" $tracers --stats
done
"$tracehost" convert --to=jsonl "$pingpong" "$work/lines"
for way in pipe pieces; do
    check "JSON lines: $way" equal $way "$work/lines" $tracers
done
check 'patterns' equal pipe "$pingpong" -t text -p _:_/_ --kind=count,time --session two -t count -p gen_server:_ --caller
check '--max-records' equal pipe "$pingpong" $tracers --max-records=100
check '--from and --to' equal pipe "$pingpong" -t text -t msg --from=10us --to=400us

# --- wrong streams: one message ---

head -c 200 "$recordings/s01_seed_local_caller.trace" >"$work/torn"
printf 'word\n' >"$work/word"
gzip -c "$pingpong" >"$work/packed"
: >"$work/empty"
for name in torn word packed empty; do
    for way in pipe fifo tcp; do
        check "the stream is $name: $way" equal $way "$work/$name" -t text -t msg
    done
done
for name in tcp://127.0.0.1:1 tcp:// "$work/missing" /dev/null "$work"; do
    check "cannot be read: ${name#"$work"}" equal named "$name" -t text -t msg
done

# --- several streams ---

# among WAY...: stdin among files; a stream that is named twice has no second record.
among() {
    for option in '' --isolate; do
        cat "$pingpong" | timeout 60 "$tracehost" replay $option -t text -t msg --stats "$@" >"$work/of$option" \
            2>"$work/err$option"
        sed -i 's/^played in .*/played/' "$work/err$option"
    done
    cmp "$work/of" "$work/of--isolate" && diff "$work/err" "$work/err--isolate"
}
check 'stdin between files' among "$pingpong" - "$recordings/s22_killed_vm.trace"
check 'stdin twice' among - -
check 'stdin and a node that is not there' among - tcp://127.0.0.1:1 "$pingpong"

# --- a stream that stays open ---

# open_until FILE TEXT: writes the recording, and keeps the pipe open until FILE has a line with TEXT.
open_until() {
    cat "$pingpong"
    until_so grep -q "$2" "$1"
}
# open_pipe BYTES: begins to write as many bytes to the FIFO, and keeps it open.
open_pipe() {
    { head -c "$1" "$pingpong"; exec tail -f /dev/null; } >"$work/fifo" &
    producer=$!
}
limited() {
    open_pipe 100000
    timeout 20 "$tracehost" replay --isolate -t text -t count,top=1 "$@" - <"$work/fifo"
    kill $producer
}
expect '--max-records ends the replay of an open pipe' limited --max-records=2 <<'EOF'
0.000000 <0.94.0>   receive {go,<0.9.0>,#Fun<small.2.108605527>}
0.000009 <0.94.0>   call wl:pingpong(20)
      events       %  tag
           1   50.00  call
           1   50.00  receive
           2  100.00  all

       calls       %  function
           1  100.00  wl:pingpong/1
EOF
# shown: the last event before a pause is shown by all tracers while the pipe is open.
shown() {
    : >"$work/out"
    { cat "$recordings/s01_seed_local_caller.trace"; until_so has_last_event || echo in vain >&2; } |
        timeout 60 "$tracehost" replay --isolate -t text -t jsonl -t text,output="$work/other" - >"$work/out"
    [ -s "$work/other" ] && has_last_event
}
has_last_event() {
    [ "$("$tracehost" replay -t jsonl "$recordings/s01_seed_local_caller.trace" | tail -n 1)" = "$(tail -n 1 "$work/out")" ]
}
# at_once NAME: returns whether outputs of several workers come before their stream ends; if not, the check NAME is skipped.
at_once() {
    [ -z "${EMULATOR:-}" ] ||
        ! skip "$1" 'the emulator maps no memory a second time: the supervisor cannot see which output is the next, until all end'
}
at_once 'events are shown as they come' && check 'events are shown as they come' shown

# survivors SEED SIGNAL: a tracer dies while the stream is open; the others' output is complete.
survivors() {
    at=$(awk -v seed="$1" 'BEGIN { srand(seed); print 1 + int(700 * rand()) }')
    : >"$work/err"
    "$tracehost" replay -t text -t jsonl "$pingpong" >"$work/plain"
    open_until "$work/err" "'dying'" | timeout 60 "$tracehost" replay --isolate --on-crash=stop -L "$work/lib" -t text \
        -t "dying,output=$work/dying,at=$at,how=$2" -t jsonl - >"$work/out" 2>"$work/err"
    echo "status $?"
    cat "$work/err"
    [ "$(wc -l <"$work/dying")" = "$at" ] && cmp "$work/plain" "$work/out"
}
for seed in 1 2 3; do
    check "SIGKILL of a tracer while the stream is open, seed $seed" survivors $seed 9
    check "SIGSEGV of a tracer while the stream is open, seed $seed" survivors $seed 11
done
# often OPTION...: a tracer that dies often plays all records again, as it does with a file.
often() {
    set -- "$@" -L "$work/lib" -t dying,at=97,how=11,output=- --max-crashes=100
    "$tracehost" replay "$@" "$pingpong" >"$work/of_file" 2>"$work/file_err"
    cat "$pingpong" | timeout 60 "$tracehost" replay "$@" - >"$work/of_pipe" 2>"$work/pipe_err"
    wc -l "$work/of_pipe"
    sed -i "s|of $pingpong|of stdin|" "$work/file_err"
    [ -s "$work/of_pipe" ] && cmp "$work/of_file" "$work/of_pipe" &&
        diff "$work/file_err" "$work/pipe_err"
}
check 'a tracer of a pipe dies often' often --isolate -t text
check 'the same with one tracer' often --on-crash=continue
check 'a slow tracer' equal pipe "$pingpong" -L "$work/lib" -t dying,pause=500 -t text

# --- ends ---

begun=shows_events
[ -z "${EMULATOR:-}" ] || begun=has_workers
# ended SIGNAL: the signal to the supervisor ends the replay of an open pipe.
ended() {
    open_pipe 279
    : >"$work/out"
    env --default-signal=INT "$tracehost" replay --isolate -t text -t msg - <"$work/fifo" >"$work/out" 2>"$work/err" &
    supervisor=$!
    until_so $begun || echo 'no worker plays'
    family=$(pgrep -P $supervisor)
    kill -"$1" $supervisor
    wait $supervisor 2>"$work/of_shell"
    echo "status $?"
    cat "$work/err"
    kill $producer
    until_so have_ended $family || echo 'a process is left'
}
shows_events() { grep -q 'wl:pingpong' "$work/out"; }
has_workers() { [ "$(pgrep -cP "$supervisor")" -ge 2 ]; }
have_ended() {
    for one in "$@"; do
        case $(ps -o stat= -p "$one") in '' | Z*) ;; *) return 1 ;; esac
    done
}
for row in 'INT 130' 'TERM 143'; do
    at_once "SIG${row% *} ends the replay of an open pipe" || continue
    expect "SIG${row% *} ends the replay of an open pipe" ended "${row% *}" <<EOF
status ${row#* }
tracehost replay: stdin: received SIG${row% *} after 2 records
EOF
done
expect 'with a supervisor that is killed all processes end' ended KILL <<'EOF'
status 137
EOF
to_head() {
    {
        cat "$recordings/s09_collections_return.trace" |
            "$tracehost" replay --isolate -t text -t jsonl - 2>"$work/err"
        echo "status $?" >"$work/status"
    } | head -n 1
    cat "$work/status" "$work/err"
}
expect 'a closed pipe ends the replay quietly' to_head <<'EOF'
0.000000 <0.129.0>  call lists:seq(1,20) [result {wl,coll,0}]
status 141
EOF
# spool_killed: the process that copies the stream is killed.
spool_killed() {
    open_pipe 279
    : >"$work/out"
    "$tracehost" replay --isolate -t text -t msg - <"$work/fifo" >"$work/out" 2>"$work/err" &
    until_so grep -q 'wl:pingpong' "$work/out"
    kill -KILL "$(pgrep -P $! spool)"
    wait $!
    echo "status $?"
    cat "$work/err"
    kill $producer
}
at_once 'the end of the spool is reported' && expect 'the end of the spool is reported' spool_killed <<'EOF'
status 4
tracehost replay: stdin: record 3 at byte 279 and the rest of the file are lost
  cannot read the input: the process that copies the stream has died
tracehost replay: stdin: recovered 2 records
EOF
# spared: signals for the readers do not end the spool before the readers have had them.
spared() {
    "$tracehost" replay -t text -t msg "$pingpong" >"$work/plain"
    rm -f "$work/sent"
    { head -c 279 "$pingpong" && until_so test -e "$work/sent" && tail -c +280 "$pingpong"; } >"$work/fifo" &
    : >"$work/out"
    "$tracehost" replay --isolate -t text -t msg - <"$work/fifo" >"$work/out" &
    supervisor=$!
    until_so $begun
    for name in INT TERM HUP QUIT; do
        kill -$name "$(pgrep -P $! spool)"
    done
    : >"$work/sent"
    wait $! && cmp "$work/plain" "$work/out"
}
check 'signals do not end the spool' spared
for scene in 'interrupt pipe' 'interrupt stdin' 'interrupt tcp'; do
    at_once "Ctrl-C: $scene" || continue
    at_terminal "Ctrl-C: $scene" tests/cli/lib/job_control.py ${scene% *} "$work" ${scene#* } --isolate <<'EOF'
status 130
1 times received SIGINT
1 times the summary
EOF
done
at_terminal 'Ctrl-Z stops all processes, and fg continues them' tests/cli/lib/job_control.py stop "$work" fg --isolate <<'EOF'
stopped
goes on
status 0
0 times received SIGINT
1 times the summary
EOF
at_terminal 'a job in the background that reads the terminal is stopped, and continues after fg' \
    tests/cli/lib/job_control.py background_reader "$work" --isolate <<'EOF'
stopped
goes on
status 130
1 times received SIGINT
0 times the summary
EOF

# --- no place for the spool ---

no_folder() {
    cat "$pingpong" | TMPDIR=/nonexistent "$tracehost" replay --isolate -t text -t msg -
}
expect 'no folder for the file' no_folder <<'EOF'
-- stderr
tracehost replay: cannot make a temporary file in /nonexistent: No such file or directory
-- status 1
EOF
no_room() (
    ulimit -f 8
    cat "$pingpong" | TMPDIR=$work "$tracehost" replay --isolate -t count -t coverage - 2>&1 >/dev/null | sed "s|$work|WORK|"
)
[ -z "${EMULATOR:-}" ] || skip 'no room for the file' 'the limit of the size of files is also that of the emulator'
[ -n "${EMULATOR:-}" ] || expect 'no room for the file' no_room <<'EOF'
tracehost replay: stdin: record 24 at byte 3941 and the rest of the file are lost
  cannot read the input: cannot write to a temporary file in WORK: File too large
tracehost replay: stdin: recovered 23 records
EOF

# --- refused ---

expect '--reconnect is refused' "$tracehost" replay --isolate --reconnect tcp://127.0.0.1:1 <<'EOF'
-- stderr
tracehost replay: --isolate cannot be combined with --reconnect: the tracers read one connection
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect '--supervisor=no is refused' "$tracehost" replay --isolate --supervisor=no - <<'EOF'
-- stderr
tracehost replay: --isolate and --on-crash=continue need the supervisor: leave out --supervisor=no
-- status 2
EOF
# watched: without a supervisor one process reads the pipe.
watched() {
    cat "$pingpong" | LD_PRELOAD=vgpreload "$tracehost" replay --isolate -t text -t msg - >"$work/out" 2>"$work/err"
    "$tracehost" replay -t text -t msg "$pingpong" | cmp - "$work/out" && grep -c 'has no effect' "$work/err"
}
check 'under a debugger one process reads the stream' watched

finish
