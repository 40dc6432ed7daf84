%% The module for msg.so in an Erlang node; see ../README.md.
-module(msg).
-export([load/1, enabled/3, trace/5, enabled_send/3, trace_send/5]).

%% File: the path of msg.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

enabled(_, _, _) ->
    erlang:nif_error(not_loaded).

trace(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).

enabled_send(_, _, _) ->
    erlang:nif_error(not_loaded).

trace_send(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).
