#!/bin/sh
# Tests tracehost run: calls between C functions hit breakpoints in machine code.
. tests/cli/lib/compiled_plugins.sh

compile "$work/fib.so" plugins/fib/fib.c "$CC" -O2 || exit 1
compile "$work/locals.so" tests/plugins/locals.c "$CC" -O2 || exit 1

of_fib() {
    expression=$1
    shift
    run "$@" "$work/fib.so" "$expression"
}

expect 'each call of a recursive function has its return' of_fib 'fib:fib(3)' -p fib:_/_ --return <<'EOF'
<0.1.4096> call fib:fib(3)
<0.1.4096> call fib:fib(2)
<0.1.4096> call fib:fib(1)
<0.1.4096> return fib:fib/1 -> 1
<0.1.4096> call fib:fib(0)
<0.1.4096> return fib:fib/1 -> 0
<0.1.4096> return fib:fib/1 -> 1
<0.1.4096> call fib:fib(1)
<0.1.4096> return fib:fib/1 -> 1
<0.1.4096> return fib:fib/1 -> 2
2
EOF
expect '--caller and return_to name the traced caller' of_fib 'fib:depth(2)' -p fib:_/_ --caller --flags=call,return_to <<'EOF'
<0.1.4096> call fib:depth(2) [result undefined]
<0.1.4096> call fib:down(2) [result undefined]
<0.1.4096> call fib:down(1) [result {fib,down,1}]
<0.1.4096> call fib:down(0) [result {fib,down,1}]
<0.1.4096> return_to fib:down/1
<0.1.4096> return_to fib:down/1
<0.1.4096> return_to undefined
2
EOF
expect 'tail calls have the caller of the first call, and each has its return' of_fib 'fib:quick(2)' -p fib:_/_ --return --caller --flags=call,return_to <<'EOF'
<0.1.4096> call fib:quick(2) [result undefined]
<0.1.4096> call fib:loop(2,1,0) [result undefined]
<0.1.4096> call fib:loop(1,0,1) [result undefined]
<0.1.4096> call fib:loop(0,1,1) [result undefined]
<0.1.4096> return fib:loop/3 -> 1
<0.1.4096> return fib:loop/3 -> 1
<0.1.4096> return fib:loop/3 -> 1
<0.1.4096> return fib:quick/1 -> 1
<0.1.4096> return_to undefined
1
EOF
# fib(20) = 6765, of 2 * fib(21) - 1 = 21891 calls.
expect '--kind=count counts the calls of each function' of_fib '{fib:fib(20), fib:quick(50), fib:depth(9000)}' -p fib:_/_ --kind=count <<'EOF'
       calls  function
       21891  fib:fib/1
        9001  fib:down/1
          51  fib:loop/3
           1  fib:depth/1
           1  fib:quick/1
{6765,12586269025,9000}
EOF
# Time is counted once, not again for each open call: so the sum is less than the time of the run.
timed() {
    begin=$(date +%s%N)
    of_fib 'fib:fib(24)' -p fib:fib/1 --kind=time --format=json >"$work/timed"
    python3 -c '
import json, sys
lines = sys.stdin.read().splitlines()
function, = json.loads(lines[0])["functions"]
process, = function["time"]
print(lines[1], function["function"], function["calls"], process["process"], process["calls"])
print(0 < process["ns"] < int(sys.argv[1]))' $(($(date +%s%N) - begin)) <"$work/timed"
}
expect '--kind=time counts the time of recursive calls once' timed <<'EOF'
46368 fib:fib/1 150049 <0.1.4096> 150049
True
EOF
expect 'calls beyond --max-frames have no return, and are counted' of_fib 'fib:depth(100)' -t count -p fib:down/1 --return --max-frames=10 --fail-on-loss <<'EOF'
      events       %  tag
         101   90.99  call
          10    9.01  return_from
         111  100.00  all

       calls       %  function
         101  100.00  fib:down/1
100
-- stderr
tracehost run: calls whose return was not delivered, as too many calls were open (--max-frames): 91
-- status 4
EOF
expect 'two sessions trace different functions of one library' of_fib 'fib:depth(4)' --session a -t count -p fib:down/1 \
    --session b -t text,color=never -p fib:depth/1 --return <<'EOF'
<0.1.4096> call fib:depth(4)
<0.1.4096> return fib:depth/1 -> 4
      events       %  tag
           5  100.00  call
           5  100.00  all

       calls       %  function
           5  100.00  fib:down/1
4
EOF

expect 'a match specification matches one of three arguments' of_fib 'fib:quick(9)' -p fib:loop/3 --match-spec="[{['\$1','_','\$2'],[{'=:=',{'rem','\$1',3},0}],[{message,'\$2'}]}]" <<'EOF'
<0.1.4096> call fib:loop(9,1,0) [result 0]
<0.1.4096> call fib:loop(6,1,2) [result 2]
<0.1.4096> call fib:loop(3,5,8) [result 8]
<0.1.4096> call fib:loop(0,21,34) [result 34]
34
EOF

# --- exceptions ---

locals() {
    expression=$1
    shift
    run "$@" "$work/locals.so" "$expression"
}
expect 'an exception is delivered for each open call' locals 'locals:fail(why)' -p locals:_/_ --exception --flags=call,return_to <<'EOF'
<0.1.4096> call locals:fail(why)
<0.1.4096> call locals:fails_below(why)
<0.1.4096> call locals:fails(why)
<0.1.4096> exception locals:fails/1 ! error:why
<0.1.4096> exception locals:fails_below/1 ! error:why
<0.1.4096> exception locals:fail/1 ! error:why
-- stderr
** exception error: why
     in function  locals:fail/1
        called as locals:fail(why)
-- status 1
EOF
expect 'a call that catches an exception returns' locals 'locals:catching(locals, fail, [why])' -p locals:_/_ --exception <<'EOF'
<0.1.4096> call locals:catching(locals,fail,[why])
<0.1.4096> call locals:catches(locals,fail,[why])
<0.1.4096> call locals:calls(locals,fail,[why])
<0.1.4096> call locals:fail(why)
<0.1.4096> call locals:fails_below(why)
<0.1.4096> call locals:fails(why)
<0.1.4096> exception locals:fails/1 ! error:why
<0.1.4096> exception locals:fails_below/1 ! error:why
<0.1.4096> exception locals:fail/1 ! error:why
<0.1.4096> exception locals:calls/3 ! error:why
<0.1.4096> return locals:catches/3 -> {caught,error,why}
<0.1.4096> return locals:catching/3 -> {caught,error,why}
{caught,error,why}
EOF
expect '--return alone delivers no event if an exception ends a call' locals 'locals:catching(locals, fail, [why])' \
    -p locals:_/_ --return <<'EOF'
<0.1.4096> call locals:catching(locals,fail,[why])
<0.1.4096> call locals:catches(locals,fail,[why])
<0.1.4096> call locals:calls(locals,fail,[why])
<0.1.4096> call locals:fail(why)
<0.1.4096> call locals:fails_below(why)
<0.1.4096> call locals:fails(why)
<0.1.4096> return locals:catches/3 -> {caught,error,why}
<0.1.4096> return locals:catching/3 -> {caught,error,why}
{caught,error,why}
EOF

# --- libraries without room ---

cat >"$work/plain.c" <<'EOF'
#include <erl_nif.h>

static ERL_NIF_TERM same(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env, (void)argc;
    return argv[0];
}

static ErlNifFunc functions[] = {{"same", 1, same, 0}, {"keep", 1, same, 0}};

ERL_NIF_INIT(plain, functions, NULL, NULL, NULL, NULL)
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/plain.so" "$work/plain.c" || exit 1
plain() {
    run "$@" "$work/plain.so" 'plain:same(1)'
}
expect '--kind=local of a module without room for breakpoints is refused' plain -p plain:_/_ --kind=local <<'EOF'
-- stderr
tracehost run: cannot set -p plain:_/_
  no function can have a breakpoint for local calls: trace calls from other modules with a global pattern
  plain:same/1 and 1 more: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
-- status 2
EOF
expect '--kind=local of a function without room for a breakpoint is refused' plain -p plain:keep/1 --kind=local <<'EOF'
-- stderr
tracehost run: cannot set -p plain:keep/1
  no function can have a breakpoint for local calls: trace calls from other modules with a global pattern
  plain:keep/1: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
-- status 2
EOF
cat >"$work/plain_calls" <<'EOF'
<0.1.4096> call plain:same(1)
<0.1.4096> return plain:same/1 -> 1
1
EOF
expect 'without --kind, a library without room is traced globally' plain -p plain:_/_ --return <"$work/plain_calls"
expect 'a library without room is traced by --kind=global' plain -p plain:_/_ --kind=global --return <"$work/plain_calls"
expect 'a library without room is counted by --kind=count' plain -p plain:same/1 --kind=count <<'EOF'
       calls  function
           1  plain:same/1
1
EOF
# A local function without room has no breakpoint at all.
cat >"$work/sealed.c" <<'EOF'
#include <nif_module.h>

static ERL_NIF_TERM inner(ErlNifEnv *env, ERL_NIF_TERM a)
{
    (void)env;
    return a;
}

static const struct th_local_function named __attribute__((
    TH_RETAINED, section("tracehost_functions"), aligned(8))) = {"inner", (void (*)(void))inner, 1};

static ERL_NIF_TERM outer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return inner(env, argv[0]);
}

static ErlNifFunc functions[] = {{"outer", 1, outer, 0}};

ERL_NIF_INIT(sealed, functions, NULL, NULL, NULL, NULL)
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/sealed.so" "$work/sealed.c" || exit 1
sealed() {
    run "$@" "$work/sealed.so" 'sealed:outer(1)'
}
expect 'a pattern of a single local function without room is refused' sealed -p sealed:inner/1 <<'EOF'
-- stderr
tracehost run: cannot set -p sealed:inner/1
  no function can have a breakpoint
  sealed:inner/1: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
-- status 2
EOF
expect 'a pattern of a module skips a local function without room' sealed -p sealed:_/_ --return <<'EOF'
<0.1.4096> call sealed:outer(1)
<0.1.4096> return sealed:outer/1 -> 1
1
-- stderr
tracehost run: warning: -p sealed:_/_ skips sealed:inner/1: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
EOF
# With several libraries, local breakpoints are set in those that were compiled for them.
expect '--kind=local skips a library without room, and traces another' run -p _:_/_ --kind=local "$work/plain.so" "$work/fib.so" 'fib:depth(plain:same(1))' <<'EOF'
<0.1.4096> call fib:depth(1)
<0.1.4096> call fib:down(1)
<0.1.4096> call fib:down(0)
1
-- stderr
tracehost run: warning: -p _:_/_ skips plain:same/1 and 1 more: the code was compiled without room for a breakpoint at the entry: compile with `pkg-config --cflags tracehost-plugin`
EOF
expect '--kind=global of a local function is refused' of_fib 'fib:depth(1)' -p fib:down/1 --kind=global <<'EOF'
-- stderr
tracehost run: cannot set -p fib:down/1
  no function can have a breakpoint for calls from other modules alone: trace all calls with a local pattern
  fib:down/1: no other modules call the function
-- status 2
EOF

finish
