%% @private The options of tracehost_record: checked, complete, and in one form.
-module(tracehost_record_options).
-export([check/1]).

-define(LIMITS, #{events => 1000000, bytes => 100000000, ms => 60000, queue => 10000}).
-define(STAMPS, [timestamp, monotonic_timestamp, strict_monotonic_timestamp, cpu_timestamp]).
-define(KEYS, [file, patterns, flags, processes, limits, overwrite]).
-define(LARGEST, 16#ffffffff).

%% Returns options with all keys: `file' with its whole path, `patterns' as {{M, F, A}, MatchSpecification}, `processes' a
%% list of pids, all, new or existing, and all limits.
-spec check(map()) -> {ok, map()} | {error, term()}.
check(Options) when is_map(Options) ->
    try {ok, checked(Options)}
    catch throw:Reason -> {error, Reason}
    end;
check(_) ->
    {error, {options, "must be a map"}}.

checked(Options) ->
    _ = [throw({unknown_option, Key, {there_are, ?KEYS}}) || Key <- maps:keys(Options) -- ?KEYS],
    Patterns = lists:append([pattern(P) || P <- list(patterns, maps:get(patterns, Options, []))]),
    Flags = list(flags, maps:get(flags, Options, [call || Patterns =/= []])),
    _ = [throw({flag, Flag}) || Flag <- Flags, not is_atom(Flag)],
    Flags =/= [] orelse throw({nothing_to_record, "name patterns or flags"}),
    lists:member(call, Flags) andalso Patterns =:= [] andalso
        throw({nothing_to_record, "calls are recorded by patterns"}),
    #{file => file(Options), patterns => Patterns, flags => stamped(Flags),
      processes => processes(maps:get(processes, Options, all)), limits => limits(maps:get(limits, Options, #{})),
      overwrite => overwrite(maps:get(overwrite, Options, false))}.

list(_, List) when is_list(List) -> List;
list(Key, Other) -> throw({Key, Other, "must be a list"}).

overwrite(Overwrite) when is_boolean(Overwrite) -> Overwrite;
overwrite(Other) -> throw({overwrite, Other, "must be true or false"}).

file(#{file := File}) when is_list(File), File =/= []; is_binary(File), File =/= <<>>; is_atom(File), File =/= '' ->
    try filename:absname(File)
    catch error:_ -> throw({file, File, "is no name of a file"})
    end;
file(#{file := File}) ->
    throw({file, File, "is no name of a file"});
file(_) ->
    throw({missing, file}).

stamped(Flags) ->
    case [Flag || Flag <- Flags, lists:member(Flag, ?STAMPS)] of
        [] -> [monotonic_timestamp | Flags];
        _ -> Flags
    end.

processes(Which) when Which =:= all; Which =:= new; Which =:= existing ->
    Which;
processes(Which) when is_list(Which), Which =/= [] ->
    [pid(One) || One <- Which];
processes(Which) ->
    [pid(Which)].

pid(Pid) when is_pid(Pid), node(Pid) =:= node() ->
    is_process_alive(Pid) orelse throw({no_process, Pid}),
    Pid;
pid(Name) when is_atom(Name) ->
    case whereis(Name) of
        Pid when is_pid(Pid) -> Pid;
        _ -> throw({no_process, Name})
    end;
pid(Other) ->
    throw({processes, Other, "must be all, new, existing, pids or registered names"}).

limits(Limits) when is_map(Limits) ->
    _ = [throw({unknown_limit, Key, {there_are, maps:keys(?LIMITS)}}) || Key <- maps:keys(Limits), not is_map_key(Key, ?LIMITS)],
    maps:map(fun limit/2, maps:merge(?LIMITS, Limits));
limits(Other) ->
    throw({limits, Other, "must be a map"}).

limit(_, infinity) -> infinity;
limit(_, N) when is_integer(N), N > 0, N =< ?LARGEST -> N;
limit(Key, Other) -> throw({limit, Key, Other, "must be infinity or a number from 1 to 4294967295"}).

%% --- Patterns ---------------------------------------------------------------------------------------

pattern({{_, _, _} = Function, Specification}) ->
    named(Function, specification(Specification));
pattern({_, _, _} = Function) ->
    named(Function, []);
pattern(Module) when is_atom(Module) ->
    named({Module, '_', '_'}, []);
pattern(Other) ->
    throw({pattern, Other, "must be Module, {Module, Function, Arity} or {{Module, Function, Arity}, MatchSpecification}"}).

named({M, F, A} = Function, Specification) when is_atom(M), is_atom(F), is_integer(A), A >= 0, A =< 255;
                                                is_atom(M), is_atom(F), A =:= '_' ->
    [{Function, Specification}];
named(Function, _) ->
    throw({pattern, Function, "must have a module, a function and an arity or '_'"}).

specification(true) -> [];
specification(x) -> [{'_', [], [{exception_trace}]}];
specification(c) -> [{'_', [], [{message, {caller}}]}];
specification(cx) -> [{'_', [], [{message, {caller}}, {exception_trace}]}];
specification(Specification) when is_list(Specification) -> Specification;
specification(Other) -> throw({match_specification, Other}).
