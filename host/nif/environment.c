/* Environments and private data. */
#include "nif.h"

#include "host/library/library.h"

void *enif_priv_data(ErlNifEnv *env)
{
    return env->library ? th_library_private_data(env->library) : NULL;
}

ErlNifEnv *enif_alloc_env(void)
{
    return th_env_create(TH_ENV_MESSAGE);
}

/* The environment of a call is not the library's to end. */
static bool is_own(const ErlNifEnv *env)
{
    return env && env->kind == TH_ENV_MESSAGE;
}

void enif_free_env(ErlNifEnv *env)
{
    if (is_own(env))
        th_env_free(env);
}

void enif_clear_env(ErlNifEnv *env)
{
    if (is_own(env))
        th_env_clear(env);
}

ERL_NIF_TERM enif_make_copy(ErlNifEnv *dst_env, ERL_NIF_TERM src_term)
{
    return th_is_immediate(src_term) ? src_term : th_copy(dst_env, src_term);
}
