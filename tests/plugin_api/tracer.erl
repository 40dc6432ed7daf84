%% Loads tracer.so, which lies beside this file, and traces one message with it.
-module(tracer).
-export([main/1, enabled/3, trace/5, enabled_send/3, trace_send/5]).

enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_send(_, _, _) -> erlang:nif_error(not_loaded).
trace_send(_, _, _, _, _) -> erlang:nif_error(not_loaded).

main([Library]) ->
    case erlang:load_nif(Library, 0) of
        ok -> io:format("~p~n", [traced()]);
        {error, {Reason, Text}} -> io:format("~p ~s~n", [Reason, Text])
    end,
    halt().

traced() ->
    Sender = spawn(fun() -> receive {say, To, What} -> To ! What end end),
    1 = erlang:trace(Sender, true, [send, {tracer, ?MODULE, self()}]),
    Sender ! {say, self(), hello},
    Self = self(),
    receive {send, Sender, Self, hello} -> sent after 5000 -> nothing_traced end.
