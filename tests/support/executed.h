/*
 * Replays the execution of one process and compares callers and ends of calls. Events are words:
 *
 *   +f a call of f, no tail call   =f a tail call   ?f a call, not known which
 *   ?f/g the same, recorded with the caller g
 *   -f return_from                 !f exception_from   >f return_to   > return_to `undefined`
 *   ^f a return_to that does not matter
 *   #  events were lost            *  the process was spawned
 *
 * Results are words, too. The caller: "f<g" g called f, "f<." f has no caller, "f<?" unknown. Calls
 * that ended: -f returned, !f raised, ~f end not reported, /f not reported and probably now, ?f not
 * reported and possibly earlier. The function that executes now: ">g"; ">." the process ends, ">?"
 * unknown. The end of each call is requested, unless "_" follows its name.
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

/* Replays EVENTS and asserts that the results are exactly ANSWERS. */
void executed_expect(const char *events, const char *answers);

/* Returns the function that a word NAME names: module `erlang`, arity 0. */
struct th_mfa executed_function(const char *name);

/* Number of ends that are not certain; number of return_to that may end any of several calls. */
extern uint64_t executed_doubtful, executed_undecided;

static inline struct th_execution_counts executed_counts(void)
{
    return th_recorded_counts(&executed);
}

#endif
