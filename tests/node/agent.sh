#!/bin/sh
# Tests the part of tracehost that works in a node (host/replay/node) in nodes of the installed OTP and of OTP 27: the
# events, the refusals, the limits, and the node's state before and after each way in which a trace can end.
. tests/cli/lib/assertions.sh

case ${EMULATOR:+emulated/}${BUILD_DIR:-} in
*asan | *tsan) echo 'no C is tested here'; exit 77 ;;
emulated/*) echo 'the agent is Erlang code, the same on each machine'; exit 77 ;;
esac
command -v escript >/dev/null || { echo 'no escript (Debian: erlang-base)'; exit 77; }
erl -noinput -boot no_dot_erlang -eval 'halt(case code:which(peer) of non_existing -> 1; _ -> 0 end)' ||
    { echo 'no peer: OTP is older than 25 (Debian: erlang-base)'; exit 77; }

mkdir "$work/code" "$work/agent"
erlc +r24 +deterministic -Wall -Werror -o "$work/agent" host/replay/node/tracehost_agent.erl &&
    erlc +r24 -Wall -Werror -o "$work/code" tests/node/client.erl tests/node/watched.erl || exit 1

# The nodes find each other by an epmd of their own. Its port is one that the system has just had free.
ERL_EPMD_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export ERL_EPMD_PORT
epmd -address 127.0.0.1 >"$work/epmd" 2>&1 &
epmd=$!
trap 'kill $epmd; rm -rf "$work"' EXIT
until_so epmd -names || { echo 'epmd does not start'; exit 1; }

# in_node ERL: runs all cases in a node that ERL starts.
in_node() {
    escript tests/node/agent.escript "$1" host/replay/node "$work/code" "$work/agent/tracehost_agent.beam" \
        >"$work/cases" 2>&1 </dev/null
    cat "$work/cases"
    passed=$((passed + $(grep -c '^ok' "$work/cases")))
    failed=$((failed + $(grep -c '^not ok' "$work/cases")))
    [ "$(tail -n 1 "$work/cases")" = 'all cases were run' ] || fail "all cases are run in the node of $1"
}

in_node "$(command -v erl)"
otp27=$SOURCE_DIR/build/otp27
if [ -x "$otp27/bin/erl" ]; then
    in_node "$otp27/bin/erl"
else
    skip 'the agent in a node of OTP 27' \
        "no OTP 27 of Debian 13: $([ -e "$otp27.log" ] && tail -n 1 "$otp27.log" || echo 'tests/unpack-otp27 was not run')"
fi
finish
