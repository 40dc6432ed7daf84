#!/usr/bin/env escript
%% json.escript SOURCE LIBRARY JIFFY CALLS: the plugin `json` in a real BEAM. Compares generated cases with the numbers
%% that the BEAM itself writes and, if JIFFY is `yes`, with jiffy. Writes calls with texts, whole and damaged, to CALLS,
%% and their results to CALLS.results.
-mode(compile).

main([Source, Library, Jiffy, Calls]) ->
    {ok, json, Code} = compile:file(Source, [binary]),
    {module, json} = code:load_binary(json, Source, Code),
    ok = json:load(Library),
    rand:seed(exsss, 1),
    floats(),
    integers(),
    terms(3000, Jiffy),
    texts(3000, Jiffy, Calls).

%% Returns the shortest digits, in the BEAM's notation.
floats() ->
    [float_is_short(math:pow(2, E)) || E <- lists:seq(-1074, 1023)],
    [float_is_short(F) || F <- [-0.0, 1.0e-12, 9007199254740991.0, 9007199254740992.0, 1.0e22, 1.7976931348623157e308]],
    [float_is_short(F) || _ <- lists:seq(1, 20000), <<F/float>> <- [rand:bytes(8)]],
    [float_is_short(rand:uniform(100000000) / 1000) || _ <- lists:seq(1, 5000)].

float_is_short(F) ->
    Text = float_to_binary(F, [short]),
    {F, Text} = {F, json:encode(F)},
    {Text, F} = {Text, json:decode(Text)}.

integers() ->
    [integer_is_same(integer(Bytes)) || Bytes <- lists:seq(1, 150), _ <- lists:seq(1, 10)].

integer_is_same(I) ->
    Text = integer_to_binary(I),
    {I, Text} = {I, json:encode(I)},
    {Text, [I]} = {Text, json:decode(<<" [ ", Text/binary, " ] ">>)}.

integer(Bytes) ->
    (2 * rand:uniform(2) - 3) * binary:decode_unsigned(rand:bytes(Bytes)).

%% An encoded term is decoded to the same term, by jiffy, too; and the other way round.
terms(0, _) ->
    ok;
terms(N, Jiffy) ->
    Term = term(4),
    Text = json:encode(Term),
    {Term, Term} = {Term, json:decode(Text)},
    {Term, Term} = {Term, json:decode(json:encode(Term, [escape_unicode, sort_keys, {indent, 3}]))},
    [{Term, Term, Term} = {Term, jiffy:decode(Text, [return_maps]), json:decode(iolist_to_binary(jiffy:encode(Term)))}
     || Jiffy =:= "yes"],
    terms(N - 1, Jiffy).

term(0) ->
    leaf(rand:uniform(6));
term(Depth) ->
    case rand:uniform(4) of
        1 -> [term(Depth - 1) || _ <- lists:seq(2, rand:uniform(5))];
        2 -> maps:from_list([{string(), term(Depth - 1)} || _ <- lists:seq(2, rand:uniform(6))]);
        _ -> leaf(rand:uniform(6))
    end.

leaf(1) -> rand:uniform(1000) - 500;
leaf(2) -> integer(rand:uniform(40));
leaf(3) -> rand:uniform() * 1000;
leaf(4) -> lists:nth(rand:uniform(3), [true, false, null]);
leaf(_) -> string().

string() ->
    unicode:characters_to_binary([character(rand:uniform(6)) || _ <- lists:seq(2, rand:uniform(6))]).

character(1) -> rand:uniform(128) - 1;
character(2) -> rand:uniform(3) - 1;
character(3) -> 16#20 + rand:uniform(16#3FF);
character(4) -> 16#10000 + rand:uniform(1000);
character(5) -> $";
character(6) -> $n.

%% Texts, most of them damaged: both refuse the same texts.
texts(Count, Jiffy, File) ->
    {ok, Calls} = file:open(File, [write, {encoding, utf8}]),
    {ok, Results} = file:open(File ++ ".results", [write, {encoding, utf8}]),
    [text(damaged(text()), Jiffy, Calls, Results) || _ <- lists:seq(1, Count)],
    file:close(Calls),
    file:close(Results).

text() ->
    Options = [[], [{indent, 2}], [escape_unicode]],
    json:encode([term(3), 1.5e10, -3, <<"a\\u0000\n">>], lists:nth(rand:uniform(3), Options)).

damaged(Text) ->
    Place = rand:uniform(byte_size(Text)) - 1,
    <<Before:Place/binary, Byte, After/binary>> = Text,
    case rand:uniform(5) of
        1 -> <<Before/binary, After/binary>>;
        2 -> Before;
        3 -> <<Before/binary, (lists:nth(rand:uniform(26), [0, 1 | "[]{}:,\"\\0123456789eE.+-tn "])), After/binary>>;
        4 -> <<Before/binary, Byte, Byte, After/binary>>;
        5 -> Text
    end.

text(Text, Jiffy, Calls, Results) ->
    Answer = try json:decode(Text) catch error:Why -> {error, Why} end,
    Jiffy =:= "yes" andalso (same(Answer, catch jiffy:decode(Text, [return_maps])) orelse error({differs, Text, Answer})),
    io:format(Calls, "try json:decode(~w) catch error:R -> {error, R} end.~nf().~n", [Text]),
    io:format(Results, "~0p~nok~n", [Answer]).

same({error, _}, {'EXIT', {{_, _}, _}}) -> true;
same(Answer, Jiffys) -> Answer =:= Jiffys.
