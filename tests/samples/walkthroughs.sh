#!/bin/sh
# Tests that the commands in README.md and in the walk-throughs of samples/ have the described results.

# In one of them a library leaks on purpose, and is told so by us, not by the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo 'no terminals can be opened here (is /dev/pts mounted?)'
    exit 77
fi
set -- README.md samples/*.md samples/embedding/*.md
if ! erl -noinput -boot no_dot_erlang -eval 'halt(case code:which(dbg) of non_existing -> 1; _ -> 0 end)' 2>/dev/null; then
    echo 'samples/watching-a-node.md is left out: no node here that can trace'
    for file do
        shift
        [ "$file" = samples/watching-a-node.md ] || set -- "$@" "$file"
    done
fi
exec python3 tests/samples/walkthrough "$@"
