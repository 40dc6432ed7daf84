/*
 * Calls that a session did not want, so that their returns are held back too.
 *
 * In the BEAM a call that `enabled` discards pushes no frame, so that neither return_from,
 * exception_from nor return_to of it is ever sent. A recording has them all, and the tracer may
 * want some calls and discard others; so it must be known to which call a return belongs.
 *
 * As long as a session has discarded all calls, or none, one bit tells what becomes of all returns,
 * and nothing is kept (struct th_discard_habit). With the first call that breaks the habit each
 * tracee gets a stack (execution.h) with a bit for each session that wanted a call. All calls are
 * on it as a BEAM records them: `tail` is not looked at. The end of a call that is not on the stack
 * is of one before it began: the habit decides. If it is not known which calls a return_to ends, a
 * session that may have discarded all of them, or not, is sent the return_to as th_stack_sessions
 * says, and counts it as doubtful.
 *
 * A stack holds at most TH_DISCARD_HABIT_CALLS calls, equal ones in a row as one; of more, the
 * oldest ones are forgotten and counted.
 */
#ifndef TH_DISCARD_HABIT_H
#define TH_DISCARD_HABIT_H

#include "execution.h"

enum { TH_DISCARD_HABIT_CALLS = 65536 };

/* Sets of sessions are bits, by index. */
struct th_discard_habit {
    uint64_t seen;       /* sessions that were ever offered a call */
    uint64_t discarding; /* of them, those that discarded every one while the habit held */
    bool broken;
    struct th_execution execution; /* of all tracees, once it is broken */
};

/* A call was offered to the sessions OFFERED, and discarded by DISCARDED of them. False: it must be
 * entered. */
bool th_recorded_habit_holds(struct th_discard_habit *habit, uint64_t offered, uint64_t discarded);

/* Enters such a call. */
void th_recorded_habit_enter(struct th_recorded_stack *stack, struct th_discard_habit *habit,
                             const struct th_recorded_call *call, uint64_t offered,
                             uint64_t discarded);

/* The sessions that do not see this return_from, exception_from or return_to: END has its tag and
 * function. *DOUBTFUL: the sessions, whether among these or not, of which the recording does not
 * tell whether they may see the return_to. */
uint64_t th_recorded_habit_leave(struct th_recorded_stack *stack, struct th_discard_habit *habit,
                                 struct th_execution_end end, uint64_t *doubtful);

/* Calls that stacks had no room for. */
static inline uint64_t th_recorded_habit_forgotten(const struct th_discard_habit *habit)
{
    return habit->execution.bounds.forgotten;
}

/* The sessions GONE are no more, and their bits free for others: they have discarded nothing. */
void th_recorded_habit_forget_in(struct th_recorded_stack *stack, uint64_t gone);
void th_recorded_habit_forget(struct th_discard_habit *habit, uint64_t gone);

#endif
