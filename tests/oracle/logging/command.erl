%% Runs programs.
-module(command).
-export([start/2, output/2, output/3]).

%% Returns the port of a program that runs now.
start(Program, Arguments) ->
    open_port({spawn_executable, Program}, [{args, Arguments}, exit_status, stderr_to_stdout, binary, in]).

%% Waits for the end of a program. Returns what it has printed. Throws a text if its exit status is not EXPECTED.
output(Port, Expected) ->
    case said(Port, []) of
        {Expected, Said} -> iolist_to_binary(Said);
        {Status, Said} -> throw(io_lib:format("the exit status is ~b, not ~b:~n~s", [Status, Expected, Said]))
    end.

said(Port, Said) ->
    receive
        {Port, {data, Data}} -> said(Port, [Said | Data]);
        {Port, {exit_status, Status}} -> {Status, Said}
    end.

output(Program, Arguments, Expected) ->
    try output(start(Program, Arguments), Expected)
    catch throw:Said -> throw(io_lib:format("~s ~s: ~s", [Program, hd(Arguments), Said]))
    end.
