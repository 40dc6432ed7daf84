#!/bin/sh
# Tests each way to crash in each callback: the report has the callback and the event, and earlier output is complete.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=build/release}"
folder=$BUILD_DIR/samples
calls=$recordings/s01_seed_local_caller.trace

# crash SETTINGS [STREAM]: addresses differ from run to run.
crash() {
    "$tracehost" replay -L "$folder" --callback-timeout=300ms -t text -t "crash_tracer$1" \
        "${2-$calls}" 2>"$work/report" || code=$?
    sed 's/address 0x[0-9a-f]*/address ADDRESS/' "$work/report" >&2
    return "${code:-0}"
}

# named WAY WHAT IS SAID: in the third trace callback.
named() {
    expect "$1: the report names the tracer, the callback and the event" crash ",how=$1,after=2" <<LINES
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' $2
  record 3, at byte 162 of $calls
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
LINES
}
named segv 'crashed: SIGSEGV, a bad memory access at address ADDRESS, in trace_call'
named bus 'crashed: SIGBUS, a bad memory access at address ADDRESS, in trace_call'
named fpe 'crashed: SIGFPE, a bad arithmetic operation, in trace_call'
named ill 'crashed: SIGILL, a bad instruction, in trace_call'
named abort 'crashed: SIGABRT, it called abort(), in trace_call'
named stack 'crashed: SIGSEGV, a bad memory access: the stack is used up, in trace_call'
named exit 'ended the program: exit(0), in trace_call'
named hang 'hangs: trace_call took more than 0.3 s'
case $BUILD_DIR in
*tsan) skip 'spin: the report names the tracer, the callback and the event' 'this sanitizer holds signals back from code that makes no system call' ;;
*) named spin 'hangs: trace_call took more than 0.3 s' ;;
esac

# Only the watchdog can report this one.
expect 'deaf: a tracer that blocks all signals is reported' crash ,how=deaf,after=2 <<LINES
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' hangs: trace_call took more than 0.3 s, and has blocked all signals
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
tracehost replay: with --isolate the other tracers would go on
-- status 6
LINES

expect 'a state of one atom chooses the way to crash' crash '=abort' <<LINES
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGABRT, it called abort(), in trace_call
  record 1, at byte 0 of $calls
  event: {trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
LINES

# In every callback; s15 has events for all callbacks except those of ports.
named_callback() {
    crash ",how=fpe,in=$1" "$2" 2>&1 >/dev/null | grep -q "crashed: SIGFPE, a bad arithmetic operation, in $1\$"
}
for group in call send receive procs ports running_procs running_ports garbage_collection; do
    case $group in
    *ports) stream=$recordings/s06_ports.trace ;;
    *) stream=$recordings/s15_kitchen_sink.trace ;;
    esac
    check "a crash in enabled_$group is reported" named_callback "enabled_$group" "$stream"
    check "a crash in trace_$group is reported" named_callback "trace_$group" "$stream"
done
check 'a crash in enabled is reported' named_callback enabled "$recordings/s10_seq_trace.trace"
check 'a crash in trace is reported' named_callback trace "$recordings/s10_seq_trace.trace"
check 'a crash in unload is reported' named_callback unload "$calls"
in_load() {
    CRASH_TRACER_LOAD=fpe crash '' 2>&1 | grep -q 'crashed: SIGFPE, a bad arithmetic operation, in load$'
}
check 'a crash in load is reported' in_load

finish
