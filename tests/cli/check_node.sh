#!/bin/sh
# Tests that `tracehost check` and Erlang nodes agree on the libraries that a node refuses: the installed node's, and OTP 27's
# if tests/unpack-otp27 has unpacked it. The answers of a node are those of erlang:load_nif/2 and erlang:trace/3.
. tests/cli/lib/assertions.sh

case $BUILD_DIR in
*asan | *tsan)
    skip 'nodes refuse what check says' 'libraries with sanitizers do not load into a node'
    finish
    ;;
esac
command -v erlc >/dev/null || {
    skip 'nodes refuse what check says' 'no Erlang here'
    finish
}
source=tests/cli/check_command/planted.c
cat >"$work/planted.erl" <<'LINES'
-module(planted).
-export([main/0, enabled/3, trace/5, trace_all/5]).

main() ->
    io:format("~s ~s", [erlang:system_info(otp_release), try_all()]),
    halt().

try_all() ->
    case erlang:load_nif("./planted", 0) of
        ok ->
            try erlang:trace(self(), true, [call, {tracer, ?MODULE, []}]) of
                1 -> "traces"
            catch
                error:badarg -> "does not trace"
            end;
        {error, {Reason, Text}} ->
            Words = re:replace(Text, "^.*(undefined symbol: \\w+|nif_init|needs erts-[0-9.]+).*", "\\1",
                               [{return, list}, dotall]),
            io_lib:format("refuses: ~s, ~s", [Reason, Words])
    end.

enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
trace_all(_, _, _, _, _) -> erlang:nif_error(not_loaded).
LINES
erlc -o "$work" "$work/planted.erl"

# made FLAG...: compiles the tracer. The bug is in a FLAG.
made() {
    "$CC" -O1 -g -fPIC -shared -I"$BUILD_DIR/include/tracehost" -o "$work/planted.so" "$@"
}

# checked: prints the finding, or the line of the summary, of `check`.
checked() {
    (cd "$work" && "$tracehost" check --seed=1 --for=0s ./planted.so 2>&1) | sed -n 's/^node: planted.so: //p; s/^  node  *//p
        s/^tracehost check: /refused: /p; s/^  the library was compiled for/  it is/p'
}

# answers: prints the answer of each node, with its release.
answers() {
    for erl in erl "$SOURCE_DIR/build/otp27/bin/erl"; do
        [ "$erl" = erl ] || { [ -x "$erl" ] && [ -z "${EMULATOR:-}" ]; } || continue
        (cd "$work" && ERL_CRASH_DUMP_SECONDS=0 timeout 60 "$erl" -noinput -boot no_dot_erlang -eval 'planted:main().')
        echo
    done
}

[ -z "${EMULATOR:-}" ] || skip 'OTP 27 refuses what check says' 'OTP 27 is of this machine'

# Each node gives the answer that is expected, whose release is left out.
all_say() {
    answers >"$work/answers"
    sed 's/^[0-9]* //' "$work/answers" | sort -u
}

# both FLAG...: prints what check says of a tracer, and what all nodes say.
both() {
    made "$@" && checked && all_say
}
expect 'a function of this host alone' both -DERL_NIF_MINOR_VERSION=16 -DPLANTED=node_lacks_function $source <<'LINES'
a node cannot load the library: this host alone exports th_host_version
refuses: load_failed, undefined symbol: th_host_version
LINES
expect 'a tracer without trace/5' both -DERL_NIF_MINOR_VERSION=16 -DPLANTED=node_lacks_callback $source <<'LINES'
a node does not trace with the library: the tracer lacks trace/5
does not trace
LINES
expect 'a tracer without a fault' both -DERL_NIF_MINOR_VERSION=16 -DPLANTED=no_bug $source <<'LINES'
loads the library from OTP 24 on
traces
LINES
cat >"$work/plain.c" <<'LINES'
#include <erl_tracer.h>

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
}
LINES
expect 'a tracer without an entry' both "$work/plain.c" <<'LINES'
does not load the tracer without an ERL_NIF_INIT, as `tracehost new tracer --erlang` makes it
refuses: bad_lib, nif_init
LINES
cat >"$work/companion.c" <<'LINES'
#define nif_init other_init
#include "planted.c"
#undef nif_init

ErlNifEntry *nif_init(void)
{
    return enif_scheduler_id() < 0 ? 0 : other_init();
}
LINES
expect 'a function of no released OTP' both -DERL_NIF_MINOR_VERSION=16 -DPLANTED=no_bug -I"$(dirname $source)" \
    "$work/companion.c" <<'LINES'
a node cannot load the library: this host alone exports enif_scheduler_id
refuses: load_failed, undefined symbol: enif_scheduler_id
LINES
sed 's/return enif.*/ErlNifEntry *entry = other_init(); entry->minor = 99; return entry;/' "$work/companion.c" >"$work/newer.c"
expect 'an entry of a NIF version that no OTP has' both -DERL_NIF_MINOR_VERSION=16 -DPLANTED=no_bug \
    -I"$(dirname $source)" "$work/newer.c" <<'LINES'
refused: ./planted.so was refused
  it is NIF version 2.99 of erts-12.0; this host provides 2.18: compile it with an older erl_nif.h
refuses: bad_lib, needs erts-12.0
LINES

# releases: a node loads each NIF version if its release is the one that check says, or a later one.
releases() {
    for minor in 16 17 18; do
        made -DERL_NIF_MINOR_VERSION=$minor -DPLANTED=no_bug $source || return
        least=$(checked | sed -n 's/^loads the library from OTP \([0-9]*\) on$/\1/p')
        answers >"$work/answers"
        echo "NIF 2.$minor, from OTP $least on:"
        cat "$work/answers"
        awk -v least="$least" '{ wrong += ($1 >= least) != ($2 == "traces") } END { exit NR == 0 || !least || wrong }' \
            "$work/answers" || return
    done
}
check 'a node loads a library from the release on that check says' releases
finish
