#!/bin/sh
# Measures unwatched probes, in instructions as callgrind counts them: the program against one that was compiled
# without probes, for each probe that is passed.
set -eu

party=$BUILD_DIR/tests/plugins/party.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# figure NAME VALUE: appends a figure, as figures.py describes.
figure() {
    [ -z "${BENCH_FIGURES:-}" ] || printf 'probes/%s\t%s\n' "$1" "$2" >>"$BENCH_FIGURES"
}

if ! command -v valgrind >/dev/null; then
    echo 'no valgrind: nothing is measured'
    for name in 'send' 'external call'; do figure "$name" "-	no valgrind"; done
    exit
fi

# instructions PROGRAM FUNCTION EXPRESSION: the instructions of all calls of FUNCTION, with its callees'.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect="$2" \
        "$1" run --schedulers=1 -t "$BUILD_DIR/lib/tracehost/tracers/count.so" --flags=exiting "$party" "$3" >"$work/said" 2>&1 || {
        cat "$work/said" >&2
        return 1
    }
    sed -n 's/^summary: //p; s/^totals: //p' "$work/out" | tail -1
}

# each PROGRAM FUNCTION MANY MORE STEP: of one, where MORE makes STEP more than MANY.
each() {
    many=$(instructions "$1" "$2" "$3")
    more=$(instructions "$1" "$2" "$4")
    awk -v many="$many" -v more="$more" -v step="$5" 'BEGIN { printf "%.2f\n", (more - many) / step }'
}

# compare NAME PROBES FUNCTION MANY MORE STEP
compare() {
    with=$(each "$TRACEHOST" "$3" "$4" "$5" "$6")
    without=$(each "$BUILD_DIR/tests/bench/tracehost_without_probes" "$3" "$4" "$5" "$6")
    probe=$(awk -v probes="$2" -v with="$with" -v without="$without" 'BEGIN { printf "%.2f", (with - without) / probes }')
    printf '%-16s %8.2f instructions, %8.2f without probes: %5.2f for each of %d probes\n' "$1" "$with" "$without" "$probe" "$2"
    figure "$1" "$probe"
    awk -v with="$with" -v without="$without" 'BEGIN { exit with <= 0 || without <= 0 }'
}

compare send 3 th_runtime_process_send 'party:floods(self(), 1000)' 'party:floods(self(), 3000)' 2000
compare 'external call' 4 th_runtime_call_nested 'party:calls(1000)' 'party:calls(3000)' 2000
