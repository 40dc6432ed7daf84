/*
 * Tracers of meta breakpoints that are not their session's own. Inner header of trace/.
 *
 * One is called through a session of its own, which is in no list, has no flags and traces nobody:
 * so it has a name for the crash handler, a state, counts, and an environment, as any tracer has.
 *
 * Shares of it are with the breakpoints and the settings that have it. When the last one is gone,
 * which may be on any thread and in the middle of a change, it has ended, and is called no more.
 * While the tracing is not shared, it is marked then, and the thread that its tracing belongs to
 * unloads it between two events. In a tracing that is shared th_progress_later() does so:
 *   1. after thread progress, nobody is in its callbacks or is about to call it: what it counted
 *      is added to what its session keeps of those of its name, and it is taken out of the list;
 *   2. after thread progress again, nobody looks at it in the list: it is unloaded.
 */
#ifndef TH_META_TRACER_H
#define TH_META_TRACER_H

#include "pattern.h"
#include "host/breakpoint/breakpoint.h"

enum th_meta_state { TH_META_UNSHARED, TH_META_SHARED, TH_META_ENDED };

struct th_meta_tracer {
    struct th_shared shared;    /* the first member */
    struct th_session *session; /* its own */
    /* Whose breakpoints have it; NULL once that is clearing, and it is called no more. Written
     * under the lock; relaxed: whoever reads it is in a section, so that it stays. */
    struct th_session *_Atomic owner;
    /* Of the tracing's. Written under the lock, with release, read in sections, with acquire. */
    struct th_meta_tracer *_Atomic next;
    /* Of enum th_meta_state. Ended is written when the last share is gone, with release: nobody
     * uses it any more; acquire. */
    _Atomic uint32_t state;
    struct th_later later;
};

/* What a session keeps of its meta tracers of one name that are gone. Under the lock. */
struct th_meta_past {
    struct th_meta_past *next;
    char *name;
    struct th_session_counts counts;
};

/* Asks enabled(trace_status, State, undefined); as th_trace_session_create(). The caller's share.
 */
enum th_status th_trace_meta_tracer_create(struct th_session *owner,
                                           const struct th_session_setup *setup,
                                           struct th_meta_tracer **result);

/* The session of the one of this id, and whose breakpoints have it; NULL: it is gone, or wants no
 * more. In a section, if shared. */
struct th_session *th_trace_meta_tracer_find(struct th_tracing *tracing, th_session_id id,
                                             struct th_session **owner);

/* An end that the one of this id, who is gone, had asked for: its session counts it, if that is
 * there. */
void th_trace_meta_tracer_untold(struct th_tracing *tracing, th_session_id id);

/* The process or port ID has ended: those whose state it is are asked for their trace_status. One
 * that answers `remove` is found to be gone by each breakpoint, when that is hit. In a section, if
 * shared. */
void th_trace_meta_tracers_lose(struct th_tracing *tracing, th_term id);

/* The session is clearing: its meta tracers are called no more. */
void th_trace_meta_tracers_orphan(struct th_session *owner);

/* What it keeps of those that are gone. */
void th_trace_meta_tracers_forget(struct th_session *owner);

/* Calls VISIT for each session of TRACING, then for that of each meta tracer. In a shared tracing
 * VISIT is called in a section, so that the session and its attachment stay. */
void th_trace_each_tracer(struct th_tracing *tracing,
                          void (*visit)(void *context, struct th_session *session), void *context);

/* The tracing has become shared. */
void th_trace_meta_tracers_share(struct th_tracing *tracing);

/* Unloads those that ended while the tracing was not shared. Outside of events and callbacks. */
void th_trace_meta_tracers_reap(struct th_tracing *tracing);

/* All sessions are gone: waits until all meta tracers are. */
void th_trace_meta_tracers_settle(struct th_tracing *tracing);

#endif
