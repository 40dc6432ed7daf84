#!/bin/sh
# Tests the tracer `chrome`: its output is valid, and has as many events as were recorded.
. tests/cli/lib/assertions.sh

cat >"$work/calls.jsonl" <<'LINES'
{"ts":1000000000,"tracee":"<0.1.0>","tag":"register","term":"server"}
{"ts":1000000001,"tracee":"<0.1.0>","tag":"receive","term":"early"}
{"ts":1000001234,"tracee":"<0.2.0>","tag":"call","term":"{m,'\"f\\\\',0}"}
{"ts":1000002000,"tracee":"<0.2.0>","tag":"send","term":"hello","extra":"server"}
{"ts":1000003000,"tracee":"<0.1.0>","tag":"receive","term":"hello"}
{"ts":1000003500,"tracee":"<0.1.0>","tag":"gc_minor_start","term":"[{heap_size,20},{old_heap_size,5}]"}
{"ts":1000004000,"tracee":"<0.1.0>","tag":"gc_minor_end","term":"[{heap_size,7}]"}
{"ts":1000005000,"tracee":"<0.2.0>","tag":"exit","term":"killed"}
LINES
expect 'calls, messages and garbage collections become slices' "$tracehost" replay -t chrome "$work/calls.jsonl" <<'LINES'
[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"<0.1.0>"}}
,{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"server <0.1.0>"}}
,{"ph":"B","pid":1,"tid":1,"ts":0.001,"cat":"message","name":"receive"}
,{"ph":"E","pid":1,"tid":1,"ts":0.001,"cat":"message","name":"receive"}
,{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"<0.2.0>"}}
,{"ph":"B","pid":1,"tid":2,"ts":1.234,"cat":"call","name":"m:'\"f\\\\'/0"}
,{"ph":"B","pid":1,"tid":2,"ts":2.000,"cat":"message","name":"send"}
,{"ph":"s","pid":1,"tid":2,"ts":2.000,"cat":"message","name":"message","id":1}
,{"ph":"C","pid":1,"ts":2.000,"name":"queue <0.1.0>","args":{"messages":1}}
,{"ph":"E","pid":1,"tid":2,"ts":2.000,"cat":"message","name":"send"}
,{"ph":"B","pid":1,"tid":1,"ts":3.000,"cat":"message","name":"receive"}
,{"ph":"f","pid":1,"tid":1,"ts":3.000,"cat":"message","name":"message","id":1,"bp":"e"}
,{"ph":"C","pid":1,"ts":3.000,"name":"queue <0.1.0>","args":{"messages":0}}
,{"ph":"E","pid":1,"tid":1,"ts":3.000,"cat":"message","name":"receive"}
,{"ph":"B","pid":1,"tid":1,"ts":3.500,"cat":"gc","name":"gc minor"}
,{"ph":"C","pid":1,"ts":3.500,"name":"heap <0.1.0>","args":{"words":25}}
,{"ph":"E","pid":1,"tid":1,"ts":4.000,"cat":"gc","name":"gc minor"}
,{"ph":"C","pid":1,"ts":4.000,"name":"heap <0.1.0>","args":{"words":7}}
,{"ph":"E","pid":1,"tid":2,"ts":5.000,"cat":"call","name":"m:'\"f\\\\'/0"}
]
LINES

# To processes of another node: there is nobody here whose queue they would be in.
cat >"$work/far.jsonl" <<'LINES'
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"send","term":"x","extra":{"$etf":"g1h3A2FAYgAAAAEAAAAAAAAAAQ=="}}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"send","term":"x","extra":{"$etf":"g1h3A2FAYgAAAAIAAAAAAAAAAQ=="}}
LINES
expect 'a message to another node has no arrow and no queue' "$tracehost" replay -t chrome "$work/far.jsonl" <<'LINES'
[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"<0.1.0>"}}
,{"ph":"B","pid":1,"tid":1,"ts":0.000,"cat":"message","name":"send"}
,{"ph":"E","pid":1,"tid":1,"ts":0.000,"cat":"message","name":"send"}
,{"ph":"B","pid":1,"tid":1,"ts":1.000,"cat":"message","name":"send"}
,{"ph":"E","pid":1,"tid":1,"ts":1.000,"cat":"message","name":"send"}
]
LINES

# An arrow leads to the process with the name: at this node, or as a receipt has shown.
cat >"$work/names.jsonl" <<'LINES'
{"tracehost":1,"node":"n1@h","creation":3}
{"ts":1000,"tracee":"<0.1.0>","tag":"send","term":"a","extra":"server"}
{"ts":2000,"tracee":"<0.2.0>","tag":"receive","term":"a"}
{"ts":3000,"tracee":"<0.1.0>","tag":"send","term":"b","extra":"{server,n1@h}"}
{"ts":4000,"tracee":"<0.2.0>","tag":"receive","term":"b"}
LINES
arrows() {
    "$tracehost" replay -t chrome "$work/names.jsonl" | grep '"ph":"[sf]"'
}
expect 'the arrow of a message to a name leads to the receiver' arrows <<'LINES'
,{"ph":"s","pid":1,"tid":1,"ts":2.000,"cat":"message","name":"message","id":1}
,{"ph":"f","pid":1,"tid":2,"ts":3.000,"cat":"message","name":"message","id":1,"bp":"e"}
LINES

# A file whose slices are doubtful has a label that viewers show.
cat >"$work/untraced.jsonl" <<'LINES'
{"ts":1000,"tracee":"<0.1.0>","tag":"call","term":"{m,a,0}"}
{"ts":2000,"tracee":"<0.1.0>","tag":"call","term":"{m,b,0}"}
{"ts":3000,"tracee":"<0.1.0>","tag":"return_to","term":"{u,f,0}"}
LINES
expect 'doubtful slices are labelled and reported' "$tracehost" replay -t chrome "$work/untraced.jsonl" <<'LINES'
[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"<0.1.0>"}}
,{"ph":"B","pid":1,"tid":1,"ts":0.000,"cat":"call","name":"m:a/0"}
,{"ph":"B","pid":1,"tid":1,"ts":1.000,"cat":"call","name":"m:b/0"}
,{"ph":"E","pid":1,"tid":1,"ts":2.000,"cat":"call","name":"m:b/0"}
,{"ph":"E","pid":1,"tid":1,"ts":2.000,"cat":"call","name":"m:a/0"}
,{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"doubtful: returns that end an unknown number of calls"}}
]
-- stderr
chrome: returns that end an unknown number of calls: 1, the first to u:f/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES

kinds() {
    "$tracehost" replay -t chrome,output="$work/trace.json" "$1" 2>/dev/null && tests/shipped/chrome_rules "$work/trace.json"
}
# The counts are OTP's: calls, collections and messages are slices; a message with both ends recorded is also an arrow.
counted() {
    echo "$2" >"$work/wanted" && kinds "$1" >"$work/kinds" && cmp "$work/wanted" "$work/kinds"
}
check 'the trace is valid and complete: exceptions' counted "$recordings/s03_exceptions_return_to.trace" 'C 0, E 34, M 1, B 34, f 0, s 0'
check 'the trace is valid and complete: messages' counted "$recordings/s04_genserver_pingpong.trace" 'C 125, E 607, M 2, B 607, f 63, s 64'
check 'the trace is valid and complete: garbage collections' counted "$recordings/s08_gc.trace" 'C 64, E 32, M 1, B 32, f 0, s 0'
for stream in "$recordings"/s0[5679]*.trace "$recordings"/s1[135679]*.trace "$large"/l[12]*.trace; do
    if [ -e "$stream" ]; then
        check "the trace is valid: $(basename "$stream" .trace)" kinds "$stream"
    else
        skip "the trace is valid: $stream" 'this recording is not here'
    fi
done

finish
