%% The module for spec_example.so in an Erlang node; see ../README.md.
-module(spec_example).
-export([load/1, foo/0, rfoo/0, rlots/0, rof/0, rindirections/0, rbar/1]).

%% File: the path of spec_example.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

foo() ->
    erlang:nif_error(not_loaded).

rfoo() ->
    erlang:nif_error(not_loaded).

rlots() ->
    erlang:nif_error(not_loaded).

rof() ->
    erlang:nif_error(not_loaded).

rindirections() ->
    erlang:nif_error(not_loaded).

rbar(_) ->
    erlang:nif_error(not_loaded).
