%% The module for json.so in an Erlang node; see ../README.md.
-module(json).
-export([load/1, decode/1, encode/1, encode/2]).

%% File: the path of json.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

decode(_) ->
    erlang:nif_error(not_loaded).

encode(_) ->
    erlang:nif_error(not_loaded).

encode(_, _) ->
    erlang:nif_error(not_loaded).
