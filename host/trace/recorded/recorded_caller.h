/* The callers that the records of calls and of their ends tell. */
#ifndef TH_RECORDED_CALLER_H
#define TH_RECORDED_CALLER_H

#include "host/trace/event.h"

/* The most that th_recorded_callers() tells: a BEAM's backtrace_depth if nobody sets it. */
enum { TH_EXECUTION_CALLERS = 8 };

/* The caller that the result of a match specification is, where it is one of `{message, {caller}}`:
 * {M, F, Arity} or undefined; or of `{message, {caller_line}}`, with {File, Line} or undefined at
 * its end. Else, or for TH_NONE, it is unknown. */
struct th_caller th_recorded_caller_of_result(th_term result);

/* EVENT, an end, has no function: it may be the return_to as the process ends, to nobody. Else
 * false, and the error stays. */
bool th_recorded_ends_process(const struct th_event *event, struct th_caller *function);

/* The function of EVENT, an end: undefined for a return_to to no function, as the process ends.
 * False, and an error, if it is damaged. */
static inline bool th_recorded_end_function(struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_FUNCTION;
    return event->source->function(event, &function->function) == TH_OK ||
           th_recorded_ends_process(event, function);
}

/* Whether CALLERS are as th_event.callers says; if so, who is the first: unknown if it is told of
 * none. */
bool th_recorded_are_callers(th_term callers);
struct th_caller th_recorded_first_caller(th_term callers);

#endif
