%% Counts the records of a trace-port file with dbg:trace_client, as the recordings' counts were made.
%% Prints nanoseconds per record, the median of five runs.
-module(dbg_client).
-export([main/1]).

main([File]) ->
    Times = lists:sort([once(File) || _ <- lists:seq(1, 5)]),
    io:format("~.1f~n", [lists:nth(3, Times)]),
    halt().

%% Returns nanoseconds per record.
once(File) ->
    Self = self(),
    Begin = erlang:monotonic_time(nanosecond),
    Client = dbg:trace_client(file, File, {fun count/2, {Self, 0}}),
    Monitor = monitor(process, Client),
    receive
        {counted, Count} ->
            Time = erlang:monotonic_time(nanosecond) - Begin,
            demonitor(Monitor, [flush]),
            dbg:stop_clear(),
            Time / max(Count, 1);
        {'DOWN', Monitor, process, Client, Why} ->
            io:format(standard_error, "dbg:trace_client: ~p~n", [Why]),
            halt(1)
    end.

count(end_of_trace, {Self, Count}) ->
    Self ! {counted, Count},
    done;
count(_Record, {Self, Count}) ->
    {Self, Count + 1}.
