/*
 * A library's entry, whatever NIF version it was compiled for.
 *
 * The structure has grown: vm_variant came with 2.1, options and ErlNifFunc.flags with 2.7,
 * sizeof_ErlNifResourceTypeInit with 2.12, min_erts with 2.14. What a version does not have is not
 * read. Nothing of the entry is needed once it has been read, apart from the code and the strings
 * that it points to.
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
    ErlNifFunc *functions; /* in the layout of today; names and code are the library's */
    size_t function_count;
    int (*load)(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info);
    int (*upgrade)(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info);
    void (*unload)(ErlNifEnv *env, void *private_data);
    unsigned options;           /* 0 before 2.7 */
    size_t resource_init_size;  /* of ErlNifResourceTypeInit as it was compiled; 0 before 2.12 */
    const char *oldest_runtime; /* the runtime system that it asks for; NULL before 2.14 */
};

/*
 * Reads and checks what nif_init() returned. TH_REFUSED where a BEAM of NIF version 2.18 refuses:
 * a version that is newer, older than 2.0, or 2.5; another vm_variant; a function without name or
 * code, with more than 255 arguments or unknown flags, or there twice. Also if a pointer in it
 * leads to no memory or to no code, where a BEAM crashes. th_library_entry_free() ends it.
 */
enum th_status th_library_entry_read(const ErlNifEntry *from, struct th_entry *entry);
void th_library_entry_free(struct th_entry *entry);

/* The function NAME of ARITY, NULL if there is none. */
const ErlNifFunc *th_library_entry_function(const struct th_entry *entry, const char *name,
                                            unsigned arity);

/*
 * The 18 callbacks of a tracer, resolved once.
 *
 * Each slot holds a function for ever: the callback of that name and arity, or the generic one of
 * its kind (enabled/3, trace/5) where the tracer has none. Whether it is marked for a dirty
 * scheduler makes no difference: callbacks are called directly.
 */

typedef ERL_NIF_TERM th_slot_function(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

struct th_slots {
    th_slot_function *functions[TH_SLOTS]; /* none is NULL in a tracer */
    const char *filled_by[TH_SLOTS];       /* the name of each: "trace_call"; "trace" stands in */
};

/* The name and the number of arguments of a slot: "enabled_call", 3. */
const char *th_library_slot_name(enum th_tracer_slot slot);
unsigned th_library_slot_arity(enum th_tracer_slot slot);

/* True if the library has a callback of its own for SLOT. */
bool th_library_slots_has_own(const struct th_slots *slots, enum th_tracer_slot slot);

#endif
