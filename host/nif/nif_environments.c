/* Environments, and the exceptions that they hold. */
#include "nif.h"

#include "host/library/library.h"
#include "host/runtime/runtime.h"

/* --- Environments and private data ------------------------------------------------------------ */

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

/* --- Exceptions ------------------------------------------------------------------------------- */

/* Exceptions: a mark on the environment, and the non-term that says so. */

ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise(env, TH_RAISED_ERROR, reason);
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env)
{
    return th_runtime_call_raise_at(env, TH_RAISED_ERROR, TH_AM(badarg),
                                    __builtin_return_address(0));
}

ERL_NIF_TERM enif_raise_exception(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_runtime_call_raise_at(env, TH_RAISED_ERROR, reason, __builtin_return_address(0));
}

int enif_is_exception(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM reason;

    return term == TH_NONE && th_runtime_call_pending(env, &reason);
}

int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *reason)
{
    ERL_NIF_TERM pending;

    if (!th_runtime_call_pending(env, &pending))
        return 0;
    if (reason)
        *reason = pending;
    return 1;
}
