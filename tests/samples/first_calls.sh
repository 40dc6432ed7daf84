#!/bin/sh
# Tests the tracer that disarms functions after their first calls; in a real BEAM it runs without disarming.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=build/release}" "${CC:=gcc}" "${OTP_INCLUDE=/usr/lib/erlang/usr/include}"
source=samples/tracers/first_calls.c
seed=$recordings/s01_seed_local_caller.trace

first_calls() {
    "$tracehost" replay -L "$BUILD_DIR/samples" "$@"
}
expect 'the first call of each function is printed' first_calls -t first_calls -p 'ex:_/_' "$seed" <<'LINES'
<0.79.0> calls ex:foo/0
<0.79.0> calls ex:lots/0
<0.79.0> calls ex:of/0
<0.79.0> calls ex:indirections/0
<0.79.0> calls ex:bar/1
LINES
expect 'two calls are printed while another tracer continues' first_calls --session a -t first_calls=2 -p ex:bar/1 \
    --session b -t text -p ex:bar/1 --max-events=4 "$seed" <<'LINES'
<0.79.0> calls ex:bar/1
<0.79.0>   call ex:bar(10)
<0.79.0> calls ex:bar/1
<0.79.0>   call ex:bar(9)
<0.79.0>   call ex:bar(8)
<0.79.0>   call ex:bar(7)
LINES
expect 'without patterns, the first calls are still printed' first_calls -t first_calls "$seed" <<'LINES'
<0.79.0> calls ex:foo/0
<0.79.0> calls ex:lots/0
<0.79.0> calls ex:of/0
<0.79.0> calls ex:indirections/0
<0.79.0> calls ex:bar/1
LINES

# `enabled` is asked only about the calls before the change takes effect.
{
    echo '{"tracehost":1,"node":"nonode@nohost","creation":0}'
    yes '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,0}"}' | head -300000
} >"$work/many.jsonl"
asked() {
    first_calls -t first_calls -p m:f/0 --stats "$work/many.jsonl" 2>&1 |
        sed -n 's/^ *\([0-9]*\)  calls of its enabled callbacks$/\1/p'
}
few_are_asked() {
    asked=$(asked)
    echo "asked $asked times"
    [ "$asked" -ge 1 ] && [ "$asked" -lt 300000 ]
}
check 'enabled is no longer called for a disarmed function' few_are_asked

compile() { # FOLDER FLAG...
    mkdir "$work/$1"
    folder=$1
    shift
    $CC "$@" -std=c11 -Wall -Wextra -Werror -fPIC -shared -o "$work/$folder/first_calls.so" $source
}
here() {
    "$tracehost" replay -L "$work/$1" -t first_calls -p 'ex:_/_' "$seed" | wc -l
}
# A BEAM delivers the calls of a process to the tracer, compiled with header $1.
in_beam() {
    cat >"$work/first_calls.erl" <<'ERL'
-module(first_calls).
-export([main/1, enabled/3, trace/5, enabled_call/3, trace_call/5, a/0, b/1]).
enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_call(_, _, _) -> erlang:nif_error(not_loaded).
trace_call(_, _, _, _, _) -> erlang:nif_error(not_loaded).
a() -> ok.
b(_) -> ok.
main([Library]) ->
    ok = erlang:load_nif(Library, 0),
    erlang:trace_pattern({?MODULE, a, '_'}, true, [local]),
    erlang:trace_pattern({?MODULE, b, '_'}, true, [local]),
    {Pid, Ref} = spawn_monitor(fun() ->
        receive go -> ok end,
        [begin ?MODULE:a(), ?MODULE:b(N) end || N <- lists:seq(1, 5)]
    end),
    1 = erlang:trace(Pid, true, [call, {tracer, ?MODULE, 2}]),
    Pid ! go,
    receive {'DOWN', Ref, process, Pid, normal} -> ok end,
    halt().
ERL
    erlc -o "$work" "$work/first_calls.erl" &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work" \
            -run first_calls main "$work/$1/first_calls" | tr -d '\r' | sed 's/<[0-9.]*>/PID/'
}
wanted='PID calls first_calls:a/0
PID calls first_calls:b/1
PID calls first_calls:a/0
PID calls first_calls:b/1'
goes_on() {
    in_beam "$1" >"$work/lines" 2>&1
    echo "$wanted" | diff - "$work/lines"
}
for headers in ours otp; do
    case $headers in
    ours) set -- -DERL_NIF_MINOR_VERSION=16 -I"$BUILD_DIR/include/tracehost" ;;
    otp)
        [ -e "$OTP_INCLUDE/erl_nif.h" ] || { skip "the tracer compiles with the header: otp" "no erl_nif.h of OTP here"; continue; }
        set -- -I"$OTP_INCLUDE" -I"$BUILD_DIR/include/tracehost"
        ;;
    esac
    check "the tracer compiles with the header: $headers" compile $headers "$@"
    expect "the first call of each function is printed, header: $headers" here $headers <<'LINES'
5
LINES
    if command -v erlc >/dev/null; then
        check "in a BEAM, first calls are printed without disarming, header: $headers" goes_on $headers
    else
        skip "in a BEAM, first calls are printed without disarming, header: $headers" 'no Erlang here'
    fi
done

finish
