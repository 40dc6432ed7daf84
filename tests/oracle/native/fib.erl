%% The functions of plugins/fib, in Erlang.
-module(fib).
-export([fib/1, quick/1, depth/1]).

fib(0) -> 0;
fib(1) -> 1;
fib(N) -> fib(N - 1) + fib(N - 2).

quick(N) -> loop(N, 1, 0).
loop(0, _, B) -> B;
loop(N, A, B) -> loop(N - 1, B, A + B).

depth(N) -> down(N).
down(0) -> 0;
down(N) -> 1 + down(N - 1).
