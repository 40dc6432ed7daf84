/* Functions of modules as trace/ knows them. Inner header of runtime/. */
#ifndef TH_TRACED_FUNCTION_H
#define TH_TRACED_FUNCTION_H

#include "runtime.h"

#include "host/breakpoint/breakpoint.h"

/*
 * A function by its name. It stays for ever, as export entries do, and so do its sites: open calls
 * of a function that is gone refer to it. An export entry's `known` is one.
 */
struct th_traced_module_function {
    struct th_live_function live;   /* the first member */
    const struct th_callee *callee; /* what it is now; NULL: there is none */
    struct th_site *kept;           /* the native one, which is in `live` while it is of use */
    /* The next one that is the same code, in the order of the table. A record's owner is the first.
     * Written while no call can be told. */
    struct th_traced_module_function *same;
    bool begun;
};

/* From now on the functions of modules are known to TRACING, which NULL is not; no more. By the
 * thread that adds and removes modules. */
void th_traced_functions_begin(struct th_tracing *tracing);
void th_traced_functions_end(void);

#endif
