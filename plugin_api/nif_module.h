/*
 * What a plugin or a tracer may ask of tracehost beyond the NIF API.
 *
 *   #include <nif_module.h>
 *
 *   static ERL_NIF_TERM enabled_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *       if (th_host_present())
 *           th_disarm(env);
 *       return enif_make_atom(env, "trace");
 *   }
 *
 * The functions stand in module_functions.h, with their contracts. All are weak symbols: where the
 * library is loaded into a BEAM, or into a host that is older than a function, that function's
 * address is NULL, and it must not be called. So one .so serves both; compile it with
 * `pkg-config --cflags tracehost-plugin` and link it with nothing.
 */
#ifndef TH_NIF_MODULE_H
#define TH_NIF_MODULE_H

#include "erl_nif.h"
#include "module_functions.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TH_MODULE_DECLARE(group, type, name, parameters) \
    ERL_NAPI_EXPORT extern type name parameters __attribute__((weak));
TH_MODULE_FUNCTIONS(TH_MODULE_DECLARE)
#undef TH_MODULE_DECLARE

/* Not 0 if the host has the function NAME. */
#define TH_HAS(name) ((name) != NULL)

/* Not 0 if the host is tracehost: then it has all functions of its own version of this header. */
static inline int th_host_present(void)
{
    return TH_HAS(th_disarm);
}

#ifdef __cplusplus
}
#endif

#endif
