#!/bin/sh
# Scenarios of NIF libraries in a real BEAM and in tracehost: processes that are watched, names, messages, exceptions,
# resources that outlive their library, versions that replace each other. The same libraries, compiled with OTP's
# own header, and the same expressions (nif_scenarios/calls) give the same values and the same callbacks.
#
# The cases of OTP's nif_SUITE (OTP 25's all()), and the place of each in this project's tests:
# * here: upgrade, resource_takeover, resource, resource_binary, many_args, monitor_process_a to _d and _purge,
#   demonitor_process, monitor_frenzy, t_dynamic_resource_call, send, send2, nif_schedule, nif_exception,
#   consume_timeslice, nif_whereis and nif_whereis_threaded (processes), nif_is_process_alive
# * tests/conformance, function by function: types, binaries, get_string, get_atom, maps, api_macros, from_array,
#   iolist_as_binary, threading, send_threaded, is_checks, get_length, make_atom, make_string,
#   reverse_list_test, otp_9668, nif_nan_and_inf, nif_atom_too_long, nif_monotonic_time, nif_time_offset,
#   nif_convert_time_unit, nif_now_time, nif_cpu_time, nif_unique_integer, nif_is_port_alive,
#   nif_term_to_binary, nif_binary_to_term, nif_port_command, nif_snprintf, nif_internal_hash,
#   nif_internal_hash_salted, nif_phash2, nif_ioq, pid, nif_term_type, select, select_error, select_steal
# * without a BEAM, as they need features that the expressions lack: heap_frag (large terms: tests/term),
#   send3 and nif_whereis_parallel (many processes at once: tests/runtime)
# * not at all, as they are about Erlang modules: basic and reload_error (a second erlang:load_nif/2 in one
#   module), t_on_load, t_nifs_attrib, t_load_race, t_call_nif_early, load_traced_nif, neg (texts of load_nif/2),
#   otp_9828 (binaries that Erlang code appends to), match_state_arg (match contexts of Erlang code);
#   nif_whereis_proxy, send_trace and send_seq_trace are in no run of the suite
here=$SOURCE_DIR/tests/oracle/nif_scenarios

skip() {
    echo "$1"
    exit 77
}

command -v erl >/dev/null && command -v erlc >/dev/null || skip 'no erl (Debian: erlang-base)'
[ -n "$OTP_INCLUDE" ] || skip 'no erl_nif.h of OTP (Debian: erlang-dev)'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir beam tracehost || exit 1
export JOURNAL=journal
failed=0

fail() {
    echo "$*"
    failed=1
}

# compile NAME OPTION... FILE...
compile() {
    name=$1
    shift
    ${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared "$@" -o "$name.so" || exit 1
}

for version in 1 2; do
    compile scenarios_$version -DVERSION=$version -I"$OTP_INCLUDE" \
        "$here/library.c" "$here/resources.c" "$here/running.c"
done
compile journal -I"$OTP_INCLUDE" "$here/journal.c"
compile others -I"$SOURCE_DIR/plugin_api" "$here/others.c"
erlc -Wall -Werror "$here"/*.erl "$SOURCE_DIR/tests/conformance/calls.erl" || exit 1
mv scenarios.beam scenarios.code || exit 1

# in_beam: the values are in beam/output, the values that may differ in beam/meant.
in_beam() {
    rm -f beam/journal
    (cd beam && ERL_CRASH_DUMP_SECONDS=0 erl +S 2:2 +SDcpu 1:1 -noinput -boot no_dot_erlang -kernel logger_level none \
        -pa .. -run others main "$here/calls" >output) || return
    sort_out beam
}

# sort_out HOST: moves the values that may differ from HOST/output to HOST/meant.
sort_out() {
    grep '^{meant,' "$1/output" >"$1/meant" || fail "$1: results that must differ are missing"
    sed -i '/^{meant,/d' "$1/output"
}

(cd tracehost && "$TRACEHOST" call ../journal.so ../others.so -f "$here/calls" >output 2>errors) ||
    fail "tracehost: status $?: $(cat tracehost/errors)"
sort_out tracehost
in_beam || fail "the BEAM: status $?"
grep -Fxf beam/meant tracehost/meant && fail 'a result that must differ is equal'
diff beam/output tracehost/output >difference || {
    fail '< BEAM, > tracehost'
    cat difference
}
exit $failed
