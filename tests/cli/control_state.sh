#!/bin/sh
# Tests states that are expressions: each is evaluated once, whichever command attaches the tracer; a signal ends the
# evaluation.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

# deposits: attaches tracers whose state expression adds 1 to a balance, and prints the balance.
once='as_state=begin bank:deposit(alice, 1), trace end'
deposits() {
    a_bank -L "$tracers"
    ctl attach "$once" -p bank:open/2 --session=two &&
        ctl attach "$once" -p bank:open/2 --kind=meta --meta-tracer="$once" --session=three &&
        ctl pattern bank:close/1 --kind=meta --meta-tracer="$once" --session=three &&
        ctl replace two "$once" &&
        ctl attach 'echo=bank:balance(alice)' -p bank:open/2
    end
}
expect 'each state expression of a command is evaluated once' deposits <<'LINES'
session 1 'two', tracer 'as_state': flags call, 1 breakpoint
session 2 'three', tracer 'as_state': flags call, 1 breakpoint
session 2 'three', tracer 'as_state': bank:close/1: 1 function
session 1 'two', tracer 'as_state': flags call, 1 breakpoint
session 5, tracer 'echo': flags call, 1 breakpoint
state 105
ok
stderr: tracehost run: received a request to stop
status 0
LINES

# endless COMMAND ARGUMENT...
endless() {
    command=$1
    shift
    tests/cli/lib/interrupt.py "$tracehost" "$command" -t 'count=(fun F() -> F() end)()' "$@"
}
expect 'SIGINT ends the evaluation of a state in a replay' endless replay "$recordings/s01_seed_local_caller.trace" <<'LINES'
-- stderr
tracehost replay: cannot use -t 'count=(fun F() -> F() end)()'
  cannot evaluate the state: received SIGINT
-- status 130
LINES
expect 'SIGINT ends the evaluation of a state in a run' endless run bank 'bank:start().' <<'LINES'
-- stderr
tracehost run: cannot use -t 'count=(fun F() -> F() end)()'
  cannot evaluate the state: received SIGINT
-- status 130
LINES

finish
