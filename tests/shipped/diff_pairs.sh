#!/bin/sh
# Tests `tracehost diff` with generated pairs of recordings: one planted difference is found and shown first; pairs that
# differ in pids, times and order only have none. DIFF_SEEDS=N tries N seeds, with two pairs each, instead of 60;
# DIFF_RECORDS=N compares recordings of N records instead of 20,000, and shows time and memory.
. tests/cli/lib/assertions.sh

pairs=tests/shipped/diff_pairs.py
seeds=${DIFF_SEEDS:-60}
records=${DIFF_RECORDS:-20000}
case ${EMULATOR:+emulated}$BUILD_DIR in
*asan | *tsan | emulated*) seeds=${DIFF_SEEDS:-12} ;;
esac

check "planted differences are shown first, and no others are found ($seeds seeds)" \
    python3 $pairs "$tracehost" "$work" 1 "$seeds"

# liar NAME: a program that compares other recordings than it is given. The pairs must find out.
liar() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
    ! python3 $pairs "$work/$1" "$work" 1 4 >"$work/lies" && grep -c '^seed' "$work/lies"
}
expect 'a program that finds nothing fails for each planted difference' liar blind "exec $tracehost diff \$2 \$3 \$3" <<'LINES'
4
LINES
python3 $pairs --write "$work/other" 99 2000 x
expect 'a program that finds too much fails for all pairs' liar seeing "exec $tracehost diff \$2 \$3 $work/other" <<'LINES'
8
LINES

# Peak memory of the processes that take part, one after the other, in KiB, and the bound: 512 MiB for a million records.
measured() {
    for variant in before after; do
        python3 $pairs --write "$work/large" 7 "$records" $variant && "$tracehost" convert "$work/large" "$work/$variant.trace" || return 1
    done
    rm "$work/large"
    python3 -c '
import resource, subprocess, sys, time
began = time.time()
done = subprocess.run(sys.argv[2:], capture_output=True, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(done.stdout + done.stderr, end="")
print("# %s records each: %.1f s, %d MiB" % (sys.argv[1], time.time() - began, peak // 1024), file=sys.stderr)
sys.exit(done.returncode != 0 or not done.stdout.startswith("no difference: ") or peak > 512 * 1024)' \
        "$records" "$tracehost" diff "$work/before.trace" "$work/after.trace"
}
case $BUILD_DIR in
*asan | *tsan) skip "recordings of $records records need at most 512 MiB" 'a sanitizer needs more' ;;
*)
    check "recordings of $records records need at most 512 MiB" measured
    grep '^#' "$work/said"
    ;;
esac
finish
