/*
 * Calls that a session did not want, so that their returns are held back too.
 *
 * In the BEAM a call that `enabled` discards pushes no frame, so that neither return_from,
 * exception_from nor return_to of it is ever sent. A recording has them all, and the tracer may
 * want some calls and discard others; so it must be known to which call a return belongs.
 *
 * As long as a session has discarded all calls, or none, one bit tells what becomes of all returns,
 * and nothing is kept (struct th_calls_habit). With the first call that breaks the habit each
 * tracee gets a stack: one entry a call (equal ones in a row share one), with a bit for each
 * session that discarded it. A return takes the topmost entry of its function and all above it,
 * which have ended too (their returns were not recorded). What is not on the stack was called
 * before it began: the habit decides.
 *
 * A stack holds at most TH_CALLS_LIMIT entries; of more, the older half is forgotten and counted.
 */
#ifndef TH_CALLS_H
#define TH_CALLS_H

#include "event.h"

enum { TH_CALLS_LIMIT = 65536 };

/* Sets of sessions are bits, by index. */
struct th_calls_habit {
    uint64_t seen;       /* sessions that were ever offered a call */
    uint64_t discarding; /* of them, those that discarded every one while the habit held */
    bool broken;
    bool returns; /* there were return_from records */
};

/* Start it as {0}. */
struct th_calls {
    /* What the last of the tracee's call and return events was. */
    enum th_calls_ended {
        TH_CALLS_ENDED_NOT,
        TH_CALLS_ENDED_BY_RETURN,   /* a return_from */
        TH_CALLS_ENDED_BY_EXCEPTION /* an exception_from */
    } ended;
    uint64_t latest; /* ended: the sessions that may not see a return_to now */
    uint32_t count, capacity;
    struct th_open_call {
        struct th_function function;
        uint32_t times;
        uint64_t discarded;
    } * stack;
};

/* A call was offered to the sessions OFFERED, and discarded by DISCARDED of them. False: it must be
 * pushed. */
bool th_calls_are_habit(struct th_calls_habit *habit, uint64_t offered, uint64_t discarded);

/* Pushes such a call. *FORGOTTEN grows by the calls that had to go. */
void th_calls_enter(struct th_calls *calls, const struct th_calls_habit *habit,
                    const struct th_function *function, uint64_t offered, uint64_t discarded,
                    uint64_t *forgotten);

/* The sessions that may not see this return_from, or this exception_from, of FUNCTION. */
uint64_t th_calls_return_from(struct th_calls *calls, const struct th_calls_habit *habit,
                              const struct th_function *function);
uint64_t th_calls_exception_from(struct th_calls *calls, const struct th_calls_habit *habit,
                                 const struct th_function *function);

/*
 * The sessions that may not see this return_to FUNCTION; all zero: to no function, as a process
 * ends.
 *
 * The record names the function that control came back to, not those that it left. A BEAM sends it
 *   after return_from records     if one of these calls was wanted: tail calls return as one
 *   after exception_from records  if the call nearest to the function that caught was wanted
 *   alone, it is either of these: an exception where the stream has return_from records, else a
 *   return. If its function stands only at the top, or not at all, the topmost call has ended.
 * What no recording tells, and what is taken here for no: whether the nearest call was itself a
 * tail call.
 */
uint64_t th_calls_return_to(struct th_calls *calls, const struct th_calls_habit *habit,
                            const struct th_function *function);

/* The sessions GONE are no more, and their bits free for others: they have discarded nothing. */
void th_calls_forget(struct th_calls *calls, uint64_t gone);
void th_calls_forget_habit(struct th_calls_habit *habit, uint64_t gone);

void th_calls_free(struct th_calls *calls);

#endif
