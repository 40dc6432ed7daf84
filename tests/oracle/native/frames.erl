%% The functions of tests/plugins/frames.c, in Erlang: calls of all kinds, function by function the same.
-module(frames).
-export([tails/1, jumps/1, nests/1, sums/1, evens/1, leaf/1, raises/2, leaps/2, passes/2, halfway/2, again/2,
         outward/1, handed/1, hands/1, later/1, helped/1, all/0]).

%% --- Tail calls

tails(N) -> {first(N)}.
jumps(N) -> first(N).
first(N) -> second(N, a).
second(N, A) -> third(N, A, []).
third(0, A, L) -> {A, L};
third(N, A, L) -> third(N - 1, A, [N | L]).

evens(N) -> {even(N)}.
even(0) -> true;
even(N) -> odd(N - 1).
odd(0) -> false;
odd(N) -> even(N - 1).

%% --- Calls in calls

nests(N) -> {left(N), right(N)}.
left(N) -> {leaf(N), leaf(N + 1)}.
right(N) -> left(N + 10).
leaf(N) -> {N}.

sums(N) -> {sum(N)}.
sum(0) -> 0;
sum(N) -> N + sum(N - 1).

%% --- Exceptions

%% If the function could return nothing, the compiler would make all calls of it tail calls.
raises(Class, N) -> {fall(Class, N)}.
fall(none, 0) -> none;
fall(error, 0) -> error(boom);
fall(throw, 0) -> throw(ball);
fall(exit, 0) -> exit(out);
fall(badarg, 0) -> error(badarg);
fall(Class, N) -> {fall(Class, N - 1)}.

leaps(Class, N) -> {leap(Class, N)}.
leap(Class, 0) -> fall(Class, 1);
leap(Class, N) -> leap(Class, N - 1).

passes(Class, N) -> {outside(Class, N)}.
outside(Class, N) -> {frames:raises(Class, N)}.

halfway(Class, N) -> {catches(Class, N), leaf(N)}.
catches(Class, N) ->
    try frames:raises(Class, N)
    catch C:R -> {C, R}
    end.

again(Class, N) -> {raises_again(Class, N)}.
raises_again(Class, N) ->
    try frames:raises(Class, N)
    catch C:R:S -> erlang:raise(C, R, S)
    end.

%% --- External calls

outward(N) -> {out(N), leaf(N)}.
out(N) -> {frames:sums(N), frames:leaf(N)}.
handed(N) -> frames:nests(N).
hands(N) -> hand(N).
hand(N) -> frames:nests(N).
later(N) ->
    Result = frames:nests(N),
    {Result, leaf(N)}.

%% --- Functions for a BEAM alone, where all functions can be traced

helped(N) -> {helper(N)}.
helper(N) -> {leaf(N)}.

%% Calls all functions except those that raise.
all() ->
    {tails(3), jumps(2), evens(5), nests(1), sums(9), halfway(error, 2), outward(3), frames:hands(1)}.
