#!/bin/sh
# Tests `tracehost dump`: it prints recordings as io:format("~0p.~n") of a real node did.
. tests/cli/lib/assertions.sh

# same TRACE TEXT
same() {
    "$tracehost" dump --allow-partial "$1" 2>"$work/stderr" | cmp - "$2"
}

for trace in "$recordings"/*.trace; do
    name=$(basename "$trace" .trace)
    check "dump prints $name as Erlang does" same "$trace" "${trace%.trace}.term.txt"
done
check 'dump reads a wrap set by its pattern' same "$recordings/wrap/w*.log" "$recordings/wrap/wrapset.term.txt"
check 'dump reads a wrap set by its first file' same "$recordings/wrap/w1.log" "$recordings/wrap/wrapset.term.txt"

from_pipe() {
    "$tracehost" dump - <"$recordings/s13_procs.trace" | cmp - "$recordings/s13_procs.term.txt"
}
check 'dump reads stdin' from_pipe

to_file() {
    "$tracehost" dump -o "$work/out" "$recordings/s13_procs.trace" &&
        cmp "$work/out" "$recordings/s13_procs.term.txt"
}
check 'dump -o writes to a file' to_file

finish
