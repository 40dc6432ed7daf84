/*
 * Figures of functions from events of calls.
 *
 * A call event begins a call, return_from, exception_from or return_to ends it, in the order of a
 * stack. That holds for tail calls, too: a BEAM tells the return of each of them, the last one
 * first, or one return_to for all. The end of a call that is not known exactly is not measured.
 */
#ifndef TRACER_TIMING_H
#define TRACER_TIMING_H

#include "calls.h"

/* An event, and what keeps account of it. */
struct timing {
    ErlNifEnv *env;
    struct calls *calls;
    struct figures_table *figures; /* of whoever calls: one thread, or the holder of a lock */
    bool by_process;               /* figures are of a process and function */
    ERL_NIF_TERM process;
    struct count function;
    struct mfa caller; /* module 0: not known */
    int64_t now;       /* or TIME_NONE */
    /* Called with OF for each call that ends; or NULL. */
    void (*ended)(void *of, const struct ended *ended);
    void *of;
};

/* False if the call is not kept: its names are none, or there is no memory. */
TRACER_LOCAL bool timing_begin(const struct timing *timing, uint32_t mark);

/* False if no such call was seen to begin. */
TRACER_LOCAL bool timing_end(const struct timing *timing, bool error);

/* Control comes back to TO. */
TRACER_LOCAL void timing_return_to(const struct timing *timing, const struct mfa *to);

/* The process ends, and with it all its calls. `function` and `now` do not matter. */
TRACER_LOCAL void timing_exit(const struct timing *timing);

#endif
