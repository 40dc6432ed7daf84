#!/bin/sh
# Tests that a debugger at th_breakpoint_hit() stops at each hit in a debug build. In other builds the common path of
# a hit is inlined (host/breakpoint/fast_hit.h).
. tests/cli/lib/compiled_plugins.sh
needs_machine 'gdb stops at each hit' 'it would see the emulator'

# LeakSanitizer cannot trace a process that gdb traces.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" HOME="$work"

compile "$work/fib.so" plugins/fib/fib.c gcc -O2 -g 2>"$work/said" || { echo 'no gcc here'; exit 77; }

# in_gdb EXPRESSION OPTIONS COMMAND...: runs a traced call in gdb, and prints gdb's output.
in_gdb() {
    expression=$1
    options=$2
    shift 2
    for command do
        shift
        set -- "$@" -ex "$command"
    done
    gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set breakpoint pending on' "$@" --args \
        "$tracehost" run --schedulers=1 -t text,color=never,output="$work/traced" $options "$work/fib.so" "$expression" \
        </dev/null >"$work/gdb" 2>&1
}

# stops_at_each_hit HITS OPTIONS: succeeds if gdb counts HITS stops in fib:depth(5): one depth/1, six down/1.
stops_at_each_hit() {
    hits=$1
    in_gdb 'fib:depth(5)' "$2" 'break th_breakpoint_hit' 'ignore 1 1000' run 'info breakpoints'
    grep -q "already hit $hits times" "$work/gdb" && grep -q 'exited normally' "$work/gdb" && return
    cat "$work/gdb"
    return 1
}

# At the first hit the tracer has not been called yet; the hit is in the thread that runs the function.
shows_who_calls() {
    in_gdb 'fib:depth(5)' '-p fib:down/1' 'break th_breakpoint_hit' run backtrace
    grep -q '^#0 .*th_breakpoint_hit' "$work/gdb" && grep -q ' th_live_call ' "$work/gdb" &&
        grep -q ' scheduler_run_thread ' "$work/gdb" && return
    cat "$work/gdb"
    return 1
}

if ! command -v gdb >/dev/null; then
    skip 'gdb stops at each hit' 'there is no gdb here'
elif [ "${BUILD_DIR##*/}" != debug ]; then
    skip 'gdb stops at each hit' 'this is no debug build: hits are inlined'
elif ! in_gdb 'fib:depth(1)' '' 'break main' run || ! grep -q '^Breakpoint 1, ' "$work/gdb"; then
    skip 'gdb stops at each hit' "it may not trace programs here: $(tail -n 1 "$work/gdb")"
else
    check 'gdb stops at each hit of a local pattern' stops_at_each_hit 7 '-p fib:_/_'
    check 'gdb stops at each hit of a match specification that rejects calls' stops_at_each_hit 6 '-p fib:down/1 --match-spec=[{[-1],[],[]}]'
    check 'gdb stops at each hit of a counting pattern' stops_at_each_hit 6 '-p fib:down/1 --kind=count'
    check 'gdb shows the backtrace of a hit' shows_who_calls
fi
finish
