%% Prints the records of a file: the notes' keys, and each run of calls shop:sell(1), shop:sell(2), ... as one line.
-module(show_records).
-export([main/0]).

main() ->
    {ok, Bytes} = file:read_file(os:getenv("RECORDS")),
    show(Bytes, 0, 0),
    halt().

show(<<0, Size:32, Encoded:Size/binary, Rest/binary>>, First, Last) ->
    case binary_to_term(Encoded) of
        {trace_ts, _, call, {shop, sell, [Article]}, _} when First > 0, Article =:= Last + 1 ->
            show(Rest, First, Article);
        {trace_ts, _, call, {shop, sell, [Article]}, _} ->
            show_calls(First, Last),
            show(Rest, Article, Article);
        {tracehost, Key, _} ->
            show_calls(First, Last),
            io:format("note ~p~n", [Key]),
            show(Rest, 0, 0)
    end;
show(<<1, Count:32, Rest/binary>>, First, Last) ->
    show_calls(First, Last),
    io:format("~p dropped~n", [Count]),
    show(Rest, 0, 0);
show(Bytes, First, Last) ->
    show_calls(First, Last),
    byte_size(Bytes) > 0 andalso io:format("~p bytes more~n", [byte_size(Bytes)]).

show_calls(0, _) -> ok;
show_calls(First, Last) -> io:format("sell ~p to ~p~n", [First, Last]).
