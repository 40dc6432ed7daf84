#!/bin/sh
# Tests the tracer nats, which publishes events to a log on NATS JetStream: in tracehost, and in an Erlang node; with programs
# that do not read, end or are not there, and servers that are away.
. tests/cli/lib/assertions.sh
. tests/cli/lib/needs_nats.sh
needs_nats 'the tracer nats'
. tests/cli/lib/nats_server.sh
start_server $store

long=$recordings/s09_collections_return.trace
# publish NAME[,SETTING...] STREAM [OPTION...]: replays to a log. What is said goes to $work/told, the id of the recording to $id.
publish() {
    name=$1
    shift
    "$tracehost" replay -t "nats,log=$url/$name" "$@" 2>"$work/told"
    code=$?
    id=$(sed -n 's/.*: recording \([0-9a-f]*\).*/\1/p' "$work/told")
    return $code
}
hide() {
    sed "s/:$port/:PORT/g; s/recording [0-9a-f]\{16\}/recording ID/; s/, in [0-9]* messages*\$//"
}

# --- Records ------------------------------------------------------------------------------------------------------------

# same STREAM: the log has what the tracer trace_port writes.
same() {
    "$tracehost" replay -t trace_port,output="$work/of_file.trace" "$1" >/dev/null 2>&1
    of_file=$?
    publish same "$1" >/dev/null
    [ $? = $of_file ] && [ "$id" ] || { cat "$work/told"; return 1; }
    "$tracehost" convert "$url/same?recording=$id" "$work/of_log.trace" && cmp "$work/of_file.trace" "$work/of_log.trace"
}
for trace in "$recordings"/*.trace; do
    check "the log has what trace_port writes: $(basename "$trace" .trace)" same "$trace"
done
changed() { # a planted fault
    publish changed --max-events=765 "$long" && "$tracehost" convert "$url/changed" "$work/of_log.trace" &&
        "$tracehost" replay -t trace_port,output="$work/of_file.trace" "$long" && ! cmp -s "$work/of_file.trace" "$work/of_log.trace"
}
check 'the comparison sees an event that is missing' changed
isolated() {
    "$tracehost" replay --isolate -t count,output="$work/count" -t nats,log="$url/isolated" "$long" 2>/dev/null &&
        [ "$("$tracehost" dump "$url/isolated" | wc -l)" = 766 ]
}
check 'an isolated tracer' isolated
of_calls() {
    "$tracehost" run -p fib:fib/1 --return -t nats,log="$url/calls" fib 'fib:fib(1)' 2>&1 | hide
    "$tracehost" dump "$url/calls"
}
expect 'calls that run here' of_calls <<'OUT'
tracehost convert: stdin: recording ID: 2 records, 147 bytes
nats: calls written without `external`, `tail` and callers (jsonl keeps them): 1
1
{trace,<0.1.4096>,call,{fib,fib,[1]}}.
{trace,<0.1.4096>,return_from,{fib,fib,1},1}.
OUT

# --- A window that is full ----------------------------------------------------------------------------------------------

# The program does not read before the gate is open.
export GATE="$work/gate"
cat >"$work/slow" <<'SH'
#!/bin/sh
touch "$GATE.begun"
until [ -e "$GATE" ]; do sleep 0.05; done
exec "$TRACEHOST" "$@"
SH
chmod +x "$work/slow"
export TRACEHOST="$tracehost"
has_lines() { # FILE COUNT
    [ "$(wc -l <"$1")" -ge "$2" ]
}
# behind_gate NAME SETTINGS STREAM EVENTS: opens the gate when all events were delivered.
behind_gate() {
    rm -f "$GATE"* "$work/all"
    {
        cat "$3"
        until_so has_lines "$work/all" "$4"
        touch "$GATE"
    } | "$tracehost" replay -t text,output="$work/all" -t "nats,log=$url/$1,program=$work/slow,$2" - 2>"$work/told"
}
# account NAME: sums up the log.
account() {
    "$tracehost" dump "$url/$1" | awk '/^{drop,/ { gsub(/[^0-9]/, ""); dropped += $0; next } { events++ }
        END { print events + dropped, "events", (dropped ? "some" : "none") " dropped" }'
}
dropped() {
    behind_gate dropped full=drop,window=4096 "$long" 766
    echo "status $?"
    account dropped
    # The tracer says the number that the log counts.
    lost=$("$tracehost" dump "$url/dropped" | grep '^{drop,' | tr -dc '0-9\n' | awk '{ sum += $1 } END { print sum }')
    grep -c "^nats: events that are not in $url/dropped: $lost\$" "$work/told"
}
expect 'full=drop: what is delivered and what is dropped are all events' dropped <<'OUT'
status 0
766 events some dropped
1
OUT
# A record that is longer than the window is written in part first, and then whole.
cut_records() {
    python3 - "$work/cut.trace" <<'PY'
import struct, sys
pid = b'X' + b'd\0\15nonode@nohost' + struct.pack('>III', 80, 0, 0)
def message(data):
    term = b'\x83h\5d\0\5trace' + pid + b'd\0\4send' + b'm' + struct.pack('>I', len(data)) + data + pid
    return b'\0' + struct.pack('>I', len(term)) + term
open(sys.argv[1], 'wb').write(message(bytes(100000)) + 50 * message(b'a'))
PY
    behind_gate cut full=drop,window=4096 "$work/cut.trace" 51
    echo "status $?"
    account cut
    "$tracehost" dump "$url/cut" | sed 's/<<[0, ]*/<<0/' | cut -c 1-40
}
expect 'full=drop: a record that is longer than the window' cut_records <<'OUT'
status 0
51 events some dropped
{trace,<0.80.0>,send,<<0>>,<0.80.0>}.
{drop,50}.
OUT
open_gate() { # when the program has begun
    until_so [ -e "$GATE.begun" ] && touch "$GATE"
}
waits() { # nothing is read before the gate is open, and the window does not have room for all
    rm -f "$GATE"*
    open_gate &
    "$tracehost" replay -t "nats,log=$url/waits,program=$work/slow,window=4096" "$long" 2>"$work/told"
    echo "status $?"
    account waits
}
expect 'full=wait: no event is dropped' waits <<'OUT'
status 0
766 events none dropped
OUT

# --- Programs and servers that fail ------------------------------------------------------------------------------------

refused() {
    for settings in '' ,log=shops ,log=nats://127.0.0.1:1/x,program=none ",log=nats://127.0.0.1:1/x,program=$long" \
        ,log=nats://127.0.0.1:1/x,output=y ,log=nats://127.0.0.1:1/x,full=never; do
        "$tracehost" replay -t "nats$settings" "$long" 2>&1 | sed 1d
    done
    "$tracehost" replay --shards=2 -t nats,log="$url/x" "$long" 2>&1
}
expect 'settings that are refused' refused <<'OUT'
  the setting 'log' must be the name of a log, nats://HOST/NAME
  the setting 'log' must be the name of a log, nats://HOST/NAME
  tracer 'nats' needs the file of its setting 'program'
  cannot read none: No such file or directory
  the setting 'program' must be a program
  tracer 'nats' has no setting 'output'
  the settings are log, full, window, patience, program and recording
  tracer 'nats': the setting 'full' cannot be 'never'
  the setting must be wait or drop
tracehost replay: --shards cannot be used with the tracer 'nats': it has no save() and merge(); replay without --shards
-- status 2
OUT
nobody() {
    "$tracehost" replay -t nats,log=nats://127.0.0.1:1/x "$long"
}
expect 'no server' nobody <<'OUT'
-- stderr
tracehost convert: cannot write to nats://127.0.0.1:1/x
  no server answers there
tracehost replay: tracer 'nats' failed: the program that publishes to nats://127.0.0.1:1/x ended with status 1
-- status 1
OUT
# The program ends while events still come: its stderr ends, and the host goes on.
ends_early() {
    printf '#!/bin/sh\necho "this fails" >&2\nexit 7\n' >"$work/fails"
    chmod +x "$work/fails"
    { cat "$long"; until_so grep -q 'this fails' "$work/told"; cat "$long"; } |
        "$tracehost" replay -t count,output="$work/count" -t "nats,log=$url/x,program=$work/fails,window=4096" - 2>"$work/told"
    echo "status $?"
    # The failure is noticed between the events, or at the end.
    hide <"$work/told" | grep -v -e ': events that are not in' -e ': tracees removed from the tracer'
    awk '$3 == "call" { print $1, $3 }' "$work/count"
}
expect 'a program that ends early' ends_early <<'OUT'
status 1
this fails
tracehost replay: tracer 'nats' failed: the program that publishes to nats://127.0.0.1:PORT/x ended with status 7
766 call
OUT

# --- A node that publishes itself --------------------------------------------------------------------------------------

modules=$BUILD_DIR/erlang/tracehost_tracers/ebin
case $BUILD_DIR in
*asan | *tsan)
    skip 'a node that publishes itself' 'libraries with sanitizers do not load into it'
    finish
    ;;
esac
if ! command -v erlc >/dev/null || ! erlc -o "$work" tests/cli/lib/nats_node.erl; then
    skip 'a node that publishes itself' 'no Erlang here'
    finish
fi
# node SCENARIO NAME [SETTING...]
node() {
    scenario=$1
    name=$2
    shift 2
    ERL_CRASH_DUMP_SECONDS=0 timeout -k 1 60 erl -noinput -boot no_dot_erlang +S 4 -pa "$work" "$modules" \
        -run nats_node main "$scenario" "$url/$name" "$BUILD_DIR/lib/tracehost/tracers" "$@" 2>"$work/told"
}
count_of() {
    "$tracehost" replay -t count "$1" | awk '$3 ~ /^[a-z_]*$/ { print $1, $3 }' | sed -n 2,5p
}
plain() { # the messages without their pids
    "$tracehost" dump "$1" | sed 's/<[0-9.]*>/<P>/g'
}
both() {
    export OF_FILE="$work/of_node.trace"
    node both both recording=1 || cat "$work/told"
    hide <"$work/told"
    plain "$OF_FILE" >"$work/of_file"
    plain "$url/both" | cmp - "$work/of_file" && count_of "$url/both"
}
expect 'a node: the log has what trace_port writes in it' both <<'OUT'
103 events
tracehost convert: stdin: recording ID: 103 records, 7946 bytes
100 call
1 exit
1 receive
1 send
OUT
crowd() {
    node crowd crowd || cat "$work/told"
    "$tracehost" dump "$url/crowd" | grep -c '^{trace,<[0-9.]*>,call,{nats_node,work,.*}}\.$'
}
expect 'a node: concurrent processes do not mix their records' crowd <<'OUT'
{4000,bytes,0,closed}
4000
OUT
node_drops() {
    rm -f "$GATE"*
    node drop node_drops full=drop window=4096 program="$work/slow" >"$work/counts" || cat "$work/told"
    account node_drops
    read -r events lost <"$work/counts"
    echo "$((events + lost)) events"
    "$tracehost" dump "$url/node_drops" | grep -vc '^{drop,' | grep -cx "$events"
}
expect 'a node: full=drop' node_drops <<'OUT'
400 events some dropped
400 events
1
OUT
node_waits() {
    rm -f "$GATE"*
    open_gate 3>&- 4>&- &
    node wait node_waits window=4096 program="$work/slow" || cat "$work/told"
    account node_waits
}
expect 'a node: full=wait' node_waits <<'OUT'
{400,bytes,0,closed}
400 events none dropped
OUT
node_fails() {
    # The program ends at the first event: before, the tracer would refuse the tracee.
    printf '#!/bin/sh\nhead -c 1 >"%s"\necho "this fails" >&2\nexit 7\n' "$work/first" >"$work/fails"
    node ends x program="$work/fails" | hide
    hide <"$work/told"
}
expect 'a node: the program ends early' node_fails <<'OUT'
the program that publishes to nats://127.0.0.1:PORT/x ended with status 7: this fails
this fails
tracer: the program that publishes to nats://127.0.0.1:PORT/x ended with status 7
OUT
node_nobody() (
    url=nats://127.0.0.1:1
    node ends x | hide
    hide <"$work/told"
)
expect 'a node: no server' node_nobody <<'OUT'
the program that publishes to nats://127.0.0.1:1/x ended with status 1: tracehost convert: cannot write to nats://127.0.0.1:1/x: no server answers there
tracehost convert: cannot write to nats://127.0.0.1:1/x
  no server answers there
tracer: the program that publishes to nats://127.0.0.1:1/x ended with status 1
OUT
# has_records NAME: the recording of the stream has some.
has_records() {
    "$tracehost" streams "$url/$1" | awk 'NR == 2 && $4 > 0 { found = 1 } END { exit !found }'
}
# away NAME AGAIN [SETTING...]: kills the server while a node publishes, and starts it AGAIN, or not.
away() {
    name=$1
    again=$2
    shift 2
    rm -f "$GATE"*
    (exec 3>&- 4>&- && node away "$name" "$@") >"$work/out" &
    producer=$!
    until_so has_records "$name"
    same=$port
    stop_server
    touch "$GATE.more"
    until_so grep -q 'waiting until it does' "$work/told"
    port=$same
    [ "$again" = no ] || start_server $store
    touch "$GATE"
    wait $producer
    cat "$work/out"
    [ "$again" = yes ] || start_server $store
}
comes_back() {
    away comes_back yes && account comes_back
}
expect 'a node: the server is killed, and started again' comes_back <<'OUT'
closed
200 events none dropped
OUT
stays_away() {
    away stays_away no patience=100ms
}
expect 'a node: the server is killed, and close() gives up' stays_away <<'OUT'
failed
OUT
# A node that ends without close(), and one that is killed: the program reads to the end of the pipe.
is_complete() {
    "$tracehost" streams "$url/$1" | grep -q '  complete$'
}
ends_by() {
    for way in halt killed purge; do
        node $way "by_$way"
        if until_so is_complete "by_$way"; then
            account "by_$way" # which waits for the end
        else
            "$tracehost" streams "$url/by_$way"
            cat "$work/told"
        fi
    done
}
expect 'a node: its end completes the log' ends_by <<'OUT'
100 events none dropped
100 events none dropped
100 events none dropped
OUT
finish
