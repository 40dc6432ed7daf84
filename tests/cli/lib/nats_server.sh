# Sourced after assertions.sh by tests with a nats-server.

# --- The server: it ends with this script, however that ends ------------------------------------------------------------

server=
trap 'kill -9 $server 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# start_server [OPTION...]: starts a server at $port, or at a free one; its files are in $work/store.
start_server() {
    rm -rf "$work/ports"
    mkdir -p "$work/ports"
    setpriv --pdeathsig KILL nats-server -a 127.0.0.1 -p "${port:--1}" --ports_file_dir "$work/ports" "$@" >>"$work/server.log" 2>&1 3>&- 4>&- &
    server=$!
    until_so [ -s "$work/ports/nats-server_$server.ports" ]
    port=$(sed 's/.*127.0.0.1:\([0-9]*\).*/\1/' "$work/ports/nats-server_$server.ports")
    url=nats://127.0.0.1:$port
}
stop_server() {
    kill -9 $server
    wait $server 2>/dev/null
    port=
}
store="-js -sd $work/store"

api() { # SUBJECT [JSON]
    subject=$1
    shift
    tests/cli/lib/nats_client.py "$port" request "\$JS.API.$subject" "$@"
}
again() { # STREAM SEQUENCE ...
    tests/cli/lib/nats_client.py "$port" again "$@"
}
make_stream() { # NAME MAX_BYTES
    api "STREAM.CREATE.$1" "{\"name\":\"$1\",\"subjects\":[\"tracehost.$1.records.*\",\"tracehost.$1.world.*\"],
        \"discard\":\"new\",\"allow_direct\":true,\"max_bytes\":$2,\"storage\":\"file\"}" >/dev/null
}
resize_stream() { # NAME MAX_BYTES
    api "STREAM.UPDATE.$1" "{\"name\":\"$1\",\"subjects\":[\"tracehost.$1.records.*\",\"tracehost.$1.world.*\"],
        \"discard\":\"new\",\"allow_direct\":true,\"max_bytes\":$2,\"storage\":\"file\"}" >/dev/null
}
sequence() { # STREAM N
    tests/cli/lib/nats_client.py "$port" sequence "$@"
}
# start_producer NAME[?...]: starts $producer, which writes a log of what goes to descriptor 3, until that is closed.
start_producer() {
    rm -f "$work/fifo"
    mkfifo "$work/fifo"
    "$tracehost" convert - "$url/$1" <"$work/fifo" 2>"$work/told" &
    producer=$!
    exec 3>"$work/fifo"
}
# convert FILE NAME: writes a log; its id becomes $id. Prints what the program says.
convert() {
    "$tracehost" convert "$1" "$url/$2" 2>"$work/told"
    code=$?
    id=$(sed -n 's/.*: recording \([0-9a-f]*\).*/\1/p' "$work/told")
    return $code
}
