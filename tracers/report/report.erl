%% The module for report.so in an Erlang node; see ../README.md.
-module(report).
-export([load/1, enabled/3, trace/5]).

%% File: the path of report.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

enabled(_, _, _) ->
    erlang:nif_error(not_loaded).

trace(_, _, _, _, _) ->
    erlang:nif_error(not_loaded).
