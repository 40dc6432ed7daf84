/* A tracer with crashes that need known records: the state, an atom, selects one. */
#include <erl_tracer.h>
#include <nif_module.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int seen_first, seen_unlink, steps, calls, helped;

static __attribute__((noinline)) void crash(void)
{
    *(volatile int *)16 = 0;
}

/* --- Terms of a callback --- */

static int is_atom(ErlNifEnv *env, ERL_NIF_TERM term, const char *name)
{
    return enif_is_identical(term, enif_make_atom(env, name));
}

/* True if TERM is {Module, Function, Arguments}. */
static int is_call(ErlNifEnv *env, ERL_NIF_TERM term, const char *module, const char *function,
                   ERL_NIF_TERM *arguments)
{
    const ERL_NIF_TERM *e;
    int arity;

    if (!enif_get_tuple(env, term, &arity, &e) || arity != 3 || !is_atom(env, e[0], module) ||
        !is_atom(env, e[1], function))
        return 0;
    if (arguments)
        *arguments = e[2];
    return 1;
}

static int has_boom(ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head;
    int arity;

    if (is_atom(env, term, "boom"))
        return 1;
    if (enif_get_tuple(env, term, &arity, &e))
        for (int i = 0; i < arity; i++)
            if (has_boom(env, e[i]))
                return 1;
    while (enif_get_list_cell(env, term, &head, &term))
        if (has_boom(env, head))
            return 1;
    return 0;
}

/* The size of the first binary in a tuple of three. */
static size_t binary_size(ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *e;
    ErlNifBinary binary;
    int arity;

    if (!enif_get_tuple(env, term, &arity, &e) || arity != 3 ||
        !enif_inspect_binary(env, e[1], &binary))
        return 0;
    return binary.size;
}

/* The number of pairs that are nested in the second element. */
static int depth(ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *e;
    int arity, deep = 0;

    for (; enif_get_tuple(env, term, &arity, &e) && arity == 2; term = e[1])
        deep++;
    return deep;
}

static int argument_is_bad(ErlNifEnv *env, ERL_NIF_TERM arguments)
{
    ERL_NIF_TERM first, rest;
    const ERL_NIF_TERM *e;
    int arity, number;

    return enif_get_list_cell(env, arguments, &first, &rest) &&
           enif_get_tuple(env, first, &arity, &e) && arity == 3 && is_atom(env, e[0], "key") &&
           enif_get_int(env, e[1], &number) && number > 1000;
}

static int first_is_long(ErlNifEnv *env, ERL_NIF_TERM arguments)
{
    ERL_NIF_TERM first, rest;
    unsigned length;

    return enif_get_list_cell(env, arguments, &first, &rest) &&
           enif_get_list_length(env, first, &length) && length >= 5;
}

/* --- The crashes --- */

/* Crashes in one place for a bad argument, in another one for any other. */
static void crash_at_argument(ErlNifEnv *env, ERL_NIF_TERM arguments)
{
    if (argument_is_bad(env, arguments))
        crash();
    abort();
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* Leaves a file at its first call: the crash comes once. */
static void crash_once(void)
{
    FILE *file = fopen(getenv("PLANTED_FILE"), "r");

    if (file) {
        fclose(file);
        return;
    }
    file = fopen(getenv("PLANTED_FILE"), "w");
    fclose(file);
    crash();
}

TH_TRACER_LOAD()
{
    pthread_t thread;

    return getenv("PLANTED_THREAD") ? pthread_create(&thread, NULL, sleep_for_ever, NULL) : 0;
}

TH_TRACER_ENABLED(generic)
{
    if (is_atom(env, state, "trace_status") && is_atom(env, tag, "trace_status"))
        crash();
    helped |= is_atom(env, state, "helper");
    return TH_TRACER_ATOM(env, trace);
}

/* Required; not called here. */
TH_TRACER_TRACE(generic)
{
}

TH_TRACER_ENABLED(call)
{
    if (is_atom(env, state, "enabled") && ++calls == 3)
        crash();
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(call)
{
    ERL_NIF_TERM arguments, outcome;
    const ERL_NIF_TERM *e;
    int arity;

    if (is_atom(env, state, "one") && is_call(env, term, "spec", "first", NULL))
        crash();
    if (is_atom(env, state, "two")) {
        seen_first |= is_call(env, term, "spec", "first", NULL);
        if (seen_first && is_call(env, term, "spec", "second", NULL))
            crash();
    }
    if (is_atom(env, state, "argument") && is_call(env, term, "spec", "argument", &arguments) &&
        argument_is_bad(env, arguments))
        crash();
    if (is_atom(env, state, "place") && is_call(env, term, "spec", "argument", &arguments))
        crash_at_argument(env, arguments);
    if (is_atom(env, state, "list") && is_call(env, term, "spec", "list", &arguments) &&
        first_is_long(env, arguments))
        crash();
    if (is_atom(env, state, "often") && is_call(env, term, "x", "x", NULL) &&
        ++calls == atoi(getenv("PLANTED_CALLS")))
        crash();
    if (is_atom(env, state, "hang") && is_call(env, term, "spec", "slow", NULL))
        sleep_for_ever(NULL);
    if (is_atom(env, state, "exit") && is_call(env, term, "spec", "leave", NULL))
        exit(0);
    if (is_atom(env, state, "immediate") && is_call(env, term, "spec", "immediate", NULL))
        _exit(0);
    if (is_atom(env, state, "raw") && is_call(env, term, "spec", "raw", NULL))
        syscall(SYS_exit_group, 0);
    if (is_atom(env, state, "killed") && is_call(env, term, "spec", "raw", NULL))
        abort();
    if (is_atom(env, state, "alarm") && is_call(env, term, "spec", "raw", NULL))
        raise(SIGALRM);
    if (is_atom(env, state, "thread") && is_call(env, term, "spec", "threaded", NULL))
        crash();
    if (is_atom(env, state, "both") && helped && is_call(env, term, "spec", "both", NULL))
        crash();
    if (is_atom(env, state, "once") && is_call(env, term, "spec", "first", NULL))
        crash_once();
    if (is_atom(env, state, "external") && is_call(env, term, "spec", "second", NULL) &&
        th_call_fact(env, TH_CALL_EXTERNAL) == 1)
        crash();
    if (is_atom(env, state, "exception") && is_atom(env, tag, "exception_from") &&
        enif_get_map_value(env, opts, enif_make_atom(env, "extra"), &outcome) &&
        enif_get_tuple(env, outcome, &arity, &e) && is_atom(env, e[0], "error"))
        abort();
}

TH_TRACER_TRACE(send)
{
    ERL_NIF_TERM value;

    if (is_atom(env, state, "nested") && has_boom(env, term))
        crash();
    if (is_atom(env, state, "map") &&
        enif_get_map_value(env, term, enif_make_atom(env, "key"), &value))
        crash();
}

TH_TRACER_TRACE(receive)
{
    if (is_atom(env, state, "binary") && binary_size(env, term) > 4096)
        crash();
    if (is_atom(env, state, "deep") && depth(env, term) >= 4)
        crash();
}

TH_TRACER_TRACE(procs)
{
    if (is_atom(env, state, "name") && is_atom(env, tag, "register") &&
        is_atom(env, term, "victim"))
        crash();
    if (is_atom(env, state, "reason") && is_atom(env, tag, "exit"))
        crash();
    if (is_atom(env, state, "order")) {
        seen_unlink |= is_atom(env, tag, "unlink");
        if (seen_unlink && is_atom(env, tag, "link"))
            crash();
    }
    if (is_atom(env, state, "ten")) {
        steps = is_atom(env, tag, "unregister") ? 0 : steps + is_atom(env, tag, "register");
        if (steps == 10)
            crash();
    }
}

TH_TRACER_TRACE(garbage_collection)
{
    if (is_atom(env, state, "collection") && is_atom(env, tag, "gc_major_end"))
        crash();
}
