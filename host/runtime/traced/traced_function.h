/* Functions of modules as trace/ knows them. Inner header of runtime/. */
#ifndef TH_TRACED_FUNCTION_H
#define TH_TRACED_FUNCTION_H

#include "host/runtime/runtime.h"

#include "host/breakpoint/breakpoint.h"

/*
 * A function of one instance of its module, which owns the record of its entry. Its memory stays
 * that of such ones for ever, as a thread that comes from a machine instruction is waited for by
 * nobody. Written before a call can be told, but for what begin() and end() keep.
 */
struct th_instance_function {
    struct th_module_function *function;
    struct th_site *site; /* the function's native one */
    struct th_instance_function
        *same;                      /* the next one that is the same code, in the table's order; a
                                       record's owner is the first */
    const struct th_callee *callee; /* compared only */
    const void *start;              /* of the code */
    unsigned arity;

    /* With the code modification permission, or before it has begun: */
    struct th_native *native; /* NULL: it has none, */
    const char *no_local;     /* and why */
    struct th_instance_function
        *older; /* the function's, of the instance before; of free ones the next
                                   */
};

/*
 * A function by its name, whichever instances of its module there are. It stays for ever, as export
 * entries do, and so do its sites: open calls of a function that is gone refer to it, and code that
 * takes another's place finds its breakpoints. An export entry's `known` is one.
 */
struct th_module_function {
    struct th_traceable_function live; /* the first member */
    /* With the code modification permission: */
    struct th_instance_function *code; /* the newest; NULL: there is none */
    struct th_site *kept;              /* the native one, which is in `live` while it is of use */
    struct th_native_place place;      /* of it */
};

/* Who is told of the functions of modules, while they are known to a tracing. */
extern const struct th_module_watcher th_traced_functions_watcher;

/* From now on the functions of modules are known to TRACING, which NULL is not; no more. By the
 * thread that adds and removes modules. */
void th_traced_functions_begin(struct th_tracing *tracing);
void th_traced_functions_end(void);

#endif
