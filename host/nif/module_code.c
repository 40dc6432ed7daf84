/* What functions that run may ask of the host: to change code. */
#include "nif.h"

#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

static enum th_purge purge_of(int flags)
{
    return flags & TH_HARD ? TH_PURGE_HARD : TH_PURGE_SOFT;
}

ERL_NIF_TERM th_load_code(ErlNifEnv *env, ERL_NIF_TERM paths, ERL_NIF_TERM load_info, int flags,
                          ThContinuation *then, int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {.code = then, .kept = kept, .terms = terms};
    struct th_code_request request = {TH_CODE_LOAD, paths, load_info, purge_of(flags)};

    return th_call_code(env, &request, &next);
}

ERL_NIF_TERM th_purge_code(ErlNifEnv *env, ERL_NIF_TERM module, int flags, ThContinuation *then,
                           int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {.code = then, .kept = kept, .terms = terms};
    struct th_code_request request = {TH_CODE_PURGE, module, TH_NIL, purge_of(flags)};

    return th_call_code(env, &request, &next);
}

ERL_NIF_TERM th_delete_code(ErlNifEnv *env, ERL_NIF_TERM module, int flags, ThContinuation *then,
                            int kept, const ERL_NIF_TERM terms[])
{
    struct th_call_then next = {.code = then, .kept = kept, .terms = terms};
    struct th_code_request request = {TH_CODE_DELETE, module, TH_NIL, purge_of(flags)};

    return th_call_code(env, &request, &next);
}
