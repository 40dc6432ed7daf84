/*
 * How sessions end.
 *
 * A session is alive, then clearing, then dead. Destroying it in a callback only marks it: no step
 * of the event at hand looks at it any more, but its environment may be in use and the arrays that
 * the event goes through name it. What is left is done when the event is over: bury().
 *
 * In a tracing that is shared any thread may be in an event then. There
 *   1. the session is taken out of all that events find it by, under the lock, and its breakpoints
 *      are removed, by a change;
 *   2. after that, thread progress: nobody is on the way to it;
 *   3. it is freed, and its index may be another's.
 * Where the thread may wait it does all of it; else th_progress_later() does.
 */
#include "named_tracer.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/code/permission.h"

void th_trace_session_detach(struct th_session *session)
{
    atomic_fetch_sub_explicit(&session->tracing->attached, th_trace_session_is_attached(session),
                              memory_order_relaxed);
    atomic_store_explicit(&session->attached, false, memory_order_relaxed);
}

/* Step 1, but for the change: nothing finds SESSION any more. */
static void session_end_take_out(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    th_trace_session_detach(session);
    atomic_store_explicit(&session->clearing, true, memory_order_relaxed);
    atomic_store_explicit(&tracing->sessions[session->index], NULL, memory_order_release);
    th_trace_meta_tracers_orphan(session);
    if (session->shared) {
        tracing->ends[session->index]++;
        atomic_fetch_add_explicit(&tracing->destroyed, 1, memory_order_relaxed);
    }
    th_trace_tracees_leave(session);
    th_trace_update(tracing);
}

/* Step 3; while one thread does all, step 1 as well. */
static void bury(struct th_later *later)
{
    struct th_session *session = (struct th_session *)later;
    struct th_tracing *tracing = session->tracing;
    unsigned index = session->index;

    if (!session->shared) {
        session_end_take_out(session);
        tracing->ids[index] = 0;
        th_trace_session_free(session);
        return;
    }
    th_trace_session_free(session);
    th_trace_lock(tracing);
    tracing->ids[index] = 0;
    th_trace_unlock(tracing);
}

static void removed(struct th_change *change, void *session)
{
    (void)change;
    th_progress_later(&((struct th_session *)session)->later, bury);
}

static void destroy_shared(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    bool waits = th_code_permission_may_wait(), first;
    struct th_session_breakpoints *breakpoints = NULL;
    struct th_change *change = NULL;
    struct th_tracer_lock *lock;

    th_trace_lock(tracing);
    first = !th_trace_session_is_clearing(session);
    if (first) {
        session_end_take_out(session);
        breakpoints = th_trace_session_breakpoints(
            session); /* another thread may have set the first pattern */
    }
    if (breakpoints) {
        change = th_breakpoint_change_create();
        th_breakpoint_change_end_session(change, &breakpoints->base);
        if (waits)
            th_breakpoint_change_queue(change);
        else
            th_breakpoint_change_start(change, removed, session);
    }
    th_trace_unlock(tracing);
    if (!first)
        return;

    lock = th_trace_tracer_lock_pause(); /* nobody finds it any more */
    if (waits && change)
        th_breakpoint_change_run(change, NULL, NULL);
    if (waits) {
        th_progress_wait();
        bury(&session->later);
    } else if (!change) {
        th_progress_later(&session->later, bury);
    }
    th_trace_tracer_lock_return(lock);
}

void th_trace_sessions_settle(struct th_tracing *tracing)
{
    bool all;

    do {
        th_progress_settle();
        all = true;
        th_trace_lock(tracing);
        for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
            all &= !tracing->ids[i] || th_trace_at(tracing, i);
        th_trace_unlock(tracing);
    } while (!all);
}

void th_trace_session_destroy(struct th_session *session)
{
    if (session->shared) {
        destroy_shared(session);
    } else if (!th_trace_session_is_clearing(session)) {
        th_trace_session_detach(session);
        atomic_store_explicit(&session->clearing, true, memory_order_relaxed);
        th_trace_later(session->tracing, &session->later, bury);
        th_trace_settle(session->tracing);
    }
}
