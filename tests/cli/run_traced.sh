#!/bin/sh
# Tests tracehost run: the events that tracers get.
. tests/cli/lib/assertions.sh

party=$BUILD_DIR/tests/plugins/party.so
ulimit -c 0

# run ARGUMENT...: runs on one scheduler, and replaces references, which differ from run to run.
run() {
    "$tracehost" run --schedulers=1 "$@" >"$work/out" 2>"$work/err"
    status=$?
    sed 's/#Ref<[0-9.]*>/#Ref/g' "$work/out"
    without_patience "$work/err" | sed 's/#Ref<[0-9.]*>/#Ref/g' >&2
    return $status
}

# sorted ARGUMENT...: runs, and sorts the output by process.
sorted() {
    run "$@" >"$work/run"
    status=$?
    sort -s -k 1,1 "$work/run"
    return $status
}

two="json:decode(json:encode([1,2]))"

expect 'calls and the exit of the first process are delivered' run json "$two" 'json:decode(<<"[">>)' <<'EOF'
<0.1.4096> call json:encode([1,2])
<0.1.4096> call json:decode(<<"[1,2]">>)
<0.1.4096> call json:decode(<<"[">>)
<0.1.4096> exit {{1,unexpected_end},[{json,decode,[<<"[">>],[{file,"plugins/json/decode.c"},{line,N}]}]}
[1,2]
-- stderr
** exception error: {1,unexpected_end}
     in function  json:decode/1
        called as json:decode(<<"[">>)
-- status 1
EOF
expect 'events of processes and messages are delivered' sorted --flags=procs,send,receive bank 'bank:start()' 'bank:open(savings, 5)' \
    'bank:withdraw(savings, 3)' <<'EOF'
2
<0.1.4096> spawn <0.2.4096> as bank:run()
<0.1.4096> send {{open,savings,5},<0.1.4096>,#Ref} -> <0.2.4096>
<0.1.4096> receive {#Ref,{ok,ok}}
<0.1.4096> send {{withdraw,3},<0.1.4096>,#Ref} -> <0.3.4096>
<0.1.4096> receive {#Ref,{ok,2}}
<0.1.4096> exit normal
<0.2.4096> spawned by <0.1.4096> as bank:run()
<0.2.4096> register bank
<0.2.4096> receive {{open,savings,5},<0.1.4096>,#Ref}
<0.2.4096> spawn <0.3.4096> as bank:account(<0.2.4096>,savings,5)
<0.2.4096> link <0.3.4096>
<0.2.4096> send {#Ref,{ok,ok}} -> <0.1.4096>
<0.2.4096> receive {balance,savings,2}
<0.3.4096> spawned by <0.2.4096> as bank:account(<0.2.4096>,savings,5)
<0.3.4096> getting_linked <0.2.4096>
<0.3.4096> register savings
<0.3.4096> receive {{withdraw,3},<0.1.4096>,#Ref}
<0.3.4096> send {balance,savings,2} -> <0.2.4096>
<0.3.4096> send {#Ref,{ok,2}} -> <0.1.4096>
ok
ok
EOF
counted=$BUILD_DIR/tests/tracers/counted.so
expect 'a resource may be the state of a tracer' run -p 'bank:deposit/2' -t "$counted=[counted:make()]" "$counted" bank \
    'bank:start()' 'bank:open(savings, 5)' 'bank:deposit(savings, 2)' <<'EOF'
1 events
ok
ok
7
EOF

expect 'exits of two linked processes are delivered' sorted --flags=procs "$party" \
    'party:spawn(party, exits, [because], 1), party:await(5000)' <<'EOF'
<0.1.4096> spawn <0.2.4096> as party:exits(because)
<0.1.4096> link <0.2.4096>
<0.1.4096> exit because
<0.2.4096> spawned by <0.1.4096> as party:exits(because)
<0.2.4096> getting_linked <0.1.4096>
<0.2.4096> exit because
-- stderr
** exception exit: because
-- status 1
EOF
expect 'a throw that is not caught is an exit with nocatch' run --flags=procs "$party" 'party:throws(ball)' <<'EOF'
<0.1.4096> exit {{nocatch,ball},[{party,throws,[ball],[{file,"tests/plugins/party.c"},{line,N}]}]}
-- stderr
** exception throw: ball
     in function  party:throws/1
        called as party:throws(ball)
-- status 1
EOF
expect '--processes=existing selects the first process' sorted --flags=procs --processes=existing "$party" \
    'party:spawns(2, party, echo, [x])' 'timer:sleep(100)' <<'EOF'
2
<0.1.4096> spawn <0.2.4096> as party:echo(x)
<0.1.4096> link <0.2.4096>
<0.1.4096> spawn <0.3.4096> as party:echo(x)
<0.1.4096> link <0.3.4096>
<0.1.4096> getting_unlinked <0.2.4096>
<0.1.4096> getting_unlinked <0.3.4096>
<0.1.4096> exit normal
ok
EOF
expect '--processes=new selects spawned processes' sorted --flags=procs --processes=new "$party" \
    'party:spawns(2, party, echo, [x])' 'timer:sleep(100)' <<'EOF'
2
<0.2.4096> spawned by <0.1.4096> as party:echo(x)
<0.2.4096> getting_linked <0.1.4096>
<0.2.4096> exit normal
<0.3.4096> spawned by <0.1.4096> as party:echo(x)
<0.3.4096> getting_linked <0.1.4096>
<0.3.4096> exit normal
ok
EOF
expect 'the end of the run kills processes without an exit event' run --flags=procs --processes=new "$party" \
    'party:alive(party:spawn(party, server, [], 0))' 'timer:sleep(100)' <<'EOF'
<0.2.4096> spawned by <0.1.4096> as party:server()
1
ok
EOF
expect 'the end by --duration delivers no exit event' sorted --duration=2s --flags=procs "$party" 'party:spawns(1, party, server, []), party:server()' <<'EOF'
<0.1.4096> spawn <0.2.4096> as party:server()
<0.1.4096> link <0.2.4096>
<0.2.4096> spawned by <0.1.4096> as party:server()
<0.2.4096> getting_linked <0.1.4096>
-- stderr
tracehost run: stopped after 2 s (--duration)
EOF

# --- patterns ---

expect '-p delivers no other calls and no other events' run -p json:encode/_ --return bank json "$two" 'bank:start()' <<'EOF'
<0.1.4096> call json:encode([1,2])
<0.1.4096> return json:encode/1 -> <<"[1,2]">>
[1,2]
ok
EOF
expect '--exception delivers returns and exceptions' run -p json:decode/1 --exception json "$two" 'json:decode(<<"[">>)' <<'EOF'
<0.1.4096> call json:decode(<<"[1,2]">>)
<0.1.4096> return json:decode/1 -> [1,2]
<0.1.4096> call json:decode(<<"[">>)
<0.1.4096> exception json:decode/1 ! error:{1,unexpected_end}
[1,2]
-- stderr
** exception error: {1,unexpected_end}
     in function  json:decode/1
        called as json:decode(<<"[">>)
-- status 1
EOF
expect '--caller adds the caller through tail calls' run -p spec_example:_/_ --caller spec_example 'spec_example:rfoo()' <<'EOF'
<0.1.4096> call spec_example:rfoo() [result undefined]
<0.1.4096> call spec_example:rlots() [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rof() [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rindirections() [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rbar(3) [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rbar(2) [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rbar(1) [result {spec_example,rfoo,0}]
<0.1.4096> call spec_example:rbar(0) [result {spec_example,rfoo,0}]
ok
EOF
expect '--match-spec filters calls, and adds results and returns' run -p json:_/_ --match-spec="[{['\$1'],[{is_binary,'\$1'}],[{return_trace},{message,{self}}]}]" \
    json "$two" <<'EOF'
<0.1.4096> call json:decode(<<"[1,2]">>) [result <0.1.4096>]
<0.1.4096> return json:decode/1 -> [1,2]
[1,2]
EOF
expect '--kind=count counts the calls of each function' run -p json:_/_ --kind=count json "$two" "$two" <<'EOF'
       calls  function
           2  json:decode/1
           2  json:encode/1
           0  json:encode/2
[1,2]
[1,2]
EOF
expect '--kind=count sums up functions without calls' run -p party:_/_ --kind=count "$party" 'party:echo(1)' <<'EOF'
       calls  function
           1  party:echo/1
           0  79 more functions
1
EOF
expect '--kind=count,memory --format=json prints words of each process' run -p json:decode/1 --kind=count,memory --format=json json "$two" <<'EOF'
{"session":null,"tracer":"text","functions":[{"function":"json:decode/1","calls":1,"memory":[{"process":"<0.1.4096>","calls":1,"words":4}]}]}
[1,2]
EOF
expect 'a pattern of an unknown function gives a warning' run -p json:nix/1 --kind=count json "$two" <<'EOF'
[1,2]
-- stderr
tracehost run: warning: -p json:nix/1: there is no such function yet
tracehost run: -p json:nix/1: no such function was loaded
EOF
expect 'a meta tracer of an unknown function gives a warning' run -p json:nix/1 --kind=meta --meta-tracer=text json "$two" <<'EOF'
[1,2]
-- stderr
tracehost run: warning: -p json:nix/1: there is no such function yet
tracehost run: -p json:nix/1: no such function was loaded
EOF
expect '--kind=local,global is refused' run -p json:_/_ --kind=local,global json "$two" <<'EOF'
-- stderr
tracehost run: -p json:_/_: the kind global cannot be combined with another
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
# breakpoints ARGUMENT...: prints the lines of --stats about breakpoints.
breakpoints() {
    run --stats "$@" 2>&1 | grep 'functions .*traced'
}
expect 'a pattern without --kind traces all calls' breakpoints -p json:_/_ json "$two" <<'EOF'
           3  functions whose calls are traced
           0  functions of which external calls are traced
EOF
expect '--kind=global of a single function traces external calls' breakpoints -p json:decode/1 --kind=global json "$two" <<'EOF'
           0  functions whose calls are traced
           1  functions of which external calls are traced
EOF
expect '--kind=count traces no calls' breakpoints -p json:decode/1 --kind=count json "$two" <<'EOF'
           0  functions whose calls are traced
           0  functions of which external calls are traced
EOF
expect 'an unknown module is reported once for two tracers' run -t text -t text -p jsn:_/_ --kind=count json 'json:encode(1)' <<'EOF'
<<"1">>
-- stderr
tracehost run: warning: -p jsn:_/_: there is no such function yet; did you mean 'json:_/_'?
tracehost run: -p jsn:_/_: no such function was loaded
EOF
expect 'a meta tracer gets the calls of its pattern' run -t text -p json:encode/1 -p json:_/_ --kind=meta --meta-tracer=count json "$two" <<'EOF'
<0.1.4096> call json:encode([1,2])
      events       %  tag
           2  100.00  call
           2  100.00  all

       calls       %  function
           1   50.00  json:decode/1
           1   50.00  json:encode/1
[1,2]
EOF
expect '--kind=meta delivers calls to the tracer of the session' run -p json:decode/1 --kind=meta -t count json "$two" <<'EOF'
      events       %  tag
           1  100.00  call
           1  100.00  all

       calls       %  function
           1  100.00  json:decode/1
[1,2]
EOF
expect 'a pattern for sends filters messages' run -p send --match-spec="[{['_',{balance,'_','_'}],[],[]}]" --flags=send bank \
    'bank:start()' 'bank:open(savings, 5)' 'bank:deposit(savings, 1)' <<'EOF'
<0.3.4096> send {balance,savings,6} -> <0.2.4096>
ok
ok
6
EOF
expect 'each session has its own processes and patterns' run --session a -t count --processes=new --session b -p json:encode/1 --return json "$two" <<'EOF'
<0.1.4096> call json:encode([1,2])
<0.1.4096> return json:encode/1 -> <<"[1,2]">>
[1,2]
-- stderr
tracehost run: warning: session 'a', tracer 'count': no event matches --processes=new
EOF

# --- losses ---

expect 'calls beyond --max-frames have no return, and are counted' run -t count --flags=call -p party:_/_ --return --max-frames=10 --fail-on-loss "$party" 'party:down(100,[])' <<'EOF'
      events       %  tag
         101   90.99  call
          10    9.01  return_from
         111  100.00  all

       calls       %  function
         101  100.00  party:down/2
100
-- stderr
tracehost run: calls whose return was not delivered, as too many calls were open (--max-frames): 91
-- status 4
EOF

locals=$BUILD_DIR/tests/plugins/gcc-O2/locals.so
expect 'calls ended by longjmp(), or of an unknown arity, are counted' run -t count --flags=call -p locals:leaps/1 --return \
    -p locals:pair/2 --fail-on-loss "$locals" 'locals:leap(2,1,0)' 'locals:forms(1,2,3,4,5), ok' <<'EOF'
      events       %  tag
           5  100.00  call
           5  100.00  all

       calls       %  function
           4   80.00  locals:leaps/1
           1   20.00  locals:pair/2
done
ok
-- stderr
tracehost run: calls whose return was not delivered, as longjmp() left them: 4
tracehost run: local calls skipped, as the library has no function of their arity: 1
-- status 4
EOF

# --- tracers that crash and hang, in a scheduler's thread ---

case $BUILD_DIR in
*asan | *tsan) skip 'crashes and hangs of tracers are reported' 'sanitizers report crashes themselves' ;;
*)
    expect 'a crash names the tracer' run -L "$samples" -t crash_tracer,how=segv,in=trace_procs bank 'bank:start()' <<'EOF'
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_procs
  event: {trace,<0.1.4096>,spawn,<0.2.4096>,{bank,run,[]}}
-- status 6
EOF
    expect '--callback-timeout ends a run whose tracer hangs' run -L "$samples" -t crash_tracer,how=hang,in=trace_send --callback-timeout=300ms \
        "$party" 'party:sends(self(), [message])' <<'EOF'
-- stderr
tracehost: tracer 'crash_tracer' hangs: trace_send took more than 0.3 s
  event: {trace,<0.1.4096>,send,message,<0.1.4096>}
-- status 6
EOF
    ;;
esac

# --- lines ---

cat >"$work/lined.c" <<'EOF'
#include <nif_module.h>

static ERL_NIF_TERM fails(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_raise_exception(env, argv[0]);
}

static ERL_NIF_TERM calls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM result = th_call(env, argv[0], argv[1], 1, argv + 2);

    return result ? result : 0;
}

static ERL_NIF_TERM refuse(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return enif_raise_exception(env, reason);
}

static ERL_NIF_TERM asks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return refuse(env, argv[0]);
}

static ErlNifFunc functions[] = {{"fails", 1, fails, 0}, {"calls", 3, calls, 0}, {"asks", 1, asks, 0}};

ERL_NIF_INIT(lined, functions, NULL, NULL, NULL, NULL)
EOF
# lined FLAG ARGUMENT...: compiles the library with FLAG, then runs.
lined() {
    (cd "$work" && "$CC" -O0 "$1" -fPIC -shared -I"$OLDPWD/plugin_api" -o lined.so lined.c)
    shift
    run "$@"
}
sorted_lined() {
    lined "$@" >"$work/run"
    sort -r "$work/run"
}
expect '--caller-line adds the file and line of the caller' lined -g -p lined:_/_ --caller-line "$work/lined.so" 'catch lined:calls(lined,fails,1)' <<'EOF'
<0.1.4096> call lined:calls(lined,fails,1) [result undefined]
<0.1.4096> call lined:fails(1) [result {lined,calls,3,{"lined.c",10}}]
{'EXIT',{1,[{lined,fails,[1],[{file,"lined.c"},{line,5}]},{lined,calls,3,[{file,"lined.c"},{line,10}]}]}}
EOF
expect 'an exception of a C function names the NIF that called the function' lined -g -p lined:fails/1 "$work/lined.so" 'catch lined:asks(1)' <<'EOF'
{'EXIT',{1,[{lined,asks,[1],[{file,"lined.c"},{line,17}]}]}}
-- stderr
tracehost run: warning: tracer 'text': no event matches -p lined:fails/1
EOF
expect 'unknown lines of callers are counted' lined -g0 -p lined:fails/1 --caller-line "$work/lined.so" 'catch lined:calls(lined,fails,1)' <<'EOF'
<0.1.4096> call lined:fails(1) [result {lined,calls,3,undefined}]
{'EXIT',{1,[{lined,fails,[1],[]},{lined,calls,3,[]}]}}
-- stderr
tracehost run: tracer 'text': lines of callers unknown: 1
EOF
expect 'the exit of a process by an error gives a warning with lines' sorted_lined -g --flags=exiting "$party" "$work/lined.so" \
    'party:spawn(lined, calls, [lined, fails, why], 2), receive {_, _, _, _, Why} -> Why end' <<'EOF'
{why,[{lined,fails,[why],[{file,"lined.c"},{line,5}]},{lined,calls,3,[{file,"lined.c"},{line,10}]}]}
<0.2.4096> out_exited
<0.1.4096> out_exited
-- stderr
tracehost run: warning: Error in process <0.2.4096> with exit value: {why,[{lined,fails,[why],[{file,"lined.c"},{line,5}]},{lined,calls,3,[{file,"lined.c"},{line,10}]}]}
EOF

finish
