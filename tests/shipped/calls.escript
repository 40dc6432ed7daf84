#!/usr/bin/env escript
%%! -kernel logger_level none
%% calls.escript SOURCE LIBRARY FILE: compiles a plugin's Erlang module, loads its library with it, unless LIBRARY is
%% `none`, evaluates the expressions in FILE and prints each result.
main([Source, Library, File]) ->
    ok = io:setopts([{encoding, unicode}]),
    {ok, Module, Code} = compile:file(Source, [binary]),
    {module, Module} = code:load_binary(Module, Source, Code),
    [ok = Module:load(Library) || Library =/= "none"],
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
