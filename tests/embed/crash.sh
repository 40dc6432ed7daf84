#!/bin/sh
# Tests the guard in an embedding program: a crash is reported with the tracer's name; the program's own exit, also
# while tracers are attached, is not.
. tests/cli/lib/assertions.sh

export TRACEHOST_PATH="$samples"
calls=$recordings/s01_seed_local_caller.trace

# crash WAY: of the third trace callback. Addresses differ from run to run.
crash() {
    "$samples/embedding/replay_into_tracer" "$calls" crash_tracer "how=$1,after=2" 2>"$work/report"
    code=$?
    sed 's/address 0x[0-9a-f]*/address ADDRESS/' "$work/report" >&2
    return $code
}

named() {
    expect "$1: the report names the tracer, the callback and the event" crash "$1" <<LINES
-- stderr
tracehost: tracer 'crash_tracer' $2
  record 3, at byte 162 of $calls
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
-- status 6
LINES
}
named segv 'crashed: SIGSEGV, a bad memory access at address ADDRESS, in trace_call'
named abort 'crashed: SIGABRT, it called abort(), in trace_call'
named exit 'ended the program: exit(0), in trace_call'

expect 'an exit of the program itself is not reported as a crash' "$samples/embedding/replay_into_tracer" no/such.trace <<'LINES'
-- stderr
replay_into_tracer: cannot read no/such.trace
  No such file or directory
-- status 3
LINES

finish
