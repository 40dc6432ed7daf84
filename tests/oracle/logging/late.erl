%% A module that is loaded while the trace runs.
-module(late).
-export([twice/1]).

twice(X) -> add(X, X).
add(X, Y) -> X + Y.
