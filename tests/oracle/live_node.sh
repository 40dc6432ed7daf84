#!/bin/sh
# Tests real nodes that send to a trace port: received and dropped messages are as many as the nodes counted. One node
# is killed, one is reconnected to, one continues in the middle of a message.
. tests/cli/lib/assertions.sh
nodes_of_machine

command -v escript >/dev/null || { echo 'no escript (Debian: erlang-base)'; exit 77; }
erl -noinput -boot no_dot_erlang -eval 'halt(case code:which(dbg) of non_existing -> 1; _ -> 0 end)' ||
    { echo 'no dbg (Debian: erlang-runtime-tools)'; exit 77; }

big=33554432 # bytes, more than the kernel takes for a client that does not read
node=
reader=
trap 'kill -KILL $node $reader 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/asked"

# until_there COMMAND...: waits for it to succeed, ten seconds at most.
until_there() {
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { echo "in vain: $*" >&2; return 1; }
        sleep 0.05
    done
}
has_line() {
    [ "$(grep -c "$1" "$2")" -ge "${3-1}" ]
}

# node PORT QUEUE: starts one; $port is where it listens.
start() {
    : >"$work/said"
    exec 3<>"$work/asked"
    ERL_CRASH_DUMP_SECONDS=0 ERL_FLAGS='+sbwt none' escript tests/oracle/live_node.escript "$1" "$2" \
        <"$work/asked" >"$work/said" 2>&1 3>&- &
    node=$!
    until_there has_line '^port' "$work/said"
    port=$(sed -n 's/^port //p' "$work/said")
}
# ask LINE...
ask() {
    before=$(wc -l <"$work/said")
    echo "$*" >&3
    until_there has_line . "$work/said" $((before + 1))
}
stop() {
    ask stop
    wait $node
}
murder() {
    kill -KILL $node
    wait $node 2>/dev/null
}
called() {
    sed -n 's/^called //p' "$work/said" | tail -n 1
}

# reads COMMAND ARGUMENT...: begins to read the node's events. (A shell's background commands ignore SIGINT.)
reads() {
    : >"$work/out"
    : >"$work/err"
    env --default-signal=INT "$tracehost" "$@" >"$work/out" 2>"$work/err" 3>&- &
    reader=$!
    until_there connected
}
connected() {
    grep -qi ":$(printf %04X "$port") 01 " "/proc/$reader/net/tcp"
}
# Waits until the reader has nothing to read any more.
settle() {
    quiet=0
    last=
    worker=$(worker_of "$reader")
    while [ $quiet -lt 12 ]; do
        sleep 0.05
        now=$(cat "/proc/$worker/io" "/proc/$worker/stat")
        if [ "$now" = "$last" ]; then quiet=$((quiet + 1)); else quiet=0; fi
        last=$now
    done
}
# Prints the exit status and stderr.
ended() {
    wait $reader
    echo "status $?"
    sed "s/:$port/:PORT/; s/after [0-9.]* s/after N s/; s/byte [0-9][0-9]*/byte N/
        s/after [0-9]* of the record's [0-9]* bytes/after N of the record's N bytes/" "$work/err"
}
# "calls DROPPED": prints the counts of a dump, and whether they equal the node's counts.
balance() {
    calls=$(grep -c '^{trace_ts,.*,work,' "$work/out")
    dropped=$(sed -n 's/^{drop,\([0-9]*\)}\.$/\1/p' "$work/out" | awk '{ sum += $1 } END { print sum + 0 }')
    if [ $((calls + dropped)) = "$(called)" ]; then
        echo 'as many as the node has called'
    else
        echo "$calls came, $dropped were dropped, but the node has called $(called)"
    fi
}

counts() {
    start 0 200
    reads dump "tcp://localhost:$port"
    ask calls 3000
    settle
    stop
    ended
    balance
}
expect 'all calls are received or counted as dropped' counts <<'EOF'
status 0
as many as the node has called
EOF

isolated() {
    start 0 200
    reads replay --isolate -t jsonl,output="$work/lines" -t count,top=1 "tcp://localhost:$port"
    ask calls 3000
    until_there came 3000
    stop
    ended
    grep ' all$' "$work/out"
}
came() {
    [ "$(grep -c '"call"' "$work/lines")" = "$1" ]
}
expect 'isolated tracers each get all calls of one connection' isolated <<'EOF'
status 0
        3000  100.00  all
EOF

drops() {
    start 0 20
    ask calls 1000
    reads dump "tcp://127.0.0.1:$port"
    settle
    ask calls 10
    settle
    stop
    ended
    balance
    grep '^{drop' "$work/out"
    grep -c work "$work/out"
}
expect 'a queue that overflows without a client drops events' drops <<'EOF'
status 0
as many as the node has called
{drop,980}.
30
EOF

slow() {
    start 0 20
    reads replay -t count --fail-on-loss "tcp://localhost:$port"
    stop_process "$(worker_of "$reader")"
    ask big $big
    ask calls 500
    kill -CONT "$(worker_of "$reader")"
    settle
    stop
    ended
    sed -n 's/ *\([0-9]*\) .* all$/\1 calls/p' "$work/out"
}
expect 'a slow reader makes the node drop events' slow <<'EOF'
status 4
tracehost replay: tcp://localhost:PORT: the recorder dropped 481 events; a longer queue, as dbg:trace_port(ip, {PORT, 5000}) makes, drops fewer
20 calls
EOF

second() {
    start 0 200
    reads dump "tcp://localhost:$port"
    "$tracehost" dump "tcp://localhost:$port" 2>&1 | sed "s/:$port/:PORT/"
    ask calls 3
    settle
    stop
    ended
    balance
}
expect 'a second reader is refused' second <<'EOF'
tracehost dump: tcp://localhost:PORT: the connection was closed before data arrived
  a trace port accepts one client only: another client is connected, or the tracing has ended
tracehost dump: tcp://localhost:PORT: recovered 0 records
status 0
as many as the node has called
EOF

killed() {
    start 0 200
    reads replay -t count,top=1 "tcp://localhost:$port"
    ask calls 10
    settle
    stop_process "$(worker_of "$reader")"
    ask big $big
    murder
    kill -CONT "$(worker_of "$reader")"
    ended
    grep ' all$' "$work/out"
}
expect 'if the node is killed within a record, the records before are kept' killed <<'EOF'
status 4
tracehost replay: tcp://localhost:PORT: record 11 at byte N is truncated
  the input ends after N of the record's N bytes
tracehost replay: tcp://localhost:PORT: recovered 10 records
          10  100.00  all
EOF

within() {
    start 0 200
    reads dump "tcp://localhost:$port"
    stop_process "$(worker_of "$reader")"
    ask big $big
    kill -KILL $reader
    wait $reader 2>/dev/null
    ask calls 1 # so that the node notices
    reads dump "tcp://localhost:$port"
    ask calls 5
    settle
    stop
    ended
    sed 's/^.*work,//; s/,{.*//' "$work/out"
}
expect 'after a client has left within a record, reading starts at the next' within <<'EOF'
status 4
tracehost dump: tcp://localhost:PORT: the connection begins with byte N, not with a record: all bytes up to the next record are lost
  the previous client may have left within a record, or the server is not a trace port
tracehost dump: tcp://localhost:PORT: recovered 6 records
[1]}
[1]}
[2]}
[3]}
[4]}
[5]}
EOF

again() {
    start 0 200
    reads dump --reconnect=20s "tcp://localhost:$port"
    ask calls 2
    settle
    murder
    start "$port" 200
    until_there connected
    ask calls 3
    settle
    kill -INT $reader
    ended
    sed 's/^.*work,//; s/,{.*//' "$work/out"
    stop
}
expect 'a reader reconnects to a restarted node' again <<'EOF'
status 130
tracehost dump: tcp://localhost:PORT: the connection was closed after 2 records; trying to connect again for 20 s
tracehost dump: tcp://localhost:PORT: the connection was closed, and made again after N s: events in between are lost
tracehost dump: tcp://localhost:PORT: recovered 6 records
tracehost dump: tcp://localhost:PORT: received SIGINT after 6 records
[1]}
[2]}
{drop,0}.
[1]}
[2]}
[3]}
EOF

record() {
    start 0 200
    reads convert "tcp://localhost:$port" "$work/live.trace"
    ask calls 100
    settle
    kill -INT $reader
    ended
    stop
    "$tracehost" dump "$work/live.trace" >"$work/out"
    balance
}
expect 'a recording that SIGINT ends is complete' record <<'EOF'
status 130
tracehost convert: tcp://localhost:PORT: received SIGINT after 100 records
as many as the node has called
EOF

finish
