%% Runs in the node that is traced: workloads, a plain tracer to compare with, and the node's state.
-module(watched).
-export([state/0, worker/0, finish/1, work/2, called/1, fails/1, serve/0, steady/0, busy/1, plain/3, collect/1, other/0, received/1,
    dbg_session/1, suspend/1]).

%% Starts a worker. The worker and its echo are not linked to the caller, which ends.
worker() ->
    Echo = spawn(fun serve/0),
    is_pid(whereis(watched_echo)) orelse register(watched_echo, Echo),
    spawn(fun() -> worker_loop(Echo) end).

worker_loop(Echo) ->
    receive
        {work, Caller, What} ->
            run(What, Echo),
            Caller ! {done, What},
            worker_loop(Echo);
        stop ->
            Echo ! stop
    end.

%% Ends workers and their echoes.
finish(Workers) ->
    [Worker ! stop || Worker <- Workers].

work(Worker, What) ->
    Worker ! {work, self(), What},
    receive
        {done, What} -> ok
    after 30000 -> timeout
    end.

run(tour, Echo) ->
    watched:called(1),
    (catch watched:called(x)),
    Echo ! {self(), hello},
    receive hello -> ok end,
    Child = spawn_link(fun() -> ok end),
    Monitor = monitor(process, Child),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    garbage_collect(),
    register(watched_name, self()),
    unregister(watched_name);
run({calls, Count}, _) ->
    calls(Count);
run({big, Bytes}, _) ->
    watched:called(binary:copy(<<0>>, Bytes) == <<>>),
    watched:fails(binary:copy(<<1>>, Bytes)).

calls(0) -> ok;
calls(Count) ->
    watched:called(Count),
    calls(Count - 1).

called(Count) when not is_atom(Count) -> [Count];
called(false) -> [].

fails(Binary) -> byte_size(Binary).

serve() ->
    receive
        stop ->
            ok;
        {From, Message} ->
            From ! Message,
            serve()
    end.

%% Starts a process that calls, sends and makes processes about a thousand times a second.
steady() ->
    spawn(fun steady_loop/0).

steady_loop() ->
    calls(10),
    spawn(fun() -> ok end),
    self() ! tick,
    receive tick -> ok end,
    receive stop -> ok after 10 -> steady_loop() end.

%% Starts COUNT processes that call without end.
busy(Count) ->
    [spawn(fun() -> burn(1) end) || _ <- lists:seq(1, Count)].

burn(N) ->
    watched:called(N),
    burn(N).

%% Starts a plain tracer of WORKER with the patterns and flags of a wish. collect/1 ends it.
plain(Worker, Flags, Patterns) ->
    Tracer = spawn(fun() -> tracer([]) end),
    [erlang:trace_pattern({M, F, A}, Spec, Kinds) || {M, F, A, Spec, Kinds} <- Patterns],
    erlang:trace(Worker, true, [{tracer, Tracer} | Flags]),
    Tracer.

tracer(Records) ->
    receive
        {give, Caller} -> Caller ! {records, lists:reverse(Records)};
        Record -> tracer([Record | Records])
    end.

%% Returns what TRACER got. The flags end with it, the patterns are removed by the caller.
collect(Tracer) ->
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    Tracer ! {give, self()},
    receive {records, Records} -> Records end.

%% Somebody else's tracer. received/1 returns what it got.
other() ->
    spawn(fun() -> other([]) end).

other(Records) ->
    receive
        {give, Caller} ->
            Caller ! {records, lists:reverse(Records)},
            other(Records);
        Record ->
            other([Record | Records])
    end.

received(Tracer) ->
    Tracer ! {give, self()},
    receive {records, Records} -> Records end.

%% Traces the calls of fails/1 in WORKER with dbg. Returns the process that gets the messages.
dbg_session(Worker) ->
    Collector = other(),
    {ok, _} = dbg:tracer(process, {fun(Message, Process) -> Process ! Message, Process end, Collector}),
    {ok, _} = dbg:p(Worker, [call]),
    {ok, _} = dbg:tpl(watched, fails, 1, x),
    Collector.

suspend(Process) ->
    spawn(fun() ->
        erlang:suspend_process(Process),
        receive stop -> ok end
    end).

%% Returns what must be as before after a trace: see the keys. The process that asks and those of the node itself that
%% come and go are not in it.
state() ->
    Processes = processes() -- [self()],
    #{processes => lists:sort(Processes),
        registered => lists:sort(registered()),
        modules => lists:sort([M || {M, _} <- code:all_loaded()]),
        old_code => [M || {M, _} <- code:all_loaded(), erlang:check_old_code(M)],
        ports => lists:sort([{P, erlang:port_info(P, name)} || P <- erlang:ports()]),
        drivers => erl_ddll:loaded_drivers(),
        traced => [Found || P <- Processes ++ [new_processes, new_ports | erlang:ports()],
            Found <- [{P, erlang:trace_info(P, tracer), erlang:trace_info(P, flags)}],
            element(2, Found) =/= {tracer, []} orelse element(3, Found) =/= {flags, []}],
        patterns => [{MFA, All} || M <- erlang:loaded(), {F, A} <- functions(M),
            MFA <- [{M, F, A}], {all, All} <- [erlang:trace_info(MFA, all)], All =/= false, All =/= undefined],
        on_load => erlang:trace_info(on_load, all),
        messages => [erlang:trace_info(Tag, match_spec) || Tag <- [send, 'receive']],
        system => {seq_trace:get_system_tracer(), erlang:system_monitor(), erlang:system_profile()},
        sessions => case erlang:function_exported(trace, session_info, 1) of
            true -> trace:session_info(all);
            false -> none
        end,
        nodes => nodes(connected)}.

%% A module may be gone by now.
functions(Module) ->
    try erlang:get_module_info(Module, functions) catch error:badarg -> [] end.
