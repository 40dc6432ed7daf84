#!/bin/sh
# Tests that the commands in README.md and in the pages of samples/, tracers/ and plugins/ have the described results.

# A page has a library that leaks on purpose: the checker of tracehost reports the leak, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo 'no terminals can be opened here (is /dev/pts mounted?)'
    exit 77
fi
set -- README.md samples/*.md samples/*/*.md tracers/*.md tracers/*/*.md plugins/*.md plugins/*/*.md
if ! erl -noinput -boot no_dot_erlang -eval 'halt(case code:which(dbg) of non_existing -> 1; _ -> 0 end)' 2>/dev/null; then
    for file do
        shift
        if grep -q '^\$ .*\<erl ' "$file"; then
            echo "$file is left out: no node here that can trace"
        else
            set -- "$@" "$file"
        fi
    done
fi
exec python3 tests/samples/walkthrough "$@"
