%% Runs a case in this node, which has a name, while a command traces it from outside.
-module(watching).
-export([logs/2]).

-define(LOOK, 2). % milliseconds between two looks at what is traced

%% Returns a list of {Session, Logged, Watched} for the sessions of a case: LOGGED is the log of the tracer in this node,
%% where the sessions trace one after the other, and each name in WATCHED a log of the command.
logs(#{folder := Folder} = Setup, Case) ->
    Name = [Folder, $/, integer_to_list(erlang:unique_integer([positive])), $.],
    File = fun(N, Of) -> iolist_to_binary([Name, integer_to_list(N), Of]) end,
    Runs = [{maps:merge(Case, Session), File(N, ".logged"),
             [File(N, Of) || Of <- lists:sublist([".watched", ".other"], maps:get(tracers, Case, 1))]}
            || {N, Session} <- lists:enumerate(maps:get(sessions, Case, [#{}]))],
    [tracing:logged(Session, Logged, maps:get(state, Session, #{})) || {Session, Logged, _} <- Runs],
    watch(Setup, Case, Runs, File(0, ".trace")),
    Runs.

%% The command traces, or records what is then replayed.
watch(#{form := "live"} = Setup, Case, Runs, _) ->
    traced(Setup, Case, fun(Tracee) -> ["replay" | via(Setup) ++ options(Setup, Case, Tracee, Runs)] end, []);
watch(#{form := "recorded", tracehost := Tracehost} = Setup, Case, Runs, Recording) ->
    Tracee = traced(Setup, Case, fun(Tracee) -> ["convert" | asked(Case, Tracee)] end, [Recording]),
    Recorded = [{maps:remove(patterns, Session), Logged, Watched} || {Session, Logged, Watched} <- Runs],
    command:output(Tracehost, ["replay" | options(Setup, Case, Tracee, Recorded)] ++ [Recording], 0).

%% Returns the tracee.
traced(#{tracehost := Tracehost}, Case, Command, Last) ->
    Begin = fun(Tracee) ->
        Stream = ["--cookie", atom_to_list(erlang:get_cookie()), ["node:", atom_to_list(node())] | Last],
        Port = command:start(os:find_executable("timeout"), ["-k", "10", "60", Tracehost | Command(Tracee) ++ Stream]),
        put(command, Port),
        [await(Port, Who) || Who <- tracees(Case, Tracee)]
    end,
    tracing:traced(Case, Begin, fun() -> stop(Case, erase(command)) end).

%% Asks the controller as its client does at the end of --for=T: all events until now still come.
stop(_, undefined) -> ok; % the command could not begin
stop(Case, Port) ->
    Controller = monitor(process, tracehost_agent),
    is_pid(whereis(tracehost_agent)) andalso (tracehost_agent ! stop),
    Said = command:output(Port, 0),
    gone(Controller),
    gone(monitor(process, tracehost_agent)),
    case maps:get(says, Case, <<>>) of
        <<>> when Said =:= <<>> -> ok;
        <<_, _/binary>> = Text -> binary:match(Said, Text) =/= nomatch orelse throw(["the command has not said ", Text]);
        <<>> -> throw(["the command has said\n", Said])
    end.

%% The process that removes the command's module from this node has the controller's name, and makes all processes run.
gone(Monitor) -> receive {'DOWN', Monitor, process, _, _} -> ok end.

via(#{via := Tracer}) -> ["--via", Tracer];
via(_) -> [].

%% The flags of tracees are set last, in the order of the options.
await(Port, Who) ->
    tracing:is_traced(Who) orelse
        receive {Port, {exit_status, _}} = Ended ->
            self() ! Ended,
            throw(io_lib:format("the command has not traced ~p", [Who]))
        after ?LOOK -> await(Port, Who)
        end.

tracees(Case, Tracee) ->
    [new_ports || is_map_key(new_ports, Case)] ++
        [case Who of new -> new_processes; _ -> Tracee end || Who <- whom(Case)].

whom(Case) -> maps:get(whom, Case, [tracee]).

%% --- Options ----------------------------------------------------------------------------------------

options(#{libraries := Folder} = Setup, Case, Tracee, [Run]) ->
    ["-L", Folder | session(Setup, Case, Tracee, Run)];
options(#{libraries := Folder} = Setup, Case, Tracee, Runs) ->
    ["-L", Folder | lists:append([["--session", filename:basename(Log) | session(Setup, Case, Tracee, Run)]
                                  || {_, Log, _} = Run <- Runs])].

session(#{library := Library}, Case, Tracee, {Session, _, Logs}) ->
    State = maps:get(state, Case, #{}),
    lists:append([["-t", unicode:characters_to_binary(io_lib:format("~s=~0p", [Library, State#{log => Log}]))]
                  || Log <- Logs]) ++ maps:get(options, Case, []) ++ asked(Session, Tracee).

asked(Case, Tracee) ->
    Flags = lists:usort(lists:append([maps:get(Key, Case, []) || Key <- [flags, new, new_ports]])),
    ["--flags=" ++ lists:join(",", [atom_to_list(Flag) || Flag <- Flags])] ++
    ["--ports=new" || is_map_key(new_ports, Case)] ++
    ["--processes=" ++ lists:join(",", [case Who of
                                            tracee -> pid_to_list(Tracee);
                                            _ -> atom_to_list(Who)
                                        end || Who <- whom(Case)])] ++
        ["--scheduler-id" || lists:member(scheduler_id, Flags)] ++
        lists:append([pattern(Pattern) || Pattern <- maps:get(patterns, Case, [])]).

pattern({Event, Spec, []}) when is_atom(Event) -> ["-p", atom_to_list(Event) | spec(Spec)];
pattern({{M, F, A}, Spec, Kinds}) ->
    ["-p", [part(M), $:, part(F), $/, part(A)] | ["--kind=global" || Kinds =:= [global]] ++ spec(Spec)].

part('_') -> "_";
part(Part) -> io_lib:format("~p", [Part]).

spec(Spec) -> ["--match-spec", io_lib:format("~0p", [Spec])].
