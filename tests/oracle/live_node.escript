#!/usr/bin/env escript
%% A node whose trace port tests connect to:  escript live_node.escript PORT QUEUE
%% Says which port it is (0 gives it a free one), then does what lines on stdin ask for, and says
%% when it has.
-mode(compile).
-export([work/1]).

main([Port, Queue]) ->
    dbg:tracer(port, dbg:trace_port(ip, {list_to_integer(Port), list_to_integer(Queue)})),
    {ok, Listens} = dbg:trace_port_control(get_listen_port),
    dbg:p(self(), [call, timestamp]),
    dbg:tpl(?MODULE, work, 1, []),
    erlang:trace_pattern({?MODULE, work, 1}, true, [call_count]),
    say("port ~p", [Listens]),
    loop().

say(Format, Arguments) ->
    io:format(Format ++ "~n", Arguments).

loop() ->
    case string:lexemes(io:get_line(""), " \n") of
        ["calls", N] ->
            [?MODULE:work(I) || I <- lists:seq(1, list_to_integer(N))],
            counted();
        ["big", Bytes] ->
            ?MODULE:work(binary:copy(<<0>>, list_to_integer(Bytes))),
            counted();
        ["stop"] ->
            dbg:stop(),
            say("stopped", []),
            halt(0, [{flush, true}])
    end,
    loop().

work(_) -> ok.

%% How many calls there were, as the node itself counts them.
counted() ->
    {call_count, N} = erlang:trace_info({?MODULE, work, 1}, call_count),
    say("called ~p", [N]).
