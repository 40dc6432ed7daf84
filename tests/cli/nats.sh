#!/bin/sh
# Tests recordings as logs on NATS JetStream: nats:// as an output of convert and as a stream, and `tracehost streams`, with
# servers that are full, are killed, or refuse; with messages that are missing, doubled or damaged.
. tests/cli/lib/assertions.sh
. tests/cli/lib/needs_nats.sh

without() {
    mkdir -p "$work/installed/bin" && cp "$tracehost" "$work/installed/bin/tracehost" &&
        "$work/installed/bin/tracehost" dump nats://localhost/x
}
expect 'without tracehost_nats.so' without <<'OUT'
-- stderr
tracehost dump: cannot read nats://localhost/x
  logs of NATS are not available
  there is no file WORK/installed/lib/tracehost/tracehost_nats.so: this tracehost was built without libnats (Debian: libnats-dev)
-- status 3
OUT
needs_nats 'recordings in logs'

. tests/cli/lib/nats_server.sh
# The output of COMMAND... for file $1 and for log $2 is the same.
equal() {
    "$tracehost" dump "$1" >"$work/of_file" 2>/dev/null
    "$tracehost" dump "$2" >"$work/of_log" 2>"$work/of_log.told" || { cat "$work/of_log.told"; return 1; }
    cmp "$work/of_file" "$work/of_log"
}
start_server $store

long=$recordings/s09_collections_return.trace
few=$recordings/s13_procs.trace
half=$work/half.trace
"$tracehost" convert --max-records=500 "$long" "$half"
bytes=$(wc -c <"$half")

# --- Round trips --------------------------------------------------------------------------------------------------------

round_trips() {
    for trace in "$recordings"/*.trace; do
        "$tracehost" convert "$trace" "$work/plain.trace" 2>/dev/null
        convert "$trace" 'round?batch=3000'
        [ $? = $? ] && [ "$id" ] || return 1
        name="$url/round?recording=$id"
        equal "$work/plain.trace" "$name" || return 1
        "$tracehost" convert "$name" "$work/again.trace" && cmp "$work/plain.trace" "$work/again.trace" || return 1
        for of in "$work/plain.trace" "$name"; do
            "$tracehost" replay -t count "$of" || return 1
        done >"$work/counts"
        lines=$(wc -l <"$work/counts")
        head -n $((lines / 2)) "$work/counts" >"$work/first"
        tail -n $((lines / 2)) "$work/counts" | cmp - "$work/first" || return 1
    done
}
check 'a log gives back what a file has, byte for byte' round_trips
reads_compressed() {
    zstd -q "$long" -o "$work/long.zst" && convert "$work/long.zst" packed && equal "$long" "$url/packed"
}
check 'a compressed recording' reads_compressed
from_lines() {
    "$tracehost" convert "$long" "$work/long.jsonl" && convert "$work/long.jsonl" lines && equal "$long" "$url/lines"
}
check 'JSON lines' from_lines
of_port() {
    tests/cli/lib/serve_node.py "$long" -- "$tracehost" convert tcp://127.0.0.1:PORT "$url/port" && equal "$long" "$url/port"
}
check 'the trace port of a node' of_port
twice_read() {
    "$tracehost" dump --format=csv "$long" >"$work/of_file" && "$tracehost" dump --format=csv "$url/lines" | cmp - "$work/of_file" ||
        return 1
    [ -e "$BUILD_DIR/lib/tracehost/tracehost_sql.so" ] || return 0
    "$tracehost" sql --format=csv "$long" 'select tag, count(*) from events group by tag' >"$work/of_file" &&
        "$tracehost" sql --format=csv "$url/lines" 'select tag, count(*) from events group by tag' | cmp - "$work/of_file"
}
check 'a log can be read twice' twice_read
isolated() {
    "$tracehost" replay -t count "$long" >"$work/of_file" && "$tracehost" replay --isolate -t count -t time,output="$work/time" "$url/lines" |
        cmp - "$work/of_file"
}
check 'isolated tracers' isolated

listed() {
    convert "$few" two && one=$id && convert "$few" two && other=$id
    "$tracehost" streams "$url/two" | sed "s/$one/ONE/; s/$other/OTHER/"
    "$tracehost" streams "$url" | grep -c ' complete$'
    "$tracehost" dump "$url/two" 2>&1 | sed "s/$one/ONE/; s/$other/OTHER/; s/:$port/:PORT/"
    "$tracehost" dump "$url/two?recording=none" 2>&1 | sed "s/$one/ONE/; s/$other/OTHER/; s/:$port/:PORT/"
    "$tracehost" dump "$url/none" 2>&1 | sed "s/:$port/:PORT/"
    "$tracehost" streams "$url/none" 2>&1 | sed "s/:$port/:PORT/"
}
expect 'streams, and names that name no recording' listed <<OUT
stream            recording         node                       records           bytes            span
two               ONE  nonode@nohost                   47            5189             -    complete
two               OTHER  nonode@nohost                   47            5189             -    complete
$(($(ls "$recordings"/*.trace | wc -l) + 5))
tracehost dump: cannot read nats://127.0.0.1:PORT/two
  the stream two has several recordings: give ?recording=ID or ?recording=last; \`tracehost streams\` lists them
  the recordings, the oldest first: ONE OTHER
tracehost dump: cannot read nats://127.0.0.1:PORT/two?recording=none
  the stream two has no recording none
  the recordings, the oldest first: ONE OTHER
tracehost dump: cannot read nats://127.0.0.1:PORT/none
  the server has no stream none
tracehost streams: cannot list nats://127.0.0.1:PORT/none
  the server has no stream none
OUT
latest() {
    convert "$few" latest && convert "$half" latest && equal "$half" "$url/latest?recording=last" && equal "$half" "$url/latest?recording=$id" &&
        "$tracehost" replay --join -t count "$url/latest?recording=last" && "$tracehost" merge -t count "$url/latest?recording=last" >"$work/merged" &&
        "$tracehost" replay -t count "$half" | cmp - "$work/merged"
}
check 'the recording that was begun last' latest

# --- Messages that are doubled, missing or damaged ----------------------------------------------------------------------

# broken NAME: writes the recording again, to the stream NAME; $third and $last are sequences of messages.
broken() {
    convert "$long" "$1?batch=4KiB" && third=$(sequence "$1" 3)
}
swapped() { # a planted fault: a batch that is another's
    broken swapped && api STREAM.MSG.DELETE.swapped "{\"seq\":$third}" && ! equal "$long" "$url/swapped"
}
check 'the comparison sees a batch that is missing' swapped
# lost NAME: prints what is reported, and compares the rest with the file.
lost() {
    "$tracehost" dump "$url/$1?follow=no" >"$work/of_log" 2>"$work/told"
    echo "status $?"
    sed "s/:$port/:PORT/; s/?follow=no//" "$work/told"
    "$tracehost" dump "$long" | diff - "$work/of_log" | sed -n 's/^> //p; s/^</</p' | awk '/^</ { n++; next } { print } END { print n, "lines less" }'
}
gap() {
    broken gap && api STREAM.MSG.DELETE.gap "{\"seq\":$third}" >/dev/null && lost gap
    "$tracehost" info "$url/gap" 2>/dev/null | grep dropped
    "$tracehost" replay -t count --fail-on-loss --allow-partial "$url/gap" >/dev/null 2>&1
    echo "status $?"
}
expect 'a message that was deleted is a loss, counted in its place' gap <<OUT
status 4
tracehost dump: nats://127.0.0.1:PORT/gap: 27 records are lost in 1 place, from record 59 on: their messages are not in the log
tracehost dump: nats://127.0.0.1:PORT/gap: recovered 740 records
{drop,27}.
27 lines less
dropped     27 events, in 1 place
status 4
OUT
damage() {
    broken damage
    subject=tracehost.damage.records.$id
    again damage "$third" 's/Tracehost-Count: [0-9]*/Tracehost-Count: 18446744073709551615/' >/dev/null
    again damage "$third" 's/Tracehost-Bytes: [0-9]*/Tracehost-Bytes: 1000000000000/' >/dev/null
    again damage "$third" 's/Tracehost-Bytes: [0-9]*/Tracehost-Bytes: 7/' 's/Tracehost-First: [0-9]*/Tracehost-First: 767/' \
        's/Tracehost-Count: [0-9]*/Tracehost-Count: 0/' >/dev/null
    tests/cli/lib/nats_client.py "$port" publish "$subject" 'no batch' >/dev/null
    tests/cli/lib/nats_client.py "$port" publish "$subject" 'no batch' 'Tracehost-Format: 1' 'Tracehost-First: x' >/dev/null
    again damage "$third" 's/Tracehost-First: [0-9]*/Tracehost-First: 760/' >/dev/null
    again damage "$third" 's/Tracehost-First: [0-9]*/Tracehost-First: 9000000000000/' >/dev/null
    # The messages stand behind the end; so a copy of the end is the end now.
    api STREAM.MSG.DELETE.damage "{\"seq\":$(sequence damage 33)}" >/dev/null
    again damage "$(sequence damage 32)" 's/Tracehost-First: [0-9]*/Tracehost-First: 767/' damage \
        's/Tracehost-Count: [0-9]*/Tracehost-Count: 5\r\nTracehost-Last: 1/' >/dev/null
    lost damage | sed 's/message [0-9]* of/message N of/; s/are damaged: .*/are damaged/'
}
expect 'messages that are no batches, or damaged ones' damage <<'OUT'
status 4
tracehost dump: nats://127.0.0.1:PORT/damage: 8 messages are no sound batch of records: message N of the stream: the message is no batch of records: its header Tracehost-Count is '18446744073709551615'
  5 records are lost in 1 place, from record 767 on: their messages are not in the log
tracehost dump: nats://127.0.0.1:PORT/damage: recovered 767 records
{drop,5}.
 lines less
OUT
from() { # TIME: prints how many of the last records the log gives, and which records come before
    "$tracehost" dump "$url/times?from=$1" >"$work/of_log" || return 1
    "$tracehost" dump "$long" >"$work/of_file"
    python3 - "$work/of_file" "$work/of_log" <<'PY'
import sys
whole, part = (open(path).read().splitlines() for path in sys.argv[1:])
same = 0
while same < len(part) and part[-1 - same] == whole[-1 - same]:
    same += 1
print(same, 'of', len(whole), 'records; before them', len(part) - same, 'of the world')
PY
}
seek() {
    convert "$long" 'times?batch=2KiB' || return 1
    first=$("$tracehost" dump "$long" | sed -n '1s/.*,\(-[0-9]*\)}\.$/\1/p')
    at=$("$tracehost" dump "$long" | sed -n '400s/.*,\(-[0-9]*\)}\.$/\1/p')
    relative=$((at - first))ns
    from 0 && from "$relative" && from "@${at}ns" && from 1min
    # All records from this time on are there, whatever comes before.
    "$tracehost" replay -t text --from="$relative" "$long" >"$work/of_file"
    "$tracehost" replay -t text --from="$relative" "$url/times?from=$relative" | cmp - "$work/of_file"
}
expect 'from=TIME begins with the batch that has the time, after the records of the world' seek <<'OUT'
766 of 766 records; before them 0 of the world
370 of 766 records; before them 1 of the world
370 of 766 records; before them 1 of the world
0 of 766 records; before them 1 of the world
OUT

# --- Recordings in the making -------------------------------------------------------------------------------------------

# has_records NAME: the only recording of the stream has some.
has_records() {
    "$tracehost" streams "$url/$1" | awk 'NR == 2 && $4 > 0 { found = 1 } END { exit !found }'
}
# begin_recording NAME[?...]: starts a producer that has got a part of the recording; more goes to descriptor 3.
begin_recording() {
    start_producer "$1"
    cat "$half" >&3
    until_so has_records "${1%%\?*}"
}
end_recording() { # prints the producer's exit status
    tail -c +$((bytes + 1)) "$long" >&3
    exec 3>&-
    wait $producer
    echo "status $?"
}
follow() { # NAME: starts a reader that has got something
    rm -f "$work/live"
    "$tracehost" dump "$url/$1" >"$work/live" 2>"$work/live.told" 3>&- &
    reader=$!
    until_so [ -s "$work/live" ]
}
end_follow() { # prints the reader's exit status, and whether it has all
    wait $reader
    echo "status $?"
    cat "$work/live.told"
    "$tracehost" dump "$long" | cmp - "$work/live" && echo 'all records'
}
followed() {
    begin_recording followed && follow followed && "$tracehost" streams "$url/followed" | grep -c 'not complete'
    end_recording && end_follow
}
expect 'a recording in the making is followed until it is complete' followed <<'OUT'
1
status 0
status 0
all records
OUT
# slow NAME [MESSAGES]: $work/live becomes what a reader prints whose output nobody takes until the producer has ended and, if
# MESSAGES are given, the stream has so many left.
slow() {
    rm -f "$work/taken"
    mkfifo "$work/taken"
    begin_recording "$1?batch=4KiB"
    "$tracehost" dump "$url/$1" >"$work/taken" 2>"$work/live.told" 3>&- &
    reader=$!
    exec 5<"$work/taken"
    tail -c +$((bytes + 1)) "$work/many.trace" >&3
    exec 3>&-
    wait $producer
    [ -z "${2:-}" ] || api "STREAM.PURGE.$1" "{\"keep\":$2}" >/dev/null
    cat <&5 >"$work/live"
    exec 5<&-
    wait $reader
}
for _ in $(seq 20); do cat "$long"; done >"$work/many.trace"
takes_time() {
    slow slow && "$tracehost" dump "$work/many.trace" | cmp - "$work/live" && cat "$work/live.told"
}
check 'a reader that is slower than the producer gets all' takes_time
overtaken() {
    slow overtaken 1
    [ $? = 4 ] || return
    lost=$(sed -n 's/.*: \([0-9]*\) records are lost in 1 place, .*/\1/p' "$work/live.told")
    wanted=$("$tracehost" dump "$work/many.trace" | wc -l)
    cat "$work/live.told"
    [ "$lost" -gt 0 ] && grep -qx "{drop,$lost}\." "$work/live" && [ $((lost + $(wc -l <"$work/live") - 1)) = "$wanted" ]
}
check 'a reader that is overtaken by the deletion of messages counts what it has not got' overtaken
doubled() {
    begin_recording 'doubled?batch=4KiB' && third=$(sequence doubled 3) && again doubled "$third" && again doubled "$third" &&
        end_recording && equal "$long" "$url/doubled"
}
check 'a batch that comes twice is dropped by its number' doubled
changed() { # a planted fault: a number of a record that is one too low
    "$tracehost" dump "$long" | sed '700s/1/2/' >"$work/other" && "$tracehost" dump "$url/doubled" | cmp -s - "$work/other" && return 1
    return 0
}
check 'the comparison sees a character that is another' changed
outage() {
    begin_recording 'outage?batch=2KiB' && follow outage
    same=$port
    stop_server
    tail -c +$((bytes + 1)) "$long" >&3
    exec 3>&-
    until_so grep -q 'waiting until it does' "$work/told"
    port=$same
    start_server $store
    wait $producer
    echo "status $?"
    end_follow
    equal "$long" "$url/outage" && echo 'nothing is lost'
}
expect 'a server that is killed and started again' outage <<'OUT'
status 0
status 0
all records
nothing is lost
OUT
killed() {
    begin_recording 'killed?batch=2KiB' && follow killed
    kill -9 $producer
    exec 3>&-
    wait $producer 2>/dev/null
    echo "producer $?"
    until_so [ "$(wc -l <"$work/live")" -gt 10 ]
    kill -TERM $reader
    wait $reader
    echo "reader $?"
    sed 's/after [0-9]* records/after N records/; s/.*killed: //' "$work/live.told"
    "$tracehost" dump "$url/killed?follow=no" >"$work/of_log" 2>"$work/told"
    echo "status $?"
    sed 's/.*follow=no: //; s/recovered [0-9]* records/recovered N records/' "$work/told"
    "$tracehost" dump "$long" | head -n "$(wc -l <"$work/of_log")" | cmp - "$work/of_log" && echo 'a beginning'
    "$tracehost" streams "$url/killed" | grep -c 'not complete'
}
expect 'a producer that is killed' killed <<'OUT'
producer 137
reader 143
received SIGTERM after N records
status 4
the rest of the recording is missing
  the recording has no end: its producer was killed, or is still writing
recovered N records
a beginning
1
OUT
deleted() {
    begin_recording deleted && follow deleted
    api STREAM.DELETE.deleted >/dev/null
    wait $reader
    echo "status $?"
    sed 's/.*deleted: //; s/recovered [0-9]* records/recovered N records/' "$work/live.told"
    end_recording
    sed "s/$(sed -n 's/.*: recording \([0-9a-f]*\).*/\1/p' "$work/told")/ID/; s/end: .*/end/" "$work/told"
}
expect 'a stream that is deleted' deleted <<'OUT'
status 4
the rest of the recording is missing
  the server has no stream deleted
recovered N records
status 1
tracehost convert: stdin: recording ID, which has no end
tracehost convert: the server has no stream deleted
OUT
full_waits() {
    make_stream full 20000
    "$tracehost" convert "$long" "$url/full?batch=2KiB" 2>"$work/told" &
    producer=$!
    until_so grep -q 'waiting until it does' "$work/told"
    resize_stream full 10000000
    wait $producer && equal "$long" "$url/full"
}
check 'a full stream: the producer waits' full_waits
full_drops() {
    make_stream drops 20000
    begin_recording 'drops?batch=2KiB&full=drop'
    until_so grep -q 'events are dropped, and counted' "$work/told"
    resize_stream drops 10000000
    end_recording
    lost=$(sed -n 's/.*: \([0-9]*\) events are lost.*/\1/p' "$work/told")
    "$tracehost" dump "$url/drops" >"$work/of_log" || return 1
    grep '^{drop,' "$work/of_log" | tr -dc '0-9\n' | awk -v lost="$lost" '{ sum += $1 } END { if (sum == lost && lost > 0) print "the drops count all" }'
    echo "$((lost + $(grep -vc '^{drop,' "$work/of_log"))) events"
}
expect 'a full stream: the producer drops, and counts' full_drops <<'OUT'
status 4
the drops count all
766 events
OUT
too_large() {
    python3 - "$work/large.trace" <<'PY'
import os, struct, sys
pid = b'X' + b'd\0\15nonode@nohost' + struct.pack('>III', 80, 0, 0)
def message(data):
    term = b'\x83h\5d\0\5trace' + pid + b'd\0\4send' + b'm' + struct.pack('>I', len(data)) + data + pid
    return b'\0' + struct.pack('>I', len(term)) + term
open(sys.argv[1], 'wb').write(message(b'a') + message(bytes(3000000)) + message(os.urandom(3000000)) + message(b'b'))
PY
    convert "$work/large.trace" large
    echo "status $?"
    sed 's/.*large.trace: //; s/recording [0-9a-f]*/recording ID/' "$work/told"
    "$tracehost" dump "$url/large" | cut -c 1-40 | cut -d '"' -f 1
}
expect 'a record that no message can have' too_large <<'OUT'
status 4
a record of 3000086 bytes is lost: the server takes messages of 1048576 bytes
recovered 4 records
recording ID: 4 records, 3000265 bytes, in 4 messages
1 event is lost, as the log did not take them
{trace,<0.80.0>,send,<<
{trace,<0.80.0>,send,<<0,0,0,0,0,0,0,0,0
{drop,1}.
{trace,<0.80.0>,send,<<
OUT

# --- Servers that refuse ------------------------------------------------------------------------------------------------

names() {
    for name in nats:// nats://localhost nats://localhost/a.b nats://localhost:70000/x nats://localhost/x?from=soon \
        nats://localhost/x?what=1 nats://localhost/x?follow nats://localhost/x?cert=a nats://example.com/x \
        "nats://127.0.0.1:1/x" "nats://127.0.0.1:1/x?creds=$work/none"; do
        "$tracehost" dump "$name" 2>&1 | sed 1d
    done
    "$tracehost" convert "$few" nats://127.0.0.1:1/x 2>&1
    "$tracehost" convert --to=jsonl "$few" nats://127.0.0.1:1/x 2>&1
    "$tracehost" streams 127.0.0.1
}
expect 'names, and servers that are not there' names <<'OUT'
  a log must be named nats://HOST[:PORT]/NAME[?KEY=VALUE&...]
  the name lacks the stream: nats://HOST[:PORT]/NAME
  the name of a stream must not have '.', as in 'a.b'
  a log must be named nats://HOST[:PORT]/NAME[?KEY=VALUE&...]
  from= must be a time such as 250ms, 1.5s or @CLOCK, not 'soon'
  there is no part 'what=' of a query: the parts are recording, from, begin, end, past, follow, full, batch, creds, ca, cert, key and tls
  a part of a query must be KEY=VALUE, not 'follow'
  cert= and key= need each other
  example.com is another host, to which nothing is sent without TLS: give ca=FILE or tls=yes; or tls=no, by which everybody on the way can read and change the recording
  no server answers there
  cannot read WORK/none: No such file or directory
tracehost convert: cannot write to nats://127.0.0.1:1/x
  no server answers there
tracehost convert: --to, --level and --index are for files: a log has one format
-- stderr
tracehost streams: SERVER must be nats://HOST[:PORT], not '127.0.0.1'
-- status 2
OUT
other_subjects() {
    api STREAM.CREATE.other '{"name":"other","subjects":["other.*"]}' >/dev/null
    "$tracehost" convert "$few" "$url/other" 2>&1 | sed 1d
    "$tracehost" streams "$url" | sed -n 's/^other.*/it is listed/p'
}
expect 'a stream that is no log' other_subjects <<'OUT'
  the stream other is no log of recordings: it does not have the subject tracehost.other.records.*
OUT
stop_server
start_server
no_jetstream() {
    "$tracehost" convert "$few" "$url/x" 2>&1 | sed 1d
}
expect 'a server without JetStream' no_jetstream <<'OUT'
  the server has no JetStream: start it with --jetstream
OUT
stop_server

certificate() { # NAME: makes NAME.pem, which signs itself, and NAME.key
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=$2" -keyout "$work/$1.key" \
        -out "$work/$1.pem" 2>/dev/null
}
certificate server IP:127.0.0.1
certificate other IP:127.0.0.1
certificate elsewhere DNS:example.com
secure() { # NAME: starts a server whose certificate is NAME.pem
    start_server $store --tls --tlscert "$work/$1.pem" --tlskey "$work/$1.key"
}
secured() { # PARTS: a round trip, or the reason why there is none
    if "$tracehost" convert "$few" "$url/secured?full=wait$1" 2>"$work/told"; then
        id=$(sed -n 's/.*: recording \([0-9a-f]*\).*/\1/p' "$work/told")
        equal "$few" "$url/secured?recording=$id$1" && echo 'a round trip'
    else
        tail -n +2 "$work/told" | sed 's/:depth=.*//'
    fi
}
of_tls() {
    secure server
    secured "&ca=$work/server.pem"
    secured "&ca=$work/other.pem"
    secured ''
    secured '&tls=yes'
    secured "&ca=$work/none.pem"
    stop_server
    secure elsewhere
    secured "&ca=$work/elsewhere.pem"
    stop_server
    start_server $store --tlsverify --tlscert "$work/server.pem" --tlskey "$work/server.key" --tlscacert "$work/other.pem"
    secured "&ca=$work/server.pem" | grep -vx 'a round trip' | sed 's/.*/  refused/'
    secured "&ca=$work/server.pem&cert=$work/other.pem&key=$work/other.key"
    stop_server
    start_server $store
    secured "&ca=$work/server.pem"
    stop_server
}
expect 'certificates' of_tls <<'OUT'
a round trip
  SSL handshake error: 18:self-signed certificate
  SSL handshake error: 18:self-signed certificate
  SSL handshake error: 18:self-signed certificate
  cannot read WORK/none.pem: No such file or directory
  SSL handshake error: 64:IP address mismatch
  refused
a round trip
  Secure Connection not available
OUT
permissions() { # PERMISSIONS: starts a server whose users have them
    cat >"$work/server.conf" <<CONF
authorization {
  users = [{user: reader, password: secret, permissions: $1}]
}
no_auth_user: reader
CONF
    start_server $store -c "$work/server.conf"
}
forbidden() {
    permissions '{publish: {deny: ["tracehost.>"]}}'
    "$tracehost" convert "$few" "$url/forbidden" 2>&1 | sed 's/recording [0-9a-f]*/recording ID/; s/ to "tracehost.forbidden.*/ to SUBJECT/'
    stop_server
    permissions '{publish: {deny: ["$JS.API.>"]}}'
    "$tracehost" dump "$url/secured" 2>&1 | sed 1d
    "$tracehost" streams "$url" 2>&1 | sed 1d
    stop_server
    echo 'authorization { user: a, password: b }' >"$work/server.conf"
    start_server $store -c "$work/server.conf"
    "$tracehost" streams "$url" 2>&1 | sed 1d
    stop_server
}
of_credentials() {
    mkdir "$work/keys" && tests/cli/lib/nats_credentials.py "$work/keys" && start_server -js -sd "$work/keys/store" -c "$work/keys/server.conf"
    for parts in "&creds=$work/keys/writer.creds" "&creds=$work/keys/forbidden.creds" "&creds=$work/keys/server.conf" ''; do
        secured "$parts" | sed 's/ to "tracehost.secured.*/ to SUBJECT/; s/^tracehost convert:/ /'
    done
    stop_server
}
expect 'credentials' of_credentials <<'OUT'
a round trip
  the server does not permit this: Permissions Violation for Publish to SUBJECT
  no nkey user seed found in 'WORK/keys/server.conf'
  Authorization Violation
OUT
expect 'permissions' forbidden <<'OUT'
tracehost convert: samples/recordings/s13_procs.trace: recording ID, which has no end: 0 records, 0 bytes, in 0 messages
tracehost convert: the server does not permit this: Permissions Violation for Publish to SUBJECT
  the server does not permit this: Permissions Violation for Publish to "$JS.API.STREAM.INFO.secured"
  the server does not permit this: Permissions Violation for Publish to "$JS.API.STREAM.NAMES"
  Authorization Violation
OUT
finish
