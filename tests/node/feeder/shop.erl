%% The node that is traced: evaluates each line of its standard input, and prints the result in a line.
-module(shop).
-export([run/0, sell/1, work/1, busy/0, connect_first/0, drains/0]).

run() ->
    case io:get_line("") of
        eof ->
            halt();
        Line ->
            {ok, Tokens, _} = erl_scan:string(Line),
            {ok, Expressions} = erl_parse:parse_exprs(Tokens),
            {value, Result, _} = erl_eval:exprs(Expressions, []),
            io:format("answer ~0p~n", [Result]),
            run()
    end.

work(Count) ->
    [sell(Article) || Article <- lists:seq(1, Count)],
    Count.

sell(Article) ->
    Article.

%% Calls without end.
busy() ->
    sell(0),
    busy().

%% Connects to the trace port that comes next, while the process that has opened it stands still. Returns at
%% once.
connect_first() ->
    Caller = self(),
    spawn(fun() ->
        process_flag(priority, max),
        Caller ! looking,
        Port = trace_port(),
        Controller = whereis(tracehost_agent),
        erlang:suspend_process(Controller),
        <<0, Number:16>> = port_control(Port, $p, <<>>),
        {ok, Socket} = gen_tcp:connect("localhost", Number, [binary, {active, false}]),
        {ok, _} = gen_tcp:recv(Socket, 1),
        erlang:resume_process(Controller),
        receive_all(Socket)
    end),
    receive looking -> looking end.

receive_all(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, _} -> receive_all(Socket);
        {error, closed} -> closed
    end.

trace_port() ->
    case [Port || Port <- erlang:ports(), {name, "trace_ip_drv" ++ _} <- [erlang:port_info(Port, name)]] of
        [Port] -> Port;
        [] -> erlang:yield(), trace_port()
    end.

%% Lets the controller drain the trace port. Returns when the controller has written its mark.
drains() ->
    Controller = whereis(tracehost_agent),
    Controller ! stop,
    await_draining(Controller).

await_draining(Controller) ->
    case process_info(Controller, current_function) of
        {_, {tracehost_agent, await_drained, 3}} -> drains;
        _ -> erlang:yield(), await_draining(Controller)
    end.
