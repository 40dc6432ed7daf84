%% The traced work: each function is run by a process of its own, and waits for all processes that it starts.
-module(workload).
-export([calls/0, safe_calls/0, risky_calls/0, exceptions/0, dies/0, messages/0, sends/0, family/0, ports/0,
         port/0, running/0, tokens/0, terms/0, everything/0]).
-export([far/1, id/1, serve/0, hold/2, boom/1, killed/0]).

%% --- Calls ------------------------------------------------------------------------------------------

calls() ->
    15 = sum([1, 2, 3, 4, 5]),
    done = down(5),
    {far, [id, {again, 1.5}]} = ?MODULE:far([id, {again, 1.5}]),
    [2, 4, 6] = lists:map(fun(N) -> 2 * id(N) end, [1, 2, 3]),
    {1, {2, 3}} = nested(1, 2, 3),
    [even, odd, even] = [parity(N) || N <- [4, 7, 0]],
    apply(?MODULE, id, [<<"bytes">>]).

%% These functions do not end in a tail call: when they return, their work is over.
safe_calls() -> calls(), ok.
risky_calls() -> calls(), exceptions(), ok.

sum([]) -> 0;
sum([N | Rest]) -> N + sum(Rest).

down(0) -> done;
down(N) -> down(N - 1).

far(X) -> {far, ?MODULE:id(X)}.

nested(A, B, C) -> {id(A), pair(B, C)}.
pair(A, B) -> {id(A), ?MODULE:id(B)}.

parity(0) -> even;
parity(N) -> other_parity(N - 1).
other_parity(0) -> odd;
other_parity(N) -> parity(N - 1).

id(X) -> X.

%% --- Exceptions -------------------------------------------------------------------------------------

exceptions() ->
    [caught(How) || How <- [error, throw, exit, raise, bif, clause, none]],
    'EXIT' = element(1, catch inner(error)),
    flying = (catch inner(throw)),
    {rethrown, flying} = rethrown(),
    cleaned = cleaned().

caught(How) ->
    try outer(How) of Value -> {value, Value}
    catch Class:Reason -> {Class, Reason}
    end.

outer(How) -> {outer, middle(How)}.
middle(How) -> inner(How).
inner(How) -> {inner, boom(How)}.

boom(error) -> error({badness, [1, 2]});
boom(throw) -> throw(flying);
boom(exit) -> exit(#{why => exit});
boom(raise) -> erlang:raise(error, custom, []);
boom(bif) -> list_to_existing_atom(id(17));
boom(clause) -> only(two);
boom(none) -> id(calm).

only(one) -> 1.

rethrown() ->
    try inner(throw)
    catch throw:Thrown ->
        try outer(throw) catch throw:Thrown -> {rethrown, Thrown} end
    end.

cleaned() ->
    try
        try outer(exit) after id(cleaning) end
    catch exit:_ -> cleaned
    end.

%% --- Messages ---------------------------------------------------------------------------------------

messages() ->
    Server = spawn_link(fun serve/0),
    register(oracle_server, Server),
    1 = ask(Server, 1),
    {two, [2.0]} = ask(oracle_server, {two, [2.0]}),
    <<3:5>> = ask({oracle_server, node()}, <<3:5>>),
    erlang:send(Server, {no_reply, self()}, [noconnect]),
    Server ! {self(), stop},
    receive {Server, stopped} -> ok end,
    gone(Server),
    Server ! too_late,
    {'EXIT', {badarg, _}} = (catch oracle_nobody ! hello),
    {oracle_nobody, node()} ! hello,
    self() ! {self, message},
    receive {self, message} -> ok end,
    erlang:send_after(1, self(), alarm),
    receive alarm -> ok end.

%% Sends to processes, names, a port, a dead process and a process that never existed.
sends() ->
    Server = spawn_link(fun serve/0),
    register(workload_server, Server),
    [What = ask(To, What)
     || {To, What} <- [{Server, 0}, {workload_server, 1}, {{workload_server, node()}, "two"},
                       {Server, #{key => <<"value">>}}, {workload_server, [improper | 3]}]],
    Server ! #{key => value},
    Cat = open_port({spawn, "cat"}, [binary]),
    Cat ! {self(), {command, <<"echo">>}},
    receive {Cat, {data, <<"echo">>}} -> ok end,
    self() ! {self(), message},
    receive {_, message} -> ok end,
    workload_server ! {self(), stop},
    receive {Server, stopped} -> ok end,
    gone(Server),
    Server ! too_late,
    {nobody, node()} ! hello,
    erlang:send_after(1, self(), alarm),
    receive alarm -> true = port_close(Cat) end.

ask(To, What) ->
    Ref = make_ref(),
    To ! {self(), Ref, What},
    receive {Ref, Answer} -> Answer end.

serve() ->
    receive
        {From, stop} -> From ! {self(), stopped};
        {From, Ref, What} -> From ! {Ref, What}, serve();
        {no_reply, _} -> serve();
        #{} -> serve()
    end.

gone(Process) ->
    Ref = monitor(process, Process),
    receive {'DOWN', Ref, process, Process, _} -> ok end.

%% --- Processes --------------------------------------------------------------------------------------

family() ->
    process_flag(trap_exit, true),
    register(oracle_parent, self()),
    Held = spawn(?MODULE, hold, [self(), [argument, 2]]),
    receive {held, Held} -> ok end,
    link(Held), unlink(Held), link(Held),
    Held ! die,
    exited(Held),
    exited(spawn_link(fun() -> exit({bad, "exit"}) end)),
    exited(spawn_link(?MODULE, boom, [error])),
    exited(spawn_link(?MODULE, boom, [throw])),
    exited(spawn_link(?MODULE, killed, [])),
    {Monitored, Ref} = spawn_monitor(fun() -> unlink(self()) end),
    receive {'DOWN', Ref, process, Monitored, normal} -> ok end,
    {Optional, Alias} = spawn_opt(fun() -> ok end, [monitor, {priority, high}]),
    receive {'DOWN', Alias, process, Optional, normal} -> ok end,
    unregister(oracle_parent).

hold(Parent, Arguments) ->
    Parent ! {held, self()},
    receive die -> exit({held, Arguments}) end.

killed() ->
    register(oracle_child, self()),
    exit(self(), kill),
    receive never -> ok end.

exited(Process) -> receive {'EXIT', Process, _} -> ok end.

dies() -> id(doomed), error({own, fault}).

%% --- Ports ------------------------------------------------------------------------------------------

ports() ->
    process_flag(trap_exit, true),
    Cat = open_port({spawn, "cat"}, [binary, stream]),
    port_command(Cat, <<"one\n">>),
    receive {Cat, {data, _}} -> ok end,
    unlink(Cat), link(Cat),
    register(oracle_port, Cat),
    oracle_port ! {self(), {command, [<<"t">>, "wo", $\n]}},
    receive {Cat, {data, _}} -> ok end,
    unregister(oracle_port),
    Other = spawn(fun() -> receive {take, Port} -> link(Port), port_close(Port) end end),
    Cat ! {self(), {connect, Other}},
    receive {Cat, connected} -> ok end,
    Other ! {take, Cat},
    gone(Other),
    Cat ! {self(), close},
    Failing = open_port({spawn, "sh -c 'exit 3'"}, [exit_status]),
    receive {Failing, {exit_status, 3}} -> ok end,
    receive {'EXIT', Failing, normal} -> ok end.

%% Links, a name and the end of a port: the same in each run.
port() ->
    Cat = open_port({spawn, "cat"}, [binary]),
    unlink(Cat), link(Cat),
    register(oracle_port, Cat),
    unregister(oracle_port),
    true = port_close(Cat).

%% --- Scheduling -------------------------------------------------------------------------------------

running() ->
    [erlang:yield() || _ <- [1, 2, 3]],
    receive after 2 -> ok end,
    {Spinning, Ref} = spawn_monitor(burden, spin, [20000]),
    burden:spin(20000),
    receive {'DOWN', Ref, process, Spinning, _} -> ok end,
    {Killed, Kill} = spawn_monitor(fun() -> receive never -> ok end end),
    receive after 1 -> ok end,
    exit(Killed, kill),
    receive {'DOWN', Kill, process, Killed, killed} -> ok end,
    {Slow, Exit} = spawn_monitor(burden, slow_exit, []),
    receive {'DOWN', Exit, process, Slow, _} -> ok end.

%% --- Sequential tracing -----------------------------------------------------------------------------

tokens() ->
    Server = spawn(fun printing_server/0),
    seq_trace:set_token(label, {oracle, [label]}),
    [seq_trace:set_token(Flag, true) || Flag <- [send, 'receive', print]],
    seq_trace:print(started),
    pong = asked(Server, ping),
    [begin
         seq_trace:set_token(Stamp, true),
         Stamp = asked(Server, Stamp),
         seq_trace:set_token(Stamp, false)
     end || Stamp <- [timestamp, monotonic_timestamp, strict_monotonic_timestamp]],
    seq_trace:set_token(label, 17),
    seq_trace:print(17, #{number => 1 bsl 70}),
    Token = seq_trace:set_token([]),
    Server ! {self(), stop},
    gone(Server),
    is_list(Token).

asked(Server, What) ->
    Server ! {self(), What},
    receive {Server, Answer} -> Answer end.

printing_server() ->
    receive
        {_, stop} -> ok;
        {From, ping} -> From ! {self(), pong}, printing_server();
        {From, What} -> seq_trace:print({serving, What}), From ! {self(), What}, printing_server()
    end.

%% --- Terms ------------------------------------------------------------------------------------------

terms() ->
    [id(Term) || Term <- integers() ++ atoms() ++ lists() ++ bits() ++ compound() ++ identifiers()].

integers() ->
    Edges = [8, 27, 28, 31, 32, 59, 60, 63, 64, 2100],
    [0, 255, 256] ++ [Sign * (1 bsl Edge) + D || Edge <- Edges, Sign <- [1, -1], D <- [-1, 0, 1]] ++
        [0.0, -0.0, 1.5, 1.0e300, -2.5e-10].

atoms() ->
    [a, '', 'two words', [], true, list_to_atom([16#e5, 16#e4]), list_to_atom([16#3b1, 16#1f600]),
     list_to_atom(lists:duplicate(255, $a))].

lists() ->
    [[1 | 2], [a, b | c], "text", [0, 255], [1, 256], lists:seq(1, 300), lists:duplicate(70000, $b),
     [[[]]]].

bits() ->
    Long = binary:copy(<<"0123456789">>, 20),
    [<<>>, <<"bin">>, Long, binary:part(Long, 5, 100), <<1:3>>, <<"abc", 5:7>>, <<Long/binary, 1:1>>].

compound() ->
    [{}, {1}, list_to_tuple(lists:seq(1, 300)), #{}, #{a => 1, "k" => [v], 1.0 => x, 1 => y},
     maps:from_list([{N, N * N} || N <- lists:seq(1, 32)]),
     maps:from_list([{{N}, -N} || N <- lists:seq(1, 100)]),
     maps:from_list([{list_to_atom("key" ++ integer_to_list(N)), N} || N <- lists:seq(1, 50)]),
     {nested, #{m => #{n => [{t, 1.0}]}}}].

identifiers() ->
    Captured = {self(), 1.5},
    [self(), make_ref(), alias(), hd(erlang:ports()), fun erlang:abs/1, fun ?MODULE:id/1, fun id/1,
     fun(X) -> {X, Captured} end, spawn_request(erlang, self, []),
     binary_to_term(<<131, 88, 119, 9, "other@far", 0:24, 7, 0:32, 5:32>>),
     binary_to_term(<<131, 89, 119, 9, "other@far", 9:32, 5:32>>),
     binary_to_term(<<131, 90, 0, 3, 119, 9, "other@far", 5:32, 1:32, 2:32, 3:32>>)].

%% --- All at once ------------------------------------------------------------------------------------

everything() ->
    calls(), exceptions(), messages(), family(), ports(), running(), burden:collections().
