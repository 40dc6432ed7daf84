#!/bin/sh
# Tests tracehost run: results, exceptions, ends of a run. run_traced.sh tests the events for tracers.
. tests/cli/lib/assertions.sh

party=$BUILD_DIR/tests/plugins/party.so
ulimit -c 0

# patient COMMAND...: runs a command whose end may take longer than a second on a busy machine.
patient() {
    "$@" 2>"$work/err"
    status=$?
    without_patience "$work/err" >&2
    return $status
}

# run ARGUMENT...: runs with a tracer that writes to a file.
run() {
    patient "$tracehost" run -t "text,output=$work/trace" "$@"
}

# --- results ---

expect 'the result of a call is printed' run json 'json:decode(<<"[1,2.5,null]">>)' <<'EOF'
[1,2.5,null]
EOF
expect 'expressions share variables, and call several libraries' \
    run json "$party" 'T = json:encode([1,2])' 'party:echo({T, json:decode(T)}). party:local(1).' <<'EOF'
<<"[1,2]">>
{<<"[1,2]">>,[1,2]}
5
EOF
printf 'X = json:encode([]).\n{X, self() =:= party:self()}.\n' >"$work/file"
expect 'expressions of -f FILE are evaluated before the arguments' run json "$party" 'byte_size(X).' -f "$work/file" <<'EOF'
<<"[]">>
{<<"[]">>,true}
2
EOF
from_stdin() {
    echo 'json:decode(<<"{}">>).' | run json -
}
expect 'expressions are read from stdin' from_stdin <<'EOF'
#{}
EOF
expect 'a library is found in a folder of -L' run -L "$BUILD_DIR/tests/plugins" party 'party:echo(ok)' <<'EOF'
ok
EOF
expect 'processes exchange messages on one scheduler' run --schedulers=1 "$party" \
    'party:spawns(2, party, sends, [self(), [x]]), [party:await(5000), party:await(5000)]' <<'EOF'
[x,x]
EOF
expect 'q() ends the run' run json '1.' 'q(), 2' '3.' <<'EOF'
1
EOF

# --- exceptions ---

expect 'an error is printed, and the status is 1' run json 'json:decode(<<"[1">>)' <<'EOF'
-- stderr
** exception error: {2,unexpected_end}
     in function  json:decode/1
        called as json:decode(<<"[1">>)
-- status 1
EOF
expect 'the first exception ends the run' run "$party" 'first.' 'party:throws(ball)' 'third.' <<'EOF'
first
-- stderr
** exception throw: ball
     in function  party:throws/1
        called as party:throws(ball)
-- status 1
EOF
expect 'an exit is printed, and the status is 1' run "$party" 'party:exits(enough)' <<'EOF'
-- stderr
** exception exit: enough
     in function  party:exits/1
        called as party:exits(enough)
-- status 1
EOF
expect 'a call of an undefined function is an error' run json 'json:decode(1, 2, 3)' <<'EOF'
-- stderr
** exception error: undefined function json:decode/3
-- status 1
EOF
expect 'a call of an unknown module is an error' run json 'jason:decode(1)' <<'EOF'
-- stderr
** exception error: undefined function jason:decode/1
-- status 1
EOF
expect 'a caught exception is a result' run "$party" 'catch party:exits(enough)' <<'EOF'
{'EXIT',enough}
EOF
expect 'a link ends the first process' run "$party" \
    'party:spawn(party, exits, [because], 1), party:await(5000)' <<'EOF'
-- stderr
** exception exit: because
-- status 1
EOF
expect 'an exit signal ends the first process' run "$party" 'party:signal(self(), kill), party:await(5000)' <<'EOF'
-- stderr
** exception exit: killed
-- status 1
EOF

# --- ends ---

expect 'spawned processes end with the first process' run "$party" \
    'party:spawns(100, party, server, [])' 'party:spawns(3, party, loop, [100000000000])' <<'EOF'
100
3
EOF
expect '--duration stops a server' run --duration=100ms "$party" 'before.' 'party:server()' 'after_it.' <<'EOF'
before
-- stderr
tracehost run: stopped after 0.1 s (--duration)
EOF
expect '--duration stops a process that never waits' run --duration=100ms "$party" 'party:loop(100000000000)' <<'EOF'
-- stderr
tracehost run: stopped after 0.1 s (--duration)
EOF
expect '--duration stops a receive' run --duration=100ms "$party" 'receive never -> ok end' <<'EOF'
-- stderr
tracehost run: stopped after 0.1 s (--duration)
EOF
expect '--duration stops an expression with a catch' run --duration=100ms "$party" 'catch party:server()' 'never.' <<'EOF'
-- stderr
tracehost run: stopped after 0.1 s (--duration)
EOF
expect 'a run that ends before --duration is not stopped' run --duration=1min "$party" 'party:echo(done)' <<'EOF'
done
EOF

# The signal is sent once the run waits.
expect 'SIGINT stops the run with status 130' patient tests/cli/lib/interrupt.py "$tracehost" run -t "text,output=$work/trace" "$party" \
    'party:loop(100000000000)' <<'EOF'
-- stderr
tracehost run: received SIGINT
-- status 130
EOF

# The run waits for a function that does not return, and a signal ends the wait.
cat >"$work/stuck.c" <<'C'
#include <erl_nif.h>
#include <signal.h>
#include <unistd.h>

static ERL_NIF_TERM sleeps(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int seconds = 0;

    enif_get_int(env, argv[argc - 1], &seconds);
    for (int i = 0; i < 20 * seconds; i++)
        usleep(50000);
    return argv[0];
}

static ERL_NIF_TERM crashes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    enif_fprintf(stdout, "%T\n", enif_make_tuple1(env, argv[0]));
    return *(volatile ERL_NIF_TERM *)16;
}

static ErlNifFunc functions[] = {{"sleeps", 1, sleeps, 0}, {"crashes", 1, crashes, 0}};
ERL_NIF_INIT(stuck, functions, NULL, NULL, NULL, NULL)
C
$CC -I plugin_api -DERL_NIF_MINOR_VERSION=16 -fPIC -shared -o "$work/stuck.so" "$work/stuck.c"
expect '--duration waits until a running function returns' \
    "$tracehost" run -t "text,output=$work/trace" --duration=300ms "$work/stuck.so" 'stuck:sleeps(3)' <<'EOF'
-- stderr
tracehost run: waiting for running functions to return; a signal ends the program at once
tracehost run: stopped after 0.3 s (--duration)
EOF
# at_once: sends the signal after the run has printed that it waits.
at_once() {
    "$tracehost" run -t "text,output=$work/trace" --duration=300ms "$work/stuck.so" 'stuck:sleeps(600)' &
    pid=$!
    until_so grep -q waiting "$work/stderr"
    kill -TERM $pid
    wait $pid 2>/dev/null
}
expect 'a signal ends the wait for a running function' at_once <<'EOF'
-- stderr
tracehost run: waiting for running functions to return; a signal ends the program at once
-- status 143
EOF

expect '--grace limits the wait for a function of another process' run --grace=300ms \
    "$work/stuck.so" "$party" 'party:spawn(stuck, sleeps, [600], 0).' 'timer:sleep(200).' <<'EOF'
<0.2.4096>
ok
-- stderr
tracehost run: stuck:sleeps/1 has not returned after 0.3 s; the program ends without it
-- status 6
EOF
spawned_in_call() {
    "$tracehost" call --grace=1300ms "$work/stuck.so" "$party" 'party:spawn(stuck, sleeps, [600], 0).' \
        'timer:sleep(200).'
}
expect '--grace of tracehost call limits the wait for a running function' spawned_in_call <<'EOF'
<0.2.4096>
ok
-- stderr
tracehost call: waiting for running functions to return; a signal ends the program at once
tracehost call: stuck:sleeps/1 has not returned after 1.3 s; the program ends without it
-- status 6
EOF
expect 'tracers write their output although a function does not return' run -t count --grace=300ms --duration=300ms \
    "$work/stuck.so" 'here.' 'stuck:sleeps(600)' <<'EOF'
      events       %  tag
           1  100.00  call
           1  100.00  all

       calls       %  function
           1  100.00  stuck:sleeps/1
here
-- stderr
tracehost run: stopped after 0.3 s (--duration)
tracehost run: stuck:sleeps/1 has not returned after 0.3 s; the program ends without it
-- status 6
EOF

case $BUILD_DIR in
*asan | *tsan) skip 'a crash names library and function' 'sanitizers report crashes themselves' ;;
*)
    expect 'a crash names library and function' run "$work/stuck.so" '"before".' 'stuck:crashes(x).' <<'EOF'
{x}
-- stderr
tracehost: library 'WORK/stuck.so' crashed: SIGSEGV, a bad memory access at address 0x10, in stuck:crashes/1
  argument 1: x
-- status 6
EOF
    ;;
esac

# --- tracers and sessions ---

cat >"$work/herald.c" <<'C'
#include <erl_tracer.h>

#include <stdio.h>

TH_TRACER_LOAD()
{
    (void)env, (void)priv_data, (void)load_info;
    printf("the tracer comes\n");
    return 0;
}

TH_TRACER_ENABLED(generic)
{
    if (tag == TH_TRACER_ATOM(env, trace_status) && enif_is_atom(env, tracee))
        enif_fprintf(stdout, "it begins, with state %T\n", state);
    return TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(generic)
{
    (void)env, (void)tag, (void)state, (void)tracee, (void)term, (void)opts;
}

TH_TRACER_UNLOAD()
{
    (void)env, (void)priv_data;
    printf("the tracer goes\n");
}
C
$CC -I plugin_api -fPIC -shared -o "$work/herald.so" "$work/herald.c"
expect 'results are printed after the output of tracers' "$tracehost" run --session one -t "$work/herald.so=1" \
    --session two -L "$work" -t herald=2 json 'json:encode([])' 'json:decode(no)' <<'EOF'
the tracer comes
it begins, with state 1
it begins, with state 2
the tracer goes
<<"[]">>
-- stderr
** exception error: bad argument
     in function  json:decode/1
        called as json:decode(no)
-- status 1
EOF
expect '--check reports misuse of the NIF API' run --check "$BUILD_DIR/tests/plugins/sins.so" 'sins:same(1)' 'catch sins:raise_and_return()' 'yes.' <<'EOF'
1
{'EXIT',{badarg,[{sins,raise_and_return,[],[{file,"tests/plugins/sins.c"},{line,N}]}]}}
yes
-- stderr
tracehost: check: sins:raise_and_return(): returns a term after raising an exception; the exception counts
-- status 1
EOF

# --- usage ---

expect 'run --help prints the options' "$tracehost" run --help <<'EOF'
Usage: tracehost run [OPTION...] LIBRARY... EXPRESSION...
Runs functions of NIF libraries under trace.
LIBRARY is a NIF library (NAME or ./PATH.so); EXPRESSION calls its functions.

Input:
  -f FILE                Evaluate FILE (- for stdin) before the EXPRESSIONs
      --load-info=TERM   Argument of the libraries' load() (default: 0)

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         (default: call,send,receive,procs,ports)
      --processes=LIST   Deliver only events of these processes: all (default),
                         existing (evaluates the EXPRESSIONs), new (spawned)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known
      --kind=LIST        local (all calls), global (external calls), meta
                         (calls by any process), count, time or memory
                         (default: local if possible, else global)

Tracers:
  -t, --tracer=TRACER    Load NAME, NAME=STATE or NAME,key=value,... (default:
                         text; repeatable; `tracehost tracers` lists names)
  -L DIR                 Search DIR first for libraries and tracers
      --watch            Replace a library or tracer when its file changes

Output:
      --stats            Print counts of all events on stderr at the end
      --format=FORMAT    Format of counts: text (default) or json
      --top[=T]          Show the most called functions every T (1s)
      --color=WHEN       Colours: always, never or auto (default)

Limits and exit status:
      --duration=T       Stop after T if the expressions take longer
      --schedulers=N     Run on N schedulers (default: one for each processor)
      --fail-on-loss     Exit with 4 if calls or events could not be delivered
      --grace=T          At the end, wait up to T for functions that run, else
                         exit with 6 (default: 10s)
      --callback-timeout=T
                         Exit with 6 if a callback takes longer than T

Other:
      --probe=PATTERN    Print hits of USDT probes such as efile_drv__*
      --check            Report misuse of the NIF API; if any, exit with 1
      --control=SOCKET   Accept commands of `tracehost ctl SOCKET`
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost run -p fib:fib/1 --return fib 'fib:fib(2)'
  tracehost run -t count json 'json:encode([1,2])'

--help=all shows all options; `man tracehost-run` describes them.
EOF
expect 'a run without an expression is refused' run json <<'EOF'
-- stderr
tracehost run: argument EXPRESSION is missing
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect 'a library that does not exist is refused' run jsn 'jsn:x()' <<'EOF'
-- stderr
tracehost run: there is no library 'jsn'
  looked for jsn.so in BUILD/lib/tracehost/plugins (built in)
  did you mean 'json'?
-- status 5
EOF
expect 'a tracer that does not exist is refused' run -t txt json 'json:encode(1)' <<'EOF'
-- stderr
tracehost run: there is no library 'txt'
  looked for txt.so in BUILD/lib/tracehost/tracers (built in)
  did you mean 'text'?
-- status 5
EOF
expect 'an expression that cannot be parsed is refused' run json 'json:encode(' <<'EOF'
-- stderr
tracehost run: cannot parse 'json:encode('
  line 1, column 13: expected an expression, found the end of the text
-- status 3
EOF
expect '--max-frames=0 is refused' run --max-frames=0 json 'a:b()' <<'EOF'
-- stderr
tracehost run: --max-frames must be at least 1, not '0'
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect '--schedulers=0 is refused' run --schedulers=0 json 'a:b()' <<'EOF'
-- stderr
tracehost run: --schedulers must be a number from 1 to 1024, not '0'
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect 'a negative --duration is refused' run --duration=-1 json 'a:b()' <<'EOF'
-- stderr
tracehost run: --duration must be a time of 0 or more, not '-1'
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect '--processes with a registered name is refused' run --processes=all,server json 'a:b()' <<'EOF'
-- stderr
tracehost run: --processes must be all, existing or new, not 'server', which does not exist yet
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect 'a pattern of an unknown module gives a warning' run -p jsn:_/_ --kind=count json 'json:encode(1)' <<'EOF'
<<"1">>
-- stderr
tracehost run: warning: -p jsn:_/_: there is no such function yet; did you mean 'json:_/_'?
tracehost run: -p jsn:_/_: no such function was loaded
EOF
expect 'a pattern without the flag call is refused' run --flags=send -p json:_/_ json 'a:b()' <<'EOF'
-- stderr
tracehost run: -p json:_/_ needs the flag call: add it to --flags=send
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF

finish
