%% The Erlang side of tests/tracers/otp/logging.c and of its siblings with fewer callbacks.
-module(logging).
-export([load/1]).
-export([enabled/3, trace/5, enabled_call/3, trace_call/5, enabled_send/3, trace_send/5,
         enabled_receive/3, trace_receive/5, enabled_procs/3, trace_procs/5, enabled_ports/3,
         trace_ports/5, enabled_running_procs/3, trace_running_procs/5, enabled_running_ports/3,
         trace_running_ports/5, enabled_garbage_collection/3, trace_garbage_collection/5]).

load(Library) -> erlang:load_nif(Library, 0).

-define(ENABLED(Name), Name(_Tag, _State, _Tracee) -> erlang:nif_error(not_loaded)).
-define(TRACE(Name), Name(_Tag, _State, _Tracee, _Term, _Opts) -> erlang:nif_error(not_loaded)).

?ENABLED(enabled).
?ENABLED(enabled_call).
?ENABLED(enabled_send).
?ENABLED(enabled_receive).
?ENABLED(enabled_procs).
?ENABLED(enabled_ports).
?ENABLED(enabled_running_procs).
?ENABLED(enabled_running_ports).
?ENABLED(enabled_garbage_collection).
?TRACE(trace).
?TRACE(trace_call).
?TRACE(trace_send).
?TRACE(trace_receive).
?TRACE(trace_procs).
?TRACE(trace_ports).
?TRACE(trace_running_procs).
?TRACE(trace_running_ports).
?TRACE(trace_garbage_collection).
