%% The module for count.so in an Erlang node; see ../README.md.
-module(count).
-export([load/1, enabled/3, trace/5, trace_call/5]).

%% File: the path of count.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

enabled(_, _, _) ->
    erlang:nif_error(not_loaded).

trace(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).

trace_call(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).
