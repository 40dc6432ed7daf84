# Sourced by the tests of the program: a scratch folder, and comparisons of whole outputs.
: "${BUILD_DIR:=$PWD/build/release}" "${TRACEHOST:=$BUILD_DIR/bin/tracehost}" "${CC:=gcc}"
tracehost=$TRACEHOST
samples=$BUILD_DIR/samples
tracers=$BUILD_DIR/tests/tracers
recordings=samples/recordings
large=../shared/recordings/large

# Variables that change outputs.
unset TRACEHOST_PATH NO_COLOR CLICOLOR_FORCE ARGP_HELP_FMT CRASH_TRACER_LOAD
export LC_ALL=C

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

pass() {
    echo "ok $1"
    passed=$((passed + 1))
}

fail() {
    echo "not ok $1"
    failed=$((failed + 1))
}

# skip NAME WHY
skip() {
    echo "ok $1 # skipped: $2"
    skipped=$((skipped + 1))
}

# needs_machine NAME WHY: skips the rest of the test if programs run in an emulator.
needs_machine() {
    [ -n "${EMULATOR:-}" ] || return 0
    skip "$1" "$2"
    finish
}

# Set where programs take several times as long: in an emulator, and with a sanitizer, which looks at the code while the other
# builds look at the results. There fewer recordings do.
slow=
case ${BUILD_DIR:-}:${EMULATOR:-} in
*:?* | */asan: | */tsan:) slow=yes ;;
esac

# machine: prints the machine that the program was compiled for.
machine() {
    case $(od -An -tx1 -j18 -N1 "$tracehost") in # the low byte of the machine in the header of an ELF file
    *b7) echo AArch64 ;;
    *) echo x86-64 ;;
    esac
}

# nodes_of_machine: the rest of the test has nodes of this machine, which are faster than those of an emulator. Nothing that
# is compiled for the emulated machine loads into them.
nodes_of_machine() {
    [ -z "${EMULATOR:-}" ] || PATH=$(echo "$PATH" | sed 's|[^:]*/tools/beam:||')
}

# until_so COMMAND...: repeats the command until it succeeds, for 20 seconds, in an emulator for 200.
until_so() {
    tries=${EMULATOR:+1800}
    tries=$((tries + 200))
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

# worker_of PID: prints the worker of the supervisor PID, or PID if that has no child.
worker_of() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)/x/' |
        awk -v parent="$1" 'BEGIN { found = parent } $4 == parent { found = $1 } END { print found }'
}

# stop_process PID...: stops the processes, and waits until all their threads have stopped: each goes on until it is told.
stop_process() {
    kill -STOP "$@"
    until_so have_stopped "$@"
}
have_stopped() {
    for stopping; do
        ! grep -L 'State:.[TZ]' "/proc/$stopping/task/"*/status | grep -q . || return 1
    done
}

# check NAME COMMAND...: passes if the command succeeds, else prints its output.
check() {
    checked=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        pass "$checked"
    else
        fail "$checked"
        sed 's/^/    /' "$work/said" | head -40
    fi
}

# expect NAME COMMAND... <<EOF: compares the command's whole output with standard input: stdout; "-- stderr" and stderr,
# unless stderr is empty; "-- status N", unless the exit status is 0. The scratch folder is written as WORK, the build
# tree as BUILD, line numbers of sources as N. Frames of a crash are left out, as addresses depend on the compiler; so is
# the line of the emulator about a signal.
expect() {
    checked=$1
    shift
    cat >"$work/expected"
    "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
    [ -z "${EMULATOR:-}" ] || sed -i '/^qemu: uncaught target signal /d' "$work/stderr"
    {
        cat "$work/stdout"
        if [ -s "$work/stderr" ]; then
            echo '-- stderr'
            cat "$work/stderr"
        fi
        if [ $status != 0 ]; then echo "-- status $status"; fi
    } | sed "s|$work|WORK|g; s|$BUILD_DIR|BUILD|g; /^  at .*+0x/d; /^  lines: addr2line/d
        s|\({file,\"[a-z]*/[^\"]*\"},{line,\)[0-9]*|\1N|g" >"$work/got"
    if diff -u "$work/expected" "$work/got" >"$work/difference"; then
        pass "$checked"
    else
        fail "$checked"
        sed 's/^/    /' "$work/difference" | head -60
    fi
}

# without_patience FILE: prints a host's messages without those about an end that takes longer than a second, which
# come on a busy machine.
without_patience() {
    grep -v -e ': waiting for running functions to return; ' -e '; tracers write their remaining output; ' "$1"
}

# has_terminals: succeeds if a terminal can be opened; no_terminals is the reason otherwise.
no_terminals='no terminals can be opened here (is /dev/pts mounted?)'
has_terminals() {
    python3 -c 'import pty; pty.openpty()' 2>/dev/null
}

# at_terminal TITLE COMMAND...: like expect, for a command that opens a terminal.
at_terminal() {
    if has_terminals; then
        expect "$@"
    else
        cat >/dev/null
        skip "$1" "$no_terminals"
    fi
}

finish() {
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ "$failed" -eq 0 ]
    exit
}
