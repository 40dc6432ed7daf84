%% The module for scenarios_1.so and scenarios_2.so in a BEAM.
-module(scenarios).
-on_load(init/0).
-export([a/0, a/1, a/2, a/3, a/4, a/7, a/16, a/20, badarg/1, badarg_first/1, binary/2, chain/1,
         demonitor/2, dynamic_call/3, frenzy/3, get/2, let_go/0, make/2, message_add/1, message_clear/0,
         message_send/1, monitor/3, raise_term/1, raise_dirty/1, registered/1, registered_in_thread/1,
         release/1, release_in_thread/1, same_monitor/2, send_to/2, slices/2, stay/1, stay_io/1, term/1, version/0]).

init() ->
    {File, Info} = persistent_term:get(scenarios),
    erlang:load_nif(File, Info).

-define(NIF, erlang:nif_error(not_loaded)).

a() -> ?NIF.
a(_) -> ?NIF.
a(_, _) -> ?NIF.
a(_, _, _) -> ?NIF.
a(_, _, _, _) -> ?NIF.
a(_, _, _, _, _, _, _) -> ?NIF.
a(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _) -> ?NIF.
a(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _) -> ?NIF.
badarg(_) -> ?NIF.
badarg_first(_) -> ?NIF.
binary(_, _) -> ?NIF.
chain(_) -> ?NIF.
demonitor(_, _) -> ?NIF.
dynamic_call(_, _, _) -> ?NIF.
frenzy(_, _, _) -> ?NIF.
get(_, _) -> ?NIF.
let_go() -> ?NIF.
make(_, _) -> ?NIF.
message_add(_) -> ?NIF.
message_clear() -> ?NIF.
message_send(_) -> ?NIF.
monitor(_, _, _) -> ?NIF.
raise_term(_) -> ?NIF.
raise_dirty(_) -> ?NIF.
registered(_) -> ?NIF.
registered_in_thread(_) -> ?NIF.
release(_) -> ?NIF.
release_in_thread(_) -> ?NIF.
same_monitor(_, _) -> ?NIF.
send_to(_, _) -> ?NIF.
slices(_, _) -> ?NIF.
stay(_) -> ?NIF.
stay_io(_) -> ?NIF.
term(_) -> ?NIF.
version() -> ?NIF.
