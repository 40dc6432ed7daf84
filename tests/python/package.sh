#!/bin/sh
# Runs pytest on the package tracehost of the build, with the system's Python. PYTHON_ROOT=FOLDER runs it in that root of
# another Debian instead, as root, and shows the speeds of a large recording, too.
python=/usr/bin/python3
package=$BUILD_DIR/python

skip() {
    echo "$1"
    exit 77
}

[ -e "$package/tracehost/_tracehost.abi3.so" ] ||
    skip 'the package for Python is not built: no Python.h of Python 3.11 or later (Debian: python3-dev)'

if [ -n "$PYTHON_ROOT" ]; then
    exec tests/python/in_root "$PYTHON_ROOT"
fi
"$python" -c 'import pytest' 2>/dev/null || skip 'no pytest (Debian: python3-pytest)'

case $BUILD_DIR in
*/asan)
    # The module is loaded into a program without the sanitizer, whose runtime has to be there first.
    LD_PRELOAD=$("$CC" -print-file-name=libasan.so)
    [ -e "$LD_PRELOAD" ] || skip "the runtime of $CC's address sanitizer cannot be preloaded"
    # Python itself has leaks, which hide others; allocations too large fail, as they do without the sanitizer.
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:intercept_tls_get_addr=0
    export LD_PRELOAD ASAN_OPTIONS
    ;;
*/tsan) skip 'Python is not compiled for the thread sanitizer' ;;
esac

# The frames of Python are no part of a test of its size: the cache of compiled files goes to a scratch folder.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
PYTHONPATH=$package PYTHONPYCACHEPREFIX=$work "$python" -m pytest -q -rs -p no:cacheprovider --rootdir=tests/python \
    --basetemp="$work/pytest" tests/python >"$work/said" 2>&1
status=$?
sed 's/^SKIPPED \[[0-9]*\]/# skipped:/' "$work/said"
if [ $status -eq 0 ] || [ $status -eq 1 ]; then
    awk '/ in [0-9.]+s/ { passed = failed = skipped = 0
        for (i = 1; i < NF; i++) { if ($(i + 1) ~ /^passed/) passed = $i
            if ($(i + 1) ~ /^(failed|error)/) failed += $i
            if ($(i + 1) ~ /^skipped/) skipped = $i }
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$work/said"
fi
exit $status
