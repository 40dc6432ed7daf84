#!/usr/bin/env escript
%% Tests tracehost_agent in a node that ERL starts:  escript agent.escript ERL SOURCES CODE BEAM [CASE...]
%% SOURCES has the sources of the agent, CODE the compiled modules of the tests, and BEAM is the compiled agent. Prints "ok NAME" or "not ok NAME" and the
%% reason. The nodes are controlled through their standard input, so that the connections between them are those of a
%% user: one node is traced, one is the client.
-mode(compile).

main([Erl, Sources, Code, Beam | Names]) ->
    Context = nodes_of(Erl, Sources, Code, Beam),
    Cases = [Case || {Name, _} = Case <- cases(), Names =:= [] orelse lists:member(Name, Names)],
    warm_up(Context),
    lists:foldl(fun(Case, Now) -> tested(Case, Now) end, Context, Cases),
    io:format("all cases were run~n"),
    halt(0, [{flush, true}]).

cases() ->
    [{"events equal those of a plain tracer", fun(C) -> events(C, load) end},
        {"events of the evaluated agent equal those of a plain tracer", fun(C) -> events(C, evaluate) end},
        {"notes begin the stream", fun notes/1},
        {"a pattern without functions is told", fun(C) -> unmatched(C, load) end},
        {"the evaluated agent tells a pattern without functions", fun(C) -> unmatched(C, evaluate) end},
        {"counts come at the end", fun counts/1},
        {"each refusal has its reason and leaves nothing", fun refusals/1},
        {"an old release is refused", fun old_release/1},
        {"our own processes and connection are not traced", fun own/1},
        {"max_rate ends the tracing", fun max_rate/1},
        {"max_bytes ends the tracing", fun max_bytes/1},
        {"one event that exceeds max_bytes is not sent", fun one_big/1},
        {"sample goes on with some processes", fun sample/1},
        {"backlog ends the tracing, what waits is sent later, and clocks at once", fun(C) -> backlog(C, load) end},
        {"backlog ends the tracing of the evaluated agent", fun(C) -> backlog(C, evaluate) end},
        {"an agent that does not read is ended", fun unread/1},
        {"an agent that is late ends in order", fun late/1},
        {"a stop leaves nothing", fun(C) -> ends(C, load, fun stop_client/2) end},
        {"a stop of the evaluated agent leaves nothing", fun(C) -> ends(C, evaluate, fun stop_client/2) end},
        {"a client that is killed leaves nothing", fun(C) -> ends(C, load, fun kill_client/2) end},
        {"a killed client of the evaluated agent leaves nothing", fun(C) -> ends(C, evaluate, fun kill_client/2) end},
        {"a client that is stopped leaves nothing", fun(C) -> ends(C, load, fun suspend_client/2, 2500) end},
        {"a client process that ends leaves nothing", fun(C) -> ends(C, load, fun end_client/2) end},
        {"a killed agent leaves nothing", fun(C) -> ends(C, load, fun kill_agent/2) end},
        {"a killed sender leaves nothing", fun(C) -> ends(C, load, fun kill_sender/2) end},
        {"a killed controller leaves nothing", fun(C) -> ends(C, load, fun kill_controller/2) end},
        {"a killed controller of the evaluated agent leaves nothing",
            fun(C) -> ends(C, evaluate, fun kill_controller/2) end},
        {"a stop of a trace port leaves nothing", fun(C) -> ends(C#{via => {port, 10000}}, load, fun stop_client/2) end},
        {"a stop of a trace port without a module leaves nothing",
            fun(C) -> ends(C#{via => {port, 10000}}, evaluate, fun stop_client/2) end},
        {"a killed client of a trace port leaves nothing", fun(C) -> ends(C#{via => {port, 10000}}, load, fun kill_client/2) end},
        {"a stopped client of a trace port leaves nothing",
            fun(C) -> ends(C#{via => {port, 10000}}, load, fun suspend_client/2, 2500) end},
        {"a trace port that is closed leaves nothing", fun(C) -> ends(C#{via => {port, 10000}}, load, fun close_port/2) end},
        {"a killed controller of a trace port leaves nothing",
            fun(C) -> ends(C#{via => {port, 10000}}, load, fun kill_controller/2) end},
        {"a killed sender beside a trace port leaves nothing",
            fun(C) -> ends(C#{via => {port, 10000}}, load, fun kill_sender/2) end},
        {"patterns that others set meanwhile stay", fun patterns_of_others/1},
        {"a dbg session goes on as it was", fun dbg_session/1},
        {"a second start is refused as busy", fun busy/1},
        {"thirty traces leave processes, atoms and memory flat", fun repeated/1}].

%% --- Nodes ---

nodes_of(Erl, Sources, Code, BeamFile) ->
    {ok, Beam} = file:read_file(BeamFile),
    {ok, Source} = file:read_file(filename:join(Sources, "tracehost_agent.erl")),
    {ok, Evaluator} = file:read_file(filename:join(Sources, "evaluator.expr")),
    Context = #{erl => Erl, code => Code, beam => Beam, source => Source, evaluator => binary_to_list(Evaluator)},
    {Client, _} = start_node(Context#{erl => os:find_executable("erl")}, tracehost1),
    with_traced(Context#{client => Client}).

with_traced(Context) ->
    {Traced, Node} = start_node(Context, shop),
    Worker = peer:call(Traced, watched, worker, []),
    Context#{traced => Traced, node => Node, worker => Worker,
        release => list_to_integer(peer:call(Traced, erlang, system_info, [otp_release]))}.

start_node(#{erl := Erl, code := Code}, Name) ->
    {ok, Peer, Node} = peer:start(#{name => Name, host => "127.0.0.1", longnames => true, exec => Erl,
        connection => standard_io, args => ["-hidden", "-setcookie", "chocolate", "-pa", Code]}),
    {Peer, Node}.

%% The first trace starts what a node starts once; the first refusal loads what makes texts.
warm_up(#{traced := Traced} = Context) ->
    [peer:call(Traced, code, ensure_loaded, [Module]) || Module <- [io_lib, io_lib_format, io_lib_pretty, epp, dbg, timer, erl_ddll]],
    [begin
        {ok, Client} = start(Context, How, wish([], [])),
        stopped(Context, Client),
        peer:call(Traced, watched, state, [])
    end || How <- [load, evaluate]].

tested({Name, Case}, Context) ->
    Before = settled(Context),
    Begin = erlang:monotonic_time(millisecond),
    Result = try Case(Context) catch Class:Reason:Stack -> {Class, Reason, Stack} end,
    After = until_equal(Context, Before),
    Time = erlang:monotonic_time(millisecond) - Begin,
    case {Result, After} of
        {ok, equal} -> io:format("ok OTP ~w: ~s # ~w ms~n", [maps:get(release, Context), Name, Time]);
        _ -> io:format("not ok OTP ~w: ~s~n~s~n~P~n", [maps:get(release, Context), Name, ends_of(io_lib:format("~0p", [Result])), After, 200])
    end,
    case After of
        equal ->
            Context;
        _ ->
            peer:stop(maps:get(traced, Context)),
            Again = with_traced(Context),
            warm_up(Again),
            Again
    end.

%% Returns the state when nothing of ours is at work any more.
settled(#{traced := Traced} = Context) ->
    case peer:call(Traced, watched, state, []) of
        #{nodes := [], traced := [], modules := Modules} = State ->
            lists:member(tracehost_agent, Modules) andalso error(module_left),
            State;
        _ ->
            timer:sleep(20),
            settled(Context)
    end.

until_equal(Context, Before) ->
    until_equal(Context, Before, erlang:monotonic_time(millisecond) + 20000). % as until_so of the scripts

until_equal(#{traced := Traced} = Context, Before, End) ->
    case peer:call(Traced, watched, state, [], 60000) of
        Before ->
            equal;
        State ->
            case erlang:monotonic_time(millisecond) > End of
                true ->
                    {not_equal, [{Key, differences(maps:get(Key, Before), maps:get(Key, State))} ||
                        Key <- maps:keys(State), maps:get(Key, Before) =/= maps:get(Key, State)]};
                false ->
                    timer:sleep(20),
                    until_equal(Context, Before, End)
            end
    end.

differences(Before, Now) when is_list(Before) -> {lost, Before -- Now, new, Now -- Before};
differences(Before, Now) -> {Before, Now}.

until(Condition) ->
    until(Condition, erlang:monotonic_time(millisecond) + 20000). % as until_so of the scripts

until(Condition, End) ->
    case Condition() of
        true -> ok;
        Other ->
            erlang:monotonic_time(millisecond) < End orelse error({in_vain, Other}),
            timer:sleep(20),
            until(Condition, End)
    end.

%% --- Traces ---

wish(Tracees, Patterns) ->
    #{tracees => Tracees, patterns => Patterns, messages => [], load => false, max_rate => 10000, max_bytes => 10000000,
        sample => 0, window => 524288, backlog => 16777216, dead_ms => 5000, names => false}.

how(load, #{beam := Beam}) -> {load, Beam};
how(evaluate, #{evaluator := Evaluator, source := Source}) -> {evaluate, Evaluator, Source}.

%% Starts a trace. Returns {ok, Started} or the error.
start(Context, How, Wish) ->
    start(Context, How, Wish, #{}).

start(#{client := Node, node := Traced} = Context, How, Wish, Options) ->
    case peer:call(Node, client, start, [Traced, how(How, Context), Wish, Options], 60000) of
        {ok, Client, {Controller, Sender, Report}} ->
            peer:call(Node, client, go, [Client]),
            {ok, #{client => Client, controller => Controller, sender => Sender, report => Report, node => Node}};
        Error ->
            Error
    end.

ask(#{client := Client, node := Node}, Function) -> peer:call(Node, client, Function, [Client], 60000).
ask(#{client := Client, node := Node}, Function, Argument) ->
    peer:call(Node, client, Function, [Client, Argument], 60000).

%% Stops a trace. Returns {Records, {Reason, Stats}}.
stopped(_, Started) ->
    ask(Started, stop),
    ask(Started, await_ended),
    ask(Started, gone).

in_node(#{traced := Traced}, Module, Function, Arguments) ->
    peer:call(Traced, Module, Function, Arguments, 60000).

text(Context, Pid) -> in_node(Context, erlang, pid_to_list, [Pid]).
work(#{worker := Worker} = Context, What) -> work(Context, Worker, What).
work(Context, Worker, What) -> ok = in_node(Context, watched, work, [Worker, What]).

events(Records) -> [Record || Record <- Records, is_tuple(Record), element(1, Record) =/= tracehost, element(1, Record) =/= drop].
dropped(Records) -> lists:sum([Count || {drop, Count} <- Records]).

calls(Pids) -> [{{pid, Pid}, [call]} || Pid <- Pids].
pattern() -> {watched, called, 1, true, [local]}.

%% --- Events ---

events(Context, How) ->
    Flags = [call, send, 'receive', procs, running, garbage_collection],
    Patterns = [{watched, called, 1, [{'_', [], [{exception_trace}]}], [local]}, {watched, fails, 1, true, [global]}],
    Tour = fun(Worker) ->
        work(Context, Worker, tour),
        work(Context, Worker, {big, 100000})
    end,
    Plain = in_node(Context, watched, worker, []),
    Tracer = in_node(Context, watched, plain, [Plain, Flags, Patterns]),
    Tour(Plain),
    Expected = in_node(Context, watched, collect, [Tracer]),
    [in_node(Context, erlang, trace_pattern, [{M, F, A}, false, Kinds]) || {M, F, A, _, Kinds} <- Patterns],
    Worker = in_node(Context, watched, worker, []),
    {ok, Started} = start(Context, How, wish([{{pid, text(Context, Worker)}, Flags}], Patterns)),
    #{report := #{patterns := [{1, 1}, {2, 1}], tracees := [{1, 1}]}} = Started,
    Loaded = How =:= load,
    Loaded = in_node(Context, erlang, module_loaded, [tracehost_agent]),
    Tour(Worker),
    {Records, {stopped, #{dropped := 0, events := Count}}} = stopped(Context, Started),
    Count = length(events(Records)),
    in_node(Context, watched, finish, [[Plain, Worker]]),
    equal(normal(Expected, Plain), normal(events(Records), Worker)).

%% Returns the records without what differs from run to run: identities, sizes, and how often a process waits.
normal(Records, Worker) ->
    [same(Record, Worker) || Record <- Records, not lists:member(element(3, Record), [in, out])] ++
        [runs || _ <- [1], [Record || Record <- Records, element(3, Record) =:= in] =/= []].

same({trace, Pid, Tag, Info}, Worker) when Tag =:= gc_major_start; Tag =:= gc_major_end; Tag =:= gc_minor_start;
        Tag =:= gc_minor_end ->
    {trace, same(Pid, Worker), Tag, [Key || {Key, _} <- Info]};
same(Tuple, Worker) when is_tuple(Tuple) -> list_to_tuple(same(tuple_to_list(Tuple), Worker));
same([Head | Tail], Worker) -> [same(Head, Worker) | same(Tail, Worker)];
same(Worker, Worker) -> worker;
same(Pid, _) when is_pid(Pid) -> pid;
same(Reference, _) when is_reference(Reference) -> reference;
same(Fun, _) when is_function(Fun) -> erlang:fun_info(Fun, module);
same(Term, _) -> Term.

equal(Same, Same) -> ok;
equal(Expected, Got) when is_list(Expected) -> {expected, Expected -- Got, got, Got -- Expected};
equal(Expected, Got) -> {expected, Expected, got, Got}.

notes(#{traced := Traced, node := Node, release := Release} = Context) ->
    {ok, Started} = start(Context, load, (wish([], []))#{names := true}),
    {Records, {stopped, #{events := 0}}} = stopped(Context, Started),
    Text = integer_to_binary(Release),
    OsPid = list_to_binary(peer:call(Traced, os, getpid, [])),
    [{tracehost, node, {Pid, Text, OsPid}}, {tracehost, clock, {Monotonic, System}}, {tracehost, names, Names},
        {tracehost, initial_calls, Calls}] = Records,
    Node = node(Pid),
    Offset = peer:call(Traced, erlang, time_offset, [nanosecond]),
    true = abs(System - Monotonic - Offset) < 1000000000,
    NetKernel = peer:call(Traced, erlang, whereis, [net_kernel]),
    {NetKernel, net_kernel} = lists:keyfind(NetKernel, 1, Names),
    {NetKernel, {net_kernel, init, 1}} = lists:keyfind(NetKernel, 1, Calls),
    false = lists:keyfind(tracehost_agent, 2, Names),
    ok.

%% A pattern is one of several kinds together. One for a module is met by its functions.
unmatched(#{worker := Worker} = Context, How) ->
    Patterns = [{watched, called, 2, true, [local, call_count]}, {watched, '_', '_', true, [local]},
        {watched, call, '_', true, []}, {watched, burn, 1, true, [global]}, {watched, burn, 1, true, [global, local]},
        {'_', no_such_function, 3, true, [local]}],
    {ok, #{report := #{patterns := Counts}} = Started} = start(Context, How, wish(calls([text(Context, Worker)]), Patterns)),
    {Records, {stopped, _}} = stopped(Context, Started),
    [{1, 0}, {2, Many}, {3, 0}, {4, 0}, {5, 1}, {6, 0}] = Counts,
    true = Many > 20,
    Notes = [Value || {tracehost, unmatched, Value} <- Records],
    [true, true, true] = [lists:member({called, 1}, Functions) || {{watched, _, _}, _, Functions} <- Notes],
    equal([{{watched, called, 2}, [local, call_count], true}, {{watched, call, '_'}, [], true},
        {{watched, burn, 1}, [global], true}, {{'_', no_such_function, 3}, [local], false}],
        [{MFA, Kinds, Functions =/= []} || {MFA, Kinds, Functions} <- Notes]).

counts(#{worker := Worker} = Context) ->
    Patterns = [{watched, called, 1, true, [call_count]}, {watched, '_', '_', true, [call_time]},
        {watched, called, 1, true, [local]}],
    {ok, Started} = start(Context, load, wish(calls([text(Context, Worker)]), Patterns)),
    work(Context, {calls, 25}),
    {Records, {stopped, #{events := Events}}} = stopped(Context, Started),
    [Counts] = [Value || {tracehost, counts, Value} <- Records],
    [25] = [Value || {{watched, called, 1}, call_count, Value} <- Counts],
    [[{Worker, 25, _, _}]] = [Value || {{watched, called, 1}, call_time, Value} <- Counts],
    25 = Events,
    ok.

%% Traces all processes and ports with all flags. None of the events is about a process of ours or our connection.
own(Context) ->
    Flags = [send, 'receive', procs, ports, running_procs, running_ports, garbage_collection],
    {ok, Started} = start(Context, load, (wish([{processes, Flags}, {ports, [ports, running_ports, send, 'receive']}], []))
        #{max_rate := 1000000}),
    #{controller := Controller, sender := Sender} = Started,
    Connection = in_node(Context, erlang, system_info, [dist_ctrl]),
    Own = [Controller, Sender | [Port || {_, Port} <- Connection]] ++
        element(2, in_node(Context, erlang, process_info, [Controller, links])),
    [work(Context, tour) || _ <- lists:seq(1, 20)],
    {Records, {stopped, #{dropped := 0}}} = stopped(Context, Started),
    true = length(events(Records)) > 100,
    case [Record || Record <- events(Records), lists:member(element(2, Record), Own)] of
        [] -> ok;
        Found -> {traced_ourselves, lists:sublist(Found, 10), Own}
    end.

%% --- Refusals ---

refusals(#{worker := Worker, release := Release} = Context) ->
    Wish = wish(calls([text(Context, Worker)]), [pattern()]),
    Other = in_node(Context, watched, other, []),
    OtherText = text(Context, Other),
    Text = text(Context, Worker),
    Trace = fun(Who, How) -> in_node(Context, erlang, trace, [Who, How, [call | [{tracer, Other} || _ <- [1], How]]]) end,
    Pattern = fun(Spec, Kind) -> in_node(Context, erlang, trace_pattern, [{watched, called, 1}, Spec, [Kind]]) end,
    Messages = fun(Spec) -> in_node(Context, erlang, trace_pattern, [send, Spec, []]) end,
    Always = [
        {Wish#{patterns := [{no_such_module, f, 1, true, [local]}]}, {not_loaded, no_such_module}},
        {Wish#{patterns := [{no_such_module, f, 1, true, [local]}], load := true}, {not_loaded, no_such_module}},
        {Wish#{patterns := [pattern(), {lists, map, 2, [{'_', [], [{foo}]}], []}]},
            {bad_match_spec, 2, ["Function foo/0 does_not_exist."]}},
        {Wish#{messages := [{send, [{'_', [], [{foo}]}]}]}, {bad_match_spec, send, ["Function foo/0 does_not_exist."]}},
        {Wish#{patterns := [{lists, map, 2, [a | b], []}]}, {bad_match_spec, 1, '_'}},
        {Wish#{patterns := [{lists, map, 2, true, [meta]}]}, {bad_flag, meta}},
        {Wish#{tracees := [{processes, [call, sometimes]}]}, {bad_flag, sometimes}},
        {Wish#{tracees := [{processes, [call, cpu_timestamp, timestamp]}]}, {bad_flag, cpu_timestamp}},
        {Wish#{tracees := [{{pid, <<"<0.99999.0>">>}, [call]}]}, {no_process, "<0.99999.0>"}},
        {Wish#{tracees := [{{pid, "worker"}, [call]}]}, {no_process, "worker"}},
        {Wish#{tracees := [{{port, "#Port<0.9999>"}, [send]}]}, {no_process, "#Port<0.9999>"}},
        {Wish#{tracees := [{{name, nobody}, [call]}]}, {no_name, nobody}},
        {Wish#{tracees := [{everything, [call]}]}, {failed, '_'}}],
    Refused = [refused(Context, W, Reason) || {W, Reason} <- Always],
    Foreign = [
        {fun(How) -> Trace(Worker, How) end, Wish, {traced_by, Text, OtherText}},
        {fun(How) -> Trace(new_processes, How) end, Wish#{tracees := [{new_processes, [call]}]},
            {traced_by, "new_processes", OtherText}},
        {fun(How) -> Pattern(How, local) end, Wish, {pattern_of_other, "watched:called/1", "{local,[]}"}},
        {fun(How) -> Pattern(How, global) end, Wish, {pattern_of_other, "watched:called/1", "{global,[]}"}},
        {fun(How) -> Pattern(How, call_count) end, Wish#{patterns := [{watched, '_', '_', true, [call_count]}]},
            {pattern_of_other, "watched:called/1", "{call_count,0}"}},
        {fun(true) -> Messages([{['_', x], [], []}]); (false) -> Messages(true) end,
            Wish#{messages := [{send, [{'_', [], []}]}]}, {pattern_of_other, "send", "[{['_',x],[],[]}]"}}],
    ByOthers = [begin
        Set(true),
        Result = case Release < 27 of
            true -> refused(Context, W, Reason);
            false -> accepted(Context, W)
        end,
        Set(false),
        Result
    end || {Set, W, Reason} <- Foreign],
    true = in_node(Context, erlang, exit, [Other, kill]),
    case [Wrong || Wrong <- Refused ++ ByOthers, Wrong =/= ok] of
        [] -> ok;
        Wrong -> Wrong
    end.

refused(Context, Wish, Reason) ->
    case start(Context, load, Wish) of
        {error, Reason} -> left_nothing(Context);
        {error, Got} when element(tuple_size(Reason), Reason) =:= '_', element(1, Got) =:= element(1, Reason) ->
            left_nothing(Context);
        Got -> {expected, Reason, got, Got}
    end.

left_nothing(Context) ->
    case {in_node(Context, erlang, module_loaded, [tracehost_agent]), in_node(Context, erlang, whereis, [tracehost_agent])} of
        {false, undefined} -> ok;
        Left -> {left, Left}
    end.

%% Sessions do not mind what others trace.
accepted(Context, Wish) ->
    {ok, Started} = start(Context, load, Wish),
    {_, {stopped, _}} = stopped(Context, Started),
    ok.

%% Such a release cannot be had here, therefore the source is told that the release is one.
old_release(#{source := Source} = Context) ->
    Old = binary:replace(Source, <<"erlang:system_info(otp_release)">>, <<"\"23\"">>, [global]),
    {error, {old_release, "23"}} = start(Context#{source := Old}, evaluate, wish([], [])),
    ok.

%% --- Limits ---

max_rate(#{worker := Worker} = Context) ->
    {ok, Started} = start(Context, load, (wish(calls([text(Context, Worker)]), [pattern()]))#{max_rate := 1000}),
    work(Context, {calls, 100000}),
    ended(Started, max_rate, 1000, 5000).

%% Returns ok if a trace ends with REASON after LOW to HIGH events, and all figures agree.
ended(Started, Reason, Low, High) ->
    {Records, {Reason, #{events := Count, dropped := Dropped, bytes := Bytes}}} = ask(Started, await_ended),
    Events = events(Records),
    [Count] = [N || {tracehost, off, {R, N, Text}} <- Records, R =:= Reason, is_binary(Text)],
    {Count, Dropped} = {length(Events), dropped(Records)},
    true = Bytes > 0,
    case Low =< Count andalso Count =< High of
        true -> ok;
        false -> {events, Count}
    end.

max_bytes(#{worker := Worker} = Context) ->
    {ok, Started} = start(Context, load, (wish(calls([text(Context, Worker)]), [pattern()]))#{max_bytes := 50000}),
    work(Context, {calls, 100000}),
    ended(Started, max_bytes, 200, 2000).

one_big(#{worker := Worker} = Context) ->
    Patterns = [pattern(), {watched, fails, 1, true, [local]}],
    {ok, Started} = start(Context, load, (wish(calls([text(Context, Worker)]), Patterns))#{max_bytes := 50000}),
    work(Context, {big, 100000}),
    {_, {max_bytes, #{dropped := 1}}} = ask(Started, await_ended),
    ended(Started, max_bytes, 1, 1).

sample(Context) ->
    Workers = [in_node(Context, watched, worker, []) || _ <- lists:seq(1, 12)],
    {Kept, Left} = lists:partition(fun(Pid) -> in_node(Context, erlang, phash2, [Pid, 3]) =:= 0 end, Workers),
    {ok, Started} = start(Context, load, (wish([{processes, [call]}], [pattern()]))#{max_rate := 1000, sample := 3}),
    work(Context, hd(Left), {calls, 100000}),
    {Before, false} = ask(Started, await, {1, "tracehost,sampled"}),
    [{max_rate, N, 3}] = [Value || {tracehost, sampled, Value} <- Before],
    N = length(events(Before)),
    until(fun() ->
        work(Context, hd(Kept), {calls, 1}),
        length(events(element(1, ask(Started, taken)))) > N
    end),
    [work(Context, Pid, {calls, 3}) || Pid <- Workers],
    work(Context, hd(Kept), {calls, 100000}),
    {Records, {max_rate, #{events := All, dropped := Dropped}}} = ask(Started, await_ended),
    {All, Dropped} = {length(events(Records)), dropped(Records)},
    [All] = [Count || {tracehost, off, {max_rate, Count, _}} <- Records],
    Later = lists:nthtail(N, events(Records)),
    in_node(Context, watched, finish, [Workers]),
    equal(lists:sort(Kept), lists:usort([element(2, Event) || Event <- Later])).

backlog(#{traced := Traced, worker := Worker} = Context, How) ->
    Before = tracing(Context),
    Wish = (wish(calls([text(Context, Worker)]), [pattern()]))#{max_rate := infinity, window := 65536, backlog := 200000},
    {ok, Started} = start(Context, How, Wish, #{ack => false}),
    work(Context, {calls, 10000}),
    until(fun() -> tracing(Context) =:= Before end),
    Asked = os:system_time(nanosecond),
    ask(Started, clocks),
    {Unfinished, false} = ask(Started, await, {1, "tracehost,clocks"}),
    [{Monotonic, System}] = [Value || {tracehost, clocks, Value} <- Unfinished],
    true = Asked =< System andalso System =< os:system_time(nanosecond),
    true = abs(peer:call(Traced, erlang, monotonic_time, [nanosecond]) - Monotonic) < 10000000000,
    ask(Started, acknowledge),
    {Records, {backlog, #{bytes := Bytes}}} = ask(Started, await_ended),
    true = length(Unfinished) < length(Records),
    true = Bytes < 400000,
    ended(Started, backlog, 1000, 9999).

%% An agent that is suspended stands for one that does not keep up.
unread(#{worker := Worker} = Context) ->
    Wish = (wish(calls([text(Context, Worker)]), [pattern()]))#{max_rate := infinity},
    {ok, #{controller := Controller} = Started} = start(Context, load, Wish),
    {links, [Agent]} = in_node(Context, erlang, process_info, [Controller, links]),
    Suspender = in_node(Context, watched, suspend, [Agent]),
    work(Context, {calls, 500000}),
    {Records, {Reason, #{dropped := Dropped}}} = ask(Started, await_ended),
    in_node(Context, erlang, exit, [Suspender, kill]),
    Dropped = dropped(Records),
    case {Reason, Dropped > 10000} of
        {{agent, _}, true} -> ok;
        {memory, true} -> ok;
        _ -> {Reason, Dropped}
    end.

%% An agent that is suspended for a time stands for one that a busy machine does not run.
late(#{worker := Worker} = Context) ->
    {ok, #{controller := Controller} = Started} = start(Context, load, wish(calls([text(Context, Worker)]), [pattern()])),
    {links, [Agent]} = in_node(Context, erlang, process_info, [Controller, links]),
    Suspender = in_node(Context, watched, suspend, [Agent]),
    work(Context, {calls, 25}),
    ask(Started, stop),
    timer:sleep(800),
    in_node(Context, erlang, exit, [Suspender, kill]),
    {Records, {stopped, #{events := 25, dropped := 0}}} = ask(Started, await_ended),
    25 = length(events(Records)),
    ok.

tracing(Context) ->
    maps:with([traced, patterns, sessions, messages], in_node(Context, watched, state, [])).

%% --- Ends ---

%% Traces much in a node that is at work, and lets END end that.
ends(Context, How, End) ->
    ends(Context, How, End, 60000).

ends(Context, How, End, Dead) ->
    Before = settled(Context),
    Steady = in_node(Context, watched, steady, []),
    {Victim, _} = start_node(Context#{erl := os:find_executable("erl")}, tracehost2),
    Pid = peer:call(Victim, os, getpid, []),
    try
        Result = End(Context, (started_to_end(Context#{client := Victim}, How, Dead))#{os_pid => Pid}),
        in_node(Context, erlang, exit, [Steady, kill]),
        {Result, until_equal(Context, Before)}
    of
        {ok, equal} -> ok;
        Wrong -> Wrong
    after
        in_node(Context, erlang, exit, [Steady, kill]),
        os:cmd("kill -KILL " ++ Pid)
    end.

started_to_end(Context, How, Dead) ->
    Wish = wish([{processes, [call, procs, send, 'receive', set_on_spawn, timestamp]}, {ports, [ports, send]}],
        [{lists, '_', '_', true, [local]}, {lists, map, 2, [{'_', [], [{return_trace}]}], [local]},
            {watched, '_', '_', [{'_', [], [{exception_trace}]}], [local]}, {maps, '_', '_', true, [global]},
            {'_', '_', '_', true, [call_count]}, {'_', foldl, 3, true, [call_time]}, {string, '_', 2, true, [call_time]}]),
    {ok, Started} = start(Context, How,
        Wish#{messages := [{send, [{'_', [], []}]}, {'receive', [{'_', [], []}]}], dead_ms := Dead, load := true,
            via => maps:get(via, Context, agent)}),
    #{report := #{tracees := [{1, Count}, {2, _}], patterns := Patterns}} = Started,
    true = Count > 20,
    [] = [None || {_, 0} = None <- Patterns],
    {_, false} = ask(Started, await, {50, "called"}),
    Started.

signal(#{os_pid := Pid}, Signal) ->
    os:cmd("kill -" ++ Signal ++ " " ++ Pid).

stop_client(Context, Started) ->
    {Records, {stopped, #{dropped := Dropped}}} = stopped(Context, Started),
    Dropped = dropped(Records),
    ok.

kill_client(_, Started) ->
    signal(Started, "KILL"),
    ok.

suspend_client(Context, #{controller := Controller} = Started) ->
    signal(Started, "STOP"),
    until(fun() -> not in_node(Context, erlang, is_process_alive, [Controller]) end),
    ok.

end_client(_, Started) ->
    ask(Started, die),
    ok.

kill_agent(Context, #{controller := Controller} = Started) ->
    {links, [Agent]} = in_node(Context, erlang, process_info, [Controller, links]),
    in_node(Context, erlang, exit, [Agent, kill]),
    {Records, {{agent, <<"killed">>}, #{}}} = ask(Started, await_ended),
    [_] = [found || {tracehost, off, {agent, _, <<"killed">>}} <- Records],
    ok.

close_port(Context, #{controller := Controller} = Started) ->
    {links, [Port]} = in_node(Context, erlang, process_info, [Controller, links]),
    in_node(Context, erlang, port_close, [Port]),
    {_, {{port, <<"normal">>}, #{}}} = ask(Started, await_ended),
    ok.

kill_sender(Context, #{sender := Sender} = Started) ->
    in_node(Context, erlang, exit, [Sender, kill]),
    {_, false} = ask(Started, gone),
    ok.

kill_controller(Context, #{controller := Controller} = Started) ->
    in_node(Context, erlang, exit, [Controller, kill]),
    {Records, {{controller, <<"killed">>}, #{}}} = ask(Started, await_ended),
    [_] = [found || {tracehost, off, {controller, _, <<"killed">>}} <- Records],
    ok.

%% --- Others ---

%% Somebody sets patterns while ours are there. Theirs stay, ours go. Sessions do not meet each other.
patterns_of_others(#{worker := Worker} = Context) ->
    Spec = [{'_', [], [{message, somebody}]}],
    Mine = [{lists, '_', '_', true, [local]}, {'_', called, 1, true, [local]}, {maps, map, 2, true, [global]}],
    {ok, Started} = start(Context, load, (wish(calls([text(Context, Worker)]), Mine))#{messages := [{send, [{'_', [], []}]}]}),
    Theirs = [{{lists, map, 2}, Spec, local}, {{watched, called, 1}, Spec, local}, {{maps, map, 2}, true, local},
        {{lists, seq, 2}, true, call_count}],
    [in_node(Context, erlang, trace_pattern, [MFA, S, [Kind]]) || {MFA, S, Kind} <- Theirs],
    in_node(Context, erlang, trace_pattern, [send, [{['_', theirs], [], []}], []]),
    {_, {stopped, _}} = stopped(Context, Started),
    Left = [in_node(Context, erlang, trace_info, [MFA, Item]) || {MFA, Item} <- [{{lists, map, 2}, match_spec},
        {{watched, called, 1}, match_spec}, {{maps, map, 2}, traced}, {{lists, seq, 2}, call_count}, {{lists, seq, 2}, traced},
        {send, match_spec}]],
    [in_node(Context, erlang, trace_pattern, [MFA, false, [Kind]]) || {MFA, _, Kind} <- Theirs],
    in_node(Context, erlang, trace_pattern, [send, true, []]),
    equal([{match_spec, Spec}, {match_spec, Spec}, {traced, local}, called, {traced, false},
        {match_spec, [{['_', theirs], [], []}]}], [case Item of {call_count, N} when is_integer(N) -> called; _ -> Item end ||
        Item <- Left]).

dbg_session(#{worker := Worker, release := Release} = Context) ->
    case in_node(Context, code, which, [dbg]) of
        non_existing ->
            io:format("# skipped: no dbg (Debian: erlang-runtime-tools)~n"),
            ok;
        _ ->
            Theirs = in_node(Context, watched, worker, []),
            Collector = in_node(Context, watched, dbg_session, [Theirs]),
            Before = tracing(Context),
            {ok, Started} = start(Context, load, wish([{processes, [call]}], [pattern()])),
            work(Context, Theirs, {big, 10}),
            work(Context, Worker, {calls, 5}),
            {Records, {stopped, _}} = stopped(Context, Started),
            Same = until(fun() -> tracing(Context) =:= Before end),
            work(Context, Theirs, {big, 10}),
            %% Before OTP 27, tracees of all tracers share the patterns: dbg also sees the call of our function.
            Seen = case Release < 27 of true -> 5; false -> 4 end,
            until(fun() -> length(in_node(Context, watched, received, [Collector])) =:= Seen end),
            #{report := #{left_out := LeftOut}} = Started,
            Calls = length([call || {trace, Pid, call, _} <- Records, Pid =:= Theirs]),
            Expected = case Release < 27 of
                true -> {[text(Context, Theirs)], 0};
                false -> {[], 1}
            end,
            in_node(Context, dbg, stop, []),
            in_node(Context, erlang, trace_pattern, [{watched, fails, 1}, false, [local]]),
            in_node(Context, watched, finish, [[Theirs]]),
            in_node(Context, erlang, exit, [Collector, kill]),
            until(fun() -> in_node(Context, erlang, whereis, [dbg]) =:= undefined end),
            {Same, ok} = {Same, equal(Expected, {[Text || {Text, _} <- LeftOut], Calls})},
            ok
    end.

busy(#{worker := Worker} = Context) ->
    {ok, Started} = start(Context, load, wish(calls([text(Context, Worker)]), [pattern()])),
    [{error, {busy, _}} = start(Context, How, wish([], [])) || How <- [load, evaluate]],
    #{client := Node, node := Traced} = Context,
    %% A start that does not look first is refused, too.
    Here = maps:get(client, Started),
    {error, {busy, "tracehost_agent"}} = peer:call(Node, client, rpc, [Traced, tracehost_agent, start, [Here, wish([], [])]]),
    work(Context, {calls, 5}),
    {Records, {stopped, #{events := 5}}} = stopped(Context, Started),
    5 = length(events(Records)),
    ok.

repeated(Context) ->
    Once = fun() ->
        {ok, Started} = start(Context, load, (wish([{processes, [call]}], [pattern()]))#{names := true}),
        work(Context, {calls, 10}),
        {_, {stopped, #{dropped := 0}}} = stopped(Context, Started)
    end,
    Figures = fun() ->
        [in_node(Context, erlang, garbage_collect, [Pid]) || Pid <- in_node(Context, erlang, processes, [])],
        {in_node(Context, erlang, system_info, [atom_count]), in_node(Context, erlang, memory, [total])}
    end,
    [Once() || _ <- lists:seq(1, 5)],
    Figures(),
    {Atoms, Memory} = Figures(),
    [Once() || _ <- lists:seq(1, 30)],
    {AtomsThen, MemoryThen} = Figures(),
    case AtomsThen =:= Atoms andalso MemoryThen - Memory < 2000000 of
        true -> ok;
        false -> {atoms, Atoms, AtomsThen, memory, Memory, MemoryThen}
    end.

%% Returns the begin and the end of a long text.
ends_of(Text) ->
    case lists:flatten(Text) of
        Long when length(Long) > 2000 -> lists:sublist(Long, 500) ++ " ... " ++ lists:nthtail(length(Long) - 1500, Long);
        Short -> Short
    end.
