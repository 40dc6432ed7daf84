%% The cases of the comparison. tracing.erl runs a case; it is a map:
%%   name       name of the case, for the report
%%   how        once: the log and the recording are made in one run;
%%              twice: OTP's own tracer records one run, the logging tracer logs another
%%   recorded   twice: the settings that differ in the recorded run
%%   state      state of the tracer
%%   replay     options for `tracehost replay'; `tracer' stands for the tracer's option (default: it comes first);
%%              meta_tracer: the tracer with its state
%%   whom       traced processes: tracee, new; default: the recorded ones
%%   status     exit status of the replay (default: 0)
%%   lines      trace: only the callbacks of the trace family are compared
%%   empty      true: nothing is logged
%%   later      tags of the additional lines in BEAMs of OTP 26 and later, or `any'
-module(cases).
-export([all/0, once/0, twice/0, flags/0, messages/0, heirs/0, everything/0, meta/0, names/0]).

all() -> once() ++ twice() ++ flags() ++ messages() ++ answers() ++ heirs() ++ quarrels().

%% The callbacks and tags that must occur in all cases together.
names() ->
    Callbacks = [Name || {Name, _} <- logging:module_info(exports), Name =/= load, Name =/= module_info],
    lists:usort([atom_to_binary(Name) || Name <- Callbacks ++ tags()]).

tags() ->
    [send, send_to_non_existing_process, 'receive', call, return_to, return_from, exception_from,
     spawn, spawned, exit, link, unlink, getting_linked, getting_unlinked, register, unregister,
     open, closed, in, out, in_exiting, out_exiting, out_exited,
     gc_minor_start, gc_minor_end, gc_major_start, gc_major_end, gc_max_heap_size, seq_trace].

%% --- One run ----------------------------------------------------------------------------------------

once() ->
    [Case#{how => once} || Case <- calls() ++ results() ++ events() ++ [everything()]].

calls() ->
    [#{name => "calls, callers", flags => [call], patterns => local({message, {caller}}),
       run => fun workload:calls/0},
     #{name => "calls, returns", flags => [call, return_to, monotonic_timestamp],
       patterns => local({return_trace}), run => fun workload:calls/0},
     #{name => "calls, arity", flags => [call, arity, strict_monotonic_timestamp],
       patterns => local(true), run => fun workload:calls/0},
     #{name => "calls, global", flags => [call, timestamp],
       patterns => [{{workload, '_', '_'}, [{'_', [], [{return_trace}]}], [global]}],
       run => fun workload:calls/0},
     #{name => "calls, CPU time", all => [call, timestamp, cpu_timestamp],
       patterns => local({return_trace}), run => fun workload:calls/0},
     #{name => "exceptions", flags => [call, return_to, timestamp],
       patterns => local({exception_trace}) ++ [{{erlang, list_to_existing_atom, 1}, true, [local]}],
       run => fun workload:exceptions/0},
     #{name => "exceptions, return_trace alone", flags => [call, return_to],
       patterns => local({return_trace}), run => fun workload:exceptions/0},
     #{name => "an uncaught exception", flags => [call, procs, return_to],
       patterns => local({exception_trace}), run => fun workload:dies/0},
     #{name => "terms", flags => [call], run => fun workload:terms/0,
       patterns => [{{workload, id, 1}, [{'_', [], [{return_trace}]}], [local]}]}].

results() ->
    Numbers = [{['$1'], [{is_integer, '$1'}], [{message, '$1'}]},
               {'_', [], [{message, {{{caller}, {self}}}}]}],
    Patterns = [{{workload, id, 1}, Numbers, [local]}, {{workload, sum, 1}, Numbers, [local]},
                {send, [{['$1', '$2'], [{is_tuple, '$2'}], [{message, {size, '$2'}}]},
                        {'_', [], []}], []},
                {'receive', [{['$1', '$2', '$3'], [], [{message, '$2'}]}], []}],
    Run = fun() -> workload:calls(), workload:messages() end,
    Events = [call, send, 'receive'],
    [#{name => "results of match specifications", flags => Events, patterns => Patterns, run => Run},
     #{name => "results of match specifications, times", flags => [timestamp | Events],
       patterns => Patterns, run => Run},
     #{name => "results of match specifications, schedulers", replay => ["--scheduler-id"],
       flags => [scheduler_id, monotonic_timestamp | Events], patterns => Patterns, run => Run},
     #{name => "calls that a match specification hides", lines => trace, flags => [call],
       patterns => [{{workload, '_', '_'},
                     [{['$1'], [{is_atom, '$1'}], [{return_trace}, {message, false}]},
                      {'_', [], [{return_trace}]}], [local]}],
       run => Run},
     #{name => "calls of a silent tracee", lines => trace, flags => [call, silent],
       patterns => local({return_trace}) ++
           [{{workload, far, 1}, [{'_', [], [{silent, false}]}], [local]}],
       run => fun workload:calls/0}].

events() ->
    [#{name => "messages", flags => [send, 'receive', monotonic_timestamp],
       run => fun workload:messages/0},
     #{name => "processes", flags => [procs, set_on_spawn, strict_monotonic_timestamp],
       run => fun workload:family/0},
     #{name => "processes, set_on_link", flags => [procs, send, set_on_link],
       run => fun workload:family/0},
     #{name => "ports", flags => [procs, send, 'receive'],
       new_ports => [ports, send, 'receive', running_ports, timestamp], run => fun workload:ports/0},
     #{name => "ports, schedulers", flags => [procs, scheduler_id], replay => ["--scheduler-id"],
       new_ports => [ports, send, 'receive', running_ports, scheduler_id], run => fun workload:ports/0},
     #{name => "running", flags => [running, exiting, procs, set_on_spawn],
       run => fun workload:running/0},
     #{name => "running, schedulers", flags => [running, exiting, set_on_spawn, scheduler_id, timestamp],
       run => fun workload:running/0},
     #{name => "garbage collection", flags => [garbage_collection, set_on_spawn],
       run => fun burden:collections/0},
     #{name => "sequential tracing", token => true, run => fun workload:tokens/0}].

everything() ->
    #{name => "everything", how => once, replay => ["--scheduler-id"], run => fun workload:everything/0,
      flags => [call, return_to, send, 'receive', procs, ports, running, exiting, garbage_collection,
                set_on_spawn, timestamp, scheduler_id],
      new_ports => [ports, send, 'receive', running_ports, timestamp],
      patterns => local({exception_trace})}.

%% The functions of the workload itself.
local(true) -> [{{workload, '_', '_'}, true, [local]}];
local(Action) -> [{{workload, '_', '_'}, [{'_', [], [Action]}], [local]}].

%% --- Two runs, of workloads that do the same each time ----------------------------------------------

twice() ->
    [maps:merge(Case, #{how => twice, name => "recorded by OTP: " ++ maps:get(name, Case)})
     || Case <- calls() ++ events(), repeats(Case)].

%% Leaves out functions that depend on real time or on the size of heaps, or that return identifiers of an
%% operating system's process.
repeats(#{name := Name}) ->
    not lists:member(Name, ["ports", "ports, schedulers", "running", "running, schedulers",
                            "garbage collection"]).

%% A recording with many kinds of events, of which the replay selects some.
flags() ->
    Run = fun() -> workload:calls(), workload:exceptions(), workload:messages(), workload:family() end,
    Recorded = #{flags => [call, return_to, send, 'receive', procs, set_on_spawn, timestamp,
                           scheduler_id]},
    [#{name => "flags selected from a recording: " ++ Text, how => twice, run => Run, recorded => Recorded,
       flags => [set_on_spawn | Flags], patterns => local({exception_trace}),
       replay => ["--scheduler-id", "--flags=" ++ Text]}
     || Flags <- [[call], [call, arity, return_to], [send, timestamp], ['receive', scheduler_id],
                  [procs, monotonic_timestamp], [send, 'receive', procs, strict_monotonic_timestamp],
                  [call, send, timestamp, monotonic_timestamp, strict_monotonic_timestamp]],
        Text <- [lists:join(",", [atom_to_list(F) || F <- Flags])]].

%% --- Patterns for messages: all messages are recorded, those that match are logged ------------------

messages() ->
    [messages("send pattern", [{send, Spec}], [], #{}) || Spec <- sends()] ++
    [messages("receive pattern", [{'receive', Spec}], [], #{}) || Spec <- receives()] ++
    [messages("send and receive patterns", [{send, Send}, {'receive', Receive}], [], #{})
     || {Send, Receive} <- [{false, false}, {true, true}, {true, false}, {[], [{'_', [], []}]},
                            {[{'_', [], []}], [{'_', [], [{message, got}]}]}]] ++
    [messages("silent tracee", Patterns, [silent], #{})
     || Patterns <- [[], [{send, [{'_', [], []}]}], [{'receive', [{'_', [], []}]}],
                     [{send, [{['_', {'_', '_', 1}], [], [{silent, false}]}, {'_', [], []}]}],
                     [{send, true}, {'receive', [{['_', '_', '$1'], [{is_tuple, '$1'}], []}]}]]] ++
    [messages("time stamps", [{send, [{['_', '$1'], [{is_tuple, '$1'}], [{message, '$1'}]}]}],
              [monotonic_timestamp], #{})] ++
    [messages(io_lib:format("enabled for ~p returns ~0p", [Tag, Answer]),
              [{send, [{['_', '$1'], [{is_tuple, '$1'}], []}]},
               {'receive', [{['_', '_', '$1'], [{is_tuple, '$1'}], []}]}],
              [], #{answers => #{Tag => Answer}})
     || Tag <- [send, 'receive'], Answer <- [discard, [discard, trace], remove]].

messages(Title, Patterns, Flags, State) ->
    Asked = [send, 'receive', procs] ++ Flags,
    Recorded = [send, 'receive', procs, set_on_spawn],
    #{name => io_lib:format("messages, ~s: ~0p", [Title, Patterns]), how => twice, state => State,
      run => fun workload:sends/0, flags => [set_on_spawn | Asked],
      patterns => [{Event, Spec, []} || {Event, Spec} <- Patterns],
      recorded => #{flags => Recorded, patterns => []},
      replay => ["--flags=" ++ lists:join(",", [atom_to_list(Flag) || Flag <- Asked])] ++
          lists:append([["-p", atom_to_list(Event), "--match-spec", io_lib:format("~0p", [Spec])]
                        || {Event, Spec} <- Patterns])}.

%% Some heads and guards fail, for all messages or for some.
sends() ->
    [false, [],
     [{['_', '$1'], [{is_tuple, '$1'}], []}],
     [{[workload_server, '_'], [], [{message, named}]},
      {[{workload_server, '_'}, '_'], [], [{message, far}]}],
     [{['$1', '_'], [{is_port, '$1'}], [{message, {{port, '$1'}}}]}],
     [{['$1', '_'], [{is_atom, '$1'}], [{message, '$_'}]}],
     [{['$1', too_late], [{is_pid, '$1'}], [{message, '$$'}]}],
     [{['_'], [], []}, {['_', '_', '_'], [], []}],
     [{[], [], []}, {[nobody, '_'], [], [{message, nobody}]}],
     [{'$1', [{'=:=', {length, '$1'}, 2}], [{message, '$1'}]}],
     [{['_', '$1'], [{'>', {size, '$1'}, 2}], [{message, {size, '$1'}}]}],
     [{['_', '$1'], [{element, 1, '$1'}], []}, {['_', {'_', '$1'}], [{'==', '$1', stop}], []}],
     [{['_', '$1'], [{'orelse', {is_atom, '$1'}, {'=:=', {size, '$1'}, 3}}], []}],
     [{['_', '$1'], [], [{message, {element, 3, '$1'}}]}],
     [{['_', {'_', '_', '$1'}], [{is_integer, '$1'}], [{message, {'+', '$1', 1 bsl 70}}]},
      {['_', '_'], [], [{message, false}]}],
     [{['_', {'_', '$1'}], [], [{message, {const, {"text", '$1'}}}]}, {'_', [], [{message, true}]}],
     [{['_', '$1'], [{is_map, '$1'}], [{message, {map_get, key, '$1'}}]}, {'_', [], [false, 17]}],
     [{['$1', '_'], [{'=:=', '$1', {self}}], [{message, {{{self}, {node}}}}]}],
     [{['$1', '_'], [{'=:=', {node, '$1'}, {node}}], [{message, {node, '$1'}}]}],
     [{'_', [], [{set_tcw, 5}, {message, {get_tcw}}]}],
     [{'_', [], [{return_trace}, {exception_trace}]}],
     [{['_', {'_', '_', 1}], [], [{silent, true}]}, {['_', {'_', stop}], [], [{silent, false}]},
      {'_', [], []}],
     [{['_', {'_', '_', 1}], [], [{trace, ['receive'], []}]}, {'_', [], []}],
     [{['_', {'_', '_', 1}], [], [{disable_trace, send}, {message, last}]}, {'_', [], []}],
     [{['_', {'_', '_', 1}], [], [{trace, [], [timestamp]}]}, {'_', [], []}]].

receives() ->
    [false, [],
     [{['_', '_', '$1'], [{is_tuple, '$1'}], [{message, {element, 1, '$1'}}]}],
     [{['_', '_', {'_', '_', '$1'}], [], [{message, '$1'}]}],
     [{['_', '_'], [], []}],
     [{['_', '_', alarm], [], [{message, false}]}, {'_', [], [{message, {self}}]}],
     [{['_', '_', '$1'], [{hd, '$1'}], []}, {['_', '_', {'$1', '_'}], [{is_port, '$1'}], []}],
     [{['_', '_', '$1'], [], [{message, {size, '$1'}}]}]].

%% --- Meta tracers, for a library without trace_call: OTP 25 would call its trace_call by mistake -----

meta() ->
    [meta(Spec, Functions, [], #{}) || Spec <- calls_of_meta(), Functions <- ["_", "id/1"]] ++
    [meta(true, "_", [call], #{}), meta([{'_', [], [{return_trace}]}], "far/1", [call], #{})] ++
    [meta([{'_', [], [{exception_trace}]}], "_", [], #{call => Answer})
     || Answer <- [discard, [trace, discard], [discard, trace, trace]]].

calls_of_meta() ->
    [true, [{'_', [], [{return_trace}]}], [{'_', [], [{exception_trace}]}],
     [{['$1'], [{is_integer, '$1'}], [{message, {'+', '$1', 1}}]}],
     [{['$1'], [{is_atom, '$1'}], [{message, false}, {return_trace}]}, {['$1'], [], [{message, '$1'}]}]].

%% Functions of the workload. FLAGS are the tracee's; with `call' it also has the same pattern, local.
meta(Spec, Functions, Flags, Answers) ->
    Text = io_lib:format("~0p", [Spec]),
    Function = case Functions of
        "_" -> {workload, '_', '_'};
        _ -> [Name, Arity] = string:split(Functions, "/"),
             {workload, list_to_atom(Name), list_to_integer(Arity)}
    end,
    Kinds = ["local," || call <- Flags] ++ ["meta"],
    #{name => io_lib:format("meta tracer of workload:~s, ~0p: ~s, ~0p", [Functions, Flags, Text, Answers]),
      how => twice, state => #{answers => Answers}, flags => [send | Flags],
      run => fun() -> workload:calls(), workload:exceptions(), self() ! done end,
      recorded => #{flags => [call, send], patterns => local({exception_trace})},
      patterns => [{Function, Spec, [local]} || call <- Flags] ++ [{Function, Spec, [meta]}],
      replay => ["--flags=" ++ lists:join(",", [atom_to_list(Flag) || Flag <- [send | Flags]]),
                 "-p", "workload:" ++ Functions, "--match-spec", Text, ["--kind=" | Kinds],
                 "--meta-tracer", meta_tracer]}.

%% --- Answers of callbacks: everything is recorded, the events that the answers leave are logged ------

answers() ->
    [Case#{name => io_lib:format("~s, enabled for ~p returns ~0p", [Title, Tag, Answer]), how => twice,
           state => #{answers => #{Tag => Answer}}}
     || {#{name := Title} = Case, Tags, Answers} <- answered(), Tag <- Tags, Answer <- Answers] ++
    [#{name => io_lib:format("exceptions, trace_call returns ~0p", [Result]), how => twice,
       flags => [call, return_to], patterns => local({exception_trace}),
       run => fun workload:exceptions/0,
       state => #{results => #{call => Result, return_from => Result}}}
     || Result <- [discard, remove, 42, badarg]].

answered() ->
    Refused = [remove, unknown, 42, badarg],
    Some = [discard, remove, unknown],
    Messages = #{name => "messages", flags => [send, 'receive', procs], run => fun workload:messages/0},
    [{some_calls("exceptions", {exception_trace}, fun workload:risky_calls/0),
      [call], [discard | Refused]},
     {Messages, [send, send_to_non_existing_process, 'receive'], [discard, [discard, trace] | Refused]},
     {Messages, [trace_status], [discard, banana]},
     {Messages#{status => 1, empty => true}, [trace_status], [remove]},
     {#{name => "processes", flags => [send, procs, set_on_spawn], run => fun workload:family/0},
      [spawn, spawned, exit, register, link, getting_linked], Some},
     {#{name => "running", flags => [running, send], run => fun workload:messages/0},
      [in, out], [discard, remove]},
     {#{name => "exiting", flags => [exiting, send, procs], run => fun workload:messages/0},
      [send, exit, out_exited], [discard, remove]},
     {#{name => "ports", new_ports => [ports, send], run => fun workload:ports/0},
      [open, closed, link, getting_linked, getting_unlinked, register, send], Some},
     {#{name => "garbage collection", flags => [garbage_collection], run => fun burden:tidy/0},
      [gc_minor_start, gc_major_end], [discard, remove]},
     {#{name => "sequential tracing", token => true, run => fun workload:tokens/0},
      [seq_trace], [discard, remove]}] ++
    [{case map_get(name, Case) of "return_to alone" -> Case; _ -> with_returns(Case) end, [call], turns()}
     || Case <- some_calls()].

%% If some calls are traced and others discarded, the returns of the traced calls must come. If neither return_from
%% nor exception_from is recorded, a return after tail calls and an exception look alike: the workload has none.
some_calls() ->
    [some_calls("exceptions", {exception_trace}, fun workload:risky_calls/0),
     some_calls("returns", {return_trace}, fun workload:risky_calls/0),
     some_calls("return_to alone", true, fun workload:safe_calls/0)].

%% After an exception, OTP 25 sends a return_to if the call nearest to the catching function was traced; later
%% releases send it if any call was traced.
with_returns(Case) -> Case#{later => [<<"return_to">>]}.

%% tracehost records open calls from the first call on that gets another answer.
some_calls(Name, Action, Run) ->
    #{name => Name, flags => [call, return_to, send], patterns => local(Action),
      run => fun() -> [workload:id(N) || N <- [1, 2, 3]], Run() end}.

turns() ->
    [[trace, discard], [discard, trace], [trace, trace, discard], [discard, discard, trace],
     [trace, discard, discard, trace, discard, trace, trace]].

%% --- Inheritance: the whole family is recorded, the processes with the flags are logged ---------------

heirs() ->
    [heirs(fun heirs:family/0, [tracee], Base ++ On)
     || Base <- [[procs], [send, 'receive', procs, call], [call, return_to]], On <- set_on()] ++
    [heirs(fun heirs:family/0, [tracee], [call, procs, silent | On]) || On <- set_on(), length(On) < 2] ++
    [heirs(fun heirs:family/0, Whom, [procs, send | On])
     || Whom <- [[new], [tracee, new]], On <- set_on(), length(On) < 3].

set_on() ->
    [[], [set_on_spawn], [set_on_first_spawn], [set_on_link], [set_on_first_link],
     [set_on_spawn, set_on_first_spawn], [set_on_link, set_on_first_link],
     [set_on_spawn, set_on_link], [set_on_spawn, set_on_first_link],
     [set_on_first_spawn, set_on_link], [set_on_first_spawn, set_on_first_link],
     [set_on_spawn, set_on_first_spawn, set_on_link, set_on_first_link]].

heirs(Run, Whom, Flags) ->
    Text = lists:join(",", [atom_to_list(Flag) || Flag <- Flags]),
    Of = #{tracee => {flags, Flags}, new => {new, Flags}},
    Patterns = [{{heirs, work, 1}, [{'_', [], [{return_trace}]}], [local]},
                {{heirs, live, 0}, true, [local]}],
    Case = #{name => io_lib:format("inheritance from ~0p: ~s", [Whom, Text]), how => twice, run => Run,
             patterns => Patterns, whom => Whom, replay => ["--flags=" ++ Text],
             recorded => #{flags => [send, 'receive', procs, call, return_to, set_on_spawn], new => []}},
    maps:merge(links(Case, Whom, Flags), maps:from_list([map_get(Who, Of) || Who <- Whom])).

%% In OTP 25 set_on_link acts on processes that are spawned and linked at once, in later releases also on link/1.
links(Case, [tracee], Flags) ->
    case [Flag || Flag <- Flags, lists:member(Flag, [set_on_spawn, set_on_link, set_on_first_link])] of
        [set_on_link] -> Case#{later => any};
        _ -> Case
    end;
links(Case, _, _) -> Case.

%% If a tracer drops a member, the member's children do not inherit from it any more.
quarrels() ->
    [(maps:remove(later, heirs(fun heirs:quarrel/0, [tracee], [send, 'receive', procs, call | On])))
        #{name => io_lib:format("inheritance, ~0p, enabled for ~p returns ~0p", [On, Tag, Answers]),
          state => #{answers => #{Tag => Answers}}}
     || On <- [[set_on_spawn], [set_on_link], [set_on_first_spawn], [set_on_spawn, set_on_first_link]],
        Tag <- [send, call, 'receive', spawn],
        Answers <- [remove, [trace, trace, remove], [discard, trace, 42, trace]]].
