%% Match specifications over recorded calls. The BEAM runs subject:run/0 twice: in one run all calls are recorded,
%% with returns and callers; in the other the specifications of a case are set, and the tracer logs. The host replays
%% the recording with the same specifications. A case is a case of cases.erl, made from
%%   name       name of the case, for the report
%%   set        [{{Module, Function, Arity}, true | false | MatchSpec, Kinds}], in this order
%%   flags      default: [call]
%%   callers    false: the recording has no callers
%%   apart      [Set]: sets, each for a session of its own, also in the BEAM
%%   sessions   kinds: patterns of each of these kinds are for a session of their own in the host
%% and from further keys of cases.erl.
-module(specs).
-export([cases/0, differences/0, displayed/0, used/1]).

cases() ->
    [made(Case) || Case <- guards() ++ failing() ++ bodies() ++ actions() ++ flags() ++ patterns() ++ later(fun apart/0)].

displayed() ->
    made(#{name => "display",
           set => on(id, 1, [{['$1'], [{is_list, '$1'}], [{display, '$1'}]},
                             {['$1'], [{is_tuple, '$1'}], [{display, {{'$1', '$_'}}}]},
                             {['$1'], [{is_binary, '$1'}], [{display, '$1'}, {display, {hd, '$1'}}]},
                             {[a], [], [{message, {display, <<"bytes">>}}]}])}).

%% --- From a case to its runs -------------------------------------------------------------------------

made(Case) ->
    #{set := Set, flags := Flags} = All = maps:merge(#{flags => [call]}, quiet(Case)),
    maps:merge(#{how => twice, run => fun subject:run/0, whom => [tracee],
                 recorded => recorded({exception_trace}, {caller}),
                 patterns => [in_beam(One) || One <- Set],
                 replay => sessions(All, ["--flags=" ++ lists:join(",", [atom_to_list(F) || F <- Flags])]) ++
                     recorded_callers(Case)}, All).

%% One session, or one for each kind of pattern or each set. At each call, OTP 27 visits the session that was created
%% last first; the host visits it last.
sessions(#{apart := Sets}, Flags) ->
    lists:append([["--session", io_lib:format("~b", [N]), tracer | Flags] ++ lists:append([option(One) || One <- Set])
                  || {N, Set} <- lists:enumerate(lists:reverse(Sets))]);
sessions(#{sessions := Kinds, set := Set}, Flags) ->
    lists:append([["--session", atom_to_list(Kind), tracer | Flags] ++
                      lists:append([option(One) || {_, _, Of} = One <- Set, Of =:= [Kind]])
                  || Kind <- Kinds]);
sessions(#{set := Set}, Flags) -> lists:append([option(One) || One <- Set]) ++ Flags.

%% For functions that are never called, the program warns. Cases for other libraries state their warnings.
quiet(#{library := _} = Case) -> Case;
quiet(Case) -> maps:merge(#{says => [uncalled(F, A) || {{_, nobody = F, A}, _, _} <- maps:get(set, Case, [])]}, Case).

uncalled(F, A) -> io_lib:format("tracehost replay: warning: -p subject:~s/~b: no such function was called~n", [F, A]).

%% The specification with which all calls are recorded.
recorded(Returns, Caller) ->
    Spec = [{'_', [], [Returns, {message, Caller}]}],
    #{flags => [call, return_to, send, 'receive', procs, set_on_spawn],
      patterns => [{{subject, '_', '_'}, Spec, [local]}, {on_load, Spec, [local]}]}.

recorded_callers(#{callers := false}) -> [];
recorded_callers(_) -> ["--recorded-callers"].

%% In a BEAM, a module that is loaded later has a pattern of its own.
in_beam({{late, '_', '_'}, Spec, Kinds}) -> {on_load, Spec, Kinds};
in_beam(One) -> One.

option({{M, F, A}, Spec, Kinds}) ->
    ["-p", io_lib:format("~s:~s/~s", [part(M), part(F), part(A)]),
     "--kind=" ++ lists:join(",", [case Kind of call_count -> "count"; _ -> atom_to_list(Kind) end || Kind <- Kinds]),
     "--match-spec", io_lib:format("~0p", [Spec])].

part('_') -> "_";
part(Part) -> io_lib:format("~p", [Part]).

on(Function, Arity, Spec) -> on(Function, Arity, Spec, [local]).
on(Function, Arity, Spec, Kinds) -> [{{subject, Function, Arity}, Spec, Kinds}].

all(Spec) -> on('_', '_', Spec).

does(Function, Arity, Body) -> on(Function, Arity, [{'_', [], Body}]).

%% Sends the value of MESSAGE for calls that match HEAD.
shows(Function, Head, Message) -> on(Function, length(Head), [{Head, [], [{message, Message}]}]).

%% Sends each of GUARDS that is true for a call of id/1.
one(Guards) when is_list(Guards) ->
    on(id, 1, [{['$1'], [Guard], [{message, {const, Guard}}]} || Guard <- Guards]);
one(Guard) -> one([Guard]).

%% The same for two/2.
both(Guard) -> on(two, 2, [{['$1', '$2'], [Guard], []}]).

%% Sends the value of BODY for each call.
gives(Function, Arity, Body) -> on(Function, Arity, [{'_', [], [{message, Body}]}]).

%% --- Guards ------------------------------------------------------------------------------------------

guards() ->
    [#{name => "guard: " ++ Name, set => Set}
     || {Name, Set} <- types() ++ comparisons() ++ sizes() ++ truths() ++ later(fun newer/0)].

%% Functions that OTP 25 lacks.
newer() ->
    [{"is_boolean, is_bitstring", one([{is_boolean, '$1'}, {is_bitstring, '$1'}])},
     {"is_function, 2", one([{is_function, '$1', 2}, {is_function, '$1', 0}])},
     {"max, min", both({'>', {max, '$1', '$2'}, {min, '$1', '$2'}})},
     {"floor, ceil", one({'/=', {floor, '$1'}, {ceil, '$1'}})}, {"tuple_size", one({'==', {tuple_size, '$1'}, 2})}].

later(Cases) ->
    case comparison:is_later() of
        true -> Cases();
        false -> []
    end.

types() ->
    [{atom_to_list(Test), one({Test, '$1'})}
     || Test <- [is_atom, is_float, is_integer, is_list, is_number, is_pid, is_port, is_reference, is_tuple,
                 is_map, is_binary, is_function]] ++
    [{"is_record", one({is_record, '$1', rec, 3})}, {"is_map_key", both({is_map_key, '$1', '$2'})},
     {"types, in several clauses",
      one([{is_atom, '$1'}, {is_tuple, '$1'}, {is_float, '$1'}, {is_map, '$1'}])}].

comparisons() ->
    [{atom_to_list(Op), both({Op, '$1', '$2'})} || Op <- ['>', '>=', '<', '=<', '=:=', '==', '=/=', '/=']] ++
    [{"comparison of all terms", one({'>', '$1', {const, {a}}})}].

sizes() ->
    [{"element", both({'==', {element, '$1', '$2'}, a})},
     {"hd, tl", one({'=:=', {hd, '$1'}, {hd, {tl, [0, 1]}}})},
     {"tl", one({'=:=', {tl, '$1'}, []})}, {"length", one({'>', {length, '$1'}, 1})},
     {"size", one({'==', {size, '$1'}, 2})}, {"map_size", one({'>', {map_size, '$1'}, 0})},
     {"map_get", both({'==', {map_get, '$1', '$2'}, 1})}, {"bit_size", one({'>', {bit_size, '$1'}, 2})},
     {"byte_size", one({'==', {byte_size, '$1'}, 1})},
     {"binary_part, 2", both({'==', {binary_part, '$1', '$2'}, <<"bcd">>})},
     {"binary_part, 3", one({'==', {binary_part, '$1', 1, 2}, <<2, 3>>})},
     {"node", one({'==', {node, '$1'}, {node}})}, {"self", one({'==', '$1', {self}})}].

truths() ->
    Small = {'<', '$1', 2},
    [{"not", one({'not', '$1'})}, {"and", one({'and', {is_integer, '$1'}, Small, {'>', '$1', -7}})},
     {"or", one({'or', '$1', {'==', '$1', false}})}, {"xor", both({'xor', '$1', '$2'})},
     {"andalso", one({'andalso', {is_integer, '$1'}, Small, '$1'})},
     {"andthen", one({'andthen', {is_integer, '$1'}, Small})},
     {"orelse", one({'orelse', {is_atom, '$1'}, {'>', {size, '$1'}, 2}})},
     {"const", one({'==', '$1', {const, {a, b}}})},
     {"several guards", on(id, 1, [{['$1'], [{is_integer, '$1'}, Small], []}])},
     {"a variable", one('$1')}, {"get_tcw", one({'==', {get_tcw}, 0})}].

%% --- Heads, guards and bodies that fail --------------------------------------------------------------

failing() ->
    [#{name => "failing match specification: " ++ Name, set => Set}
     || {Name, Set} <-
            [{"a head of another length", on(two, 2, [{['$1'], [], []}, {['$1', '$2', '$3'], [], []}])},
             {"a head of other terms", on(id, 1, [{[{a, '$1', '$1'}], [], []}, {[<<"other">>], [], []}])},
             {"a variable that occurs twice", on(two, 2, [{['$1', '$1'], [], [{message, '$1'}]}])},
             {"a head that is no list", on(id, 1, [{'$1', [{is_atom, '$1'}], []}])},
             {"a map in the head", on(id, 1, [{[#{a => '$1'}], [], [{message, '$1'}]}])},
             {"a guard that raises", one({'>', {hd, '$1'}, 1})},
             {"a guard that raises in an operand", one({'or', {'>', {map_size, '$1'}, 0}, true})},
             {"a guard that is no boolean", one({'+', 1, 1})},
             {"a guard of a later clause", on(id, 1, [{['$1'], [{'==', {abs, '$1'}, 7}], [{message, first}]},
                                                      {['$1'], [{'==', {element, 1, '$1'}, a}], []},
                                                      {['_'], [{'rem', 1, 0}], []}])},
             {"all clauses fail", on(id, 1, [{[nobody], [], []}, {['_'], [false], []}])},
             {"a body that raises", gives(id, 1, {hd, '$_'})},
             {"a body that raises for some arguments", on(id, 1, [{['$1'], [], [{message, {{{'+', '$1', 1}, {length, '$1'}}}}]}])},
             {"a body that raises and continues", on(id, 1, [{['$1'], [], [{tl, '$1'}, {message, after_it}]}])},
             {"invalid flags",
              shows(id, [a], {{{enable_trace, nix}, {trace, [nix], []}, {trace, nobody, [], []}}})},
             {"a trace control word that is out of range",
              gives(down, 1, {{{set_tcw, 1 bsl 32}, {set_tcw, a}, {set_tcw_fake, -1}}})}]].

%% --- Bodies ------------------------------------------------------------------------------------------

bodies() ->
    [#{name => "body: " ++ Name, set => Set} || {Name, Set} <- arithmetic() ++ values()].

arithmetic() ->
    [{atom_to_list(Op), shows(two, ['$1', '$2'], {{{Op, '$1', '$2'}}})}
     || Op <- ['+', '-', '*', '/', 'div', 'rem', 'band', 'bor', 'bxor']] ++
    [{atom_to_list(Op),
      on(two, 2, [{['$1', '$2'], [{'<', {abs, '$2'}, 100}], [{message, {{{Op, '$1', '$2'}}}}]}])}
     || Op <- ['bsl', 'bsr']] ++
    [{"unary operators", shows(id, ['$1'], [{Op, '$1'} || Op <- ['+', '-', 'bnot', abs, round, trunc, float]])}].

values() ->
    [{"$_", gives(two, 2, '$_')}, {"$$", on(two, 2, [{['$2', '$1'], [], [{message, '$$'}]}])},
     {"a map", on(two, 2, [{['$1', '$2'], [], [{message, #{{{'$1'}} => ['$2', {size, '$1'}], k => '$1'}}]}])},
     {"tuples and lists", on(id, 1, [{['$1'], [], [{message, {{['$1', {const, '$1'} | '$1'], {{}}}}}]}])},
     {"guard functions", on(id, 1, [{['$1'], [], [{message, {{{is_atom, '$1'}, {size, '$1'}, {'>', '$1', 0},
                                                      {'andalso', true, '$1'}, {'orelse', '$1', x}}}}]}])},
     {"self, node", gives(first, 1, {{{self}, {node}, {node, {self}}}})}].

%% --- Actions -----------------------------------------------------------------------------------------

actions() ->
    [#{name => "action: " ++ Name, set => Set} || {Name, Set} <- messages() ++ returns() ++ words()] ++
    [#{name => "action: " ++ Name ++ ", recorded with caller_line", set => all([{'_', [], [{message, Asked}]}]),
       recorded => recorded({exception_trace}, {caller_line})}
     || {Name, Asked} <- [{"caller", {caller}}, {"caller_line", {caller_line}}]].

messages() ->
    [{"message false", on(id, 1, [{['$1'], [], [{message, {is_atom, '$1'}}]}])},
     {"message, the last of several", does(id, 1, [{message, false}, {message, one}, {message, two}, 3])},
     {"message true and others", on(id, 1, [{[a], [], [{message, true}]}, {[b], [], [{message, []}]},
                                            {'_', [], [{message, {{true}}}]}])},
     {"message, return values of actions",
      gives(first, 1, {{{message, x}, {return_trace}, {exception_trace}, {message, {message, y}}}})},
     {"caller", all([{'_', [], [{message, {caller}}]}])},
     {"caller in a term", all([{'_', [], [{message, {{{element, 2, {caller}}, '$_'}}}]}])}].

returns() ->
    Returns = [{'_', [], [{return_trace}]}],
    Exceptions = [{'_', [], [{exception_trace}]}],
    [{"return_trace", all(Returns)}, {"exception_trace", all(Exceptions)},
     {"return_trace of tail calls", on(first, 1, Returns) ++ on(third, 1, Returns) ++ on(down, 1, Returns)},
     {"return_trace of some calls", on(down, 1, [{['$1'], [{'>', '$1', 1}], [{return_trace}]}])},
     {"return_trace and message false", on(down, 1, [{'_', [], [{return_trace}, {message, false}]}])},
     {"return_trace through exceptions", on(caught, 1, Returns) ++ on(boom, 1, Returns)},
     {"exception_trace of exceptions that pass", on(outer, 1, Exceptions) ++ on(inner, 1, Exceptions)},
     {"exception_trace of some calls",
      on(boom, 1, [{['$1'], [{'/=', '$1', throw}], [{exception_trace}, {message, {caller}}]}])},
     {"return_trace and exception_trace", on(outer, 1, Exceptions) ++ on(boom, 1, Returns) ++ gives(caught, 1, {self})}].

words() ->
    [{"set_tcw, get_tcw",
      shows(down, ['$1'], {{{set_tcw, {'+', '$1', 100}}, {get_tcw}}}) ++
          on(caught, 1, [{['_'], [{'==', {get_tcw}, 100}], [{message, {get_tcw}}]}])},
     {"set_tcw_fake", gives(down, 1, {{{set_tcw_fake, 17}, {get_tcw}}})}].

%% Each event has the flags that the specifications of earlier calls have left.
flags() ->
    Switch = fun(On, Off) ->
        does(first, 1, On) ++ on(caught, 1, [{[throw], [], Off}, {'_', [], []}]) ++ all_of(id)
    end,
    Talk = fun(On, Off) ->
        on(started, 1, [{['$1'], [], On}]) ++ on(named, 1, [{['$1'], [], Off}]) ++ all_of(answer)
    end,
    [(more(Name))#{name => "flags: " ++ Name, flags => [call | Flags], set => Set}
     || {Name, Flags, Set} <- silence(Switch) ++ switched(Switch, Talk) ++ returned()].

%% See cases.erl: after an exception, if the call nearest to the catching function is not traced.
more(Name) when Name =:= "return_to"; Name =:= "two, return_to" -> #{later => [<<"return_to">>]};
more(_) -> #{}.

silence(Switch) ->
    [{"silent", [], Switch([{silent, true}], [{message, {silent, false}}])},
     {"silent from the start", [silent], Switch([{silent, false}], [{silent, true}])},
     {"silent with a value that is no boolean", [], Switch([{silent, maybe_not}], [{silent, {self}}])},
     {"silent, returns", [], does(first, 1, [{return_trace}]) ++
          does(second, 1, [{silent, true}, {return_trace}]) ++ does(third, 1, [{return_trace}]) ++
          does(caught, 1, [{silent, false}])},
     {"silent, return_to", [return_to], all_of(first) ++ does(third, 1, [{silent, true}]) ++
          on(caught, 1, [{[none], [], [{silent, false}]}, {'_', [], []}]) ++
          on(outer, 1, [{[error], [], [{silent, true}]}, {'_', [], [{silent, false}]}])},
     {"silent before a return_to", [return_to], all_of(outer) ++ does(boom, 1, [{silent, true}]) ++
          does(caught, 1, [{silent, false}])}].

switched(Switch, Talk) ->
    Values = [{enable_trace, send}, {enable_trace, send}, {disable_trace, send}, {disable_trace, send},
              {trace, [], [send]}, {trace, [send], [send]}, {trace, [send], []}, {trace, [], []}],
    [{"enable_trace", [], Switch([{enable_trace, arity}], [{disable_trace, arity}])},
     {"disable_trace call", [], Switch([], [{disable_trace, call}])},
     {"enable_trace send", [],
      Talk([{enable_trace, send}, {enable_trace, 'receive'}], [{disable_trace, send}])},
     {"return values of actions on flags", [], gives(first, 1, Values)},
     {"enable_trace of another process", [],
      Talk([{enable_trace, '$1', call}, {enable_trace, '$1', send}], [{disable_trace, '$1', call}])},
     {"trace, 2", [], Switch([{trace, [], [arity, return_to]}], [{trace, [arity], []}])},
     {"trace, 2, all off", [], Switch([], [{trace, [all], []}])},
     {"trace, 3", [], Talk([{trace, '$1', [], [call, send, 'receive']}],
                           [{trace, '$1', [send, 'receive'], [arity]}])}].

returned() ->
    [{"return_to", [return_to],
      all_of(first) ++ on(boom, 1, [{[error], [], []}, {[none], [], [{return_trace}]}])},
     {"return_to, exceptions", [return_to], all_of(outer) ++ all_of(caught)},
     {"return_to, no message", [return_to],
      all([{'_', [], [{exception_trace}, {message, false}]}]) ++ does(first, 1, [{message, false}]) ++
          on(id, 1, [{['$1'], [], [{message, {is_tuple, '$1'}}]}]) ++ all_of(caught)},
     {"return_to, no message of an inner call", [return_to],
      all_of(outer) ++ does(inner, 1, [{message, false}]) ++ on(down, 1, [{['$1'], [], [{message, {'>', '$1', 2}}]}])},
     {"return_to of all calls", [return_to], all([{'_', [], [{exception_trace}]}])},
     {"arity", [arity], all([{'_', [], [{return_trace}, {message, {caller}}]}])}].

all_of(Function) -> on(Function, 1, []).

%% --- Patterns ----------------------------------------------------------------------------------------

patterns() ->
    [#{name => "patterns: " ++ Name, set => Set} || {Name, Set} <- replaced() ++ cleared()] ++
    [#{name => "patterns: " ++ Name, set => Set, external => subject:external()}
     || {Name, Set} <- globals()] ++
    [Case#{name => "patterns: " ++ Name, library => "logging_generic"} || {Name, Case} <- meta()].

%% Trace sessions side by side: at the same functions, and at functions that the tracee alone calls.
apart() ->
    Many = fun(Spec) -> lists:append([on(Function, 1, Spec) || Function <- [id, down, caught, outer, boom, first, far]]) end,
    Shown = fun(Message) -> [{'_', [], [{message, Message}]}] end,
    Ended = fun(Message) -> [{'_', [], [{exception_trace}, {message, Message}]}] end,
    [(more(Name))#{name => "sessions: " ++ Name, set => [], flags => [call | Flags], apart => Sets}
     || {Name, Flags, Sets} <-
            [{"two at the same functions", [], [Many(Shown(one)), Many(Ended(two))]},
             {"two at different functions", [], [on(down, 1, Shown(one)), on(first, 1, Shown(two)) ++ on(boom, 1, Shown(two))]},
             {"two, one with returns", [], [on(third, 1, Shown(one)), on(third, 1, Ended(two))]},
             {"two, one hides calls", [], [on(down, 1, [{[1], [], [{message, false}]}, {'_', [], [{message, one}]}]),
                                           on(down, 1, Shown(two))]},
             {"two, one is silent", [], [on(first, 1, [{'_', [], [{silent, true}]}]) ++ on(down, 1, Shown(one)),
                                         on(first, 1, Shown(two)) ++ on(down, 1, Shown(two))]},
             {"two, return_to", [return_to], [on(inner, 1, Ended(one)), on(outer, 1, Ended(two))]},
             {"three at the same functions", [], [on(id, 1, Shown(N)) ++ on(two, 2, Shown(N)) || N <- [1, 2, 3]]}]].

true() -> [{'_', [], [{message, {caller}}]}].
later() -> [{'_', [], [{return_trace}, {message, later}]}].

replaced() ->
    [{"all functions", all(true())},
     {"a function of any arity", on(id, '_', true())},
     {"a function that is never called", on(nobody, 7, true()) ++ all_of(down)},
     {"a later pattern replaces an earlier one", all(true()) ++ on(id, 1, later()) ++ on(down, '_', later())},
     {"a later wildcard replaces an earlier pattern", on(id, 1, later()) ++ all(true())},
     {"true replaces a match specification", all(later()) ++ on(id, 1, true)},
     {"a module that is loaded later",
      [{{late, '_', '_'}, [{['$1', '$1'], [], [{return_trace}, {message, {caller}}]}, {['_'], [], []}],
        [local]}]}].

cleared() ->
    [{"a pattern is cleared", all(later()) ++ on(id, 1, false) ++ on(down, '_', false)},
     {"a pattern is set after all were cleared", all(later()) ++ all(false) ++ on(down, 1, true())}].

globals() ->
    All = on('_', '_', later(), [global]),
    [{"global wildcard", All},
     {"local replaces global", All ++ on(far, 1, true())},
     {"global replaces local", all(later()) ++ on(far, 1, true(), [global])},
     {"a global wildcard replaces a local wildcard", all(later()) ++ on('_', '_', true(), [global])},
     {"global replaces a count", on(far, 1, true, [call_count]) ++ All},
     {"a missing count is cleared", All ++ on(far, 1, false, [call_count])},
     {"a missing count is paused", All ++ on(far, 1, pause, [call_count])},
     {"a global pattern is cleared as local", All ++ on(far, 1, false)},
     {"a local pattern is cleared as global", all(later()) ++ on(far, 1, false, [global])}].

%% If a tracer has its own trace_call, a BEAM calls it with garbage for meta trace.
meta() ->
    Both = on(down, 1, true(), [local]) ++ on(down, 1, later(), [meta]),
    [{"meta", #{set => on(down, 1, later(), [meta])}},
     {"meta without the flag call",
      #{flags => [send], set => on(down, 1, [{['$1'], [{'<', '$1', 2}], [{exception_trace}]}], [meta])}},
     {"meta and local", #{set => Both}},
     {"meta and local in two sessions", #{set => Both, sessions => [local, meta]}},
     {"meta is cleared", #{set => Both ++ on(down, 1, false, [meta])}},
     {"meta stays if local is cleared", #{set => Both ++ on(down, 1, false, [local])}},
     {"meta and global replace each other",
      #{set => on('_', '_', later(), [global]) ++ on(far, 1, true(), [meta]) ++ on(serve, 1, true(), [meta]) ++
            on(serve, 1, later(), [global]), external => subject:external()}}].

%% --- Facts that a recording lacks --------------------------------------------------------------------

%% Cases in which the host must differ: `unlike' turns the BEAM's log into the host's, `says' is the host's
%% warning.
differences() ->
    [made(Case#{name => "differs: " ++ Name})
     || {Name, Case} <- unknown_callers() ++ unknown_values() ++ unrecorded() ++ later(fun stacks/0)].

%% In recorded calls, line numbers and the caller's caller are unknown.
stacks() ->
    Gives = fun(Asked) -> gives(third, 1, Asked) ++ gives(boom, 1, Asked) end,
    [{"the first frame of a stack trace", #{set => Gives({current_stacktrace, 1}), unlike => fun without_lines/1}},
     {"a stack trace", #{set => gives(third, 1, {current_stacktrace}), unlike => without(third, [[7]]),
                         says => [says("callers unknown", 1), says("undecided matches", 1)]}}].

without_lines({Callback, Tag, [Tracee, Term, #{match_spec_result := Stack} = Opts]}) ->
    {Callback, Tag, [Tracee, Term, Opts#{match_spec_result := [{M, F, A, []} || {M, F, A, _} <- Stack]}]};
without_lines(Line) -> Line.

unknown_callers() ->
    [{"callers that were not recorded",
      #{callers => false, recorded => recorded({exception_trace}, true), set => all(true()),
        unlike => fun undefined/1, says => says("callers unknown", 425)}},
     {"lines of callers",
      #{set => on(down, 1, [{'_', [], [{message, {caller_line}}]}]), unlike => fun without_line/1,
        says => says("lines of callers unknown", 5)}}].

without_line({Callback, Tag, [Tracee, Term, #{match_spec_result := {M, F, A, {_, _}}} = Opts]}) ->
    {Callback, Tag, [Tracee, Term, Opts#{match_spec_result := {M, F, A, undefined}}]};
without_line(Line) -> Line.

unknown_values() ->
    [{"a dump of the process",
      #{set => on(down, 1, [{[0], [], [{message, {process_dump}}]}, {'_', [], [{message, here}]}]),
        unlike => without(down, [[0]]), says => says("undecided matches", 1)}},
     {"get_seq_token",
      #{set => gives(first, 1, {get_seq_token}) ++ does(second, 1, [{get_seq_token}]),
        unlike => without(first, [[7]]), says => says("undecided matches", 1)}},
     {"is_seq_trace",
      #{set => on(down, 1, [{[0], [{is_seq_trace}], []}, {[1], [], []},
                            {[2], [], [{message, {'not', {is_seq_trace}}}]}]),
        unlike => without(down, [[2]]), says => says("undecided matches", 2)}},
     {"set_seq_token",
      #{set => on(down, 1, [{[0], [], [{set_seq_token, label, 17}]},
                            {[1], [], [{message, {{{set_seq_token, send, true}}}}]}]),
        unlike => without(down, [[1]]),
        says => [says("undecided matches", 1),
                 says("actions of match specifications skipped, as a value that they need is unknown", 2)]}}].

unrecorded() ->
    Arity = recorded({exception_trace}, {caller}),
    Calls = recorded(true, {caller}),
    [{"arguments that were not recorded",
      #{recorded => Arity#{flags => [arity | map_get(flags, Arity)]}, flags => [call, arity],
        set => on(down, 1, [{['$1'], [{'>', '$1', 1}], [{message, one}]}]) ++
            on(two, 2, [{['_'], [], []}, {'_', [], []}]),
        unlike => without(down, [1]), says => says("undecided matches", 5)}},
     {"calls that may be local",
      #{set => on(far, 1, true, [global]) ++ on(answer, 1, true, [global]), unlike => fun(_) -> none end,
        says => says("calls skipped by global patterns, as they may be local", 2)}},
     {"returns that were not recorded",
      #{recorded => Calls, set => on(first, 1, [{'_', [], [{return_trace}]}]),
        unlike => fun({_, <<"return_from">>, _}) -> none; (Line) -> Line end,
        says => [says("returns unknown, though calls have ended", 1),
                 "tracehost replay: returns that also ended other calls, whose own returns are missing: ",
                 "20\n"]}}].

says(What, Count) -> io_lib:format("tracehost replay: tracer 'logging': ~s: ~b~n", [What, Count]).

undefined({Callback, Tag, [Tracee, Term, #{match_spec_result := _} = Opts]}) ->
    {Callback, Tag, [Tracee, Term, Opts#{match_spec_result := undefined}]};
undefined(Line) -> Line.

%% Removes calls of FUNCTION with one of ARGUMENTS.
without(Function, Arguments) ->
    fun({_, <<"call">>, [_, {subject, F, Args}, _]} = Line) ->
        case F =:= Function andalso lists:member(Args, Arguments) of
            true -> none;
            false -> Line
        end;
       (Line) -> Line
    end.

%% --- Used functions ----------------------------------------------------------------------------------

%% Returns [{Name, NumberOfOperands}] for all functions in guards and bodies.
used(Cases) ->
    lists:usort([Use || #{set := Set} <- Cases, {_, Spec, _} <- Set, is_list(Spec), {_, Guards, Body} <- Spec,
                        Expression <- Guards ++ Body, Use <- uses(Expression)]).

uses({const, _}) -> [{const, 1}];
uses({Tuple}) when is_tuple(Tuple) -> uses(tuple_to_list(Tuple));
uses(Call) when is_tuple(Call) ->
    [Name | Operands] = tuple_to_list(Call),
    [{Name, length(Operands)} | uses(Operands)];
uses([Head | Tail]) -> uses(Head) ++ uses(Tail);
uses(Map) when is_map(Map) -> uses(maps:to_list(Map), map);
uses(_) -> [].

uses(Pairs, map) -> lists:append([uses(Key) ++ uses(Value) || {Key, Value} <- Pairs]).
