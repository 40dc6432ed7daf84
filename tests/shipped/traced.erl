%% Traces a fixed piece of work with a tracer that ships, in a real BEAM.
-module(traced).
-export([main/1, work/1]).

%% Arguments: the tracer's name, the folder of its library, the file that the tracer writes.
main([Name, Folder, Output]) ->
    Tracer = list_to_atom("tracehost_" ++ Name),
    ok = Tracer:load(filename:join(Folder, Name)),
    Worker = spawn(fun() -> receive {go, To} -> To ! {done, work(2)} end end),
    erlang:trace_pattern({?MODULE, work, 1}, [{'_', [], [{return_trace}]}], [local]),
    Stamps = [monotonic_timestamp || Name =:= "time"],
    erlang:trace(Worker, true, Stamps ++ [call, send, 'receive', procs, {tracer, Tracer, #{output => Output}}]),
    Monitor = monitor(process, Worker),
    Worker ! {go, self()},
    receive {'DOWN', Monitor, process, Worker, _} -> ok end,
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    true = code:delete(Tracer),
    code:purge(Tracer),
    wait_for(Output, 100),
    halt().

work(0) -> none;
work(N) -> [N, work(N - 1)].

%% A little after the purge, the library is unloaded, and its output is complete.
wait_for(_, 0) -> gave_up;
wait_for(File, Times) ->
    timer:sleep(20),
    case file:read_file_info(File) of
        {ok, Info} when element(2, Info) > 0 -> timer:sleep(50);
        _ -> wait_for(File, Times - 1)
    end.
