#!/bin/sh
# Tests a program that embeds the host, opens a control socket for tracehost ctl, and watches the files of its
# tracers.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

case $BUILD_DIR in
*/release | */debug) ;;
*)
    skip 'ctl controls an embedding program' 'the sanitizer must be there before the program'
    finish
    ;;
esac

# The embedder calls math:square/1 until the test ends it. A session of its own counts; `ctl` may end that session.
cat >"$work/embedder.c" <<'C'
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <tracehost.h>

static atomic_bool ends;

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "embedder");
    exit(status);
}

static void must_not(enum tracehost_status status)
{
    printf("%d: %s\n", status, tracehost_error_link(0));
}

static void stop(void *context)
{
    atomic_store(&ends, true);
    (void)context;
}

static void report(void *context, const char *text)
{
    fprintf((FILE *)context, "reported: %s", text);
    fflush((FILE *)context);
}

static void ignore(void *context, const struct tracehost_event *event)
{
    (void)context;
    (void)event;
}

static void say_end(void *context)
{
    puts(context);
}

static void run(tracehost_host *host)
{
    static const struct timespec nap = {0, 1000 * 1000};
    struct tracehost_live_setup setup = {.size = sizeof setup};
    tracehost_live_function *square;
    tracehost_process *process;
    tracehost_live_process *live;
    ErlNifEnv *env = enif_alloc_env();

    must(tracehost_process_start(NULL, NULL, &process));
    setup.process = process;
    must(tracehost_live_function_begin(host, "math:square/1", &square));
    must(tracehost_live_begin(host, &setup, &live));
    for (int i = 0; !atomic_load(&ends); i++) {
        struct tracehost_live_frame frame;
        ERL_NIF_TERM argument = enif_make_int(env, i % 10);
        tracehost_live_call(live, square, &argument, true, NULL, &frame);
        tracehost_live_return(live, square, &frame, enif_make_int(env, i % 10 * (i % 10)));
        enif_clear_env(env);
        nanosleep(&nap, NULL);
    }
    tracehost_live_end(live);
    must(tracehost_live_function_end(square));
    tracehost_process_stop(process);
    enif_free_env(env);
}

int main(int argc, char **argv)
{
    struct tracehost_setup setup = {.size = sizeof setup, .live = true};
    struct tracehost_control_setup control = {.size = sizeof control, .path = argv[1]};
    struct tracehost_session_setup session_setup = {.size = sizeof session_setup, .tracer = "count", .name = "mine"};
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks, .context = "inside ended",
                                                  .trace = ignore, .end = say_end};
    const struct tracehost_session_setup inside = {.size = sizeof inside, .callbacks = &callbacks, .name = "inside"};
    tracehost_session session, other;
    tracehost_host *host;

    (void)argc;
    setup.live = false;
    must(tracehost_host_start(&setup, &host));
    control.program = "embedder";
    must_not(tracehost_control_open(host, &control)); /* its tracing is not shared */
    must(tracehost_control_close(host));
    must(tracehost_host_stop(host));
    setup.live = true;
    must(tracehost_host_start(&setup, &host));
    control.program = NULL;
    must_not(tracehost_control_open(host, &control));
    control.program = "embedder";
    control.path = NULL;
    must_not(tracehost_control_open(host, &control));
    control.path = "/nowhere/socket";
    must_not(tracehost_control_open(host, &control));
    control.path = argv[1];
    control.watch = true;
    control.stop = stop;
    control.report = report;
    control.context = stdout;
    must(tracehost_control_open(host, &control));
    must_not(tracehost_control_open(host, &control));
    must_not(tracehost_host_stop(host));
    fflush(stdout);
    tracehost_control_lock(host);
    must(tracehost_session_create(host, &session_setup, &session));
    must(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    must(tracehost_session_create(host, &inside, &other));
    tracehost_control_unlock(host);
    run(host);
    tracehost_control_lock(host);
    printf("its session is %s\n",
           tracehost_session_get_state(host, session) == TRACEHOST_SESSION_ALIVE ? "alive" : "gone");
    tracehost_control_unlock(host);
    must(tracehost_control_close(host));
    must(tracehost_control_close(host));
    must(tracehost_host_stop(host));
    puts("stopped");
    return 0;
}
C

# shellcheck disable=SC2046
check 'the embedding program compiles' \
    "$CC" -std=gnu11 -Wall -Werror -pthread $(PKG_CONFIG_PATH="$BUILD_DIR/lib/pkgconfig" pkg-config --cflags tracehost) \
    -o "$work/embedder" "$work/embedder.c" -L"$BUILD_DIR/lib" -ltracehost -Wl,-rpath,"$BUILD_DIR/lib"
begin "$work/embedder" "$socket"

member() { # PATH: of the JSON on stdin
    python3 -c 'import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[int(key)] if isinstance(value, list) else value[key]
print(json.dumps(value))' "$1"
}
answers() { ctl --json "$@"; }

check 'the answer of status conforms to its schema' eval 'answers status | conforms status'
expect 'status reports the name of the program' eval 'answers status | member result.program' <<'EOF2'
"embedder"
EOF2
expect 'sessions lists the session of the program' eval 'answers sessions | member result.sessions.0.title' <<'EOF2'
"mine"
EOF2
check 'the answer of processes conforms to its schema' eval 'answers processes | conforms processes'
expect 'processes lists the process of the program without a name' eval 'answers processes | member result.processes.0.name' <<'EOF2'
null
EOF2

expect 'attach creates a session' eval 'answers attach count --session=theirs --flags=call -p math:square/1 |
    member result.title' <<'EOF2'
"theirs"
EOF2
counts() { [ "$(answers info math:square/1 | member result.sessions.0.call_count)" -gt 0 ]; }
expect 'pattern sets a call count' eval 'answers pattern math:square/1 --kind=count --session=mine | member result.functions' <<'EOF2'
1
EOF2
check 'the call count grows' until_so counts
check 'the answer of info conforms to its schema' eval 'answers info math:square/1 | conforms info'
expect 'replace changes the tracer of a session' eval 'answers replace theirs text,output="$work/told" | member result.tracer' <<'EOF2'
"text"
EOF2
expect 'sessions lists the session whose tracer is in the program' eval 'answers sessions | member result.sessions.1.tracer' <<'EOF2'
"callbacks"
EOF2
check 'the answer of tracers conforms to its schema' eval 'answers tracers | conforms tracers'
expect 'tracers lists the tracer in the program' eval 'ctl tracers | tail -1 | tr -s " "' <<'EOF2'
callbacks 2 program 
EOF2
expect 'a tracer in the program is not replaced' ctl replace inside text <<'EOF2'
-- stderr
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'text'
  the session's tracer is no library: it cannot be replaced
-- status 2
EOF2
check 'a session whose tracer is in the program takes patterns' \
    ctl pattern math:square/1 --session=inside
expect 'load is refused, as an embedding host runs no code' ctl load bank <<'EOF2'
-- stderr
tracehost ctl: this host runs no code; `tracehost run` does
-- status 2
EOF2

# Another library takes the place of the tracer's.
cp "$BUILD_DIR/lib/tracehost/tracers/count.so" "$work/own.so"
expect 'attach accepts the path of a tracer' eval 'answers attach "$work/own.so" --session=own --flags=call | member result.title' <<'EOF2'
"own"
EOF2
cp "$BUILD_DIR/lib/tracehost/tracers/count.so" "$work/new.so"
mv "$work/new.so" "$work/own.so"
reported() { grep -q '^reported: ' "$work/host.out"; }
check 'a new file of a watched tracer is reported' until_so reported

detach() { ctl detach "$1" >/dev/null; }
check 'detach ends sessions, also that of the program' eval 'detach theirs && detach own && detach mine && detach inside'
check 'the new tracer of a replaced session gets calls' grep -q 'call math:square' "$work/told"
expect 'a second host at the same socket is refused' eval '"$tracehost" run --control="$socket" fib "fib:fib(1)" 2>&1 |
    sed "s|$work|WORK|; s/process [0-9]*/process N/"' <<'EOF2'
tracehost run: cannot serve --control=WORK/socket
  process N serves WORK/socket already: choose another name
EOF2
end >"$work/end"
# Tables of `count` are left out.
expect 'stop ends the program' eval "grep -v '^ \|^$' '$work/end' | sed 's|$work|WORK|'" <<'EOF2'
2: the host was not started with `live`
2: the name of the program is missing
2: a control needs `path` or `watch`
2: cannot serve /nowhere/socket
2: the host's control is open already
2: cannot stop the host: its control is open
reported: the new WORK/own.so is in use
inside ended
its session is gone
stopped
stderr: tracehost: warning: tracer 'WORK/own.so': its module is called tracehost_count
status 0
EOF2
check 'the socket is removed at the end' test ! -e "$socket"
finish
