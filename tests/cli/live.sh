#!/bin/sh
# Tests tcp://HOST:PORT: messages and behaviour of the commands for connections. tests/oracle/live_node.sh tests real
# nodes; tests/replay tests the states of a connection.
. tests/cli/lib/assertions.sh

served=tests/cli/lib/serve_node.py
calls=$recordings/s01_seed_local_caller.trace
from=tcp://127.0.0.1:PORT

# --- connections that cannot be opened ---

for address in tcp:// tcp://host tcp://host:0; do
    expect "an invalid address is refused: $address" "$tracehost" info $address <<EOF
-- stderr
tracehost info: cannot read $address
  $(case $address in *:0) echo "the port must be a number from 1 to 65535, not '0'" ;; *)
        echo 'an address must be tcp://HOST:PORT, or tcp://[ADDRESS]:PORT for IPv6' ;; esac)
-- status 3
EOF
done
expect 'a refused connection is reported' "$tracehost" replay tcp://127.0.0.1:1 <<'EOF'
-- stderr
tracehost replay: cannot read tcp://127.0.0.1:1
  cannot connect to 127.0.0.1: Connection refused
  no node listens there; dbg:tracer(port, dbg:trace_port(ip, 1)) makes a node listen
-- status 3
EOF
expect '--reconnect=0 is refused' "$tracehost" dump --reconnect=0 tcp://127.0.0.1:1 <<'EOF'
-- stderr
tracehost dump: --reconnect must be a time above 0, not '0'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
EOF

# --- behaviour that is the same as with files ---

same() {
    for command in 'dump' 'dump --format=jsonl' 'convert --to=trace' 'replay' 'info --format=json'; do
        to=
        case $command in convert*) to=- ;; esac
        # shellcheck disable=SC2086
        "$tracehost" $command "$calls" $to >"$work/of_file"
        # shellcheck disable=SC2086
        $served "$calls" -- "$tracehost" $command "$from" $to >"$work/of_node"
        cmp "$work/of_file" "$work/of_node" && echo "$command: the same"
    done
}
expect 'dump, convert, replay and info print the same for a node as for its file' same <<'EOF'
dump: the same
dump --format=jsonl: the same
convert --to=trace: the same
replay: the same
info --format=json: the same
EOF

# --- losses ---

cut() {
    head -c 200 "$calls" >"$work/cut"
    $served "$work/cut" -- "$tracehost" "$@"
}
expect 'a connection that ends inside a record is reported' cut dump "$from" <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
-- stderr
tracehost dump: tcp://127.0.0.1:PORT: record 3 at byte 162 is truncated
  the input ends after 33 of the record's 75 bytes
tracehost dump: tcp://127.0.0.1:PORT: recovered 2 records
-- status 4
EOF
expect '--max-events ends a connection with status 0' cut dump --max-events=1 "$from" <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
EOF

# The file contains the gap, and a replay of the file reports it.
gap() {
    head -c 162 "$calls" >"$work/two"
    $served "$work/two" "$work/two" -- "$tracehost" convert --reconnect=1s "$from" "$work/gap.trace" 2>/dev/null
    echo "status $?"
    "$tracehost" dump "$work/gap.trace"
    "$tracehost" replay -t count,top=1 --fail-on-loss "$work/gap.trace"
    echo "status $?"
    "$tracehost" info "$work/gap.trace" | grep lost
}
expect 'the gap before a new connection is recorded and reported by a replay' gap <<'EOF'
status 4
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
{drop,0}.
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
      events       %  tag
           4  100.00  call
           4  100.00  all

       calls       %  function
           2   50.00  ex:foo/0
           2   50.00  1 more
status 4
lost        an unknown number of events in 1 place
-- stderr
tracehost replay: WORK/gap.trace: an unknown number of events was lost in 1 place
EOF

# node N: writes a recording of the Nth start of a node.
node() {
    printf '%s\n' "{\"tracehost\":1,\"node\":\"a@b\",\"creation\":$1}" \
        '{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,[]}"}' >"$work/node.jsonl"
    "$tracehost" convert "$work/node.jsonl" "$work/node$1.trace"
}
another() {
    node 1
    node 2
    $served "$work/node1.trace" "$work/node1.trace" "$work/node2.trace" -- \
        "$tracehost" convert --reconnect=1s "$from" "$work/node.trace" 2>&1 | sed 's/after 0\.[0-9] s/after N s/'
    "$tracehost" dump "$work/node.trace"
}
expect 'convert writes records of one node only' another <<'EOF'
tracehost convert: tcp://127.0.0.1:PORT: the connection was closed after 1 record; trying to connect again for 1 s
tracehost convert: tcp://127.0.0.1:PORT: the connection was closed, and made again after N s: events in between are lost
tracehost convert: tcp://127.0.0.1:PORT: the connection was closed after 3 records; trying to connect again for 1 s
tracehost convert: tcp://127.0.0.1:PORT: the connection was closed, and made again after N s: events in between are lost
tracehost convert: tcp://127.0.0.1:PORT: the rest is not written: its records are of another node
tracehost convert: tcp://127.0.0.1:PORT: recovered 4 records
{trace,<0.79.0>,call,{ex,foo,[]}}.
{drop,0}.
{trace,<0.79.0>,call,{ex,foo,[]}}.
EOF

# Monotonic time is another clock in each node. Tables of tracers are by identifiers, so a stream that is known to go on
# with another node ends there; nodes without a name cannot be told apart.
clock_of() {
    printf '%s\n' "{\"tracehost\":1,\"node\":\"$2\",\"creation\":$3}" \
        "{\"ts\":$4,\"ts_kind\":\"monotonic\",\"tracee\":\"<0.79.0>\",\"tag\":\"receive\",\"term\":\"a\"}" \
        "{\"ts\":$4500,\"ts_kind\":\"monotonic\",\"tracee\":\"<0.79.0>\",\"tag\":\"call\",\"term\":\"{ex,foo,[]}\"}" >"$work/node.jsonl"
    "$tracehost" convert "$work/node.jsonl" "$work/node$1.trace"
}
goes_on_with() {
    clock_of 1 "$1" "$2" 5000
    clock_of 2 "$3" "$4" 7
    shift 4
    rm -f "$work/page.html"
    $served "$work/node1.trace" "$work/node2.trace" -- "$tracehost" "$@" 2>"$work/said"
    grep -v 'made again after\|connect again' "$work/said"
}
plays() {
    goes_on_with "$@" replay --reconnect=1s --flags=call,monotonic_timestamp "$from"
}
expect 'a stream continues with a new connection to a node without a name' plays nonode@nohost 0 nonode@nohost 0 <<'EOF'
0.004995 <0.79.0>   call ex:foo()
0.000007 <0.79.0>   call ex:foo()
tracehost replay: tcp://127.0.0.1:PORT: an unknown number of events was lost in 1 place
tracehost replay: tcp://127.0.0.1:PORT: recovered 5 records
EOF
expect 'a stream ends where its node was restarted' plays a@b 1 a@b 2 <<'EOF'
0.004995 <0.79.0>   call ex:foo()
tracehost replay: tcp://127.0.0.1:PORT: the stream continues with another start of the node a@b, whose identifiers name other processes: the rest is not played
tracehost replay: tcp://127.0.0.1:PORT: an unknown number of events was lost in 1 place
tracehost replay: tcp://127.0.0.1:PORT: recovered 3 records
EOF
expect 'a stream ends where another node continues it' plays a@b 1 c@b 1 <<'EOF'
0.004995 <0.79.0>   call ex:foo()
tracehost replay: tcp://127.0.0.1:PORT: the stream continues with another node, c@b, whose identifiers name other processes: the rest is not played
tracehost replay: tcp://127.0.0.1:PORT: an unknown number of events was lost in 1 place
tracehost replay: tcp://127.0.0.1:PORT: recovered 3 records
EOF
expect 'a stream of a named node ends where a node without a name continues it' plays a@b 1 nonode@nohost 0 <<'EOF'
0.004995 <0.79.0>   call ex:foo()
tracehost replay: tcp://127.0.0.1:PORT: the stream continues with another node, nonode@nohost, whose identifiers name other processes: the rest is not played
tracehost replay: tcp://127.0.0.1:PORT: an unknown number of events was lost in 1 place
tracehost replay: tcp://127.0.0.1:PORT: recovered 3 records
EOF
page() {
    goes_on_with a@b 1 c@b 1 report --reconnect=1s -o "$work/page.html" "$from"
    grep -o '"events":[0-9]*' "$work/page.html" | head -n 1
}
expect 'a page has the events before another node continues the stream' page <<'EOF'
tracehost report: tcp://127.0.0.1:PORT: the stream continues with another node, c@b, whose identifiers name other processes: the rest is not played
tracehost report: tcp://127.0.0.1:PORT: an unknown number of events was lost in 1 place
tracehost report: tcp://127.0.0.1:PORT: recovered 3 records
"events":2
EOF

# --- progress ---

# Progress is shown while no event comes, and includes losses.
progress() {
    printf '\001\000\000\011\055' | cat - "$calls" >"$work/dropped"
    $served "$work/dropped:1.4" -- tests/cli/lib/watch_terminal.py 1 "$tracehost" replay -t count,output=/dev/null "$from" |
        sed 's|\(tcp[^\\]*\\e\[K\\r\)\1*|\1|; s|[0-9]*/s|N/s|; s|\(tcp[^\\]*\\e\[K\\r\)[^t]*tcp[^\\]*\\e\[K\\r|\1|'
}
at_terminal 'progress is shown while a node sends nothing' progress <<'EOF'
tcp://127.0.0.1:PORT: 0.0 MB, 2349 dropped, 16 records, N/s\e[K\r\r\e[Ktracehost replay: tcp://127.0.0.1:PORT: the recorder dropped 2349 events; a longer queue, as dbg:trace_port(ip, {PORT, 5000}) makes, drops fewer
EOF

finish
