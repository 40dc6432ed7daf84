/*
 * Calls that a session did not want, per tracee, so that their returns are held back too.
 *
 * In the BEAM a call that `enabled` discards pushes no frame, so that neither return_from, exception_from nor
 * return_to of it is ever sent. A recording has them all, and the tracer may want some calls and discard
 * others; so it must be known to which call a return belongs.
 *
 * As long as a session has discarded all calls of a tracee, or none, one bit says what becomes of all returns, and nothing is
 * kept. With the first call that is unlike those before, a stack begins: one entry a call (equal ones
 * in a row share one), with a bit for each session that discarded it. A return takes the topmost
 * entry of its function and all above it, which have ended too (their returns were not
 * recorded). What is not on the stack was called before it began: the old bit decides.
 *
 * A stack holds at most TH_CALLS_LIMIT entries; of more, the older half is forgotten and counted.
 */
#ifndef TH_CALLS_H
#define TH_CALLS_H

#include "event.h"

enum { TH_CALLS_LIMIT = 65536, TH_CALLS_SESSIONS = 64 };

struct th_calls {
    uint64_t seen;       /* sessions that have had a call of this tracee */
    uint64_t discarding; /* of them, those that had discarded all calls when the stack began */
    uint64_t latest;     /* sessions that may not see a return_to now: see th_calls_return_to() */
    bool after_return;   /* the tracee's last event was a return_from or exception_from */
    bool stacking;       /* the stack has begun */
    uint32_t count, capacity;
    struct th_open_call {
        th_term module, function;
        uint32_t arity;
        uint32_t times;
        uint64_t discarded; /* sessions, one bit each */
    } *stack;
};

/*
 * A call was offered to the sessions OFFERED, and discarded by DISCARDED of them. FUNCTION is only asked for once a stack is there.
 * Returns TH_MALFORMED if the event's function is damaged.
 */
enum th_status th_calls_enter(struct th_calls *calls, struct th_event *event, uint64_t offered,
                              uint64_t discarded, uint64_t *forgotten);

/* The sessions that may not see this return_from, exception_from or return_to. */
enum th_status th_calls_leave(struct th_calls *calls, struct th_event *event, uint64_t *withheld);

void th_calls_free(struct th_calls *calls);

#endif
