/*
 * Reads the entry of a library, for any NIF version that the library was compiled for.
 *
 * The structure has grown: vm_variant came with 2.1, options and ErlNifFunc.flags with 2.7,
 * sizeof_ErlNifResourceTypeInit with 2.12, min_erts with 2.14. Fields that a version lacks are not
 * read. After reading, only the code and the strings that the entry points to are used.
 */
#ifndef TH_LIBRARY_ENTRY_H
#define TH_LIBRARY_ENTRY_H

#include "host/base/error.h"
#include "plugin_api/erl_nif.h"
#include "plugin_api/erl_tracer.h"

#include <stdbool.h>

struct th_entry {
    int major, minor;
    const char *name;      /* in the library's memory */
    ErlNifFunc *functions; /* in the present layout; names and code are in the library's memory */
    size_t function_count;
    int (*load)(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info);
    int (*upgrade)(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info);
    void (*unload)(ErlNifEnv *env, void *private_data);
    unsigned options;           /* 0 before 2.7 */
    size_t resource_init_size;  /* of ErlNifResourceTypeInit as it was compiled; 0 before 2.12 */
    const char *oldest_runtime; /* minimal runtime system; NULL before 2.14 */
};

/*
 * Reads and checks the result of nif_init().
 * Owner: the caller frees ENTRY with th_library_entry_free().
 * Errors: TH_REFUSED where a BEAM of NIF version 2.18 refuses: a newer version, one older than 2.0,
 * or 2.5; another vm_variant; a function without name or code, with more than 255 arguments or
 * unknown flags, or two of one name and arity. Also if a pointer leads to no memory or to no code,
 * where a BEAM crashes.
 */
enum th_status th_library_entry_read(const ErlNifEntry *from, struct th_entry *entry);
void th_library_entry_free(struct th_entry *entry);

/* Finds the function NAME of ARITY; NULL if there is none. */
const ErlNifFunc *th_library_entry_function(const struct th_entry *entry, const char *name,
                                            unsigned arity);

/*
 * The 18 callbacks of a tracer, resolved once.
 *
 * A slot of a tracer always holds a function: the callback of its name and arity, or else the
 * generic one of its kind (enabled/3, trace/5). Flags for dirty schedulers are ignored: callbacks
 * are called directly.
 */

typedef ERL_NIF_TERM th_slot_function(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

struct th_slots {
    th_slot_function *functions[TH_SLOTS]; /* none is NULL in a tracer */
    const char *filled_by[TH_SLOTS];       /* names of these: "trace_call", or "trace" instead */
    bool functions_only; /* the tracer looks at no other terms: th_tracer_functions_only */
};

/* Returns the name, or the number of arguments, of SLOT: "enabled_call", 3. */
const char *th_library_slot_name(enum th_tracer_slot slot);
unsigned th_library_slot_arity(enum th_tracer_slot slot);

/* True if the library has a callback of its own for SLOT. */
bool th_library_slots_has_own(const struct th_slots *slots, enum th_tracer_slot slot);

#endif
