/* Environments and private data. */
#include "nif.h"

#include "host/library/library.h"
#include "host/runtime/runtime.h"

void *enif_priv_data(ErlNifEnv *env)
{
    return env->library ? th_library_private_data(env->library) : NULL;
}

ErlNifEnv *enif_alloc_env(void)
{
    th_env *env = th_env_create(TH_ENV_MESSAGE);

    th_check_got(TH_CHECK_ENVIRONMENT, env, 0, NULL, "enif_alloc_env");
    return env;
}

/* The environment of a call is not the library's to end. */
static bool is_own(const ErlNifEnv *env)
{
    return env && env->kind == TH_ENV_MESSAGE;
}

void enif_free_env(ErlNifEnv *env)
{
    if (th_check_on())
        th_check_free_env(env, "enif_free_env");
    else if (is_own(env))
        th_env_free(env);
}

void enif_clear_env(ErlNifEnv *env)
{
    if (th_check_on())
        th_check_clear_env(env, "enif_clear_env");
    else if (is_own(env))
        th_env_clear(env);
}

ERL_NIF_TERM enif_make_copy(ErlNifEnv *dst_env, ERL_NIF_TERM src_term)
{
    if (th_is_immediate(src_term))
        return src_term;
    return th_copy(dst_env, th_check_read(src_term, "enif_make_copy"));
}
