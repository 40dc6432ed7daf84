%% The module for placeholder.so in an Erlang node: loads the library that lies beside its own file.
-module(placeholder).
-export([example/0]).
-export([enabled/3, trace/5, enabled_call/3, trace_call/5, enabled_send/3, trace_send/5]).
-on_load(load/0).

load() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Traces a process that calls a function and sends a message.
example() ->
    Self = self(),
    {Pid, Monitor} = spawn_monitor(fun() -> receive go -> Self ! {max, lists:max([1, 2])} end end),
    erlang:trace_pattern({lists, max, 1}, true, []),
    erlang:trace(Pid, true, [call, send, {tracer, ?MODULE, []}]),
    Pid ! go,
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end.

%% The library replaces these functions: each callback of its array needs one.
enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_call(_, _, _) -> erlang:nif_error(not_loaded).
trace_call(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_send(_, _, _) -> erlang:nif_error(not_loaded).
trace_send(_, _, _, _, _) -> erlang:nif_error(not_loaded).
