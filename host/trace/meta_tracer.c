/* Creates, finds and ends meta tracers: see pattern_internal.h. */
#include "pattern_internal.h"
#include "tracing.h"

#include "host/base/memory.h"

static struct th_meta_tracer *first(const struct th_tracing *tracing)
{
    return atomic_load_explicit(&tracing->meta_tracers, memory_order_acquire);
}

static struct th_meta_tracer *after(const struct th_meta_tracer *tracer)
{
    return atomic_load_explicit(&tracer->next, memory_order_acquire);
}

static struct th_session *owner_of(const struct th_meta_tracer *tracer)
{
    return atomic_load_explicit(&tracer->owner, memory_order_relaxed);
}

static bool meta_tracer_has_ended(const struct th_meta_tracer *tracer)
{
    return atomic_load_explicit(&tracer->state, memory_order_acquire) == TH_META_ENDED;
}

/* Returns the owner; NULL: the tracer is called no more. */
static struct th_session *caller_of(const struct th_meta_tracer *tracer)
{
    struct th_session *owner = owner_of(tracer);

    return !meta_tracer_has_ended(tracer) && owner && th_trace_session_is_attached(owner) &&
                   th_trace_session_is_attached(tracer->session)
               ? owner
               : NULL;
}

/* --- counts --- */

/* Under the lock. */
static struct th_meta_past *past_of(const struct th_session *owner, const char *name)
{
    struct th_meta_past *past = owner->meta_past;

    while (past && strcmp(past->name, name) != 0)
        past = past->next;
    return past;
}

static void meta_tracer_add(struct th_session_counts *sum, const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counted(session);
    uint64_t *words = (uint64_t *)sum;

    for (size_t i = 0; i < TH_COUNTED_SESSION; i++)
        words[i] += ((const uint64_t *)&counts)[i];
}

void th_trace_meta_tracers_forget(struct th_session *owner)
{
    while (owner->meta_past) {
        struct th_meta_past *past = owner->meta_past;
        owner->meta_past = past->next;
        th_free(past->name);
        th_free(past);
    }
}

bool th_trace_session_meta_tracer(const struct th_session *session, size_t i,
                                  struct th_meta_tracer_counts *result)
{
    struct th_tracing *tracing = session->tracing;
    const struct th_meta_past *past;

    th_trace_lock(tracing);
    for (past = session->meta_past; past && i > 0; i--)
        past = past->next;
    if (past)
        *result = (struct th_meta_tracer_counts){past->name, 0, past->counts};
    for (struct th_meta_tracer *t = past ? first(tracing) : NULL; t; t = after(t)) {
        if (owner_of(t) != session || strcmp(th_trace_session_name(t->session), past->name) != 0)
            continue;
        result->present += !meta_tracer_has_ended(t);
        meta_tracer_add(&result->counts, t->session);
    }
    th_trace_unlock(tracing);
    return past;
}

/* --- end --- */

/* Under the lock. */
static void meta_tracer_take_out(struct th_meta_tracer *tracer)
{
    struct th_tracing *tracing = tracer->session->tracing;
    struct th_meta_tracer *_Atomic *place = &tracing->meta_tracers;
    struct th_session *owner = owner_of(tracer);

    while (atomic_load_explicit(place, memory_order_relaxed) != tracer)
        place = &atomic_load_explicit(place, memory_order_relaxed)->next;
    atomic_store_explicit(place, after(tracer), memory_order_release);
    if (owner)
        meta_tracer_add(&past_of(owner, th_trace_session_name(tracer->session))->counts,
                        tracer->session);
}

static struct th_meta_tracer *tracer_of(struct th_later *later)
{
    return (struct th_meta_tracer *)((char *)later - offsetof(struct th_meta_tracer, later));
}

/* Step 2. */
static void unload(struct th_later *later)
{
    struct th_meta_tracer *tracer = tracer_of(later);

    th_trace_session_free(tracer->session);
    th_free(tracer);
}

/* Step 1. */
static void take_out_later(struct th_later *later)
{
    struct th_meta_tracer *tracer = tracer_of(later);
    struct th_tracing *tracing = tracer->session->tracing;

    /* TRACER is queued before it leaves the list: a thread that finds TRACER gone waits for all
     * that is queued. This thread does step 2, after this function. */
    th_progress_later(&tracer->later, unload);
    th_trace_lock(tracing);
    meta_tracer_take_out(tracer);
    th_trace_unlock(tracing);
}

static void meta_tracer_end(struct th_shared *shared)
{
    struct th_meta_tracer *tracer = (struct th_meta_tracer *)shared;
    struct th_tracing *tracing = tracer->session->tracing; /* TRACER may be freed at once */

    /* Acquire: either this function or th_trace_meta_tracers_share(), never both, queues step 1. */
    if (atomic_exchange_explicit(&tracer->state, TH_META_ENDED, memory_order_acq_rel) ==
        TH_META_SHARED)
        th_progress_later(&tracer->later, take_out_later);
    else /* Release: a thread that sees the flag also finds the tracer that has ended. */
        atomic_store_explicit(&tracing->meta_ended, true, memory_order_release);
}

void th_trace_meta_tracers_share(struct th_tracing *tracing)
{
    struct th_meta_tracer *next;

    for (struct th_meta_tracer *tracer = first(tracing); tracer; tracer = next) {
        uint32_t unshared = TH_META_UNSHARED;
        next = after(tracer);
        tracer->session->shared = true;
        /* Release: after all stores above. If the tracer has ended meanwhile, no other thread
         * queues step 1. */
        if (!atomic_compare_exchange_strong_explicit(&tracer->state, &unshared, TH_META_SHARED,
                                                     memory_order_acq_rel, memory_order_acquire))
            th_progress_later(&tracer->later, take_out_later);
    }
}

void th_trace_meta_tracers_reap(struct th_tracing *tracing)
{
    struct th_meta_tracer *next;

    for (struct th_meta_tracer *tracer = first(tracing); tracer; tracer = next) {
        next = after(tracer);
        if (!meta_tracer_has_ended(tracer))
            continue;
        meta_tracer_take_out(tracer);
        unload(&tracer->later);
    }
}

void th_trace_meta_tracers_settle(struct th_tracing *tracing)
{
    while (first(tracing)) { /* a reference that a hit removed is dropped after a grace period */
        th_progress_settle();
        if (!tracing->shared)
            th_trace_meta_tracers_reap(tracing);
    }
    if (tracing->shared)
        th_progress_settle(); /* for step 2 */
}

/* --- creation --- */

enum th_status th_trace_meta_tracer_create(struct th_session *owner,
                                           const struct th_session_setup *setup,
                                           struct th_meta_tracer **result)
{
    struct th_tracing *tracing = owner->tracing;
    struct th_meta_past **place = &owner->meta_past;
    th_session_id id = owner->id;
    struct th_session *session;
    struct th_meta_tracer *tracer;
    enum th_status status = th_trace_session_begin_meta(tracing, setup, &session);

    if (status != TH_OK)
        return status;
    status = th_trace_session_check_there(tracing, id);
    if (status != TH_OK) {
        th_trace_session_free(session);
        return status;
    }
    th_trace_session_identify(session, owner->index);
    tracer = th_alloc_zero(sizeof *tracer);
    th_breakpoint_shared_init(&tracer->shared, meta_tracer_end);
    tracer->session = session;
    atomic_init(&tracer->state, tracing->shared ? TH_META_SHARED : TH_META_UNSHARED);
    th_trace_lock(tracing);
    if (!past_of(owner, setup->name)) { /* names are in the order of first use */
        while (*place)
            place = &(*place)->next;
        *place = th_alloc_zero(sizeof **place);
        (*place)->name = th_strdup(setup->name);
    }
    atomic_init(&tracer->owner, th_trace_session_is_clearing(owner) ? NULL : owner);
    atomic_init(&tracer->next, atomic_load_explicit(&tracing->meta_tracers, memory_order_relaxed));
    atomic_store_explicit(&tracing->meta_tracers, tracer, memory_order_release);
    th_trace_unlock(tracing);
    *result = tracer;
    return TH_OK;
}

/* --- finding and loss --- */

struct th_session *th_trace_meta_tracer_find(struct th_tracing *tracing, th_session_id id,
                                             struct th_session **owner)
{
    struct th_meta_tracer *tracer = first(tracing);
    struct th_session *holder = th_trace_at(tracing, id % TH_SESSIONS_LIMIT);

    while (tracer && tracer->session->id != id)
        tracer = after(tracer);
    *owner = tracer ? caller_of(tracer) : NULL;
    if (*owner)
        return tracer->session;
    /* Ids grow: the session that has the index now, and already had it when the meta tracer of ID
     * was created, is its owner. */
    if (holder && holder->id < id)
        th_trace_session_count(holder, TH_COUNTED_BY_PATTERNS(meta_untold));
    return NULL;
}

void th_trace_each_tracer(struct th_tracing *tracing,
                          void (*visit)(void *context, struct th_session *session), void *context)
{
    struct th_session *session;

    th_trace_enter(tracing);
    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        visit(context, session);
    for (struct th_meta_tracer *tracer = first(tracing); tracer; tracer = after(tracer))
        if (caller_of(tracer))
            visit(context, tracer->session);
    th_trace_leave(tracing);
}

void th_trace_meta_tracers_lose(struct th_tracing *tracing, th_term id)
{
    struct th_meta_tracer *tracer = first(tracing);

    for (; tracer && !th_self.attachment; tracer = after(tracer)) {
        if (th_trace_session_state_term(tracer->session) != id || !caller_of(tracer) ||
            th_trace_session_ask_status(tracer->session, TH_AM(undefined)))
            continue;
        th_trace_lock(tracing);
        atomic_store_explicit(&tracer->session->attached, false, memory_order_relaxed);
        th_trace_unlock(tracing);
    }
}

void th_trace_meta_tracers_orphan(struct th_session *owner)
{
    th_trace_lock(owner->tracing);
    for (struct th_meta_tracer *t = first(owner->tracing); t; t = after(t))
        if (owner_of(t) == owner)
            atomic_store_explicit(&t->owner, NULL, memory_order_relaxed);
    th_trace_unlock(owner->tracing);
}
