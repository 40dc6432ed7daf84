#!/bin/sh
# Tests that the commands in README.md and in the pages of samples/, tracers/ and plugins/ have the described results.
# shellcheck disable=SC2046,SC2086 # names of pages have no blanks

# A page has a library that leaks on purpose: the checker of tracehost reports the leak, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo 'no terminals can be opened here (is /dev/pts mounted?)'
    exit 77
fi
pages=$(ls README.md samples/*.md samples/*/*.md tracers/*.md tracers/*/*.md plugins/*.md plugins/*/*.md)

# leave_out PATTERN WHY: leaves out the pages that have a line with PATTERN.
leave_out() {
    echo "# skipped: $2:" $(grep -le "$1" $pages)
    pages=$(grep -Le "$1" $pages)
}
if ! erl -noinput -boot no_dot_erlang -eval 'halt(case code:which(dbg) of non_existing -> 1; _ -> 0 end)' 2>/dev/null; then
    leave_out '^\$ .*\<erl ' 'pages with a node that traces, as there is none'
fi
case ${BUILD_DIR:-} in
*asan | *tsan | *ubsan) leave_out ':load("build/' 'pages that load a library with sanitizers into a BEAM' ;;
esac
exec python3 tests/samples/walkthrough $pages
