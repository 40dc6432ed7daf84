#!/bin/sh
# Tests streams of nodes: streams of several nodes are merged, streams of one node are parts of one recording.
. tests/cli/lib/assertions.sh

# of_node NODE CREATION TERM TS: prints a stream of NODE's start number CREATION, in which <0.9.0> sends TERM at the time TS.
of_node() {
    printf '%s\n' "{\"tracehost\":1,\"node\":\"$1\",\"creation\":$2}" \
        "{\"ts\":$4,\"tracee\":\"<0.9.0>\",\"tag\":\"send\",\"term\":\"$3\",\"extra\":\"<0.10.0>\"}"
}
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
