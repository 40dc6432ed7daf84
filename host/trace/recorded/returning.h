/*
 * The sessions that a return_to of a process is for: those that wanted one of the calls which have
 * returned. Where it is not known which calls these are (execution_doubt.c), a session is sent the
 * return_to if it wanted each call that is open, whichever of them ended. Else the return_to is
 * counted as doubtful for it, and sent only if a call that it wanted is likely to have ended.
 *
 * Sets of sessions are bits, by index. One thread at a time.
 */
#ifndef TH_RETURNING_H
#define TH_RETURNING_H

#include "execution.h"

/* Start it as {0}. */
struct th_returning {
    uint64_t due;     /* those to be told */
    uint64_t guessed; /* those that wanted a call which is likely to have ended */
    uint64_t doubted; /* those that wanted a call which has ended now, or before */
    uint64_t perhaps; /* those of which it is not known whether they are to be told */
    uint64_t latest;  /* those that want the latest call: whoever enters it adds them, ... */
    uint64_t some;    /* ... or a call before it, since the stack was empty */
    uint64_t all;     /* those that want each call before it */
};

/* A call is about to be entered. */
static inline void th_returning_enter(struct th_returning *returning, const struct th_stack *stack)
{
    bool empty = stack->frames.count == 0;

    returning->some = empty ? 0 : returning->some | returning->latest;
    returning->all = empty ? UINT64_MAX : returning->all & returning->latest;
    returning->latest = returning->perhaps = 0;
}

/* A session wants some of the calls that were made since the stack was empty, and others not; or
 * none is wanted. */
static inline bool th_returning_differs(const struct th_returning *returning)
{
    uint64_t some = returning->some | returning->latest;

    return some == 0 || (some & ~(returning->all & returning->latest)) != 0;
}

/* A call has ended that SESSIONS wanted the return_to of. */
static inline void th_returning_ended(struct th_returning *returning, enum th_ending ending,
                                      uint64_t sessions)
{
    if (ending <= TH_ENDED_UNTOLD)
        returning->due |= sessions;
    if (ending == TH_ENDED_LIKELY)
        returning->guessed |= sessions;
    if (ending > TH_ENDED_UNTOLD)
        returning->doubted |= sessions;
}

/* An end of TAG was left, before which the sessions FORMER were due; `due` has those that are with
 * it. Returns, for a return_to, the sessions for which it is doubtful. */
uint64_t th_returning_leave(struct th_returning *returning, const struct th_stack *stack,
                            enum th_tracer_tag tag, uint64_t former);

/* The sessions GONE are no more, and their bits free for others. */
void th_returning_forget(struct th_returning *returning, uint64_t gone);

#endif
