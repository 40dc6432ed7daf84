#include "meta_tracer.h"

#include "tracing.h"

static void end(struct th_shared *shared)
{
    struct th_meta_tracer *tracer = (struct th_meta_tracer *)shared;
    struct th_tracing *tracing = tracer->session->tracing; /* TRACER may be freed at once */

    atomic_store_explicit(&tracer->ended, true, memory_order_release);
    /* Release: whoever sees it finds the one that is marked. */
    atomic_store_explicit(&tracing->meta_ended, true, memory_order_release);
}

enum th_status th_meta_tracer_create(struct th_session *owner, const struct th_session_setup *setup,
                                     struct th_meta_tracer **result)
{
    struct th_tracing *tracing = owner->tracing;
    struct th_session *session;
    struct th_meta_tracer *tracer;
    enum th_status status = th_session_begin(tracing, setup, &session);

    if (status != TH_OK)
        return status;
    session->index = owner->index;
    session->id = (atomic_fetch_add_explicit(&tracing->created, 1, memory_order_relaxed) + 1) *
                      TH_SESSIONS_LIMIT +
                  owner->index;
    tracer = th_alloc_zero(sizeof *tracer);
    th_shared_init(&tracer->shared, end);
    tracer->session = session;
    tracer->owner = owner;
    tracer->next = tracing->meta_tracers;
    tracing->meta_tracers = tracer;
    *result = tracer;
    return TH_OK;
}

struct th_meta_tracer *th_meta_tracer_find(struct th_tracing *tracing, th_session_id id)
{
    struct th_meta_tracer *tracer = tracing->meta_tracers;

    while (tracer && tracer->session->id != id)
        tracer = tracer->next;
    return tracer;
}

void th_meta_tracers_lose(struct th_tracing *tracing, th_term id)
{
    struct th_meta_tracer *tracer = tracing->meta_tracers;

    for (; tracer && !th_callback_current.session; tracer = tracer->next)
        if (tracer->session->state == id && th_session_is_attached(tracer->session) &&
            !th_session_ask_status(tracer->session, TH_AM(undefined)))
            atomic_store_explicit(&tracer->session->attached, false, memory_order_relaxed);
}

void th_meta_tracers_orphan(struct th_session *owner)
{
    struct th_meta_tracer *tracer = owner->tracing->meta_tracers;

    for (; tracer; tracer = tracer->next)
        if (tracer->owner == owner)
            tracer->owner = NULL;
}

void th_meta_tracers_reap(struct th_tracing *tracing)
{
    struct th_meta_tracer **place = &tracing->meta_tracers;

    while (*place) {
        struct th_meta_tracer *tracer = *place;
        if (!atomic_load_explicit(&tracer->ended, memory_order_acquire)) {
            place = &tracer->next;
            continue;
        }
        *place = tracer->next;
        th_session_free(tracer->session);
        th_free(tracer);
    }
}
