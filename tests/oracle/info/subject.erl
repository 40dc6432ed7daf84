%% Functions whose breakpoints are asked about. Also compiled as the module `late', which is loaded when a script says so.
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
