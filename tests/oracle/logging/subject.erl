%% The subject of match specifications: one process runs subject:run/0. All its calls are recorded, and the
%% specifications run on the recording afterwards. Each run does the same, except for identifiers.
-module(subject).
-export([run/0, far/1, serve/1, external/0]).

%% Functions that are called only as external functions, and exported; all others are called as local functions.
external() -> [{run, 0}, {far, 1}, {serve, 1}, {twice, 1}].

run() ->
    [id(Term) || Term <- terms()],
    [two(A, B) || {A, B} <- pairs()],
    {third, 7} = first(7),
    done = down(4),
    [?MODULE:far(N) || N <- [1, 2]],
    [caught(How) || How <- [none, error, throw, exit]],
    talk(),
    late(),
    id(last),
    ok.

id(X) -> X.
two(A, B) -> [A | B].
far(X) -> {far, id(X)}.

%% Tail calls.
first(X) -> second(X).
second(X) -> third(X).
third(X) -> {third, id(X)}.

down(0) -> done;
down(N) -> down(N - 1).

caught(How) ->
    try outer(How)
    catch Class:Reason -> {Class, Reason}
    end.

outer(How) -> {outer, inner(How)}.
inner(How) -> boom(How).

boom(none) -> calm;
boom(error) -> error({bad, [1]});
boom(throw) -> throw(ball);
boom(exit) -> exit(gone).

%% Messages to a process whose calls are recorded, too.
talk() ->
    Server = spawn_link(?MODULE, serve, [self()]),
    register(subject_server, Server),
    started(Server),
    [N, N] = [ask(Server, N) || N <- [1, 1]],
    named(subject_server),
    2 = ask(Server, 2),
    process_flag(trap_exit, true),
    Server ! stop,
    receive {'EXIT', Server, normal} -> ok end.

started(Server) -> is_pid(Server).
named(Name) -> Name.

ask(Server, What) ->
    Server ! {self(), What},
    receive {Server, Answer} -> Answer end.

serve(Client) ->
    receive
        stop -> ok;
        {Client, What} -> Client ! {self(), answer(What)}, ?MODULE:serve(Client)
    end.

answer(What) -> What.

%% A module that is loaded later.
late() ->
    {module, late} = code:load_file(late),
    F = fun late:twice/1,
    4 = F(2),
    code:purge(late), code:delete(late), code:purge(late).

terms() ->
    [a, b, true, false, [], 0, 1, -1, 7, -7, 255, 1 bsl 59, -(1 bsl 59) - 1, 1 bsl 64, 1 bsl 200, 0.0, 1.0, -1.5,
     2.5, 1.0e10, "text", [1], [1, 2, 3], [a | b], {}, {a}, {a, b}, {rec, 1, 2}, {rec, 1}, {1, {2, [3]}}, <<>>,
     <<"bytes">>, <<1, 2, 3, 4, 5, 6>>, <<5:3>>, #{}, #{a => 1}, #{a => 2, "k" => [v]}, self(), make_ref(),
     hd(erlang:ports()), fun lists:map/2].

pairs() ->
    Numbers = [0, 1, -1, 3, 7, 1 bsl 70, -(1 bsl 70), 2.0, -0.5],
    Others = [{1, {a, b}}, {2, {a, b}}, {3, {a, b}}, {a, #{a => 1}}, {b, #{a => 1}}, {a, no_map}, {1, 1.0}, {a, a},
              {true, false}, {true, true}, {false, false}, {true, 1}, {<<"abcdef">>, {1, 3}}, {<<"abc">>, {1, 3}}],
    [{A, B} || A <- Numbers, B <- Numbers] ++ Others.
