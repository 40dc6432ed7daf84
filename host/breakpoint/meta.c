#include "meta.h"

#include "request.h"

#include "host/base/base.h"

static void end(struct th_shared *shared)
{
    struct th_bp_meta *meta = (struct th_bp_meta *)shared;

    th_breakpoint_shared_drop(atomic_load_explicit(&meta->tracer, memory_order_relaxed));
    th_free(meta);
}

struct th_bp_meta *th_breakpoint_meta_create(struct th_shared *tracer)
{
    struct th_bp_meta *meta = th_alloc_zero(sizeof *meta);

    th_breakpoint_shared_init(&meta->shared, end);
    atomic_init(&meta->tracer, th_breakpoint_shared_take(tracer));
    return meta;
}

static void drop_removed(struct th_later *later)
{
    struct th_bp_meta *meta =
        (struct th_bp_meta *)((char *)later - offsetof(struct th_bp_meta, later));

    th_breakpoint_shared_drop(meta->removed);
    th_breakpoint_shared_drop(&meta->shared);
}

/* The tracer is gone for all hits that look; those that have looked already use it until they are
 * over. */
static void remove_tracer(struct th_bp_meta *meta, struct th_bp_session *session)
{
    struct th_shared *tracer = atomic_exchange_explicit(&meta->tracer, NULL, memory_order_acq_rel);

    if (!tracer)
        return;
    if (session->hooks->meta_removed)
        session->hooks->meta_removed(session, tracer);
    meta->removed = tracer;
    th_breakpoint_shared_take(&meta->shared);
    th_progress_later(&meta->later, drop_removed);
}

uint32_t th_breakpoint_meta_hit(struct th_hit *hit, struct th_bp_session *session)
{
    struct th_bp_meta *meta = hit->data->meta;
    struct th_shared *tracer = atomic_load_explicit(&meta->tracer, memory_order_acquire);
    uint32_t asked;

    if (!tracer) {
        th_breakpoint_request_clear(hit, TH_BP_META);
        return 0;
    }
    asked = session->hooks->meta(hit, session, hit->data->meta_spec, tracer);
    if (asked & TH_HIT_REMOVE) {
        remove_tracer(meta, session);
        th_breakpoint_request_clear(hit, TH_BP_META);
    }
    return asked & ~(uint32_t)TH_HIT_REMOVE;
}
