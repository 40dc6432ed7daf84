%% Local calls: of this node's functions, and of plugins' functions in machine code. Each run of cases/0 is made here
%% and in tracehost; the same tracer must get the same events. The runs of counts/0 are counted here and there.
-module(native).
-export([main/1]).

%% main([Tracehost, Libraries, Folder, Plugins]): LIBRARIES has logging.so and its siblings, PLUGINS has frames.so
%% and fib.so; logs are written to FOLDER.
main(Arguments) ->
    Setup = maps:from_list(lists:zip([tracehost, libraries, folder, plugins], Arguments)),
    logger:set_primary_config(level, none),
    ok = code:ensure_modules_loaded([frames, fib]),
    Generic = [Case#{library => "logging_generic"} || Case <- meta()],
    Outcomes = [traced(Setup, "logging", cases() ++ differences()), traced(Setup, "logging_generic", Generic),
                [report(Name, counted(Setup, Case)) || #{name := Name} = Case <- counts()]],
    Failed = length([no || false <- lists:append(Outcomes)]),
    io:format("~b passed, ~b failed~n", [length(lists:append(Outcomes)) - Failed, Failed]),
    halt(min(Failed, 1), [{flush, true}]).

%% --- Runs, and their patterns -------------------------------------------------------------------------
%%
%%   run      {Function, Arguments} of the module `frames'
%%   set      [{Function | '_', Arity | '_', MatchSpec} | {Function | '_', Arity | '_', MatchSpec, Kind}]
%%   kind     kind of the entries without one; default: local
%%   flags    default: [call]
%%   answers  the answers of the tracer's enabled callbacks
%%   caught   true: the calling expression catches; erl_eval evaluates it in the BEAM
%%   unlike   turns the BEAM's callbacks into tracehost's; without it both must be equal

runs() ->
    [{tails, [3]}, {jumps, [2]}, {evens, [5]}, {nests, [1]}, {sums, [4]}, {outward, [2]}, {handed, [1]},
     {hands, [2]}, {later, [1]}, {all, []}] ++
    [{Function, [Class, N]} || Function <- [raises, leaps, passes, halfway, again],
                               {Class, N} <- [{none, 1}, {error, 2}, {exit, 1}, {badarg, 1}]] ++
    [{halfway, [throw, 2]}].

%% Throws without a catch.
thrown() -> [{Function, [throw, N]} || {Function, N} <- [{raises, 0}, {leaps, 2}, {passes, 1}, {again, 1}]].

ways() ->
    [{"callers", all([{message, {caller}}]), [call]},
     {"returns", all([{return_trace}]), [call]},
     {"returns, return_to", all([{return_trace}]), [call, return_to]},
     {"exceptions, callers", all([{exception_trace}, {message, {caller}}]), [call]},
     {"exceptions, return_to", all([{exception_trace}]), [call, return_to]},
     {"return_to", all([]), [call, return_to, arity]}].

all(Body) -> [{'_', '_', [{'_', [], Body}]}].

%% Exceptions that an expression catches: the evaluator continues, and no function of the plugin does.
caught() ->
    [(unlike_later())#{name => ["caught by an expression: ", show(Run)], run => Run, set => all([{exception_trace}]),
                       flags => [call, return_to], caught => true}
     || Run <- [{Function, [Class, N]} || Function <- [raises, leaps, passes, again],
                                          {Class, N} <- [{error, 2}, {exit, 1}, {badarg, 1}, {throw, 0}]]].

%% In a later BEAM, calls return to the evaluator.
unlike_later() -> maps:from_list([{unlike, fun without_evaluator/1} || comparison:is_later()]).

without_evaluator({_, <<"return_to">>, [_, {erl_eval, expr, _} | _]}) -> none;
without_evaluator(Line) -> Line.

cases() ->
    caught() ++
    [#{name => [How, ": ", show(Run)], run => Run, set => Set, flags => Flags}
     || {How, Set, Flags} <- ways(), Run <- runs()] ++
    [#{name => ["external calls: ", show(Run)], run => Run, set => all([{exception_trace}, {message, {caller}}]),
       kind => global} || Run <- runs()] ++
    [#{name => [Name, ": ", show(Run)], run => Run, set => Set, flags => Flags}
     || {Name, Set, Flags, Others} <- some(), Run <- [{all, []} | Others]] ++
    [#{name => ["kinds that exclude each other, ", Name, ": ", show(Run)], run => Run, set => Set}
     || {Name, Set} <- exclusions(), Run <- [{all, []}, {outward, [2]}]] ++
    [(returns(Answers, Run))#{name => io_lib:format("enabled returns ~0p: ~s", [Answers, show(Run)]), run => Run,
       set => all([{exception_trace}]), flags => [call, return_to], answers => #{call => Answers}}
     || Answers <- [discard, [trace, discard], [discard, trace, trace], [trace, trace, remove]],
        Run <- [{all, []}, {tails, [3]}, {sums, [4]}, {halfway, [error, 2]}, {leaps, [exit, 3]}]].

%% See cases.erl: after an exception, if the nearest call is not traced.
returns([discard, trace, trace], {all, []}) -> #{later => [<<"return_to">>]};
returns(_, _) -> #{}.

%% Patterns for some functions and some calls.
some() ->
    Exceptions = [{halfway, [error, 2]}, {again, [exit, 1]}],
    [{"a guard", [{sum, 1, [{['$1'], [{'>', '$1', 1}], [{exception_trace}, {message, '$1'}]}]}], [call, return_to],
      [{outward, [2]}]},
     {"heads", [{fall, 2, [{['_', 0], [], [{exception_trace}]}]}, {third, 3, [{['$1', a, []], [], [{message, '$1'}]}]}],
      [call], Exceptions},
     {"no message", [{'_', '_', [{'_', [], [{exception_trace}, {message, false}]}]}], [call, return_to], Exceptions},
     {"no message of some calls", [{'_', '_', [{'_', [], [{return_trace}]}]}, {leaf, 1, [{'_', [], [{message, false}]}]},
                             {sum, 1, [{['$1'], [], [{message, {'>', '$1', 1}}]}]},
                             {fall, 2, [{'_', [], [{message, false}, {return_trace}]}]}], [call, return_to],
      Exceptions},
     {"local functions only", [{first, 1, true}, {right, 1, [{'_', [], [{return_trace}]}]},
                               {catches, 2, [{'_', [], [{return_trace}]}]}], [call, return_to],
      [{halfway, [error, 2]}, {later, [1]}]},
     {"silent begins", [{'_', '_', true}, {right, 1, [{'_', [], [{silent, true}]}]}], [call], Exceptions},
     {"silent ends", [{'_', '_', true}, {fall, 2, [{'_', [], [{silent, false}]}]}], [call, silent], Exceptions},
     {"all functions but two", [{'_', '_', true}, {fall, 2, false}, {sum, 1, false}], [call, return_to], Exceptions}].

%% Each exclusion leaves a pattern that traces.
exclusions() ->
    All = fun(Kind) -> {'_', '_', [{'_', [], [{return_trace}]}], Kind} end,
    One = fun(Function, Kind) -> {Function, 1, [{'_', [], [{message, {caller}}]}], Kind} end,
    [{"global after local", [All(local), All(global)]},
     {"global of one function after local", [All(local), One(sums, global)]},
     {"global of a function that is not exported after local", [All(local), One(out, global)]},
     {"local after global", [All(global), All(local)]},
     {"local of one function after global", [All(global), One(sums, local)]},
     {"count after global", [All(global), {sums, 1, true, count}]},
     {"time after global", [All(global), {sums, 1, true, time}]},
     {"a missing count is paused", [All(global), {sums, 1, pause, count}]},
     {"a missing count is cleared", [All(global), {sums, 1, false, count}]},
     {"global is cleared", [All(local), {sums, 1, false, global}, {leaf, 1, false, local}]}].

meta() ->
    One = fun(Function, Kind) -> {Function, 1, [{'_', [], [{message, {caller}}]}], Kind} end,
    [#{name => ["kinds that exclude each other, ", Name, ": ", show(Run)], run => Run, set => Set}
     || {Name, Set} <- [{"meta after global", [{'_', '_', true, global}, One(sums, meta)]},
                        {"global after meta", [One(sum, meta), One(leaf, meta), {leaf, 1, true, global},
                                               {sum, 1, true, global}, One(sums, local)]}],
        Run <- [{all, []}, {outward, [2]}]] ++
    [#{name => ["meta, ", How, ": ", show(Run)], run => Run, set => all(Body), kind => meta}
     || {How, Body} <- [{"callers", [{message, {caller}}]}, {"exceptions", [{exception_trace}]}],
        Run <- [{all, []}, {again, [exit, 1]}, {hands, [2]}]].

%% Each case must differ, except for the changes by `unlike' to the BEAM's lines, and by `alike' to tracehost's.
differences() ->
    [#{name => "a function that cannot be traced is no caller and has no return_to", run => {helped, [1]},
       set => [{Function, 1, [{'_', [], [{message, {caller}}]}]} || Function <- [helped, leaf]],
       flags => [call, return_to], unlike => fun without_helper/1},
     #{name => "caller_line has lines of C sources", run => {nests, [1]}, set => all([{message, {caller_line}}]),
       unlike => fun some_line/1, alike => fun some_line/1}] ++
    [#{name => ["an uncaught throw is reported as throw: ", show(Run)], run => Run,
       set => all([{exception_trace}]), flags => [call, return_to], unlike => fun thrown/1} || Run <- thrown()].

without_helper({Callback, Tag, Terms}) ->
    {Callback, Tag, replaced({frames, helper, 1}, {frames, helped, 1}, Terms)}.

replaced(Old, New, Old) -> New;
replaced(Old, New, Terms) when is_list(Terms) -> [replaced(Old, New, Term) || Term <- Terms];
replaced(Old, New, Map) when is_map(Map) -> maps:map(fun(_, Value) -> replaced(Old, New, Value) end, Map);
replaced(_, _, Term) -> Term.

some_line({Callback, Tag, [Tracee, Term, #{match_spec_result := {M, F, A, {[_ | _], L}}} = Options]}) when L > 0 ->
    {Callback, Tag, [Tracee, Term, Options#{match_spec_result := {M, F, A, {file, line}}}]};
some_line(Line) -> Line.

thrown({Callback, Tag, [Tracee, Term, #{extra := {error, {nocatch, Value}}} = Options]}) ->
    {Callback, Tag, [Tracee, Term, Options#{extra => {throw, Value}}]};
thrown(Line) -> Line.

show({Function, Arguments}) -> show(frames, Function, Arguments).

show(Module, Function, Arguments) ->
    io_lib:format("~p:~p(~s)", [Module, Function, lists:join(",", [io_lib:format("~0p", [A]) || A <- Arguments])]).

%% --- Traced here and there ------------------------------------------------------------------------------

%% The library that a node has loaded belongs to its module's functions until the end.
traced(#{libraries := Libraries} = Setup, Library, Cases) ->
    code:purge(logging), code:delete(logging), code:purge(logging),
    {module, logging} = code:load_file(logging),
    ok = logging:load(filename:join(Libraries, Library)),
    [report(Name, compared(Setup#{library => Library}, Case)) || #{name := Name} = Case <- Cases].

compared(#{folder := Folder} = Setup, Case) ->
    Name = filename:join(Folder, integer_to_list(erlang:unique_integer([positive]))),
    Full = maps:merge(#{kind => local, flags => [call], answers => #{}}, Case),
    in_beam(Full, Name ++ ".beam"),
    said(Setup, Full, Name ++ ".here"),
    case {lines(Name ++ ".beam"), lines(Name ++ ".here"), Case} of
        {[], _, _} -> "the BEAM has called nothing";
        {Same, Same, #{unlike := _}} -> "they do not differ any more";
        {Beam, Here, #{unlike := Unlike}} ->
            Alike = maps:get(alike, Case, fun(Line) -> Line end),
            comparison:difference(if Beam =/= Here -> lines(Unlike, Name ++ ".beam") end, lines(Alike, Name ++ ".here"));
        {Beam, Here, _} -> comparison:difference(Case, Beam, Here)
    end.

lines(File) ->
    comparison:renumbered(comparison:lines(File, all)).

lines(How, File) ->
    comparison:renumbered(comparison:changed(How, comparison:lines(File, all))).

in_beam(#{run := {Function, Arguments}, kind := Kind, set := Set} = Case, Log) ->
    Run = case Case of
              #{caught := true} -> fun() -> evaluate(expression(Case)) end;
              _ -> fun() -> apply(frames, Function, Arguments) end
          end,
    tracing:logged(#{flags => maps:get(flags, Case), run => Run,
                     patterns => [{{frames, F, A}, Spec, [in_beam(K)]} || {F, A, Spec, K} <- of_kind(Kind, Set)]},
                   list_to_binary(Log), #{answers => maps:get(answers, Case)}).

evaluate(Expression) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten([Expression, "."])),
    {ok, Parsed} = erl_parse:parse_exprs(Tokens),
    erl_eval:exprs(Parsed, []).

expression(#{run := Run, caught := true}) -> ["catch ", show(Run)];
expression(#{run := Run}) -> show(Run).

of_kind(Kind, Set) -> [case One of {F, A, Spec} -> {F, A, Spec, Kind}; _ -> One end || One <- Set].

in_beam(count) -> call_count;
in_beam(time) -> call_time;
in_beam(memory) -> call_memory;
in_beam(Kind) -> Kind.

said(#{library := Library, libraries := Libraries, plugins := Plugins} = Setup, Case, Log) ->
    #{kind := Kind, set := Set, flags := Flags, answers := Answers} = Case,
    State = #{log => list_to_binary(Log), answers => Answers},
    Patterns = [["-p", io_lib:format("frames:~s/~s", [part(F), part(A)]), "--kind=" ++ atom_to_list(K),
                 "--match-spec", io_lib:format("~0p", [Spec])] || {F, A, Spec, K} <- of_kind(Kind, Set)],
    tracehost(Setup, ["run", "-L", Libraries, "-t", io_lib:format("~s=~0p", [Library, State]),
                      "--flags=" ++ lists:join(",", [atom_to_list(Flag) || Flag <- Flags])] ++
                         lists:append(Patterns) ++
                         [filename:join(Plugins, "frames.so"), expression(Case)]).

part('_') -> "_";
part(Part) -> io_lib:format("~p", [Part]).

report(Name, Outcome) ->
    io:format("~s ~s~n", [case Outcome of equal -> "ok"; _ -> "not ok" end, Name]),
    Outcome =:= equal orelse io:put_chars(["    ", string:replace(Outcome, "\n", "\n    ", all), $\n]),
    Outcome =:= equal.

%% --- Counted here and there -----------------------------------------------------------------------------

%% call_memory came with OTP 26. An exception, and a call through the host, take words here that a BEAM has elsewhere.
kinds() -> [count, time | [memory || comparison:is_later()]].

counts() ->
    [#{name => [atom_to_list(Kind), " of ", show(Module, Function, Arguments)], kind => Kind,
       module => Module, run => {Function, Arguments}}
     || Kind <- kinds(),
        {Module, Function, Arguments} <- [{fib, fib, [20]}, {fib, quick, [50]}, {fib, depth, [5000]}] ++
            [{frames, Function, Arguments} || {Function, Arguments} <- runs()],
        Kind =/= memory orelse lists:member(Function, [nests, sums, evens, tails, jumps, fib, quick, depth])] ++
    [#{name => [atom_to_list(Kind), ", ", Name], kind => Kind, module => frames, run => {outward, [2]}, set => Set}
     || Kind <- [count, time],
        {Name, Set} <- [{"after global", [{'_', '_', global}, {'_', '_', Kind}]},
                        {"with local and meta", [{'_', '_', local}, {'_', '_', Kind}, {'_', '_', meta}]},
                        {"of one function after global", [{'_', '_', global}, {sums, 1, Kind}]},
                        {"before global of two functions", [{'_', '_', Kind}, {leaf, 1, global}, {sum, 1, global}]}]].

counted(#{plugins := Plugins} = Setup, #{module := Module, kind := Kind, run := {Function, Arguments}} = Case) ->
    Set = maps:get(set, Case, [{'_', '_', Kind}]),
    Here = counts_in_beam(Module, Function, Arguments, Kind, Set),
    Options = lists:append([["-p", io_lib:format("~s:~s/~s", [Module, part(F), part(A)]), "--kind=" ++ atom_to_list(K)]
                            || {F, A, K} <- Set]),
    Text = tracehost(Setup, ["run", "-t", "text,output=/dev/null"] ++ Options ++
                         [filename:join(Plugins, atom_to_list(Module) ++ ".so"), show(Module, Function, Arguments)]),
    {match, Rows} = re:run(Text, "^ +([0-9]+) +(?:([0-9.]+) +)?[a-z]+:([a-z_]+)/([0-9]+)$",
                           [global, multiline, {capture, all_but_first, list}]),
    There = lists:sort([{list_to_atom(F), list_to_integer(A), amount(Kind, list_to_integer(N), Second)}
                        || [N, Second, F, A] <- Rows, N =/= "0"]),
    case {Here, There} of
        {[_ | _], Here} -> equal;
        _ -> io_lib:format("in the BEAM ~0p~nhere ~0p~nof ~s~n", [Here, There, Text])
    end.

%% For call_memory, calls and words are compared; otherwise calls.
amount(memory, N, Words) -> {N, list_to_integer(Words)};
amount(_, N, _) -> N.

%% Returns [{Function, Arity, Count}] for the functions that are called.
counts_in_beam(Module, Function, Arguments, Kind, Set) ->
    Item = in_beam(Kind),
    Functions = Module:module_info(functions),
    Parent = self(),
    [erlang:trace_pattern({Module, F, A}, true, [in_beam(K)]) || {F, A, K} <- Set],
    {Tracee, Monitor} = spawn_monitor(fun() -> receive go -> apply(Module, Function, Arguments) end end),
    erlang:trace(Tracee, true, [call, {tracer, Parent}]),
    Tracee ! go,
    receive {'DOWN', Monitor, process, Tracee, _} -> ok end,
    Counts = [{F, A, count(erlang:trace_info({Module, F, A}, Item))} || {F, A} <- Functions],
    [erlang:trace_pattern({Module, '_', '_'}, false, [K]) || K <- [local, global, meta, Item]],
    lists:sort([Row || {_, _, N} = Row <- Counts, N =/= 0]).

count({_, false}) -> 0; % the function has no such breakpoint
count({call_count, N}) -> N;
count({call_time, Rows}) -> lists:sum([N || {_, N, _, _} <- Rows]);
count({call_memory, []}) -> 0;
count({call_memory, Rows}) -> {lists:sum([N || {_, N, _} <- Rows]), lists:sum([Words || {_, _, Words} <- Rows])}.

%% --- The program --------------------------------------------------------------------------------------------

%% Returns the program's output; 1 is the status of an expression that ends with an exception.
tracehost(#{tracehost := Program}, Arguments) ->
    Port = open_port({spawn_executable, Program}, [{args, Arguments}, exit_status, stderr_to_stdout, binary, in]),
    case output(Port, []) of
        {Status, Said} when Status =< 1 -> iolist_to_binary(Said);
        {Status, Said} -> error({Status, iolist_to_binary(Said)})
    end.

output(Port, Said) ->
    receive
        {Port, {data, Data}} -> output(Port, [Said | Data]);
        {Port, {exit_status, Status}} -> {Status, Said}
    end.
