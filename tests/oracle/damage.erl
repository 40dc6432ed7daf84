%% Damaged external terms, and the results of this Erlang node's decoder. The same terms in each run.
%%
%% write(Terms, File): TERMS is a file that terms:write/1 made. All integers big-endian:
%%   count:32
%%   for each: size:32, bytes, accepted:8, and if that is 1: used:32, size:32, the term written again
%%
%% Left out are inputs for which OTP 25 itself is wrong: tags of its internal form, which it reads without the
%% option for them (73, 75), and funs (112), whose creator it uses before it checks it. Identifiers of this node
%% are left out, too, since the node refuses numbers that its own tables do not have.
-module(damage).
-export([write/2]).

write(TermsFile, File) ->
    rand:seed(exsss, {4, 5, 6}),
    {ok, <<Count:32, Rest/binary>>} = file:read_file(TermsFile),
    Whole = [External || External <- externals(Count, Rest), byte_size(External) < 2000,
                         binary:match(External, <<"nonode@nohost">>) =:= nomatch],
    Damaged = [D || External <- Whole, _ <- lists:seq(1, 15), D <- [damage(External)], sane(D)],
    ok = file:write_file(File, [<<(length(Damaged)):32>>, [answer(D) || D <- Damaged]]).

externals(0, _) -> [];
externals(N, <<Size:32, External:Size/binary, _:64, Rest/binary>>) ->
    [External | externals(N - 1, Rest)].

sane(Bytes) -> binary:match(Bytes, [<<73>>, <<75>>, <<112>>]) =:= nomatch.

damage(External) ->
    lists:foldl(fun(_, Bytes) -> change(Bytes) end, External,
                lists:seq(1, lists:nth(rand:uniform(4), [1, 1, 2, 4]))).

change(<<>>) -> <<131>>;
change(Bytes) ->
    At = rand:uniform(byte_size(Bytes)) - 1,
    <<Before:At/binary, Byte, After/binary>> = Bytes,
    case rand:uniform(7) of
        1 -> <<Before/binary, (rand:uniform(256) - 1), After/binary>>;
        2 -> <<Before/binary, (tag()), After/binary>>;
        3 -> <<Before/binary, (Byte bxor (1 bsl (rand:uniform(8) - 1))), After/binary>>;
        4 -> <<Before/binary, After/binary>>;
        5 -> <<Before/binary, Byte, (rand:uniform(256) - 1), After/binary>>;
        6 -> <<Before/binary, (tag()), Byte, After/binary>>;
        7 -> Before
    end.

tag() ->
    Tags = [70, 77, 80, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110,
            111, 113, 114, 115, 116, 117, 118, 119, 120, 121, 131],
    lists:nth(rand:uniform(length(Tags)), Tags).

answer(Bytes) -> [<<(byte_size(Bytes)):32>>, Bytes, outcome(Bytes)].

outcome(Bytes) ->
    try binary_to_term(Bytes, [used]) of
        {Term, Used} ->
            Again = term_to_binary(Term),
            <<1, Used:32, (byte_size(Again)):32, Again/binary>>
    catch
        error:badarg -> <<0>>
    end.
