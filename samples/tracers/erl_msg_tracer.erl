%% The module for erl_msg_tracer.so in an Erlang node.
-module(erl_msg_tracer).
-export([load/1, enabled/3, trace/5]).

%% File: the path of erl_msg_tracer.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

enabled(_, _, _) ->
    erlang:nif_error(not_loaded).

trace(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).
