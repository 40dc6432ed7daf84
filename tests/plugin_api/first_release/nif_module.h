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

/* What goes on in a function's place: a function as those of a table, of any number of arguments.
 */
typedef ERL_NIF_TERM ThContinuation(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* What th_file_last() tells of an operation: 12 is that of th_file_rename(), and so on, as in OTP's
 * guide to the probes. */
typedef struct {
    int command;
    int thread, tag; /* together, its name */
    int error;       /* errno */
} ThFileLast;

#define TH_MODULE_DECLARE(group, type, name, parameters) \
    extern type name parameters __attribute__((weak, visibility("default")));
TH_MODULE_FUNCTIONS(TH_MODULE_DECLARE)
#undef TH_MODULE_DECLARE

/* For the functions that say so in module_functions.h. */
enum {
    TH_CALL_EXTERNAL = 1, /* th_call_fact() */
    TH_CALL_TAIL = 2,
    TH_CATCHES = 1,       /* th_call_then() */
    TH_HARD = 1,          /* th_load_code(), th_purge_code(), th_delete_code() */
    TH_SPAWN_LINK = 1,    /* th_spawn() */
    TH_SPAWN_MONITOR = 2, /* th_spawn() */
    TH_FLUSH = 1,         /* th_demonitor() */
    TH_USER_TRACE_S1 = 1, /* th_user_trace_enabled() */
    TH_USER_TRACE_I4S4 = 2,
    TH_INFINITY = -1, /* th_await() */

    TH_OPEN_READ = 1, /* th_file_open(); numbers that the probes show */
    TH_OPEN_WRITE = 2,
    TH_OPEN_APPEND = 4,
    TH_OPEN_EXCLUSIVE = 16, /* {error, eexist} if it is there */
    TH_OPEN_KEEP = 32,
    TH_OPEN_SYNC = 64,
    TH_DELAYED_WRITE = 0, /* th_file_setopt() */
    TH_READ_AHEAD = 1
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
 * Not of the host: a function that a library may define, to be asked whether it can take over from
 * the version that is loaded, before its upgrade() or that of any module loaded along with it is
 * called. OLD_PRIVATE_DATA is that version's, which goes on using it: it may be read as far as both
 * versions know how to, and is not to be changed. LOAD_INFO is what upgrade() will get. Nothing of
 * the new version has run but constructors and nif_init(); resource types cannot be opened here.
 *
 * 0: it can. Anything else refuses the upgrade, and all stays as it is; so it costs less to refuse
 * here than in upgrade(), after which those that were upgraded before must be handed back. It must
 * be defined in the library itself, and be visible, which this declaration says. A BEAM does not
 * call it: upgrade() is still to refuse what it cannot take over.
 */
extern int th_upgrade_check(ErlNifEnv *env, void *old_private_data, ERL_NIF_TERM load_info)
    __attribute__((weak, visibility("default")));

/*
 * Functions that can be traced where they are called in C, by others of the library; such a call is
 * a local call. Of two kinds.
 *
 * Of the library's table, Module:lookup/2 if the table says so. (One that is not made so can be
 * traced just the same, but C calls of it may not be seen: compilers put its body in their place.)
 *
 *   TH_NIF(lookup)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *   }
 *
 * Not in a table, Module:indirections/1. Their arguments are terms, up to five; the name and the
 * number of these are a local function's, once in a library:
 *
 *   TH_FUNCTION(indirections, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
 *   {
 *       ...
 *   }
 *
 * Both declare and begin the definition of a static function that returns a term. The compiler
 * neither inlines nor clones it, nor changes how it is called; and on x86-64 leaves room for a
 * breakpoint at its entry: NOPs that cost next to nothing (with gcc -fcf-protection=none, which
 * `pkg-config --cflags tracehost-plugin` has: what else is put there takes the room). For
 * TH_FUNCTION, the section `tracehost_functions` of the library tells where it is. In a BEAM all of
 * that does no harm. For gcc and clang.
 *
 * A function that ends with a call of itself is made a loop, where the compiler optimises, with no
 * call in it. TH_SELF is the function it is given, of which the compiler does not know that it is
 * that:
 *
 *       return TH_SELF(indirections)(env, enif_make_int(env, n - 1));
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

#ifdef __cplusplus
#define TH_AS_CODE(function) reinterpret_cast<void (*)(void)>(function)
#else
#define TH_AS_CODE(function) ((void (*)(void))(function))
#endif

#define TH_NIF(name)                                                 \
    static ERL_NIF_TERM name(ErlNifEnv *, int, const ERL_NIF_TERM[]) \
        __attribute__((TH_AS_WRITTEN)) TH_PATCHABLE;                 \
    static ERL_NIF_TERM name

#define TH_FUNCTION(name, arity)                                                                 \
    static ERL_NIF_TERM name(TH_PARAMETERS_##arity) __attribute__((TH_AS_WRITTEN)) TH_PATCHABLE; \
    static const struct th_local_function th_local_function_##name                               \
        __attribute__((TH_RETAINED, section("tracehost_functions"), aligned(8))) = {             \
            #name, TH_AS_CODE(name), arity};                                                     \
    static ERL_NIF_TERM name

#define TH_SELF(function)                                       \
    (__extension__({                                            \
        __typeof__(&(function)) th_self_address_ = &(function); \
        __asm__("" : "+r"(th_self_address_));                   \
        th_self_address_;                                       \
    }))

#ifdef __cplusplus
}
#endif

#endif
