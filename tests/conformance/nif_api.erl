%% The module for nif_api.so in a BEAM, where the functions of a library belong to a module.
-module(nif_api).
-export([load/1]).
-export([about_terms/0, bad_schedules/1, binaries/0, check/2, clocks/0, conditions/0, destroyed/0,
         dirty_cpu/3, dirty_io/2, dynamic_calls/0, environments/0, errors/0, exceptions/0,
         external/0, hashes/0, identifiers/0, iterators/0, large_maps/0, let_go/0, libraries/0,
         locks/0, makers/0, memory/0, monitors/0, named/1, newer/0, order/0, port_closed/1, port_output/0, ports/1, printing/0, queues/0,
         raise/1, resource_terms/0, resources/0, scheduling/0, select_again/0, select_cancel/0,
         select_pipe/0, select_ready/0, select_stop/0, select_stopped/0, select_wrong/0, sending/0,
         sending_thread/0, small_maps/0, sub_binaries/0, system_info/0, thread_data/0, threads/0,
         slice/1, time_units/0, timeslices/0, unique/0, variables/0, vectors/0, watch_self/0]).

load(Library) -> erlang:load_nif(Library, {info, "for load", 1}).

-define(NIF, erlang:nif_error(not_loaded)).

about_terms() -> ?NIF.
bad_schedules(_) -> ?NIF.
binaries() -> ?NIF.
check(_, _) -> ?NIF.
clocks() -> ?NIF.
conditions() -> ?NIF.
destroyed() -> ?NIF.
dirty_cpu(_, _, _) -> ?NIF.
dirty_io(_, _) -> ?NIF.
dynamic_calls() -> ?NIF.
environments() -> ?NIF.
errors() -> ?NIF.
exceptions() -> ?NIF.
external() -> ?NIF.
hashes() -> ?NIF.
identifiers() -> ?NIF.
iterators() -> ?NIF.
large_maps() -> ?NIF.
let_go() -> ?NIF.
libraries() -> ?NIF.
locks() -> ?NIF.
makers() -> ?NIF.
memory() -> ?NIF.
monitors() -> ?NIF.
named(_) -> ?NIF.
newer() -> ?NIF.
order() -> ?NIF.
port_closed(_) -> ?NIF.
port_output() -> ?NIF.
ports(_) -> ?NIF.
printing() -> ?NIF.
queues() -> ?NIF.
raise(_) -> ?NIF.
resource_terms() -> ?NIF.
resources() -> ?NIF.
scheduling() -> ?NIF.
select_again() -> ?NIF.
select_cancel() -> ?NIF.
select_pipe() -> ?NIF.
select_ready() -> ?NIF.
select_stop() -> ?NIF.
select_stopped() -> ?NIF.
select_wrong() -> ?NIF.
sending() -> ?NIF.
sending_thread() -> ?NIF.
slice(_) -> ?NIF.
small_maps() -> ?NIF.
sub_binaries() -> ?NIF.
system_info() -> ?NIF.
thread_data() -> ?NIF.
threads() -> ?NIF.
time_units() -> ?NIF.
timeslices() -> ?NIF.
unique() -> ?NIF.
variables() -> ?NIF.
vectors() -> ?NIF.
watch_self() -> ?NIF.
