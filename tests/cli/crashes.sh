#!/bin/sh
# Tests tracers that crash, hang or end the program: the report names tracer and event, and earlier output is
# complete.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
ulimit -c 0

# named COMMAND...: prints the output, without addresses that differ from run to run.
named() {
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/out"
    sed 's/ 0x[0-9a-f]\{6,\}/ ADDRESS/' "$work/err" >&2
    return $status
}
# crash SETTINGS ARGUMENT...
crash() {
    settings=$1
    shift
    named "$tracehost" replay -L "$samples" -t text -t "crash_tracer,$settings" "$@"
}

# --- kinds of crashes ---

expect 'SIGSEGV in a callback is reported' crash how=segv,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'SIGBUS in a callback is reported' crash how=bus,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGBUS, a bad memory access at address ADDRESS, in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'SIGFPE in a callback is reported' crash how=fpe,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGFPE, a bad arithmetic operation, in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'SIGILL in a callback is reported' crash how=ill,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGILL, a bad instruction, in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'abort() in a callback is reported' crash how=abort,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGABRT, it called abort(), in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'a callback that uses up the stack is reported' crash how=stack,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access: the stack is used up, in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'exit() in a callback is reported' crash how=exit,after=2 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' ended the program: exit(0), in trace_call
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'a callback that waits for ever is reported' crash how=hang,after=2 --callback-timeout=300ms "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' hangs: trace_call took more than 0.3 s
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
case $BUILD_DIR in
*/tsan) skip 'a callback that runs for ever is reported' 'this sanitizer holds signals back from code that makes no system call' ;;
*)
    expect 'a callback that runs for ever is reported' crash how=spin,after=2 --callback-timeout=300ms "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
-- stderr
tracehost: tracer 'crash_tracer' hangs: trace_call took more than 0.3 s
  record 3, at byte 162 of samples/recordings/s01_seed_local_caller.trace
  event: {trace,<0.79.0>,call,{ex,'of',[]},{ex,foo,0}}
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
    ;;
esac

# A sanitizer has its own report for a write past the heap.
damaged_heap() {
    crash how=heap "$calls" 2>&1 | grep -c "tracer 'crash_tracer' crashed: SIGABRT"
}
case $BUILD_DIR in
*/asan | */tsan) skip 'a damaged heap is reported' 'the sanitizer is quicker' ;;
*)
    expect 'a damaged heap is reported' damaged_heap <<'EOF'
1
EOF
    ;;
esac

# --- callbacks ---

# in_each STREAM CALLBACK...
in_each() {
    stream=$1
    shift
    for callback; do
        "$tracehost" replay -L "$samples" -t "crash_tracer,how=segv,in=$callback" "$stream" 2>&1 | cut -c 1-150
    done
}
expect 'a crash in a callback for processes is reported with its name' in_each "$recordings/s15_kitchen_sink.trace" enabled_call trace_call enabled_send trace_send \
    enabled_receive trace_receive enabled_procs trace_procs enabled_running_procs trace_running_procs \
    enabled_garbage_collection trace_garbage_collection <<'EOF'
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_call
  record 3, at byte 273 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,call,{wl,procs,[]},{small,'-main/0-fun-10-',0},1,{1795,233754,730750}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_call
  record 3, at byte 273 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,call,{wl,procs,[]},{small,'-main/0-fun-10-',0},1,{1795,233754,730750}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_send
  record 10, at byte 1193 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,send,die,<0.190.0>,1,{1795,233754,730765}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_send
  record 10, at byte 1193 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,send,die,<0.190.0>,1,{1795,233754,730765}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_receive
  record 2, at byte 86 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,'receive',{go,<0.9.0>,#Fun<small.7.108605527>},1,{1795,233754,730742}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_receive
  record 2, at byte 86 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,'receive',{go,<0.9.0>,#Fun<small.7.108605527>},1,{1795,233754,730742}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_procs
  record 4, at byte 393 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,register,wlme,1,{1795,233754,730753}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_procs
  record 4, at byte 393 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,register,wlme,1,{1795,233754,730753}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_running_procs
  record 1, at byte 0 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,in,{rec,w,0},1,{1795,233754,730735}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_running_procs
  record 1, at byte 0 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,in,{rec,w,0},1,{1795,233754,730735}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_garbage_collection
  record 84, at byte 9736 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,gc_minor_start,[{wordsize,0},{old_heap_block_size,0},{heap_block_size,233},{mbuf_size,44},{recent_size,0},{stack_size,23}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_garbage_collection
  record 84, at byte 9736 of samples/recordings/s15_kitchen_sink.trace
  event: {trace_ts,<0.189.0>,gc_minor_start,[{wordsize,0},{old_heap_block_size,0},{heap_block_size,233},{mbuf_size,44},{recent_size,0},{stack_size,23}
EOF
expect 'a crash in a callback for ports is reported with its name' in_each "$recordings/s06_ports.trace" enabled_ports trace_ports enabled_running_ports \
    trace_running_ports <<'EOF'
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_ports
  record 2, at byte 107 of samples/recordings/s06_ports.trace
  event: {trace_ts,#Port<0.11>,open,<0.111.0>,cat,{1795,233754,93267}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_ports
  record 2, at byte 107 of samples/recordings/s06_ports.trace
  event: {trace_ts,#Port<0.11>,open,<0.111.0>,cat,{1795,233754,93267}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled_running_ports
  record 3, at byte 210 of samples/recordings/s06_ports.trace
  event: {trace_ts,#Port<0.11>,in,open,{1795,233754,93270}}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_running_ports
  record 3, at byte 210 of samples/recordings/s06_ports.trace
  event: {trace_ts,#Port<0.11>,in,open,{1795,233754,93270}}
EOF
expect 'a crash in trace or enabled is reported with its name' in_each "$recordings/s10_seq_trace.trace" trace enabled <<'EOF'
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace
  record 1, at byte 0 of samples/recordings/s10_seq_trace.trace
  event: {seq_trace,{my,label},{print,{0,1},<0.134.0>,[],one},-576460751340469472}
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in enabled
EOF
expect 'a crash in unload() is reported' crash how=segv,in=unload --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost: tracer 'BUILD/samples/crash_tracer.so' crashed: SIGSEGV, a bad memory access at address 0x10, in unload
-- status 6
EOF
expect 'exit() in unload() is reported' crash how=exit,in=unload --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost: tracer 'BUILD/samples/crash_tracer.so' ended the program: exit(0), in unload
-- status 6
EOF
expect 'an unload() that hangs is reported' crash how=hang,in=unload --callback-timeout=300ms --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost: tracer 'BUILD/samples/crash_tracer.so' hangs: unload took more than 0.3 s
-- status 6
EOF
load() {
    CRASH_TRACER_LOAD=$1 crash how=segv --callback-timeout=300ms "$calls"
}
expect 'a crash in load() is reported' load abort <<'EOF'
-- stderr
tracehost: tracer 'BUILD/samples/crash_tracer.so' crashed: SIGABRT, it called abort(), in load
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF
expect 'a load() that hangs is reported' load hang <<'EOF'
-- stderr
tracehost: tracer 'BUILD/samples/crash_tracer.so' hangs: load took more than 0.3 s
tracehost replay: with --isolate the other tracers would go on
-- status 6
EOF

# Crashes in other code of a library.
cat >"$work/hostile.c" <<'EOF'
#include <erl_tracer.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int is(const char *what)
{
    return strcmp(getenv("HOSTILE"), what) == 0;
}

__attribute__((constructor)) static void construct(void)
{
    if (is("constructor"))
        abort();
}

static ErlNifResourceType *type;

static void destroy(ErlNifEnv *env, void *object)
{
    if (is("resource"))
        abort();
}

static void *work(void *unused)
{
    if (is("thread"))
        *(volatile int *)16 = 0;
    exit(7);
}

TH_TRACER_LOAD()
{
    pthread_t thread;

    type = enif_open_resource_type(env, NULL, "thing", destroy, ERL_NIF_RT_CREATE, NULL);
    if (is("thread") || is("thread's exit")) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    enif_release_resource(enif_alloc_resource(type, 8));
}
EOF
"$CC" -fPIC -shared -pthread -include string.h -Iplugin_api -o "$work/hostile.so" "$work/hostile.c"
hostile() {
    HOSTILE=$1 named "$tracehost" replay -L "$work" -t hostile --max-events=1 "$calls"
}
expect 'a tracer that does not crash ends with status 0' hostile nothing <<'EOF'
EOF
expect 'a crash in a constructor is reported' hostile constructor <<'EOF'
-- stderr
tracehost: tracer 'WORK/hostile.so' crashed: SIGABRT, it called abort(), in a constructor
-- status 6
EOF
expect 'a crash in the destructor of a resource is reported' hostile resource <<'EOF'
-- stderr
tracehost: tracer 'WORK/hostile.so' crashed: SIGABRT, it called abort(), in the destructor of thing
-- status 6
EOF
expect 'exit() in a thread of a tracer is reported' hostile "thread's exit" <<'EOF'
-- stderr
tracehost: a thread of a tracer ended the program: exit(7)
-- status 6
EOF
examined() {
    HOSTILE=constructor named "$tracehost" tracers "$work/hostile.so"
}
expect 'tracehost tracers reports a crash in a constructor' examined <<'EOF'
-- stderr
tracehost: tracer 'WORK/hostile.so' crashed: SIGABRT, it called abort(), in a constructor
-- status 6
EOF

# --- crashes outside of callbacks ---

case $BUILD_DIR in
*/release | */debug)
    expect 'a crash in a thread of a tracer is reported' hostile thread <<'EOF'
-- stderr
tracehost: a thread of WORK/hostile.so crashed: SIGSEGV, a bad memory access at address 0x10
-- status 6
EOF
    expect 'a crash between callbacks is not reported' tests/cli/lib/send_signals.py SEGV "$calls" 200 "$tracehost" replay - <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
-- status 139
EOF
    ;;
*)
    skip 'a crash in a thread of a tracer is reported' 'it is the sanitizer that reports it'
    skip 'a crash between callbacks is not reported' 'it is the sanitizer that reports it'
    ;;
esac

# --- reports and kept output ---

expect 'the report names stdin as the stream' named sh -c '"$0" replay -L "$1" -t crash_tracer=segv - <"$2"' "$tracehost" "$samples" \
    "$calls" <<'EOF'
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_call
  record 1, at byte 0 of stdin
  event: {trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}
-- status 6
EOF
expect 'the report names the file of a wrap set' "$tracehost" replay -L "$samples" -t crash_tracer,how=segv,after=60 \
    "$recordings/wrap/w*.log" <<'EOF'
-- stderr
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_call
  record 61, at byte 729 of samples/recordings/wrap/w2.log
  event: {trace,<0.242.0>,call,{wl,id,[{n,377}]}}
-- status 6
EOF
expect 'a crash at a long event is reported' in_each "$recordings/s21_ip_drop_extract.trace" trace_call <<'EOF'
tracehost: tracer 'crash_tracer' crashed: SIGSEGV, a bad memory access at address 0x10, in trace_call
  record 1, at byte 0 of samples/recordings/s21_ip_drop_extract.trace
  event: {trace,<0.81.0>,call,{wl,id,[{738,"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
EOF

kept() {
    "$tracehost" replay -L "$samples" -t "text,output=$work/log" -t msg -t crash_tracer,how=segv,in=trace_send,after=3 \
        "$recordings/s04_genserver_pingpong.trace" 2>"$work/err"
    grep send "$work/log"
}
expect 'output of other tracers before a crash is complete' kept <<'EOF'
<0.95.0> -> <0.94.0>
<0.94.0> -> <0.95.0>
<0.95.0> -> #Ref<0.3774324694.940638210.141746>
<0.94.0> -> <0.95.0>
0.000041 <0.95.0>   send {ack,<0.95.0>,{ok,<0.95.0>}} -> <0.94.0>
0.000053 <0.94.0>   send {'$gen_call',{<0.94.0>,[alias|#Ref<0.3774324694.940638210.141746>]},{ping,1}} -> <0.95.0>
0.000070 <0.95.0>   send {[alias|#Ref<0.3774324694.940638210.141746>],{pong,1}} -> #Ref<0.3774324694.940638210.141746>
0.000085 <0.94.0>   send {'$gen_call',{<0.94.0>,[alias|#Ref<0.3774324694.940638210.141747>]},{ping,2}} -> <0.95.0>
EOF

quick() {
    "$tracehost" replay -t count,top=1 --callback-timeout=2s "$recordings/s04_genserver_pingpong.trace" | tail -n 1
}
expect 'callbacks shorter than --callback-timeout are not reported' quick <<'EOF'
         396   90.62  29 more
EOF
expect '--callback-timeout that is not a time is refused' "$tracehost" replay --callback-timeout=never "$calls" <<'EOF'
-- stderr
tracehost replay: --callback-timeout must be a time such as 1.5, 250ms, 10us or 2min, not 'never'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

# --- frames ---

cat >"$work/deep.c" <<'EOF'
#include <erl_nif.h>

static volatile int *nowhere;

static __attribute__((noinline)) void deeper(int n)
{
    *nowhere = n;
    nowhere++;
}

static ERL_NIF_TERM falls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    deeper(argc);
    return argv[0];
}

static ErlNifFunc functions[] = {{"falls", 1, falls, 0}};

ERL_NIF_INIT(deep, functions, NULL, NULL, NULL, NULL)
EOF
(cd "$work" && "$CC" -g -O1 -fPIC -shared -I"$OLDPWD/plugin_api" -o deep.so deep.c)
fallen() {
    "$tracehost" call "$work/deep.so" 'deep:falls(1)' 2>"$work/report"
    sed -n 's/+0x[0-9a-f]*/+OFFSET/; s/^  \(at .*\)/\1/p' "$work/report"
    eval "$(sed -n 's/^  lines: //p' "$work/report")"
}
expect 'the report has frames and a command that prints their lines' fallen <<'EOF'
at deep:deeper (WORK/deep.so+OFFSET)
at deep:falls/1 (WORK/deep.so+OFFSET)
deeper
WORK/deep.c:7
falls
WORK/deep.c:13
EOF

finish
