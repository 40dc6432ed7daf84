#!/bin/sh
# Tests two clocks in one recording: in all tracers, the first time of each clock is its zero, whatever is filtered.
. tests/cli/lib/assertions.sh

# The first two records are filtered out.
cat >"$work/clocks.jsonl" <<'LINES'
{"ts":0,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1795233760542290000,"ts_kind":"timestamp","tracee":"<0.9.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1795233760542293000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"call","term":"{m,g,[]}"}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"send","term":"a","extra":"<0.2.0>"}
{"ts":1795233760542296000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"send","term":"b","extra":"<0.1.0>"}
{"ts":5000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}
{"ts":1795233760542299000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"return_from","term":"{m,g,0}","extra":"ok"}
LINES
of() {
    "$tracehost" replay -t "$1" --processes='<0.1.0>,<0.2.0>' "$work/clocks.jsonl"
}

expect 'text: each clock has its own zero' of text <<'LINES'
0.000001 <0.1.0>    call m:f()
0.000003 <0.2.0>    call m:g()
0.000002 <0.1.0>    send a -> <0.2.0>
0.000006 <0.2.0>    send b -> <0.1.0>
0.000005 <0.1.0>    return m:f/0 -> ok
0.000009 <0.2.0>    return m:g/0 -> ok
LINES
slices() {
    of chrome | sed -n 's/.*"ph":"\([BE]\)".*"tid":\([0-9]*\),"ts":\([0-9.]*\).*/\1 \2 \3/p'
}
expect 'chrome: each clock has its own zero' slices <<'LINES'
B 1 1.000
B 2 3.000
B 1 2.000
E 1 2.000
B 2 6.000
E 2 6.000
E 1 5.000
E 2 9.000
-- stderr
chrome: events with another clock than the first, drawn relative to that clock's first record: 3
LINES
labels() {
    of sequence,format=svg | sed -n 's/.*class="t"[^>]*>\([0-9.]*\) [^<]*<.*class="w"[^>]*>\([ab]\)<.*/\2 \1/p'
}
expect 'sequence: each clock has its own zero' labels <<'LINES'
a 2.000
b 6.000
-- stderr
sequence: messages with another clock than the first, timed relative to that clock's first record: 1
LINES
expect 'flame: each process is timed by its own clock' of flame <<'LINES'
<0.1.0>;m:f/0 4000
<0.2.0>;m:g/0 6000
LINES
cat >"$work/changes.jsonl" <<'LINES'
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1795233760542293000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{m,g,[]}"}
{"ts":1795233760542296000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"return_from","term":"{m,g,0}","extra":"ok"}
{"ts":9000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}
LINES
expect 'flame: time between two clocks is not counted' "$tracehost" replay -t flame "$work/changes.jsonl" <<'LINES'
<0.1.0>;m:f/0;m:g/0 3000
-- stderr
flame: times between events of different clocks, not counted: 2
LINES
expect 'time: calls by another clock than the first are not timed' "$tracehost" replay -t time,format=csv "$work/changes.jsonl" <<'LINES'
calls,errors,open,untold,total_ns,own_ns,p50_ns,p90_ns,p99_ns,max_ns,function
1,0,0,0,8000,8000,8000,8000,8000,8000,m:f/0
1,0,0,0,,,,,,,m:g/0
-- stderr
time: events with a time stamp of another clock than the first, which was ignored: 2
LINES
spans() {
    of otlp | grep -o '"name":"m:./0"\|"[a-z]*TimeUnixNano":"[0-9]*"'
}
expect 'otlp: times of each clock are written unchanged' spans <<'LINES'
"name":"m:f/0"
"startTimeUnixNano":"1000"
"endTimeUnixNano":"5000"
"name":"m:g/0"
"startTimeUnixNano":"1795233760542293000"
"endTimeUnixNano":"1795233760542299000"
-- stderr
otlp: the clock of the recording is not system time: the first record is placed at 1970-01-01, or at start=SECONDS after that
otlp: messages sent whose receipt is unknown: 2
otlp: events with another clock than the first, at an unknown distance from the others: 3
LINES
page() {
    "$tracehost" report -o "$work/page.html" --processes='<0.1.0>,<0.2.0>' "$work/clocks.jsonl" &&
        "$SOURCE_DIR/tests/shipped/page_data" "$work/page.html" time repairs
}
expect 'report: events by another clock than the first have no time' page <<'LINES'
{"kind": "monotonic", "first": 1000, "last": 5000, "unix": null}
[
  ["events with a time stamp of another clock, which was ignored", 3, "trace all processes and ports with the same time stamps"]
]
LINES

finish
