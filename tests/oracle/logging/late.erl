%% Is loaded while there is trace already.
-module(late).
-export([twice/1]).

twice(X) -> add(X, X).
add(X, Y) -> X + Y.
