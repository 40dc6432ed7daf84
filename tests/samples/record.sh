#!/bin/sh
# samples/record.sh makes a recording with a real Erlang shell.
. tests/cli/report

if ! command -v erl >/dev/null; then
    skip 'samples/record.sh' 'no Erlang here'
    finish
fi

# The times and the process' number are those of that run.
recorded() {
    samples/record.sh erlang "$work/sort.trace" | ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl >"$work/shell" 2>&1
    "$tracehost" replay "$work/sort.trace" | sed 's/^[0-9.]* <[0-9.]*> */<W> /'
}
expect 'the lines for an Erlang shell' recorded <<'LINES'
<W> receive {sort,[3,1,2]}
<W> call lists:sort([3,1,2]) [result undefined]
<W> return lists:sort/1 -> [1,2,3]
<W> exit normal
LINES

expect 'an unknown language' samples/record.sh prolog <<'LINES'
-- stderr
usage: samples/record.sh [erlang|elixir [FILE]]
-- status 2
LINES

finish
