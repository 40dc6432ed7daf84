/*
 * A trace session, as far as breakpoints know it: what to do when one of its breakpoints is hit,
 * and which breakpoints it has. trace/ has one in each of its own sessions.
 */
#ifndef TH_BP_SESSION_H
#define TH_BP_SESSION_H

#include "shared.h"

#include <stdbool.h>
#include <stddef.h>

struct th_account;
struct th_account_frame;
struct th_account_reading;
struct th_generic_bp;
struct th_hit;
struct th_bp_session;

/*
 * What trace/ does. All are called in the read section of a hit, so that what they are handed is
 * good until they return; they neither block nor wait. NULL where a session has no breakpoints of
 * such a kind.
 */
struct th_bp_hooks {
    /* A local or global breakpoint, KIND, was hit. SPEC is its match specification, NULL if it has
     * none. The answer is of enum th_hit_asked. */
    uint32_t (*call)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     uint32_t kind);
    /* A meta breakpoint was hit, whose tracer is TRACER. TH_HIT_REMOVE: the tracer is to go. */
    uint32_t (*meta)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     struct th_shared *tracer);

    /* call_time and call_memory: the account of the process that calls, and READING of now; NULL if
     * the session does not trace its calls. */
    struct th_account *(*account)(struct th_hit *hit, struct th_bp_session *session,
                                  struct th_account_reading *reading);
    /* The call is accounted for: FRAME is to be handed to th_breakpoint_account_return() when it
     * returns. */
    void (*entered)(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame);

    /* A meta breakpoint has lost TRACER, as its hook asked: said once, however many hits asked for
     * it at the same time. */
    void (*meta_removed)(struct th_bp_session *session, struct th_shared *tracer);
};

struct th_bp_session {
    /* Each breakpoint of the session has a share, each change that names it has one. So a session
     * that is to be freed gives its own share back when a change with
     * th_breakpoint_change_end_session() is done. */
    struct th_shared shared;
    const struct th_bp_hooks *hooks; /* never changes */

    /* Written and read with the code modification permission: */
    bool ended;                        /* it gets no more breakpoints */
    struct th_generic_bp *breakpoints; /* all that it has */
    size_t count;                      /* of them */
};

/* END is called when nobody needs the session any more. */
static inline void th_breakpoint_session_init(struct th_bp_session *session,
                                              const struct th_bp_hooks *hooks,
                                              void (*end)(struct th_shared *shared))
{
    *session = (struct th_bp_session){.hooks = hooks};
    th_breakpoint_shared_init(&session->shared, end);
}

#endif
