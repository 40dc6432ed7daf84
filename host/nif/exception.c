/* Exceptions: a mark on the environment, and the non-term that says so. */
#include "nif.h"

#include "host/runtime/runtime.h"

ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_call_raise(env, TH_RAISED_ERROR, reason);
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env)
{
    return th_call_raise_at(env, TH_RAISED_ERROR, TH_AM(badarg), __builtin_return_address(0));
}

ERL_NIF_TERM enif_raise_exception(ErlNifEnv *env, ERL_NIF_TERM reason)
{
    return th_call_raise_at(env, TH_RAISED_ERROR, reason, __builtin_return_address(0));
}

int enif_is_exception(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM reason;

    return term == TH_NONE && th_call_pending(env, &reason);
}

int enif_has_pending_exception(ErlNifEnv *env, ERL_NIF_TERM *reason)
{
    ERL_NIF_TERM pending;

    if (!th_call_pending(env, &pending))
        return 0;
    if (reason)
        *reason = pending;
    return 1;
}
