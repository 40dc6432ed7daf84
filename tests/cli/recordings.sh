#!/bin/sh
# Tests the information about streams that a tracer gets in its callbacks, at load and at unload.
. tests/cli/lib/assertions.sh

{
    echo '{"tag":"call","tracee":"<0.1.0>","term":"{m,f,0}"}'
    echo '{"drop":3}'
    echo '{"drop":0}'
    echo '{"tag":"call","tracee":"<0.1.0>"}'
    echo '{"tag":"call","tracee":"<0.1.0>","term":"{m,f,0}"}'
} >"$work/a.jsonl"
printf '{"tag":"send","tracee":"<0.1.0>","term":"x","extra":"<0.2.0>"}\n{"tag":' >"$work/b"
: >"$work/empty.jsonl"

shown() {
    "$tracehost" replay -t "$tracers/recordings.so" "$@" 2>/dev/null
    echo "status $?"
}
expect 'a tracer gets the losses and damage of two streams' shown "$work/a.jsonl" "$work/b" <<'EOF'
load 0 []
event 1 [#{damaged => 0,gaps => 0,interrupted => 0,lost => 0,name => <<"WORK/a.jsonl">>,records => 1}]
event 1 [#{damaged => 1,gaps => 1,interrupted => 0,lost => 3,name => <<"WORK/a.jsonl">>,records => 5}]
event 2 [#{damaged => 1,gaps => 1,interrupted => 0,lost => 3,name => <<"WORK/a.jsonl">>,records => 5},#{damaged => 0,gaps => 0,interrupted => 0,lost => 0,name => <<"WORK/b">>,records => 1}]
unload 2 [#{damaged => 1,gaps => 1,interrupted => 0,lost => 3,name => <<"WORK/a.jsonl">>,records => 5},#{damaged => 1,gaps => 0,interrupted => 0,lost => 0,name => <<"WORK/b">>,records => 1}]
status 4
EOF
from_stdin() {
    "$tracehost" replay -t "$tracers/recordings.so" - "$work/empty.jsonl" <"$work/a.jsonl" 2>/dev/null | tail -n 1
}
expect 'a tracer gets figures of stdin and of an empty stream' from_stdin <<'EOF'
unload 2 [#{damaged => 1,gaps => 1,interrupted => 0,lost => 3,name => <<"-">>,records => 5},#{damaged => 0,gaps => 0,interrupted => 0,lost => 0,name => <<"WORK/empty.jsonl">>,records => 0}]
EOF
live() {
    "$tracehost" run --flags=call -t "$tracers/recordings.so" fib 'fib:fib(1)' | sort
}
expect 'a tracer of a live run gets no streams' live <<'EOF'
1
event 0 []
load 0 []
unload 0 []
EOF
finish
