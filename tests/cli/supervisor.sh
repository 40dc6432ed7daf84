#!/bin/sh
# Tests the program as a job of a shell: keys of the terminal, signals, closed pipes. The supervisor and its worker act as
# one process does. Titles that begin with "new" need the supervisor.
. tests/cli/lib/assertions.sh

export TRACEHOST
ulimit -c 0
# job SCENE [ARGUMENT...]
job() {
    scene=$1
    shift
    tests/cli/lib/job_control.py "$scene" "$work" "$@"
}

# --- at a terminal ---

for stream in pipe stdin tcp; do
    at_terminal "Ctrl-C ends the replay of a live stream, once: $stream" job interrupt $stream <<'EOF'
status 130
1 times received SIGINT
1 times the summary
EOF
done
at_terminal 'Ctrl-C ends a run, once' job interrupt_run <<'EOF'
status 130
1 times received SIGINT
1 times the summary
EOF
at_terminal 'Ctrl-Z stops all processes, and fg continues them' job stop fg <<'EOF'
stopped
goes on
status 0
0 times received SIGINT
1 times the summary
EOF
at_terminal 'Ctrl-Z stops all processes, and bg continues them' job stop bg <<'EOF'
stopped
goes on
status 0
0 times received SIGINT
1 times the summary
EOF
at_terminal 'a job in the background that reads the terminal is stopped, and continues after fg' job background_reader <<'EOF'
stopped
goes on
status 130
1 times received SIGINT
0 times the summary
EOF
at_terminal 'a closed terminal ends replay' job close_terminal <<'EOF'
tracehost replay: WORK/stream: received SIGHUP after 2 records
EOF
at_terminal 'new: SIGSTOP of the worker stops the job, and fg continues the job' job stop_worker fg <<'EOF'
2 processes
the job is stopped
the job goes on
status 0
0 times received SIGINT
1 times the summary
EOF
at_terminal 'new: SIGCONT of the worker continues the job' job stop_worker cont <<'EOF'
2 processes
the job is stopped
the job goes on
status 0
0 times received SIGINT
1 times the summary
EOF
at_terminal 'new: the terminal has its former settings when the worker was killed' job kill_in_raw_mode <<'EOF'
lost settings: none
EOF

# --- signals ---

for row in 'INT 130' 'TERM 143' 'HUP 129'; do
    expect "SIG${row% *} to the program ends it with its summary" job signal "${row% *}" <<EOF
status ${row#* }
1 times the summary
tracehost replay: WORK/stream: received SIG${row% *} after 2 records
EOF
done
# ended SIGNAL: the message of such a death is free; an emulator has its own.
ended() {
    job signal "$1" | grep -v '^tracehost\|^qemu: '
}
for row in 'USR1 138' 'USR2 140' 'QUIT 131' 'ALRM 142' 'KILL 137'; do
    expect "SIG${row% *} to the program ends it at once" ended "${row% *}" <<EOF
status ${row#* }
0 times the summary
EOF
done
expect 'SIGTSTP to the program stops all processes, and SIGCONT continues them' job stop_signal <<'EOF'
stopped
status 0
1 times the summary
EOF
expect 'new: SIGKILL of the program ends the worker within a second' job kill_parent <<'EOF'
2 processes
ended
EOF
for row in 'KILL 137' 'SEGV 139' 'ABRT 134' 'USR1 138'; do
    expect "SIG${row% *} from outside to the worker accuses nobody" job kill_worker "${row% *}" <<EOF
status ${row#* }
accused: nobody
EOF
done

# --- closed pipes ---

# to_head ARGUMENT...: prints the status and stderr of a command whose reader has ended.
to_head() {
    {
        "$tracehost" "$@" 2>"$work/err"
        echo "status $?" >"$work/status"
    } | head -n 1
    cat "$work/status" "$work/err"
}
expect 'replay to a closed pipe ends quietly' to_head replay "$recordings/s09_collections_return.trace" <<'EOF'
0.000000 <0.129.0>  call lists:seq(1,20) [result {wl,coll,0}]
status 141
EOF
expect 'run to a closed pipe ends quietly' to_head run -p fib:fib/1 fib 'fib:fib(20)' <<'EOF'
<0.1.4096> call fib:fib(20)
status 141
EOF
i=0
while [ $i -lt 10000 ]; do
    echo 'fib:quick(92).'
    i=$((i + 1))
done >"$work/expressions"
expect 'call to a closed pipe ends quietly' to_head call fib -f "$work/expressions" <<'EOF'
7540113804746346429
status 141
EOF

finish
