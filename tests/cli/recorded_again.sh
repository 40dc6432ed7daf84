#!/bin/sh
# Tests that a replay of a live run, recorded by jsonl, causes the same callbacks under the same patterns: calls,
# callers, returns, messages and times.
. tests/cli/lib/assertions.sh

plugins=$BUILD_DIR/tests/plugins

# again NAME LINES LIBRARY EXPRESSION OPTION...: at least LINES lines are recorded, and a replay into jsonl records the
# same lines. The tracer echo prints the same lines in the run and in the replay.
again() {
    name=$1 least=$2 library=$3 expression=$4
    shift 4
    "$tracehost" run --schedulers=1 -t "$tracers/echo.so" -t jsonl,output="$work/live.jsonl" "$@" "$library" \
        "$expression" 2>"$work/said_live" | grep ' with ' >"$work/live.txt"
    "$tracehost" replay -t jsonl,output="$work/again.jsonl" "$@" "$work/live.jsonl" >"$work/out" 2>&1
    "$tracehost" replay -t "$tracers/echo.so" "$@" "$work/live.jsonl" 2>"$work/out" | grep ' with ' >"$work/again.txt"
    check "$name" same "$least"
}
same() {
    lines=$(wc -l <"$work/live.jsonl")
    if [ "$lines" -lt "$1" ]; then
        echo "only $lines lines"
        cat "$work/said_live"
        return 1
    fi
    [ -s "$work/live.txt" ] && diff "$work/live.jsonl" "$work/again.jsonl" && diff "$work/live.txt" "$work/again.txt"
}

stack="[{'_',[],[{message,{current_stacktrace}},{exception_trace}]}]"
frames=$plugins/frames.so
again 'local: calls' 20 "$frames" 'frames:all()' -p frames:_
again 'local: callers and returns' 40 "$frames" 'frames:all()' -p frames:_ --caller --return
again 'local: lines and exceptions' 40 "$frames" 'frames:all()' --flags=call,strict_monotonic_timestamp \
    -p frames:_ --caller-line --exception
again 'local: return_to' 30 "$frames" 'frames:all()' --flags=call,return_to,timestamp -p frames:_
again 'local: return_to and ends' 60 "$frames" 'frames:all()' --flags=call,return_to,arity -p frames:_ --caller \
    --exception
again 'local: stacks' 40 "$frames" 'frames:all()' --flags=call,return_to,cpu_timestamp -p frames:_ \
    --match-spec="$stack"
again 'local: a function whose callers are not traced' 2 "$frames" 'frames:all()' --flags=call,return_to \
    -p frames:leaf/1 --caller --return
again 'global: callers and exceptions' 10 "$frames" 'frames:all()' --flags=call,scheduler_id -p frames:_ \
    --kind=global --caller --exception
again 'global: stacks' 10 "$frames" 'frames:all()' -p frames:_ --kind=global --match-spec="$stack"
again 'global patterns and local patterns together' 8 "$frames" 'frames:all()' -p frames:_ --kind=global --caller \
    -p frames:nests/1 --kind=local --return
again 'meta: callers and exceptions' 40 "$frames" 'frames:all()' -p frames:_ --kind=meta --caller --exception
again 'the example of OTP, local' 30 spec_example 'spec_example:foo()' --flags=call,return_to \
    -p spec_example:_ --caller-line --return
again 'the example of OTP, global' 10 spec_example 'spec_example:rfoo()' -p spec_example:_ --kind=global --caller \
    --return

party=$plugins/party.so
again 'exceptions that are caught' 9 "$party" 'party:catches(party,tail,[party,fails,[x]])' \
    --flags=call,return_to,monotonic_timestamp -p party:_ --caller-line --exception
again 'exceptions that are not caught' 3 "$party" 'party:call(party,throws,[x])' --flags=all -p party:_ --caller \
    --exception
again 'tail calls, and functions that yield and wait' 20 "$party" \
    'party:tail(party,echo,[1]), party:down(5,x), party:yields(3,4), party:then(party,echo,[1],2,3)' \
    --flags=call,return_to,running,strict_monotonic_timestamp -p party:_ --caller --exception
again 'processes and messages' 20 "$party" 'P = party:spawn(party,server,[],[]), party:ping(P,3)' \
    --flags=all,strict_monotonic_timestamp -p party:_ --caller-line --exception
again 'processes that inherit flags' 9 "$party" 'P = party:spawn(party,server,[],[]), party:ping(P,3)' \
    --flags=call,procs,set_on_spawn,return_to,scheduler_id -p party:_ --kind=global --caller --exception
again 'the flag silent, until a call clears it' 1 "$party" 'party:echo(1), party:echo(a), party:echo(2)' --flags=call,return_to,silent \
    -p party:_ --match-spec="[{[a],[],[{silent,false}]},{'_',[],[{return_trace}]}]"

finish
