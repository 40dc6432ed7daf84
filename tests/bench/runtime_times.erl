%% The BEAM's side of runtime.py: answers each line, "ROW N", with the time in nanoseconds of N rounds of
%% that row. Both sides call the same function of the same library.
-module(runtime_times).
-export([main/1, tell/1, server/0]).

main([Library, Tracer]) ->
    ok = party:load(Library),
    ok = as_told:load(Tracer),
    spawn(fun answer/0).

answer() ->
    case io:fread("", "~s ~d") of
        {ok, [Row, Times]} ->
            io:format("~b~n", [measure(list_to_atom(Row), Times)]),
            answer();
        _ ->
            halt(0)
    end.

%% Runs in a process of its own, since the heap of this process has the terms of earlier measurements.
measure(Row, Times) ->
    Self = self(),
    spawn(fun() -> Self ! {took, time(Row, Times)} end),
    receive
        {took, Time} -> Time
    end.

time(ping, Times) ->
    Server = spawn(?MODULE, server, []),
    Begin = erlang:monotonic_time(nanosecond),
    ping(Server, Times),
    Time = erlang:monotonic_time(nanosecond) - Begin,
    Server ! stop,
    Time;
time(Row, Times) when Row =:= discarded; Row =:= traced; Row =:= returned ->
    State = case Row of discarded -> discard; _ -> trace end,
    Match = case Row of returned -> [{'_', [], [{return_trace}]}]; _ -> true end,
    1 = erlang:trace_pattern({party, echo, 1}, Match, [global]),
    1 = erlang:trace(self(), true, [call, {tracer, as_told, State}]),
    Time = time(calls, Times),
    1 = erlang:trace(self(), false, [call]),
    1 = erlang:trace_pattern({party, echo, 1}, false, [global]),
    Time;
time(Row, Times) ->
    Begin = erlang:monotonic_time(nanosecond),
    run(Row, Times),
    erlang:monotonic_time(nanosecond) - Begin.

run(crowd, Times) ->
    crowd(self(), Times),
    await(Times);
run(applies, Times) ->
    applies(party, echo, Times);
run(calls, Times) ->
    calls(Times).

crowd(_Self, 0) ->
    ok;
crowd(Self, Times) ->
    spawn(?MODULE, tell, [Self]),
    crowd(Self, Times - 1).

tell(To) ->
    To ! here,
    To.

await(0) ->
    done;
await(Times) ->
    receive
        _ -> await(Times - 1)
    end.

calls(0) ->
    done;
calls(Times) ->
    party:echo(Times),
    calls(Times - 1).

applies(_Module, _Function, 0) ->
    done;
applies(Module, Function, Times) ->
    Module:Function(Times),
    applies(Module, Function, Times - 1).

server() ->
    receive
        {From, Message} ->
            From ! Message,
            server();
        _ ->
            ok
    end.

ping(_Server, 0) ->
    done;
ping(Server, Times) ->
    Server ! {self(), Times},
    receive
        _ -> ping(Server, Times - 1)
    end.
