/* The NIF library `placeholder`: a function of a list, and counters that live outside of Erlang's
 * heaps. */
#include <erl_nif.h>

#include <stdatomic.h>

/* Functions run in several threads at once, so data that change are atomic or have a lock. */
struct counter {
    atomic_long value;
};

static ErlNifResourceType *counter_type; /* written by load and upgrade only */

/* sum(Integers) -> Integer. A term is valid until the function returns; to keep one, copy it into
 * an environment of enif_alloc_env(). */
static ERL_NIF_TERM sum(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM head, tail = argv[0];
    long number, total = 0;

    (void)argc;
    while (enif_get_list_cell(env, tail, &head, &tail))
        if (!enif_get_long(env, head, &number) || __builtin_add_overflow(total, number, &total))
            return enif_make_badarg(env); /* an exception: return its result at once */
    if (!enif_is_empty_list(env, tail))
        return enif_make_badarg(env);
    return enif_make_long(env, total);
}

/* new() -> Counter */
static ERL_NIF_TERM new_counter(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct counter *counter = enif_alloc_resource(counter_type, sizeof *counter);
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    if (!counter)
        return enif_raise_exception(env, enif_make_atom(env, "enomem"));
    atomic_init(&counter->value, 0);
    term = enif_make_resource(env, counter);
    enif_release_resource(counter); /* the term holds the only reference from now on */
    return term;
}

/* add(Counter, Integer) -> the new value */
static ERL_NIF_TERM add(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object;
    struct counter *counter;
    long number, before;

    (void)argc;
    if (!enif_get_resource(env, argv[0], counter_type, &object) ||
        !enif_get_long(env, argv[1], &number))
        return enif_make_badarg(env);
    counter = object;
    before = atomic_fetch_add(&counter->value, number);
    return enif_make_long(env, (long)((unsigned long)before + (unsigned long)number));
}

/* Runs when the last reference to a counter is gone. Here a counter owns nothing to be freed. */
static void counter_ends(ErlNifEnv *env, void *object)
{
    (void)env;
    (void)object;
}

/* Runs before the first call. INFO is the second argument of erlang:load_nif(), --load-info in
 * tracehost. */
static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)private_data;
    (void)info;
    counter_type = enif_open_resource_type(env, NULL, "counter", counter_ends,
                                           ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
    return counter_type == NULL; /* any value but 0: the library is refused */
}

/* Runs instead of load when this version replaces an older one, whose counters it takes over. If
 * struct counter changes, add() must know both. */
static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    (void)old_private_data;
    return load(env, private_data, info);
}

/* A function that may take longer than a millisecond, as one of a long list, runs in a thread for
 * such functions: on a scheduler it would stop all processes of that scheduler. */
static ErlNifFunc functions[] = {
    {"sum", 1, sum, ERL_NIF_DIRTY_JOB_CPU_BOUND}, {"new", 0, new_counter, 0}, {"add", 2, add, 0}};

ERL_NIF_INIT(placeholder, functions, load, NULL, upgrade, NULL)
