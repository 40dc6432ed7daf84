%% A family whose members are started in all ways and then act one at a time, so that each run is the same.
%% The comparison is about which members are traced.
-module(heirs).
-export([family/0, quarrel/0, live/0, work/1]).

%% Starts children of all kinds, one link that is made later, and grandchildren.
family() ->
    process_flag(trap_exit, true),
    Children = [start(How) || How <- [plain, linked, plain, both, monitored, linked]],
    Grandchildren = [ask(Child, {start, How}) || Child <- Children, How <- [plain, linked]],
    Later = start(plain),
    link(Later), unlink(Later), link(Later),
    Port = open_port({spawn, "cat"}, []),
    All = Children ++ Grandchildren ++ [Later],
    [{worked, N} = ask(Child, {work, N}) || Child <- All, N <- [0, 1]],
    work(2),
    true = port_close(Port),
    [end_of(Child) || Child <- All],
    ok.

%% Members are born before and after acts of their parent for which a tracer may drop the parent.
quarrel() ->
    process_flag(trap_exit, true),
    First = start(linked),
    {worked, 1} = ask(First, {work, 1}),
    Second = start(plain),
    Third = ask(First, {start, plain}),
    work(2),
    Fourth = ask(Second, {start, linked}),
    Fifth = start(linked),
    [{worked, N} = ask(Child, {work, N}) || Child <- [First, Second, Third, Fourth, Fifth], N <- [0, 1]],
    [end_of(Child) || Child <- [Third, Fourth, First, Second, Fifth]],
    ok.

start(plain) -> spawn(?MODULE, live, []);
start(linked) -> spawn_link(?MODULE, live, []);
start(both) -> element(1, spawn_opt(?MODULE, live, [], [link, monitor]));
start(monitored) -> element(1, spawn_monitor(?MODULE, live, [])).

live() ->
    receive
        {From, Ref, {start, How}} -> From ! {Ref, start(How)}, live();
        {From, Ref, {work, N}} -> From ! {Ref, work(N)}, live();
        stop -> ok
    end.

work(0) -> {worked, 0};
work(N) -> {worked, _} = ?MODULE:work(N - 1), {worked, N}.

ask(Child, What) ->
    Ref = make_ref(),
    Child ! {self(), Ref, What},
    receive {Ref, Answer} -> Answer end.

end_of(Child) ->
    Ref = monitor(process, Child),
    Child ! stop,
    receive {'DOWN', Ref, process, Child, _} -> ok end.
