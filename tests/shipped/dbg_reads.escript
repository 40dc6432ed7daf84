#!/usr/bin/env escript
%% What OTP's dbg reads from two trace-port files, compared: from ORIGINAL, and from COPY, which has those of its
%% events that passed. Prints how many these are.
%%
%%   dbg_reads.escript ORIGINAL COPY [MODULE FUNCTION]
%%
%% With MODULE and FUNCTION, only calls of that function passed; else all events did. What ORIGINAL's recorder dropped
%% is not in COPY, and the integers that make strictly monotonic times unique are others.
-mode(compile).

main([Original, Copy | Function]) ->
    Passed = [plain(T) || T <- read(Original), passes(T, Function)],
    case [plain(T) || T <- read(Copy)] of
        Passed -> io:format("~w~n", [length(Passed)]);
        Other -> io:format("dbg read~n~0p~nof~n~0p~n", [Other, Passed]), halt(1)
    end.

read(File) ->
    Reader = self(),
    Client = dbg:trace_client(file, File, {fun(T, _) -> Reader ! {read, T} end, none}),
    Monitor = monitor(process, Client),
    read(Monitor, []).

%% It goes without an end_of_trace if the file is damaged.
read(Monitor, Read) ->
    receive
        {read, end_of_trace} -> demonitor(Monitor, [flush]), lists:reverse(Read);
        {read, T} -> read(Monitor, [T | Read]);
        {'DOWN', Monitor, process, _, Reason} -> exit(Reason)
    end.

passes({drop, _}, _) -> false;
passes(_, []) -> true;
passes(T, [Module, Function]) ->
    element(3, T) =:= call andalso [atom_to_list(element(N, element(4, T))) || N <- [1, 2]] =:= [Module, Function].

plain(T) when element(1, T) =:= trace_ts ->
    case element(tuple_size(T), T) of
        {Time, _} -> setelement(tuple_size(T), T, {Time, unique});
        _ -> T
    end;
plain(T) -> T.
