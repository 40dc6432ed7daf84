#!/bin/sh
# replay --check and run --check: what tracers must not do is found, and named with callback and record.
. tests/cli/report

# What leaks on purpose here, the checker tells, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

stream=$recordings/s04_genserver_pingpong.trace
forgetful=$tracers/forgetful.so

found() {
    "$tracehost" "$@" 2>&1 | sed "s,$forgetful,FORGETFUL,g"
    "$tracehost" "$@" >"$work/out" 2>&1
    echo "status $?"
}
expect 'terms that were kept, what was not freed, sending to the tracee' found replay --check -t "$forgetful" \
    --max-events=2 "$stream" <<'LINES'
tracehost replay: warning: tracer 'FORGETFUL' sends to its tracee from trace: refused, here and later
tracehost: check: trace of tracer 'FORGETFUL', 'receive' of record 1: enif_send() to the tracee, which is refused
tracehost: check: trace of tracer 'FORGETFUL', call of record 2: gives enif_fprintf() a term that lies in the environment of an earlier call, trace of tracer 'FORGETFUL', 'receive' of record 1
undefined
tracehost: check: trace of tracer 'FORGETFUL', call of record 2: enif_send() to the tracee, which is refused
tracehost replay: tracer 'FORGETFUL': messages or commands to the tracee refused: 2
tracehost: check: leak: 1 environment that trace of tracer 'FORGETFUL' got from enif_alloc_env(), in trace of tracer 'FORGETFUL', 'receive' of record 1
tracehost: check: leak: 1 resource of type 'held' (1 byte) that trace of tracer 'FORGETFUL' got from enif_alloc_resource(), in trace of tracer 'FORGETFUL', 'receive' of record 1
status 1
LINES
expect 'nothing is said without it' sh -c "'$tracehost' replay -t '$tracers/echo.so' --max-events=2 $stream | wc -l" <<'LINES'
3
LINES
expect 'of a run' found run --check -t "$forgetful" -p fib:fib/1 fib 'fib:fib(1)' <<'LINES'
tracehost run: warning: tracer 'FORGETFUL' sends to its tracee from trace: refused, here and later
tracehost: check: trace of tracer 'FORGETFUL', call: enif_send() to the tracee, which is refused
tracehost run: tracer 'FORGETFUL': messages or commands to the tracee refused: 1
tracehost: check: leak: 1 environment that trace of tracer 'FORGETFUL' got from enif_alloc_env(), in trace of tracer 'FORGETFUL', call
tracehost: check: leak: 1 resource of type 'held' (1 byte) that trace of tracer 'FORGETFUL' got from enif_alloc_resource(), in trace of tracer 'FORGETFUL', call
1
status 1
LINES

# clean TRACER STREAM: the tracers that ship, and the sample that keeps terms, are clean.
clean() {
    "$tracehost" replay --check -t "$1,output=$work/written" -p _:_ --exception "$2" >"$work/out" 2>&1
    status=$?
    [ $status = 0 ] && ! grep 'check:' "$work/out" || {
        echo "status $status"
        cat "$work/out"
        return 1
    }
}
for tracer in "$BUILD_DIR"/lib/tracehost/tracers/*.so; do
    for name in s03_exceptions_return_to s06_ports s16_terms; do
        check "$(basename "$tracer" .so) is clean: $name" clean "$tracer" "$recordings/$name.trace"
    done
done
expect 'a sample that keeps terms' "$tracehost" replay --check -t "$samples/longest_message.so" "$stream" <<'LINES'
<0.94.0> sent {'$gen_call',{<0.94.0>,[alias|#Ref<0.3774324694.940638210.141746>]},{ping,1}}
LINES

finish
