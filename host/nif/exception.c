/* Exceptions: a mark on the environment, and the non-term that says so. */
#include "nif.h"

ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    env->exception = reason;
    return TH_NONE;
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env)
{
    return th_nif_raise(env, TH_AM(badarg));
}

ERL_NIF_TERM enif_raise_exception(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_nif_raise(env, reason);
}

int enif_is_exception(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return env->exception != TH_NONE && term == TH_NONE;
}

int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *reason)
{
    if (env->exception == TH_NONE)
        return 0;
    if (reason)
        *reason = env->exception;
    return 1;
}
