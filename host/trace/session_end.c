/*
 * How sessions end.
 *
 * A session is alive, then clearing, then dead. Destroying it in a callback only marks it: no step
 * of the event at hand looks at it any more, but its environment may be in use and the arrays that
 * the event goes through name it. What is left is done when the event is over:
 * th_trace_sessions_bury().
 *
 * In a tracing that is shared any thread may be in an event then. There
 *   1. the session is taken out of all that events find it by, under the lock, and its breakpoints
 *      are removed, by a change;
 *   2. after that, thread progress: nobody is on the way to it;
 *   3. it is freed, and its index may be another's.
 * Where the thread may wait it does all of it; else th_progress_later() does.
 */
#include "tracing.h"
#include "named_tracer.h"
#include "pattern_internal.h"

#include "host/code/code.h"

/* --- while one thread does all --- */

void th_trace_session_detach(struct th_session *session)
{
    atomic_fetch_sub_explicit(&session->tracing->attached, th_trace_session_is_attached(session),
                              memory_order_relaxed);
    atomic_store_explicit(&session->attached, false, memory_order_relaxed);
}

static void destroy(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    if (th_trace_session_is_clearing(session))
        return;
    th_trace_session_detach(session);
    atomic_store_explicit(&session->clearing, true, memory_order_relaxed);
    session->next_clearing = tracing->clearing;
    tracing->clearing = session;
    tracing->unsettled = true;
    th_trace_settle(tracing);
}

static void bury(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    atomic_store_explicit(&tracing->sessions[session->index], NULL, memory_order_release);
    tracing->ids[session->index] = 0;
    th_trace_tracees_leave(session);
    th_recorded_habit_forget(&tracing->habit, (uint64_t)1 << session->index);
    th_trace_update(tracing);
    th_trace_session_free(session);
}

void th_trace_sessions_bury(struct th_tracing *tracing)
{
    while (tracing->clearing) {
        struct th_session *session = tracing->clearing;
        tracing->clearing = session->next_clearing;
        bury(session);
    }
}

/* --- where other threads are --- */

/* Step 3. */
static void bury_shared(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    struct th_points *points = atomic_load_explicit(&session->points, memory_order_relaxed);
    unsigned index = session->index;

    atomic_store_explicit(&session->points, NULL, memory_order_relaxed);
    if (points)
        th_trace_points_drop(points);
    th_trace_session_free(session);
    th_trace_lock(tracing);
    tracing->ids[index] = 0;
    th_trace_unlock(tracing);
}

static void bury_later(struct th_later *later)
{
    bury_shared((struct th_session *)((char *)later - offsetof(struct th_session, later)));
}

static void removed(struct th_change *change, void *session)
{
    (void)change;
    th_progress_later(&((struct th_session *)session)->later, bury_later);
}

/* Step 1, up to the change that is to follow, if there are breakpoints. */
static struct th_change *take_out(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    struct th_points *points = atomic_load_explicit(&session->points, memory_order_relaxed);
    struct th_change *change;

    th_trace_session_detach(session);
    atomic_store_explicit(&session->clearing, true, memory_order_relaxed);
    atomic_store_explicit(&tracing->sessions[session->index], NULL, memory_order_release);
    th_trace_meta_tracers_orphan(session);
    tracing->ends[session->index]++;
    atomic_fetch_add_explicit(&tracing->destroyed, 1, memory_order_relaxed);
    th_trace_tracees_leave(session);
    th_trace_update(tracing);
    if (!points)
        return NULL;
    change = th_breakpoint_change_create();
    th_breakpoint_change_end_session(change, &points->base);
    return change;
}

static void destroy_shared(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    bool waits = th_code_permission_may_wait();
    struct th_change *change = NULL;
    struct th_tracer_lock *lock;
    bool first;

    th_trace_lock(tracing);
    first = !th_trace_session_is_clearing(session);
    if (first)
        change = take_out(session);
    if (change && waits)
        th_breakpoint_change_queue(change);
    else if (change)
        th_breakpoint_change_start(change, removed, session);
    th_trace_unlock(tracing);
    if (!first)
        return;
    lock = th_trace_tracer_lock_pause(); /* nobody finds it any more */
    if (waits && change)
        th_breakpoint_change_run(change, NULL, NULL);
    if (waits) {
        th_progress_wait();
        bury_shared(session);
    } else if (!change) {
        th_progress_later(&session->later, bury_later);
    }
    th_trace_tracer_lock_return(lock);
}

static bool are_buried(struct th_tracing *tracing)
{
    bool all = true;

    th_trace_lock(tracing);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        all &= !tracing->ids[i] || th_trace_at(tracing, i);
    th_trace_unlock(tracing);
    return all;
}

void th_trace_sessions_settle(struct th_tracing *tracing)
{
    do
        th_progress_settle();
    while (!are_buried(tracing));
}

void th_trace_session_destroy(struct th_session *session)
{
    if (session->shared)
        destroy_shared(session);
    else
        destroy(session);
}
