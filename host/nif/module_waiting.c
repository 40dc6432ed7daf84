/* What functions that run may ask of the host: messages. */
#include "nif.h"

#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

ERL_NIF_TERM th_await(ErlNifEnv *env,
                      ERL_NIF_TERM (*then)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]),
                      long milliseconds, int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {.code = then, .kept = kept, .terms = terms};

    return th_call_await(env, &next, milliseconds);
}

ERL_NIF_TERM th_skip(ErlNifEnv *env)
{
    return th_call_skip(env);
}
