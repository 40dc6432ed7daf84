#!/bin/sh
# Prints the lines that make a recording in an Erlang or Elixir shell:
#
#   samples/record.sh erlang [FILE] | erl
#   samples/record.sh elixir [FILE] | iex
#
# The shell writes the recording to FILE (sort.trace): the calls of lists:sort or Enum.sort with their
# callers and results, and the messages, spawn and exit of the calling process. Without a language,
# the lines of both are printed.

file=${2:-sort.trace}

erlang() {
    cat <<LINES
{Pid, _} = spawn_monitor(fun() -> receive {sort, List} -> lists:sort(List) end end).
dbg:tracer(port, dbg:trace_port(file, "$file")).
dbg:p(Pid, [call, send, 'receive', procs, timestamp]).
dbg:tpl(lists, sort, cx).
Pid ! {sort, [3, 1, 2]}, receive {'DOWN', _, process, Pid, _} -> ok end.
dbg:flush_trace_port(), dbg:stop().
LINES
}

elixir() {
    cat <<LINES
{pid, _} = spawn_monitor(fn -> receive do {:sort, list} -> Enum.sort(list) end end)
:dbg.tracer(:port, :dbg.trace_port(:file, ~c"$file"))
:dbg.p(pid, [:call, :send, :receive, :procs, :timestamp])
:dbg.tpl(Enum, :sort, :cx)
send(pid, {:sort, [3, 1, 2]}); receive do {:DOWN, _, :process, ^pid, _} -> :ok end
:dbg.flush_trace_port(); :dbg.stop()
LINES
}

case ${1-} in
erlang | elixir) $1 ;;
'')
    echo "% in an Erlang shell (erl; dbg is in the application runtime_tools)"
    erlang
    echo
    echo "# in an Elixir shell (iex; a Mix project needs :runtime_tools in its extra_applications)"
    elixir
    ;;
*)
    echo "usage: samples/record.sh [erlang|elixir [FILE]]" >&2
    exit 2
    ;;
esac
