#!/usr/bin/env escript
%%! +pc latin1 -boot no_dot_erlang
%% Takes the steps of info/steps.txt in this BEAM, and prints after each step the answers of trace:info/3 and
%% trace:session_info/1 for both sessions. test_info.c compares them with the host's.
%%
%%   info.escript LIBRARY
%%
%% The tracer of a is LIBRARY, that of b a process.
%%
%% A tracer is printed as `tracer', a process as `tracee' or `other'; of counts by process only the calls are printed.
%% For a function with breakpoints but no meta breakpoint, the BEAM's item `meta' is [], and false in the item `all':
%% both are printed as false.
-mode(compile).

main([Library]) ->
    load(subject, []),
    load("tests/oracle/logging/logging"),
    ok = logging:load(filename:rootname(Library)),
    {ok, Steps} = file:consult("tests/oracle/info/steps.txt"),
    [put(Who, spawn(subject, tracee, [])) || Who <- [tracee, other]],
    put(mortal, spawn(fun Forget() -> receive _ -> Forget() end end)),
    [step(Step) || Step <- Steps],
    true = get(gone).

load(File) ->
    {ok, Module, Code} = compile:file(File, [binary]),
    {module, Module} = code:load_binary(Module, File, Code).

%% Loads the subject, under another name if one is given.
load(Name, _) ->
    {ok, Text} = file:read_file("tests/oracle/info/subject.erl"),
    Named = string:replace(Text, "-module(subject)", ["-module(", atom_to_list(Name), ")"]),
    {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Named)),
    {ok, Name, Code} = compile:forms(forms(Tokens)),
    {module, Name} = code:load_binary(Name, atom_to_list(Name), Code).

forms([]) -> [];
forms(Tokens) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun(Token) -> element(1, Token) =/= dot end, Tokens),
    {ok, Parsed} = erl_parse:parse_form(Form ++ [Dot]),
    [Parsed | forms(Rest)].

step(Step) ->
    io:format("~n~0kp~n", [Step]),
    act(Step),
    [io:format("~p ~0p ~0p ~0kp~n", [Session, What, Item, info(Session, What, Item)])
     || Session <- [a, b], {Whats, Items} <- asked(), What <- Whats, Item <- Items],
    [io:format("~p: ~0p~n", [Who, sessions_of(get(Who))]) || Who <- [tracee, other]].

asked() ->
    [{[{subject, f, 1}, {subject, g, 0}, {late, f, 1}],
      [traced, match_spec, meta, meta_match_spec, call_count, call_time, call_memory]},
     {[on_load], [traced, match_spec, meta, meta_match_spec, call_count, call_time, call_memory]},
     {[tracee, other, new_processes, new_ports], [flags, tracer]},
     {[send, 'receive'], [match_spec]}].

act({session, a}) -> put(a, trace:session_create(a, {logging, #{}}, [])), ok;
act({session, b}) -> put(b, trace:session_create(b, get(mortal), [])), ok;
act({kill}) ->
    Monitor = monitor(process, get(mortal)),
    exit(get(mortal), kill),
    receive {'DOWN', Monitor, process, _, killed} -> ok end;
act({destroy, Name}) -> true = trace:session_destroy(get(Name)), ok;
act({function, Session, What, Match, Kinds}) -> trace:function(get(Session), What, Match, Kinds);
act({process, Session, Who, false, Flags}) when Who =:= all; Who =:= new ->
    take_away(get(Session), process, new_processes, Who, Flags);
act({port, Session, Who, false, Flags}) -> take_away(get(Session), port, new_ports, Who, Flags);
act({process, Session, Who, On, Flags}) -> trace:process(get(Session), id(Who), On, Flags), ok;
act({port, Session, Who, On, Flags}) -> trace:port(get(Session), Who, On, Flags), ok;
act({send, Session, Match}) -> trace:send(get(Session), Match, []), ok;
act({'receive', Session, Match}) -> trace:recv(get(Session), Match, []), ok;
act({call, Who, Function, Arguments, Times}) ->
    get(Who) ! {call, Function, Arguments, Times, self()},
    receive called -> ok end;
act({load}) -> load(late, []), ok.

%% A BEAM removes all flags of new processes, whichever flags it is given; the host removes the given flags. The BEAM
%% is brought to the host's result here.
take_away(Session, Kind, New, Who, Flags) ->
    {flags, Before} = trace:info(Session, New, flags),
    trace:Kind(Session, Who, false, Flags),
    {flags, []} = trace:info(Session, New, flags),
    Left = [Flag || Flag <- Before, Flags =/= [all], not lists:member(Flag, Flags)],
    Left =/= [] andalso trace:Kind(Session, new, true, Left),
    Left.

id(Who) when Who =:= tracee; Who =:= other -> get(Who);
id(Who) -> Who.

info(Name, What, Item) ->
    case get(Name) of
        undefined -> badarg;
        Session ->
            try trace:info(Session, id(What), Item) of
                {meta, []} -> meta(trace:info(Session, What, meta_match_spec));
                {Item, Value} -> value(Item, Value)
            catch
                error:badarg -> badarg
            end
    end.

%% A BEAM forgets a meta tracer that has ended at the next call. Here the session goes on to name the tracer.
meta({meta_match_spec, false}) -> false;
meta(_) ->
    false = is_process_alive(get(mortal)),
    put(gone, true),
    tracer.

value(tracer, {logging, _}) -> tracer;
value(Item, Tracer) when Item =:= tracer, is_pid(Tracer); Item =:= meta, is_pid(Tracer) -> tracer;
value(meta, {logging, _}) -> tracer;
value(flags, Flags) -> lists:sort(Flags);
value(Item, Usage) when is_list(Usage), (Item =:= call_time orelse Item =:= call_memory) ->
    lists:sort([{Who, element(2, Used)} || Used <- Usage, Who <- [tracee, other], get(Who) =:= element(1, Used)]);
value(_, Value) -> Value.

sessions_of(Who) ->
    Sessions = trace:session_info(Who),
    [Name || Name <- [a, b], lists:member(get(Name), Sessions) orelse lists:keymember(Name, 1, Sessions)].
