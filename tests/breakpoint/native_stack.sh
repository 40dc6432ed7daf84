#!/bin/sh
# Tests stacks with native sites as gdb and perf see them from outside: test_native_stack calls a recursive function,
# each time through a breakpoint whose handler calls the body.
. tests/cli/lib/assertions.sh

program=$BUILD_DIR/tests/breakpoint/test_native_stack
# LeakSanitizer wants to be the one that traces. What the loader does meanwhile is not looked at.
# perf keeps a cache below HOME.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" LD_BIND_NOW=1 HOME="$work"

in_gdb() {
    gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set breakpoint pending on' "$@" \
        --args "$program" 0 </dev/null 2>&1
}

# The functions of a backtrace, in a line, the innermost first.
functions_of_backtrace() {
    sed -n -e 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([a-z_0-9]*\) .*/\2/p' | tr '\n' ' '
}

descent='plunge handle plunge handle plunge handle plunge handle descend call_once main '

# gdb's own breakpoint at a function goes where the host's is; there, the handler is still to come.
stop_at_a_body() {
    in_gdb -ex 'break -qualified call_once' -ex run -ex 'break -qualified plunge' -ex 'ignore 2 3' \
        -ex continue -ex backtrace -ex delete -ex continue >"$work/gdb"
    functions=$(functions_of_backtrace <"$work/gdb"; echo .)
    [ "${functions%.}" = "plunge ${descent#plunge handle }" ] && grep -q 'exited normally' "$work/gdb" && return
    cat "$work/gdb"
    return 1
}

# gdb stops at each of the eight calls, though the host removes its own breakpoint after four, while the breakpoint of gdb is in
# the program. gdb writes the replaced byte back later.
change_below_gdb() {
    in_gdb -ex 'break -qualified call_once' -ex run -ex 'break -qualified plunge' -ex 'ignore 2 100' \
        -ex continue -ex 'delete 1' -ex continue -ex 'info breakpoints' >"$work/gdb"
    grep -q 'exited normally' "$work/gdb" &&
        sed '1,/^Num/d' "$work/gdb" | grep -q 'already hit 8 times' && return
    cat "$work/gdb"
    return 1
}

stop_below_all() {
    in_gdb -ex 'break -qualified bottom' -ex run -ex backtrace -ex 'frame function descend' -ex finish \
        >"$work/gdb"
    functions=$(functions_of_backtrace <"$work/gdb"; echo .)
    case $functions in
    "bottom $descent"*) grep -q '^Value returned' "$work/gdb" && return ;;
    esac
    cat "$work/gdb"
    return 1
}

# No instruction loses a caller, and the steps lead through all of these functions.
step_through() {
    in_gdb -x tests/breakpoint/single_steps.py >"$work/gdb"
    grep '^lost' "$work/gdb" && return 1
    for function in call_once descend th_native_thunk_terms_1 handle plunge bottom; do
        grep -q "^in $function: " "$work/gdb" && continue
        tail -n 40 "$work/gdb"
        return 1
    done
}

# Each sample is a paragraph. Only samples that contain a called function count: samples before the program was ready, in a stub
# or in the kernel's own entry do not. Samples in the last instruction of the handler or of the function do not count either:
# after the compiler's pop of %rbp the unwind table still places %rbp in memory, which is then below the stack pointer, and
# perf has not copied it.
sample() {
    perf script -i "$work/perf.data" -F ip,sym >"$work/samples" 2>"$work/perf" || return
    awk 'BEGIN { RS = "" }
        /^[^\n]*[ \t](handle|plunge)\n/ { next }
        /[ \t](plunge|th_native_thunk_terms_1)\n/ {
            seen++
            if (/[ \t]burn\n.*[ \t]call_for\n.*[ \t]main\n/) whole++
            if (/[ \t]plunge\n[^\n]*[ \t]handle\n[^\n]*[ \t]plunge\n[^\n]*[ \t]handle\n/) nested++
        }
        END {
            print seen + 0 " samples, " whole + 0 " of them whole, " nested + 0 " nested"
            exit !(seen > 20 && nested > 0 && whole >= 0.98 * seen)
        }' "$work/samples"
}

needs_machine 'gdb and perf unwind stacks with native sites' 'they would see the emulator'

if ! command -v gdb >/dev/null; then
    skip 'gdb unwinds stacks with native sites' 'there is no gdb here'
elif ! in_gdb -ex 'break main' -ex run >"$work/gdb" || ! grep -q '^Breakpoint 1, ' "$work/gdb"; then
    skip 'gdb unwinds stacks with native sites' "it may not trace programs here: $(tail -n 1 "$work/gdb")"
else
    check 'gdb unwinds from a body to main' stop_at_a_body
    check 'gdb keeps its breakpoint while the host removes its own' change_below_gdb
    check 'gdb unwinds from the innermost call and finishes a body' stop_below_all
    check 'gdb unwinds to main from each instruction of a call' step_through
fi

if ! command -v perf >/dev/null; then
    skip 'perf samples whole stacks' 'there is no perf here'
elif ! perf record -q --call-graph dwarf -e cpu-clock:u -o "$work/perf.data" "$program" 900 \
    >"$work/perf" 2>&1; then
    skip 'perf samples whole stacks' "it may not sample here: $(head -n 1 "$work/perf")"
else
    check "perf samples whole stacks" sample
fi
finish
