%% Runs nif_subset.c in a real BEAM: writes the terms it was given, as external terms, and what it
%% answered, a line an answer, for comparison with the same library in the host.
-module(nif_subset).
-export([main/1, answers/2]).

main([Folder]) ->
    ok = erlang:load_nif(filename:join(Folder, "nif_subset"), 0),
    Terms = terms(),
    Dead = dead(),
    ok = file:write_file(filename:join(Folder, "terms"), term_to_binary({Terms, self(), Dead})),
    Answers = ?MODULE:answers(Terms, Dead),
    Lines = [io_lib:format("~s ~0p~n", [Name, Value]) || {Name, Value} <- Answers],
    Text = unicode:characters_to_binary(Lines),
    ok = file:write_file(filename:join(Folder, "answers"), Text),
    halt(0, [{flush, true}]).

answers(_Terms, _Dead) ->
    erlang:nif_error(not_loaded).

dead() ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, Pid, _} -> Pid end.

%% One of each kind, and the edges of each range.
terms() ->
    [ok, '', 'with space', list_to_atom([16#e5, 16#e4, 16#f6]), list_to_atom([16#416, 16#1f600]),
     list_to_atom(lists:duplicate(255, $x))] ++ integers() ++ floats() ++ lists() ++
        binaries() ++ tuples() ++ maps() ++ identifiers().

integers() ->
    Edges = [31, 32, 59, 60, 63, 64, 100],
    [0, 1, -1, 255, 256] ++
        [Sign * (1 bsl Bits) + More || Bits <- Edges, Sign <- [1, -1], More <- [-1, 0, 1]].

floats() ->
    [0.0, -0.0, 1.0, -1.5, 1.0e300, 4294967296.0].

lists() ->
    [[], [1], [1, 2, 3], [a | b], "text", [256], [255, 1], [0, $a], [16#1f600, $a], [16#d800],
     [-1], [$a | $b], [$a, b], [1.0], [[]], lists:seq(1, 1000),
     ["io", [<<"list">>, $!], [] | <<"tail">>], [<<1:3>>], [256 | <<"x">>], [["deep" | nope]],
     [[[[["a"]]], "b"] | "c"]].

binaries() ->
    Long = binary:copy(<<"0123456789">>, 20),
    [<<>>, <<"bytes">>, Long, binary:part(Long, 5, 100), <<1:1>>, <<"abc", 5:3>>].

tuples() ->
    [{}, {a}, {a, 1, "b", {}}, list_to_tuple(lists:seq(1, 300))].

maps() ->
    [#{}, #{a => 1}, #{1 => int, 1.0 => float, a => atom, "s" => list, {} => tuple},
     maps:from_list([{N, -N} || N <- lists:seq(1, 40)])].

identifiers() ->
    [self(), hd(erlang:ports()), make_ref(), fun erlang:abs/1,
     binary_to_term(<<131, 88, 119, 5, "other", 0:24, 7, 0:32, 5:32>>),
     binary_to_term(<<131, 89, 119, 5, "other", 9:32, 5:32>>)].
