/* One event as it goes to the sessions: shared by dispatch.c, patterns and messages. */
#ifndef TH_DISPATCH_H
#define TH_DISPATCH_H

#include "delivery.h"
#include "trace_internal.h"

struct th_dispatch {
    struct th_delivery delivery; /* to the current session; first member */
    struct th_tracing *tracing;
    struct th_event *event;
    uint32_t flag;                     /* the flag that lets the event pass */
    th_term tracee;                    /* the acting process for seq_trace, which has no tracee */
    struct th_recorded_tracee *caller; /* at a pattern: the tracee's own struct; NULL: none */
    bool aside;                        /* an end at a pattern that no session gets */
    th_term message[3];                /* subject for the head of a message's specification */
    /* For an end at a pattern: */
    const struct th_mfa *function; /* the function that has ended, or is returned to; NULL: none */
    uint64_t waiting;              /* sessions that want the return_to that follows, by index */
    /* Sets of sessions, by index. For a call: */
    uint64_t offered;  /* sessions whose `enabled` was called */
    uint64_t declined; /* sessions that discarded the call, or whose tracee is silent */
    /* For an end, if some sessions discarded the call and others did not: */
    uint64_t withheld; /* sessions that must not see the end, or may not: see `doubtful` */
    uint64_t doubtful; /* sessions for which it is unknown whether they may see the end */
    uint64_t risked;   /* doubtful sessions that get the end all the same */
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

/* Offers a send or receive of a process to the session of the delivery, which has a filter for such
 * messages; TRACED: the session's flags let the event pass. Returns false if the filter is gone. */
bool th_trace_message_filter_offer(struct th_dispatch *dispatch, bool traced);

/* --- Functions of sources of deliveries ------------------------------------------------------- */

static inline struct th_dispatch *th_trace_dispatch_of(const struct th_delivery *delivery)
{
    return (struct th_dispatch *)delivery;
}

bool th_trace_dispatch_decode(struct th_delivery *delivery);

/* Returns the session's flags of the tracee now. */
uint32_t th_trace_dispatch_flags(const struct th_delivery *delivery);

void th_trace_dispatch_fill(struct th_delivery *delivery, th_env *env, th_term message,
                            uint32_t flags);
void th_trace_dispatch_forget(struct th_delivery *delivery, struct th_session *session);
void th_trace_dispatch_context(const struct th_delivery *delivery,
                               struct th_match_context *context);

/* --- Recorded calls and their ends, for the sessions that have patterns ----------------------- */

/* Lets a call meet the breakpoints of its function. */
void th_trace_patterns_call(struct th_dispatch *dispatch);

/* Hook of breakpoints for recorded calls: hit->context is not NULL. */
uint32_t th_trace_patterns_hit(struct th_hit *hit, struct th_bp_session *breakpoints,
                               struct th_shared *spec, uint32_t kind);

/* Delivers a return_from, exception_from or return_to to the sessions that requested it. */
void th_trace_patterns_return(struct th_dispatch *dispatch);

/* Stops or continues the time of a process that is scheduled out or exits, or is scheduled in. */
void th_trace_patterns_run(struct th_tracing *tracing, struct th_event *event);

/* Notes the birth of a process: its first call has no caller. */
void th_trace_patterns_spawned(struct th_tracing *tracing, th_term id);

/* Follows a call or an end that no session gets. */
void th_trace_patterns_skip(struct th_tracing *tracing, struct th_event *event);

/* Returns the flags that SESSION has for the tracee now. */
static inline uint32_t th_trace_pattern_flags(const struct th_dispatch *dispatch,
                                              const struct th_session *session)
{
    return th_trace_flags_of_session(th_trace_tracee_flags(dispatch->tracing, dispatch->tracee),
                                     session);
}

/* Returns the flags of a meta trace, whatever the tracee's flags: a time stamp; as recorded, if the
 * session takes recordings as they are. */
static inline uint32_t th_trace_pattern_meta_flags(const struct th_session *session)
{
    return atomic_load_explicit(&session->flags, memory_order_relaxed) & TH_FLAG_AS_RECORDED
               ? TH_FLAG_AS_RECORDED
               : TH_FLAG_TIMESTAMP;
}

#endif
