#!/usr/bin/env escript
%% beam.escript MODULE FILE: evaluates the expressions in FILE in a real BEAM and prints each result. MODULE has
%% a NIF library. All its functions are exported, since some libraries have functions that are local in MODULE.
main([Name, File]) ->
    ok = io:setopts([{encoding, unicode}]),
    Module = list_to_atom(Name),
    Beam = code:which(Module),
    {ok, {_, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(Beam, [abstract_code]),
    {ok, Module, Code} = compile:forms(Forms, [export_all, nowarn_export_all]),
    {module, Module} = code:load_binary(Module, Beam, Code),
    case lists:keymember(on_load, 3, Forms) of
        true -> ok;
        false -> Module:load_nif()
    end,
    {ok, Text} = file:read_file(File),
    {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Text)),
    evaluate(Tokens, erl_eval:new_bindings()).

evaluate([], _) ->
    ok;
evaluate(Tokens, Bindings) ->
    {Form, [Dot | Rest]} = lists:splitwith(fun(T) -> element(1, T) =/= dot end, Tokens),
    {ok, Expressions} = erl_parse:parse_exprs(Form ++ [Dot]),
    {value, Value, New} = erl_eval:exprs(Expressions, Bindings),
    io:format("~0p~n", [Value]),
    evaluate(Rest, New).
