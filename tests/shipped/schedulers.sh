#!/bin/sh
# Tests each shipped tracer live on four schedulers: its output has as many events as the tracer `count` got in the
# same run.
. tests/cli/lib/assertions.sh
party=$BUILD_DIR/tests/plugins/party.so

# 12 processes that call, 12 that talk with a server, and 12 that end in an exception; nobody is left when the last expression is done.
{
    echo 'S = party:spawn(party, server, [], 0), party:register(server, S).'
    for _ in $(seq 12); do
        echo 'party:spawn(fib, fib, [9], 2), party:spawn(party, ping, [S, 6], 2), party:spawn(party, exits, [enough], 2).'
    done
    for _ in $(seq 36); do
        echo "receive {'DOWN', _, process, _, _} -> ok end."
    done
    echo "party:monitor(S), party:signal(S, kill), receive {'DOWN', _, process, S, killed} -> ok end."
} >"$work/expressions"

# traced TRACER,SETTINGS [OUTPUT]: that, in $work/out; OUTPUT are the settings of a tracer that has no `output`. $calls, $sends, $ends and $events are how many there were.
traced() {
    "$tracehost" run --schedulers=4 --duration=60s -t "$1,${2:-output=$work/out}" -t "count,by=tag,format=csv,output=$work/counted" \
        -t "count,format=csv,output=$work/functions" --flags=call,send,receive,procs,monotonic_timestamp -p fib:_/_ --exception \
        -p party:_/_ --exception -f "$work/expressions" "$party" fib >"$work/results" || return
    calls=$(number call) && sends=$(number send) && ends=$(($(number return_from) + $(number exception_from))) &&
        events=$(awk -F, 'NR > 1 { sum += $1 } END { print sum }' "$work/counted") && [ "$calls" -gt 1300 ] && [ "$sends" -ge 144 ] &&
        [ "$(number exception_from)" = 12 ] && [ "$(number exit)" -ge 37 ]
}
number() {
    awk -F, -v tag="$1" '$NF == tag { found = $1 } END { print found + 0 }' "$work/counted"
}
# same A B WHAT
same() {
    [ "$1" = "$2" ] || { echo "$3: $1, not $2"; false; }
}
csv() {
    awk -F, -v column="$1" 'NR > 1 { sum += $column } END { print sum + 0 }' "$work/out"
}

with_text() {
    traced text && same "$(wc -l <"$work/out")" "$events" lines && same "$(grep -c '> *call ' "$work/out")" "$calls" calls
}
with_msg() {
    traced msg && same "$(grep -c ' -> ' "$work/out")" "$sends" messages
}
with_count() {
    traced count,by=process,format=csv && same "$(csv 1)" "$events" events
}
with_time() {
    traced time,format=csv && same "$(csv 1)" "$calls" calls && same "$(csv 3)" $((calls - ends - $(csv 4))) open
}
with_sequence() {
    traced sequence,messages=100000,participants=0 && same "$(grep -c -- '->>' "$work/out")" "$sends" messages
}
with_coverage() {
    traced coverage && awk -F, 'NR > 1 { print $NF }' "$work/functions" | sort >"$work/wanted" &&
        sed -n 's/^called *//p' "$work/out" | sort | diff "$work/wanted" - && grep -q '^fib:fib/1$' "$work/wanted"
}
with_flame() {
    traced flame,by=calls && same "$(awk '{ sum += $NF } END { print sum }' "$work/out")" "$calls" calls
}
with_chrome() {
    traced chrome && tests/shipped/chrome_rules "$work/out" && same "$(grep -c '"ph":"B".*"cat":"call"' "$work/out")" "$calls" calls &&
        same "$(grep -c '"ph":"B".*"name":"send"' "$work/out")" "$sends" messages
}
with_perfetto() {
    traced perfetto && if [ -e "$SOURCE_DIR/build/npm/packages" ]; then
        NODE_PATH=$SOURCE_DIR/build/npm/node_modules node tests/shipped/perfetto_decode "$work/out" &&
            same "$(grep -c '"category_iids":\["1"\],"type":"TYPE_SLICE_BEGIN"' "$work/out.json")" "$calls" calls
    fi
}
with_speedscope() {
    traced speedscope && same "$(grep -c '"type":"O"' "$work/out")" "$calls" calls &&
        same "$(grep -c '"type":"C"' "$work/out")" "$calls" 'ends of calls'
}
with_diff() {
    traced "diff,keep=$work/side" && "$tracehost" run --flags=call -t "diff,before=$work/side,format=json,output=$work/out" "$party" \
        'party:self()' >/dev/null 2>&1 && same "$(sed -n 's/^{"calls_before":\([0-9]*\),"calls_after":[0-9]*,"processes_matched.*/\1/p' "$work/out")" "$calls" calls
}
with_otlp() {
    traced otlp,open=write,batch=5 && tests/shipped/otlp_rules "$work/out" && same "$(grep -o '"spanId":"[^"]*",[^{]*"name"' "$work/out" |
        wc -l)" "$calls" spans
}
# The events of each process are in order: `time` finds the same number of ended calls.
recorded() {
    traced "$@" && "$tracehost" dump "$work/out" >"$work/dump" && same "$(wc -l <"$work/dump")" "$events" records &&
        "$tracehost" replay -t time,format=csv,output="$work/again" "$work/out" && same "$(awk -F, 'NR > 1 { sum += $1 - $3 - $4 } END {
            print sum }' "$work/again")" "$ends" 'calls that ended'
}
with_tree() {
    traced tree,format=json,fold=no && same "$(grep -c '"calls":1,' "$work/out")" "$calls" calls
}
with_trace_port() {
    recorded trace_port
}
# The program that nats begins keeps what it should publish.
with_nats() {
    printf '#!/bin/sh\nexec cat >%s\n' "$work/out" >"$work/keep" && chmod +x "$work/keep" && recorded nats "log=nats://x/y,program=$work/keep"
}
with_jsonl() {
    recorded jsonl
}
with_report() {
    traced report && sed -n 's/.*"summary":{"events":\([0-9]*\),"calls":\([0-9]*\),.*"sent":\([0-9]*\),.*/\1 \2 \3/p' "$work/out" >"$work/told" &&
        same "$(cat "$work/told")" "$events $calls $sends" 'events, calls, messages'
}
with_usdt() {
    traced usdt
}

for library in "$BUILD_DIR"/lib/tracehost/tracers/*.so; do
    name=$(basename "$library" .so)
    check "$name: no event is lost on four schedulers" "with_$name"
done

finish
