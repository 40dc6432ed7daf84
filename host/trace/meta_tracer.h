/*
 * Tracers of meta breakpoints that are not their session's own. Inner header of trace/.
 *
 * One is called through a session of its own, which is in no list, has no flags and traces nobody:
 * so it has a name for the crash handler, a state, and an environment, as any tracer has.
 *
 * Shares of it are with the breakpoints and the settings that have it. When the last one is gone,
 * which may be on any thread, it is marked; the thread that its tracing belongs to unloads it then,
 * between two events.
 */
#ifndef TH_META_TRACER_H
#define TH_META_TRACER_H

#include "session.h"
#include "host/breakpoint/breakpoint.h"

struct th_meta_tracer {
    struct th_shared shared;     /* the first member */
    struct th_session *session;  /* its own */
    struct th_session *owner;    /* whose breakpoints have it; NULL once that is gone */
    struct th_meta_tracer *next; /* of the tracing's */
    /* Written when the last share is gone, with release: nobody uses it any more; acquire. */
    _Atomic bool ended;
};

/* Asks enabled(trace_status, State, undefined); as th_session_create(). The caller's share. */
enum th_status th_meta_tracer_create(struct th_session *owner, const struct th_session_setup *setup,
                                     struct th_meta_tracer **result);

/* By the id of its session; NULL: it is gone. */
struct th_meta_tracer *th_meta_tracer_find(struct th_tracing *tracing, th_session_id id);

/* The process or port ID has ended: those whose state it is are asked for their trace_status. One
 * that answers `remove` is found to be gone by each breakpoint, when that is hit. */
void th_meta_tracers_lose(struct th_tracing *tracing, th_term id);

/* The session is about to be freed. */
void th_meta_tracers_orphan(struct th_session *owner);

/* Unloads those that ended. Outside of events and callbacks. */
void th_meta_tracers_reap(struct th_tracing *tracing);

#endif
