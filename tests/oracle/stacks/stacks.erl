%% Runs each case below in a BEAM and writes, into the current folder:
%%   CASE.SPEC.jsonl     its calls of t_* functions with `return_to`, recorded as SPEC says: plain, or with callers
%%   CASE.SPEC.stacks    the true stacks, a line for each, with the number of its calls: STACK COUNT
%% Functions t_* are traced, others are not. With callers, a tail call takes its caller's place: the true stack is the
%% stack of the process. Without callers, a tail call looks like any other call: the true stack has the calls that had
%% not returned. The same holds for recursion, since a stack trace names a function once that has called itself.
%% For random programs it writes:
%%   random.jsonl        all events of a BEAM for their calls, with `return_to`, callers and {exception_trace}
%%   random.NAME.jsonl   the events for the same programs if only calls of NAME are traced, with `return_to`
-module(stacks).
-export([main/0]).

cases() ->
    [{tail_calls, fun(N) -> [tails(I) || I <- lists:seq(1, N)] end},
     {nested, fun(N) -> [t_outer(I) || I <- lists:seq(1, N)] end},
     {recursion, fun(N) -> t_sum(N) end},
     {loop, fun(N) -> t_loop(N) end},
     {server, fun(N) -> served(N) end},
     {exceptions, fun(N) -> [caught(I rem 4) || I <- lists:seq(1, 4 * N)] end},
     {generator, fun(N) -> [{t_outer(I), [t_leaf(J) || J <- lists:seq(1, 3)]} || I <- lists:seq(1, N)] end},
     {callbacks, fun(N) -> [t_all(3) || _ <- lists:seq(1, N)] end},
     {two_callbacks, fun(N) -> [t_alternating(3) || _ <- lists:seq(1, N)] end},
     {tree, fun(N) -> [t_tree(3) || _ <- lists:seq(1, N)] end}].

%% --- traced functions ---

tails(N) -> R = t_parse(N), {R, t_print(N)}.
t_parse(N) -> at(), t_parse1(N).
t_parse1(N) -> at(), t_parse2(N).
t_parse2(N) -> at(), {parsed, N}.
t_print(N) -> at(), {printed, N}.

t_outer(N) -> at(), R = t_middle(N), {R, t_leaf(N)}.
t_middle(N) -> at(), R = t_leaf(N), {R, t_parse(N)}.
t_leaf(N) -> at(), {leaf, N}.

t_sum(0) -> at(), 0;
t_sum(N) -> at(), N + t_sum(N - 1).

t_loop(0) -> at(), {stopped, 0};
t_loop(N) -> at(), {leaf, N} = t_leaf(N), t_loop(N - 1).

served(N) ->
    [self() ! {request, I} || I <- lists:seq(1, N)],
    self() ! stop,
    serve().
serve() ->
    receive
        {request, N} -> handle(N), serve();
        stop -> stopped
    end.
handle(N) -> R = t_handle(N), {R, N}.
t_handle(N) when N rem 2 =:= 0 -> at(), t_parse(N);
t_handle(N) -> at(), R = t_leaf(N), {R, t_print(N)}.

caught(0) -> R = catch t_thrower(0), {R, t_leaf(0)};
caught(1) -> R = t_catcher(fun t_thrower/1), {R, t_leaf(1)};
caught(2) -> R = t_catcher(fun thrower/1), {R, t_leaf(2)};
caught(3) -> R = t_catcher(fun t_between/1), {R, t_leaf(3)}.
t_catcher(F) -> at(), R = try F(1) catch _:_ -> t_leaf(2) end, {R, t_print(3)}.
t_between(N) -> at(), R = thrower(N), {R, t_leaf(N)}.
thrower(N) -> R = t_thrower(N), {R, N}.
t_thrower(N) -> at(), throw({thrown, N}).

t_all(N) -> at(), R = each(fun t_each/1, lists:seq(1, N)), {R, t_leaf(N)}.
t_each(N) -> at(), t_leaf(N).
each(_, []) -> [];
each(F, [H | T]) -> R = F(H), [R | each(F, T)].

t_tree(0) -> at(), leaf;
t_tree(N) -> at(), R = each(fun t_tree/1, [N - 1, 0, N - 1]), {R, t_leaf(N)}.

t_alternating(N) -> at(), R = fold(fun t_step/2, [], lists:seq(1, N)), {R, each(fun t_each/1, [1, 2]), t_leaf(N)}.
t_step(N, A) -> at(), R = each(fun t_each/1, [N]), [R | A].
fold(_, A, []) -> A;
fold(F, A, [H | T]) -> R = F(H, A), fold(F, R, T).

%% --- programs: {First, Second, Last}, each a call {Function, Program} or none, the last a tail call ---

-define(CALL(Call),
        case Call of
            none -> none;
            thrown -> throw(none);
            {t_a, _} -> t_a(element(2, Call));
            {t_b, _} -> t_b(element(2, Call));
            {t_c, _} -> t_c(element(2, Call));
            {a, _} -> a(element(2, Call));
            {b, _} -> b(element(2, Call));
            {c, _} -> c(element(2, Call))
        end).
-define(PROGRAM(Name), Name({First, Second, Last}) -> _ = ?CALL(First), _ = ?CALL(Second), ?CALL(Last)).
-define(CATCHING(Name), Name({First, Second, Last}) -> _ = (catch ?CALL(First)), _ = (catch ?CALL(Second)), ?CALL(Last)).
?PROGRAM(t_a).
?PROGRAM(t_b).
?CATCHING(t_c).
?PROGRAM(a).
?PROGRAM(b).
?CATCHING(c).

call(0) -> lists:nth(rand:uniform(40), [thrown | lists:duplicate(39, none)]);
call(Depth) ->
    case rand:uniform(4) of
        1 -> none;
        _ -> {lists:nth(rand:uniform(6), [t_a, t_b, t_c, a, b, c]), {call(Depth - 1), call(Depth - 1), call(Depth - 1)}}
    end.

random() ->
    _ = rand:seed(exsss, {1, 2, 3}),
    Programs = [call(1 + I rem 5) || I <- lists:seq(1, 300)],
    random("random.jsonl", [t_a, t_b, t_c], [{'_', [], [{exception_trace}, {message, {caller}}]}], Programs),
    [random(io_lib:format("random.~s.jsonl", [N]), [N], true, Programs) || N <- [t_a, t_b, t_c]].

random(File, Names, Spec, Programs) ->
    _ = [erlang:trace_pattern({?MODULE, N, 1}, lists:member(N, Names) andalso Spec, [local]) || N <- [t_a, t_b, t_c]],
    Recorded = [recorded(fun() -> catch ?CALL(Program) end) || Program <- Programs],
    Processes = lists:seq(1, length(Programs)),
    ok = file:write_file(File, [events(I, Events) || {I, Events} <- lists:zip(Processes, Recorded)]).

recorded(Fun) ->
    Tracee = spawn(fun() -> receive go -> Fun() end end),
    Monitor = monitor(process, Tracee),
    1 = erlang:trace(Tracee, true, [call, return_to]),
    Tracee ! go,
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    received(Tracee, erlang:trace_delivered(Tracee)).

events(Process, Events) ->
    [event(Process, I, Event) || {I, Event} <- lists:zip(lists:seq(1, length(Events)), Events)].
event(Process, I, Event) ->
    Line = case Event of
        {Tag, Function, _} when Tag =:= return_from; Tag =:= exception_from -> line(I, Tag, Function, ",\"extra\":\"none\"");
        _ -> json(I, Event)
    end,
    string:replace(Line, "<0.1.0>", io_lib:format("<0.~b.0>", [Process])).

%% --- the true stack of the process, at this moment ---

at() ->
    {current_stacktrace, Frames} = process_info(self(), current_stacktrace),
    put(seen, [[F || F = {?MODULE, N, _, _} <- Frames, is_traced(N)] | get(seen)]),
    ok.

is_traced(Name) -> lists:prefix("t_", atom_to_list(Name)).

%% --- recordings ---

main() ->
    erlang:system_flag(backtrace_depth, 1000),
    [begin
         write(Name, plain, run(Case, true), logical(run(Case, [{'_', [], [{exception_trace}]}]))),
         write(Name, callers, run(Case, [{'_', [], [{message, {caller}}]}]), with_callers(Name, Case))
     end || {Name, Case} <- cases()],
    random(),
    halt(0).

with_callers(recursion, Case) -> logical(run(Case, [{'_', [], [{exception_trace}]}]));
with_callers(_, Case) -> physical(run(Case, true)).

%% Returns {Events, [Stack]}; the stacks are as at() has seen them.
run(Case, Spec) ->
    _ = [erlang:trace_pattern({?MODULE, N, A}, Spec, [local])
         || {N, A} <- ?MODULE:module_info(functions), is_traced(N)],
    Me = self(),
    Tracee = spawn(fun() -> put(seen, []), receive go -> Case(6) end, Me ! {seen, lists:reverse(get(seen))} end),
    1 = erlang:trace(Tracee, true, [call, return_to]),
    Tracee ! go,
    Seen = receive {seen, S} -> S end,
    Delivered = erlang:trace_delivered(Tracee),
    {received(Tracee, Delivered), Seen}.

received(Tracee, Delivered) ->
    receive
        {trace_delivered, Tracee, Delivered} -> [];
        Event when element(1, Event) =:= trace -> [list_to_tuple(tl(tl(tuple_to_list(Event)))) | received(Tracee, Delivered)]
    end.

%% --- true stacks ---

physical({_, Seen}) -> [lists:reverse([{N, A} || {_, N, A, _} <- Frames]) || Frames <- Seen].

logical({Events, _}) -> logical(Events, []).

logical([{call, {_, N, Args}} | T], Open) ->
    Now = [{N, length(Args)} | Open],
    [lists:reverse(Now) | logical(T, Now)];
logical([{return_to, _} | T], Open) -> logical(T, Open);
logical([End | T], [F | Open]) -> {_, F1, A} = element(2, End), {F1, A} = F, logical(T, Open);
logical([], []) -> [].

%% --- files ---

write(Name, Kind, {Events, _}, Stacks) ->
    File = fun(Type) -> io_lib:format("~s.~s.~s", [Name, Kind, Type]) end,
    ok = file:write_file(File(jsonl), [json(I, E) || {I, E} <- lists:zip(lists:seq(1, length(Events)), Events)]),
    Lines = lists:sort([lists:join(";", ["<0.1.0>" | [name(F) || F <- Stack]]) || Stack <- Stacks]),
    ok = file:write_file(File(stacks), counted(lists:sort([lists:flatten(L) || L <- Lines]))).

counted([]) -> [];
counted([L | _] = All) ->
    {Same, Others} = lists:splitwith(fun(X) -> X =:= L end, All),
    [io_lib:format("~s ~b~n", [L, length(Same)]) | counted(Others)].

name({N, A}) -> io_lib:format("~p:~p/~b", [?MODULE, N, A]).

json(I, {call, {M, N, Args}}) -> line(I, call, {M, N, length(Args)}, []);
json(I, {call, {M, N, Args}, Caller}) -> line(I, call, {M, N, length(Args)}, io_lib:format(",\"match_spec_result\":\"~w\"", [Caller]));
json(I, {return_to, To}) -> line(I, return_to, To, []).

line(I, Tag, Term, More) ->
    io_lib:format("{\"ts\":~b,\"ts_kind\":\"monotonic\",\"tracee\":\"<0.1.0>\",\"tag\":\"~s\",\"term\":\"~w\"~s}~n", [I, Tag, Term, More]).
