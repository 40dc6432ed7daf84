#!/usr/bin/env escript
%%! +pc latin1 -boot no_dot_erlang
%% The answers of a real BEAM about match specifications, which test_match.c compares with the host's.
%%
%%   match.escript cases              the cases below
%%   match.escript random SEED COUNT  COUNT generated cases
%%   match.escript broken SEED COUNT  the same with a part of each exchanged, which often makes it invalid
%%   match.escript kinds              every function with 0 to 4 operands, in guard and body, for each
%%                                    kind of specification: whether the BEAM accepts it
%%   match.escript differences        cases in which OTP 26 and later differ from OTP 25, and from the host
%%
%% Functions that OTP 25 lacks are used if the BEAM has them.
%%
%% The output is external terms, each after its size in 32 bits: {Self, Arguments, Specification, Result}.
%% Result is {ok, Message, Flags} or {error, Texts}; for kinds the term is {Kind, Specification, ok |
%% badarg}.
-mode(compile).

main(["cases"]) ->
    start("1"),
    [emit(test(Args, Spec)) || {Args, Spec} <- cases()];
main(["random", Seed, Count]) ->
    start(Seed),
    [emit(random()) || _ <- lists:seq(1, list_to_integer(Count))];
main(["broken", Seed, Count]) ->
    start(Seed),
    [emit(broken()) || _ <- lists:seq(1, list_to_integer(Count))];
main(["differences"]) ->
    start("1"),
    [emit(test(Args, Spec)) || {Args, Spec} <- later(differences())];
main(["kinds"]) ->
    start("1"),
    [emit({Kind, Spec, accepted(Kind, Spec)}) ||
        Kind <- [call, send, 'receive'], Name <- names(), N <- lists:seq(0, 4),
        {Name, N} =/= {is_function, 2} orelse later([true]) =/= [],
        Call <- [list_to_tuple([Name | lists:duplicate(N, a)])],
        Spec <- [[{'_', [Call], []}], [{'_', [], [Call]}]]].

start(Seed) ->
    rand:seed(exsss, list_to_integer(Seed)),
    ok = io:setopts([{encoding, latin1}, binary]).

emit(Term) ->
    Bytes = term_to_binary(Term),
    file:write(standard_io, [<<(byte_size(Bytes)):32>>, Bytes]).

%% Cases for OTP 26 and later alone.
later(List) -> [Element || list_to_integer(erlang:system_info(otp_release)) > 25, Element <- List].

test(Args, Spec) ->
    {self(), Args, Spec,
     case erlang:match_spec_test(Args, Spec, trace) of
         {ok, Message, Flags, []} -> {ok, Message, Flags};
         {error, Errors} -> {error, [Text || {error, Text} <- Errors]}
     end}.

accepted(call, Spec) ->
    try erlang:trace_pattern({?MODULE, no_such_function, 0}, Spec, []) of
        _ -> ok
    catch
        error:badarg -> badarg
    end;
accepted(Event, Spec) ->
    try erlang:trace_pattern(Event, Spec, []) of
        _ -> ok
    catch
        error:badarg -> badarg
    end.

%% Functions of OTP 25, and a name that is no function.
names() ->
    [is_atom, is_float, is_integer, is_list, is_number, is_pid, is_port, is_reference, is_tuple,
     is_map, is_binary, is_function, is_record, is_map_key, abs, element, hd, length, node, round,
     size, map_size, map_get, bit_size, byte_size, binary_part, tl, trunc, float, '+', '-', '*', '/',
     'div', 'rem', 'band', 'bor', 'bxor', 'bnot', 'bsl', 'bsr', '>', '>=', '<', '=<', '=:=', '==',
     '=/=', '/=', 'not', 'xor', get_tcw, set_tcw, set_tcw_fake, const, 'and', 'or', 'andalso',
     andthen, 'orelse', self, message, is_seq_trace, set_seq_token, get_seq_token, return_trace,
     exception_trace, display, process_dump, enable_trace, disable_trace, trace, caller, caller_line,
     foo, '++', apply] ++
        later([is_boolean, is_bitstring, tuple_size, floor, ceil, max, min, current_stacktrace]).

%% --- Cases.

cases() ->
    [{Args, [{Head, [], [{message, '$$'}]}]} || {Args, Head} <- heads()] ++
        [{[1, 2], [{['$1', '$2'], [Guard], []}]} || Guard <- guards()] ++
        [{[1, 2], [{['$1', '$2'], [], [{message, Body}]}]} || Body <- guards() ++ bodies() ++ later(later_bodies())] ++
        [{[1, 2], [{'_', [], Body}]} || Body <- actions()] ++
        [{[1], Spec} || Spec <- faults() ++ later(later_faults())] ++
        [{[1], [{[x], [], []}, {'_', [], [{message, second}]}]},
         {[1], [{[1], [{'>', 1, 2}], []}, {[1], [false], []}]},
         {[a, b, [a, b, c]], documented()}, {[a, b, {a, b}], documented()}, {[a, b, c], documented()}].

documented() ->
    [{['$1', '$2', '$3'],
      [{'orelse', {'=:=', '$3', {{'$1', '$2'}}},
        {'and', {'=:=', '$1', {hd, '$3'}}, {'=:=', '$2', {hd, {tl, '$3'}}}}}], []}].

heads() ->
    [{[1, 2], '$1'}, {[1, 2], '$0'}, {[], '$1'}, {[1, 2], '_'}, {[1, 2], ['$10', '$2']},
     {[1, 2], ['$2', '$1']}, {[1, 2], ['$01', '$1']}, {[1, 2], ['$00', '$1']}, {[1, 2], ['_', '$1']},
     {['$', '$x'], ['$', '$x']}, {['$$', '$_'], ['$$', '$_']}, {[1, 2], ['$$', '$_']},
     {[1, 2], ['$99999999', '$100000000']}, {[1, 1], ['$1', '$1']}, {[1, 1.0], ['$1', '$1']},
     {[{a, [b]}, {a, [b]}], ['$1', '$1']}, {[{a, [b]}, {a, [c]}], ['$1', '$1']},
     {[#{a => 1, b => 2}], [#{a => '$1'}]}, {[#{a => 1}], [#{a => 1.0}]}, {[#{a => 1}], [#{b => '_'}]},
     {[#{a => 1, b => 2}], [#{}]}, {[x], [#{}]}, {[#{a => #{b => 1, c => 3}}], [#{a => #{b => '$1'}}]},
     {[#{'_' => 1}], [#{'_' => '$1'}]}, {[#{'$1' => 1}], [#{'$1' => '$1'}]},
     {[#{{'$1'} => 1}], [#{{'$1'} => '$1'}]}, {[#{'$$' => 1}], [#{'$$' => '$1'}]},
     {[maps:from_list([{I, -I} || I <- lists:seq(1, 50)])], [#{7 => '$1', 50 => '$2'}]},
     {[{1, 2, 3}], [{1, '$1', '_'}]}, {[{1, 2, 3}], [{1, '$1'}]}, {[{1, 2, 3}], [{'$1', '$1', 3}]},
     {[[1, 2, 3]], [[1 | '$1']]}, {[[1, 2, 3]], [['_', '_' | '$1']]}, {[[1, 2 | 3]], [['_', '$2' | '$1']]},
     {[[1, [2, [3, {4}]]]], [['$1', ['$2', ['$3', {'$4'}]]]]}, {[[[1], 2]], [[['$1'], '$2']]},
     {[[]], ['$1']}, {[[]], [[]]}, {[], []}, {[], ['$1']}, {[1], []}, {[1, 2], [1, 2, 3]},
     {[1 bsl 70, 1.0, <<1>>], [1 bsl 70, 1.0, <<1>>]}, {[1 bsl 70], [(1 bsl 70) + 1]}, {[{}], [{}]},
     {["abc", {}, [{x}]], ["abc", {}, [{x}]]}, {["abc"], ["abd"]}, {[{1, 1}, 1], [{'$1', '$2'}, '$2']},
     {[1, {1, 2}], ['$1', {'$1', '$2'}]}, {[1, 2], {1, '$1'}}, {[1], {1, '$1'}}, {[], {}},
     {[<<1:3>>, <<>>], [<<1:3>>, '$1']}].

guards() ->
    [{'and', true, 17}, {'and', 17}, {'and', false, 17}, {'and', true, true, true}, {'and', true, {hd, []}},
     {'or', true, 17}, {'or', false}, {'or', true, false}, {'or', true, {hd, []}}, {'or', false, false},
     {'andalso', true, 17}, {'andalso', 17, true}, {'andalso', 17}, {'andalso', false, {hd, []}},
     {'andalso', true, {hd, []}}, {'andalso', true, true, x, true}, {'andalso', true, true, true},
     {andthen, true, true}, {'orelse', true, 17}, {'orelse', 17, true}, {'orelse', false, false, x},
     {'orelse', true, {hd, []}}, {'orelse', false, {hd, []}}, {'orelse', false, false, true},
     {'not', 17}, {'not', true}, {'not', false}, {'xor', true, 17}, {'xor', true, false}, {'xor', true, true},
     {is_record, {{a, 1}}, a, 2}, {is_record, {{a, 1}}, a, 3}, {is_record, {{}}, a, 0},
     {is_record, x, 1, 2}, {is_record, x, a, b}, {is_record, x, a, -1}, {is_record, x, a, 1 bsl 80},
     {is_seq_trace}, {'=:=', {self}, {self}}, {'==', {get_tcw}, 0}, {'==', {node}, {node, {self}}},
     {'>', '$2', '$1'}, {'<', '$2', '$1'}, {'=<', 1, 1.0}, {'=:=', 1, 1.0}, {'==', 1, 1.0},
     {is_list, '$_'}, {is_list, '$$'}, {'==', '$_', '$$'}, {'==', {length, '$_'}, 2}, true, false, a,
     '$1', [], {{true}}, {const, true}, {const, {true}}].

bodies() ->
    [{element, 1, {{a}}}, {element, 0, {{a}}}, {element, 1.0, {{a}}}, {element, 1 bsl 80, {{a}}},
     {size, {{a, b}}}, {size, <<1, 2:4>>}, {size, []}, {bit_size, <<1, 2:4>>}, {byte_size, <<1, 2:4>>},
     {binary_part, <<1, 2, 3>>, {{0, 1}}}, {binary_part, <<1, 2, 3>>, 3, -1}, {binary_part, <<1, 2, 3>>, 3, 1},
     {binary_part, <<1, 2, 3>>, {{0, 1, 2}}}, {binary_part, <<1, 2, 3>>, 4, -2}, {binary_part, <<1, 2:4>>, 0, 2},
     {binary_part, <<1, 2, 3>>, -1, 2}, {binary_part, <<1, 2, 3>>, 0, 0}, {binary_part, <<1, 2, 3>>, 3, 0},
     {map_get, a, #{a => 1}}, {map_get, b, #{a => 1}}, {map_get, b, c}, {map_size, #{a => 1}},
     {map_size, x}, {is_map_key, a, #{a => 1}}, {is_map_key, b, #{}}, {is_map_key, b, c},
     {hd, "ab"}, {tl, "ab"}, {tl, []}, {length, "ab"}, {length, [a | b]}, {length, x}, {node, 17},
     {float, 3}, {float, 1 bsl 2000}, {float, -(1 bsl 1000)}, {round, 2.5}, {round, -2.5}, {round, 1.0e30},
     {trunc, -1.9}, {trunc, 1.0e300}, {abs, -5}, {abs, -0.5}, {abs, -(1 bsl 59)}, {abs, a}, {round, a},
     {'/', 4, 2}, {'/', 4, 0}, {'/', 4, 0.0}, {'/', 1 bsl 2000, 2}, {'div', -7, 2}, {'rem', -7, 2},
     {'div', 7, 0}, {'div', 7.0, 2}, {'div', 1 bsl 200, 3}, {'rem', -(1 bsl 200), 1 bsl 70},
     {'div', (1 bsl 192) - 1, (1 bsl 128) - 1}, {'bsl', 1, -3}, {'bsl', -1, -3}, {'bsr', 1, -70},
     {'bsr', -5, 1}, {'bsr', -5, 1 bsl 70}, {'bsl', 0, 1 bsl 70}, {'bsl', 5, 1 bsl 70},
     {'bsr', -(1 bsl 64), 64}, {'bsr', -(1 bsl 64) - 1, 64}, {'band', -(1 bsl 70), (1 bsl 69) + 5},
     {'bor', -1, 1 bsl 70}, {'bxor', -(1 bsl 64), 1 bsl 64}, {'bnot', 1 bsl 64}, {'bnot', -(1 bsl 64)},
     {'bnot', 1.0}, {'band', a, 1}, {'*', 1.0e300, 1.0e300}, {'*', 1 bsl 1024, 2.0}, {'*', 1 bsl 100, -(1 bsl 100)},
     {'+', a, 1}, {'+', 1}, {'+', a}, {'-', 1.5}, {'-', a}, {'-', -(1 bsl 59)}, {'-', 1 bsl 59},
     {'-', 1 bsl 64, 1 bsl 64}, {'+', 1 bsl 64, -1}, {'-', 0, 1 bsl 64}, {'+', (1 bsl 59) - 1, 1},
     {'*', (1 bsl 59) - 1, (1 bsl 59) - 1}, {'+', 1 bsl 64, 1.0}, {'>', 1 bsl 64, 1.0},
     {is_atom, {hd, []}}, {{{hd, []}, 1}}, [{hd, []}], #{a => {hd, []}}, {'and', {is_atom, {hd, []}}, true},
     {message, 17}, {message, {message, 17}}, {return_trace}, {exception_trace}, {silent, foo},
     {set_tcw, a}, {set_tcw, -1}, {set_tcw, 1 bsl 33}, {set_tcw, 5}, {set_tcw_fake, 5}, {set_tcw_fake, a},
     {get_seq_token}, {self}, {node}, '_', '$$', '$_', '$', '$x', [{node}], [a, {self} | {node}],
     #{a => {self}, '$$' => 1}, #{{{a}} => {{b}}, '$1' => {self}},
     {const, {a, '$1'}}, {const, {const}}, {{}}, {{{{}}}}, {{'$1', [a, b, '$2']}}, [{{a}}], ['$1'],
     "hello", <<"x">>, 1.5, 42, {{a, {const, {b, c}}, "d"}}].

%% Functions that OTP 25 lacks. The part taken from a stack trace has no line of this file.
later_bodies() ->
    [{Name, Operand} || Name <- [is_boolean, is_bitstring, tuple_size, floor, ceil],
                        Operand <- [true, maybe_not, 1, 1.5, -1.5, 1.0e300, 1 bsl 70, <<1:3>>, <<1>>, {{}}, {{a, b}}, [], #{}]] ++
        [{Name, A, B} || Name <- [max, min], A <- [1, 1.0, a, -0.0, [], {const, {a}}], B <- [1, 1.0, 0.0, b, #{}]] ++
        [{is_function, A, B} || A <- [fun lists:map/2, fun(X) -> X end, a], B <- [0, 1, 2, -1, 1.0, a, 1 bsl 70]] ++
        [{max, {hd, []}, 1}, {is_function, {hd, []}, 1}, {floor, {hd, []}}] ++
        [{is_list, {current_stacktrace}}, {'>', {length, {current_stacktrace}}, 1}, {current_stacktrace, 0},
         {length, {current_stacktrace, 1}}, {current_stacktrace, -1}, {current_stacktrace, a}, {current_stacktrace, 1.0},
         {current_stacktrace, '$1'}, {current_stacktrace, {'+', 1, 1}}, {current_stacktrace, 1 bsl 70},
         {is_list, {current_stacktrace, (1 bsl 31) - 1}}].

actions() ->
    A = {message, a}, B = {message, b}, C = {message, c},
    [[], [a, b, c], [true], [false], [A], [A, B], [A, {message, false}], [{message, false}, {message, true}],
     [{message, true}], [{return_trace}], [{exception_trace}], [{exception_trace}, {return_trace}],
     [{message, hello}, {return_trace}, {exception_trace}], [{hd, []}], [{message, {hd, []}}],
     [[A, B, C]], [[A | B]], [[A, B | C]], [{{A, B, C}}], [#{A => B}], [#{x => A, y => B, z => C}],
     [#{A => 1, B => 2}], [{'=:=', A, B}], [{'and', A, B, C}], [{'andalso', A, B}], [{is_record, A, B, C}],
     [{binary_part, A, B, C}], [{'xor', A, B}], [{'orelse', {'=:=', 1, 2}, A}], [{'orelse', A, B}],
     [{'andalso', {'=:=', 1, 2}, A}], [{'andalso', 17, A}]].

faults() ->
    [[], foo, [{a}], [{'_', foo, []}], [{'_', [], foo}], [{'_', []}], [{foo, [], []}], [{1, [], []}],
     [{['$1' | '$2'], [], []}], [{["a" | b], [], []}], [{'$_', [], []}],
     [{['$1'], [{foo, '$1'}], []}], [{['$1'], [], ['$2']}], [{['$1'], [{is_atom}], []}],
     [{['$1'], [{is_atom, 1, 2}], []}], [{['$1'], ['$9', '$8'], ['$7', {foo}]}, {['$2'], [], ['$1']}],
     [{['$1'], [{is_atom} | x], []}], [{['$1'], [], [a | b]}], [{['$1'], [], []} | x],
     [{['$1'], [], []}, foo], [{foo, [], []}, {'_', [{bar}], []}], [{'_', [{bar}], []}, {foo, [], []}],
     [{['$1'], [], [['$3', '$4' | '$5']]}], [{['$1'], [], [#{'$3' => '$4', '$5' => '$6'}]}],
     [{['$1'], [], [{is_record, '$3', '$4', '$5'}]}], [{['$1'], [], [{{'$3', '$4'}}]}],
     [{['$1'], [{1, 2}], []}], [{['$1'], [{}], []}], [{['$1'], [{{a, b}, 2}], []}], [{['$1'], [{'$1', 1}], []}],
     [{['$1'], [{self, 1}], []}], [{['$1'], [{message, 1}], []}], [{['$1'], [], [{message, 1, 2}]}],
     [{['$1'], [{caller, 1}], [{caller, 1}]}], [{['$1'], [{const}], []}], [{['$1'], [{const, a, b}], []}],
     [{['$1'], [{set_tcw, 1}], []}], [{['$1'], [{'$_', 1}], []}], [{['$1'], [{'_', 1}], []}],
     [{['$1'], [{'$$'}], []}], [{['$1'], [[{}]], [#{a => {1}}]}], [{['$1'], [{{{}}}, {{{a}}}], []}],
     [{[#{'$1' => 1}, '$2'], [], ['$1', '$3']}]].

later_faults() ->
    [[{['$1'], [{current_stacktrace}], []}], [{['$1'], [{current_stacktrace, -1}], []}],
     [{['$1'], [], [{current_stacktrace, 1, 2}, {current_stacktrace, {foo, '$7'}}, {current_stacktrace, -1}]}],
     [{['$1'], [{max, 1}, {min, 1, 2, 3}, {floor}, {is_function}, {tuple_size, '$8', 1}], []}]].

%% --- Random cases.

%% A case never has no arguments: OTP 25 crashes at '$_' then.
random() ->
    Args = [term(2) || _ <- lists:seq(1, rand:uniform(4))],
    Pattern = pick([fun() -> {['$1', '$2', '$3', '$4'], Args} end, fun() -> {['$1'], [Args]} end]),
    {Variables, Values} = Pattern,
    Bound = lists:sublist(Variables, length(Values)),
    Head = case {Variables, rand:uniform(3)} of
               {['$1'], _} -> '$1';
               {_, 1} -> [pattern(A) || A <- Args];
               _ -> Bound
           end,
    Known = lists:usort([V || V <- flat(Head), lists:member(V, ['$1', '$2', '$3', '$4', '$5'])]),
    Guards = [guard(Known, rand:uniform(4)) || _ <- lists:seq(1, rand:uniform(3) - 1)],
    Body = pick([fun() -> [{message, expression(Known, rand:uniform(4))}] end,
                 fun() -> [expression(Known, 3), {message, expression(Known, 2)}, {return_trace}] end]),
    test(Args, [{Head, Guards, Body}, {'_', [], [{message, second}]}]).

%% Heads and whole specifications are exchanged as often as the parts deep inside.
broken() ->
    {_, Args, Spec, _} = random(),
    [{Head, Guards, Body} | Rest] = Spec,
    Broken = pick([fun() -> [{exchanged(Head), Guards, Body} | Rest] end,
                     fun() -> [{Head, exchanged(Guards), Body} | Rest] end,
                     fun() -> [{Head, Guards, exchanged(Body)} | Rest] end,
                     fun() -> exchanged(Spec) end, fun() -> Spec ++ odd() end,
                     fun() -> [odd() | Rest] end, fun() -> [{odd(), Guards, Body} | Rest] end,
                     fun() -> [exchanged({Head, Guards, Body}), odd()] end,
                     fun() -> exchanged(exchanged(Spec)) end]),
    case is_open(Broken) orelse later([true]) =/= [] andalso has_differing_map(Broken) of
        true -> broken();
        false -> test(Args, Broken)
    end.

%% A head with any number of further arguments, which tracehost takes.
is_open([{[_ | Tail], _, _} | Rest]) -> tail(Tail) =:= '_' orelse is_open(Rest);
is_open([_ | Rest]) -> is_open(Rest);
is_open(_) -> false.

tail([_ | Tail]) -> tail(Tail);
tail(Tail) -> Tail.

%% True for a map whose keys have another order in later BEAMs, or about whose keys OTP 25 reports an error twice.
has_differing_map(T) when is_map(T) ->
    Keys = maps:keys(T),
    length([K || K <- Keys, is_atom(K)]) > 1 orelse lists:member('$1', Keys) orelse
        lists:any(fun(K) -> is_tuple(K) orelse is_list(K) orelse is_map(K) end, Keys) orelse
        lists:any(fun has_differing_map/1, maps:values(T));
has_differing_map(T) when is_tuple(T) -> has_differing_map(tuple_to_list(T));
has_differing_map([H | T]) -> has_differing_map(H) orelse has_differing_map(T);
has_differing_map(_) -> false.

%% Each case has another answer in OTP 25 than here.
differences() ->
    %% 'EXIT': the bitstring is no binary
    [{[1], [{'_', [], [{message, {binary_part, <<7:5>>, 0, 0}}]}]},
     %% 0.0 and -0.0 are two terms
     {[0.0, -0.0], [{['$1', '$2'], [], [{message, {'=:=', '$1', '$2'}}]}]},
     %% a depth, taken modulo 2 to the power of 32
     {[1], [{'_', [], [{message, {current_stacktrace, 1 bsl 32}}]}]},
     {[1], [{'_', [], [{message, {current_stacktrace, 1 bsl 31}}]}]},
     %% the order of keys that are atoms: a BEAM has `true' before `after'
     {[1], [{[a | #{true => 1, 'after' => 2}], [], []}]},
     %% the error about a key is reported once
     {[1], [{'_', [], [#{{foo} => 1}]}]}].

%% Exchanges one part, however deep.
exchanged(T) when tuple_size(T) > 0 -> list_to_tuple(exchanged_one(tuple_to_list(T)));
exchanged([H | T]) -> pick([fun() -> [exchanged(H) | T] end, fun() -> [H | exchanged(T)] end, fun odd/0]);
exchanged(T) when map_size(T) > 0 ->
    K = one(maps:keys(T)),
    pick([fun() -> T#{K := exchanged(maps:get(K, T))} end, fun() -> T#{odd() => 1} end, fun odd/0]);
exchanged(_) -> odd().

exchanged_one(Elements) ->
    N = rand:uniform(length(Elements)),
    {Before, [Element | Behind]} = lists:split(N - 1, Elements),
    Before ++ [exchanged(Element) | Behind].

odd() ->
    pick([fun() -> one(['$1', '$9', '$_', '$$', '_', foo, 'with space', 'of', a@b, [], {}, #{}, <<"text">>, <<1>>, 1.5,
                        <<5:3>>, "string", [a | b], ['$7' | '$8'], #{'$1' => 1}, #{'_' => 1}, #{a => '$6'}, #{b => {1}}]) end,
          fun() -> {one([hd, is_atom, 'xor', 'and', 'receive', foo, 'F', a@b, self, message, caller, const, 'andalso', trace,
                         set_tcw, enable_trace, is_record, display, '+', '=:=', map_get, caller_line, 'not', 1, [], {}])} end,
          fun() -> list_to_tuple([one([hd, 'xor', 'receive', foo, self, message, caller, const, 'orelse', trace, silent,
                                       return_trace, process_dump, get_tcw, set_seq_token, is_seq_trace, element, #{}]) |
                                  [term(1) || _ <- lists:seq(1, rand:uniform(3))]]) end,
          fun() -> [odd(), odd()] end, fun() -> {{odd(), term(1)}} end, fun() -> term(2) end]).

flat(T) when is_list(T) -> [V || X <- proper(T), V <- flat(X)];
flat(T) when is_tuple(T) -> flat(tuple_to_list(T));
flat(T) when is_map(T) -> flat(maps:values(T));
flat(T) -> [T].

proper([H | T]) -> [H | proper(T)];
proper([]) -> [];
proper(T) -> [T].

%% A pattern that often matches.
pattern(T) ->
    case rand:uniform(6) of
        1 -> '_';
        2 -> variable();
        3 -> T;
        _ -> inner_pattern(T)
    end.

inner_pattern(T) when is_tuple(T) -> list_to_tuple([pattern(E) || E <- tuple_to_list(T)]);
inner_pattern([H | T]) -> [pattern(H) | pattern(T)];
inner_pattern(T) when is_map(T) -> maps:map(fun(_, V) -> pattern(V) end, maps:with(some(maps:keys(T)), T));
inner_pattern(T) -> T.

some(L) -> [X || X <- L, rand:uniform(2) =:= 1].

variable() -> lists:nth(rand:uniform(5), ['$1', '$2', '$3', '$4', '$5']).

guard(Known, Depth) ->
    pick([fun() -> truth(Known, Depth) end, fun() -> truth(Known, Depth) end,
          fun() -> {'orelse', truth(Known, Depth), true} end, fun() -> expression(Known, Depth) end]).

truth(_, 0) -> rand:uniform(2) =:= 1;
truth(K, D) ->
    E = fun() -> expression(K, D - 1) end,
    T = fun() -> truth(K, D - 1) end,
    pick([fun() -> {one([is_atom, is_float, is_integer, is_list, is_number, is_pid, is_port, is_reference,
                         is_tuple, is_map, is_binary, is_function] ++ later([is_boolean, is_bitstring])), E()} end,
          fun() -> {one(['>', '>=', '<', '=<', '=:=', '==', '=/=', '/=']), E(), E()} end,
          fun() -> {one(['>', '>=', '<', '=<', '=:=', '==', '=/=', '/=']), number(K, D - 1), number(K, D - 1)} end,
          fun() -> list_to_tuple([one(['and', 'or', 'andalso', 'orelse', andthen]) |
                                  [T() || _ <- lists:seq(1, rand:uniform(3))]]) end,
          fun() -> {'not', T()} end, fun() -> {'xor', T(), T()} end,
          fun() -> {is_map_key, E(), map(K, D - 1)} end,
          fun() -> {is_record, E(), one([a, b, 1]), one([0, 1, 2, x])} end,
          fun() -> one([true, false, {is_seq_trace}]) end]).

number(K, 0) -> pick([fun integer/0, fun float/0, fun() -> known(K) end]);
number(K, D) ->
    N = fun() -> case rand:uniform(8) of 1 -> expression(K, D - 1); _ -> number(K, D - 1) end end,
    pick([fun() -> {one(['+', '-', '*', '/']), N(), N()} end,
          fun() -> {one(['div', 'rem', 'band', 'bor', 'bxor']), N(), N()} end,
          fun() -> {one(['bsl', 'bsr']), N(), one([0, 1, -1, 3, 63, 64, 65, -64, 200, 1 bsl 70, -(1 bsl 70)])} end,
          fun() -> {one([abs, round, trunc, float, '-', '+', 'bnot'] ++ later([floor, ceil])), N()} end,
          fun() -> {one([length, size, map_size, byte_size, bit_size] ++ later([tuple_size])), expression(K, D - 1)} end,
          fun integer/0, fun float/0]).

map(K, D) ->
    pick([fun() -> #{a => expression(K, D), b => expression(K, D)} end, fun() -> known(K) end,
          fun() -> maps:from_list([{const, 1} || _ <- K]) end]).

expression(K, 0) -> pick([fun() -> known(K) end, fun() -> plain() end]);
expression(K, D) ->
    E = fun() -> expression(K, D - 1) end,
    pick([fun() -> truth(K, D) end, fun() -> number(K, D) end, fun() -> known(K) end,
          fun() -> {{E(), E()}} end, fun() -> [E(), E()] end, fun() -> [E() | E()] end, fun() -> map(K, D - 1) end,
          fun() -> {const, term(2)} end, fun() -> {element, one([1, 2, 3, 0]), E()} end,
          fun() -> {one([hd, tl, length, size, bit_size, node]), E()} end,
          fun() -> {map_get, one([a, 1]), map(K, D - 1)} end,
          fun() -> {binary_part, one([<<1, 2, 3>>] ++ bits()), one([0, 1, 3]), one([0, 1, -1, 2])} end,
          fun() -> one([{self}, {node}, {get_tcw}, '$$', '$_', {{}}]) end] ++
        later([fun() -> {one([max, min]), E(), E()} end])).

%% Bits of which OTP 25 makes no binary; for later releases, a byte.
bits() ->
    case later([<<7:8>>]) of
        [] -> [<<7:5>>];
        Later -> Later
    end.

known([]) -> plain();
known(K) -> one(K).

plain() ->
    case term(1) of
        T when is_tuple(T); is_list(T); is_map(T) -> {const, T};
        T -> T
    end.

one(List) -> lists:nth(rand:uniform(length(List)), List).
pick(Makers) -> (one(Makers))().

term(0) -> pick([fun integer/0, fun float/0, fun() -> one([a, b, c, true, false, [], {}, #{}, <<>>]) end]);
term(D) ->
    E = fun() -> term(D - 1) end,
    pick([fun integer/0, fun float/0, E, E, fun() -> [E(), E()] end, fun() -> [E() | E()] end,
          fun() -> {E(), E()} end, fun() -> {a, E(), E()} end, fun() -> #{a => E()} end,
          fun() -> #{E() => E(), b => E()} end, fun() -> one([<<"abc">>, <<5:3>>, "abc", self(), make_ref()]) end,
          fun() -> one([hd(erlang:ports()), fun lists:map/2, fun(X) -> X end]) end]).

integer() ->
    pick([fun() -> rand:uniform(10) - 5 end, fun() -> one([1, -1]) * ((1 bsl one([31, 58, 59, 60, 63, 64, 127, 128])) + rand:uniform(3) - 2) end,
          fun() -> rand:uniform(1 bsl rand:uniform(300)) end]).

float() -> one([0.0, 1.0, -1.0, 0.5, -2.5, 1.0e10, 1.0e300, -1.0e-300, 3.0, 18446744073709551616.0]).
