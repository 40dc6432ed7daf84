/*
 * Requests of hits.
 *
 *   1. A hit pushes a request on a stack, which costs an allocation and one exchange. `asked` of
 *      the breakpoint holds its serial number and the requested kinds, so that each is requested
 *      once.
 *   2. The hit that finds the stack empty starts a change, after a grace period: so the change does
 *      not run inside the hit, and collects more requests.
 *   3. When the change has the permission, it takes the whole stack. The next request finds the
 *      stack empty.
 *   4. If a kind of the breakpoint was set or restarted after the hit, or the breakpoint is gone,
 *      the request is dropped.
 */
#include "breakpoint_internal.h"
#include "generic_bp.h"
#include "hit.h"

#include "host/base/memory.h"

struct request {
    struct request *next;
    struct th_bp_setting setting; /* holds a share of its session */
    uint64_t serial;
};

/* Pushed with release, taken with acquire: requests are complete. The taking releases, too, and the
 * push acquires: a hit that finds the stack empty comes after the use of `starting`. */
static struct request *_Atomic stack;

/* Queued by the hit that finds the stack empty. The next such hit comes only after the change that
 * it starts has taken the stack. */
static struct th_later starting;

static void request_start(struct th_later *later)
{
    struct th_change *change = th_breakpoint_change_create();

    (void)later;
    change->of_requests = true;
    th_breakpoint_change_start(change, NULL, NULL);
}

static void request_ask(struct th_hit *hit, uint32_t pause, uint32_t clear)
{
    struct th_generic_bp *bp = hit->breakpoint;
    uint64_t of_this = hit->data->serial << TH_BP_ACTIVE_SHIFT;
    uint64_t asked = atomic_load_explicit(&bp->asked, memory_order_relaxed);
    uint32_t before = (asked ^ of_this) <= TH_BP_ALL ? (uint32_t)(asked ^ of_this) : 0;
    struct request *request, *first;

    if (!((pause | clear) & ~before))
        return; /* requested already, or nothing to request */
    atomic_store_explicit(&bp->asked, of_this | before | pause | clear, memory_order_relaxed);
    request = th_alloc(sizeof *request);
    *request = (struct request){
        .setting = {.site = bp->site, .session = bp->session, .pause = pause, .clear = clear},
        .serial = hit->data->serial,
    };
    th_breakpoint_shared_take(&bp->session->shared);
    first = atomic_load_explicit(&stack, memory_order_relaxed);
    do {
        request->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&stack, &first, request, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (!first)
        th_progress_later(&starting, request_start);
}

void th_breakpoint_disarm(struct th_hit *hit, uint32_t kinds)
{
    request_ask(hit, kinds & th_breakpoint_active(hit->data), 0);
}

void th_breakpoint_request_clear(struct th_hit *hit, uint32_t kinds)
{
    request_ask(hit, 0, kinds);
}

void th_breakpoint_request_take(void (*take)(void *context, const struct th_bp_setting *setting,
                                             uint64_t serial),
                                void *context)
{
    struct request *request = atomic_exchange_explicit(&stack, NULL, memory_order_acq_rel);

    while (request) {
        struct request *next = request->next;
        take(context, &request->setting, request->serial);
        th_breakpoint_shared_drop(&request->setting.session->shared);
        th_free(request);
        request = next;
    }
}

static void request_end(struct th_shared *shared)
{
    struct th_bp_meta *meta = (struct th_bp_meta *)shared;

    th_breakpoint_shared_drop(atomic_load_explicit(&meta->tracer, memory_order_relaxed));
    th_free(meta);
}

struct th_bp_meta *th_breakpoint_meta_create(struct th_shared *tracer)
{
    struct th_bp_meta *meta = th_alloc_zero(sizeof *meta);

    th_breakpoint_shared_init(&meta->shared, request_end);
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
    if (!(asked & TH_HIT_REMOVE))
        return asked;
    /* Later hits find no tracer. Earlier ones use it until a grace period has passed. */
    tracer = atomic_exchange_explicit(&meta->tracer, NULL, memory_order_acq_rel);
    if (tracer) {
        if (session->hooks->meta_removed)
            session->hooks->meta_removed(session, tracer);
        meta->removed = tracer;
        th_breakpoint_shared_take(&meta->shared);
        th_progress_later(&meta->later, drop_removed);
    }
    th_breakpoint_request_clear(hit, TH_BP_META);
    return asked & ~(uint32_t)TH_HIT_REMOVE;
}
