/* One event on its way to the sessions: what dispatch.c, patterns and messages share. */
#ifndef TH_DISPATCH_H
#define TH_DISPATCH_H

#include "delivery.h"
#include "trace_internal.h"

struct th_dispatch {
    struct th_delivery delivery; /* to the session at hand; the first member */
    struct th_tracing *tracing;
    struct th_event *event;
    uint32_t flag;                     /* that lets it pass */
    th_term tracee;                    /* who acted for seq_trace, which has no tracee */
    struct th_recorded_tracee *caller; /* at a pattern: the tracee's own; NULL: there is none */
    bool aside;                        /* an end at a pattern that nobody gets */
    th_term message[3]; /* what the head of a message's specification is matched with */
    /* For an end at a pattern: */
    const struct th_mfa *function; /* that has ended, or is returned to; NULL: none */
    uint64_t waiting;              /* sessions that want the return_to that follows, by index */
    /* Sets of sessions, by index. For a call: */
    uint64_t offered;  /* `enabled` was called */
    uint64_t declined; /* it was discarded, or is to be silent */
    /* For an end, where the call of some sessions was discarded, and that of others not: */
    uint64_t withheld; /* these may not see it, or it is doubtful whether they may */
    uint64_t doubtful; /* of these it is not known whether they may see it */
    uint64_t risked;   /* of the doubtful ones, those that it is sent to */
    enum th_status status;
};

/* Fills the delivery of the event for ATTACHMENT's session, which traces the tracee with FLAGS. */
static inline void th_trace_dispatch_address(struct th_dispatch *dispatch,
                                             struct th_attachment *attachment, uint32_t flags)
{
    th_trace_delivery_address(&dispatch->delivery, attachment);
    dispatch->delivery.flags = flags;
    dispatch->delivery.argv[2] = dispatch->tracee;
}

/* Offers a send or receive of a process, which is addressed to a session that has a filter for it
 * and traces TRACED for such events. False: there is no filter any more. */
bool th_trace_message_filter_offer(struct th_dispatch *dispatch, bool traced);

/* --- For sources of deliveries ---------------------------------------------------------------- */

static inline struct th_dispatch *th_trace_dispatch_of(const struct th_delivery *delivery)
{
    return (struct th_dispatch *)delivery;
}

bool th_trace_dispatch_decode(struct th_delivery *delivery);

/* The session's flags of the tracee now. */
uint32_t th_trace_dispatch_flags(const struct th_delivery *delivery);

void th_trace_dispatch_fill(struct th_delivery *delivery, th_env *env, th_term message,
                            uint32_t flags);
void th_trace_dispatch_forget(struct th_delivery *delivery, struct th_session *session);
void th_trace_dispatch_context(const struct th_delivery *delivery,
                               struct th_match_context *context);

/* --- Recorded calls and their ends, for the sessions that have patterns ----------------------- */

/* A call meets the breakpoints of its function. */
void th_trace_patterns_call(struct th_dispatch *dispatch);

/* The hook of breakpoints for that: hit->context is not NULL. */
uint32_t th_trace_patterns_hit(struct th_hit *hit, struct th_bp_session *breakpoints,
                               struct th_shared *spec, uint32_t kind);

/* A return_from, exception_from or return_to: those who asked for it are told. */
void th_trace_patterns_return(struct th_dispatch *dispatch);

/* A process is scheduled in or out, or exits: its time goes on or stops. */
void th_trace_patterns_run(struct th_tracing *tracing, struct th_event *event);

/* A process is born: nobody called what it calls first. */
void th_trace_patterns_spawned(struct th_tracing *tracing, th_term id);

/* The call or end of one happened, and nobody gets it. */
void th_trace_patterns_skip(struct th_tracing *tracing, struct th_event *event);

/* What SESSION traces of the tracee now. */
static inline uint32_t th_trace_pattern_flags(const struct th_dispatch *dispatch,
                                              const struct th_session *session)
{
    return th_trace_flags_of_session(th_trace_tracee_flags(dispatch->tracing, dispatch->tracee),
                                     session);
}

/* Meta trace has time stamps, whatever the tracee's flags; where the session takes a recording as
 * it is, those that are there. */
static inline uint32_t th_trace_pattern_meta_flags(const struct th_session *session)
{
    return atomic_load_explicit(&session->flags, memory_order_relaxed) & TH_FLAG_AS_RECORDED
               ? TH_FLAG_AS_RECORDED
               : TH_FLAG_TIMESTAMP;
}

#endif
