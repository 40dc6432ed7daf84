/* A tracer in many instances, each replacing the one before: counts calls, and wrong ones. */
#include "successor.h"

__attribute__((visibility("default"))) struct successor *successor;

static ERL_NIF_TERM callback(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct successor *self = successor;
    ERL_NIF_TERM answer;

    atomic_fetch_add(&self->inside, 1);
    if (atomic_load(&self->loads) + atomic_load(&self->upgrades) != 1 ||
        atomic_load(&self->unloads) != 0 || enif_priv_data(env) != self)
        atomic_fetch_add(&self->wrong, 1);
    answer = self->called(self, env, argc, argv);
    atomic_fetch_sub(&self->inside, 1);
    return answer;
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)env, (void)info;
    if (successor->answer == 0)
        atomic_fetch_add(&successor->loads, 1);
    *private_data = successor;
    return successor->answer;
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    (void)env, (void)info;
    if (successor->answer == 0)
        atomic_fetch_add(&successor->upgrades, 1);
    successor->predecessor = *old_private_data;
    *private_data = successor;
    return successor->answer;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    if (atomic_load(&successor->inside) != 0 || private_data != successor)
        atomic_fetch_add(&successor->wrong, 1);
    atomic_fetch_add(&successor->unloads, 1);
}

static ErlNifFunc functions[] = {{"enabled", 3, callback, 0}, {"trace", 5, callback, 0}};
ERL_NIF_INIT(successor, functions, load, NULL, upgrade, unload)
