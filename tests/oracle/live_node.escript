#!/usr/bin/env escript
%% A node with a trace port, to which tests connect:  escript live_node.escript PORT QUEUE
%% Prints its port (0 lets the system choose one), then carries out the commands in lines of stdin, and prints a line
%% after each.
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

%% Returns the number of calls, as the node itself counts them.
counted() ->
    {call_count, N} = erlang:trace_info({?MODULE, work, 1}, call_count),
    say("called ~p", [N]).
