/* Recorded calls and their ends, for the sessions that have patterns. */
#ifndef TH_PATTERN_HIT_H
#define TH_PATTERN_HIT_H

#include "dispatch.h"

/* A call meets the breakpoints of its function. */
void th_trace_patterns_call(struct th_dispatch *dispatch);

/* The hook of breakpoints for that: hit->context is not NULL. */
uint32_t th_trace_patterns_hit(struct th_hit *hit, struct th_bp_session *points,
                               struct th_shared *spec, uint32_t kind);

/* A return_from, exception_from or return_to: those who asked for it are told. */
void th_trace_patterns_return(struct th_dispatch *dispatch);

/* A process is scheduled in or out, or exits: its time goes on or stops. */
void th_trace_patterns_run(struct th_tracing *tracing, struct th_event *event);

/* A process is born: nobody called what it calls first. */
void th_trace_patterns_spawned(struct th_tracing *tracing, th_term id);

/* The call or end of one happened, and nobody gets it. */
void th_trace_patterns_aside(struct th_tracing *tracing, struct th_event *event);

/* --- Between pattern_hit.c and pattern_end.c --- */

/* CALLER, NULL if it is of another node, calls a function whose SITE is armed. */
void th_trace_patterns_hit_site(struct th_dispatch *dispatch, struct th_recorded_tracee *caller,
                                struct th_site *site);

/* What SESSION traces of the tracee now. */
static inline uint32_t th_trace_pattern_flags(const struct th_dispatch *dispatch,
                                              const struct th_session *session)
{
    return th_trace_refs_flags(th_trace_tracee_refs(dispatch->tracing, dispatch->tracee), session);
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
