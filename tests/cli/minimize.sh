#!/bin/sh
# Tests --on-crash=minimize with crashes that are planted in a tracer: the result has exactly the records and terms that
# the crash needs, and the printed command repeats the crash in the same callback.
. tests/cli/lib/assertions.sh
ulimit -c 0

stream=$work/shop.jsonl
tests/cli/minimize/stream.py >"$stream"
"$tracehost" convert "$stream" "$work/shop.trace" 2>/dev/null # without `external`
"$CC" -g -O1 -fPIC -shared -pthread -Iplugin_api -o "$work/planted.so" tests/cli/minimize/planted.c
PATH=$(dirname "$tracehost"):$PATH
PLANTED_FILE=$work/once
export PATH PLANTED_FILE

# place REPORT: prints how and in which callback the tracer ended, without the tracer's name and addresses.
place() {
    sed -n '1s/^tracehost: tracer [^ ]* //; 1s/ at address 0x10//; 1p' "$1"
}
# minimized STATE [OPTION...]: prints the number of records and of kinds, the records (at most 12), the place of the crash
# as far as the printed command repeats it, and its exit status. The first place must be the same.
minimized() {
    state=$1
    shift
    rm -f "$work"/planted.crash.*
    (cd "$work" && tracehost replay -t "./planted.so=$state" "$@" --on-crash=minimize "${input:-shop.trace}") \
        >"$work/out" 2>"$work/err"
    status=$?
    [ $status = 6 ] || echo "status $status"
    sed -n 's/^tracehost replay: the crash needs \(.*\) (.* trials)/\1/p; /^tracehost replay: [^t]/p; /did not repeat/p' "$work/err"
    command=$(sed -n '/^  tracehost replay/p' "$work/err")
    if [ -n "$command" ]; then
        tracehost dump "$work/planted.crash.trace" | cut -c 1-100 | head -12
        tracehost convert "$work/planted.crash.trace" "$work/again.jsonl"
        [ ! -s "$work/planted.crash.trace" ] || cmp "$work/again.jsonl" "$work/planted.crash.jsonl" >/dev/null ||
            echo 'the two files differ'
        (cd "$work" && eval "$command") >"$work/out" 2>"$work/again"
        echo "status $?, $(place "$work/again")"
        [ "$(place "$work/again")" = "$(place "$work/err")" ] || echo "before: $(place "$work/err")"
    fi
}

# --- records ---

expect 'a crash at one call' minimized one <<'EOT'
1 record of 1 kind
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'two records far apart' minimized two <<'EOT'
2 records of 2 kinds
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'an order of two processes' minimized order <<'EOT'
2 records of 2 kinds
{trace_ts,<0.104.0>,unlink,<0.103.0>,1350000}.
{trace_ts,<0.103.0>,link,<0.104.0>,1420000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_procs
EOT
expect 'a state built up over ten records' minimized ten <<'EOT'
10 records of 1 kind
{trace_ts,<0.100.0>,register,step,1500000}.
{trace_ts,<0.100.0>,register,step,1600000}.
{trace_ts,<0.101.0>,register,step,1610000}.
{trace_ts,<0.102.0>,register,step,1620000}.
{trace_ts,<0.100.0>,register,step,1630000}.
{trace_ts,<0.101.0>,register,step,1640000}.
{trace_ts,<0.102.0>,register,step,1650000}.
{trace_ts,<0.100.0>,register,step,1660000}.
{trace_ts,<0.101.0>,register,step,1670000}.
{trace_ts,<0.102.0>,register,step,1680000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_procs
EOT
# An emulator is slow, and a search ends after a minute.
often=${EMULATOR:+30}
often=${often:-100}
often() {
    PLANTED_CALLS=$often minimized often | sed '2,13d'
    tracehost dump "$work/planted.crash.trace" | sed 's/<0.10[0-7].0>/PID/; s/[0-9]*}\.$/T}/' | sort | uniq -c
}
expect "after $often calls of a function" often <<EOT
$often records of 1 kind
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
    $(printf %3d "$often") {trace_ts,PID,call,{x,x,[]},T}
EOT
expect 'a tag' minimized collection <<'EOT'
1 record of 1 kind
{trace_ts,<0.104.0>,gc_major_end,[{wordsize,0},{old_heap_block_size,0},{heap_block_size,0}],777000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_garbage_collection
EOT
expect 'a name' minimized name <<'EOT'
1 record of 1 kind
{trace_ts,<0.103.0>,register,victim,612000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_procs
EOT
expect 'the third call, in an enabled callback' minimized enabled <<'EOT'
3 records of 2 kinds
{trace_ts,<0.100.0>,call,{work,do,[]},0}.
{trace_ts,<0.101.0>,call,{work,other,[]},1000}.
{trace_ts,<0.105.0>,call,{work,do,[]},5000}.
status 6, crashed: SIGSEGV, a bad memory access, in enabled_call
EOT

# --- terms ---

expect 'an argument of a certain shape' minimized argument <<'EOT'
1 record of 1 kind
{trace_ts,<0.107.0>,call,{spec,argument,[{key,1500,[]}]},1234000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'a crash in another place does not count' minimized place <<'EOT'
1 record of 1 kind
{trace_ts,<0.107.0>,call,{spec,argument,[{key,1500,[]}]},1234000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'a list of five elements' minimized list <<'EOT'
1 record of 1 kind
{trace_ts,<0.103.0>,call,{spec,list,[[[],[],[],[],[]]]},2300000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'an atom in a nested term' minimized nested <<'EOT'
1 record of 1 kind
{trace_ts,<0.102.0>,send,boom,<0.101.0>,400000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_send
EOT
expect 'a depth of tuples' minimized deep <<'EOT'
1 record of 1 kind
{trace_ts,<0.105.0>,'receive',{[],{[],{[],{[],[]}}}},2500000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_receive
EOT
expect 'a key of a map' minimized map <<'EOT'
1 record of 1 kind
{trace_ts,<0.106.0>,send,#{key => []},me,1100000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_send
EOT
large_binary() {
    minimized binary | cut -c 1-60
    tracehost dump "$work/planted.crash.trace" | grep -o 'x' | wc -l
}
expect 'a large binary' large_binary <<'EOT'
1 record of 1 kind
{trace_ts,<0.105.0>,'receive',{[],<<"xxxxxxxxxxxxxxxxxxxxxxx
status 6, crashed: SIGSEGV, a bad memory access, in trace_re
4097
EOT
expect 'an exception' minimized exception <<'EOT'
1 record of 1 kind
{trace_ts,<0.104.0>,exception_from,{spec,f,1},{error,[]},2400000}.
status 6, crashed: SIGABRT, it called abort(), in trace_call
EOT
expect 'the reason of an exit' minimized reason <<'EOT'
1 record of 1 kind
{trace_ts,<0.102.0>,exit,[],1900000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_procs
EOT

# --- ways to crash ---

expect 'a hang' minimized hang --callback-timeout=200ms <<'EOT'
1 record of 1 kind
{trace_ts,<0.101.0>,call,{spec,slow,[]},1800000}.
status 6, hangs: trace_call took more than 0.2 s
EOT
expect 'exit()' minimized exit <<'EOT'
1 record of 1 kind
{trace_ts,<0.100.0>,call,{spec,leave,[]},2000000}.
status 6, ended the program: exit(0), in trace_call
EOT
expect 'abort()' minimized killed <<'EOT'
1 record of 1 kind
{trace_ts,<0.104.0>,call,{spec,raw,[]},2200000}.
status 6, crashed: SIGABRT, it called abort(), in trace_call
EOT
# by_supervisor TITLE COMMAND...: like expect, for a death that only the supervisor can report.
by_supervisor() {
    if [ -n "${EMULATOR:-}" ]; then
        cat >/dev/null
        skip "$1" 'the emulator maps no memory a second time, and the supervisor cannot see the callback'
    else
        expect "$@"
    fi
}
by_supervisor '_exit()' minimized immediate <<'EOT'
1 record of 1 kind
{trace_ts,<0.101.0>,call,{spec,immediate,[]},2100000}.
status 6, ended the program: _exit(0), in trace_call
EOT
by_supervisor 'a system call that ends the program' minimized raw <<'EOT'
1 record of 1 kind
{trace_ts,<0.104.0>,call,{spec,raw,[]},2200000}.
status 6, ended the program: _exit(0), in trace_call
EOT
expect 'a signal without a handler' minimized alarm <<'EOT'
1 record of 1 kind
{trace_ts,<0.104.0>,call,{spec,raw,[]},2200000}.
status 6, crashed: SIGALRM, Alarm clock, in trace_call
EOT
expect 'a crash in trace_status needs no record' minimized trace_status <<'EOT'
0 records of 0 kinds
status 6, crashed: SIGSEGV, a bad memory access, in enabled
EOT
with_thread() {
    PLANTED_THREAD=yes minimized thread
}
expect 'a tracer with a thread' with_thread <<'EOT'
1 record of 1 kind
{trace_ts,<0.106.0>,call,{spec,threaded,[]},2600000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT

# --- streams and tracers ---

with_input() {
    input=$1
    shift
    minimized "$@" <"$work/shop.trace"
    input=
}
expect 'JSON lines' with_input shop.jsonl two <<'EOT'
2 records of 2 kinds
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'a stream that can be read once' with_input - two <<'EOT'
2 records of 2 kinds
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
from_node() {
    tests/cli/lib/serve_node.py "$work/shop.trace" -- tracehost replay -t "$work/planted.so=two" \
        --on-crash=minimize="$work/node.trace" tcp://127.0.0.1:PORT 2>&1 | sed -n 's/.*the crash needs \(.*\) (.*/\1/p'
    tracehost dump "$work/node.trace"
}
expect 'a node' from_node <<'EOT'
2 records of 2 kinds
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
EOT
too_much() {
    awk 'NR == 1 || /spec,first/ { print; next } { for (i = 0; i < 9; i++) print }' "$stream" >"$work/large.jsonl"
    tracehost replay -t "$work/planted.so=two" --max-memory=1MiB --on-crash=minimize "$work/large.jsonl" 2>&1 | sed -n '/^tracehost replay/,$p' | grep -v ThreadSanitizer
    tracehost replay -t "$work/planted.so=two" --max-memory=1MiB --on-crash=minimize - <"$work/large.jsonl" 2>&1 | sed -n '/^tracehost replay/,$p' | grep -v ThreadSanitizer
}
expect 'records that take too much memory' too_much <<'EOT'
tracehost replay: cannot minimize the crash
  the records up to the crash have more than 1048576 bytes: give a larger --max-memory
tracehost replay: cannot minimize the crash
  the records up to the crash have more than 1048576 bytes: give a larger --max-memory
EOT
tests/cli/minimize/stream.py --small >"$work/small.jsonl"
grep -v '{spec,first' "$stream" >"$work/rest.jsonl"
expect 'two streams' with_input rest.jsonl two small.jsonl <<'EOT'
2 records of 2 kinds
{trace_ts,<0.101.0>,call,{spec,first,[]},211000}.
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'records before --from are no part' minimized ten --from=1550us <<'EOT'
10 records of 1 kind
{trace_ts,<0.100.0>,register,step,1600000}.
{trace_ts,<0.101.0>,register,step,1610000}.
{trace_ts,<0.102.0>,register,step,1620000}.
{trace_ts,<0.100.0>,register,step,1630000}.
{trace_ts,<0.101.0>,register,step,1640000}.
{trace_ts,<0.102.0>,register,step,1650000}.
{trace_ts,<0.100.0>,register,step,1660000}.
{trace_ts,<0.101.0>,register,step,1670000}.
{trace_ts,<0.102.0>,register,step,1680000}.
{trace_ts,<0.100.0>,register,step,1690000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_procs
EOT
expect 'a fact that only JSON lines have' with_input shop.jsonl external <<'EOT'
1 record of 1 kind
{trace_ts,<0.107.0>,call,{spec,second,[]},2789000}.
the two files differ
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'a crash that needs another tracer, too' minimized helper -t ./planted.so=both <<'EOT'
1 record of 1 kind
{trace_ts,<0.100.0>,call,{spec,both,[]},2900000}.
status 6, crashed: SIGSEGV, a bad memory access, in trace_call
EOT
expect 'a crash that does not repeat' minimized once <<'EOT'
tracehost replay: the crash did not repeat with the same stream: it depends on more than the events, such as time, memory or files
EOT


# --- files, messages and options ---

# outputs: the files of tracers that are loaded for the trials are those of a replay without --on-crash.
outputs() {
    cd "$work" || return
    tracehost replay -t ./planted.so=helper -t text,output=plain -t ./planted.so=both shop.trace 2>/dev/null
    tracehost replay -t ./planted.so=helper -t text,output=log -t ./planted.so=both --on-crash=minimize=few.trace shop.trace \
        2>&1 | sed -n 's/^  tracehost/tracehost/p; s/.*the crash needs \(.*\) (.*/\1/p'
    cmp plain log && ls few.*
}
expect 'trials leave outputs of tracers alone' outputs <<'EOT'
1 record of 1 kind
tracehost replay -t ./planted.so=helper -t text,output=log -t ./planted.so=both few.trace
few.jsonl
few.trace
EOT
one_of_two_sessions() {
    cd "$work" || return
    tracehost replay --session 'a b' -t text,output=log --session mine -t ./planted.so=two --flags=call -p 'spec:_' \
        --session other -t count,output=counts --stats --on-crash=minimize shop.trace 2>&1 | sed -n 's/^  tracehost/tracehost/p'
}
expect 'the command has only what the tracer needs' one_of_two_sessions <<'EOT'
tracehost replay --session=mine -t ./planted.so=two --flags=call -p spec:_ planted.crash.trace
EOT
expect 'a stream is not overwritten' tracehost replay -t "$work/planted.so=one" "--on-crash=minimize=$work/shop.trace" \
    "$work/shop.trace" <<'EOT'
-- stderr
tracehost replay: the result would overwrite the stream WORK/shop.trace: give another --on-crash=minimize=FILE
-- status 2
EOT
expect 'an action that does not exist' tracehost replay --on-crash=jump "$work/shop.trace" <<'EOT'
-- stderr
tracehost replay: --on-crash must be stop, continue, minimize or minimize=FILE, not 'jump'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOT
expect 'a replay without a crash' tracehost replay -t "$work/planted.so=none" --on-crash=minimize "$work/shop.trace" <<'EOT'
EOT

finish
