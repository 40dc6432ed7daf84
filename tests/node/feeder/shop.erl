%% The node that is traced: evaluates each line of its standard input, and prints the result in a line.
-module(shop).
-export([run/0, sell/1, work/1]).

run() ->
    case io:get_line("") of
        eof ->
            halt();
        Line ->
            {ok, Tokens, _} = erl_scan:string(Line),
            {ok, Expressions} = erl_parse:parse_exprs(Tokens),
            {value, Result, _} = erl_eval:exprs(Expressions, []),
            io:format("answer ~0p~n", [Result]),
            run()
    end.

work(Count) ->
    [sell(Article) || Article <- lists:seq(1, Count)],
    Count.

sell(Article) ->
    Article.
