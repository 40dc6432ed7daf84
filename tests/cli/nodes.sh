#!/bin/sh
# Tests streams of nodes: streams of several nodes are merged, streams of one node are parts of one recording.
. tests/cli/lib/assertions.sh

# of_node NODE CREATION TERM TS: prints a stream of NODE's start number CREATION, in which <0.9.0> sends TERM at the time TS.
of_node() {
    printf '%s\n' "{\"tracehost\":1,\"node\":\"$1\",\"creation\":$2}" \
        "{\"ts\":$4,\"tracee\":\"<0.9.0>\",\"tag\":\"send\",\"term\":\"$3\",\"extra\":\"<0.10.0>\"}"
}
two=$PWD/samples/two_nodes
order=$PWD/tests/cli/lib/message_order
cd "$work" || exit 1
of_node n1@h 1 a 1000 >a.jsonl
of_node n2@h 1 b 2000 >b.jsonl
of_node n1@h 1 c 3000 >c.jsonl
of_node n1@h 2 d 4000 >d.jsonl
sed 1d b.jsonl >unknown.jsonl
for name in a b c d; do
    "$tracehost" convert $name.jsonl $name.trace
    sed 's/"ts":/"ts_kind":"timestamp","ts":179523375400000/' $name.jsonl >stamped_$name.jsonl
    "$tracehost" convert stamped_$name.jsonl stamped_$name.trace
done

# --- several nodes

expect 'streams of several nodes are merged' "$tracehost" replay stamped_c.trace stamped_b.trace stamped_a.trace <<'EOF'
0.000000 <0.9.0>    send a -> <0.10.0>
0.000001 <1.9.0>    send b -> <1.10.0>
0.000002 <0.9.0>    send c -> <0.10.0>
EOF
expect 'so are streams of two starts of a node' "$tracehost" replay stamped_d.trace stamped_a.trace <<'EOF'
0.000000 <1.9.0>    send a -> <1.10.0>
0.000003 <0.9.0>    send d -> <0.10.0>
EOF
expect 'dump and info merge their streams' sh -c '"$1" dump stamped_b.trace stamped_a.trace; "$1" info stamped_b.trace stamped_a.trace' \
    sh "$tracehost" <<'EOF'
{trace_ts,<1.9.0>,send,a,<1.10.0>,{1795,233754,1}}.
{trace_ts,<0.9.0>,send,b,<0.10.0>,{1795,233754,2}}.
stream      stamped_b.trace and stamped_a.trace (merged)
node        n2@h
clock       n2@h: all times are by this clock
clock       n1@h: the same, as the host is the same
records     2, 168 bytes
time        0.000001 s by timestamp, from 2026-11-21 04:02:34 UTC

   records  tag
         2  trace_ts send/6

   records  tracee (2)
         1  <1.9.0>
         1  <0.9.0>
EOF
expect 'JSON lines name the nodes that are not the first' "$tracehost" dump --format=jsonl stamped_b.trace stamped_a.trace <<'EOF'
{"tracehost":1,"node":"n2@h","creation":1}
{"ts":1795233754000001000,"ts_kind":"timestamp","tracee":{"$etf":"g1hkAARuMUBoAAAACQAAAAAAAAAB"},"tag":"send","term":"a","extra":{"$etf":"g1hkAARuMUBoAAAACgAAAAAAAAAB"}}
{"ts":1795233754000002000,"ts_kind":"timestamp","tracee":"<0.9.0>","tag":"send","term":"b","extra":"<0.10.0>"}
EOF
expect 'the first stream may be JSON lines' "$tracehost" replay stamped_b.jsonl stamped_a.trace <<'EOF'
0.000000 <1.9.0>    send a -> <1.10.0>
0.000001 <0.9.0>    send b -> <0.10.0>
EOF
expect 'a stream of another node may not' "$tracehost" replay -t text,output=text.txt stamped_a.trace stamped_d.jsonl <<'EOF'
-- stderr
tracehost replay: JSON lines name processes without their node: only the first of several nodes may have them; `tracehost convert` makes a trace-port file of stamped_d.jsonl
-- status 2
EOF
expect 'no tracer is loaded if streams are refused' ls text.txt <<'EOF'
-- stderr
ls: cannot access 'text.txt': No such file or directory
-- status 2
EOF
cpu() {
    sed 's/"ts":/"ts_kind":"cpu_timestamp","ts":/' "$1" >cpu.jsonl
    "$tracehost" convert cpu.jsonl cpu.trace
    sed 's/"ts":[0-9]*,//' "$1" >untimed.jsonl
    "$tracehost" convert untimed.jsonl untimed.trace
    for stream in b.trace cpu.trace untimed.trace; do
        for command in replay dump; do
            "$tracehost" $command stamped_a.trace $stream
            echo "$command: status $?"
        done
    done
}
expect 'times that cannot be compared are refused' cpu b.jsonl <<'EOF'
replay: status 2
dump: status 2
replay: status 2
dump: status 2
replay: status 2
dump: status 2
-- stderr
tracehost replay: b.trace has monotonic times, and nothing tells the node's clock: record node:NAME@HOST, or with the flag timestamp
tracehost dump: b.trace has monotonic times, and nothing tells the node's clock: record node:NAME@HOST, or with the flag timestamp
tracehost replay: cpu.trace has CPU times, which do not put the events of several nodes in order: record with the flag timestamp
tracehost dump: cpu.trace has CPU times, which do not put the events of several nodes in order: record with the flag timestamp
tracehost replay: untimed.trace has events without a time, which do not put the events of several nodes in order: record with the flag timestamp
tracehost dump: untimed.trace has events without a time, which do not put the events of several nodes in order: record with the flag timestamp
EOF
echo old >page.html
report() {
    "$tracehost" report -o page.html a.trace "$@"
    echo "status $?, $(head -c 3 page.html)"
    ls page.html*
}
expect 'report of such streams is refused, and the old page stays' report b.trace <<'EOF'
status 2, old
page.html
-- stderr
tracehost report: b.trace has monotonic times, and nothing tells the node's clock: record node:NAME@HOST, or with the flag timestamp
EOF

# --- nodes of two hosts, whose clocks differ

# in_order STREAM...: counts the messages with references that are received, and those received before they were sent.
in_order() {
    "$tracehost" replay "$@" | "$order"
}
for stream in north south; do
    python3 - "$two/$stream.trace" <<'EOF' >alone_$stream.trace
import struct, sys
data, at = open(sys.argv[1], 'rb').read(), 0
while at < len(data):
    size = 5 + struct.unpack('>I', data[at + 1:at + 5])[0]
    if b'round_trip' not in data[at:at + 40]:
        sys.stdout.buffer.write(data[at:at + size])
    at += size
EOF
done
expect 'every receive follows its send' in_order "$two/north.trace" "$two/south.trace" <<'EOF'
12 received, 0 of them before they were sent
EOF
expect 'so does it in the other order of the streams' in_order "$two/south.trace" "$two/north.trace" <<'EOF'
12 received, 0 of them before they were sent
EOF
expect 'messages alone tell the difference of the clocks' in_order alone_north.trace alone_south.trace <<'EOF'
12 received, 0 of them before they were sent
EOF
clocks() {
    for first in north south; do
        other=$([ $first = north ] && echo south || echo north)
        for kind in "$two/" alone_; do
            "$tracehost" info "$kind$first.trace" "$kind$other.trace" | sed -n '/^clock/p'
        done
    done
    "$tracehost" info --max-records=4 alone_north.trace stamped_a.trace | sed -n '/^clock/p'
}
expect 'info tells how clocks were compared' clocks <<'EOF'
clock       shop@north: all times are by this clock
clock       till@south: 0.250002 s behind, at most 0.000034 s wrong
clock       shop@north: all times are by this clock
clock       till@south: 0.250006 s behind, at most 0.000036 s wrong
clock       till@south: all times are by this clock
clock       shop@north: 0.250002 s ahead, at most 0.000034 s wrong
clock       till@south: all times are by this clock
clock       shop@north: 0.250006 s ahead, at most 0.000036 s wrong
clock       shop@north: all times are by this clock
clock       n1@h: taken for the same, as nothing tells the difference
EOF
expect 'a diagram has the messages of both nodes' sh -c '"$1" replay -t sequence "$2/north.trace" "$2/south.trace" | sed -n 1,5p' sh "$tracehost" "$two" <<'EOF'
sequenceDiagram
    participant p1 as till #60;1.83.0#62;
    participant p2 as stock #60;0.83.0#62;
    p1->>p2: {'#36;gen_call',{#60;1.83.0#62;,[alias|#35;Ref]},{take,bread}}
    p2->>p1: {[alias|#35;Ref],2}
EOF
page_of_both() {
    "$tracehost" report -o both.html "$two/north.trace" "$two/south.trace"
    python3 -c '
import json, re
page = open("both.html").read()
data = json.loads(re.search(r"<script [^>]*application/json[^>]*>(.*?)</script>", page, re.S)[1])
for pair in data["messages"]:
    print(pair["from"], pair["to"], pair["sent"], pair["matched"], pair["p50"])
print([(process["id"], process["name"]) for process in data["processes"]])'
}
expect 'a page has the messages of both nodes' page_of_both <<'EOF'
0 1 6 6 44628
1 0 6 6 32157
[('<1.83.0>', 'till'), ('<0.83.0>', 'stock')]
EOF
expect 'a share, a smaller stream, processes of their own and reconnections are refused' sh -c '
    "$1" replay --shards=2 "$2/north.trace" "$2/south.trace"
    "$1" replay --on-crash=minimize "$2/north.trace" "$2/south.trace"
    "$1" replay --isolate -p a:b/1 node:a node:b
    "$1" dump --reconnect "$2/north.trace" "$2/south.trace"' sh "$tracehost" "$two" <<'EOF'
-- stderr
tracehost replay: --shards cannot be used with several streams: play each stream by itself
tracehost replay: --on-crash=minimize needs streams of one node
tracehost replay: --isolate cannot be combined with several connections: record each with tracehost convert first
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
tracehost dump: --reconnect cannot be used with several connections: after a pause, a node's identifiers may be those of another start
-- status 2
EOF
expect 'isolated tracers read several files' sh -c '
    "$1" replay --isolate -t count,output=one -t count,output=other "$2/north.trace" "$2/south.trace"
    cmp one other && sed -n "/calls/,\$p" one' sh "$tracehost" "$two" <<'EOF'
       calls       %  function
           6   50.00  shop:handle_call/3
           6   50.00  shop:sell/2
EOF

# For stdin, the node is known when the stream is read.
from_stdin() {
    "$tracehost" replay -t text --max-events=9 a.trace - c.trace <"$1"
}
for format in trace jsonl; do
    expect "stdin of another node is refused: $format" from_stdin b.$format <<'EOF'
0.000000 <0.9.0>    send a -> <0.10.0>
-- stderr
tracehost replay: cannot play streams of two nodes together: one identifier would name two processes
  a.trace is of the node n1@h, - of n2@h
-- status 2
EOF
done
page_of_stdin() {
    report - <b.trace
}
expect 'report of stdin of another node is refused, and the old page stays' page_of_stdin <<'EOF'
status 2, old
page.html
-- stderr
tracehost report: cannot play streams of two nodes together: one identifier would name two processes
  a.trace is of the node n1@h, - of n2@h
EOF

expect 'streams of one node are parts of one recording' "$tracehost" replay a.trace c.jsonl <<'EOF'
0.000000 <0.9.0>    send a -> <0.10.0>
0.000002 <0.9.0>    send c -> <0.10.0>
EOF
expect 'a stream of an unknown node plays with any other stream' "$tracehost" replay a.trace unknown.jsonl <<'EOF'
0.000000 <0.9.0>    send a -> <0.10.0>
0.000001 <0.9.0>    send b -> <0.10.0>
EOF
expect '--explain names the kinds of patterns without events' "$tracehost" replay --explain -p a:b/1 --kind=count,time -p c:_ --caller node:x <<'EOF'
in node:x
  -p a:b/1 (no events, call_count, call_time)
  -p c:_: [{'_',[],[{message,{caller}}]}]
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  the same again, for each session
EOF
expect 'a tracee without events is no news if the stream cannot be read' "$tracehost" replay --processes='<0.9.0>' none.trace <<'EOF'
-- stderr
tracehost replay: cannot read none.trace
  No such file or directory
-- status 3
EOF
expect 'a stream that does not exist is refused' "$tracehost" replay a.trace none.trace <<'EOF'
-- stderr
tracehost replay: cannot read none.trace
  No such file or directory
-- status 3
EOF

# made NODE CREATION TERM: prints JSON lines of one event.
made() {
    printf '{"tracehost":1,"node":"%s","creation":%s}\n' "$1" "$2"
    printf '{"tracee":"<0.9.0>","tag":"send","term":"%s","extra":"<0.10.0>"}\n' "$3"
}
{
    made n1@h 1 a
    made n1@h 1 b
    echo '{"tracehost":1}'
    made n1@h 1 c
} >together.jsonl
expect 'concatenated JSON lines of one node are read as one stream' "$tracehost" dump together.jsonl <<'EOF'
{trace,<0.9.0>,send,a,<0.10.0>}.
{trace,<0.9.0>,send,b,<0.10.0>}.
{trace,<0.9.0>,send,c,<0.10.0>}.
EOF
others() {
    made n1@h 1 a >others.jsonl
    made "$1" "$2" b >>others.jsonl
    for command in replay dump 'convert --to=jsonl' info report; do
        case $command in
        convert*) "$tracehost" $command others.jsonl - ;;
        info) "$tracehost" info others.jsonl >out ;;
        report) "$tracehost" report -o page.html others.jsonl ;;
        *) "$tracehost" $command others.jsonl ;;
        esac
        echo "status $?"
    done
}
expect 'concatenated JSON lines of two nodes are read up to the second header' others n2@h 1 <<'EOF'
<0.9.0>    send a -> <0.10.0>
status 4
{trace,<0.9.0>,send,a,<0.10.0>}.
status 4
{"tracehost":1,"node":"n1@h","creation":1}
{"tracee":"<0.9.0>","tag":"send","term":"a","extra":"<0.10.0>"}
status 4
status 4
status 4
-- stderr
tracehost replay: others.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another node, n2@h
tracehost replay: others.jsonl: recovered 1 record
tracehost dump: others.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another node, n2@h
tracehost dump: others.jsonl: recovered 1 record
tracehost convert: others.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another node, n2@h
tracehost convert: others.jsonl: recovered 1 record
tracehost info: others.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another node, n2@h
tracehost info: others.jsonl: recovered 1 record
tracehost report: others.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another node, n2@h
tracehost report: others.jsonl: recovered 1 record
EOF
again_started() {
    made n1@h 1 a >again.jsonl
    made n1@h 2 b >>again.jsonl
    "$tracehost" replay again.jsonl
}
expect 'concatenated JSON lines of two starts are read up to the second header' again_started <<'EOF'
<0.9.0>    send a -> <0.10.0>
-- stderr
tracehost replay: again.jsonl: record 2 at byte 107 (line 3) is a header: the header and the records after it are lost
  the records after the header are of another start of the node n1@h
tracehost replay: again.jsonl: recovered 1 record
-- status 4
EOF

finish
