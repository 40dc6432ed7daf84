%% Records by tracehost_record in every way, and checks calls by tracehost_eunit. Prints what came.
%%
%%   erl ... -run recordings main SCRATCH-FOLDER
%%   erl ... -run recordings small FOLDER-OF-64-KB
%%   erl ... -run recordings closed FOLDER-THAT-IS-CLOSED
-module(recordings).
-export([main/1, small/1, closed/1, work/1, other/1, fails/1, loop/1]).

main([Folder]) ->
    ok = file:set_cwd(Folder),
    logger:set_primary_config(level, none),
    {ok, _} = application:ensure_all_started(tracehost_tracers),
    ok = tracehost_trace_port:load(),
    Before = traced(),
    Cases = [fun whole/0, fun events/0, fun bytes/0, fun ms/0, fun queue/0, fun exists/0, fun folders/0, fun full/0, fun dies/0,
             fun at_once/0, fun killed/0, fun others/0, fun options/0, fun rules/0, fun doubts/0, fun storm/0, fun again/0],
    lists:foreach(fun(Case) -> run(Case, Before) end, Cases),
    halt().

%% A disk that gets full while a recording runs.
small([Folder]) ->
    File = filename:join(Folder, "small"),
    Report = recorded(File, #{}, fun() -> work(99999), timer:sleep(100) end),
    #{ended := Ended, events := Events, bytes := Bytes} = Report,
    true = counted(File) =:= lists:flatten(io_lib:format("~w, ~w bytes", [Events, Bytes])),
    show("small ~0p ~w", [Ended, {Events > 500, Bytes =:= filelib:file_size(File), [{call, Events}] =:= kinds(File)}]),
    halt().

closed([Folder]) ->
    {error, {file, _, Why}} = tracehost_record:start(#{file => filename:join(Folder, "closed"), patterns => [?MODULE]}),
    show("closed ~w", [Why]),
    halt().

run(Case, Before) ->
    {name, Name} = erlang:fun_info(Case, name),
    try Case()
    catch Class:Reason:Stack -> show("failed: ~w:~0p ~0p", [Class, Reason, Stack])
    end,
    case {tracehost_tracers_app:recordings(), traced()} of
        {[], Before} -> ok;
        Left -> show("~w leaves ~0p", [Name, Left])
    end.

show(Format, Values) ->
    io:format(Format ++ "~n", Values).

%% All that is traced in the only session: processes with flags, and functions of this module.
traced() ->
    {[P || P <- processes(), {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
     [F || {F, A} <- module_info(functions), {traced, How} <- [erlang:trace_info({?MODULE, F, A}, traced)], How =/= false],
     [F || {flags, [_ | _] = F} <- [erlang:trace_info(new, flags)]]}.

work(0) -> done;
work(N) -> work(N - 1).

other(N) -> N.

fails(Reason) -> error(Reason).

loop(Wait) ->
    receive {stop, From} -> From ! stopped
    after Wait -> work(1), loop(Wait)
    end.

%% The recording as tracehost counts it.
counted(File) ->
    Lines = string:split(os:cmd([os:getenv("TRACEHOST"), " info ", File, " 2>&1"]), "\n", all),
    lists:append([string:trim(Line) || "records " ++ Line <- Lines]).

kinds(File) ->
    lists:sort(maps:to_list(tracehost_recording:fold(fun(Record, Counts) ->
        Kind = case Record of {drop, _} -> drop; _ -> element(3, Record) end,
        maps:update_with(Kind, fun(N) -> N + 1 end, 1, Counts)
    end, #{}, File))).

figures(#{events := Events, left_out := LeftOut, ended := Ended}) ->
    {Events, LeftOut, Ended}.

recorded(File, More, Fun) ->
    {ok, _, Report} = tracehost_record:run(maps:merge(#{file => File, patterns => [{?MODULE, work, 1}]}, More), Fun),
    Report.

until(Fun) ->
    case Fun() of
        true -> ok;
        false -> timer:sleep(5), until(Fun)
    end.

ended(Pid) ->
    until(fun() -> {ok, #{ended := Why}} = tracehost_record:info(Pid), Why =/= running end),
    {ok, Report} = tracehost_record:stop(Pid),
    Report.

%% --- Cases ------------------------------------------------------------------------------------------

whole() ->
    Report = recorded("whole", #{patterns => [{{?MODULE, work, 1}, cx}], flags => [call, timestamp]}, fun() -> work(9) end),
    show("whole ~0p ~0p ~s", [figures(Report), kinds("whole"), counted("whole")]),
    true = maps:get(bytes, Report) =:= filelib:file_size("whole").

events() ->
    Report = recorded("events", #{limits => #{events => 5}}, fun() -> work(99) end),
    show("events ~0p ~0p", [figures(Report#{left_out := maps:get(left_out, Report) > 0}), kinds("events")]).

bytes() ->
    #{bytes := Bytes} = Report = recorded("bytes", #{limits => #{bytes => 1000}}, fun() -> work(99) end),
    show("bytes ~0p ~w", [maps:get(ended, Report), {Bytes > 900, filelib:file_size("bytes") =< 1000}]).

ms() ->
    Loop = spawn(?MODULE, loop, [1]),
    {ok, Pid} = tracehost_record:start(#{file => "ms", patterns => [?MODULE], processes => Loop, limits => #{ms => 100}}),
    #{ms := Ms} = Report = ended(Pid),
    show("ms ~0p ~w", [maps:get(ended, Report), {Ms >= 100, Ms < 2000, kinds("ms") =/= []}]),
    Size = filelib:file_size("ms"),
    timer:sleep(100),
    Size = filelib:file_size("ms"),
    Loop ! {stop, self()}, receive stopped -> ok end.

queue() ->
    Deaf = spawn(fun() -> receive stop -> work(1) end end),
    Options = #{file => "queue", patterns => [?MODULE], processes => Deaf, limits => #{queue => 100}},
    {ok, Pid} = tracehost_record:start(Options),
    [Deaf ! N || N <- lists:seq(1, 101)],
    #{ended := {limit, queue, 100, Deaf}} = ended(Pid),
    {error, {queue, 101, Deaf}} = tracehost_record:start(Options#{file := "queue2"}),
    {error, enoent} = file:read_file("queue2"),
    {ok, Two} = tracehost_record:start(Options#{file := "queue2", limits := #{queue => infinity}}),
    timer:sleep(250),
    Deaf ! stop,
    {ok, #{ended := stopped}} = tracehost_record:stop(Two),
    show("queue", []).

exists() ->
    ok = file:write_file("exists", "old"),
    Refused = tracehost_record:start(#{file => "exists", patterns => [?MODULE]}),
    {ok, <<"old">>} = file:read_file("exists"),
    {error, {no_function, _}} = tracehost_record:start(#{file => "exists", patterns => [{?MODULE, none, 0}], overwrite => true}),
    {ok, <<"old">>} = file:read_file("exists"),
    Report = recorded("exists", #{overwrite => true}, fun() -> work(1) end),
    {error, {file, _, Why}} = Refused,
    show("exists ~w ~0p ~0p", [Why, figures(Report), kinds("exists")]).

folders() ->
    ok = file:make_dir("folder"),
    show("folders ~w", [[Why || File <- ["none/file", "folder"], {error, {file, _, Why}} <-
        [tracehost_record:start(#{file => File, overwrite => Over, patterns => [?MODULE]}) || Over <- [true, false]]]]).

full() ->
    ok = file:make_symlink("/dev/full", "full"),
    Report = recorded("full", #{overwrite => true}, fun() -> work(9999), timer:sleep(100), work(9) end),
    show("full ~0p", [maps:get(ended, Report)]).

dies() ->
    Dying = spawn(fun() -> receive go -> work(1), exit(dying) end end),
    {ok, Pid} = tracehost_record:start(#{file => "dies", patterns => [?MODULE], processes => [Dying], flags => [call, procs]}),
    Monitor = monitor(process, Dying),
    Dying ! go,
    receive {'DOWN', Monitor, _, _, dying} -> ok end,
    {ok, Report} = tracehost_record:stop(),
    {error, not_running} = tracehost_record:stop(Pid),
    show("dies ~0p ~0p", [figures(Report), kinds("dies")]).

%% Before OTP 27 two recordings at once must differ in functions and processes.
at_once() ->
    [One, Two] = [spawn(fun() -> receive go -> Fun(3) end end) || Fun <- [fun work/1, fun other/1]],
    Options = #{file => "one", patterns => [{?MODULE, work, 1}], processes => One},
    {ok, First} = tracehost_record:start(Options),
    Same = tracehost_record:start(Options#{file := "same"}),
    SameProcess = tracehost_record:start(Options#{file := "same process", patterns := [{?MODULE, other, 1}]}),
    {ok, Second} = tracehost_record:start(#{file => "two", patterns => [{?MODULE, other, 1}], processes => Two}),
    {error, {several, Several}} = tracehost_record:stop(),
    [begin M = monitor(process, P), P ! go, receive {'DOWN', M, _, _, normal} -> ok end end || P <- [Two, One]],
    {ok, _} = tracehost_record:stop(First),
    {ok, _} = tracehost_record:stop(Second),
    show("at once ~w: ~0p ~0p", [length(Several), kinds("one"), kinds("two")]),
    Sessions = [begin {ok, _} = tracehost_record:stop(P), kinds(File) end || {{ok, P}, File} <- [{Same, "same"}, {SameProcess, "same process"}]],
    case {Same, SameProcess} of
        {{error, {already_traced, {?MODULE, work, 1}}}, {error, {already_traced, One}}} ->
            {error, enoent} = file:read_file("same"),
            show("refused", []);
        _ ->
            show("the same ~0p", [Sessions])
    end.

%% If the recorder is killed, nothing is traced any more, and the file is complete.
killed() ->
    Loop = spawn(?MODULE, loop, [1]),
    {ok, Pid} = tracehost_record:start(#{file => "killed", patterns => [?MODULE], processes => Loop}),
    until(fun() -> filelib:file_size("killed") > 0 end),
    exit(Pid, kill),
    until(fun() -> tracehost_tracers_app:recordings() =:= [] andalso element(1, traced()) =:= [] andalso element(2, traced()) =:= [] end),
    timer:sleep(100),
    Size = filelib:file_size("killed"),
    timer:sleep(100),
    Size = filelib:file_size("killed"),
    Loop ! {stop, self()}, receive stopped -> ok end,
    show("killed ~w", [[Kind || {Kind, _} <- kinds("killed"), Kind =/= drop]]).

%% Flags and patterns of others in the only session stay.
others() ->
    Loop = spawn(?MODULE, loop, [infinity]),
    1 = erlang:trace(Loop, true, [send]),
    1 = erlang:trace_pattern({?MODULE, fails, 1}, true, [local]),
    Report = recorded("others", #{}, fun() -> work(1) end),
    {flags, [send]} = erlang:trace_info(Loop, flags),
    {traced, local} = erlang:trace_info({?MODULE, fails, 1}, traced),
    Refused = case tracehost_record:start(#{file => "refused", patterns => [?MODULE]}) of
        {ok, Pid} -> {ok, _} = tracehost_record:stop(Pid), sessions;
        {error, Reason} -> Reason
    end,
    1 = erlang:trace_pattern({?MODULE, fails, 1}, false, [local]),
    1 = erlang:trace(Loop, false, [send]),
    Loop ! {stop, self()}, receive stopped -> ok end,
    show("others ~0p ~0p", [maps:get(traced_by_others, Report), Refused]).

options() ->
    Dead = spawn(fun() -> ok end),
    until(fun() -> not is_process_alive(Dead) end),
    [case tracehost_record:start(Bad) of
         {error, {file, _, Text}} -> show("options ~0p", [{file, Text}]);
         {error, {no_process, _}} -> show("options no_process", []);
         {error, Reason} -> show("options ~0p", [Reason])
     end || Bad <- [[], #{}, #{file => ""}, #{file => "x"}, #{file => "x", flags => [call]}, #{file => "x", flag => [send]},
                    #{file => "x", flags => [sends]}, #{file => "x", patterns => [{a, b}]}, #{file => "x", patterns => [{lists, no, 1}]},
                    #{file => "x", patterns => [{{lists, sort, 1}, [{bad}]}]}, #{file => "x", patterns => lists},
                    #{file => "x", patterns => [lists], processes => Dead}, #{file => "x", patterns => [lists], processes => nobody},
                    #{file => "x", patterns => [lists], limits => #{events => 0}}, #{file => "x", patterns => [lists], limits => #{events => many}}]],
    {error, enoent} = file:read_file("x").

%% --- Rules ------------------------------------------------------------------------------------------

rules() ->
    Work = {?MODULE, other, 1},
    [show("~w ~w: ~ts", [Rule, Times, rule(Rule, Work, fun() -> [other(N) || N <- lists:seq(1, Times)], value end)]) ||
        {Rule, Times} <- [{never_called, 0}, {never_called, 1}, {at_most, 2}, {at_most, 3}, {at_least, 1}, {at_least, 2}, {at_most, 15}]],
    [show("no_exception ~w: ~ts", [Times, rule(no_exception, {?MODULE, fails, 1},
        fun() -> [catch fails(N) || N <- lists:seq(1, Times)], value end)]) || Times <- [0, 1]],
    reason = try tracehost_eunit:never_called(Work, fun() -> error(reason) end) catch error:Reason -> Reason end,
    Async = fun() -> Self = self(), spawn(fun() -> other(7), Self ! done end), receive done -> value end end,
    show("processes ~ts", [rule(never_called, Work, Async)]),
    value = tracehost_eunit:never_called(Work, #{processes => self()}, Async).

rule(Rule, Function, Fun) ->
    try case Rule of
            never_called -> tracehost_eunit:never_called(Function, Fun);
            at_most -> tracehost_eunit:at_most(2, Function, Fun);
            at_least -> tracehost_eunit:at_least(2, Function, Fun);
            no_exception -> tracehost_eunit:no_exception(Function, Fun)
        end
    of
        value -> "kept"
    catch error:{broken_rule, Lines} -> lists:join("\n    ", Lines)
    end.

%% A rule that unknown calls may break is not kept.
doubts() ->
    Fun = fun() -> [work(0) || _ <- lists:seq(1, 9)], value end,
    Limits = #{limits => #{events => 4}},
    [show("doubts ~ts", [lists:last(Lines)]) || Check <- [fun tracehost_eunit:at_most/4, fun tracehost_eunit:at_least/4],
        Lines <- [try Check(5, {?MODULE, work, 1}, Limits, Fun) catch error:{broken_rule, Broken} -> Broken end]],
    value = tracehost_eunit:at_least(3, {?MODULE, work, 1}, Limits, Fun),
    {error, {no_function, _}} = tracehost_calls:check([no_exception], {?MODULE, nothing, 1}, #{}, Fun).

%% Files are closed while processes on all schedulers write to them: each has whole records, as many as are reported.
storm() ->
    1 = erlang:trace_pattern({?MODULE, work, 1}, true, [local]),
    Loops = [spawn(?MODULE, loop, [0]) || _ <- lists:seq(1, 4)],
    Closed = [closed_in_a_storm(N, Loops) || N <- lists:seq(1, 8)],
    1 = erlang:trace_pattern({?MODULE, work, 1}, false, [local]),
    [begin Loop ! {stop, self()}, receive stopped -> ok end end || Loop <- Loops],
    show("storm ~w", [lists:usort(Closed)]).

closed_in_a_storm(N, Loops) ->
    Settings = #{output => "storm", recording => N},
    trace = tracehost_trace_port:enabled(trace_status, Settings, self()),
    _ = [1 = erlang:trace(Loop, true, [call, {tracer, tracehost_trace_port, Settings}]) || Loop <- Loops],
    until(fun() -> element(1, tracehost_trace_port:status(Settings)) > 100 end),
    {Events, Bytes, 0, open} = tracehost_trace_port:close(Settings),
    timer:sleep(5),
    {Events, Bytes, _, closed} = tracehost_trace_port:close(Settings),
    _ = [erlang:trace(Loop, false, [all]) || Loop <- Loops],
    {Bytes =:= filelib:file_size("storm"), [{call, Events}] =:= kinds("storm")}.

%% Recordings that have ended leave no open file in the tracer. A new instance of its module records, too.
again() ->
    Files = fun() -> length(element(2, file:list_dir("/proc/self/fd"))) end,
    Check = fun() -> tracehost_eunit:at_most(2, {?MODULE, other, 1}, fun() -> other(1) end) end,
    Check(),
    Before = Files(),
    [Check() || _ <- lists:seq(1, 100)],
    true = code:delete(tracehost_trace_port),
    false = code:purge(tracehost_trace_port),
    Check(),
    show("again ~w", [Files() - Before]).
