#!/usr/bin/env escript
%% Compares the events that OTP's dbg reads from two trace-port files: from ORIGINAL, and from COPY, which has the
%% selected events of ORIGINAL. Prints their number.
%%
%%   dbg_reads.escript ORIGINAL COPY [MODULE FUNCTION]
%%
%% With MODULE and FUNCTION, only calls of that function were selected; otherwise all events were. Counts of events
%% dropped by ORIGINAL's recorder are not in COPY, and the integers that make strictly monotonic times unique differ.
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

%% If the file is damaged, the client ends without an end_of_trace.
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
