%% Answers each line, "QUESTION N", with the time in nanoseconds of N local calls of hit/1: untraced, or
%% at a breakpoint with a NIF tracer.
-module(peers_beam).
-export([main/1]).

main([Tracer]) ->
    ok = as_told:load(Tracer),
    spawn(fun answer/0).

answer() ->
    case io:fread("", "~s ~d") of
        {ok, [Question, Calls]} ->
            io:format("~b~n", [measure(list_to_atom(Question), Calls)]),
            answer();
        _ ->
            halt(0)
    end.

%% Runs in a process of its own, since the heap of this process has the terms of earlier measurements.
measure(Question, Calls) ->
    Self = self(),
    spawn_link(fun() -> Self ! {took, time(Question, Calls)} end),
    receive
        {took, Time} -> Time
    end.

time(untraced, Calls) ->
    time(Calls);
time(not_this_process, Calls) ->
    at_breakpoint(true, Calls);
time(filtered, Calls) ->
    traced(trace, [{[-1], [], []}], Calls);
time(discarded, Calls) ->
    traced(discard, true, Calls);
time(traced, Calls) ->
    traced(trace, true, Calls);
time(returned, Calls) ->
    traced(trace, [{'_', [], [{return_trace}]}], Calls).

traced(State, Match, Calls) ->
    1 = erlang:trace(self(), true, [call, {tracer, as_told, State}]),
    Time = at_breakpoint(Match, Calls),
    {tracer, {as_told, State}} = erlang:trace_info(self(), tracer), % the tracer is still set
    1 = erlang:trace(self(), false, [call]),
    Time.

at_breakpoint(Match, Calls) ->
    1 = erlang:trace_pattern({?MODULE, hit, 1}, Match, [local]),
    Time = time(Calls),
    1 = erlang:trace_pattern({?MODULE, hit, 1}, false, [local]),
    Time.

time(Calls) ->
    Begin = erlang:monotonic_time(nanosecond),
    calls(Calls, 1),
    erlang:monotonic_time(nanosecond) - Begin.

calls(0, X) ->
    X;
calls(Calls, X) ->
    calls(Calls - 1, hit(X)).

hit(X) ->
    X.
