#!/bin/sh
# Single steps of commands fail, a sample of them: allocations, writes, mappings, opened files; see `inject`, which prints its
# seed. FAULT_SEED=N takes another sample, and FAULT_EVERY=yes each step there is, in many minutes.
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
exec python3 tests/faults/inject --sample=4 --seed="${FAULT_SEED:-1}" ${FAULT_EVERY:+--every}
