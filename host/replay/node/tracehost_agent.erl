%% The part of tracehost that works in the node that is traced: a controller, an agent and a sender.
%%
%% 1. The client calls start/2 by RPC. The controller looks at what others trace, refuses or leaves that out, and sets
%%    what the client wishes: patterns first, flags last. From OTP 27 on all is set in a trace session of its own.
%% 2. The agent is the tracer. The agent encodes each trace message as a record of a trace port and collects records in
%%    batches. The agent applies the limits, because no other process knows the rate in time. If a limit is exceeded, the agent
%%    ends. The end of a tracer removes its flags from all tracees at once.
%% 3. The sender sends batches to the client, at most WINDOW bytes that are not acknowledged. A send can neither suspend
%%    the sender nor make a connection, because a connection that is cut or full must not hold anything up here.
%%    The client asks the sender for the clocks each second. The answer passes all batches that wait.
%% 4. The controller never sends to the client. The controller ends the tracing if the client asks for it, is silent for
%%    DEAD_MS, or is gone, and if the agent or the sender ends. It removes the patterns, one kind after the other and
%%    only where they are still its own, lets the sender finish, cuts the connection and removes this module.
%% 5. If the controller is killed, the agent dies by its link, and the sender does step 4. Therefore the controller sends
%%    the list of what is to be removed to the sender before anything is set.
%% 6. With via => {port, Queue} the tracer is a trace port of the node instead of an agent. The client reads the records
%%    from it and applies the limits. The sender has notes only. At the end the controller switches off the flags, and
%%    writes a mark to the port. The client answers `drained` when the mark has come, or `mark` for another one if the
%%    driver may have dropped it. Then the controller closes the port.
%%
%% Priority: all three processes have priority high. Process signals, such as the question for the length of the agent's
%% queue or an exit signal, are handled by the process that they are sent to, when that is scheduled. With priority
%% normal in a busy node, the queue of the agent would grow while nobody can look or end it.
%%
%% Text: erl_eval can evaluate this file where loading a module is not wanted. Therefore this file has neither records,
%% macros nor funs of local functions. A function ends with the call of the next one, so that loops need no stack.
-module(tracehost_agent).
-export([start/2]).

%% Starts tracing for the process CLIENT as the map WISH says. Returns {ok, Controller, Sender, Report} or
%% {error, Reason}. After an error nothing is left but this module.
start(Client, Wish) ->
    Caller = self(),
    Answer = make_ref(),
    {_, Monitor} = spawn_opt(fun() -> controller_start(Client, Wish, Caller, Answer) end, [monitor]),
    receive
        {Answer, {error, Reason}} ->
            receive
                {'DOWN', Monitor, process, _, _} -> {error, Reason}
            end;
        {Answer, Result} ->
            erlang:demonitor(Monitor, [flush]),
            Result;
        {'DOWN', Monitor, process, _, Reason} ->
            {error, {failed, text(Reason)}}
    end.

refuse(Reason) ->
    throw({refused, Reason}).

text(Term) ->
    unicode:characters_to_binary(io_lib:format("~0tp", [Term])).

now_ns() ->
    erlang:monotonic_time(nanosecond).

%% --- Records ---

record(Term) ->
    Encoded = term_to_binary(Term),
    <<0, (byte_size(Encoded)):32, Encoded/binary>>.

note(Key, Value) ->
    record({tracehost, Key, Value}).

%% Returns notes of KEY that have at most 1,000 elements of LIST each.
notes(_, []) ->
    [];
notes(Key, List) ->
    {Part, Rest} = lists:split(min(1000, length(List)), List),
    [note(Key, Part) | notes(Key, Rest)].

drop_record(0) ->
    <<>>;
drop_record(Count) ->
    <<1, (min(Count, 16#ffffffff)):32>>.

%% Elements of the atomics that the three processes share: 1 the controller's order to the agent (0 none, 1 stop,
%% 2 too much memory), 2 bytes that are on their way to the client, 3 events, 4 bytes of records, 5 dropped events.
give(Sender, Control, Batch) ->
    atomics:add(Control, 2, byte_size(Batch)),
    Sender ! {batch, Batch}.

%% --- Controller: start ---

controller_start(Client, Wish, Caller, Answer) ->
    process_flag(trap_exit, true),
    process_flag(priority, high),
    Monitor = monitor(process, Client),
    Result =
        try
            set_up(Client, Wish, Caller)
        catch
            throw:{refused, Reason} -> {error, Reason};
            _:Reason:Stack -> {error, {failed, text({Reason, lists:sublist(Stack, 2)})}}
        end,
    case Result of
        {State, Report} when is_map(State) ->
            Caller ! {Answer, {ok, self(), maps:get(sender, State), Report}},
            controller(State#{client => Client, client_monitor => Monitor, beat => now_ns()});
        Error ->
            Caller ! {Answer, Error}
    end.

set_up(Client, Wish, Caller) ->
    #{tracees := WishedTracees, patterns := WishedPatterns, messages := Messages, load := Load, names := Names,
        window := Window, backlog := Backlog, dead_ms := Dead} = Wish,
    Release = erlang:system_info(otp_release),
    list_to_integer(Release) >= 24 orelse refuse({old_release, Release}),
    try register(tracehost_agent, self()) catch error:badarg -> refuse({busy, "tracehost_agent"}) end,
    %% Other nodes got the same wish: one of them may have the modules and names that are missing here.
    Others = maps:get(others, Wish, false),
    Patterns = lists:append([checked_pattern(I, P, Load, Others) || {I, P} <- numbered(WishedPatterns)]),
    [check_spec(Tag, Spec) || {Tag, Spec} <- Messages],
    Tracees = [{I, Tracee, checked_flags(Flags)} || {I, {Who, Flags}} <- numbered(WishedTracees),
        Tracee <- tracees(Who, Others)],
    Sessions = sessions(),
    Sessions orelse refuse_patterns_of_others(Patterns, Messages),
    {Parts, LeftOut} = parts_of_tracees(Tracees, Sessions),
    Control = atomics:new(5, []),
    Controller = self(),
    Plan = #{tracees => Parts, patterns => Patterns, messages => Messages, sessions => Sessions,
        rate => bound(maps:get(max_rate, Wish)), bytes => bound(maps:get(max_bytes, Wish)),
        sample => maps:get(sample, Wish), allowed => Window + Backlog, control => Control},
    Via = maps:get(via, Wish, agent),
    Constant = #{client => Client, control => Control, window => Window, names => Names, dead => Dead, via => Via},
    {Sender, SenderMonitor} = spawn_opt(fun() -> sender_start(Constant, Controller) end, [monitor]),
    Own = [Controller, Sender, Caller | connection(node(Client))],
    State = #{plan => Plan#{own => Own, via => Via}, sender => Sender, sender_monitor => SenderMonitor, dead => Dead, queued => 0},
    try begin_tracing(State, 0) of
        {Traces, Matched, Counts} ->
            Sums = sums(Matched),
            [give(Sender, Control, note(unmatched, unmatched(lists:nth(I, WishedPatterns)))) || not Others, {I, 0} <- Sums],
            {Traces, #{release => Release, session => Sessions, patterns => Sums, tracees => sums(Counts),
                left_out => LeftOut, port => maps:get(port, Traces)}}
    catch
        Class:Reason:Stack ->
            exit(Sender, kill),
            erlang:raise(Class, Reason, Stack)
    end.

%% Returns what a note tells of a pattern without functions. Functions of the module: some may be similar.
unmatched({M, F, A, _, Kinds}) ->
    {{M, F, A}, Kinds, lists:sublist([{Name, Arity} || M =/= '_', {_, Name, Arity} <- functions({M, '_', '_'})], 1000)}.

numbered(List) ->
    lists:zip(lists:seq(1, length(List)), List).

bound(infinity) ->
    1000000000000000000;
bound(Limit) ->
    max(1, Limit).

%% Adds up the numbers of each index.
sums(Pairs) ->
    lists:sort(maps:to_list(lists:foldl(
        fun({Index, Count}, Sums) -> Sums#{Index => Count + maps:get(Index, Sums, 0)} end, #{}, Pairs))).

sessions() ->
    list_to_integer(erlang:system_info(otp_release)) >= 27 andalso
        code:ensure_loaded(trace) =:= {module, trace} andalso erlang:function_exported(trace, session_create, 3).

%% Returns the port and the process of the connection to NODE. Tracing the port would make an event of each sent batch.
connection(Node) ->
    lists:append([[Controller | case is_port(Controller) andalso erlang:port_info(Controller, connected) of
        {connected, Process} -> [Process];
        _ -> []
    end] || {Name, Controller} <- erlang:system_info(dist_ctrl), Name =:= Node]).

%% --- Wishes ---

checked_pattern(Index, {M, F, A, Spec, Flags}, Load, Others) ->
    Kinds = case Flags of [] -> [global]; _ -> Flags end,
    [lists:member(Kind, [local, global, call_count, call_time]) orelse refuse({bad_flag, Kind}) || Kind <- Kinds],
    check_spec(Index, Spec),
    Loaded = M =:= '_' orelse erlang:module_loaded(M) orelse (Load andalso code:ensure_loaded(M) =:= {module, M}),
    Loaded orelse Others orelse refuse({not_loaded, M}),
    [{Index, {M, F, A}, Kind, spec_of_kind(Kind, Spec)} || Loaded, Kind <- Kinds].

%% Counters take no match specification. For the others, true is what trace_info/2 shows as an empty one.
spec_of_kind(call_count, _) -> true;
spec_of_kind(call_time, _) -> true;
spec_of_kind(_, true) -> [];
spec_of_kind(_, Spec) -> Spec.

check_spec(_, true) ->
    ok;
check_spec(Index, Spec) ->
    try erlang:match_spec_test([], Spec, trace) of
        {error, Errors} -> refuse({bad_match_spec, Index, [Text || {_, Text} <- Errors]});
        _ -> ok
    catch
        error:badarg -> refuse({bad_match_spec, Index, ["not a match specification"]})
    end.

checked_flags(Flags) ->
    Known = [all, send, 'receive', procs, ports, call, arity, return_to, silent, set_on_spawn, set_on_first_spawn,
        set_on_link, set_on_first_link, timestamp, monotonic_timestamp, strict_monotonic_timestamp, running,
        running_procs, running_ports, garbage_collection, exiting, scheduler_id],
    [lists:member(Flag, Known) orelse refuse({bad_flag, Flag}) || Flag <- Flags],
    Flags.

tracees({name, Name}, true) ->
    [Found || Found <- [whereis(Name)], Found =/= undefined];
tracees(Who, _) ->
    [tracee(Who)].

tracee({pid, Text}) ->
    try
        Pid = list_to_pid(list_of(Text)),
        true = is_process_alive(Pid),
        Pid
    catch
        error:_ -> refuse({no_process, list_of(Text)})
    end;
tracee({port, Text}) ->
    try
        Port = list_to_port(list_of(Text)),
        true = erlang:port_info(Port) =/= undefined,
        Port
    catch
        error:_ -> refuse({no_process, list_of(Text)})
    end;
tracee({name, Name}) ->
    case whereis(Name) of
        undefined -> refuse({no_name, Name});
        Found -> Found
    end;
tracee(Group) ->
    lists:member(Group, [processes, existing_processes, new_processes, ports, existing_ports, new_ports]) orelse
        refuse({failed, text({unknown_tracees, Group})}),
    Group.

list_of(Text) when is_binary(Text) -> binary_to_list(Text);
list_of(Text) -> Text.

%% --- Tracing by others ---

%% Splits groups into existing and new ones. Returns {[{Index, Tracee, Flags}], [{tracee's text, tracer's text}]}.
parts_of_tracees(Tracees, Sessions) ->
    Parts = [parts_of_tracee(Index, Who, Flags, Sessions) || {Index, Who, Flags} <- Tracees],
    {lists:append([Part || {Part, _} <- Parts]), lists:usort(lists:append([LeftOut || {_, LeftOut} <- Parts]))}.

parts_of_tracee(Index, processes, Flags, Sessions) ->
    parts_of_group(Index, existing_processes, new_processes, Flags, Sessions);
parts_of_tracee(Index, ports, Flags, Sessions) ->
    parts_of_group(Index, existing_ports, new_ports, Flags, Sessions);
parts_of_tracee(Index, Who, Flags, Sessions) ->
    Single = not lists:member(Who, [existing_processes, existing_ports]),
    LeftOut = case Sessions of true -> []; false -> traced_by_others(Who) end,
    case LeftOut of
        [{Tracee, Tracer} | _] when Single -> refuse({traced_by, Tracee, Tracer});
        _ -> {[{Index, Who, Flags}], LeftOut}
    end.

parts_of_group(Index, Existing, New, Flags, Sessions) ->
    {Part, LeftOut} = parts_of_tracee(Index, Existing, Flags, Sessions),
    case Sessions orelse traced_by_others(New) of
        [Other] -> {Part, [Other | LeftOut]};
        _ -> {[{Index, New, Flags} | Part], LeftOut}
    end.

traced_by_others(existing_processes) ->
    lists:append([traced_by_others(Pid) || Pid <- processes()]);
traced_by_others(existing_ports) ->
    lists:append([traced_by_others(Port) || Port <- erlang:ports()]);
traced_by_others(Who) ->
    case erlang:trace_info(Who, tracer) of
        {tracer, []} -> [];
        {tracer, Tracer} -> [{text_of(Who), text_of(Tracer)}];
        undefined -> []
    end.

text_of(Term) when is_pid(Term) -> pid_to_list(Term);
text_of(Term) when is_port(Term) -> port_to_list(Term);
text_of(Term) -> binary_to_list(text(Term)).

refuse_patterns_of_others(Patterns, Messages) ->
    [refuse_pattern_of_other(MFA, Kind) || {_, Pattern, Kind, _} <- Patterns, MFA <- functions(Pattern)],
    [case erlang:trace_info(Tag, match_spec) of
        {match_spec, true} -> ok;
        {match_spec, Spec} -> refuse({pattern_of_other, atom_to_list(Tag), binary_to_list(text(Spec))})
    end || {Tag, _} <- Messages].

refuse_pattern_of_other({M, F, A}, Kind) ->
    case pattern_there({M, F, A}, Kind) of
        false ->
            ok;
        There ->
            Function = lists:flatten(io_lib:format("~tw:~tw/~w", [M, F, A])),
            refuse({pattern_of_other, Function, binary_to_list(text(There))})
    end.

%% Returns false, or the pattern that a function has: {local or global, MatchSpec} or {Counter, Value}. Patterns local
%% and global replace each other.
pattern_there(MFA, Kind) ->
    case erlang:trace_info(MFA, all) of
        {all, Items} when is_list(Items), (Kind =:= local orelse Kind =:= global) ->
            {traced, Type} = lists:keyfind(traced, 1, Items),
            {match_spec, Spec} = lists:keyfind(match_spec, 1, Items),
            Type =/= false andalso {Type, Spec};
        {all, Items} when is_list(Items) ->
            {Kind, Value} = lists:keyfind(Kind, 1, Items),
            Value =/= false andalso {Kind, Value};
        _ ->
            false
    end.

%% Returns all functions that a pattern meets, without calling anything in their modules.
functions({'_', F, A}) ->
    lists:append([functions({M, F, A}) || M <- erlang:loaded()]);
functions({M, F, A}) ->
    Functions = try erlang:get_module_info(M, functions) catch error:_ -> [] end,
    [{M, Name, Arity} || {Name, Arity} <- Functions, F =:= '_' orelse F =:= Name, A =:= '_' orelse A =:= Arity].

%% --- Setting and removing ---

%% Starts an agent and sets everything. SAMPLE 0 takes all tracees, N the existing ones of which one of N remains.
%% Returns {State, [{Index, functions matched}], [{Index, tracees}]}.
begin_tracing(State, Sample) ->
    #{plan := Plan, sender := Sender} = State,
    #{tracees := Parts, patterns := Patterns, messages := Messages, sessions := Sessions, own := Own} = Plan,
    {Agent, Port} = start_tracer(Plan#{sender => Sender, sampled => Sample}),
    Session = Sessions andalso trace:session_create(tracehost, Agent, []),
    Undo = #{tracer => Agent, session => Session, messages => Messages, patterns => [{P, Kind, Spec} || {_, P, Kind, Spec} <- Patterns]},
    Sender ! {undo, Undo},
    try
        Matched = case Sample > 0 andalso not Sessions of
            true -> [];
            false -> [{I, set_pattern(Session, P, Kind, Spec)} || {I, P, Kind, Spec} <- Patterns]
        end,
        [set_messages(Session, Tag, Spec) || {Tag, Spec} <- Messages],
        Counts = [{I, set_flags(Session, Agent, Own, Who, Flags, Sample)} || {I, Who, Flags} <- Parts],
        {State#{agent => Agent, port => Port, undo => Undo, memory => is_port(Agent) andalso memory()}, Matched, Counts}
    catch
        Class:Reason:Stack ->
            end_tracer(Undo),
            undo(Undo),
            erlang:raise(Class, Reason, Stack)
    end.

%% Returns {Tracer, number of the trace port or none}.
start_tracer(#{via := {port, Queue}}) ->
    open_trace_port(Queue);
start_tracer(Plan) ->
    {spawn_opt(fun() -> agent_start(Plan) end, [link, {message_queue_data, off_heap}, {priority, high}]), none}.

set_pattern(Session, Pattern, Kind, Spec) ->
    lists:sum([case Session of
        false -> erlang:trace_pattern(MFA, Spec, [Kind]);
        _ -> trace:function(Session, MFA, Spec, [Kind])
    end || MFA <- accepted_patterns(Pattern)]).

%% Returns PATTERN, or its functions if it has a name after a wildcard, which trace_pattern/3 does not accept.
accepted_patterns({'_', F, A}) when F =/= '_'; A =/= '_' -> functions({'_', F, A});
accepted_patterns({M, '_', A}) when A =/= '_' -> functions({M, '_', A});
accepted_patterns(Pattern) -> [Pattern].

set_messages(false, Tag, Spec) ->
    erlang:trace_pattern(Tag, Spec, []);
set_messages(Session, send, Spec) ->
    trace:send(Session, Spec, []);
set_messages(Session, 'receive', Spec) ->
    trace:recv(Session, Spec, []).

%% Sets FLAGS of WHO. Returns the number of tracees. Existing processes are set one by one: so neither our own processes
%% nor those of others are traced for a moment, and the node does not stand still.
set_flags(Session, Agent, Own, Who, Flags, Sample) ->
    Tracees = case Who of
        existing_processes -> processes();
        existing_ports -> erlang:ports();
        _ when is_atom(Who), Sample > 0 -> [];
        _ -> [Who]
    end,
    lists:sum([try trace_flags(Session, Agent, Tracee, Flags) catch error:badarg when Tracee =/= Who -> 0 end ||
        Tracee <- Tracees, Sample =:= 0 orelse erlang:phash2(Tracee, Sample) =:= 0,
        not lists:member(Tracee, [Agent | Own]), Session =/= false orelse not_traced_by_other(Tracee, Agent)]).

not_traced_by_other(Tracee, Agent) ->
    lists:member(erlang:trace_info(Tracee, tracer), [{tracer, []}, {tracer, Agent}]).

trace_flags(false, Agent, Who, Flags) -> erlang:trace(Who, true, [{tracer, Agent} | Flags]);
trace_flags(Session, _, new_processes, Flags) -> trace:process(Session, new, true, Flags);
trace_flags(Session, _, new_ports, Flags) -> trace:port(Session, new, true, Flags);
trace_flags(Session, _, Who, Flags) when is_pid(Who) -> trace:process(Session, Who, true, Flags);
trace_flags(Session, _, Who, Flags) -> trace:port(Session, Who, true, Flags).

%% Removes what was set. The last pattern goes first, because a later pattern hides an earlier one of the same function.
undo(#{session := false, patterns := Patterns, messages := Messages}) ->
    [undo_pattern(Pattern, Kind, Spec) || {Pattern, Kind, Spec} <- lists:reverse(Patterns)],
    [erlang:trace_info(Tag, match_spec) =:= {match_spec, Spec} andalso erlang:trace_pattern(Tag, true, []) ||
        {Tag, Spec} <- Messages],
    ok;
undo(#{session := Session}) ->
    trace:session_destroy(Session).

%% Removes a pattern with one call if nobody else has a pattern of this kind there, else module by module or function by
%% function. Each call costs up to a millisecond.
undo_pattern({M, F, A}, Kind, Spec) ->
    There = [{MFA, is_own(pattern_there(MFA, Kind), Kind, Spec)} || MFA <- functions({M, F, A})],
    Own = [MFA || {MFA, true} <- There],
    case lists:keymember(other, 2, There) of
        _ when Own =:= [] -> ok;
        false -> [erlang:trace_pattern(MFA, false, [Kind]) || MFA <- accepted_patterns({M, F, A})];
        true when M =:= '_' ->
            [undo_pattern({Module, F, A}, Kind, Spec) || Module <- lists:usort([X || {X, _, _} <- Own])];
        true -> [erlang:trace_pattern(MFA, false, [Kind]) || MFA <- Own]
    end.

is_own(false, _, _) -> false;
is_own({Kind, Spec}, Kind, Spec) -> true;
is_own({Kind, _}, Kind, true) -> true;
is_own(_, _, _) -> other.

%% Returns [{MFA, Counter, Value}] of all functions that were called.
counts(#{session := Session, patterns := Patterns}) ->
    Counted = [{Pattern, Kind} || {Pattern, Kind, true} <- Patterns],
    %% To find the functions and to read their counters takes many calls, which are not counted.
    [pause(Session, MFA, Kind) || {Pattern, Kind} <- Counted, MFA <- accepted_patterns(Pattern)],
    [{MFA, Kind, Value} || {Pattern, Kind} <- Counted, MFA <- functions(Pattern), element(1, MFA) =/= tracehost_agent,
        Value <- [counter(Session, MFA, Kind)], Value =/= false, Value =/= 0, Value =/= [], Value =/= undefined].

pause(false, MFA, Kind) ->
    erlang:trace_pattern(MFA, pause, [Kind]);
pause(Session, MFA, Kind) ->
    trace:function(Session, MFA, pause, [Kind]).

counter(false, MFA, Kind) ->
    element(2, erlang:trace_info(MFA, Kind));
counter(Session, MFA, Kind) ->
    element(2, trace:info(Session, MFA, Kind)).

%% Ends the tracer, and with it its flags. A port gets to its end behind all events that it has not seen yet, so its
%% flags go first.
end_tracer(#{tracer := Agent}) when is_pid(Agent) ->
    kill(Agent);
end_tracer(#{tracer := Port} = Undo) ->
    flags_off(Undo),
    close_trace_port(Port).

kill(Process) ->
    Monitor = monitor(process, Process),
    exit(Process, kill),
    receive
        {'DOWN', Monitor, process, _, _} -> ok
    after 1000 -> ok
    end.

%% --- Controller: watch and end ---

controller(State) ->
    #{agent := Agent, sender_monitor := SenderMonitor, client_monitor := ClientMonitor, queued := Queued} = State,
    receive
        beat -> watch(State#{beat := now_ns()});
        stop -> stop_tracing(State, stopped);
        {'EXIT', Agent, {tracehost, Reason}} -> agent_ended(State, Reason);
        {'EXIT', Agent, Reason} when is_port(Agent) -> end_tracing(State, {port, text(Reason)});
        {'EXIT', Agent, Reason} -> agent_killed(State, Reason);
        drained -> end_tracing(State, stopped);
        {'DOWN', ClientMonitor, process, _, Reason} -> client_lost(State, Reason =/= noconnection);
        {'DOWN', SenderMonitor, process, _, _} -> client_lost(State, true);
        _ -> watch(State)
    after case Queued > 1000 of true -> 10; false -> 100 end ->
        watch(State)
    end.

watch(State) ->
    #{agent := Agent, beat := Beat, dead := Dead} = State,
    Silent = now_ns() - Beat > Dead * 1000000,
    case is_pid(Agent) andalso process_info(Agent, [message_queue_len, memory, total_heap_size]) of
        _ when Silent ->
            client_lost(State, silent);
        [{_, Queued}, {_, Memory}, {_, Words}] when Memory - Words * 8 > 16777216; Words > 8388608 ->
            stop_tracing(State#{queued := Queued}, memory);
        [{_, Queued} | _] ->
            controller(State#{queued := Queued});
        false ->
            watch_port(State);
        undefined ->
            controller(State)
    end.

%% Orders the agent to end. An agent that stops reads first what has been traced until now.
stop_tracing(#{agent := Port, undo := Undo} = State, Reason) when is_port(Port) ->
    #{session := Session} = Undo,
    flags_off(Undo),
    wait_for_delivery(Session),
    drain_port(State, Reason, 1);
stop_tracing(State, Reason) ->
    #{agent := Agent, plan := #{control := Control}, undo := #{session := Session}} = State,
    Order = case Reason of
        stopped ->
            wait_for_delivery(Session),
            1;
        memory ->
            2
    end,
    Agent ! {tracehost_order, Order},
    atomics:put(Control, 1, Order),
    case await_agent(Agent, 1) of
        {tracehost, _} -> end_tracing(State, Reason);
        Other -> agent_killed(State, Other)
    end.

%% Returns the reason of the agent's end. An agent that needs too much memory has 0.3 seconds. Any other has two, as the
%% processors may have other work.
await_agent(Agent, Round) ->
    receive
        {'EXIT', Agent, Reason} -> Reason
    after 100 ->
        Rounds = case process_info(Agent, [memory, total_heap_size]) of
            [{_, Memory}, {_, Words}] when Memory - Words * 8 > 16777216; Words > 8388608 -> 3;
            _ -> 20
        end,
        case Round < Rounds of
            true ->
                await_agent(Agent, Round + 1);
            false ->
                kill(Agent),
                no_answer
        end
    end.

wait_for_delivery(Session) ->
    Delivered = case Session of
        false -> erlang:trace_delivered(all);
        _ -> trace:delivered(Session, all)
    end,
    receive
        {trace_delivered, all, Delivered} -> ok
    after 100 -> ok
    end.

agent_ended(State, Reason) ->
    #{plan := Plan, undo := Undo, sender := Sender} = State,
    case Plan of
        #{sample := Sample, control := Control} when Sample > 0, Reason =:= max_rate orelse Reason =:= max_bytes ->
            #{session := Session} = Undo,
            Session =/= false andalso begin
                [give(Sender, Control, Note) || Note <- notes(counts, counts(Undo))],
                undo(Undo)
            end,
            sample_on(State#{plan := Plan#{sample := 0}}, Sample);
        _ ->
            end_tracing(State, Reason)
    end.

%% A second excess ends the tracing.
sample_on(State, Sample) ->
    try begin_tracing(State, Sample) of
        {Traces, _, _} -> controller(Traces#{queued := 0})
    catch
        _:Reason -> end_tracing(State, {agent, text(Reason)})
    end.

agent_killed(State, Reason) ->
    #{sender := Sender, queued := Queued, plan := #{control := Control}} = State,
    Events = atomics:get(Control, 3),
    atomics:add(Control, 5, Queued),
    give(Sender, Control, <<(drop_record(Queued))/binary, (note(off, {agent, Events, text(Reason)}))/binary>>),
    end_tracing(State, {agent, text(Reason)}).

client_lost(State, Connected) ->
    #{undo := Undo, sender := Sender} = State,
    end_tracer(Undo),
    undo(Undo),
    kill(Sender),
    leave(State, Connected).

end_tracing(State, Reason) ->
    #{undo := Undo, sender := Sender, plan := #{control := Control}} = State,
    end_tracer(Undo),
    [give(Sender, Control, Note) || Note <- notes(counts, counts(Undo))],
    undo(Undo),
    Sender ! {finish, Reason},
    await_end(State).

%% Waits until the client has all, as long as it gives a sign of life. The client answers the sender's last message
%% with bye.
await_end(State) ->
    #{client_monitor := ClientMonitor, sender := Sender, beat := Beat, dead := Dead} = State,
    receive
        bye ->
            kill(Sender),
            leave(State, true);
        {'DOWN', ClientMonitor, process, _, Reason} ->
            kill(Sender),
            leave(State, Reason =/= noconnection);
        beat ->
            await_end(State#{beat := now_ns()});
        _ ->
            await_end(State)
    after max(0, Dead - (now_ns() - Beat) div 1000000) ->
        kill(Sender),
        leave(State, silent)
    end.

%% Removes the module and cuts the connection, in this order: a client that sees the end of the connection knows that
%% nothing is left. Purging kills who runs code of the module, therefore a process does so that runs none, and keeps the
%% name meanwhile. CONNECTED: true, false, or silent. The port of a connection without an answer would stay until the
%% bytes in its queue are sent, unless these are discarded.
leave(#{client := Client}, Connected) ->
    Connected =:= silent andalso
        [inet:setopts(Port, [{linger, {true, 0}}]) || Port <- connection(node(Client)), is_port(Port)],
    Module = case erlang:module_loaded(tracehost_agent) of
        true -> [{code, purge, [tracehost_agent]}, {code, delete, [tracehost_agent]}, {code, purge, [tracehost_agent]}];
        false -> []
    end,
    Cut = [{erlang, disconnect_node, [node(Client)]} || Connected =/= false, node(Client) =/= node()],
    {Modules, Functions, Arguments} = lists:unzip3(Module ++ Cut),
    whereis(tracehost_agent) =:= self() andalso unregister(tracehost_agent),
    Last = spawn(lists, zipwith3, [fun erlang:apply/3, Modules, Functions, Arguments]),
    try register(tracehost_agent, Last) catch error:badarg -> ok end.

%% --- Trace port ---

%% Opens a trace port at any free TCP port. Its first record is a mark, by which the client knows that it is the first
%% one that has connected. Functions of the driver interface are built in: erl_ddll need not be loaded for them.
open_trace_port(Queue) ->
    Private = code:priv_dir(runtime_tools),
    is_list(Private) orelse refuse({no_trace_port, "the node has no runtime_tools"}),
    case erl_ddll:try_load(filename:join(Private, "lib"), "trace_ip_drv", [{driver_options, [kill_ports]}]) of
        {ok, _} -> ok;
        {error, Reason} -> refuse({no_trace_port, text(Reason)})
    end,
    %% 2: events wait for a client.
    Port = open_port({spawn_driver, "trace_ip_drv 0 " ++ integer_to_list(Queue) ++ " 2"}, []),
    <<0, Number:16>> = port_control(Port, $p, <<>>),
    mark(Port, 0),
    {Port, Number}.

%% Calls of ports wait until the port has handled all events before; messages do not.
mark(Port, Number) ->
    Port ! {self(), {command, term_to_binary({tracehost, mark, Number})}}.

close_trace_port(Port) ->
    Monitor = monitor(port, Port),
    Port ! {self(), close},
    receive
        {'DOWN', Monitor, port, _, _} -> ok
    after 5000 -> ok
    end,
    erl_ddll:try_unload("trace_ip_drv", []).

%% Events that a port has not handled yet are neither bounded nor counted by the node; they are in this memory.
watch_port(#{memory := Before} = State) ->
    case memory() - Before > 67108864 of
        true -> stop_tracing(State, memory);
        false -> controller(State)
    end.

memory() ->
    [{_, System} | Others] = erlang:memory([system, atom, binary, code, ets]),
    System - lists:sum([Bytes || {_, Bytes} <- Others]).

flags_off(#{session := false, tracer := Port}) ->
    [try erlang:trace(Who, false, [all, {tracer, Port}]) catch error:badarg -> 0 end ||
        Group <- [fun() -> [new_processes, new_ports] end, fun() -> processes() end, fun() -> erlang:ports() end],
        Who <- Group(), erlang:trace_info(Who, tracer) =:= {tracer, Port}];
flags_off(#{session := Session}) ->
    trace:process(Session, all, false, [all]),
    trace:port(Session, all, false, [all]).

drain_port(#{agent := Port} = State, Reason, Number) ->
    mark(Port, Number),
    await_drained(State, Reason, Number).

%% Waits until the client has all that the port had, as long as it gives a sign of life.
await_drained(State, Reason, Number) ->
    #{agent := Port, client_monitor := ClientMonitor, sender_monitor := SenderMonitor, beat := Beat, dead := Dead} = State,
    receive
        drained ->
            end_tracing(State, Reason);
        mark ->
            drain_port(State, Reason, Number + 1);
        beat ->
            await_drained(State#{beat := now_ns()}, Reason, Number);
        {'EXIT', Port, Why} ->
            end_tracing(State, {port, text(Why)});
        {'DOWN', ClientMonitor, process, _, Why} ->
            client_lost(State, Why =/= noconnection);
        {'DOWN', SenderMonitor, process, _, _} ->
            client_lost(State, true);
        _ ->
            await_drained(State, Reason, Number)
    after max(0, Dead - (now_ns() - Beat) div 1000000) ->
        client_lost(State, true)
    end.

%% --- Agent ---

agent_start(Plan) ->
    #{sender := Sender, control := Control, rate := Rate, bytes := Bytes, allowed := Allowed, sample := Sample} = Plan,
    Constant = #{sender => Sender, control => Control, event_ns => 1000000000 div Rate, rate => Rate, bytes => Bytes,
        largest => min(Bytes, 16#ffffffff), allowed => Allowed, sample => Sample},
    Start = now_ns(),
    agent(Constant, [], 0, 0, Start, Start, Start, infinity).

%% BATCH: the records, the last one first, with COUNT events and SIZE bytes. RATE and BYTES: the times at which the
%% allowance of events and of bytes is whole again. If such a time is more than a second ahead, the limit is exceeded.
%% DUE: the time at which the batch goes to the sender, or a time that is over if the batch is empty. WAIT: the
%% milliseconds until then.
agent(Constant, Batch, Count, Size, Rate, Bytes, Due, Wait) ->
    receive
        {tracehost_order, 1} ->
            agent_stop(Constant, Batch, Count, Size, 0);
        {tracehost_order, 2} ->
            agent_exit(Constant, Batch, Count, Size, memory, 0);
        Message ->
            agent_event(Constant, Message, Batch, Count, Size, Rate, Bytes, Due)
    after Wait ->
        agent_flush(Constant, Batch, Count, Size, Rate, Bytes)
    end.

%% Guards are not used here: erl_eval needs 10 us for each.
agent_event(Constant, Message, Batch, Count, Size, Rate, Bytes, Due) ->
    case erlang:external_size(Message) > map_get(largest, Constant) of
        true ->
            agent_exit(Constant, Batch, Count, Size, max_bytes, 1);
        false ->
            Record = term_to_binary(Message),
            Now = now_ns(),
            NextRate = max(Rate, Now) + map_get(event_ns, Constant),
            NextBytes = max(Bytes, Now) + (byte_size(Record) + 5) * 1000000000 div map_get(bytes, Constant),
            case max(NextRate, NextBytes) - Now > 1000000000 orelse Now >= Due orelse Size > 32768 orelse
                atomics:get(map_get(control, Constant), 1) =/= 0 of
                false ->
                    agent(Constant, [Record, <<0, (byte_size(Record)):32>> | Batch], Count + 1,
                        Size + byte_size(Record) + 5, NextRate, NextBytes, Due, (Due - Now) div 1000000 + 1);
                true ->
                    agent_turn(Constant, [Record, <<0, (byte_size(Record)):32>> | Batch], Count + 1,
                        Size + byte_size(Record) + 5, NextRate, NextBytes, Now)
            end
    end.

%% Decides after an event with which a batch begins or is full, a limit is exceeded, or the controller gives an order.
agent_turn(Constant, Batch, Count, Size, Rate, Bytes, Now) ->
    Order = atomics:get(map_get(control, Constant), 1),
    if
        Rate - Now > 1000000000 -> agent_exit(Constant, Batch, Count, Size, max_rate, 0);
        Bytes - Now > 1000000000 -> agent_exit(Constant, Batch, Count, Size, max_bytes, 0);
        Order =:= 1 -> agent_stop(Constant, Batch, Count, Size, -1);
        Order =:= 2 -> agent_exit(Constant, Batch, Count, Size, memory, -1);
        Count =:= 1 -> agent(Constant, Batch, Count, Size, Rate, Bytes, Now + 10000000, 10);
        true -> agent_flush(Constant, Batch, Count, Size, Rate, Bytes)
    end.

agent_flush(Constant, Batch, Count, Size, Rate, Bytes) ->
    agent_give(Constant, Batch, Count, Size),
    #{control := Control, allowed := Allowed} = Constant,
    case atomics:get(Control, 2) > Allowed of
        true -> agent_exit(Constant, [], 0, 0, backlog, 0);
        false -> agent(Constant, [], 0, 0, Rate, Bytes, now_ns(), infinity)
    end.

agent_give(#{sender := Sender, control := Control}, Batch, Count, Size) ->
    atomics:add(Control, 3, Count),
    atomics:add(Control, 4, Size),
    give(Sender, Control, iolist_to_binary(lists:reverse(Batch))).

%% Takes what was traced before the order, for 200 ms at the longest. Trace messages can come tens of milliseconds after
%% their event, and process_info/2 does not count these; therefore the queue has to be empty for 30 ms. UNREAD: -1 if
%% the order itself is in the queue.
agent_stop(Constant, Batch, Count, Size, Unread) ->
    agent_stop(Constant, Batch, Count, Size, Unread, now_ns() + 200000000).

agent_stop(Constant, Batch, Count, Size, Unread, End) when Size > 32768 ->
    agent_give(Constant, Batch, Count, Size),
    agent_stop(Constant, [], 0, 0, Unread, End);
agent_stop(Constant, Batch, Count, Size, Unread, End) ->
    receive
        {tracehost_order, _} ->
            agent_stop(Constant, Batch, Count, Size, 0, End);
        Message ->
            Record = record(Message),
            case now_ns() > End of
                true -> agent_exit(Constant, [Record | Batch], Count + 1, Size + byte_size(Record), stopped, Unread);
                false -> agent_stop(Constant, [Record | Batch], Count + 1, Size + byte_size(Record), Unread, End)
            end
    after 30 ->
        agent_give(Constant, Batch, Count, Size),
        exit({tracehost, stopped})
    end.

%% Ends with REASON. UNREAD: the number to add to the length of the queue for the number of dropped events. Events that
%% arrive until the process has ended are not counted: the number is a lower bound.
agent_exit(Constant, Batch, Count, Size, Reason, Unread) ->
    #{sender := Sender, control := Control, sample := Sample} = Constant,
    agent_give(Constant, Batch, Count, Size),
    {message_queue_len, Queued} = process_info(self(), message_queue_len),
    Dropped = Queued + Unread,
    atomics:add(Control, 5, Dropped),
    Events = atomics:get(Control, 3),
    Note = if
        Reason =:= stopped -> <<>>;
        Sample > 0, Reason =:= max_rate orelse Reason =:= max_bytes -> note(sampled, {Reason, Events, Sample});
        true -> note(off, {Reason, Events, limit(Reason, Constant)})
    end,
    give(Sender, Control, <<(drop_record(Dropped))/binary, Note/binary>>),
    exit({tracehost, Reason}).

limit(max_rate, #{rate := Rate}) -> <<"more than ", (integer_to_binary(Rate))/binary, " events a second">>;
limit(max_bytes, #{bytes := Bytes}) -> <<"more than ", (integer_to_binary(Bytes))/binary, " bytes a second">>;
limit(backlog, #{allowed := Allowed}) -> <<"more than ", (integer_to_binary(Allowed))/binary, " bytes waited for the reader">>;
limit(memory, _) -> <<"more events at once than 16 MiB can hold">>.

%% --- Sender ---

%% OUT: bytes that were sent and not acknowledged. WAITING: batches to send, as {first ones, last ones in reverse}.
sender_start(Constant, Controller) ->
    #{client := Client, names := Names, control := Control, via := Via} = Constant,
    ClientMonitor = monitor(process, Client),
    ControllerMonitor = monitor(process, Controller),
    First = first_notes(Names, [Controller, self()]) ++ case Via of {port, Queue} -> [note(port, Queue)]; agent -> [] end,
    process_flag(priority, high),
    atomics:add(Control, 2, iolist_size(First)),
    sender(Constant#{client_monitor => ClientMonitor, controller_monitor => ControllerMonitor, going => false, out => 0,
        waiting => {First, []}, finish => none, orphan => false, paused => false}).

first_notes(Names, Own) ->
    Node = {self(), list_to_binary(erlang:system_info(otp_release)), list_to_binary(os:getpid())},
    Clock = {erlang:monotonic_time(nanosecond), erlang:system_time(nanosecond)},
    [note(node, Node), note(clock, Clock) | case Names of
        true -> notes(names, registered_names(Own)) ++ notes(initial_calls, initial_calls(Own));
        false -> []
    end].

registered_names(Own) ->
    [{Found, Name} || Name <- registered(), Found <- [whereis(Name)], not lists:member(Found, [undefined | Own])].

initial_calls(Own) ->
    [{Pid, case Call of
        {proc_lib, _, _} -> proc_lib:translate_initial_call(Pid);
        _ -> Call
    end} || Pid <- processes() -- Own, {initial_call, Call} <- [process_info(Pid, initial_call)]].

sender(State) ->
    #{client_monitor := ClientMonitor, controller_monitor := ControllerMonitor, orphan := Orphan, control := Control,
        out := Out, waiting := {Front, Back}} = State,
    receive
        {batch, Batch} ->
            sender_send(State#{waiting := {Front, [Batch | Back]}});
        {ack, Bytes} ->
            atomics:sub(Control, 2, Bytes),
            sender_send(State#{out := Out - Bytes});
        go ->
            sender_send(State#{going := true});
        clocks ->
            sender_answers_clocks(State),
            sender(State);
        again ->
            sender_send(State#{paused := false});
        {undo, Undo} ->
            sender(State#{undo => Undo});
        {finish, Reason} ->
            sender_send(State#{finish := {ended, Reason}});
        bye when Orphan ->
            leave(State, true);
        {'DOWN', ControllerMonitor, process, _, Reason} ->
            sender_orphan(State, Reason);
        {'DOWN', ClientMonitor, process, _, Reason} when Orphan ->
            leave(State, Reason =/= noconnection);
        give_up ->
            leave(State, silent);
        _ ->
            sender(State)
    end.

%% Without a controller, the sender removes what the controller set. A trace port is closed by its link.
sender_orphan(#{undo := Undo, dead := Dead, control := Control} = State, Reason) ->
    undo(Undo),
    erlang:send_after(Dead, self(), give_up),
    Events = atomics:get(Control, 3),
    self() ! {batch, note(off, {controller, Events, text(Reason)})},
    self() ! {finish, {controller, text(Reason)}},
    sender(State#{orphan := true});
sender_orphan(_, _) ->
    ok.

sender_send(#{paused := true} = State) ->
    sender(State);
sender_send(#{going := true, waiting := {[], []}, finish := {ended, Reason}} = State) ->
    #{control := Control} = State,
    Stats = #{events => atomics:get(Control, 3), bytes => atomics:get(Control, 4), dropped => atomics:get(Control, 5)},
    case sender_sends(State, {ended, Reason, Stats}) of
        ok -> sender(State#{finish := none});
        again -> sender(State#{paused := true})
    end;
sender_send(#{waiting := {[], []}} = State) ->
    sender(State);
sender_send(#{waiting := {[], Back}} = State) ->
    sender_send(State#{waiting := {lists:reverse(Back), []}});
sender_send(#{going := true, waiting := {[Batch | Front], Back}, window := Window, out := Out} = State)
    when Out =:= 0; Out + byte_size(Batch) =< Window ->
    case sender_sends(State, {data, Batch}) of
        ok -> sender_send(State#{waiting := {Front, Back}, out := Out + byte_size(Batch)});
        again -> sender(State#{paused := true})
    end;
sender_send(State) ->
    sender(State).

%% Answers before all batches that wait. An answer that the connection does not take now is made anew later.
sender_answers_clocks(#{client := Client}) ->
    Answer = {clocks, erlang:monotonic_time(nanosecond), os:system_time(nanosecond)},
    erlang:send(Client, Answer, [noconnect, nosuspend]) =:= ok orelse erlang:send_after(10, self(), clocks).

%% Returns ok, or again if the connection takes nothing now or is lost. A loss is noticed by the monitors.
sender_sends(#{client := Client}, Message) ->
    case erlang:send(Client, Message, [noconnect, nosuspend]) of
        ok ->
            ok;
        _ ->
            erlang:send_after(10, self(), again),
            again
    end.
