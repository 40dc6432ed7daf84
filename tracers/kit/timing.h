/*
 * Computes figures of functions from events of calls.
 *
 * A call event begins a call; return_from, exception_from or return_to ends it, in the order of a
 * stack. This also holds for tail calls: a BEAM reports the return of each of them, the last one
 * first, or one return_to for all. A call whose end is not exactly known is not measured.
 */
#ifndef TRACER_TIMING_H
#define TRACER_TIMING_H

#include "calls.h"
#include "moment.h"

#include <stdatomic.h>

/* The clock of all times: that of the first event with a time, as times of two clocks cannot be
 * compared. Initialised with {0}. */
struct timing_clock {
    _Atomic(unsigned) first; /* enum moment_clock + 1; 0: no event had a time */
};

/* Events without a time by that clock. */
struct untimed {
    uint64_t stampless; /* without a request for a time stamp */
    uint64_t others;    /* by another clock */
};

/* Returns the time of an event, or TIME_NONE, which is counted. Any thread may call it. */
TRACER_LOCAL int64_t timing_time(struct timing_clock *clock, const struct moment *moment,
                                 struct untimed *untimed);

/* Prints lines about these events on stderr, if there are any. */
TRACER_LOCAL void timing_tell_untimed(const char *tracer, const struct untimed *untimed);

/* Prints a line that the events contain no ends of calls, and how to record them. */
TRACER_LOCAL void timing_tell_no_ends(const char *tracer);

/* An event, and the tables that it updates. */
struct timing {
    ErlNifEnv *env;
    struct calls *calls;
    /* Table of one thread, or of the holder of a lock; NULL: the event begins and ends calls, and has
     * no figures. */
    struct figures_table *figures;
    bool by_process; /* separate figures for each process and function */
    ERL_NIF_TERM process;
    struct count function;
    struct mfa caller; /* module 0: unknown */
    int64_t now;       /* or TIME_NONE */
    /* Called with OF for each call that ends; or NULL. */
    void (*ended)(void *of, const struct ended *ended);
    void *of;
};

/* Begins a call. False if the call is not kept: its names are no atoms, or there is no memory. */
TRACER_LOCAL bool timing_begin(const struct timing *timing, uint32_t mark);

/* Ends a call. False if no call event of it came. */
TRACER_LOCAL bool timing_end(const struct timing *timing, bool error);

/* Handles a return_to TO. */
TRACER_LOCAL void timing_return_to(const struct timing *timing, const struct mfa *to);

/* Handles an event of the group running_procs. `function` and `caller` are ignored. */
TRACER_LOCAL void timing_running(const struct timing *timing, ERL_NIF_TERM tag);

/* Ends all calls of a process that exits. `function` and `now` are ignored. */
TRACER_LOCAL void timing_exit(const struct timing *timing);

#endif
