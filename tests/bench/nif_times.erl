%% The BEAM's side of nif.py. Loads the library, then answers each line, the name of a row, with the median
%% time of a call in picoseconds. The first line, `rows`, is answered with the rows' names.
-module(nif_times).
-export([main/1, rows/0, time/2]).

-define(TIMES, 101).

main([Library]) ->
    ok = erlang:load_nif(Library, 0),
    %% The heap has room for all terms of one measurement, so that no collection runs and no fragment is made.
    spawn_opt(fun() -> answer(pids()) end, [{min_heap_size, 30000}]).

rows() ->
    erlang:nif_error(not_loaded).

time(_Row, _Pids) ->
    erlang:nif_error(not_loaded).

%% {Live, Dead, Receiver}
pids() ->
    {Dead, Monitor} = spawn_monitor(fun() -> ok end),
    receive
        {'DOWN', Monitor, process, Dead, _} -> ok
    end,
    Receiver = spawn_link(fun drop/0),
    {Receiver, Dead, Receiver}.

answer(Pids) ->
    case io:get_line("") of
        eof ->
            halt(0);
        "rows\n" ->
            [io:format("~ts~n", [Row]) || Row <- rows()],
            io:format("~n");
        Line ->
            Row = list_to_atom(string:trim(Line)),
            Times = [measure(Row, Pids) || _ <- lists:seq(1, ?TIMES)],
            io:format("~b~n", [lists:nth(?TIMES div 2 + 1, lists:sort(Times))])
    end,
    answer(Pids).

%% The receiver does not run while messages are sent to it.
measure(Row, {_, _, Receiver} = Pids) ->
    true = erlang:suspend_process(Receiver),
    true = erlang:garbage_collect(),
    Time = time(Row, Pids),
    true = erlang:resume_process(Receiver),
    Receiver ! {done, self()},
    receive
        done -> Time
    end.

drop() ->
    receive
        {done, Sender} -> Sender ! done;
        _ -> dropped
    end,
    drop().
