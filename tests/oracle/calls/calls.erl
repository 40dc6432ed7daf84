%% The module for tests/tracers/otp/calls.c in a BEAM.
-module(calls).
-export([echo/1, raise/1, refuse/0, refuse/2, post/1]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("CALLS_LIBRARY"), 0).

echo(_) -> erlang:nif_error(not_loaded).
raise(_) -> erlang:nif_error(not_loaded).
refuse() -> erlang:nif_error(not_loaded).
refuse(_, _) -> erlang:nif_error(not_loaded).
post(_) -> erlang:nif_error(not_loaded).
