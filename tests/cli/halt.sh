#!/bin/sh
# Tests callbacks of libraries at the program's end: options of enif_set_option().
. tests/cli/lib/assertions.sh

cat >"$work/ending.c" <<'EOF'
#include <erl_nif.h>
#include <stdio.h>

static void say(const char *what, void *data)
{
    printf("%s %s\n", what, (const char *)data);
    fflush(stdout);
}

static void on_halt(void *data)
{
    say("on_halt", data);
}

static void on_unload_thread(void *data)
{
    say("on_unload_thread", data);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    *data = "with its data";
    return enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) ||
           enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) ||
           enif_set_option(env, ERL_NIF_OPT_ON_UNLOAD_THREAD, on_unload_thread);
}

static void unload(ErlNifEnv *env, void *data)
{
    say("unload", data);
}

static ERL_NIF_TERM answer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_atom(env, "trace");
}

/* 0 where load() would be given it: too late. */
static ERL_NIF_TERM set_late(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_atom(env, enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) ? "too_late" : "set");
}

static ErlNifFunc functions[] = {
    {"enabled", 3, answer, 0}, {"trace", 5, answer, 0}, {"set_late", 0, set_late, 0}};
ERL_NIF_INIT(ending, functions, load, NULL, NULL, unload)
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/ending.so" "$work/ending.c"

expect 'a replay calls on_halt, on_unload_thread and unload once' "$tracehost" replay -t "$work/ending.so" "$recordings/s01_seed_local_caller.trace" <<'EOF'
on_halt with its data
on_unload_thread with its data
unload with its data
EOF
expect 'call --threads=3 calls on_unload_thread three times' "$tracehost" call --threads=3 "$work/ending.so" 'ending:set_late().' <<'EOF'
too_late
on_halt with its data
on_unload_thread with its data
on_unload_thread with its data
on_unload_thread with its data
unload with its data
-- stderr
tracehost call: 3 rounds in 3 processes, 0 evaluations failed
EOF
at_sigint() {
    tests/cli/lib/interrupt.py "$tracehost" call --repeat=1000000000 "$work/ending.so" 'ok.' 2>"$work/errors"
}
expect 'SIGINT calls on_halt, on_unload_thread and unload' at_sigint <<'EOF'
ok
on_halt with its data
on_unload_thread with its data
unload with its data
-- status 130
EOF
refused() {
    "$tracehost" replay -t "$work/ending.so" -t "$work/nothing.so" "$recordings/s01_seed_local_caller.trace" 2>"$work/errors"
}
expect 'an attached tracer gets the callbacks of the end if the next one is refused' refused <<'EOF'
on_halt with its data
on_unload_thread with its data
unload with its data
-- status 5
EOF

cat >"$work/busy.c" <<'EOF'
#include <erl_nif.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int begun, halts;

static void on_halt(void *data)
{
    halts = 1;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    return enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt);
}

static ERL_NIF_TERM work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    for (begun = 1; !halts;)
        usleep(1000);
    puts("work has heard of it");
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM wait(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    while (!begun)
        usleep(1000);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"work", 0, work, ERL_NIF_DIRTY_JOB_IO_BOUND}, {"wait", 0, wait, ERL_NIF_DIRTY_JOB_IO_BOUND}};
ERL_NIF_INIT(busy, functions, load, NULL, NULL, NULL)
EOF
"$CC" -fPIC -shared -Iplugin_api -o "$work/busy.so" "$work/busy.c"
expect 'on_halt is called while a function of another process runs' "$tracehost" run -t "count,output=$work/counts" \
    "$BUILD_DIR/tests/plugins/party.so" "$work/busy.so" 'party:spawns(1, busy, work, []), busy:wait().' <<'EOF'
work has heard of it
ok
EOF

finish
