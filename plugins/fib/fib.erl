%% The module for fib.so in an Erlang node; see ../README.md.
-module(fib).
-export([load/1, fib/1, quick/1, depth/1]).

%% File: the path of fib.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

fib(_) ->
    erlang:nif_error(not_loaded).

quick(_) ->
    erlang:nif_error(not_loaded).

depth(_) ->
    erlang:nif_error(not_loaded).
