#!/usr/bin/env escript
%%! +pc latin1 -boot no_dot_erlang
%% Expressions, and the results of a real BEAM's erl_eval for them, which expressions.sh compares with those of
%% `tracehost call`.
%%
%%   expressions.escript operators            every operator on operands of every kind
%%   expressions.escript generate SEED COUNT  COUNT generated expressions: arithmetic, comprehensions, funs
%%   expressions.escript wrap FILE            the expressions in the lines of FILE, without comments
%%   expressions.escript evaluate FILE        the values of the forms in the lines of FILE
%%   expressions.escript later                true if the BEAM is of OTP 26 or later
%%
%% All commands but the last two write a form a line. The form's value is the outcome of the expression; the
%% variables of the expression are not visible to the next form.
-mode(compile).

main(["operators"]) ->
    [write(unary(Op, A)) || Op <- ["+", "-", "not", "bnot"], A <- operands()],
    [write(binary(A, Op, B)) || Op <- binary_operators(), A <- operands(), B <- operands()];
main(["generate", Seed, Count]) ->
    rand:seed(exsss, list_to_integer(Seed)),
    [write(expression()) || _ <- lists:seq(1, list_to_integer(Count))];
main(["wrap", File]) ->
    [write(Line) || Line <- lines(File), hd(Line) =/= $%];
main(["evaluate", File]) ->
    ok = io:setopts([{encoding, unicode}]),
    Format = case is_later() of true -> "~0tkp~n"; false -> "~0tp~n" end,
    [io:format(Format, [evaluate(Line)]) || Line <- lines(File)];
main(["later"]) ->
    io:format("~p~n", [is_later()]).

%% From OTP 26 on, maps with keys that are atoms are printed in the order of keys only with an option.
is_later() -> list_to_integer(erlang:system_info(otp_release)) > 25.

write(Expression) ->
    io:format("(fun() -> try ~ts of Value -> {ok, Value} catch Class:Reason -> {Class, Reason} end end)().~n",
              [Expression]).

lines(File) ->
    {ok, Bytes} = file:read_file(File),
    [Line || Line <- string:split(unicode:characters_to_list(Bytes), "\n", all), Line =/= ""].

evaluate(Line) ->
    {ok, Tokens, _} = erl_scan:string(Line),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    {value, Value, _} = erl_eval:exprs(Forms, erl_eval:new_bindings()),
    Value.

%% --- Operators.

binary_operators() ->
    ["+", "-", "*", "/", "div", "rem", "band", "bor", "bxor", "bsl", "bsr", "++", "--", "==", "/=",
     "=:=", "=/=", "<", "=<", ">", ">=", "and", "or", "xor", "andalso", "orelse"].

operands() ->
    ["0", "1", "(-1)", "7", "(-13)", "60", "576460752303423487", "(-576460752303423488)",
     "576460752303423488", "18446744073709551615", "(-340282366920938463463374607431768211456)",
     "0.0", "1.5", "(-2.0)", "1.0e300", "a", "true", "false", "[]", "[1,2]", "[1,1.0|x]", "{}", "#{}",
     "<<1>>"].

unary(Op, A) ->
    [Op, " ", A].

%% Leaves out shifts by so many bits that only a BEAM does them.
binary(A, Op, B) ->
    case lists:member(Op, ["bsl", "bsr"]) andalso length(B) > 6 of
        true -> [A, " ", Op, " 0"];
        false -> [A, " ", Op, " ", B]
    end.

%% --- Generated expressions. Vars are the variables with a value.

expression() ->
    case rand:uniform(8) of
        1 -> list(4, []);
        2 -> bits(4, []);
        3 -> block(4, []);
        4 -> anything(4, []);
        _ -> number(5, [])
    end.

pick(List) ->
    lists:nth(rand:uniform(length(List)), List).

number(Depth, Vars) when Depth =< 0 ->
    case Vars =/= [] andalso rand:uniform(3) > 1 of
        true -> pick(Vars);
        false -> literal()
    end;
number(Depth, Vars) ->
    D = Depth - 1,
    case rand:uniform(16) of
        N when N =< 7 ->
            ["(", number(D, Vars), " ", pick(["+", "-", "*", "div", "rem", "band", "bor", "bxor", "/"]),
             " ", number(D - rand:uniform(2), Vars), ")"];
        8 -> ["(", number(D, Vars), " ", pick(["bsl", "bsr"]), " ", pick(["0", "1", "3", "64", "70", "-2"]), ")"];
        9 -> ["(", pick(["-", "bnot", "+"]), " ", number(D, Vars), ")"];
        10 -> ["length(", list(D, Vars), ")"];
        11 -> [pick(["abs", "trunc", "round", "float", "floor", "ceil"]), "(", number(D, Vars), ")"];
        12 -> ["bit_size(", bits(D, Vars), ")"];
        13 -> application(D, Vars);
        14 -> block(D, Vars);
        15 -> ["case ", anything(D, Vars), " of ", pattern(unique()), " when ", test(1, Vars), " -> ", number(D, Vars),
               "; _ -> ", number(D, Vars), " end"];
        16 -> number(0, Vars)
    end.

literal() ->
    case rand:uniform(12) of
        1 -> pick(["1.5", "-0.25", "1.0e10", "0.0"]);
        2 -> pick(["a", "[]", "{1}"]);
        3 -> integer_to_list(pick([1, -1]) * ((1 bsl pick([59, 60, 63, 64, 128])) + rand:uniform(3) - 2));
        _ -> integer_to_list(rand:uniform(41) - 21)
    end.

%% Returns a variable that nothing else binds, since a variable bound in one branch is unsafe outside.
unique() ->
    "B" ++ integer_to_list(rand:uniform(1000000000)).

%% Returns variables that patterns bind anew; some have a value outside.
pattern(V) ->
    pick([V, V, ["{", V, ",_}"], ["[", V, "|_]"], ["{", V, ",", V, "}"], [V, "=", "{_,_}"]]).

fresh(Vars) ->
    case Vars =/= [] andalso rand:uniform(4) =:= 1 of
        true -> pick(Vars);
        false -> "V" ++ integer_to_list(length(Vars))
    end.

anything(D, Vars) ->
    case rand:uniform(5) of
        1 -> number(D, Vars);
        2 -> list(D, Vars);
        3 -> bits(D, Vars);
        4 -> ["{", number(D - 1, Vars), ",", number(D - 1, Vars), "}"];
        5 -> ["#{", number(1, Vars), " => ", number(D - 1, Vars), "}"]
    end.

elements(D, Vars) ->
    lists:join(",", [one(D, Vars) || _ <- lists:seq(1, rand:uniform(4))]).

one(D, Vars) ->
    case rand:uniform(4) of
        1 -> ["{", number(D - 2, Vars), ",", number(D - 2, Vars), "}"];
        _ -> number(D - 2, Vars)
    end.

list(D, Vars) when D =< 0 ->
    pick(["[]", "[1,2,3]", ["[", number(0, Vars), "]"], "[{1,2},{3,3},4]", "[1|2]", "x", "lists:seq(1, 5)"]);
list(D, Vars) ->
    case rand:uniform(6) of
        1 -> ["[", elements(D, Vars), "]"];
        2 -> ["(", list(D - 1, Vars), " ", pick(["++", "--"]), " ", list(D - 2, Vars), ")"];
        3 -> ["(fun F([]) -> []; F([H|T]) when ", test(1, ["H" | Vars]), " -> F(T); F([H|T]) -> [",
              number(D - 2, ["H" | Vars]), " | F(T)] end)(", list(D - 1, Vars), ")"];
        _ -> {Parts, Inside} = qualifiers(rand:uniform(3), D - 1, Vars),
             ["[", one(D - 1, Inside), " || ", lists:join(", ", Parts), "]"]
    end.

bits(D, _) when D =< 0 ->
    pick(["<<>>", "<<1,2,3>>", "<<\"abc\">>", "<<5:3>>", "x", "<<1:1,255:16/little>>", "<<1.5/float>>"]);
bits(D, Vars) ->
    case rand:uniform(3) of
        1 -> ["<<", lists:join(",", [segment(D - 1, Vars) || _ <- lists:seq(1, rand:uniform(3))]), ">>"];
        _ -> {Parts, Inside} = qualifiers(rand:uniform(2), D - 1, Vars),
             ["<< <<", segment(D - 1, Inside), ">> || ", lists:join(", ", Parts), " >>"]
    end.

segment(D, Vars) ->
    case rand:uniform(6) of
        1 -> ["(", bits(D - 1, Vars), ")/bitstring"];
        2 -> ["(", number(D - 1, Vars), ")/float"];
        _ -> ["(", number(D - 1, Vars), "):", pick(["1", "3", "8", "16/little", "70", "(2+3)"])]
    end.

qualifiers(0, _, Vars) ->
    {[], Vars};
qualifiers(Count, D, Vars) ->
    {Part, Inside} = qualifier(D, Vars),
    {Parts, Last} = qualifiers(Count - 1, D, Inside),
    {[Part | Parts], Last}.

qualifier(D, Vars) ->
    V = fresh(Vars),
    case rand:uniform(8) of
        1 -> {test(2, Vars), Vars};
        2 -> {["begin ", pick([test(1, Vars), number(D - 2, Vars)]), ", ", test(1, Vars), " end"], Vars};
        3 -> {["<<", V, pick(["", ":3", ":5/signed", ":16/little"]), pick(["", ",_:4", ",1:1"]), ">> <= ", bits(D - 1, Vars)],
              [V | Vars -- [V]]};
        4 -> {["<<N,", V, ":N>> <= ", pick(["<<1,2,3,4,5,6>>", bits(D - 1, Vars)])], [V | Vars -- [V]]};
        _ -> {[pattern(V), " <- ", list(D - 1, Vars)], [V | Vars -- [V]]}
    end.

test(D, Vars) ->
    case rand:uniform(4) of
        1 when D > 0 -> [test(D - 1, Vars), pick([" andalso ", " orelse "]), test(D - 1, Vars)];
        2 -> ["is_", pick(["integer", "float", "list", "tuple"]), "(", number(0, Vars), ")"];
        _ -> [number(0, Vars), pick([" > ", " =< ", " =:= ", " /= "]), number(0, Vars),
              pick(["", [" rem ", number(0, Vars)], [" bsr ", pick(["0", "2"])]])]
    end.

application(D, Vars) ->
    V = fresh(Vars),
    Inside = [V | Vars -- [V]],
    case rand:uniform(4) of
        1 -> ["(fun(", pattern(V), ") when ", test(1, Inside), " -> ", number(D - 1, Inside), "; (_) -> ",
              number(D - 1, Vars), " end)(", anything(D - 1, Vars), ")"];
        2 -> ["(fun(", V, ") -> ", number(D - 1, Inside), " end)(", pick(["", number(D, Vars), "1,2"]), ")"];
        3 -> ["((fun(", V, ") -> fun(B) -> ", number(D - 1, ["B" | Inside -- ["B"]]), " end end)(", number(D - 1, Vars), "))(",
              number(D - 1, Vars), ")"];
        4 -> ["(fun F(0, A) -> A; F(N, A) -> F(N - 1, ", number(D - 2, ["N", "A" | Vars -- ["N", "A"]]), ") end)(",
              pick(["3", "5"]), ",", number(D - 1, Vars), ")"]
    end.

%% Puts a block into a fun of its own, so that its variables are bound once.
block(D, Vars) ->
    V = unique(),
    Inside = [V | Vars],
    ["(fun() -> ", V, " = ", number(D - 1, Vars), ", ",
     pick([number(D - 1, Inside),
           ["try ", number(D - 1, Inside), " catch error:_ -> ", number(D - 2, Inside), " end"],
           ["case catch throw(", anything(D - 1, Inside), ") of {'EXIT',{R,_}} -> {R}; T -> T end"],
           ["{", list(D - 1, Inside), ",", bits(D - 1, Inside), "}"]]), " end)()"].
