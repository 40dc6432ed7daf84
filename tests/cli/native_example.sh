#!/bin/sh
# Tests tracehost run with OTP's example of callers, as C functions that call each other (plugins/spec_example).
. tests/cli/lib/compiled_plugins.sh

compile "$work/spec_example.so" plugins/spec_example/spec_example.c "$CC" -O2 || exit 1

# foo OPTION...: runs one call of foo(), with a pattern for all functions.
foo() {
    run -p spec_example:_/_ "$@" "$work/spec_example.so" 'spec_example:foo()'
}

# calls [SUFFIX]: prints the calls below foo(), each with SUFFIX.
calls() {
    for call in "lots()" "'of'()" "indirections()" "bar(10)" "bar(9)" "bar(8)" "bar(7)" "bar(6)" "bar(5)" "bar(4)" \
        "bar(3)" "bar(2)" "bar(1)" "bar(0)"; do
        echo "<0.1.4096> call spec_example:$call$1"
    done
}
returns() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11; do echo '<0.1.4096> return spec_example:bar/1 -> done'; done
    echo '<0.1.4096> return spec_example:indirections/0 -> done'
    echo "<0.1.4096> return spec_example:'of'/0 -> done"
    echo '<0.1.4096> return spec_example:lots/0 -> done'
}

{
    echo '<0.1.4096> call spec_example:foo() [result undefined]'
    calls ' [result {spec_example,foo,0}]'
    echo ok
} >"$work/with_callers"
expect 'a pattern traces all 15 calls if the functions have room' foo --caller <"$work/with_callers"
expect '--kind=local traces all 15 calls' foo --caller --kind=local <"$work/with_callers"
# The compiler's order of the functions decides which skipped function the warning names.
external() {
    foo --kind=global 2>"$work/warning"
    sed 's/skips .* and 3 more/skips four/' "$work/warning" >&2
}
cat >"$work/external" <<'EOF'
<0.1.4096> call spec_example:foo()
ok
-- stderr
tracehost run: warning: -p spec_example:_/_ skips four: no other modules call the function
EOF
expect '--kind=global traces the external call alone' external <"$work/external"
{
    echo '<0.1.4096> call spec_example:foo()'
    calls
    returns
    echo '<0.1.4096> return spec_example:foo/0 -> ok'
    echo ok
} >"$work/with_returns"
expect '--return delivers 15 calls and 15 returns' foo --return <"$work/with_returns"
{
    echo '<0.1.4096> call spec_example:foo()'
    calls
    echo '<0.1.4096> return_to spec_example:foo/0'
    echo '<0.1.4096> return_to undefined'
    echo ok
} >"$work/with_return_to"
expect 'the flag return_to delivers 15 calls and 2 return_to' foo --flags=call,return_to <"$work/with_return_to"
{
    echo '<0.1.4096> call spec_example:foo/0'
    calls | sed 's/(\([0-9][0-9]*\))/\/1/; s/()/\/0/'
    returns
    echo '<0.1.4096> return_to spec_example:foo/0'
    echo '<0.1.4096> return spec_example:foo/0 -> ok'
    echo '<0.1.4096> return_to undefined'
    echo ok
} >"$work/with_both"
expect '--return, return_to and arity apply together' foo --return --flags=call,return_to,arity <"$work/with_both"
{
    echo '<0.1.4096> call spec_example:foo()'
    calls
    echo ok
} >"$work/without_times"
without_times() {
    foo "$@" | sed 's/^[0-9.]* </</'
}
expect '--kind=meta traces all 15 calls' without_times --kind=meta <"$work/without_times"
expect '--kind=meta traces processes that have no flags' without_times --kind=meta --processes=new \
    <"$work/without_times"
expect '--kind=count counts the calls of each function' foo --kind=count <<'EOF'
       calls  function
          11  spec_example:bar/1
           1  spec_example:foo/0
           1  spec_example:indirections/0
           1  spec_example:lots/0
           1  spec_example:'of'/0
           0  5 more functions
ok
EOF
expect 'the kinds local, meta and count apply together' foo --kind=local,meta,count --meta-tracer=count -t text,color=never <<EOF
$(sed '$d' "$work/without_times")
       calls  function
          11  spec_example:bar/1
           1  spec_example:foo/0
           1  spec_example:indirections/0
           1  spec_example:lots/0
           1  spec_example:'of'/0
           0  5 more functions
      events       %  tag
          15  100.00  call
          15  100.00  all

       calls       %  function
          11   73.33  spec_example:bar/1
           1    6.67  spec_example:foo/0
           1    6.67  spec_example:indirections/0
           1    6.67  spec_example:lots/0
           1    6.67  spec_example:'of'/0
ok
EOF

expect 'a guard matches an argument of a local function' foo \
    --match-spec="[{['\$1'],[{'<','\$1',3}],[{return_trace},{message,{{'\$1',{caller}}}}]}]" <<'EOF'
<0.1.4096> call spec_example:bar(2) [result {2,{spec_example,foo,0}}]
<0.1.4096> call spec_example:bar(1) [result {1,{spec_example,foo,0}}]
<0.1.4096> call spec_example:bar(0) [result {0,{spec_example,foo,0}}]
<0.1.4096> return spec_example:bar/1 -> done
<0.1.4096> return spec_example:bar/1 -> done
<0.1.4096> return spec_example:bar/1 -> done
ok
EOF

# --- made by other compilers ---

# Without optimisation clang makes no call a jump: each callee returns to its caller.
{
    echo '<0.1.4096> call spec_example:foo() [result undefined]'
    calls | sed "
        s/:lots()/& [result {spec_example,foo,0}]/
        s/:'of'()/& [result {spec_example,lots,0}]/
        s/:indirections()/& [result {spec_example,'of',0}]/
        s/:bar(10)/& [result {spec_example,indirections,0}]/
        s/:bar([0-9])/& [result {spec_example,bar,1}]/"
    echo ok
} >"$work/with_callers.no_jumps"
{
    echo '<0.1.4096> call spec_example:foo()'
    calls
    for _ in 1 2 3 4 5 6 7 8 9 10; do echo '<0.1.4096> return_to spec_example:bar/1'; done
    echo '<0.1.4096> return_to spec_example:indirections/0'
    echo "<0.1.4096> return_to spec_example:'of'/0"
    echo '<0.1.4096> return_to spec_example:lots/0'
    echo '<0.1.4096> return_to spec_example:foo/0'
    echo '<0.1.4096> return_to undefined'
    echo ok
} >"$work/with_return_to.no_jumps"
for compiler in gcc clang; do
    for level in -O0 -O2; do
        if ! command -v $compiler >/dev/null; then
            skip "$compiler $level: calls between C functions are traced" "there is no $compiler here"
            continue
        fi
        compile "$work/spec_example.so" plugins/spec_example/spec_example.c $compiler $level || exit 1
        jumps=
        [ $compiler$level != clang-O0 ] || jumps=.no_jumps
        expect "$compiler $level: a pattern traces all 15 calls" foo --caller <"$work/with_callers$jumps"
        expect "$compiler $level: --kind=global traces the external call alone" external <"$work/external"
        expect "$compiler $level: --return delivers 15 calls and 15 returns" foo --return <"$work/with_returns"
        expect "$compiler $level: return_to names the function that continues" foo --flags=call,return_to <"$work/with_return_to$jumps"
    done
done

finish
