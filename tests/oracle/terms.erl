%% Terms of all types, and this Erlang node's answers about them: erlang:phash2/1, their order, equality (==)
%% and identity (=:=). The same terms in each run.
%%
%% write(File), all integers big-endian:
%%   count:32
%%   for each term: size:32, external term, phash2:32, the number of the first that is =:= :32
%%   the numbers of the terms (from 0), 32 bits each, in the order of lists:sort/1
%%   for each of these but the first: 0 if it is above the one before, 1 if it is == :8
%%   maps:32, then for each map: keys:32, the numbers of its keys, 32 bits each, in its own order
-module(terms).
-export([write/1]).

write(File) ->
    rand:seed(exsss, {1, 2, 3}),
    Terms = [T || T <- plain() ++ [random(4) || _ <- lists:seq(1, 3000)], not is_later() orelse has_order(T)],
    Numbered = lists:zip(Terms, lists:seq(0, length(Terms) - 1)),
    Sorted = lists:sort(Numbered),
    First = maps:from_list(firsts(Sorted, [])),
    Maps = [small_map([N || {T, _} = N <- Numbered, not is_later() orelse not is_or_has_atom(T)]) || _ <- lists:seq(1, 2000)],
    ok = file:write_file(File, [<<(length(Terms)):32>>,
                                [[term(T), <<(map_get(N, First)):32>>] || {T, N} <- Numbered],
                                [<<N:32>> || {_, N} <- Sorted],
                                neighbours([T || {T, _} <- Sorted]),
                                <<(length(Maps)):32>>,
                                [[<<(length(Keys)):32>>, [<<N:32>> || N <- Keys]] || Keys <- Maps]]).

term(T) ->
    External = term_to_binary(T),
    <<(byte_size(External)):32, External/binary, (erlang:phash2(T)):32>>.

neighbours([A, B | Rest]) when A == B -> [1 | neighbours([B | Rest])];
neighbours([_, B | Rest]) -> [0 | neighbours([B | Rest])];
neighbours([_]) -> [].

%% For each term's number: the number of the first identical term (=:=). Kinds has the first term of each kind of
%% identity among the terms that are == to the term before. (A large map with all the terms as keys crashes OTP 25.)
firsts([], _) -> [];
firsts([{T, N} | Rest], Kinds) ->
    Equal = [Kind || {K, _} = Kind <- Kinds, K == T],
    case [First || {K, First} <- Equal, K =:= T] of
        [First] -> [{N, First} | firsts(Rest, Equal)];
        [] -> [{N, N} | firsts(Rest, [{T, N} | Equal])]
    end.

%% Keys of a map stand in their exact order, integers before floats, if there are at most 32.
small_map(Numbered) ->
    Some = [lists:nth(rand:uniform(length(Numbered)), Numbered) || _ <- lists:seq(1, 20)],
    maps:values(maps:from_list(Some)).

%% In OTP 25, and in the host, 0.0 and -0.0 are one term; in later releases they are two.
is_later() -> list_to_integer(erlang:system_info(otp_release)) > 25.

%% From OTP 26 on, keys that are atoms, or contain atoms, stand in the order of the node's atom table.
is_or_has_atom(T) when is_list(T), T =/= [] -> is_or_has_atom(hd(T)) orelse is_or_has_atom(tl(T));
is_or_has_atom(T) when is_tuple(T) -> lists:any(fun is_or_has_atom/1, tuple_to_list(T));
is_or_has_atom(T) when is_map(T) -> is_or_has_atom(maps:to_list(T));
is_or_has_atom(T) -> not (is_number(T) orelse is_bitstring(T) orelse T =:= []).

%% No map here has several such keys.
has_order([H | T]) -> has_order(H) andalso has_order(T);
has_order(T) when is_tuple(T) -> has_order(tuple_to_list(T));
has_order(T) when is_map(T) ->
    length([K || K <- maps:keys(T), is_or_has_atom(K)]) < 2 andalso has_order(maps:to_list(T));
has_order(_) -> true.

%% --- Chosen terms ----------------------------------------------------------------------------------

plain() ->
    integers() ++ floats() ++ atoms() ++ bit_strings() ++ identifiers() ++ funs() ++ compound().

integers() ->
    Powers = [1 bsl N + D || N <- [0, 7, 8, 15, 26, 27, 28, 31, 32, 52, 53, 54, 58, 59, 60, 62, 63, 64,
                                   65, 127, 128, 200, 1023, 1024, 5000],
                             D <- [-1, 0, 1]],
    Powers ++ [-N || N <- Powers].

floats() ->
    Floats = [0.0, 0.5, 1.0, 1.5, 2.0, 128.0, 1.0e10, 9007199254740991.0, 9007199254740992.0,
              576460752303423488.0, 1152921504606846976.0, 9.2e18, 9223372036854775808.0,
              18446744073709551616.0, 340282366920938463463374607431768211456.0, 1.0e100, 1.0e-300,
              5.0e-324, 1.7976931348623157e308],
    Floats ++ [-F || F <- Floats, not (is_later() andalso F == 0)].

atoms() ->
    [a, b, aa, ab, aaaa, aaaab, abc, true, false, 'A', '', nil, ok, 'with space', '\x{e9}', '\x{ff}',
     '\x{100}', '\x{20ac}', '\x{1f600}', 'a\x{e9}', 'a\x{e9}b', '\x{c3}\x{a9}', 'a\0', 'a\0b',
     list_to_atom(lists:duplicate(255, $x)), list_to_atom(lists:duplicate(255, 16#1f600))].

bit_strings() ->
    [<<N:Bits>> || Bits <- [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65], N <- [0, 1, -1, 42]] ++
        [binary:copy(<<171>>, N) || N <- lists:seq(0, 40) ++ [63, 64, 65, 100, 1000]] ++
        [<<(binary:copy(<<N>>, N))/binary, 5:3>> || N <- lists:seq(0, 30)].

nodes_() -> [{'nonode@nohost', 0}, {'nonode@nohost', 1}, {'a@x', 1}, {'a@x', 2}, {'z@x', 1}].

identifiers() ->
    [pid(Node, C, Number, Serial) || {Node, C} <- nodes_(), Number <- [0, 1, 38, 32767],
                                     Serial <- [0, 1, 8191]] ++
        [pid('a@x', 1, Number, Serial) || Number <- [1 bsl 15, 1 bsl 27, 1 bsl 28, 1 bsl 31],
                                          Serial <- [0, 1, 1 bsl 13, 1 bsl 31]] ++
        [port(Node, C, Id) || {Node, C} <- nodes_(), Id <- [0, 1, 2, 1 bsl 27]] ++
        [port('a@x', 1, Id) || Id <- [1 bsl 28, 1 bsl 32, 1 bsl 40 + 1, 1 bsl 63]] ++
        [reference(Node, C, Words) || {Node, C} <- nodes_(),
                                      Words <- [[1], [1, 2], [1, 2, 3], [3, 2, 1], [1, 0, 1], [9, 0, 0],
                                                [9], [0, 0, 5]]] ++
        [reference('a@x', 1, Words) || Words <- [[1, 2, 3, 4], [1, 2, 3, 4, 5], [5, 0, 0, 0, 0],
                                                 [0, 0, 0, 0, 5], [16#ffffffff, 1, 1 bsl 31]]].

pid(Node, Creation, Number, Serial) ->
    decode([88, atom(Node), <<Number:32, Serial:32, Creation:32>>]).

port(Node, Creation, Id) -> decode([120, atom(Node), <<Id:64, Creation:32>>]).

reference(Node, Creation, Words) ->
    decode([90, <<(length(Words)):16>>, atom(Node), <<Creation:32>>, [<<W:32>> || W <- Words]]).

funs() ->
    X = 1,
    Y = 1.0,
    [fun lists:map/2, fun lists:map/3, fun lists:foldl/3, fun a:b/0, fun erlang:send/2,
     fun(A) -> A end, fun(A) -> {A, X} end, fun(A) -> {A, Y} end, fun(A, B) -> {A, B, X, Y} end] ++
        [a_fun(Module, Index, OldIndex, Unique, OldUnique, Free)
         || Module <- [aa, zz], Index <- [0, 1], OldIndex <- [2, 3], {Unique, OldUnique} <- [{1, 7}, {2, 8}],
            Free <- [[], [1], [1.0], [x, "string"], [x, {tuple}]]].

a_fun(Module, Index, OldIndex, Unique, OldUnique, Free) ->
    Body = iolist_to_binary([2, <<Unique:128, Index:32, (length(Free)):32>>, atom(Module),
                             bare(OldIndex), bare(OldUnique + Index), bare(self()),
                             [bare(T) || T <- Free]]),
    decode([112, <<(byte_size(Body) + 4):32>>, Body]).

atom(Atom) -> <<119, (byte_size(atom_to_binary(Atom))), (atom_to_binary(Atom))/binary>>.

bare(T) -> binary:part(term_to_binary(T), 1, byte_size(term_to_binary(T)) - 1).

decode(Parts) -> binary_to_term(iolist_to_binary([131, Parts])).

compound() ->
    [[], [[]], {}, {{}}, #{}, #{#{} => #{}}, [a | b], [1 | 2], [[a] | b], "string", "abcd" ++ tail,
     [1, 2, 3, 256], [255, 256], [-1, 1], [97, 98 | <<>>], [a, 1], [1, a], {1, 2}, {1.0, 2}, [1.0, 2],
     #{1 => a}, #{1.0 => a}, #{1 => 1}, #{1 => 1.0}, #{a => 1, b => 2}, #{a => 2, b => 1},
     #{a => #{b => #{c => d}}}, #{{1} => a}, #{{1.0} => a}, {[{[{x}]}]}, lists:duplicate(1000, $a),
     lists:foldl(fun(N, T) -> {N, T} end, end_, lists:seq(1, 10000)),
     lists:foldl(fun(N, T) -> [T | N] end, end_, lists:seq(1, 10000))] ++
        [maps:from_list([{{key, I}, I * D} || I <- lists:seq(1, N)]) || N <- [31, 32, 33, 34, 100, 1000],
                                                                        D <- [1, 1.0, 2]].

%% --- Random terms ----------------------------------------------------------------------------------

random(0) ->
    Plain = [rand:uniform(5) - 3, rand:uniform(1 bsl 70) - (1 bsl 69), 1.0 * rand:uniform(3), a, b, [],
             rand:uniform_real(), rand:bytes(rand:uniform(5) - 1), <<(rand:uniform(8)):3>>],
    pick(Plain);
random(Depth) ->
    case rand:uniform(8) of
        1 -> list_to_tuple(many(Depth));
        2 -> many(Depth);
        3 -> many(Depth) ++ random(Depth - 1);
        4 -> maps:from_list(lists:zip(many(Depth, 3), many(Depth, 3)));
        5 -> maps:from_list([{random(0), random(0)} || _ <- lists:seq(1, 40)]);
        6 -> [pick("abc") || _ <- lists:seq(1, rand:uniform(10))];
        7 -> pick(identifiers_once());
        8 -> random(0)
    end.

identifiers_once() ->
    case get(identifiers) of
        undefined -> put(identifiers, identifiers() ++ funs()), get(identifiers);
        Known -> Known
    end.

many(Depth) -> many(Depth, rand:uniform(4) - 1).

many(Depth, N) -> [random(Depth - 1) || _ <- lists:seq(1, N)].

pick(List) -> lists:nth(rand:uniform(length(List)), List).
