#!/usr/bin/env escript
%% Lets the tracer `jsonl` record terms of a node (only external term format can carry some of them), lets tracehost
%% convert the lines, and compares the terms that OTP's dbg reads with the originals. The last line must have all terms.
%%
%%   jsonl_terms.escript TRACEHOST FOLDER-OF-TRACERS FOLDER-OF-ITS-MODULE SCRATCH-FOLDER
-mode(compile).

main([Tracehost, Tracers, Modules, Scratch]) ->
    true = code:add_patha(Modules),
    ok = tracehost_jsonl:load(filename:join(Tracers, "jsonl")),
    Lines = filename:join(Scratch, "terms.jsonl"),
    Stream = filename:join(Scratch, "terms.trace"),
    Terms = terms(),
    Tracee = record(Terms, Lines),
    unload(Lines),
    [] = os:cmd(lists:join(" ", [Tracehost, "convert", Lines, Stream, "2>&1"])),
    Self = self(),
    dbg:trace_client(file, Stream, {fun(T, _) -> Self ! {read, T} end, none}),
    [compare({trace, Tracee, 'receive', T}) || T <- Terms],
    compare(end_of_trace),
    io:format("read ~w terms~n", [length(Terms)]).

terms() ->
    Captured = make_ref(),
    [0.1, -0.0, 1.0e22, 5.0e-324, 1.7976931348623157e308, 1 bsl 70, -(1 bsl 70), 1 bsl 63, -(1 bsl 63), 'it\'s', 'end', '',
     list_to_atom([233, 32]), list_to_atom([0, 97]), list_to_atom([945]), [233, 10], "text \"\\", <<1:3>>, <<"x\n">>,
     binary:copy(<<200>>, 1000), lists:seq(1, 300), [a, b | c], #{a => [b | c], #{} => {}}, maps:from_list([{N, N} || N <- lists:seq(1, 40)]),
     fun lists:map/2, fun() -> Captured end, self(), hd(erlang:ports()), make_ref(), alias(),
     binary_to_term(<<131, 88, 119, 3, "a@b", 1:32, 2:32, 3:32>>), binary_to_term(<<131, 90, 3:16, 119, 3, "a@b", 1:32, 2:32, 3:32, 4:32>>)].

record(Terms, File) ->
    {Tracee, Monitor} = spawn_monitor(fun() -> take(length(Terms)) end),
    erlang:trace(Tracee, true, ['receive', {tracer, tracehost_jsonl, #{output => File}}]),
    [Tracee ! T || T <- Terms],
    receive {'DOWN', Monitor, process, _, normal} -> ok end,
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> Tracee end.

take(0) -> ok;
take(N) -> receive _ -> take(N - 1) end.

%% The file gets its name when the library is unloaded, a little after the purge.
unload(File) ->
    true = code:delete(tracehost_jsonl),
    code:purge(tracehost_jsonl),
    wait(File, 1000).

wait(File, Times) ->
    case filelib:is_file(File) of
        true -> ok;
        false when Times > 0 -> timer:sleep(20), wait(File, Times - 1)
    end.

compare(Wanted) ->
    receive
        {read, Wanted} -> ok;
        {read, Other} -> io:format("~0p~nin place of~n~0p~n", [Other, Wanted]), halt(1)
    after 60000 -> io:format("nothing in place of ~0p~n", [Wanted]), halt(1)
    end.
