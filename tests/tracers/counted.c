/* A tracer and a plugin in one: make/0 returns a resource. If this resource is the head of the list
 * that is the state, it counts the events. */
#include <erl_tracer.h>
#include <stdio.h>

static ErlNifResourceType *type;

static void destroy(ErlNifEnv *env, void *object)
{
    (void)env;
    printf("%ld events\n", *(long *)object);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void)data, (void)info;
    type = enif_open_resource_type(env, NULL, "counter", destroy, ERL_NIF_RT_CREATE, NULL);
    return !type;
}

static ERL_NIF_TERM make(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    long *object = enif_alloc_resource(type, sizeof *object);
    ERL_NIF_TERM term = enif_make_resource(env, object);

    (void)argc, (void)argv;
    *object = 0;
    enif_release_resource(object);
    return term;
}

/* Gets the resource in STATE. */
static int find(ErlNifEnv *env, ERL_NIF_TERM state, void **object)
{
    return enif_get_list_cell(env, state, &state, &(ERL_NIF_TERM){0}) &&
           enif_get_resource(env, state, type, object);
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object;

    (void)argc;
    return enif_make_atom(env, find(env, argv[1], &object) ? "trace" : "remove");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object;

    (void)argc;
    if (find(env, argv[1], &object))
        ++*(long *)object;
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {
    {"make", 0, make, 0}, {"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(counted, functions, load, NULL, NULL, NULL)
