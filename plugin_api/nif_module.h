/*
 * What a plugin or a tracer may ask of tracehost beyond the NIF API.
 *
 *   #include <nif_module.h>
 *
 *   static ERL_NIF_TERM trace_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *       if (seen_enough && th_host_present())
 *           th_disarm(env);
 *       return enif_make_atom(env, "ok");
 *   }
 *
 * The functions stand in module_functions.h, with their contracts. All are weak symbols: where the
 * library is loaded into a BEAM, or into a host that is older than a function, that function's
 * address is NULL, and it must not be called. So one .so serves both; compile it with
 * `pkg-config --cflags tracehost-plugin` and link it with nothing.
 */
#ifndef TH_NIF_MODULE_H
#define TH_NIF_MODULE_H

#ifndef __ERL_NIF_H__
#include <erl_nif.h> /* ours or OTP's */
#endif
#include "module_functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call from outside reaches, by name: see th_export_entry(). Only the host looks inside. */
typedef struct th_export ThExport;

#define TH_MODULE_DECLARE(group, type, name, parameters) \
    extern type name parameters __attribute__((weak, visibility("default")));
TH_MODULE_FUNCTIONS(TH_MODULE_DECLARE)
#undef TH_MODULE_DECLARE

/* For the functions that say so in module_functions.h. */
enum {
    TH_CATCHES = 1,       /* th_call_then() */
    TH_SPAWN_LINK = 1,    /* th_spawn() */
    TH_SPAWN_MONITOR = 2, /* th_spawn() */
    TH_FLUSH = 1,         /* th_demonitor() */
    TH_INFINITY = -1      /* th_await() */
};

/* Not 0 if the host has the function NAME. */
#define TH_HAS(name) ((name) != NULL)

/* Not 0 if the host is tracehost, and has all functions of this version of the header. */
static inline int th_host_present(void)
{
#define TH_MODULE_IS_THERE(group, type, name, parameters) &&TH_HAS(name)
    return 1 TH_MODULE_FUNCTIONS(TH_MODULE_IS_THERE);
#undef TH_MODULE_IS_THERE
}

/*
 * Functions of a library that only it calls, and that can be traced all the same: as the functions
 * of its table, they are Module:NAME/ARITY. Their arguments are terms, up to five:
 *
 *   TH_FUNCTION(indirections, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
 *   {
 *       ...
 *   }
 *
 * TH_FUNCTION declares and begins the definition of a static function that returns a term. It is
 * called in C, indirections(env, depth); such a call is a local call. The compiler neither inlines
 * nor clones the function, nor changes how it is called, and leaves room for a breakpoint at its
 * entry: NOPs that cost nothing. The section `tracehost_functions` of the library tells where it
 * is. In a BEAM all of that does no harm. For gcc and clang.
 */
struct th_local_function {
    const char *name;
    void (*code)(void);
    unsigned long arity;
};

#ifdef __clang__
#define TH_AS_WRITTEN noinline, used
#else
#define TH_AS_WRITTEN noipa, used
#endif

/* Nothing refers to the section: linkers that look for what is not needed are to leave it. */
#ifdef __has_attribute
#if __has_attribute(retain)
#define TH_RETAINED used, retain
#endif
#endif
#ifndef TH_RETAINED
#define TH_RETAINED used
#endif

#if defined(__x86_64__)
#define TH_PATCHABLE __attribute__((patchable_function_entry(16, 8), aligned(16)))
#else
#define TH_PATCHABLE
#endif

#define TH_PARAMETERS_0 ErlNifEnv *
#define TH_PARAMETERS_1 TH_PARAMETERS_0, ERL_NIF_TERM
#define TH_PARAMETERS_2 TH_PARAMETERS_1, ERL_NIF_TERM
#define TH_PARAMETERS_3 TH_PARAMETERS_2, ERL_NIF_TERM
#define TH_PARAMETERS_4 TH_PARAMETERS_3, ERL_NIF_TERM
#define TH_PARAMETERS_5 TH_PARAMETERS_4, ERL_NIF_TERM

#define TH_FUNCTION(name, arity)                                                                 \
    static ERL_NIF_TERM name(TH_PARAMETERS_##arity) __attribute__((TH_AS_WRITTEN)) TH_PATCHABLE; \
    static const struct th_local_function th_local_function_##name                               \
        __attribute__((TH_RETAINED, section("tracehost_functions"), aligned(8))) = {             \
            #name, (void (*)(void))name, arity};                                                 \
    static ERL_NIF_TERM name

#ifdef __cplusplus
}
#endif

#endif
