%% callbacks([Tracehost, Libraries, Folder]) runs the cases of cases.erl here and in tracehost, and prints a line
%% for each case and their sum; nodes/1 runs those of node_cases.erl, and patterns([Functions, Tracehost, Libraries,
%% Folder]) those of specs.erl.
%% LIBRARIES is the folder of logging.so and its siblings; files are written to FOLDER; FUNCTIONS: see all_used/2.
-module(oracle).
-export([callbacks/1, patterns/1, nodes/1, display/1]).

setup(Arguments) ->
    [Tracehost, Libraries, Folder] = [unicode:characters_to_binary(A) || A <- Arguments],
    logger:set_primary_config(level, none),
    ok = code:ensure_modules_loaded([workload, burden, heirs, subject]),
    #{tracehost => Tracehost, libraries => Libraries, folder => Folder, library => "logging", form => "trace",
      schedulers => 1}.

callbacks(Arguments) ->
    #{folder := Folder} = Setup = setup(Arguments),
    Schedulers = erlang:system_info(schedulers),
    finish(run("", Setup, cases:all()) ++
           run(", as JSON lines", Setup#{form => "jsonl"}, cases:once()) ++
           run(", several schedulers", Setup#{schedulers => Schedulers}, cases:once()) ++
           lists:append([run("", Setup#{library => Library}, [cases:everything()])
                         || Library <- ["logging_generic", "logging_half", "logging_other_half"]]) ++
        run("", Setup#{library => "logging_generic"}, cases:meta()) ++
           [all_seen(Folder)]).

%% Cases of specs.erl that need another library come last.
patterns([Functions | Arguments]) ->
    Setup = setup(Arguments),
    {Generic, Cases} = lists:partition(fun(Case) -> is_map_key(library, Case) end, specs:cases()),
    finish(run("", Setup, Cases ++ specs:differences()) ++
           run("", Setup#{library => "logging_generic"}, Generic) ++
           [report("{display, Term} prints the same lines", outcome(fun displayed/2, Setup, specs:displayed())),
            all_used(Functions, Generic ++ Cases ++ specs:differences() ++ [specs:displayed()])]).

%% The command traces this node, which has a name.
nodes(Arguments) ->
    Setup = setup(Arguments),
    finish(run("", Setup#{form => "live"}, node_cases:live()) ++
           by_port(os:getenv("EMULATOR", ""), Setup#{form => "live", via => "port"}) ++
           run(", recorded", Setup#{form => "recorded"}, node_cases:recorded())).

%% With a sanitizer, one case of four is enough: the host has got the same events without the port.
%% ORACLE_CASES=all takes all.
by_port("", Setup) ->
    Few = lists:suffix("san", os:getenv("BUILD_DIR", "")) andalso os:getenv("ORACLE_CASES", "") =/= "all",
    run(", by a trace port", Setup, [Case || {N, Case} <- lists:enumerate(node_cases:live()), not Few orelse N rem 4 =:= 1]);
by_port(_, _) ->
    io:put_chars("# skipped: the same cases by a trace port: they take minutes in an emulator\n"),
    [].

%% A node of its own runs the specifications that display terms. Its output is for a terminal, as line ends show.
display(Arguments) ->
    Setup = setup(Arguments),
    load(library(Setup)),
    [Logged, _, Recording] = files(Setup, "display"),
    trace(specs:displayed(), Logged, Recording),
    halt(0, [{flush, true}]).

displayed(#{tracehost := Tracehost, libraries := Libraries, folder := Folder} = Setup, Case) ->
    [Logged, Replayed, Recording] = files(Setup, "display"),
    Shown = command:output(os:find_executable("erl"),
                   ["-noinput", "-boot", "no_dot_erlang", "-pa", Folder, "-run", "oracle", "display", Tracehost,
                    Libraries, Folder], 0),
    Lines = string:replace(Shown, "\r\n", "\n", all),
    replay(Setup, Case#{says => Lines, whom => []}, Replayed, Recording, all),
    difference(Setup, Case, lines(Case, Logged), lines(Case, Replayed)).

%% FUNCTIONS is the file of the host's table of functions. Each function that OTP accepts, with each number of
%% operands, must occur in a specification of CASES; for a function with any number of operands, one is enough.
all_used(File, Cases) ->
    {ok, Text} = file:read_file(File),
    {match, Names} = re:run(Text, "^    \\{\"([^\"]+)\", ", [global, multiline, {capture, [1], list}]),
    Functions = [{list_to_atom(Name), N} || [Name] <- lists:usort(Names), N <- lists:seq(0, 4)],
    Accepted = [Function || Function <- Functions, accepted(Function)],
    Any = [Name || {Name, 4} <- Accepted],
    Used = specs:used(Cases),
    Missing = [F || {Name, _} = F <- Accepted -- Used,
                    not (lists:member(Name, Any) andalso lists:keymember(Name, 1, Used))],
    Outcome = case {length(Accepted) > 80, Missing} of
        {true, []} -> equal;
        _ -> io_lib:format("not ~0p, of ~b", [Missing, length(Accepted)])
    end,
    report("the cases use all functions of OTP's match specifications", Outcome).

accepted({Name, N}) ->
    Call = list_to_tuple([Name | lists:duplicate(N, true)]),
    lists:any(fun(Spec) ->
        try erlang:trace_pattern({?MODULE, no_such_function, 0}, [Spec], []) of _ -> true
        catch error:badarg -> false
        end
    end, [{'_', [Call], []}, {'_', [], [Call]}]).

finish(Outcomes) ->
    Failed = length([no || false <- Outcomes]),
    io:format("~b passed, ~b failed~n", [length(Outcomes) - Failed, Failed]),
    halt(min(Failed, 1), [{flush, true}]).

run(How, #{library := Library, schedulers := Schedulers} = Setup, Cases) ->
    erlang:system_flag(schedulers_online, Schedulers),
    load(library(Setup)),
    [report([Library, How, ": ", Name], outcome(fun compare/2, Setup, Case)) || #{name := Name} = Case <- Cases].

library(#{libraries := Folder, library := Name}) -> iolist_to_binary([Folder, $/, Name, ".so"]).

load(Library) ->
    code:purge(logging), code:delete(logging), code:purge(logging),
    {module, logging} = code:load_file(logging),
    ok = logging:load(filename:rootname(Library)).

report(Name, Outcome) ->
    io:format("~s ~s~n", [case Outcome of equal -> "ok"; _ -> "not ok" end, Name]),
    Outcome =:= equal orelse io:put_chars(["    ", string:replace(Outcome, "\n", "\n    ", all), $\n]),
    Outcome =:= equal.

%% Returns `equal', or the text of the report.
outcome(Compare, Setup, Case) ->
    try Compare(Setup, Case)
    catch
        throw:Said -> Said;
        Class:Reason:Stack -> io_lib:format("~p: ~p~n~p", [Class, Reason, Stack])
    end.

%% The tracer numbers terms anew for each log: their names are new.
compare(Setup, #{how := live} = Case) ->
    Differences = [difference(Setup, Session#{how := twice}, lines(Session, Logged), lines(Session, Log))
                   || {Session, Logged, Watched} <- watching:logs(Setup, Case), Log <- Watched],
    hd([Difference || Difference <- Differences, Difference =/= equal] ++ [equal]);
compare(Setup, Case) ->
    [Logged, Replayed, Recording] = files(Setup, integer_to_list(erlang:unique_integer([positive]))),
    Tracee = trace(Case, Logged, Recording),
    replay(Setup, Case, Replayed, Recording, Tracee),
    difference(Setup, Case, lines(Case, Logged), lines(Case, Replayed)).

files(#{folder := Folder}, Name) ->
    [iolist_to_binary([Folder, $/, Name, Of]) || Of <- [".logged", ".replayed", ".trace"]].

%% Returns the recorded tracee.
trace(#{how := once} = Case, Logged, Recording) ->
    tracing:logged_and_recorded(Case, Logged, maps:get(state, Case, #{}), Recording);
trace(#{how := twice} = Case, Logged, Recording) ->
    Tracee = tracing:recorded(maps:merge(Case, maps:get(recorded, Case, #{})), Recording),
    tracing:logged(Case, Logged, maps:get(state, Case, #{})),
    Tracee.

lines(Case, File) -> comparison:lines(File, maps:get(lines, Case, all)).

%% With one scheduler callbacks follow each other; with several, callbacks for different tracees mix.
difference(_, Case, [], _) when not is_map_key(empty, Case) -> "the BEAM has called nothing";
difference(Setup, #{how := twice, unlike := Unlike} = Case, Beam, Host) ->
    case comparison:difference(comparison:renumbered(Beam), comparison:renumbered(Host)) of
        equal -> "they do not differ any more";
        _ -> difference(Setup, maps:remove(unlike, Case#{empty => true}), comparison:changed(Unlike, Beam), Host)
    end;
difference(_, #{how := twice} = Case, Beam, Host) ->
    comparison:difference(Case, comparison:renumbered(Beam), comparison:renumbered(Host));
difference(#{schedulers := 1}, _, Beam, Host) ->
    comparison:difference(Beam, Host);
difference(_, _, Beam, Host) ->
    comparison:difference(comparison:ordered(Beam), comparison:ordered(Host)).

all_seen(Folder) ->
    Files = filelib:wildcard("*.logged", binary_to_list(Folder)),
    Seen = lists:append([comparison:names(filename:join(Folder, File)) || File <- Files]),
    report("the cases cover all callbacks and all tags", case cases:names() -- lists:usort(Seen) of
        [] -> equal;
        Missing -> io_lib:format("not ~0p", [Missing])
    end).

%% --- tracehost --------------------------------------------------------------------------------------

replay(#{form := Form} = Setup, Case, Log, Recording, Tracee) ->
    State = (maps:get(state, Case, #{}))#{log => Log},
    #{libraries := Folder, library := Library} = Setup,
    Tracer = unicode:characters_to_binary(io_lib:format("~s=~0p", [Library, State])),
    Stream = convert(Setup, Case, Recording, [filename:rootname(Recording), $., Form]),
    Options = [case Option of meta_tracer -> Tracer; _ -> Option end
               || Option <- maps:get(replay, Case, [])] ++ whom(maps:get(whom, Case, []), Tracee),
    All = tracehost(Setup, ["replay", "-L", Folder | traced(Tracer, Options)] ++ [Stream],
                    maps:get(status, Case, 0)),
    %% In many cases nothing matches: this warning is left out.
    Said = re:replace(All, "^.*: no event matches .*\n", "", [global, multiline, {return, binary}]),
    Said =:= iolist_to_binary(maps:get(says, Case, Said)) orelse
        throw(["tracehost has said\n", Said, "and not\n", maps:get(says, Case)]).

%% `tracer' may stand in several sessions; otherwise the option comes first.
traced(Tracer, Options) ->
    case lists:member(tracer, Options) of
        true -> lists:append([case Option of tracer -> ["-t", Tracer]; _ -> [Option] end || Option <- Options]);
        false -> ["-t", Tracer | Options]
    end.

%% Returns the option that selects the tracee, or spawned processes.
whom([], _) -> [];
whom(Whom, Tracee) ->
    ["--processes=" ++ lists:join(",", [case Who of tracee -> pid_to_list(Tracee); new -> "new" end
                                        || Who <- Whom])].

convert(Setup, #{external := External}, Recording, Name) ->
    Stream = iolist_to_binary([Name, ".jsonl"]),
    tracehost(Setup, ["convert", Recording, Stream], 0),
    {ok, Text} = file:read_file(Stream),
    Lines = binary:split(Text, <<"\n">>, [global, trim]),
    ok = file:write_file(Stream, [told(External, Line) || Line <- Lines]),
    Stream;
convert(#{form := "trace"}, _, Recording, _) -> Recording;
convert(Setup, Case, Recording, Name) ->
    Stream = iolist_to_binary(Name),
    Options = [Option || "--scheduler-id" = Option <- maps:get(replay, Case, [])],
    tracehost(Setup, ["convert", Recording, Stream | Options], 0),
    Stream.

%% Returns a line of JSON. A line for a call gets the field `external': whether the function is one of EXTERNAL.
told(External, Line) ->
    case re:run(Line, "\"tag\":\"call\",\"term\":\"{[a-z]+,([^,]+),", [{capture, [1], list}]) of
        {match, [Name]} ->
            Is = lists:member(Name, [atom_to_list(Function) || {Function, _} <- External]),
            [binary:part(Line, 0, byte_size(Line) - 1), ",\"external\":", atom_to_list(Is), "}\n"];
        nomatch -> [Line, $\n]
    end.

tracehost(#{tracehost := Tracehost}, Arguments, Expected) -> command:output(Tracehost, Arguments, Expected).
