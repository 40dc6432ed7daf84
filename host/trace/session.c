/* Creates sessions, finds them by weak ids, asks for their trace_status, and returns their names,
 * states and counts. */
#include "session.h"

#include "named_tracer.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "trace_thread.h"

#include "host/base/memory.h"
#include "host/base/shared.h"

#include <stdatomic.h>

/* Asks for the first trace_status of SESSION, which no other thread knows yet. */
static enum th_status ask_first_status(const struct th_session *session)
{
    struct th_attachment *attachment = th_trace_session_attachment(session);
    struct th_tracer_lock *lock = th_trace_tracer_lock_pause();
    struct th_outputs outputs = {0};
    enum th_status status = th_trace_outputs_check(attachment, &outputs);

    if (status == TH_OK) {
        th_trace_enter(session->tracing);
        status = th_trace_attachment_ask_first_status(attachment);
        th_trace_leave(session->tracing);
    }
    th_trace_outputs_close(&outputs);
    th_trace_tracer_lock_return(lock);
    return status;
}

bool th_trace_session_ask_status(struct th_session *session, th_term tracee)
{
    bool stays;

    th_trace_enter(session->tracing); /* keeps the tracer */
    stays = th_trace_attachment_ask_status(th_trace_session_attachment(session), tracee);
    th_trace_leave(session->tracing);
    return stays;
}

/* --- creation --- */

static struct th_session *new_session(struct th_tracing *tracing,
                                      const struct th_session_setup *setup)
{
    struct th_session *session = th_shared_alloc(sizeof *session);

    session->tracing = tracing;
    session->shared = tracing->shared;
    session->title = setup->title ? th_shared_strdup(setup->title) : NULL;
    atomic_init(&session->attached, true);
    atomic_init(&session->attachment, th_trace_attachment_create(session, setup, setup->state));
    return session;
}

void th_trace_session_free(struct th_session *session)
{
    if (session->shared && session->id)
        th_trace_thread_forget(session);
    th_trace_session_breakpoints_end(session);
    th_trace_meta_tracers_orphan(session);
    th_trace_meta_tracers_forget(session);
    th_trace_message_filters_end(session);
    th_trace_attachment_free(th_trace_session_attachment(session));
    th_free(session->expected);
    th_free(session->failure);
    th_shared_free(session->title);
    th_shared_free(session);
}

static unsigned free_index(const struct th_tracing *tracing)
{
    unsigned index = 0;

    while (index < TH_SESSIONS_LIMIT && tracing->ids[index])
        index++;
    return index;
}

void th_trace_session_identify(struct th_session *session, unsigned index)
{
    session->index = index;
    session->bit = (uint64_t)1 << index;
    atomic_store_explicit(&session->calls_bit, session->bit, memory_order_relaxed);
    session->id =
        (atomic_fetch_add_explicit(&session->tracing->created, 1, memory_order_relaxed) + 1) *
            TH_SESSIONS_LIMIT +
        index;
}

static enum th_status session_refuse(struct th_session *session, enum th_status status)
{
    th_error_context("cannot attach tracer '%s'", th_trace_session_name(session));
    th_trace_session_free(session);
    return status;
}

enum th_status th_trace_session_begin_meta(struct th_tracing *tracing,
                                           const struct th_session_setup *setup,
                                           struct th_session **result)
{
    struct th_session *session = new_session(tracing, setup);
    enum th_status status;

    session->meta = true;
    status = ask_first_status(session);
    if (status != TH_OK)
        return session_refuse(session, status);
    *result = session;
    return TH_OK;
}

enum th_status th_trace_session_create(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **result)
{
    struct th_session *session = new_session(tracing, setup);
    enum th_status status = TH_OK;
    unsigned index;

    th_trace_lock(tracing);
    index = free_index(tracing);
    th_trace_unlock(tracing);
    if (index < TH_SESSIONS_LIMIT)
        status = ask_first_status(session);
    if (status == TH_OK && index < TH_SESSIONS_LIMIT) { /* another thread may have taken the
                                                           index */
        th_trace_lock(tracing);
        index = free_index(tracing);
        if (index < TH_SESSIONS_LIMIT) {
            th_trace_session_identify(session, index);
            session->unwanted_before =
                atomic_load_explicit(&tracing->unwanted, memory_order_relaxed);
            tracing->ids[index] = session->id;
            atomic_store_explicit(&tracing->sessions[index], session, memory_order_release);
            atomic_fetch_add_explicit(&tracing->attached, 1, memory_order_relaxed);
            th_trace_update(tracing);
        }
        th_trace_unlock(tracing);
        th_trace_settle(tracing);
    }
    if (status == TH_OK && index == TH_SESSIONS_LIMIT)
        status = th_error_raise(TH_USAGE, "there can be at most %d tracers", TH_SESSIONS_LIMIT);
    if (status != TH_OK)
        return session_refuse(session, status);
    *result = session;
    return TH_OK;
}

enum th_status th_trace_session_attach(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **session)
{
    enum th_status status = th_trace_session_create(tracing, setup, session);

    if (status != TH_OK)
        return status;
    th_trace_lock(tracing);
    atomic_store_explicit(&(*session)->flags, setup->flags, memory_order_relaxed);
    (*session)->found[TH_KIND_PROCESS] = setup->flags | TH_FLAG_SET_ON_SPAWN;
    (*session)->found[TH_KIND_PORT] = setup->flags & TH_FLAGS_OF_PORTS;
    (*session)->born[TH_KIND_PORT] = setup->flags & TH_FLAGS_OF_PORTS;
    th_trace_update(tracing);
    th_trace_unlock(tracing);
    th_trace_settle(tracing);
    return TH_OK;
}

/* --- weak ids --- */

th_session_id th_trace_session_id_of(const struct th_session *session)
{
    return session->id;
}

enum th_session_state th_trace_session_state(struct th_tracing *tracing, th_session_id id)
{
    size_t index = id % TH_SESSIONS_LIMIT;
    enum th_session_state state = TH_SESSION_DEAD;
    const struct th_session *session;

    th_trace_lock(tracing);
    session = th_trace_at(tracing, index);
    if (id && tracing->ids[index] == id)
        state = session && !th_trace_session_is_clearing(session) ? TH_SESSION_ALIVE
                                                                  : TH_SESSION_CLEARING;
    th_trace_unlock(tracing);
    return state;
}

struct th_session *th_trace_session_find(const struct th_tracing *tracing, th_session_id id)
{
    struct th_session *session = th_trace_at(tracing, id % TH_SESSIONS_LIMIT);

    return session && session->id == id && !th_trace_session_is_clearing(session) ? session : NULL;
}

enum th_status th_trace_session_check_there(struct th_tracing *tracing, th_session_id id)
{
    return th_self.attachment || th_trace_session_state(tracing, id) == TH_SESSION_ALIVE
               ? TH_OK
               : th_error_raise(TH_FAILED, "the session has ended meanwhile");
}

/* --- trace_status --- */

bool th_trace_session_status(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    bool attached = th_trace_session_is_attached(session);

    if (!attached || th_self.attachment)
        return attached;
    th_trace_enter(tracing); /* keeps the session, which its callback or another thread may
                                destroy */
    if (!th_trace_session_ask_status(session, TH_AM(undefined))) {
        th_trace_lock(tracing);
        th_trace_session_detach(session);
        th_trace_unlock(tracing);
    }
    attached = th_trace_session_is_attached(session);
    th_trace_leave(tracing);
    th_trace_settle(tracing); /* may free the session */
    return attached;
}

/* --- holds --- */

/* Number of the thread's hold (0: none), and of all holds so far. Relaxed: numbers in
 * themselves. */
static _Thread_local uint64_t hold;
static _Atomic uint64_t holds;

bool th_trace_hold(void)
{
    bool held = hold;

    if (!held)
        hold = atomic_fetch_add_explicit(&holds, 1, memory_order_relaxed) + 1;
    return !held;
}

uint64_t th_trace_held(void)
{
    return hold;
}

/* Ends the hold of SESSION's tracer. In a section. Afterwards the session may be destroyed, as its
 * tracer may do so. */
static void end_pending(void *context, struct th_session *session)
{
    struct th_attachment *attachment = th_trace_session_attachment(session);
    bool asks_again;

    (void)context;
    if (atomic_load_explicit(&attachment->pending, memory_order_relaxed) != hold)
        return;
    atomic_store_explicit(&attachment->pending, 0, memory_order_relaxed);
    asks_again = atomic_exchange_explicit(&attachment->asks_again, false, memory_order_relaxed);
    if (asks_again && session->meta)
        th_trace_session_ask_status(session, TH_AM(undefined));
    else if (asks_again)
        th_trace_session_status(session);
}

void th_trace_go(struct th_tracing *tracing)
{
    struct th_tracer_lock *lock;

    if (!hold)
        return;
    th_trace_enter(tracing); /* keeps sessions that were found before */
    lock = th_trace_tracer_lock_pause();
    th_trace_each_tracer(tracing, end_pending, NULL);
    hold = 0;
    th_trace_leave(tracing);
    th_trace_tracer_lock_return(lock);
}

/* In a section, which keeps the sessions that it finds. (A session that is attached meanwhile may
 * be missed.) */
void th_trace_ended(struct th_tracing *tracing, th_term id)
{
    struct th_session *session;

    th_trace_enter(tracing);
    for (size_t i = 0; atomic_load_explicit(&tracing->attached, memory_order_relaxed) > 0 &&
                       (session = th_trace_next(tracing, &i));)
        if (th_trace_session_attachment(session)->state == id)
            th_trace_session_status(session);
    th_trace_meta_tracers_lose(tracing, id);
    th_trace_leave(tracing);
}

bool th_trace_session_attached(const struct th_session *session)
{
    return th_trace_session_is_attached(session);
}

char *th_trace_session_failure(const struct th_session *session)
{
    char *copy;

    th_trace_lock(session->tracing);
    copy = session->failure ? th_strdup(session->failure) : NULL;
    th_trace_unlock(session->tracing);
    return copy;
}

bool th_trace_session_failed(const struct th_session *session)
{
    return atomic_load_explicit(&session->failed, memory_order_relaxed);
}

struct th_tracing *th_trace_session_tracing(const struct th_session *session)
{
    return session->tracing;
}

const char *th_trace_session_name(const struct th_session *session)
{
    return th_trace_session_attachment(session)->name;
}

struct th_library *th_trace_session_library(const struct th_session *session)
{
    return th_trace_session_attachment(session)->library;
}

bool th_trace_session_has_tracer(const struct th_session *session)
{
    const struct th_attachment *attachment = th_trace_session_attachment(session);

    return attachment->library || attachment->own;
}

const char *th_trace_session_title(const struct th_session *session)
{
    return session->title;
}

th_term th_trace_session_state_term(const struct th_session *session)
{
    return th_trace_session_attachment(session)->state;
}

/* Copies SIZE bytes of the counts of SESSION, from count FIRST on, into COUNTS. */
static void copy_counts(const struct th_session *session, size_t first, void *counts, size_t size)
{
    uint64_t sums[TH_COUNTED_ALL];

    memcpy(sums, session->counts, sizeof sums);
    th_trace_thread_sum(session, sums);
    memcpy(counts, sums + first, size);
}

struct th_session_counts th_trace_session_counted(const struct th_session *session)
{
    struct th_session_counts counts;

    copy_counts(session, 0, &counts, sizeof counts);
    counts.enabled += counts.discarded; /* th_trace_delivery_decide() counts only the answers
                                           other than `discard` */
    return counts;
}

struct th_session_counts th_trace_session_counts(const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counted(session);

    counts.filtered += atomic_load_explicit(&session->tracing->unwanted, memory_order_relaxed) -
                       session->unwanted_before;
    return counts;
}

struct th_pattern_counts th_trace_session_pattern_counts(const struct th_session *session)
{
    struct th_pattern_counts counts;

    copy_counts(session, TH_COUNTED_SESSION, &counts, sizeof counts);
    return counts;
}

struct th_message_counts th_trace_session_message_counts(const struct th_session *session)
{
    struct th_message_counts counts;

    copy_counts(session, TH_COUNTED_PATTERNS, &counts, sizeof counts);
    return counts;
}
