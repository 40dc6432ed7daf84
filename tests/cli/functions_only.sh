#!/bin/sh
# Tests tracers that promise to look at functions only, and the flag arity: arguments and values are not given, but
# are still checked.
. tests/cli/lib/assertions.sh

one=$recordings/s03_exceptions_return_to.trace

# given TRACER [OPTION...]: the kinds of terms and options that TRACER gets.
given() {
    tracer=$1
    shift
    "$tracehost" replay -t "$tracers/$tracer.so" "$@" | sed -n '/^call/p' | head -n 3
}
expect 'a tracer that promises so gets functions' given functions_only "$one" <<'LINES'
call: <0.89.0> call {ex,mid,1} with #{timestamp => timestamp}
call: <0.89.0> call {ex,caught,1} with #{timestamp => timestamp}
call: <0.89.0> call {ex,b1,1} with #{timestamp => timestamp}
LINES
expect 'and no messages' sh -c "'$tracehost' replay -t '$tracers/functions_only.so' '$recordings/s06_ports.trace' |
    sed -n 's/#Port<[0-9.]*>/PORT/; s/<[0-9.]*>/PID/; 2,4p'" <<'LINES'
receive: PID 'receive' undefined with #{}
ports: PORT open undefined with #{timestamp => timestamp}
running_ports: PORT in undefined with #{timestamp => timestamp}
LINES
both() {
    "$tracehost" replay -t "$tracers/functions_only.so" -t "$tracers/echo.so" "$one" | sed -n '/^call/p' | head -n 4
}
expect 'another tracer beside it gets all terms' both <<'LINES'
call: <0.89.0> call {ex,mid,1} with #{timestamp => timestamp}
call: <0.89.0> call {ex,mid,[err]} with #{timestamp => timestamp}
call: <0.89.0> call {ex,caught,1} with #{timestamp => timestamp}
call: <0.89.0> call {ex,caught,[err]} with #{timestamp => timestamp}
LINES
expect 'the flag arity replaces arguments, and keeps results' given echo --flags=call,arity \
    "$recordings/s02_seed_global_caller.trace" <<'LINES'
call: <0.84.0> call {ex,foo,0} with #{match_spec_result => {small,'-main/0-fun-2-',0}}
call: <0.84.0> call {ex,rfoo,0} with #{match_spec_result => {rec,w,0}}
call: <0.84.0> call {ex,rlots,0} with #{match_spec_result => {ex,rfoo,0}}
LINES
expect 'the flag arity replaces arguments of calls without results' given echo --flags=call,arity "$one" <<'LINES'
call: <0.89.0> call {ex,mid,1} with #{}
call: <0.89.0> call {ex,caught,1} with #{}
call: <0.89.0> call {ex,b1,1} with #{}
LINES

# Damage in the argument of the first call: the tag of the atom err.
at=$(grep -aob 'err' "$one" | head -n 1 | cut -d: -f1)
cp "$one" "$work/damaged.trace"
printf '\001' | dd of="$work/damaged.trace" bs=1 seek=$((at - 3)) conv=notrunc 2>"$work/dd"
damage() {
    "$tracehost" replay -t "$tracers/$1.so" $2 "$work/damaged.trace" 2>"$work/err" >"$work/out"
    echo "status $?, $(grep -c '^call' "$work/out")"
    cat "$work/err"
}
damage echo >"$work/decoded"
expect_equal() {
    if cmp "$work/decoded" "$2"; then pass "$1"; else fail "$1"; fi
}
grep -q 'no such tag' "$work/decoded" || fail 'the record is damaged'
damage functions_only >"$work/skipped"
expect_equal 'damage in skipped arguments is reported as if they were decoded' "$work/skipped"
damage echo --flags=call,arity,return_to >"$work/skipped"
damage echo --flags=call,return_to >"$work/decoded"
expect_equal 'and so it is with the flag arity' "$work/skipped"
finish
