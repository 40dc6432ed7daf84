%% The cases of node.sh: cases of cases.erl and specs.erl, and more. They have the keys of cases.erl, without `recorded'
%% and `replay', and
%%   how        live
%%   registered the name that the tracee gets
%%   whom       traced processes: tracee, new, or the name; default: tracee
%%   sessions   [Keys]: keys in which several sessions of the command differ from the case; in this node they trace one
%%              after the other
%%   tracers    2: the command has two tracers for each session
%%   options    further options of the command
%%   says       part of what the command says; default: nothing is said
-module(node_cases).
-export([live/0, recorded/0]).

live() -> [live(Case) || Case <- chosen() ++ own()].

%% Cases in which the node decides all patterns: each record is delivered. `convert' has no --kind.
recorded() ->
    [live(Case) || Case <- kinds() ++ tracees() ++ events(),
                   [] =:= [global || {_, _, [global]} <- maps:get(patterns, Case, [])]].

%% A node does not send calls and messages that match nothing: nobody asks a tracer whether they are enabled. In all
%% releases of OTP the node decides what is sent.
live(#{name := Name} = Case) ->
    Kept = maps:without([recorded, replay, says, later], Case),
    Own = maps:merge(lines(Case), says(lists:flatten(Name))),
    maps:merge(Kept#{how => live, name => ["live: ", Name]}, Own).

says("a sequential trace token" ++ _) -> #{says => <<"actions of match specifications skipped">>};
says("flags: enable_trace send") -> #{says => <<"-p subject:answer/1: no such function was called">>}; % by the tracee
says("patterns: a function that is never called") -> #{says => <<"-p subject:nobody/7: the node has no such function">>};
says("messages, enabled for send returns remove" ++ _) -> #{says => <<"tracees removed from the tracer">>};
says("messages, enabled for 'receive' returns remove" ++ _) -> #{says => <<"events discarded">>};
says(_) -> #{}.

lines(Case) ->
    case lists:all(fun({_, Spec, _}) -> sends_all(Spec) end, maps:get(patterns, Case, [])) of
        true -> #{};
        false -> #{lines => trace}
    end.

sends_all(true) -> true;
sends_all([{'_', [], Body}]) -> not lists:any(fun is_condition/1, Body);
sends_all(_) -> false.

is_condition({message, Shown}) -> Shown =/= {caller};
is_condition({silent, _}) -> true;
is_condition(_) -> false.

%% --- From the other comparisons -----------------------------------------------------------------------

chosen() ->
    kinds() ++ [valid(Case) || Case <- cases:flags()] ++ cases:messages() ++
        [valid(Case) || #{flags := [call, return_to | _]} = Case <- cases:heirs()] ++
        [valid(Case) || #{new := _} = Case <- cases:heirs()] ++ specs().

%% One case for each kind of event.
kinds() ->
    [Case || Case <- cases:twice(), not is_map_key(token, Case), not is_map_key(all, Case)].

%% Patterns of functions need the flag call.
valid(#{patterns := Patterns} = Case) ->
    Flags = maps:get(flags, Case, []) ++ maps:get(new, Case, []),
    Case#{patterns => [Pattern || Pattern <- Patterns, lists:member(call, Flags)]}.

specs() ->
    [Case || #{name := Name, patterns := Patterns} = Case <- specs:cases(),
             lists:any(fun(Prefix) -> lists:prefix(Prefix, Name) end, ["body: ", "action: ", "flags: ", "patterns: "]),
             not lists:member(Name, unknown()), lists:all(fun is_asked/1, Patterns), not is_map_key(apart, Case)].

%% The command does not ask for events of processes that a match specification names; and if patterns of both kinds are
%% cleared, the command does not know which calls are external.
unknown() ->
    ["flags: enable_trace of another process", "flags: trace, 3", "patterns: a global pattern is cleared as local",
     "patterns: a local pattern is cleared as global"].

%% A node cannot be asked for others; counts are no events.
is_asked({What, _, Kinds}) -> What =/= on_load andalso (Kinds =:= [local] orelse Kinds =:= [global]).

%% --- More ----------------------------------------------------------------------------------------------

own() ->
    tracees() ++ events() ++ several() ++
    [#{name => "a sequential trace token is not set in the node", flags => [call],
       patterns => on(id, [{'_', [], [{set_seq_token, label, 17}]}]), unlike => fun without_token/1,
       run => fun() -> [workload:id({token, seq_trace:get_token()}) || _ <- [1, 2]], ok end}].

without_token({Callback, Tag, [Tracee, {workload, id, [{token, _}]}, Opts]}) ->
    {Callback, Tag, [Tracee, {workload, id, [{token, []}]}, Opts]};
without_token(Line) -> Line.

tracees() ->
    [#{name => "a named process", registered => oracle_subject, whom => [oracle_subject], flags => [call, procs],
       patterns => all({exception_trace}), run => fun workload:exceptions/0},
     #{name => "new processes alone", whom => [new], new => [procs, send, 'receive'], run => fun workload:family/0},
     #{name => "a port", flags => [procs], new_ports => [ports], run => fun workload:port/0}].

events() ->
    [#{name => "running", flags => [running, exiting, procs, send], run => fun workload:messages/0},
     #{name => "running, schedulers", flags => [running, set_on_spawn, scheduler_id], run => fun workload:messages/0},
     #{name => "garbage collection", flags => [garbage_collection, timestamp], run => fun burden:tidy/0}].

several() ->
    Two = [#{flags => [call, return_to, send], patterns => all({exception_trace})},
           #{flags => [call, 'receive', procs, timestamp],
             patterns => on(id, [{['$1'], [{is_integer, '$1'}], [{message, '$1'}]}]) ++ on(sum, true)}],
    Run = fun() -> workload:calls(), workload:exceptions(), workload:messages() end,
    [#{name => "several patterns", flags => [call, send, 'receive'], run => Run,
       patterns => on(sum, [{'_', [], [{return_trace}]}]) ++ on(id, [{['$1'], [{is_atom, '$1'}], []}]) ++
           on(boom, [{[error], [], [{exception_trace}, {message, {caller}}]}]) ++
           [{send, [{['_', '$1'], [{is_tuple, '$1'}], [{message, {element, 1, '$1'}}]}], []},
            {'receive', [{['_', '$1', '_'], [], [{message, '$1'}]}], []}]},
     #{name => "two isolated tracers", tracers => 2, options => ["--isolate"], flags => [call, return_to, procs],
       patterns => all({exception_trace}), run => Run},
     #{name => "two sessions with other flags and patterns", sessions => Two, lines => trace, run => Run},
     #{name => "two isolated sessions", sessions => Two, lines => trace, options => ["--isolate"], run => Run}].

all(Action) -> [{{workload, '_', '_'}, [{'_', [], [Action]}], [local]}].

on(Function, Spec) -> [{{workload, Function, 1}, Spec, [local]}].
