/* What functions that run may ask of the host: user tags. */
#include "nif.h"

#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

static ERL_NIF_TERM or_badarg(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return term == TH_NONE ? th_nif_raise(env, TH_AM(badarg)) : term;
}

ERL_NIF_TERM th_put_tag(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(env, call ? th_tag_put(call, th_check_term(env, tag, "th_put_tag")) : TH_NONE);
}

ERL_NIF_TERM th_get_tag(ErlNifEnv *env)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(env, call ? th_tag_get(call) : TH_NONE);
}

ERL_NIF_TERM th_get_tag_data(ErlNifEnv *env)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(env, call ? th_tag_get_data(call) : TH_NONE);
}

ERL_NIF_TERM th_spread_tag(ErlNifEnv *env, int spreads)
{
    struct th_call *call = th_call_of(env);

    return or_badarg(env, call ? th_tag_spread(call, spreads) : TH_NONE);
}

int th_restore_tag(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct th_call *call = th_call_of(env);
    bool good = call && th_tag_restore(call, th_check_term(env, state, "th_restore_tag"));

    if (!good)
        th_nif_raise(env, TH_AM(badarg));
    return good;
}
