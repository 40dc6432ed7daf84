/* Calls of one library's code by another, through a resource. */
#include "nif.h"

#include "host/library/library.h"

int enif_dynamic_resource_call(ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM name,
                               ERL_NIF_TERM rsrc, void *call_data)
{
    return th_resource_dynamic_call(env, mod, name, rsrc, call_data) ? 0 : 1;
}
