/* A NIF library: counters that live outside of Erlang's heaps. The module is `counter`. */
#include <erl_nif.h>

static ErlNifResourceType *counter_type;

struct counter {
    long value; /* used by one process; several would need a lock */
    int watched;
    ErlNifPid watcher;
};

/* {ok, Counter} = new() */
static ERL_NIF_TERM new_counter(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct counter *counter = enif_alloc_resource(counter_type, sizeof *counter);
    ERL_NIF_TERM term = enif_make_resource(env, counter);

    (void)argc;
    (void)argv;
    counter->value = 0;
    counter->watched = 0;
    enif_release_resource(counter); /* the term holds a reference */
    return enif_make_tuple2(env, enif_make_atom(env, "ok"), term);
}

/* add(Counter, N) -> the new value */
static ERL_NIF_TERM add(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object;
    struct counter *counter;
    long n;

    (void)argc;
    if (!enif_get_resource(env, argv[0], counter_type, &object) || !enif_get_long(env, argv[1], &n))
        return enif_make_badarg(env);
    if (n < 0)
        return enif_raise_exception(
            env, enif_make_tuple2(env, enif_make_atom(env, "negative"), argv[1]));
    counter = object;
    counter->value += n;
    if (counter->watched)
        enif_send(env, &counter->watcher, NULL,
                  enif_make_tuple2(env, enif_make_atom(env, "counter"),
                                   enif_make_long(env, counter->value)));
    return enif_make_long(env, counter->value);
}

/* watch(Counter): sends each new value to the calling process, as {counter, Value} */
static ERL_NIF_TERM watch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object;
    struct counter *counter;

    (void)argc;
    if (!enif_get_resource(env, argv[0], counter_type, &object))
        return enif_make_badarg(env);
    counter = object;
    enif_self(env, &counter->watcher);
    counter->watched = 1;
    return enif_make_atom(env, "ok");
}

static void counter_ends(ErlNifEnv *env, void *object)
{
    struct counter *counter = object;

    (void)env;
    enif_fprintf(stdout, "a counter ends at %ld\n", counter->value);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)private_data;
    (void)info;
    counter_type =
        enif_open_resource_type(env, NULL, "counter", counter_ends, ERL_NIF_RT_CREATE, NULL);
    return counter_type == NULL;
}

static ErlNifFunc functions[] = {
    {"new", 0, new_counter, 0}, {"add", 2, add, 0}, {"watch", 1, watch, 0}};

ERL_NIF_INIT(counter, functions, load, NULL, NULL, NULL)
