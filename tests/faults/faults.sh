#!/bin/sh
# Makes single steps of commands fail: allocations, writes, mappings, opened files; see `inject`. Each run takes
# another random sample of the steps; `inject` prints its seed, and FAULT_SEED=N repeats that sample. FAULT_EVERY=yes
# takes all steps, in some minutes.
case $BUILD_DIR in
*/release | */debug) ;;
*)
    echo "sanitizers and coverage have allocators, mappings and files of their own"
    exit 77
    ;;
esac
kinds=
if [ -n "${EMULATOR:-}" ]; then
    echo '# skipped: writes, mappings and opened files that fail: strace would let those of the emulator fail'
    kinds=--kind=allocation
elif ! strace -f -o /dev/null -e trace=openat -e inject=openat:error=EMFILE:when=9999 true 2>/dev/null; then
    echo "strace is not there, or may not trace"
    exit 77
fi
exec python3 tests/faults/inject --sample=4 $kinds ${FAULT_SEED:+--seed="$FAULT_SEED"} ${FAULT_EVERY:+--every}
