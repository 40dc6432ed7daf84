#!/bin/sh
# Tests the prompt of tracehost ctl at a terminal, as a person uses it.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

has_terminals || {
    echo "$no_terminals"
    exit 77
}
export TERM=xterm

# typed TEXT: types TEXT, and prints the final screen (tests/cli/lib/show_screen.py).
typed() {
    HOST=$host tests/cli/lib/show_screen.py "$1" "$tracehost" ctl "$socket"
}

a_bank
expect 'a command is executed and its answer is printed' typed 'sessions\n' <<'EOF'
run> sessions
no sessions
run>
EOF
expect 'quit leaves the prompt' typed 'quit\n' <<'EOF'
run> quit

status 0
EOF
expect 'exit leaves the prompt' typed ' exit \n' <<'EOF'
run>  exit

status 0
EOF
left_by_help() {
    HOST=$host tests/cli/lib/show_screen.py 'help\n' "$tracehost" ctl "$socket" | tail -n 3
}
expect 'help describes how to leave the prompt' left_by_help <<'EOF'
quit, exit, Ctrl-D
    Leaves this prompt; the host continues.
run>
EOF
expect 'commands are completed' typed 'ses\t\n' <<'EOF'
run> sessions
no sessions
run>
EOF
expect 'two tabs list the possible completions' typed 'fu\tbank:\t\t' <<'EOF'
run> functions bank:
bank:_/_         bank:account/3   bank:audit/0     bank:balance/1
bank:close/1     bank:crash/1     bank:deposit/2   bank:freeze/2
bank:names/0     bank:open/2      bank:run/0       bank:run/1
bank:start/0     bank:stop/0      bank:transfer/3  bank:withdraw/2
run> functions bank:
EOF
expect 'tracers, options, functions and kinds are completed' typed 'att\tcou\t-p bank:ope\t --k\tti\t\n' <<'EOF'
run> attach count -p bank:open/2  --kind=time
session 1, tracer 'count': flags call, 1 breakpoint
run>
EOF
expect 'settings of tracers are completed' typed 'attach msg,col\tal\t--session=\n' <<'EOF'
run> attach msg,color=always --session=
tracehost ctl: --session needs a name
run>
EOF
expect 'sessions are completed' typed 'attach msg --session=mine --flags=proc\t\ndet\tmi\t\n' <<'EOF'
run> attach msg --session=mine --flags=procs
session 2 'mine', tracer 'msg': flags procs
run> detach mine
session 2 'mine', tracer 'msg' has ended
events      none
run>
EOF
expect 'names of processes and flags in a list are completed' typed 'flags send,rec\ton ali\t--se\t1\n' <<'EOF'
run> flags send,receive on alice --session=1
session 1, tracer 'count': flags call, 1 breakpoint
run>
EOF
expect 'Ctrl-A, Ctrl-E, Delete and Backspace edit the line' typed 'x sessionz\001\033[3~\033[3~\005\177s\n' <<'EOF'
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run>
EOF
expect 'Ctrl-W, Alt-B and Ctrl-K edit the line' typed 'info one two\027\027bank:stop/0 rest\033b\013\n' <<'EOF'
run> info bank:stop/0
bank:stop/0 can have breakpoints: local,global
run>
EOF
expect 'a character of several bytes is deleted as a whole' typed 'ää\033[D\177sessions\013\n' <<'EOF'
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run>
EOF
expect 'the up arrow, the down arrow and Ctrl-P recall earlier lines' typed 'bogus\nsessions\n\033[A\033[A\033[B\n\020\020x\n' <<'EOF'
run> bogus
tracehost ctl: there is no command 'bogus'; `help` lists them
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run> bogusx
tracehost ctl: there is no command 'bogusx'; `help` lists them
run>
EOF
expect 'Ctrl-C discards the line' typed 'sess\003sessions\n' <<'EOF'
run> ^C
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run>
EOF
expect 'Ctrl-D leaves the prompt only if the line is empty' typed 'sess\004\004\025\004' <<'EOF'
run>

status 0
EOF
expect 'a long line continues in the next row' typed 'pattern bank:open/2 --match-spec=[{[a_long_line,that_does_not_fit,into_eighty_columns],[],[]}]\001' <<'EOF'
run> |pattern bank:open/2 --match-spec=[{[a_long_line,that_does_not_fit,into_eigh
ty_columns],[],[]}]
EOF
suspended() {
    MEANWHILE=: typed "$1"
}
expect 'Ctrl-Z without job control shows the line again' suspended 'sess\!\032\t\n' <<'EOF'
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run>
EOF
expect 'quotes around an argument are removed; an open quote is refused' typed 'detach "mi'"'"'ne"\ndetach "mine\n' <<'EOF'
run> detach "mi'ne"
tracehost ctl: there is no session or tracer 'mi'ne'
run> detach "mine
tracehost ctl: the quote " is not closed
run>
EOF

# host SIGNAL TEXT: types TEXT, and sends SIGNAL to the host at each \!; the host continues afterwards.
host() {
    MEANWHILE="kill -$1 $(worker_of "$host")" typed "$2"
    kill -CONT "$(worker_of "$host")" 2>/dev/null || true
}
expect 'Ctrl-C ends the wait for an answer and returns to the prompt' host STOP 'sess\t\!\n\003' <<'EOF'
run> sessions
^C
no longer waiting for the answer; the host still executes the command
run>
EOF
expect 'a late answer is not printed as the answer to the next command' typed 'sessions\n' <<'EOF'
run> sessions
session  tracer  traced  discarded  breakpoints  flags
      1  count        0          0            1  call
run>
EOF
expect 'Ctrl-C ends a completion while the host does not answer' host STOP 'detach m\!\t\003sess' <<'EOF'
run> detach m^C
run> sess
EOF
expect 'ctl ends if the terminal hangs up while a command waits' host STOP 'sess\t\!\n' <<'EOF'
run> sessions

EOF
expect 'ctl ends if the terminal hangs up while a completion waits' host STOP 'detach m\!\t' <<'EOF'
run> detach m
EOF
# end_by SIGNAL: sends SIGNAL to the waiting client $asking, and prints its exit status.
has_ended() {
    ! grep -qs '^State:.[^Z]' "/proc/$asking/status"
}
asks() {
    find "/proc/$asking/fd" -lname 'socket:*' | grep -q . && grep -q '^State:.S' "/proc/$asking/status"
}
end_by() {
    until_so asks
    kill "-$1" "$asking"
    until_so has_ended
    kill -KILL "$asking" 2>/dev/null
    wait "$asking" 2>/dev/null # a shell may say that a signal ended the client
    echo "status $?"
}
# stopped SIGNAL: sends SIGNAL to a client that connects to a host that does not answer.
stopped() {
    stop_process "$(worker_of "$host")"
    "$tracehost" ctl "$socket" sessions &
    asking=$!
    end_by "$1"
    kill -CONT "$(worker_of "$host")"
}
expect 'SIGTERM ends the wait for a host that does not answer' stopped TERM <<'EOF'
status 143
EOF
expect 'SIGHUP ends the wait for a host that does not answer' stopped HUP <<'EOF'
status 129
EOF
# waiting: sends SIGTERM to a client that waits for a line of input.
waiting() {
    mkfifo "$work/lines"
    "$tracehost" ctl "$socket" <"$work/lines" &
    asking=$!
    exec 9>"$work/lines"
    end_by TERM
    exec 9>&-
}
expect 'SIGTERM ends the wait for a command' waiting <<'EOF'
status 143
EOF
expect 'the prompt reports the end of the host' host TERM 'sess\!' <<'EOF'
run> sess
tracehost ctl: the host has ended

status 1
EOF
finish
