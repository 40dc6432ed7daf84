#!/usr/bin/env escript
%% Plays the scripts of live/scripts.txt in this BEAM with the logging tracer, and compares its log with the log of
%% the same script in tracehost: FOLDER/N.here, N from 1 (test_live.c).
%%
%%   live.escript FOLDER LIBRARY
%%
%% Compared are the callbacks for each process, in their order, with all arguments. A process gets the name of its
%% parent and a number. Left out is everything that depends on time and schedulers: `in' and `out', the calls for
%% trace_status that go with `in', the lines and arguments of stacks, and enabled(seq_trace, ...), since the BEAM calls
%% it for each token, whatever the token's flags.
-mode(compile).

main([Folder, Library]) ->
    logger:set_primary_config(level, none),
    [load(File) || File <- ["live/play", "logging/logging"]],
    [{module, _} = code:ensure_loaded(M) || M <- [seq_trace, maps, error_handler]],
    ok = logging:load(filename:rootname(Library)),
    {ok, Scripts} = file:consult("tests/oracle/live/scripts.txt"),
    Numbered = lists:zip(lists:seq(1, length(Scripts)), Scripts),
    Bad = [Name || {N, {Name, Script}} <- Numbered, not same(Name, filename:join(Folder, integer_to_list(N)), Script)],
    halt(min(length(Bad), 1)).

load(File) ->
    {ok, Module, Code} = compile:file("tests/oracle/" ++ File, [binary]),
    {module, Module} = code:load_binary(Module, File, Code).

same(Name, File, Script) ->
    play(Script, File ++ ".beam"),
    Beam = deeds(File ++ ".beam"),
    Here = deeds(File ++ ".here"),
    Beam =:= Here andalso map_size(Beam) > 1 orelse begin
        io:format(standard_error, "~s: in the BEAM~n~p~nhere~n~p~n", [Name, Beam, Here]),
        false
    end.

play(Script, Log) ->
    State = #{log => list_to_binary(Log)},
    Others = length(processes()),
    seq_trace:set_system_tracer({logging, State}),
    Player = spawn(fun() -> receive go -> play:run(Script, #{}) end, receive stop -> ok end end),
    erlang:trace(Player, true, [procs, send, 'receive', exiting, set_on_spawn, {tracer, logging, State}]),
    Player ! go,
    settle(Log, Others + 1, none),
    exit(Player, kill),
    seq_trace:set_system_tracer(false).

%% Waits until all processes but COUNT have ended and no further event comes.
settle(Log, Count, Before) ->
    timer:sleep(100),
    case {filelib:file_size(Log), length(processes())} of
        {Before, Count} -> ok;
        {Size, _} -> settle(Log, Count, Size)
    end.

%% --- The acts: #{Process => [Act]}; [] is the player, whose acts only give names to the others.

deeds(Log) ->
    {ok, Text} = file:read_file(Log),
    Lines = [line(Line) || Line <- binary:split(Text, <<"\n">>, [global]), Line =/= <<>>],
    {_, Deeds} = lists:foldl(fun deed/2, {#{}, #{}}, [L || L <- Lines, is_compared(L)]),
    maps:map(fun(_, Done) -> lists:reverse(Done) end, maps:remove([], Deeds)).

line(Line) ->
    [Callback, Tag, Self | Terms] = binary:split(Line, <<" ">>, [global]),
    {binary_to_atom(Callback), binary_to_atom(Tag), Self,
     [binary_to_term(binary:decode_hex(Term)) || Term <- Terms]}.

is_compared({enabled, seq_trace, _, _}) -> false;
is_compared({_, Tag, _, _}) -> not lists:member(Tag, [trace_status, in, out, in_exiting, out_exiting]).

deed({Callback, Tag, Self, [Tracee | More] = Terms}, {Names0, Deeds}) ->
    Names = name(Tag, Terms, Names0),
    Who = maps:get(actor(Tag, Tracee, More), Names, []),
    Deed = {Callback, Tag, Self, named(Terms, Names)},
    {Names, maps:update_with(Who, fun(Done) -> [Deed | Done] end, [Deed], Deeds)}.

name(spawn, [Parent, Child, _], Names) ->
    Name = maps:get(Parent, Names, []),
    Nth = length([N || N <- maps:values(Names), N =/= [], lists:droplast(N) =:= Name]) + 1,
    Names#{Parent => Name, Child => Name ++ [Nth]};
name(_, _, Names) -> Names.

actor(seq_trace, _, [{'receive', _, _, To, _} | _]) -> To;
actor(seq_trace, _, [{_, _, From, _, _} | _]) -> From;
actor(_, Tracee, _) -> Tracee.

named(Pid, Names) when is_pid(Pid) -> {pid, maps:get(Pid, Names, unknown)};
named(Ref, _) when is_reference(Ref) -> reference;
named({play, F, Arguments, Where}, _) when is_list(Where) -> % an entry of a stack
    {play, F, if is_list(Arguments) -> length(Arguments); true -> Arguments end};
named([Head | Tail], Names) -> [named(Head, Names) | named(Tail, Names)];
named(Map, Names) when is_map(Map) -> maps:map(fun(_, Value) -> named(Value, Names) end, Map);
named(Tuple, Names) when is_tuple(Tuple) -> list_to_tuple(named(tuple_to_list(Tuple), Names));
named(Term, _) -> Term.
