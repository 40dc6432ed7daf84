%% main([Tracehost, Libraries, Folder]): runs the cases here and in tracehost, prints a line for each and
%% their sum. LIBRARIES is the folder of logging.so and its siblings, FOLDER takes the files.
-module(oracle).
-export([main/1]).

main(Arguments) ->
    [Tracehost, Libraries, Folder] = [unicode:characters_to_binary(A) || A <- Arguments],
    Setup = #{tracehost => Tracehost, libraries => Libraries, folder => Folder, library => "logging",
              form => "trace", schedulers => 1},
    logger:set_primary_config(level, none),
    ok = code:ensure_modules_loaded([workload, burden, heirs]),
    Schedulers = erlang:system_info(schedulers),
    Outcomes = run("", Setup, cases:all()) ++
        run(", as JSON lines", Setup#{form => "jsonl"}, cases:once()) ++
        run(", several schedulers", Setup#{schedulers => Schedulers}, cases:once()) ++
        lists:append([run("", Setup#{library => Library}, [cases:everything()])
                      || Library <- ["logging_generic", "logging_half", "logging_other_half"]]) ++
        [all_seen(Folder)],
    Failed = length([no || false <- Outcomes]),
    io:format("~b passed, ~b failed~n", [length(Outcomes) - Failed, Failed]),
    halt(min(Failed, 1), [{flush, true}]).

run(How, #{library := Library, schedulers := Schedulers} = Setup, Cases) ->
    erlang:system_flag(schedulers_online, Schedulers),
    load(library(Setup)),
    [report([Library, How, ": ", Name], outcome(Setup, Case)) || #{name := Name} = Case <- Cases].

library(#{libraries := Folder, library := Name}) -> iolist_to_binary([Folder, $/, Name, ".so"]).

load(Library) ->
    code:purge(logging), code:delete(logging), code:purge(logging),
    {module, logging} = code:load_file(logging),
    ok = logging:load(filename:rootname(Library)).

report(Name, Outcome) ->
    io:format("~s ~s~n", [case Outcome of equal -> "ok"; _ -> "not ok" end, Name]),
    Outcome =:= equal orelse io:put_chars(["    ", string:replace(Outcome, "\n", "\n    ", all), $\n]),
    Outcome =:= equal.

%% `equal', or what to say.
outcome(Setup, Case) ->
    try compare(Setup, Case)
    catch
        throw:Said -> Said;
        Class:Reason:Stack -> io_lib:format("~p: ~p~n~p", [Class, Reason, Stack])
    end.

%% The tracer begins anew with each log: their names are new ones.
compare(#{folder := Folder} = Setup, Case) ->
    Name = [Folder, $/, integer_to_list(erlang:unique_integer([positive]))],
    [Logged, Replayed, Recording] =
        [iolist_to_binary([Name, Of]) || Of <- [".logged", ".replayed", ".trace"]],
    Tracee = trace(Case, Logged, Recording),
    replay(Setup, Case, Replayed, Recording, Tracee),
    difference(Setup, Case, lines(Case, Logged), lines(Case, Replayed)).

%% Returns the tracee that was recorded.
trace(#{how := once} = Case, Logged, Recording) ->
    tracing:logged_and_recorded(Case, Logged, maps:get(state, Case, #{}), Recording);
trace(#{how := twice} = Case, Logged, Recording) ->
    Tracee = tracing:recorded(maps:merge(Case, maps:get(recorded, Case, #{})), Recording),
    tracing:logged(Case, Logged, maps:get(state, Case, #{})),
    Tracee.

lines(Case, File) -> comparison:lines(File, maps:get(lines, Case, all)).

%% With one scheduler callbacks follow each other; with several those of different tracees mix.
difference(_, Case, [], _) when not is_map_key(empty, Case) -> "the BEAM has called nothing";
difference(_, #{how := twice}, Beam, Host) ->
    comparison:difference(comparison:renumbered(Beam), comparison:renumbered(Host));
difference(#{schedulers := 1}, _, Beam, Host) ->
    comparison:difference(Beam, Host);
difference(_, _, Beam, Host) ->
    comparison:difference(comparison:ordered(Beam), comparison:ordered(Host)).

all_seen(Folder) ->
    Files = filelib:wildcard("*.logged", binary_to_list(Folder)),
    Seen = lists:append([comparison:names(filename:join(Folder, File)) || File <- Files]),
    report("all callbacks and tags were seen", case cases:names() -- lists:usort(Seen) of
        [] -> equal;
        Missing -> io_lib:format("not ~0p", [Missing])
    end).

%% --- tracehost --------------------------------------------------------------------------------------

replay(#{form := Form} = Setup, Case, Log, Recording, Tracee) ->
    State = (maps:get(state, Case, #{}))#{log => Log},
    Tracer = unicode:characters_to_binary(io_lib:format("~s=~0p", [library(Setup), State])),
    Stream = convert(Setup, Case, Recording, [filename:rootname(Recording), $., Form]),
    Options = maps:get(replay, Case, []) ++ whom(maps:get(whom, Case, []), Tracee),
    tracehost(Setup, ["replay", "-t", Tracer, Stream | Options], maps:get(status, Case, 0)).

%% Of whom: the tracee, processes that are spawned.
whom([], _) -> [];
whom(Whom, Tracee) ->
    ["--processes=" ++ lists:join(",", [case Who of tracee -> pid_to_list(Tracee); new -> "new" end
                                        || Who <- Whom])].

convert(#{form := "trace"}, _, Recording, _) -> Recording;
convert(Setup, Case, Recording, Name) ->
    Stream = iolist_to_binary(Name),
    Options = [Option || "--scheduler-id" = Option <- maps:get(replay, Case, [])],
    tracehost(Setup, ["convert", Recording, Stream | Options], 0),
    Stream.

tracehost(#{tracehost := Tracehost}, Arguments, Expected) ->
    Port = open_port({spawn_executable, Tracehost},
                     [{args, Arguments}, exit_status, stderr_to_stdout, binary, in]),
    case said(Port, []) of
        {Expected, _} -> ok;
        {Status, Said} -> throw(io_lib:format("tracehost ~s ended with ~b, not ~b:~n~s",
                                              [hd(Arguments), Status, Expected, Said]))
    end.

said(Port, Said) ->
    receive
        {Port, {data, Data}} -> said(Port, [Said | Data]);
        {Port, {exit_status, Status}} -> {Status, Said}
    end.
