%% The node that node.py measures: a process works all the time, and calls called/1 after each N units of work. For each
%% line of stdin, "N" or "" for the present N, the node prints the units so far, its clock in nanoseconds, and whether
%% called/1 has a trace pattern.
-module(node).
-export([main/0, called/1]).

-define(UNIT, 3000). %% steps of a unit of work

main() ->
    Units = counters:new(1, []),
    Every = atomics:new(1, []),
    atomics:put(Every, 1, 100),
    spawn_link(fun() -> work(Units, Every, 1, 0) end),
    answer(Units, Every).

work(Units, Every, 1, Sum) ->
    node:called(Sum),
    unit(Units, Every, atomics:get(Every, 1), Sum);
work(Units, Every, N, Sum) ->
    unit(Units, Every, min(N - 1, atomics:get(Every, 1)), Sum).

unit(Units, Every, N, Sum) ->
    counters:add(Units, 1, 1),
    work(Units, Every, N, steps(?UNIT, Sum)).

steps(0, Sum) -> Sum;
steps(N, Sum) -> steps(N - 1, (Sum * 31 + N) band 16#ffffff).

called(Sum) -> Sum.

answer(Units, Every) ->
    case io:get_line("") of
        eof -> halt(0, [{flush, false}]);
        "\n" -> ok;
        Line -> atomics:put(Every, 1, list_to_integer(string:trim(Line)))
    end,
    Traced = element(2, erlang:trace_info({node, called, 1}, traced)) =/= false,
    io:format("~b ~b ~p~n", [counters:get(Units, 1), erlang:monotonic_time(nanosecond), Traced]),
    answer(Units, Every).
