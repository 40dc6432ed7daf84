%% Runs a workload under trace in this Erlang node.
-module(tracing).
-export([logged/3, logged_and_recorded/4, recorded/2, traced/3, is_traced/1]).

-define(SETTLE, 10). % milliseconds for events after the end of a process

%% A case is a map:
%%   run        fun of no arguments, run by the tracee
%%   flags      the tracee's trace flags, for erlang:trace/3
%%   patterns   [{MFA | on_load | send | 'receive', MatchSpec, Options}], for erlang:trace_pattern/3; the
%%              option `meta' gets the tracer
%%   new_ports  flags of ports that the tracee opens
%%   new        flags of processes that are spawned during the run
%%   all        flags of all existing processes
%%   apart      [Patterns]: each for a trace session of its own, of OTP 27's module trace, with the flags
%%   registered name of the tracee
%%   token      true: the tracer is the one of seq_trace, too
%% All keys but `run' may be left out.

%% All functions return the tracee. The tracer `logging' with this state writes the log FILE.
logged(Case, File, State) -> trace(Case, {logging, State#{log => File}}).

%% The driver of dbg's trace ports also records its calls.
logged_and_recorded(Case, File, State, Recording) ->
    recording(Recording, fun(Port) -> logged(Case, File, State#{port => Port}) end).

%% OTP's own tracer records.
recorded(Case, Recording) -> recording(Recording, fun(Port) -> trace(Case, Port) end).

recording(File, Trace) ->
    Port = (dbg:trace_port(file, binary_to_list(File)))(),
    try Trace(Port)
    after
        erlang:port_control(Port, $f, ""),
        port_close(Port)
    end.

trace(Case, Tracer) ->
    Start = fun(Tracee) -> start(Case, Tracee, Tracer), is_traced(Tracee) end,
    traced(Case, Start, fun() -> receive after ?SETTLE -> stop() end end).

%% From OTP 27 on, a tracer may have a trace session of its own. A tracee that is looked at runs, which the flag running
%% shows: each way to trace ends with one look.
is_traced(Who) ->
    case code:ensure_loaded(trace) of
        {module, trace} -> trace:session_info(Who) =/= [];
        {error, nofile} -> erlang:trace_info(Who, tracer) =/= {tracer, []}
    end.

%% START, a function of the tracee, starts the tracing, STOP ends the tracing.
traced(#{run := Run} = Case, Start, Stop) ->
    Self = self(),
    {Tracee, Ref} = spawn_monitor(fun() -> Self ! ready, receive go -> Run() end end),
    receive ready -> ok end,
    [register(Name, Tracee) || #{registered := Name} <- [Case]],
    try
        Start(Tracee),
        Tracee ! go,
        receive {'DOWN', Ref, process, Tracee, _} -> Tracee end
    after
        Stop()
    end.

start(#{apart := Sets, flags := Flags}, Tracee, {_, _} = Tracer) ->
    put(sessions, [begin
                       Session = trace:session_create(apart, Tracer, []),
                       [trace:function(Session, What, Spec, Options) || {What, Spec, Options} <- Set],
                       1 = trace:process(Session, Tracee, true, Flags),
                       Session
                   end || Set <- Sets]);
start(Case, Tracee, Tracer) ->
    erlang:system_flag(trace_control_word, 0),
    [erlang:trace_pattern(What, Spec, [option(Option, Spec, Tracer) || Option <- Options])
     || {What, Spec, Options} <- maps:get(patterns, Case, [])],
    [flags(Who, maps:get(Key, Case), Tracer)
     || {Who, Key} <- [{Tracee, flags}, {new_ports, new_ports}, {new_processes, new},
                     {all, all}], is_map_key(Key, Case)],
    maps:get(token, Case, false) andalso seq_trace:set_system_tracer(Tracer).

option(meta, Spec, {Module, State}) when Spec =/= false -> {meta, Module, State};
option(Option, _, _) -> Option.

flags(Who, Flags, {Module, State}) -> erlang:trace(Who, true, [{tracer, Module, State} | Flags]);
flags(Who, Flags, Port) -> erlang:trace(Who, true, [{tracer, Port} | Flags]).

stop() ->
    [true = trace:session_destroy(Session) || Sessions <- [erase(sessions)], is_list(Sessions), Session <- Sessions],
    seq_trace:reset_trace(),
    seq_trace:set_system_tracer(false),
    [erlang:trace(Who, false, [all]) || Who <- [new_ports, new_processes]],
    erlang:trace(all, false, [all, cpu_timestamp]), % `all' does not include cpu_timestamp
    [erlang:trace_pattern(What, false, [Kind])
     || What <- [{'_', '_', '_'}, on_load], Kind <- [local, global, meta, call_count, call_time]],
    [erlang:trace_pattern(Event, true, []) || Event <- [send, 'receive']],
    Ref = erlang:trace_delivered(all),
    receive {trace_delivered, all, Ref} -> ok end.
