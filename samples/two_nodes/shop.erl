%% A stock of articles on one node, and a till on another one that takes articles from it.
-module(shop).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, till/1, sell/2]).

start() ->
    gen_server:start({local, stock}, ?MODULE, #{bread => 3, milk => 2}, []).

init(Articles) ->
    {ok, Articles}.

handle_call({take, Article}, _, Articles) ->
    case Articles of
        #{Article := N} when N > 0 -> {reply, N - 1, Articles#{Article := N - 1}};
        _ -> {reply, sold_out, Articles}
    end.

handle_cast(_, Articles) ->
    {noreply, Articles}.

till(Node) ->
    receive open -> ok end,
    [sell(Node, Article) || Article <- [bread, milk, bread, milk, milk, bread]],
    receive close -> ok end.

sell(Node, Article) ->
    gen_server:call({stock, Node}, {take, Article}).
