#!/usr/bin/env escript
%%! +pc latin1
%% A random program of calls, tail calls, exceptions and catches, run twice: by an interpreter, which knows
%% for each call whether it is an external call and whether it is a tail call, and by a real BEAM under trace.
%%
%%   execution.escript SEED FOLDER
%%
%% writes, as JSON lines, execution.jsonl (the interpreter's actions: calls, and the ends of physical frames),
%% each.jsonl (the BEAM's calls, results and returns, with the interpreter's facts) and beam.jsonl (all events
%% of the BEAM, without these facts); and the BEAM's events as text, for several kinds of trace: local.txt,
%% returns.txt, global.txt. See test_execution.c.
-mode(compile).

-define(FUNCTIONS, 9).
-define(DEPTH, 7).

main([Seed, Folder]) ->
    rand:seed(exsss, list_to_integer(Seed)),
    {Program, Events} = program(),
    ok = file:write_file(filename:join(Folder, "program.erl"), source(Program)),
    load(source(Program)),
    load(driver()),
    Message = {message, {caller}},
    Local = traced([call, return_to], [{'_', [], [{exception_trace}, Message]}], [local]),
    Returns = traced([call], [{'_', [], [{return_trace}, Message]}], [local]),
    Global = traced([call], [{'_', [], [{exception_trace}, Message]}], [global]),
    Write = fun(Name, Lines) -> ok = file:write_file(filename:join(Folder, Name), Lines) end,
    Write("local.txt", [text(M) || M <- Local]),
    Write("returns.txt", [text(M) || M <- Returns]),
    Write("global.txt", [text(M) || M <- Global]),
    Write("execution.jsonl", [json(E) || E <- Events]),
    Write("each.jsonl", [json(E) || E <- with_facts(Local, Events)]),
    Write("beam.jsonl", [json(E) || E <- Local]).

%% --- programs: for each function its steps, {'call' | 'try', Callee, IsExternal}, and its end,
%% {tail, Callee, IsExternal} | value | {raise, Class}. An argument limits the depth of further calls.

%% Returns a program with neither too many nor too few calls.
program() ->
    Program = maps:from_list([{I, body()} || I <- lists:seq(1, ?FUNCTIONS)]),
    Events = drive(Program, 2000),
    Calls = length([E || E <- Events, element(1, E) =:= call]),
    case Calls > 100 andalso length(Events) < 2000 of
        true -> {Program, Events};
        false -> program()
    end.

body() ->
    Steps = [{pick(['call', 'call', 'try']), callee(), coin()} || _ <- lists:seq(1, rand:uniform(3) - 1)],
    {Steps, pick([{tail, callee(), coin()}, {tail, callee(), coin()}, value, {raise, pick([error, exit, throw])}])}.

callee() -> rand:uniform(?FUNCTIONS).
coin() -> rand:uniform(2) =:= 1.
pick(L) -> lists:nth(rand:uniform(length(L)), L).

%% --- the program as Erlang ---

source(Program) ->
    ["-module(r).\n-compile(export_all).\n-compile(nowarn_export_all).\n",
     [clauses(I, B) || {I, B} <- lists:sort(maps:to_list(Program))]].

clauses(I, {Steps, End}) ->
    io_lib:format("f~p(0) -> {f~p, 0};~nf~p(K) -> ~s~s.~n",
                  [I, I, I, [step(S) || S <- Steps], ending(I, End)]).

step({'call', J, External}) -> [call(J, External), ", "];
step({'try', J, External}) -> ["try ", call(J, External), " catch _:_ -> caught end, "].

ending(_, {tail, J, External}) -> call(J, External);
ending(I, value) -> io_lib:format("{f~p, K}", [I]);
ending(I, {raise, Class}) -> io_lib:format("erlang:~p({f~p, K})", [Class, I]).

call(J, true) -> io_lib:format("r:f~p(K - 1)", [J]);
call(J, false) -> io_lib:format("f~p(K - 1)", [J]).

driver() ->
    ["-module(drv).\n-export([w/0]).\nw() -> ",
     [io_lib:format("try r:f~p(~p) catch _:_ -> caught end, ", [I, ?DEPTH]) || I <- lists:seq(1, ?FUNCTIONS)],
     "ok.\n"].

load(Source) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Source)),
    Forms = [begin {ok, F} = erl_parse:parse_form(T), F end || T <- split(Tokens, [])],
    {ok, Module, Code} = compile:forms(Forms, []),
    {module, Module} = code:load_binary(Module, "", Code).

split([], []) -> [];
split([{dot, _} = D | T], Form) -> [lists:reverse([D | Form]) | split(T, [])];
split([H | T], Form) -> split(T, [H | Form]).

%% --- the program as interpreted ---

drive(Program, Limit) ->
    put(events, []),
    put(limit, Limit),
    emit({call, {drv, w, []}, [{external, true}, {tail, false}]}),
    try [caught({drv, w, 0}, physical(Program, I, ?DEPTH, true)) || I <- lists:seq(1, ?FUNCTIONS)]
    catch too_many -> ok
    end,
    emit({return_from, {drv, w, 0}, ok}),
    lists:reverse(get(events)).

emit(Event) ->
    put(events, [Event | get(events)]),
    length(get(events)) =:= get(limit) andalso throw(too_many).

%% A call that gets a frame of its own, and the end of that frame.
physical(Program, I, K, External) ->
    emit({call, {r, name(I), [K]}, [{external, External}, {tail, false}]}),
    {How, Value, Last} = run(Program, I, K),
    emit({How, {r, name(Last), 1}, Value}),
    How.

%% A catch is recorded: otherwise a function that catches and raises again at once could not be seen.
caught(Catcher, exception_from) -> emit({return_to, Catcher});
caught(_, return_from) -> ok.

name(I) -> list_to_atom("f" ++ integer_to_list(I)).

%% Returns the outcome of a call, and the function that was executing then.
run(_, I, 0) -> {return_from, {name(I), 0}, I};
run(Program, I, K) ->
    {Steps, End} = maps:get(I, Program),
    case steps(Program, I, Steps, K - 1) of
        raised -> {exception_from, get(reason), I};
        returned -> run_end(Program, I, K, End)
    end.

run_end(Program, _, K, {tail, J, External}) ->
    emit({call, {r, name(J), [K - 1]}, [{external, External}, {tail, true}]}),
    run(Program, J, K - 1);
run_end(_, I, K, value) -> {return_from, {name(I), K}, I};
run_end(_, I, K, {raise, Class}) ->
    put(reason, {Class, {name(I), K}}),
    {exception_from, get(reason), I}.

steps(_, _, [], _) -> returned;
steps(Program, I, [{Kind, J, External} | Steps], K) ->
    case {Kind, physical(Program, J, K, External)} of
        {'call', exception_from} -> raised;
        {_, How} ->
            caught({r, name(I), 1}, How),
            steps(Program, I, Steps, K)
    end.

%% --- the program as traced ---

traced(Flags, Spec, Options) ->
    Tracee = spawn(fun() -> receive go -> drv:w() end end),
    erlang:trace_pattern({r, '_', '_'}, Spec, Options),
    1 = erlang:trace(Tracee, true, Flags),
    Monitor = monitor(process, Tracee),
    Tracee ! go,
    receive {'DOWN', Monitor, _, _, normal} -> ok end,
    Delivered = erlang:trace_delivered(Tracee),
    Messages = messages(Tracee, Delivered),
    erlang:trace_pattern({r, '_', '_'}, false, Options),
    Messages.

messages(Tracee, Delivered) ->
    receive
        {trace_delivered, Tracee, Delivered} -> [];
        {trace, Tracee, call, MFA, Caller} -> [{call, MFA, [{match_spec_result, Caller}]} | messages(Tracee, Delivered)];
        {trace, Tracee, return_to, MFA} -> [{return_to, MFA} | messages(Tracee, Delivered)];
        {trace, Tracee, Tag, MFA, Value} -> [{Tag, MFA, Value} | messages(Tracee, Delivered)]
    end.

%% The n-th call is the same in both. The function to which a call returns is left out.
with_facts(Traced, [First | Events]) ->
    [First | add_facts(only_catchers(Traced), [E || E <- Events, element(1, E) =:= call])] ++
        [lists:last(Events)].

only_catchers([{exception_from, _, _} = E, {return_to, _} = To | T]) -> [E, To | only_catchers(T)];
only_catchers([{return_to, _} | T]) -> only_catchers(T);
only_catchers([H | T]) -> [H | only_catchers(T)];
only_catchers([]) -> [].

add_facts([{call, MFA, Result} | Traced], [{call, MFA, Facts} | Calls]) ->
    [{call, MFA, Facts ++ Result} | add_facts(Traced, Calls)];
add_facts([Return | Traced], Calls) -> [Return | add_facts(Traced, Calls)];
add_facts([], []) -> [].

%% --- files ---

text({call, {M, F, Args}, Facts}) ->
    io_lib:format("call ~s <- ~s~n", [mfa({M, F, length(Args)}), mfa(proplists:get_value(match_spec_result, Facts))]);
text({return_to, MFA}) -> io_lib:format("return_to ~s~n", [mfa(MFA)]);
text({Tag, MFA, Value}) -> io_lib:format("~p ~s ~0p~n", [Tag, mfa(MFA), Value]).

mfa(undefined) -> "undefined";
mfa({M, F, A}) -> io_lib:format("~p:~p/~p", [M, F, A]).

json({call, MFA, Facts}) -> line(call, MFA, [fact(F) || F <- Facts]);
json({return_to, MFA}) -> line(return_to, MFA, []);
json({Tag, MFA, Value}) -> line(Tag, MFA, io_lib:format(",\"extra\":\"~0p\"", [Value])).

line(Tag, Term, Rest) ->
    io_lib:format("{\"tracee\":\"<0.100.0>\",\"tag\":\"~p\",\"term\":\"~0p\"~s}~n", [Tag, Term, Rest]).

fact({match_spec_result, Result}) -> io_lib:format(",\"match_spec_result\":\"~0p\"", [Result]);
fact({Name, Value}) -> io_lib:format(",\"~p\":~p", [Name, Value]).
