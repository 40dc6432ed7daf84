#!/bin/sh
# Tests stacks of a traced run as gdb and perf see them from outside: each call of fib's down/1 goes through a
# breakpoint whose handler calls the body. tests/breakpoint/native_stack.sh tests single instructions.
. tests/cli/lib/compiled_plugins.sh
needs_machine 'gdb and perf show stacks of a traced run' 'they would see the emulator'

# LeakSanitizer fails under gdb. perf keeps a cache below HOME.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" HOME="$work"

# The plugin is compiled by gcc, so that gdb can wait for the library: gdb's breakpoint replaces a NOP of one byte.
compile "$work/fib.so" plugins/fib/fib.c gcc -O2 -g 2>"$work/said" || { echo 'no gcc here'; exit 77; }

# in_gdb FILE EXPRESSION COMMAND...: runs EXPRESSION in gdb, and writes the output of the run and of gdb to FILE.
in_gdb() {
    said=$1
    expression=$2
    shift 2
    for command do
        shift
        set -- "$@" -ex "$command"
    done
    gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set breakpoint pending on' "$@" --args \
        "$tracehost" run --schedulers=1 -t text,color=never,output="$work/traced" -p fib:_/_ --return \
        "$work/fib.so" "$expression" </dev/null >"$said" 2>&1
}

# functions_of_backtrace FILE: prints the functions of a backtrace in a line, the innermost first: the plugin's
# functions, the frames of handlers, and the scheduler's function. Other functions are left out.
functions_of_backtrace() {
    sed -n -e 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([a-z_0-9]*\) .*/\2/p' "$1" | sed s/^slow_frame/frame/ |
        grep -x 'down\|frame_1\|scheduler_run_thread' | tr '\n' ' '
}

# is_whole: succeeds if the trace has the calls and returns of a run without gdb.
is_whole() {
    "$tracehost" run --schedulers=1 -t text,color=never -p fib:_/_ --return "$work/fib.so" 'fib:depth(5)' >"$work/whole"
    [ "$(grep -c ' call ' "$work/whole")" = 7 ] && sed '$d' "$work/whole" | cmp - "$work/traced"
}

# gdb sets its breakpoint when the library is loaded, before the host sets its own.
stops_in_a_function() {
    in_gdb "$work/gdb" 'fib:depth(5)' 'break -qualified down' 'ignore 1 3' run backtrace delete continue
    functions=$(functions_of_backtrace "$work/gdb"; echo .)
    [ "$functions" = 'down down frame_1 down frame_1 down scheduler_run_thread .' ] &&
        grep -q 'exited normally' "$work/gdb" && is_whole && return
    echo "$functions"
    cat "$work/gdb"
    return 1
}

# Both breakpoints are hit at each call, to the end of the run.
stops_at_each_call() {
    in_gdb "$work/gdb" 'fib:depth(5)' 'break -qualified down' 'ignore 1 1000' run 'info breakpoints'
    grep -q 'already hit 6 times' "$work/gdb" && grep -q 'exited normally' "$work/gdb" && is_whole && return
    cat "$work/gdb"
    return 1
}

# samples_are_whole: each sample is a paragraph. Samples of fib() have whole stacks, and some have several handlers.
samples_are_whole() {
    perf script -i "$work/perf.data" -F ip,sym >"$work/samples" 2>"$work/perf" || return
    awk 'BEGIN { RS = "" }
        /[ \t](fib|frame_nif|th_native_thunk_nif)\n/ {
            seen++
            if (/[ \t]th_runtime_step_take\n.*[ \t]scheduler_run_thread\n/) whole++
            if (/[ \t]fib\n[^\n]*[ \t]frame_nif\n([^\n]*[ \t]before[^\n]*\n)?[^\n]*[ \t]fib\n[^\n]*[ \t]frame_nif\n/) nested++
        }
        END {
            print seen + 0 " samples, " whole + 0 " of them whole, " nested + 0 " nested"
            exit !(seen > 20 && nested > 0 && whole >= 0.98 * seen)
        }' "$work/samples"
}

by_frame_pointers() {
    perf record -q -g -e cpu-clock:u -o "$work/perf.data" "$tracehost" run --schedulers=1 \
        -t count,output=/dev/null -p fib:fib/1 --return fib 'fib:fib(23)' >"$work/perf" 2>&1 && samples_are_whole
}

if ! command -v gdb >/dev/null; then
    skip 'gdb stops in traced functions' 'there is no gdb here'
elif ! in_gdb "$work/gdb" 'fib:depth(1)' 'break main' run || ! grep -q '^Breakpoint 1, ' "$work/gdb"; then
    skip 'gdb stops in traced functions' "it may not trace programs here: $(tail -n 1 "$work/gdb")"
else
    check 'gdb stops in a traced function, and its backtrace passes the handlers' stops_in_a_function
    check 'gdb stops at each call, and each call is traced' stops_at_each_call
fi

if ! command -v perf >/dev/null; then
    skip 'perf samples have whole stacks' 'there is no perf here'
elif ! perf record -q --call-graph dwarf,32768 -e cpu-clock:u -o "$work/perf.data" "$tracehost" run --schedulers=1 \
    -t count,output=/dev/null -p fib:fib/1 --return "$work/fib.so" 'fib:fib(23)' >"$work/perf" 2>&1; then
    skip 'perf samples have whole stacks' "it may not sample here: $(head -n 1 "$work/perf")"
else
    check "perf samples by DWARF have whole stacks" samples_are_whole
    # The plugin that ships is compiled with frame pointers, as the host is.
    check 'perf samples by frame pointers have whole stacks' by_frame_pointers
fi
finish
