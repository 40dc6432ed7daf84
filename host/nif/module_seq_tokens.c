/* What functions that run may ask of the host: sequential tokens. */
#include "nif.h"

#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

static ERL_NIF_TERM or_badarg(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return term == TH_NONE ? th_nif_raise(env, TH_AM(badarg)) : term;
}

ERL_NIF_TERM th_seq_set_token(ErlNifEnv *env, ERL_NIF_TERM component, ERL_NIF_TERM value)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(
        env, call ? th_seq_set(call, component, th_check_term(env, value, "th_seq_set_token"))
                  : TH_NONE);
}

ERL_NIF_TERM th_seq_get_token(ErlNifEnv *env, ERL_NIF_TERM component)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(env, call ? th_seq_get(call, component) : TH_NONE);
}

int th_seq_reset_token(ErlNifEnv *env)
{
    struct th_call *call = th_call_of(env);

    if (call)
        th_seq_reset(call);
    else
        th_nif_raise(env, TH_AM(badarg));
    return call != NULL;
}

int th_seq_print(ErlNifEnv *env, ERL_NIF_TERM label, ERL_NIF_TERM info)
{
    struct th_call *call = th_call_of(env);

    if (!call)
        th_nif_raise(env, TH_AM(badarg));
    return call && th_seq_print_label(call, label, info);
}
