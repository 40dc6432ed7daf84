#!/usr/bin/env escript
%%! +pc latin1
%% The answers of a real BEAM about Erlang text, which test_text.c compares with the host's.
%%
%%   text.escript print SEED COUNT   terms of every kind, and their text by io:format("~0p")
%%   text.escript floats SEED COUNT  floats: edges, and COUNT random ones
%%   text.escript parse FILE         each line of FILE, and its term, if the line is a constant
%%
%% From OTP 27 on, `maybe' and `else' are reserved words, and strings that follow each other need a space between them:
%% lines with another meaning in OTP 27 are left out.
%%
%% The output is pairs of binaries, each after its size in 32 bits: the external term, and its text in UTF-8.
%% The pair of a line that the BEAM refuses has an empty term.
-mode(compile).

main(["print", Seed, Count]) ->
    start(Seed),
    [print(T) || T <- edges()],
    [print(term(rand:uniform(5))) || _ <- lists:seq(1, list_to_integer(Count))];
main(["floats", Seed, Count]) ->
    start(Seed),
    [print(F) || F <- float_edges()],
    [print(random_float()) || _ <- lists:seq(1, list_to_integer(Count))];
main(["parse", File]) ->
    start("1"),
    {ok, Lines} = file:read_file(File),
    [emit(parsed(L), L) || L <- binary:split(Lines, <<"\n">>, [global, trim]), L =/= <<>>,
                           not lists:member(L, later([<<"maybe">>, <<"else">>, <<"\"a\"\"b\"">>]))].

later(List) -> [Element || list_to_integer(erlang:system_info(otp_release)) > 25, Element <- List].

start(Seed) ->
    rand:seed(exsss, list_to_integer(Seed)),
    ok = io:setopts([{encoding, latin1}, binary]).

emit(Term, Text) ->
    file:write(standard_io, [<<(byte_size(B)):32, B/binary>> || B <- [Term, Text]]).

print(T) ->
    emit(term_to_binary(T), unicode:characters_to_binary(io_lib:format("~0p", [T]))).

parsed(Line) ->
    try
        {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(<<Line/binary, "\n.">>)),
        {ok, Term} = erl_parse:parse_term(Tokens),
        term_to_binary(Term)
    catch
        _:_ -> <<>>
    end.

%% --- Terms at the edges between two ways of printing.

edges() ->
    [[C] || C <- lists:seq(-1, 300)] ++ [<<C>> || C <- lists:seq(0, 255)] ++
        [list_to_atom([C]) || C <- characters()] ++ [list_to_atom([$a, C]) || C <- characters()] ++
        [list_to_atom(W) || W <- words()] ++
        [erlang:make_fun(list_to_atom([$a, C]), list_to_atom([C]), 1) || C <- characters()] ++
        [erlang:make_fun(list_to_atom(W), list_to_atom(W), N) || W <- words(), N <- [0, 255]] ++
        [sized(N, What) || N <- [0, 1, 2, 18, 19, 20, 21, 22, 39, 40, 41, 255, 1000, 70000],
                           What <- [string, binary, zero, bits, tail, nested]] ++
        [S * ((1 bsl B) + D) || B <- [0, 7, 8, 27, 31, 58, 59, 60, 63, 64, 65, 127, 128, 1000, 9999],
                                D <- [-1, 0, 1], S <- [1, -1]] ++
        [S * (power(10, E) + D) || E <- [1, 9, 17, 18, 19, 20, 36, 38, 100, 400], D <- [-1, 0, 1],
                                   S <- [1, -1]] ++
        [maps:from_list([{key(I), I} || I <- lists:seq(1, N)]) || N <- [0, 1, 2, 31, 32, 33, 100, 3000]] ++
        [foreign(F) || F <- lists:seq(1, 12)] ++
        [lists:foldl(fun(_, T) -> [T] end, [], lists:seq(1, 3000)),
         lists:foldl(fun(_, T) -> {T, x} end, {}, lists:seq(1, 3000)),
         self(), make_ref(), hd(erlang:ports()), fun lists:map/2, fun(X) -> X end].

characters() ->
    lists:seq(0, 260) ++ [511, 945, 16#20AC, 16#D7FF, 16#E000, 16#FFFD, 16#10000, 16#1F600, 16#10FFFF].

words() ->
    [W || W <- ["", "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case",
     "catch", "cond", "div", "else", "end", "fun", "if", "let", "maybe", "not", "of", "or", "orelse",
     "receive", "rem", "try", "when", "xor", "a@b", "a.b", "A", "_", "_a", "a_", "nonode@nohost",
     "a b", "en", "ends", "receives", "aé", "é", "ÿß", "É", "aÉ", "a×", lists:duplicate(255, $a),
     lists:duplicate(255, 16#1F600)],
          not lists:member(W, later(["maybe", "else"]))].

power(_, 0) -> 1;
power(B, E) -> B * power(B, E - 1).

sized(N, string) -> lists:duplicate(N, $a);
sized(N, binary) -> list_to_binary(sized(N, string));
sized(N, zero) -> list_to_binary([sized(N, string), 0]);
sized(N, bits) -> <<(sized(N, binary))/binary, 5:3>>;
sized(N, tail) -> sized(N, string) ++ b;
sized(N, nested) -> [sized(N, string), sized(N, binary) | sized(N, string)].

key(I) when I rem 3 =:= 0 -> {I};
key(I) when I rem 7 =:= 0 -> I * 1.0;
key(I) -> I.

%% Terms that this node does not make itself.
foreign(N) ->
    Here = <<119, 13, "nonode@nohost">>,
    Fun = fun(Module, Index, Unique) ->
              <<112, 0:32, 1, N:128, N:32, 0:32, 119, (byte_size(Module)), Module/binary,
                Index/binary, Unique/binary, 88, Here/binary, 1:32, 0:64>>
          end,
    binary_to_term(
      <<131,
        (case N of
             1 -> <<90, 1:16, Here/binary, 0:32, 7:32>>;
             2 -> <<90, 2:16, Here/binary, 0:32, 7:32, 8:32>>;
             3 -> <<90, 3:16, Here/binary, 0:32, 7:32, 16#FFFFFFFF:32, 9:32>>;
             4 -> <<88, Here/binary, 16#7FFF:32, 16#1FFF:32, 0:32>>;
             5 -> <<88, Here/binary, 0:32, 0:32, 0:32>>;
             6 -> <<89, Here/binary, 16#FFFFFFF:32, 0:32>>;
             7 -> Fun(<<"m">>, <<97, 7>>, <<98, -5:32>>);
             8 -> Fun(<<"a b@C">>, <<98, -3:32>>, <<98, 16#FFFFFFFF:32>>);
             9 -> Fun(<<"åß"/utf8>>, <<110, 4, 0, -1:32>>, <<110, 4, 0, 16#FEFFFFFF:32>>);
             10 -> Fun(<<"α\n"/utf8>>, <<110, 6, 0, -1:32, 1, 2>>, <<110, 4, 1, 16#FEFFFFFF:32>>);
             11 -> <<113, 119, 1, "a", 119, 1, "b", 98, 300:32>>;
             12 -> Fun(<<"erlang">>, <<97, 1>>, <<98, 16#80000000:32>>)
         end)/binary>>).

%% --- Random terms.

term(Depth) when Depth =< 1 ->
    pick([fun integer/0, fun small/0, fun atom/0, fun string/0, fun binary/0, fun bits/0,
          fun random_float/0, fun export/0, fun() -> [] end, fun() -> {} end, fun() -> #{} end,
          fun() -> <<>> end, fun self/0, fun make_ref/0]);
term(Depth) ->
    Inner = fun() -> term(Depth - 1) end,
    pick([fun() -> many(Inner) end,
          fun() -> list_to_tuple(many(Inner)) end,
          fun() -> maps:from_list([{Inner(), Inner()} || _ <- lists:seq(1, rand:uniform(4))]) end,
          fun() -> improper(many(Inner), Inner()) end,
          fun() -> many(fun string/0) end,
          fun() -> [character() || _ <- lists:seq(1, 4)] ++ many(Inner) end,
          Inner]).

pick(Makers) -> (lists:nth(rand:uniform(length(Makers)), Makers))().

many(Make) -> [Make() || _ <- lists:seq(1, rand:uniform(5) - 1)].

improper([], Tail) -> [Tail | Tail];
improper(List, Tail) -> List ++ Tail.

small() -> rand:uniform(600) - 300.

integer() ->
    N = rand:uniform(1 bsl rand:uniform(200)),
    case rand:uniform(2) of
        1 -> N;
        2 -> -N
    end.

character() ->
    case rand:uniform(8) of
        1 -> rand:uniform(256) - 1;
        2 -> rand:uniform(32) - 1;
        _ -> 31 + rand:uniform(95)
    end.

wide() ->
    case rand:uniform(6) of
        1 -> rand:uniform(16#D7FF);
        2 -> 16#E000 + rand:uniform(16#10FFFF - 16#E000);
        _ -> character()
    end.

string() -> [character() || _ <- lists:seq(1, rand:uniform(12))].

atom() ->
    Names = [fun() -> [wide() || _ <- lists:seq(1, rand:uniform(8))] end,
             fun() -> [96 + rand:uniform(26) || _ <- lists:seq(1, rand:uniform(8))] end,
             fun() -> lists:nth(rand:uniform(length(words())), words()) end],
    list_to_atom(pick(Names)).

export() -> erlang:make_fun(atom(), atom(), rand:uniform(256) - 1).

binary() -> list_to_binary(string()).

bits() ->
    N = rand:uniform(60),
    <<(rand:uniform(1 bsl N) - 1):N>>.

%% --- Floats.

random_float() ->
    pick([fun any_float/0, fun decimal_float/0, fun() -> small() / 100 end,
          fun() -> float(integer()) end]).

any_float() ->
    case <<(rand:uniform(1 bsl 64) - 1):64>> of
        <<F/float>> -> F;
        _ -> any_float()
    end.

%% Few digits, any exponent.
decimal_float() ->
    Digits = integer_to_list(rand:uniform(1 bsl rand:uniform(56))),
    list_to_float(Digits ++ ".0e" ++ integer_to_list(rand:uniform(600) - 320)).

float_edges() ->
    Bits = [E bsl 52 || E <- lists:seq(0, 2046)] ++
        [(E bsl 52) + D || E <- lists:seq(1, 2046), D <- [-1, 1]] ++
        [1 bsl I || I <- lists:seq(0, 51)] ++ lists:seq(1, 100),
    [F || B <- Bits, <<F/float>> <- [<<B:64>>]] ++
        [S * list_to_float(M ++ "e" ++ integer_to_list(E)) || E <- lists:seq(-307, 307),
                                                      M <- ["1.0", "1.2", "9.99"], S <- [1, -1]] ++
        [float((1 bsl 53) + I) || I <- lists:seq(-40, 40)] ++ [I / 1000 || I <- lists:seq(0, 1100)].
