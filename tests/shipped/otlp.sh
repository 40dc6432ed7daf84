#!/bin/sh
# Tests the tracer `otlp`: whole outputs, the protocol's rules, and the spans of recordings against another
# computation.
. tests/cli/lib/assertions.sh
unset OTEL_SERVICE_NAME

# A line of the output in many.
broken() {
    "$@" | sed 's/\([]}]\),\(["{]\)/\1,\n\2/g'
}

# --- Whole outputs ---

cat >"$work/question.jsonl" <<'LINES'
{"ts":1000000000000001000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"register","term":"server"}
{"ts":1000000000000002000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"call","term":"{client,ask,[\"a question\"]}","scheduler_id":3}
{"ts":1000000000000003000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"send","term":"{ask,<0.2.0>}","extra":"server"}
{"ts":1000000000000004000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"receive","term":"{ask,<0.2.0>}"}
{"ts":1000000000000005000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{server,'\"f\\\\\\n',[1]}"}
{"ts":1000000000000006000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"send","term":"{answer,42}","extra":"<0.2.0>"}
{"ts":1000000000000007000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"receive","term":"{answer,42}"}
{"ts":1000000000000008000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"return_from","term":"{client,ask,1}","extra":"42"}
{"ts":1000000000000009000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"exception_from","term":"{server,'\"f\\\\\\n',1}","extra":"{error,{badmatch,1}}"}
{"ts":1000000000000010000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{server,open,0}"}
LINES
expect 'a request and its reply become two linked spans' broken "$tracehost" replay -t otlp,args=bounded,service=shop "$work/question.jsonl" <<'LINES'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},
{"key":"telemetry.sdk.language","value":{"stringValue":"erlang"}},
{"key":"telemetry.sdk.name","value":{"stringValue":"tracehost"}},
{"key":"telemetry.sdk.version","value":{"stringValue":"0.1.0"}}]},
"scopeSpans":[{"scope":{"name":"tracehost","version":"0.1.0"},
"spans":[{"traceId":"d4f3166d5f2027ab46e2ae01d8b66f8f","spanId":"b8a8a0e78f676c9e","name":"client:ask/1","kind":1,"startTimeUnixNano":"1000000000000002000","endTimeUnixNano":"1000000000000008000","attributes":[{"key":"code.function.name","value":{"stringValue":"client:ask"}},
{"key":"erlang.pid","value":{"stringValue":"<0.2.0>"}},
{"key":"erlang.arguments","value":{"stringValue":"[\"a question\"]"}},
{"key":"erlang.scheduler_id","value":{"intValue":"3"}},
{"key":"erlang.result","value":{"stringValue":"42"}}],
"events":[{"timeUnixNano":"1000000000000003000","name":"erlang.send","attributes":[{"key":"erlang.receiver","value":{"stringValue":"server"}},
{"key":"erlang.message","value":{"stringValue":"{ask,<0.2.0>}"}}]},
{"timeUnixNano":"1000000000000007000","name":"erlang.receive","attributes":[{"key":"erlang.message","value":{"stringValue":"{answer,42}"}}]}],
"links":[{"traceId":"912fdfec890eb471c4e025b0b68f808f","spanId":"b953ac6c7513a62e","attributes":[{"key":"erlang.cause","value":{"stringValue":"message"}}]}]},
{"traceId":"912fdfec890eb471c4e025b0b68f808f","spanId":"b953ac6c7513a62e","name":"server:'\"f\\\\\\n'/1","kind":1,"startTimeUnixNano":"1000000000000005000","endTimeUnixNano":"1000000000000009000","attributes":[{"key":"code.function.name","value":{"stringValue":"server:'\"f\\\\\\n'"}},
{"key":"erlang.pid","value":{"stringValue":"<0.1.0>"}},
{"key":"erlang.registered_name","value":{"stringValue":"server"}},
{"key":"erlang.arguments","value":{"stringValue":"[1]"}},
{"key":"error.type","value":{"stringValue":"error:badmatch"}}],
"events":[{"timeUnixNano":"1000000000000006000","name":"erlang.send","attributes":[{"key":"erlang.receiver","value":{"stringValue":"<0.2.0>"}},
{"key":"erlang.message","value":{"stringValue":"{answer,42}"}}]},
{"timeUnixNano":"1000000000000009000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:badmatch"}},
{"key":"exception.message","value":{"stringValue":"{badmatch,1}"}}]}],
"links":[{"traceId":"d4f3166d5f2027ab46e2ae01d8b66f8f","spanId":"b8a8a0e78f676c9e","attributes":[{"key":"erlang.cause","value":{"stringValue":"message"}}]}],
"status":{"message":"{badmatch,1}","code":2}}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}]}
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},
{"key":"telemetry.sdk.language","value":{"stringValue":"erlang"}},
{"key":"telemetry.sdk.name","value":{"stringValue":"tracehost"}},
{"key":"telemetry.sdk.version","value":{"stringValue":"0.1.0"}}]},
"scopeSpans":[{"scope":{"name":"tracehost","version":"0.1.0","attributes":[{"key":"tracehost.spans","value":{"intValue":"2"}},
{"key":"tracehost.calls.open","value":{"intValue":"1"}}]},
"spans":[],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}]}
-- stderr
otlp: calls whose end is unknown, which have no spans: 1
LINES
expect 'by default, spans have no arguments and no results' broken "$tracehost" replay -t otlp --max-events=15 "$recordings/s03_exceptions_return_to.trace" <<'LINES'
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"unknown_service:erl"}},
{"key":"telemetry.sdk.language","value":{"stringValue":"erlang"}},
{"key":"telemetry.sdk.name","value":{"stringValue":"tracehost"}},
{"key":"telemetry.sdk.version","value":{"stringValue":"0.1.0"}}]},
"scopeSpans":[{"scope":{"name":"tracehost","version":"0.1.0"},
"spans":[{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"c6ec6f887985da27","parentSpanId":"f64b7121d2b009a4","name":"ex:c4/1","kind":1,"startTimeUnixNano":"1795233753912940000","endTimeUnixNano":"1795233753912942000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:c4"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}},
{"key":"error.type","value":{"stringValue":"error:boom"}}],
"events":[{"timeUnixNano":"1795233753912942000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:boom"}}]}],
"status":{"message":"error:boom","code":2}},
{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"f64b7121d2b009a4","parentSpanId":"3308a6744aeef95a","name":"ex:b4/1","kind":1,"startTimeUnixNano":"1795233753912939000","endTimeUnixNano":"1795233753912943000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:b4"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}},
{"key":"error.type","value":{"stringValue":"error:boom"}}],
"events":[{"timeUnixNano":"1795233753912943000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:boom"}}]}],
"status":{"message":"error:boom","code":2}},
{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"3308a6744aeef95a","parentSpanId":"990fb6ec17b0f9eb","name":"ex:b3/1","kind":1,"startTimeUnixNano":"1795233753912937000","endTimeUnixNano":"1795233753912944000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:b3"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}},
{"key":"error.type","value":{"stringValue":"error:boom"}}],
"events":[{"timeUnixNano":"1795233753912944000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:boom"}}]}],
"status":{"message":"error:boom","code":2}},
{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"990fb6ec17b0f9eb","parentSpanId":"85dbb6ed391363dd","name":"ex:b2/1","kind":1,"startTimeUnixNano":"1795233753912936000","endTimeUnixNano":"1795233753912945000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:b2"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}},
{"key":"error.type","value":{"stringValue":"error:boom"}}],
"events":[{"timeUnixNano":"1795233753912945000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:boom"}}]}],
"status":{"message":"error:boom","code":2}},
{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"85dbb6ed391363dd","parentSpanId":"49bde6ea32e19b26","name":"ex:b1/1","kind":1,"startTimeUnixNano":"1795233753912935000","endTimeUnixNano":"1795233753912946000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:b1"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}},
{"key":"error.type","value":{"stringValue":"error:boom"}}],
"events":[{"timeUnixNano":"1795233753912946000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"error:boom"}}]}],
"status":{"message":"error:boom","code":2}},
{"traceId":"868b5368221497f3f670ff2c060f70de","spanId":"49bde6ea32e19b26","parentSpanId":"9e04a285c8456105","name":"ex:caught/1","kind":1,"startTimeUnixNano":"1795233753912933000","endTimeUnixNano":"1795233753912948000","attributes":[{"key":"code.function.name","value":{"stringValue":"ex:caught"}},
{"key":"erlang.pid","value":{"stringValue":"<0.89.0>"}}]}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}]}
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"unknown_service:erl"}},
{"key":"telemetry.sdk.language","value":{"stringValue":"erlang"}},
{"key":"telemetry.sdk.name","value":{"stringValue":"tracehost"}},
{"key":"telemetry.sdk.version","value":{"stringValue":"0.1.0"}}]},
"scopeSpans":[{"scope":{"name":"tracehost","version":"0.1.0","attributes":[{"key":"tracehost.spans","value":{"intValue":"6"}},
{"key":"tracehost.calls.open","value":{"intValue":"1"}}]},
"spans":[],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}],
"schemaUrl":"https://opentelemetry.io/schemas/1.33.0"}]}
-- stderr
otlp: calls whose end is unknown, which have no spans: 1
LINES

# spans SETTINGS FILE: prints the spans of that file, and remarks.
spans() {
    "$tracehost" replay -t "otlp,output=$work/spans${1:+,$1}" "$2" && tests/shipped/otlp_rules --spans "$work/spans"
}
expect 'traces=messages puts client and server into one trace' spans traces=messages "$work/question.jsonl" <<'LINES'
client:ask/1 in none 1000000000000002000+6000 kind 1 erlang.scheduler_id=3 erlang.send erlang.receive -> server:'"f\\\n'/1
server:'"f\\\n'/1 in client:ask/1 1000000000000005000+4000 kind 5 erlang.registered_name=server error.type=error:badmatch erlang.send exception -> client:ask/1 failed: error:badmatch
-- stderr
otlp: calls whose end is unknown, which have no spans: 1
LINES

# Columns: nanoseconds, process, event.
cases() {
    while read -r at tracee tag term more; do
        key=extra
        if [ "$tag" = call ]; then key=match_spec_result; fi
        printf '{"ts":%s,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tracee" "$tag" "$term" "${more:+,\"$key\":\"$more\"}"
    done >"$work/$1.jsonl"
}
# Calls without a recorded end: v in w; x, whose process exits; t and u, after which their caller calls again; o, which does not
# end. z has no recorded call. n ends before the first recorded end or caller, and so has no span. p spawns a process that crashes
# and that receives a message without a recorded sender.
cases ends <<'LINES'
10 9 call {m,n,0}
11 9 exit normal
100 1 call {m,w,0}
101 1 call {m,v,0}
105 1 return_from {m,w,0} ok
110 1 call {m,c,0}
111 1 call {m,t,0} {m,c,0}
112 1 call {m,u,0} {m,c,0}
113 1 call {m,u,0} {m,c,0}
115 1 return_to {m,c,0}
116 1 return_from {m,c,0} ok
120 1 return_from {m,z,0} ok
130 1 call {m,p,0}
131 1 spawn <0.2.0> {m,x,[]}
132 2 receive stray
133 2 call {m,x,0}
134 2 call {m,y,0}
135 2 exit {oops,[1,2]}
136 3 call {m,x,0}
137 3 exit {shutdown,7}
140 1 call {m,o,0}
141 1 send lost <0.7.0>
LINES
expect 'the span of a call names how the call ended' spans '' "$work/ends.jsonl" <<'LINES'
m:v/0 in m:w/0 91+4 kind 1 tracehost.end=caller
m:w/0 in none 90+5 kind 1
m:t/0 in m:c/0 101+1 kind 1 tracehost.end=call
m:u/0 in m:c/0 102+1 kind 1 tracehost.end=call
m:u/0 in m:c/0 103+2 kind 1 tracehost.end=return_to
m:c/0 in none 100+6 kind 1
m:y/0 in m:x/0 124+1 kind 1 error.type=exit:oops tracehost.end=exit exception failed: exit:oops
m:x/0 in none 123+2 kind 1 error.type=exit:oops tracehost.end=exit exception -> unknown failed: exit:oops
m:x/0 in none 126+1 kind 1 tracehost.end=exit
-- stderr
otlp: the clock of the recording is not system time: the first record is placed at 1970-01-01, or at start=SECONDS after that
otlp: calls whose end is unknown, which have no spans: 3
otlp: calls ended by the return of a caller: 1
otlp: returns of unknown calls: 1
otlp: messages sent whose receipt is unknown: 1
otlp: messages received whose sending is unknown: 1
LINES
expect 'open=write writes calls that have not ended' spans open=write,start=2 "$work/ends.jsonl" <<'LINES'
m:v/0 in m:w/0 2000000091+4 kind 1 tracehost.end=caller
m:w/0 in none 2000000090+5 kind 1
m:t/0 in m:c/0 2000000101+1 kind 1 tracehost.end=call
m:u/0 in m:c/0 2000000102+1 kind 1 tracehost.end=call
m:u/0 in m:c/0 2000000103+2 kind 1 tracehost.end=return_to
m:c/0 in none 2000000100+6 kind 1
m:y/0 in m:x/0 2000000124+1 kind 1 error.type=exit:oops tracehost.end=exit exception failed: exit:oops
m:x/0 in none 2000000123+2 kind 1 error.type=exit:oops tracehost.end=exit exception -> m:p/0 failed: exit:oops
m:x/0 in none 2000000126+1 kind 1 tracehost.end=exit
m:o/0 in m:p/0 2000000130+1 kind 1 tracehost.end=open erlang.send
m:p/0 in none 2000000120+11 kind 1 tracehost.end=open
-- stderr
otlp: the clock of the recording is not system time: the first record is placed at 1970-01-01, or at start=SECONDS after that
otlp: calls whose end is unknown: 3
otlp: calls ended by the return of a caller: 1
otlp: returns of unknown calls: 1
otlp: messages sent whose receipt is unknown: 1
otlp: messages received whose sending is unknown: 1
LINES

# 130 messages to a span that is open, and as many answers; one more is forgotten before it comes.
{
    echo '1 1 call {m,sender,0}'
    echo '1 2 call {m,receiver,0}'
    for i in $(seq 130); do
        echo "2 1 send $i <0.2.0>"
        echo "3 2 receive $i"
    done
    echo '4 1 send first <0.2.0>'
    echo '4 1 send second <0.2.0>'
    echo '5 2 receive first'
    echo '6 2 return_from {m,receiver,0} ok'
    echo '6 1 return_from {m,sender,0} ok'
} | cases many
limits() {
    spans messages=1,batch=1 "$work/many.jsonl" | sed 's/\(erlang.send *\)\{128\}/128 sends /; s/\(erlang.receive *\)\{128\}/128 receives /
        s/\(-> m:sender.0 *\)\{128\}/128 links/' && wc -l <"$work/spans" &&
        grep -o '"dropped[A-Za-z]*":[0-9]*' "$work/spans" && tail -1 "$work/spans" | grep -o '"tracehost[^}]*'
}
expect 'links, events and messages beyond the limits are counted' limits <<'LINES'
m:receiver/0 in none 0+5 kind 1 128 receives 128 links
m:sender/0 in none 0+5 kind 1 128 sends 
3
"droppedEventsCount":3
"droppedLinksCount":2
"droppedEventsCount":4
"tracehost"
"tracehost","version":"0.1.0","attributes":[{"key":"tracehost.spans","value":{"intValue":"2"
"tracehost.links.dropped","value":{"intValue":"2"
"tracehost.events.dropped","value":{"intValue":"7"
"tracehost.messages.unreceived","value":{"intValue":"1"
"tracehost.messages.unsent","value":{"intValue":"1"
"tracehost.messages.forgotten","value":{"intValue":"1"
-- stderr
otlp: the clock of the recording is not system time: the first record is placed at 1970-01-01, or at start=SECONDS after that
otlp: links dropped, as their span has the maximum number: 2
otlp: events dropped, as their span has the maximum number: 7
otlp: messages sent whose receipt is unknown: 1
otlp: messages received whose sending is unknown: 1
otlp: messages without a link, forgotten before their receipt, as too many were waiting: 1
LINES

expect 'an empty recording gives no spans' spans '' "$recordings/s20_empty.trace" <<'LINES'
-- stderr
tracehost replay: warning: there are no records in samples/recordings/s20_empty.trace
LINES
expect 'a recording without ends of calls gives no spans' spans '' "$recordings/s11_mnesia_arity.trace" <<'LINES'
-- stderr
otlp: the events contain no ends of calls; record them by a match specification with {return_trace} or {exception_trace}, as --return or --exception of -p do
otlp: calls whose end is unknown, which have no spans: 869
otlp: messages sent whose receipt is unknown: 58
otlp: messages received whose sending is unknown: 45
LINES
expect 'an unknown value of a setting is refused' spans args=some,colour=red "$recordings/s20_empty.trace" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'otlp'
  tracer 'otlp': the setting 'args' cannot be 'some'
  the setting must be none, shape, bounded or full
-- status 2
LINES
names() {
    OTEL_SERVICE_NAME='"shop"	1' "$tracehost" replay -t otlp "$recordings/s20_empty.trace" | grep -o '"service.name[^}]*'
}
expect 'OTEL_SERVICE_NAME sets the name of the service' names <<'LINES'
"service.name","value":{"stringValue":"\"shop\"\ufffd1"
-- stderr
tracehost replay: warning: there are no records in samples/recordings/s20_empty.trace
LINES

# --- Recordings ---

# spans.py finds the same spans, and the output obeys the rules of the protocol with all settings.
found() {
    "$tracehost" replay -t "otlp,output=$work/plain" -t "otlp,open=write,args=bounded,batch=7,output=$work/open" \
        -t "otlp,traces=messages,args=full,output=$work/traces" "$1" 2>/dev/null
    "$tracehost" convert --to=jsonl "$1" "$work/recording.jsonl" 2>/dev/null
    python3 tests/shipped/spans.py "$work/plain" <"$work/recording.jsonl" >"$work/number" &&
        python3 tests/shipped/spans.py "$work/open" --open <"$work/recording.jsonl" &&
        tests/shipped/otlp_rules "$work/plain" "$work/open" "$work/traces" && grep -q "^$2 spans, $3 links$" "$work/number"
}
while read -r name spans links; do
    check "spans equal an independent computation: $name" found "$recordings/$name.trace" "$spans" "$links"
done <<'LINES'
file_open 0 0
s01_seed_local_caller 13 0
s02_seed_global_caller 6 0
s03_exceptions_return_to 34 0
s04_genserver_pingpong 437 84
s05_supervisor_restarts 0 0
s09_collections_return 383 0
s11_mnesia_arity 0 0
s12_fileio 164 0
s13_procs 0 0
s14_cpu_timestamp 0 0
s15_kitchen_sink 94 27
s16_terms 0 0
s17_meta 18 0
s18_ms_messages 0 0
s19_dbg_server 23 0
s22_killed_vm 0 0
trunc_body 12 0
LINES
# With the default settings only, as these recordings are large.
found_large() {
    "$tracehost" replay -t "otlp,output=$work/plain" "$1" 2>/dev/null && tests/shipped/otlp_rules "$work/plain" &&
        "$tracehost" convert --to=jsonl "$1" - | python3 tests/shipped/spans.py "$work/plain" >"$work/number" &&
        grep -q "^$2 spans, $3 links$" "$work/number"
}
while read -r name spans links; do
    if [ -e "$large/$name.trace" ]; then
        check "spans equal an independent computation: $name" found_large "$large/$name.trace" "$spans" "$links"
    else
        skip "spans equal an independent computation: $name" 'this recording is not here'
    fi
done <<'LINES'
l1_compile_compiler_arity 146395 0
l2_mnesia_full 35888 0
l3_sorts_args_return 7907 0
LINES

# The same identifiers whenever a recording is replayed, and others for another recording.
twice() {
    for i in 1 2; do
        "$tracehost" replay -t "otlp,output=$work/again$i" "$recordings/s04_genserver_pingpong.trace" 2>/dev/null
    done
    cmp "$work/again1" "$work/again2" && "$tracehost" replay -t otlp "$recordings/s09_collections_return.trace" 2>/dev/null |
        grep -o '"\(traceId\|spanId\)":"[^"]*' | sort -u >"$work/others" && [ -s "$work/others" ] &&
        grep -o '"\(traceId\|spanId\)":"[^"]*' "$work/again1" | sort -u | comm -12 - "$work/others" | diff /dev/null -
}
check 'identifiers are stable over replays and differ between recordings' twice

# --- Live ---

# fib(12) is 465 calls, all inside of the first one.
fib() {
    "$tracehost" run -t "otlp,output=$work/fib,batch=100" -p fib:fib/1 --return --flags=call,monotonic_timestamp fib 'fib:fib(12)' &&
        tests/shipped/otlp_rules "$work/fib" && wc -l <"$work/fib"
}
expect 'each call of a live run has a span' fib <<'LINES'
144
465 spans in 1 traces, 0 links, 0 errors
6
LINES

# The number of spans is that of counted returns and exceptions, on four threads, and of processes that exit.
on_schedulers() {
    "$tracehost" run --schedulers=4 -t "otlp,batch=3,traces=$1,output=$work/live" -t "count,by=tag,format=csv,output=$work/counted" \
        -p bank:_/_ --exception --flags=call,send,receive,procs,monotonic_timestamp bank \
        'bank:start(), bank:open(left, 10), bank:open(right, 10).' \
        '[bank:transfer(left, right, 1), bank:transfer(right, left, 2), bank:audit(), bank:crash(left), bank:audit(), bank:stop()].' &&
        tests/shipped/otlp_rules "$work/live" && ends=$(awk -F, '/return_from|exception_from/ { sum += $1 } END { print sum }' "$work/counted") &&
        own=$(tests/shipped/otlp_rules --spans "$work/live" | grep -vc tracehost.end) && [ "$own" -gt 10 ] && [ "$own" -le "$ends" ]
}
check 'calls on four schedulers give valid spans' on_schedulers calls
check 'calls on four schedulers give valid spans with traces=messages' on_schedulers messages

finish
