#!/bin/sh
# Measures unwatched probes, in instructions as callgrind counts them: the program against one that was compiled
# without probes. At most 3 for each probe that is passed.
set -eu

party=$BUILD_DIR/tests/plugins/party.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v valgrind >/dev/null; then
    echo 'skipped: valgrind is not installed'
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

failed=0
# compare WHAT PROBES FUNCTION MANY MORE STEP
compare() {
    with=$(each "$TRACEHOST" "$3" "$4" "$5" "$6")
    without=$(each "$BUILD_DIR/tests/bench/tracehost_without_probes" "$3" "$4" "$5" "$6")
    awk -v what="$1" -v probes="$2" -v with="$with" -v without="$without" 'BEGIN {
        printf "%-16s %8.2f instructions, %8.2f without probes: %5.2f for each of %d probes\n",
            what, with, without, (with - without) / probes, probes
        exit with <= 0 || without <= 0 || with - without > 3 * probes
    }' || failed=1
}

compare 'a send' 3 th_runtime_process_send 'party:floods(self(), 1000)' 'party:floods(self(), 3000)' 2000
compare 'an external call' 4 th_runtime_call_nested 'party:calls(1000)' 'party:calls(3000)' 2000
[ "$failed" = 0 ] || echo 'a probe that nobody watches costs more than 3 instructions'
exit $failed
