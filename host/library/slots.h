/*
 * The 18 callbacks of a tracer, resolved once.
 *
 * Each slot holds a function for ever: the callback of that name and arity, or the generic one of
 * its kind (enabled/3, trace/5) where the tracer has none. Whether it is marked for a dirty
 * scheduler makes no difference: callbacks are called directly.
 */
#ifndef TH_LIBRARY_SLOTS_H
#define TH_LIBRARY_SLOTS_H

#include "entry.h"
#include "name_list.h"

#include "plugin_api/erl_nif.h"
#include "plugin_api/erl_tracer.h"

#include <stdbool.h>

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

/* Fills the slots from ENTRY's functions. Missing generic callbacks leave slots empty. */
void th_library_slots_fill(struct th_slots *slots, const struct th_entry *entry);

/* TH_REFUSED if a generic callback is missing: then it is no tracer. */
enum th_status th_library_slots_check(const struct th_slots *slots);

/* Appends a sentence for each function that looks like a callback but will never be called: an
 * unknown name, or a known one with another arity. */
void th_library_slots_remarks(const struct th_entry *entry, struct th_names *remarks);

#endif
