#!/bin/sh
# Tests the life of control sockets and of the hosts that serve them; and control of a replay.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh
ulimit -c 0

recording=samples/recordings/s04_genserver_pingpong.trace

# no_pid COMMAND...: prints the output and the status, without numbers of processes.
no_pid() {
    "$@" >"$work/all" 2>&1
    status=$?
    sed 's/process [0-9]*/process N/' "$work/all"
    return $status
}

# --- sockets ---

a_bank
again() {
    no_pid "$tracehost" run --control="$socket" -t "count,output=$work/counts" bank 'bank:start().'
}
expect 'a second host at the same socket is refused' again <<'EOF'
tracehost run: cannot serve --control=WORK/socket
  process N serves WORK/socket already: choose another name
-- status 2
EOF
check 'the refused host creates no output of tracers' test ! -e "$work/counts"
check 'the first host still serves the socket' ctl status
mode() {
    stat -c '%a %F' "$socket"
}
expect 'only the user can access the socket' mode <<'EOF'
600 socket
EOF
# ends_by SIGNAL: sends SIGNAL to the host, and prints whether its socket is removed.
ends_by() {
    kill "-$1" "$host"
    ended
    test ! -e "$socket" && echo 'the socket is gone'
}
expect 'SIGTERM removes the socket' ends_by TERM <<'EOF'
ok
stderr: tracehost run: received SIGTERM
status 143
the socket is gone
EOF
a_bank
expect 'SIGHUP removes the socket' ends_by HUP <<'EOF'
ok
stderr: tracehost run: received SIGHUP
status 129
the socket is gone
EOF
interrupted() {
    tests/cli/lib/send_signals.py INT "$recording" 100000 "$tracehost" replay --control="$socket" - 2>"$work/all"
    echo "status $?"
    without_patience "$work/all" >&2
    test ! -e "$socket" && echo 'the socket is gone'
}
expect 'SIGINT removes the socket' interrupted <<'EOF'
status 130
the socket is gone
-- stderr
tracehost replay: stdin: received SIGINT after 572 records
EOF
a_bank
# has_ended PID: the process has closed its files. Its parent need not have noticed. The first thread may end before others.
has_ended() {
    ! grep -q '^State:[[:space:]]*[^Z[:space:]]' /proc/"$1"/task/*/status
}
killed() {
    worker=$(worker_of "$host")
    kill -KILL "$host"
    wait "$host" 2>/dev/null
    until_so has_ended "$worker"
    test -S "$socket" && echo 'a dead socket is left'
    ctl status
    a_bank
    ctl sessions
    end
}
expect 'the socket of a killed host is replaced' killed <<'EOF'
a dead socket is left
no sessions
ok
stderr: tracehost run: received a request to stop
status 0
-- stderr
tracehost ctl: no program serves WORK/socket any more: its tracehost has ended
EOF

# crashed: a tracer that ctl attaches crashes in an event, and ends the host.
crashed() {
    begin "$tracehost" run --control="$socket" bank 'bank:start(), bank:open(alice, 1).' \
        'Loaded = fun Loaded() -> try party:echo(ok) catch error:undef -> timer:sleep(10), Loaded() end end, Loaded().' \
        'bank:balance(alice).'
    ctl attach "$samples/crash_tracer.so,how=abort" -p bank:balance/1
    ctl load "$BUILD_DIR/tests/plugins/party.so" >/dev/null 2>&1 # its answer may come too late
    wait "$host"
    echo "status $?"
    grep 'crashed' "$work/host.err"
    test -S "$socket" && echo 'a dead socket is left'
    a_bank
    ctl sessions
    end
}
expect 'the socket of a host whose tracer crashed is replaced' crashed <<'EOF'
session 1, tracer 'BUILD/samples/crash_tracer.so': flags call, 1 breakpoint
status 6
tracehost: tracer 'BUILD/samples/crash_tracer.so' crashed: SIGABRT, it called abort(), in trace_call
a dead socket is left
no sessions
ok
stderr: tracehost run: received a request to stop
status 0
EOF

mkdir -m 777 "$work/open"
expect 'a folder that other users can write to is refused' "$tracehost" run --control="$work/open/socket" bank 'ok.' <<'EOF'
-- stderr
tracehost run: cannot serve --control=WORK/open/socket
  other users can write to the folder of WORK/open/socket: choose another folder, or use chmod go-w
-- status 2
EOF
echo 'not a socket' >"$work/file"
expect 'a file that is not a socket is refused' "$tracehost" replay --control="$work/file" "$recording" <<'EOF'
-- stderr
tracehost replay: cannot serve --control=WORK/file
  WORK/file exists and is not a socket: choose another name
-- status 2
EOF
gone() {
    a_bank
    {
        echo sessions
        until_so test -s "$work/first"
        kill -TERM "$host"
        until_so test ! -e "$socket"
        echo sessions
    } | ctl >"$work/first"
    status=$?
    wait "$host" # what it says at last is not for the next one's file
    cat "$work/first"
    return $status
}
expect 'the end of the host between two commands is reported' gone <<'EOF'
no sessions
-- stderr
tracehost ctl: the host has ended or has closed the connection
-- status 1
EOF

# --- replay ---

# replayed ARGUMENT...: starts a replay of the first half of a stream; rest writes the second half to descriptor 9.
mkfifo "$work/pipe"
replayed() {
    "$tracehost" replay --control="$socket" "$@" - <"$work/pipe" >"$work/host.out" 2>"$work/host.err" &
    host=$!
    exec 9>"$work/pipe"
    head -c 60000 "$recording" >&9
    until_so position 59941
}
# position BYTES: succeeds if the replay has reached byte BYTES.
position() {
    ctl status | grep "byte $1[, ]"
}
rest() {
    tail -c +60001 "$recording" >&9
    exec 9>&-
    ended
}
status_of_replay() {
    ctl status | grep -v '^control\|^rate\|^replay'
}
replayed
expect 'status shows the position of a replay' status_of_replay <<'EOF'
stream      -: byte 59941, 331 records, 0 played
sessions    0
events      none
lost        nothing
EOF
expect 'a tracer is attached to a replay' ctl attach count,top=2 --flags=send,receive,procs <<'EOF'
session 1, tracer 'count': flags existing send,receive,procs,set_on_spawn; new -
EOF
expect 'a tracer is attached for a recorded process' \
    ctl attach "text,output=$work/text" --processes='<0.80.0>' --session=one <<'EOF'
session 2 'one', tracer 'text': flags -
EOF
expect 'flags are cleared for a recorded process' ctl flags call off '<0.80.0>' --session=one <<'EOF'
session 2 'one', tracer 'text': flags -
EOF
expect 'a pattern for a recorded function is set' ctl pattern 'gen_server:loop/7' --kind=count --session=count <<'EOF'
session 1, tracer 'count': gen_server:loop/7: 1 function
EOF
expect 'a pattern with a misspelt recorded function gets a suggestion' ctl pattern 'gen_sever:_' --kind=count --session=count <<'EOF'
session 1, tracer 'count': gen_sever:_: 0 functions
-- stderr
tracehost ctl: warning: there is no function gen_sever:_; did you mean 'gen_server:_/_'?
EOF
replay_conforms() {
    for command in status processes sessions functions; do
        ctl --json $command | conforms $command || return 1
    done
}
check 'answers of a replay conform to the schema' replay_conforms
expect 'an attached tracer gets the rest of the stream' rest <<'EOF'
tracer 'count'
       calls  function
          20  gen_server:loop/7
      events       %  tag
          44   52.38  receive
          38   45.24  send
           1    1.19  exit
           1    1.19  getting_unlinked
          84  100.00  all
stderr: tracehost replay: warning: there is no event of <0.80.0>, which --processes or --ports names
status 0
EOF

# doubtful: asks for the status of a stream with losses before the end of the stream.
doubtful() {
    "$tracehost" convert samples/recordings/s01_seed_local_caller.trace "$work/calls.jsonl" &&
        "$tracehost" convert samples/recordings/s09_collections_return.trace "$work/returns.jsonl" || return 1
    "$tracehost" replay --control="$socket" --from=0 -t "text,output=$work/text" --flags=call,send --processes=all -p _:_ --kind=global \
        --return - <"$work/pipe" >"$work/host.out" 2>"$work/host.err" &
    host=$!
    exec 9>"$work/pipe"
    {
        cat "$work/calls.jsonl"
        echo '{"drop":3}'
        echo '{"drop":0}'
        echo 'no JSON'
        grep return_from "$work/returns.jsonl"
    } >&9
    until_so lost_of 1 malformed
    ctl status | grep '^lost'
    ctl --json status | conforms status
    ctl --json sessions | conforms sessions
    ctl detach text
    exec 9>&-
    ended
}
lost_of() {
    ctl status | grep "^lost.*$*"
}
expect 'status and detach report losses and doubtful events' doubtful <<'EOF'
lost        3 recorder_dropped, 1 gap, 1 malformed, 15 untimed
status conforms
sessions conforms
session 1, tracer 'text' has ended
events      15 external_unknown
stderr: tracehost replay: stdin: record 18 at byte 1442 (line 19) is damaged
stderr:   column 2: '[' or '{' expected near 'no'
stderr: tracehost replay: stdin: the recorder dropped 3 events
stderr: tracehost replay: stdin: an unknown number of events was lost in 1 place
stderr: tracehost replay: stdin: recovered 400 records, skipped 1
stderr: tracehost replay: warning: events without a time, played despite --from and --to: 15
status 4
EOF
finish
