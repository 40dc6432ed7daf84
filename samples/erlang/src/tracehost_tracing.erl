%% @private Sets and clears what a recording traces: in a trace session of its own from OTP 27 on; else in the only one, where
%% nothing that others have set is touched.
-module(tracehost_tracing).
-export([prepare/2, set/2, clear/1]).

-define(TRACER, tracehost_trace_port).
-define(DELIVERY_MS, 5000).

%% tracer: its state; session: OTP 27's, or none; patterns: what clear/1 takes back.
-type tracing() :: #{tracer := map(), session := none | term(), patterns := [{mfa(), term()}], processes := term()}.
-export_type([tracing/0]).

%% @doc Makes a session, and finds functions that others trace. Nothing is traced yet.
-spec prepare(map(), map()) -> {ok, tracing()} | {error, term()}.
prepare(#{patterns := Patterns, processes := Processes}, Settings) ->
    _ = [code:ensure_loaded(M) || {{M, _, _}, _} <- Patterns, M =/= '_'],
    Tracing = #{tracer => Settings, patterns => Patterns, processes => Processes},
    case has_sessions() of
        true ->
            {ok, Tracing#{session => (sessions()):session_create(tracehost_record, {?TRACER, Settings}, [])}};
        false ->
            case [F || {Pattern, _} <- Patterns, F <- functions(Pattern), is_traced(F)] of
                [] -> {ok, Tracing#{session => none}};
                [Function | _] -> {error, {already_traced, Function}}
            end
    end.

%% @doc Sets patterns and flags. Returns the number of processes that others trace. Nothing is set after an error.
-spec set(tracing(), map()) -> {ok, non_neg_integer()} | {error, term()}.
set(#{processes := Processes, tracer := Settings} = Tracing, #{file := File, patterns := Patterns, flags := Flags}) ->
    try
        lists:foreach(fun(Pattern) -> set_pattern(Tracing, Pattern) end, Patterns),
        ?TRACER:enabled(trace_status, Settings, self()) =:= trace orelse throw({file, File, einval}), % an old file is emptied
        Others = traced_by_others(Tracing),
        _ = [set_flags(Tracing, Which, Flags) || Which <- which(Processes)],
        _ = set_flag(Tracing, self(), false, [all]),
        {ok, Others}
    catch
        throw:Reason ->
            clear(Tracing),
            {error, Reason}
    end.

%% @doc Ends the tracing, after the events that happened have been delivered.
-spec clear(tracing()) -> ok.
clear(#{session := none, patterns := Patterns} = Tracing) ->
    _ = [erlang:trace_pattern(Function, false, [local]) || {Function, _} <- Patterns],
    _ = [erlang:trace(Which, false, [all]) || Which <- [new_processes, new_ports | processes() ++ erlang:ports()],
                                              is_ours(Which, Tracing)],
    delivered(erlang:trace_delivered(all));
clear(#{session := Session}) ->
    delivered((sessions()):delivered(Session, all)),
    _ = (sessions()):session_destroy(Session),
    ok.

delivered(Reference) ->
    receive {trace_delivered, all, Reference} -> ok
    after ?DELIVERY_MS -> ok
    end.

%% OTP 27's module.
sessions() ->
    trace.

has_sessions() ->
    case code:ensure_loaded(sessions()) of
        {module, Sessions} -> erlang:function_exported(Sessions, session_create, 3);
        _ -> false
    end.

which(Pids) when is_list(Pids) -> Pids;
which(Which) -> [Which].

set_pattern(#{session := Session}, {Function, Specification}) ->
    try
        case Session of
            none -> erlang:trace_pattern(Function, Specification, [local]);
            _ -> (sessions()):function(Session, Function, Specification, [local])
        end
    of
        0 -> throw({no_function, Function});
        _ -> ok
    catch
        error:_ -> throw({match_specification, Specification, {pattern, Function}})
    end.

set_flags(Tracing, Which, Flags) ->
    try set_flag(Tracing, Which, true, Flags)
    catch
        error:_ when is_pid(Which) ->
            case is_process_alive(Which) andalso is_traced_process(Tracing, Which) of
                true -> throw({already_traced, Which});
                false -> throw({no_process_or_bad_flags, Which, Flags})
            end;
        error:_ ->
            throw({flags, Flags})
    end.

set_flag(#{session := none, tracer := Settings}, Which, true, Flags) ->
    erlang:trace(Which, true, [{tracer, ?TRACER, Settings} | Flags]);
set_flag(#{session := none} = Tracing, Which, false, Flags) ->
    is_ours(Which, Tracing) andalso erlang:trace(Which, false, Flags);
set_flag(#{session := Session}, Which, How, Flags) ->
    (sessions()):process(Session, Which, How, Flags).

%% --- Others in the only session ---------------------------------------------------------------------

%% The functions that a pattern selects now.
functions({'_', F, A}) ->
    lists:append([functions({M, F, A}) || {M, _} <- code:all_loaded()]);
functions({M, F, A}) ->
    case erlang:module_loaded(M) of
        true -> [{M, Name, Arity} || {Name, Arity} <- M:module_info(functions), F =:= '_' orelse F =:= Name, A =:= '_' orelse A =:= Arity];
        false -> []
    end.

is_traced(Function) ->
    {traced, How} = erlang:trace_info(Function, traced),
    How =:= local orelse How =:= global.

is_traced_process(#{session := none}, Pid) ->
    case erlang:trace_info(Pid, tracer) of
        {tracer, []} -> false;
        {tracer, _} -> true;
        undefined -> false
    end;
is_traced_process(_, _) ->
    false.

%% OTP's type of erlang:trace_info/2 has no modules as tracers.
-dialyzer({nowarn_function, [is_ours/2, clear/1]}).
is_ours(Which, #{tracer := Settings}) ->
    try erlang:trace_info(Which, tracer) =:= {tracer, {?TRACER, Settings}}
    catch error:badarg -> false
    end.

traced_by_others(#{session := none, processes := Processes} = Tracing) when Processes =:= all; Processes =:= existing ->
    length([Pid || Pid <- processes(), is_traced_process(Tracing, Pid)]);
traced_by_others(_) ->
    0.
