/*
 * The functions of recordings: each has a site, which patterns put breakpoints on.
 *
 * A function is there from its first call on, or from the first pattern that names it; and stays
 * for all streams, as patterns do.
 */
#ifndef TH_FUNCTIONS_H
#define TH_FUNCTIONS_H

#include "event.h"
#include "host/breakpoint/breakpoint.h"

/*
 * A function of this host can have two sites: of its export entry, which other modules' calls meet,
 * and in its machine code, which all calls meet. Then global breakpoints are at the former, and all
 * others at the latter. A function of a library that only it calls has the latter alone.
 */
struct th_function_sites {
    struct th_mfa name;
    struct th_site *site;  /* virtual, or of an export; its `function` is this. NULL: none */
    struct th_site *local; /* native; likewise */
    const char *no_local;  /* why there is none, a sentence that stays; NULL: not said */
    /*
     * It has got the native site, or lost it, with newer code. What was set before then is where it
     * was set: so what is changed is changed at both. One that is lost stays in `local`, with its
     * breakpoints, besides `no_local`, and `site` stands in for it: has the same ones, GLOBAL for
     * LOCAL. These two are otherwise never both set.
     */
    bool strays;
    atomic_bool called; /* in a recording; by whoever plays it, relaxed: nothing hangs on it */
};

/* The site where local calls are met now. */
static inline struct th_site *th_trace_function_local_site(const struct th_function_sites *function)
{
    return function->no_local ? NULL : function->local;
}

/* Start it as {0}. */
struct th_functions {
    struct th_table table;
    struct th_function_sites **items; /* as they were added */
    size_t count, capacity;
};

/* A key for tables, never 0. */
uint64_t th_trace_function_key(const struct th_mfa *name);

/* NULL if it is not there. */
struct th_function_sites *th_trace_functions_find(const struct th_functions *functions,
                                                  const struct th_mfa *name);

/* Adds one that is not there. */
struct th_function_sites *th_trace_functions_add(struct th_functions *functions,
                                                 const struct th_mfa *name);

/* No site has a breakpoint any more. */
void th_trace_functions_free(struct th_functions *functions);

#endif
