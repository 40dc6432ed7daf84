%% The BEAM's side of loading.py. Reads the same lines as programs/loading.c: "busy 2", and "load PATH TIMES"
%% for a .beam file. Answers each load with a line of nanoseconds: for prepare, for finish, for finish while
%% there is old code (purged before, as code:load_binary/3 does), for purge, and for the whole of
%% code:load_binary/3.
-module(loading_times).
-export([main/0, echo/1]).

main() ->
    spawn(fun() -> answer([]) end).

answer(Busy) ->
    case io:fread("", "~s ~s") of
        {ok, ["busy", Count]} ->
            [exit(Pid, kill) || Pid <- Busy],
            answer([spawn(fun call_on_and_on/0) || _ <- lists:seq(1, list_to_integer(Count))]);
        {ok, ["load", Path]} ->
            {ok, [Times]} = io:fread("", "~d"),
            {ok, Binary} = file:read_file(Path ++ ".beam"),
            upgrade(list_to_atom(filename:basename(Path)), Path, Binary, Times),
            answer(Busy);
        eof ->
            halt(0)
    end.

call_on_and_on() ->
    ?MODULE:echo(1),
    call_on_and_on().

echo(Term) ->
    Term.

upgrade(Module, Path, Binary, Times) ->
    {module, Module} = code:load_binary(Module, Path, Binary),
    Lines = [once(Module, Path, Binary) || _ <- lists:seq(1, Times)],
    [io:format("~b ~b ~b ~b ~b~n", Line) || Line <- Lines].

once(Module, Path, Binary) ->
    code:purge(Module),
    T0 = now_ns(),
    First = erlang:prepare_loading(Module, Binary),
    T1 = now_ns(),
    ok = erlang:finish_loading([First]),
    T2 = now_ns(),
    Second = erlang:prepare_loading(Module, Binary),
    T3 = now_ns(),
    code:purge(Module),
    ok = erlang:finish_loading([Second]),
    T4 = now_ns(),
    code:purge(Module),
    T5 = now_ns(),
    {module, Module} = code:load_binary(Module, Path, Binary),
    T6 = now_ns(),
    [T1 - T0, T2 - T1, T4 - T3, T5 - T4, T6 - T5].

now_ns() ->
    erlang:monotonic_time(nanosecond).
