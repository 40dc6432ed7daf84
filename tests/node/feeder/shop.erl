%% The node that is traced: evaluates each line of its standard input, and prints the result in a line.
-module(shop).
-export([run/0, sell/1, work/1, flood/1, remember/0, time_until_as_before/1, busy/0, connect_first/0, drains/0]).

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

%% Starts the process `flood`. It sells RATE articles a second from each `open` to the next `close`.
flood(Rate) ->
    register(flood, spawn(fun() -> closed(Rate) end)).

closed(Rate) ->
    receive
        open -> open(Rate, erlang:monotonic_time(microsecond), 0)
    end.

open(Rate, Begin, Sold) ->
    Due = (erlang:monotonic_time(microsecond) - Begin) * Rate div 1000000,
    [sell(Article) || Article <- lists:seq(Sold + 1, Due)],
    receive
        close -> closed(Rate)
    after 1 ->
        open(Rate, Begin, Due)
    end.

%% Remembers the state of the node. The first look loads modules.
remember() ->
    watched:state(),
    put(before, watched:state()),
    ok.

%% Returns the milliseconds until the state is the remembered one, or the differences after LIMIT.
time_until_as_before(Limit) ->
    Begin = erlang:monotonic_time(millisecond),
    time_until_as_before(get(before), Begin, Begin + Limit).

time_until_as_before(Before, Begin, End) ->
    State = watched:state(),
    Now = erlang:monotonic_time(millisecond),
    if
        State =:= Before ->
            Now - Begin;
        Now > End ->
            [{Key, maps:get(Key, Before), maps:get(Key, State)} || Key <- maps:keys(State),
                maps:get(Key, Before) =/= maps:get(Key, State)];
        true ->
            timer:sleep(20),
            time_until_as_before(Before, Begin, End)
    end.

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
