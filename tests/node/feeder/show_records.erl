%% Prints the records of a file: the notes' keys, and each run of calls shop:sell(1), shop:sell(2), ... as one line. Notes
%% round_trip may stand anywhere, so one is printed behind the note node. The node and its client have the same time of day here.
-module(show_records).
-export([main/0, rate/0]).

main() ->
    {ok, Bytes} = file:read_file(os:getenv("RECORDS")),
    show(Bytes, 0, 0),
    halt().

check_round_trip({Monotonic, System, Before, After}) ->
    [io:format("the node's time ~p is not from ~p to ~p~n", [System, Before, After]) ||
        Before > System orelse System > After],
    Last = erlang:put(monotonic, Monotonic),
    [io:format("the monotonic time goes from ~p to ~p~n", [Last, Monotonic]) || is_integer(Last), Monotonic =< Last],
    ok.

show(<<0, Size:32, Encoded:Size/binary, Rest/binary>>, First, Last) ->
    case binary_to_term(Encoded) of
        {trace_ts, _, call, {shop, sell, [Article]}, _} when First > 0, Article =:= Last + 1 ->
            show(Rest, First, Article);
        {trace_ts, _, call, {shop, sell, [Article]}, _} ->
            show_calls(First, Last),
            show(Rest, Article, Article);
        {tracehost, round_trip, Clocks} ->
            check_round_trip(Clocks),
            show(Rest, First, Last);
        {tracehost, Key, _} ->
            show_calls(First, Last),
            io:format("note ~p~n", [Key]),
            [io:format("note round_trip~n") || Key =:= node, binary:match(Rest, <<"round_trip">>) =/= nomatch],
            show(Rest, 0, 0)
    end;
show(<<1, Count:32, Rest/binary>>, First, Last) ->
    show_calls(First, Last),
    io:format("~p dropped~n", [Count]),
    show(Rest, 0, 0);
show(Bytes, First, Last) ->
    show_calls(First, Last),
    byte_size(Bytes) > 0 andalso io:format("~p bytes more~n", [byte_size(Bytes)]).

%% Prints the number of calls in the last second of the records, the last of which may be cut.
rate() ->
    {ok, Bytes} = file:read_file(os:getenv("RECORDS")),
    Times = times(Bytes, []),
    io:format("~p~n", [length([Time || Time <- Times, Time > hd(Times) - 1000000])]),
    halt().

times(<<0, Size:32, Encoded:Size/binary, Rest/binary>>, Times) ->
    case binary_to_term(Encoded) of
        {trace_ts, _, call, _, {Mega, Seconds, Micro}} ->
            times(Rest, [(Mega * 1000000 + Seconds) * 1000000 + Micro | Times]);
        _ ->
            times(Rest, Times)
    end;
times(_, Times) ->
    Times.

show_calls(0, _) -> ok;
show_calls(First, Last) -> io:format("sell ~p to ~p~n", [First, Last]).
