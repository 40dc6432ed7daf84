/*
 * A process whose execution is replayed. What happens is written as words:
 *
 *   +f a call of f, no tail call   =f a tail call   ?f a call, not known which
 *   ?f/g the same, recorded with the caller g
 *   -f return_from                 !f exception_from   >f return_to   > return_to `undefined`
 *   ^f a return_to that does not matter
 *   #  events were lost            *  the process was spawned
 *
 * and what comes of it, too: "f<g" f was called by g, "f<." by nobody, "f<?" not known; then those
 * calls that have ended: -f returned, !f raised, ~f untold, /f untold and likely to be now, ?f
 * untold and perhaps earlier; ">g" g executes now (">." the process ends, ">?" not known). All
 * calls are wanted but those written with a "_" behind.
 *
 *   executed_begin(NULL);
 *   executed_expect("+f =g -g", "f<? g<? -g -f >?");
 *   executed_end();
 */
#ifndef EXECUTED_H
#define EXECUTED_H

#include "host/trace/trace.h"

extern struct th_execution executed;
extern struct th_recorded_stack executed_stack;

void executed_begin(const struct th_execution_options *options);
void executed_end(void);

/* EVENTS happen; exactly ANSWERS come of it. */
void executed_expect(const char *events, const char *answers);

/* The same function as that of such a word, in the module `erlang`, with arity 0. */
struct th_mfa executed_function(const char *name);

/* Ends that were doubtful or likely; returns of which it is not known which calls they end. */
extern uint64_t executed_doubtful, executed_undecided;

static inline struct th_execution_counts executed_counts(void)
{
    return th_recorded_counts(&executed);
}

#endif
