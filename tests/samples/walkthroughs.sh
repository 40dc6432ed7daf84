#!/bin/sh
# Tests that the commands in README.md and in the pages of samples/, tracers/ and plugins/ have the described results.
. tests/samples/leave_out

# A page has a library that leaks on purpose: the checker of tracehost reports the leak, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
pages=$(ls README.md samples/*.md samples/*/*.md tracers/*.md tracers/*/*.md plugins/*.md plugins/*/*.md)
case ${BUILD_DIR:-} in
*asan | *tsan)
    leave_out ':load("build/\|ERL_LIBS=build/' 'pages that load a library with sanitizers into a BEAM'
    leave_out '^\$ export PYTHONPATH=' 'pages with Python, as the sanitizer must be there before the program'
    leave_out '^\$ cargo ' 'pages with a Rust program, as the sanitizer must be there before the program'
    ;;
esac
walkthrough
