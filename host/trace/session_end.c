/*
 * Ends sessions.
 *
 * A session is alive, then clearing, then dead. A callback that destroys a session only marks it:
 * the rest of the current event skips the session, but the session's environment may be in use and
 * the arrays of the event refer to the session. bury() does the rest when the event is over.
 *
 * In a shared tracing any thread may be in an event then:
 * 1. The session is removed from all data by which events find it, under the lock, and a change
 *    removes its breakpoints.
 * 2. After a grace period no event is about to use the session.
 * 3. The session is freed, and its index may be reused. A thread that may wait does all steps; else
 *    th_progress_later() does steps 2 and 3.
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
    atomic_store_explicit(&session->calls_bit, 0, memory_order_relaxed);
}

/* Step 1 without the change: nothing finds SESSION any more. */
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

/* Step 3; in an unshared tracing also step 1. */
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

    lock = th_trace_tracer_lock_pause(); /* no thread finds it any more */
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
