#!/bin/sh
# Tests samples/record.sh, which makes recordings with a real Erlang shell and with Elixir's.
. tests/cli/lib/assertions.sh

if ! command -v erl >/dev/null; then
    skip 'an Erlang shell makes a recording' 'no Erlang here'
    finish
fi

# The times and the process' number differ from run to run.
recorded() {
    samples/record.sh "$1" "$work/sort.trace" | ERL_CRASH_DUMP_SECONDS=0 timeout 60 "$2" >"$work/shell" 2>&1
    "$tracehost" replay "$work/sort.trace" | sed 's/^[0-9.]* <[0-9.]*> */<W> /'
}
expect 'an Erlang shell makes a recording' recorded erlang erl <<'LINES'
<W> receive {sort,[3,1,2]}
<W> call lists:sort([3,1,2]) [result undefined]
<W> return lists:sort/1 -> [1,2,3]
<W> exit normal
LINES

if command -v iex >/dev/null; then
    expect 'an Elixir shell makes a recording' recorded elixir iex <<'LINES'
<W> receive {sort,[3,1,2]}
<W> call 'Elixir.Enum':sort([3,1,2]) [result undefined]
<W> return 'Elixir.Enum':sort/1 -> [1,2,3]
<W> exit normal
LINES
else
    skip 'an Elixir shell makes a recording' 'no Elixir here'
fi

expect 'an unknown language is refused' samples/record.sh prolog <<'LINES'
-- stderr
usage: samples/record.sh [erlang|elixir [FILE]]
-- status 2
LINES

finish
