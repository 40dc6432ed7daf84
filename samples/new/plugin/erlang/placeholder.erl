%% The module for placeholder.so in an Erlang node: loads the library that lies beside its own file.
-module(placeholder).
-export([sum/1, new/0, add/2]).
-on_load(load/0).

load() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% The library replaces these functions: each function of its array needs one.
sum(_Integers) -> erlang:nif_error(not_loaded).
new() -> erlang:nif_error(not_loaded).
add(_Counter, _Integer) -> erlang:nif_error(not_loaded).
