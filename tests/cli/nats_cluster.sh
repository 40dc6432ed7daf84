#!/bin/sh
# Tests recordings as logs on a cluster of three servers of NATS, each record on all of them: the leader of the stream is killed
# while the recording is written and read, at places that SEED decides; KILLS is their number (2, or 1 with a sanitizer).
. tests/cli/lib/assertions.sh
. tests/cli/lib/needs_nats.sh

needs_nats 'logs on a cluster'
trap 'kill -9 $(cat "$work"/pid.* 2>/dev/null) 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# --- The cluster --------------------------------------------------------------------------------------------------------

# start_server N [OPTION]...: starts server N of the cluster, at free ports.
start_server() {
    mkdir -p "$work/ports.$1"
    rm -f "$work/ports.$1"/*
    n=$1
    shift
    setpriv --pdeathsig KILL nats-server -n "n$n" -a 127.0.0.1 -p -1 --ports_file_dir "$work/ports.$n" --cluster_name test \
        --cluster nats://127.0.0.1:-1 "$@" >>"$work/server.$n" 2>&1 3>&- &
    echo $! >"$work/pid.$n"
    until_so [ -s "$work/ports.$n/nats-server_$!.ports" ]
    sed 's/.*"nats":\["nats:\/\/127.0.0.1:\([0-9]*\).*/\1/' "$work/ports.$n/nats-server_$!.ports" >"$work/port.$n"
}
# start_member N: starts a server that has messages; server 0 has none, and just tells the members of each other.
start_member() {
    start_server "$1" -js -sd "$work/store.$1" --routes "$routes"
}
# until_elected COMMAND...: as until_so, but as long as it takes servers on a busy machine to agree on a leader.
until_elected() {
    until_so "$@" || until_so "$@" || until_so "$@"
}
ask() { # N SUBJECT [JSON]: asks server N
    tests/cli/lib/nats_client.py "$(cat "$work/port.$1")" request "\$JS.API.$2" "${3:-}" 2>"$work/asked"
}
# leader N STREAM: server N says which server leads the stream.
leader() {
    ask "$1" "STREAM.INFO.$2" | sed -n 's/.*"leader":"n\([123]\)".*/\1/p'
}
has_leader() {
    [ "$(leader "$1" "$2")" ]
}
# is_whole STREAM: all three servers have all messages.
is_whole() {
    ask "$alive" "STREAM.INFO.$1" | grep -q '"replicas":\[{[^}]*"current":true[^}]*},{[^}]*"current":true[^}]*}\]' &&
        ! ask "$alive" "STREAM.INFO.$1" | grep -q '"offline":true'
}
makes_stream() {
    ask 1 "STREAM.CREATE.$1" "{\"name\":\"$1\",\"subjects\":[\"tracehost.$1.records.*\",\"tracehost.$1.world.*\"],
        \"discard\":\"new\",\"allow_direct\":true,\"storage\":\"file\",\"num_replicas\":3}"
}
start_server 0
routes=$(sed 's/.*"cluster":\["\(nats:\/\/127.0.0.1:[0-9]*\).*/\1/' "$work/ports.0"/*)
for server in 1 2 3; do start_member $server; done
alive=1
until_elected makes_stream log >/dev/null
url=nats://127.0.0.1:$(cat "$work/port.1")

# --- The leader is killed -----------------------------------------------------------------------------------------------

recording=$recordings/s09_collections_return.trace
"$tracehost" dump "$recording" >"$work/of_file"
case $BUILD_DIR in
*/asan) kills=${KILLS:-1} ;;
*) kills=${KILLS:-2} ;;
esac

has_records() { # NUMBER
    [ "$("$tracehost" streams "$url/log" 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge "$1" ] 2>/dev/null
}
has_read() { # NUMBER
    [ "$(wc -l <"$work/read")" -ge "$1" ]
}
# feed NUMBER: the producer gets the records up to NUMBER.
feed() {
    "$tracehost" convert --max-records="$1" "$recording" "$work/part.trace"
    tail -c +$((fed + 1)) "$work/part.trace" >&3
    fed=$(wc -c <"$work/part.trace")
}
# kill_leader: kills the server that leads the stream. $url and $alive are another's from now on.
kill_leader() {
    until_elected has_leader "$alive" log
    dead=$(leader "$alive" log)
    kill -9 "$(cat "$work/pid.$dead")"
    alive=$((dead % 3 + 1))
    url=nats://127.0.0.1:$(cat "$work/port.$alive")
}
# Each record that the log has is read before the next leader is killed; those that come after it go to the two other servers.
leaders_killed() {
    mkfifo "$work/fifo"
    "$tracehost" convert - "$url/log?batch=2KiB" <"$work/fifo" 2>"$work/told" &
    producer=$!
    exec 3>"$work/fifo"
    fed=0
    feed 50
    until_elected has_records 50
    "$tracehost" dump "$url/log" >"$work/read" 2>"$work/read.told" 3>&- &
    reader=$!
    for kill in $(seq "$kills"); do
        at=$(awk -v seed="${SEED:-1}" -v kill="$kill" -v kills="$kills" 'BEGIN {
            srand(seed * 1000 + kill); print 60 + int((kill - 1 + 0.8 * rand()) * 600 / kills) }')
        feed "$at"
        until_elected has_read "$at"
        kill_leader
        feed $((at + 20))
        until_elected has_records $((at + 20))
        start_member "$dead"
        until_elected is_whole log
    done
    feed 766
    exec 3>&-
    wait $producer
    echo "producer $?"
    wait $reader
    echo "reader $?"
    cat "$work/read.told"
    cmp "$work/of_file" "$work/read" && echo 'all records, each once, were read'
    sed -n 's/.*: recording [0-9a-f]*: \([0-9]* records\).*/\1 are in the log/p' "$work/told"
    "$tracehost" dump "$url/log" | cmp - "$work/of_file" && echo 'a later reader gets the same'
}
expect "the leader of the stream is killed, $kills times" leaders_killed <<'OUT'
producer 0
reader 0
all records, each once, were read
766 records are in the log
a later reader gets the same
OUT
missing() {
    ask "$alive" STREAM.MSG.DELETE.log '{"seq":9}' >/dev/null
    "$tracehost" dump "$url/log" 2>/dev/null | cmp -s - "$work/of_file" || echo 'the comparison fails'
}
expect 'the comparison sees a batch that is missing' missing <<'OUT'
the comparison fails
OUT

# --- No leader ----------------------------------------------------------------------------------------------------------

# One of the servers that follow is left: it takes connections, but no request has an answer.
no_leader() {
    until_elected has_leader "$alive" log
    alive=$(($(leader "$alive" log) % 3 + 1))
    others=$(echo 1 2 3 | tr -d "$alive")
    for server in $others; do kill -9 "$(cat "$work/pid.$server")"; done
    url=nats://127.0.0.1:$(cat "$work/port.$alive")
    "$tracehost" convert "$recording" "$url/log" 2>"$work/told" &
    producer=$!
    until_so grep -q 'waiting until' "$work/told"
    for server in $others; do start_member "$server"; done
    wait $producer
    echo "producer $?"
    sed -n 's/.*: the server does not answer yet; //p' "$work/told"
    "$tracehost" dump "$url/log?recording=last" | cmp - "$work/of_file" && echo 'all records'
}
expect 'a cluster without a leader is waited for' no_leader <<'OUT'
producer 0
waiting until it does
all records
OUT
finish
