/* See keeper.h. */
#include "keeper.h"

#include <erl_tracer.h>

static struct keeper keeper;

static void destroy(ErlNifEnv *env, void *object)
{
    (void)env;
    keeper.destroyed++;
    keeper.last = *(int *)object;
    if (keeper.releases) {
        enif_release_resource(object);
        enif_keep_resource(object);
        enif_release_resource(object);
    }
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    ErlNifResourceTypeInit init = {.dtor = destroy, .members = 1};

    (void)info;
    keeper.types[0] =
        enif_open_resource_type(env, NULL, "plain", destroy, ERL_NIF_RT_CREATE, &keeper.tried[0]);
    keeper.types[1] =
        enif_open_resource_type_x(env, "with x", &init, ERL_NIF_RT_CREATE, &keeper.tried[1]);
    keeper.types[2] = enif_init_resource_type(
        env, "by init", &init, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &keeper.tried[2]);
    *private_data = &keeper;
    return 0;
}

static ERL_NIF_TERM answer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_atom(env, "discard");
}

static ErlNifFunc functions[] = {{"enabled", 3, answer, 0}, {"trace", 5, answer, 0}};

ERL_NIF_INIT(keeper, functions, load, NULL, NULL, NULL)
