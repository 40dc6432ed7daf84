%% The module for journal.so in a BEAM.
-module(journal).
-export([load/1, lines/1, sorted/1, ended/1]).

load(Library) -> erlang:load_nif(Library, 0).

lines(_) -> erlang:nif_error(not_loaded).
sorted(_) -> erlang:nif_error(not_loaded).
ended(_) -> erlang:nif_error(not_loaded).
