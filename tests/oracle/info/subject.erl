%% Functions whose breakpoints test_info.c looks up. Also compiled as the module `late', which a step loads.
-module(subject).
-export([f/1, g/0, tracee/0]).

f(X) -> X.

g() -> ok.

tracee() ->
    receive
        {call, Function, Arguments, Times, From} ->
            [apply(subject, Function, Arguments) || _ <- lists:seq(1, Times)],
            From ! called,
            tracee()
    end.
