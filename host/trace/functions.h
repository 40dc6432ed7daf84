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

struct th_traced_function {
    struct th_function name;
    struct th_site *site; /* virtual; its `function` is this */
};

/* Start it as {0}. */
struct th_functions {
    struct th_table table;
    struct th_traced_function **items; /* as they were added */
    size_t count, capacity;
};

/* NULL if it is not there. */
struct th_traced_function *th_functions_find(const struct th_functions *functions,
                                             const struct th_function *name);

/* Adds one that is not there. */
struct th_traced_function *th_functions_add(struct th_functions *functions,
                                            const struct th_function *name);

/* No site has a breakpoint any more. */
void th_functions_free(struct th_functions *functions);

#endif
