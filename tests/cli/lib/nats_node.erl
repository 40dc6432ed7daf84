%% A node that publishes what it traces, by the tracer nats: scenarios of tests/cli/nats_tracer.sh.
-module(nats_node).
-export([main/1, work/1]).

-define(TRACER, tracehost_nats).

main([Scenario, Log, Folder | Settings]) ->
    ok = ?TRACER:load(filename:join(Folder, "nats")),
    State = maps:from_list([{log, Log} | [setting(Setting) || Setting <- Settings]]),
    scenario(list_to_atom(Scenario), State),
    halt().

setting(Text) ->
    [Name, Value] = string:split(Text, "="),
    {list_to_atom(Name), case string:to_integer(Value) of {Number, []} -> Number; _ -> Value end}.

%% Both tracers get the same work, of a process each; close() is called twice.
scenario(both, #{recording := 1} = State) ->
    ok = tracehost_trace_port:load(filename:join(filename:dirname(code:which(tracehost_trace_port)), "../priv/trace_port")),
    File = #{output => os:getenv("OF_FILE")},
    run(?TRACER, State, 100),
    run(tracehost_trace_port, File, 100),
    {Events, Bytes, 0, _} = tracehost_trace_port:close(File),
    {Events, Bytes, 0, open} = ?TRACER:status(State),
    {Events, Bytes, 0, closed} = ?TRACER:close(State),
    {Events, Bytes, 0, closed} = ?TRACER:close(State),
    {'EXIT', {badarg, _}} = (catch ?TRACER:status(State#{recording => 2})),
    io:format("~w events~n", [Events]);
%% Eight processes at once.
scenario(crowd, State) ->
    Workers = [start(?TRACER, State, [call]) || _ <- lists:seq(1, 8)],
    [Worker ! {go, 500, self()} || {Worker, _} <- Workers],
    [finish(Worker) || Worker <- Workers],
    io:format("~w~n", [setelement(2, ?TRACER:close(State), bytes)]);
%% The program does not read before all is traced: a part does not fit.
scenario(drop, State) ->
    run(?TRACER, State, 400, [call]),
    {Events, _, LeftOut, open} = ?TRACER:status(State),
    open_gate(),
    {Events, _, LeftOut, closed} = ?TRACER:close(State),
    io:format("~w ~w~n", [Events, LeftOut]);
%% Likewise, and the process waits. Its scheduler does nothing else meanwhile, so that the test opens the gate.
scenario(wait, State) ->
    run(?TRACER, State, 400, [call]),
    io:format("~w~n", [setelement(2, ?TRACER:close(State), bytes)]);
%% The program ends too early.
scenario(ends, State) ->
    run(?TRACER, State, 100, [call]),
    until(fun() -> element(4, ?TRACER:status(State)) =/= open end),
    {_, _, _, {failed, Reason}} = Counts = ?TRACER:close(State),
    Counts = ?TRACER:close(State),
    io:format("~s~n", [Reason]);
%% The server is away while the second half of the events comes.
scenario(away, State) ->
    run(?TRACER, State, 100, [call]),
    until(fun() -> filelib:is_file(os:getenv("GATE") ++ ".more") end),
    run(?TRACER, State, 100, [call]),
    until(fun() -> filelib:is_file(os:getenv("GATE")) end),
    {200, _, 0, End} = ?TRACER:close(State),
    io:format("~w~n", [if is_tuple(End) -> element(1, End); true -> End end]);
%% Nobody closes the log.
scenario(halt, State) ->
    run(?TRACER, State, 100, [call]);
scenario(killed, State) ->
    run(?TRACER, State, 100, [call]),
    os:cmd("kill -9 " ++ os:getpid());
scenario(purge, State) ->
    run(?TRACER, State, 100, [call]),
    true = code:delete(?TRACER),
    code:purge(?TRACER).

run(Tracer, State, Count) ->
    run(Tracer, State, Count, [call, send, 'receive', procs]).

run(Tracer, State, Count, Flags) ->
    Worker = start(Tracer, State, Flags),
    element(1, Worker) ! {go, Count, self()},
    finish(Worker).

start(Tracer, State, Flags) ->
    Worker = spawn_monitor(fun() -> receive {go, Count, To} -> To ! {done, length(work(Count))} end end),
    erlang:trace_pattern({?MODULE, work, 1}, true, [local]),
    trace = Tracer:enabled(trace_status, State, self()),
    1 = erlang:trace(element(1, Worker), true, [{tracer, Tracer, State} | Flags]),
    Worker.

finish({Worker, Monitor}) ->
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    Delivered = erlang:trace_delivered(Worker),
    receive {trace_delivered, Worker, Delivered} -> ok end.

%% COUNT calls.
work(1) -> [];
work(Count) -> [Count | work(Count - 1)].

open_gate() ->
    ok = file:write_file(os:getenv("GATE"), "").

until(Holds) ->
    Holds() orelse begin timer:sleep(10), until(Holds) end.
