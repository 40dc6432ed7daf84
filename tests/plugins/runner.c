/* Functions that report how they were run. */
#include "runner.h"

#include <erl_nif.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct runner runner;

static ErlNifResourceType *type;

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

static int integer(ErlNifEnv *env, ERL_NIF_TERM term)
{
    int value;

    return enif_get_int(env, term, &value) ? value : -1;
}

/* --- Results --------------------------------------------------------------------------------- */

NIF(add)
{
    long a, b;

    (void)argc;
    if (!enif_get_long(env, argv[0], &a) || !enif_get_long(env, argv[1], &b))
        return enif_make_badarg(env);
    return enif_make_long(env, a + b);
}

NIF(echo)
{
    (void)env;
    (void)argc;
    return argv[0];
}

NIF(fail)
{
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

NIF(fail_and_return)
{
    (void)argc;
    enif_raise_exception(env, argv[0]);
    return argv[0];
}

NIF(nothing)
{
    (void)env;
    (void)argc;
    (void)argv;
    return 0;
}

/* Returns {Self, whether it is alive, private data as a number}. */
NIF(surroundings)
{
    ErlNifPid self;

    (void)argc;
    (void)argv;
    if (!enif_self(env, &self))
        return enif_make_badarg(env);
    return enif_make_tuple3(env, enif_make_pid(env, &self),
                            enif_make_int(env, enif_is_current_process_alive(env)),
                            enif_make_ulong(env, (unsigned long)enif_priv_data(env)));
}

/* Returns the type of the thread. */
NIF(where)
{
    (void)argc;
    (void)argv;
    return enif_make_int(env, enif_thread_type());
}

/* --- Chains ---------------------------------------------------------------------------------- */

/* hop(Flags, Seen): schedules itself with each flag; returns its threads' types, last first. */
NIF(hop)
{
    ERL_NIF_TERM head, next[2];

    next[1] = enif_make_list_cell(env, enif_make_int(env, enif_thread_type()), argv[1]);
    if (!enif_get_list_cell(env, argv[0], &head, &next[0]))
        return next[1];
    return enif_schedule_nif(env, "hop", integer(env, head), hop, argc, next);
}

/* count(N, Kept): N steps, each of which makes garbage; returns Kept. */
NIF(count)
{
    ERL_NIF_TERM next[2] = {0, argv[1]};
    int left = integer(env, argv[0]);

    if (left == 0)
        return argv[1];
    for (int i = 0; i < 20; i++)
        enif_make_tuple3(env, argv[0], argv[1], argv[0]);
    next[0] = enif_make_int(env, left - 1);
    return enif_schedule_nif(env, "count", 0, count, argc, next);
}

/* binaries(N): N steps, each of which makes a binary of a megabyte. */
NIF(binaries)
{
    int left = integer(env, argv[0]);
    ErlNifBinary binary;
    ERL_NIF_TERM next;

    if (left == 0)
        return enif_make_atom(env, "ok");
    if (!enif_alloc_binary(1 << 20, &binary))
        return enif_make_badarg(env);
    memset(binary.data, left, binary.size);
    enif_make_binary(env, &binary);
    next = enif_make_int(env, left - 1);
    return enif_schedule_nif(env, "binaries", 0, binaries, argc, &next);
}

/* tick(Who, N, Percent): notes Who and uses up Percent of the turn, N times. */
NIF(tick)
{
    int left = integer(env, argv[1]);
    ERL_NIF_TERM next[3] = {argv[0], enif_make_int(env, left - 1), argv[2]};

    if (left == 0)
        return enif_make_atom(env, "ok");
    runner.ticks[runner.tick_count++ % RUNNER_TICKS] = integer(env, argv[0]);
    enif_consume_timeslice(env, integer(env, argv[2]));
    return enif_schedule_nif(env, "tick", 0, tick, argc, next);
}

/* consume(Percent): returns the results of five calls of enif_consume_timeslice(). */
NIF(consume)
{
    ERL_NIF_TERM said[5];

    (void)argc;
    for (int i = 0; i < 5; i++)
        said[i] = enif_make_int(env, enif_consume_timeslice(env, integer(env, argv[0])));
    return enif_make_list_from_array(env, said, 5);
}

/* Waits until the test sets `open`. */
NIF(wait)
{
    (void)argc;
    (void)argv;
    runner.waiting++;
    while (!runner.open)
        sched_yield();
    return enif_make_atom(env, "ok");
}

/* --- Refusals of enif_schedule_nif(), and results beside it ----------------------------------- */

NIF(schedule_flags)
{
    (void)argc;
    return enif_schedule_nif(env, "where", integer(env, argv[0]), where, 0, NULL);
}

NIF(schedule_name)
{
    char name[400];
    int length = integer(env, argv[0]);

    (void)argc;
    memset(name, 'a', (size_t)length);
    name[length] = '\0';
    return enif_schedule_nif(env, name, 0, where, 0, NULL);
}

NIF(arguments)
{
    ERL_NIF_TERM list = enif_make_list_from_array(env, argv, (unsigned)argc);

    return list;
}

NIF(schedule_arguments)
{
    ERL_NIF_TERM many[300];

    (void)argc;
    for (int i = 0; i < 300; i++)
        many[i] = enif_make_int(env, i);
    return enif_schedule_nif(env, "arguments", 0, arguments, integer(env, argv[0]), many);
}

NIF(schedule_elsewhere)
{
    ErlNifEnv *other = enif_alloc_env();
    ERL_NIF_TERM answer = enif_schedule_nif(other, "where", 0, where, 0, NULL);
    ERL_NIF_TERM reason = enif_make_atom(env, "none");

    (void)argc;
    (void)argv;
    if (enif_is_exception(other, answer))
        enif_has_pending_exception(other, &reason);
    enif_free_env(other);
    return reason;
}

NIF(schedule_twice)
{
    enif_schedule_nif(env, "where", 0, where, 0, NULL);
    return enif_schedule_nif(env, "echo", 0, echo, argc, argv);
}

NIF(schedule_and_return)
{
    enif_schedule_nif(env, "where", 0, where, 0, NULL);
    (void)argc;
    return argv[0];
}

NIF(schedule_and_fail)
{
    enif_schedule_nif(env, "where", 0, where, 0, NULL);
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

NIF(fail_and_schedule)
{
    enif_make_badarg(env);
    return enif_schedule_nif(env, "echo", 0, echo, argc, argv);
}

/* --- Resources ------------------------------------------------------------------------------- */

static void destroy(ErlNifEnv *env, void *object)
{
    (void)env;
    (void)object;
    runner.destroyed_on = enif_thread_type();
    runner.destroyed++;
}

/* Returns a resource to which only the result refers. */
NIF(hold)
{
    void *object = enif_alloc_resource(type, 16);
    ERL_NIF_TERM term = enif_make_resource(env, object);

    (void)argc;
    (void)argv;
    enif_release_resource(object);
    return term;
}

/* Creates a resource without references. */
NIF(let_go)
{
    hold(env, argc, argv);
    return enif_make_int(env, runner.destroyed);
}

static void *release(void *object)
{
    enif_release_resource(object);
    return enif_thread_type() == ERL_NIF_THR_UNDEFINED ? NULL : object;
}

/* Creates a resource whose last reference another thread releases. */
NIF(let_go_elsewhere)
{
    pthread_t thread;
    void *wrong;

    (void)argc;
    (void)argv;
    if (pthread_create(&thread, NULL, release, enif_alloc_resource(type, 16)))
        return enif_make_badarg(env);
    pthread_join(thread, &wrong);
    return wrong ? enif_make_badarg(env) : enif_make_atom(env, "ok");
}

/* --- Ends of the program --------------------------------------------------------------------- */

/* Sanitizers must not report this before the host does. */
#define UNSANITIZED __attribute__((no_sanitize("undefined")))

static UNSANITIZED void touch(int *nowhere)
{
    int *volatile place = nowhere;

    *place = 0;
}

static volatile int deep;

static __attribute__((noinline)) int recurse(int depth) /* NOLINT */
{
    volatile char block[1000];

    block[0] = (char)depth;
    if (depth >= 0)
        deep = recurse(depth + 1) + block[0];
    return deep;
}

/* crash(How, ...) */
NIF(crash)
{
    char how[16];

    (void)argc;
    if (!enif_get_atom(env, argv[0], how, sizeof how, ERL_NIF_LATIN1))
        return enif_make_badarg(env);
    if (strcmp(how, "segv") == 0)
        touch((int *)16);
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "exit") == 0)
        exit(3);
    else if (strcmp(how, "stack") == 0)
        recurse(0);
    return enif_make_badarg(env);
}

/* Like crash(), in a scheduled function. */
NIF(crash_later)
{
    return enif_schedule_nif(env, "later", integer(env, argv[1]), crash, argc, argv);
}

/* Like crash_later(), with an argument that is no valid term. */
NIF(crash_wild)
{
    ERL_NIF_TERM wild[2] = {enif_make_atom(env, "segv"), 0x12};

    (void)argc;
    (void)argv;
    return enif_schedule_nif(env, "wild", 0, crash, 2, wild);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)info;
    type = enif_open_resource_type(env, NULL, "kept", destroy, ERL_NIF_RT_CREATE, NULL);
    *private_data = (void *)77;
    return type ? 0 : 1;
}

static ErlNifFunc functions[] = {
    {"add", 2, add, 0},
    {"echo", 1, echo, 0},
    {"fail", 1, fail, 0},
    {"fail_and_return", 1, fail_and_return, 0},
    {"nothing", 0, nothing, 0},
    {"surroundings", 0, surroundings, 0},
    {"where", 0, where, 0},
    {"where_dirty_cpu", 0, where, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"where_dirty_io", 0, where, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"hop", 2, hop, 0},
    {"hop_dirty", 2, hop, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"count", 2, count, 0},
    {"binaries", 1, binaries, 0},
    {"tick", 3, tick, 0},
    {"consume", 1, consume, 0},
    {"consume_dirty", 1, consume, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"wait", 0, wait, 0},
    {"wait_dirty", 0, wait, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"schedule_flags", 1, schedule_flags, 0},
    {"schedule_name", 1, schedule_name, 0},
    {"schedule_arguments", 1, schedule_arguments, 0},
    {"schedule_elsewhere", 0, schedule_elsewhere, 0},
    {"schedule_twice", 1, schedule_twice, 0},
    {"schedule_and_return", 1, schedule_and_return, 0},
    {"schedule_and_fail", 1, schedule_and_fail, 0},
    {"fail_and_schedule", 1, fail_and_schedule, 0},
    {"hold", 0, hold, 0},
    {"hold_dirty", 0, hold, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"let_go", 0, let_go, 0},
    {"let_go_dirty", 0, let_go, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"let_go_elsewhere", 0, let_go_elsewhere, 0},
    {"crash", 1, crash, 0},
    {"crash_dirty", 1, crash, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"crash_later", 2, crash_later, 0},
    {"crash_wild", 1, crash_wild, 0},
};
ERL_NIF_INIT(runner, functions, load, NULL, NULL, NULL)
