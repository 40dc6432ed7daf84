%% The module for diff.so in an Erlang node; see ../README.md.
-module(diff).
-export([load/1, enabled/3, trace/5, enabled_call/3, trace_call/5, enabled_procs/3, trace_procs/5]).

%% File: the path of diff.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

enabled(_, _, _) ->
    erlang:nif_error(not_loaded).

trace(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).

trace_call(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).

enabled_call(_, _, _) ->
    erlang:nif_error(not_loaded).

enabled_procs(_, _, _) ->
    erlang:nif_error(not_loaded).

trace_procs(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).
