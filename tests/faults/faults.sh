#!/bin/sh
# Single steps of commands fail, a sample of them: allocations, writes, mappings, opened files; see `inject`. The sample is
# another one each time; `inject` prints its seed, and FAULT_SEED=N takes that sample again. FAULT_EVERY=yes takes each step
# there is, in some minutes.
case $BUILD_DIR in
*/release | */debug) ;;
*)
    echo "sanitizers and coverage have allocators, mappings and files of their own"
    exit 77
    ;;
esac
if ! strace -f -o /dev/null -e trace=openat -e inject=openat:error=EMFILE:when=9999 true 2>/dev/null; then
    echo "strace is not there, or may not trace"
    exit 77
fi
exec python3 tests/faults/inject --sample=4 ${FAULT_SEED:+--seed="$FAULT_SEED"} ${FAULT_EVERY:+--every}
