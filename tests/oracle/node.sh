#!/bin/sh
# Runs the same tracer in a real BEAM and in a command that traces this BEAM, a node with a name, from outside; both logs
# must be the same. tests/oracle/logging/node_cases.erl has the cases.
[ -e "$BUILD_DIR/lib/tracehost/tracehost_node.so" ] || {
    echo 'tracehost_node.so is not built here: it needs erlc and libei (Debian: erlang-base, erlang-dev)'
    exit 77
}
. tests/oracle/logging/node

# An epmd of our own, at a free port.
ERL_EPMD_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
export ERL_EPMD_PORT
epmd -port "$ERL_EPMD_PORT" >"$work/epmd" 2>&1 &
epmd=$!
trap 'kill $epmd; rm -rf "$work"' EXIT
until epmd -names >/dev/null 2>&1; do
    kill -0 $epmd || exit 1
    sleep 0.02
done

export ERL_FLAGS='-sname oracle -setcookie oracle'
oracle 1 nodes
