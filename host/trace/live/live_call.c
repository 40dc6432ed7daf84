/*
 * Delivers live calls at breakpoints.
 *
 * Most sites have one breakpoint without a specification. The path for such a site is inlined here
 * and in delivery.h, from th_live_call() to the callback. All other cases are in functions of their
 * own, so that they cost that path no register. No event is made: a callback gets terms that are
 * made of the call in the callback's environment; a report of a crashed callback makes the event on
 * demand (th_trace_callback_event()).
 */
#include "live_delivery.h"

#include "host/breakpoint/fast_hit.h"
#include "host/breakpoint/hit.h"
#include "host/trace/dispatch.h"

/* A hit with its call, for hooks. */
struct live_hit {
    struct th_hit hit; /* first member; its context is NULL */
    const struct th_call_event *call;
    struct th_live_requests *requests;
};

/* --- return requests --- */

static __attribute__((cold, noinline)) void live_call_make_room(struct th_live_requests *requests)
{
    uint32_t capacity = requests->capacity ? 2 * requests->capacity : 4 * TH_LIVE_WANTED;
    uint64_t *many = th_alloc(capacity * sizeof *many);

    memcpy(many, requests->capacity ? requests->many : requests->few,
           requests->count * sizeof *many);
    if (requests->capacity)
        th_free(requests->many);
    requests->many = many;
    requests->capacity = capacity;
}

static inline void want(struct th_live_requests *requests, uint64_t word)
{
    if (requests->count == (requests->capacity ? requests->capacity : TH_LIVE_WANTED))
        live_call_make_room(requests);
    (requests->capacity ? requests->many : requests->few)[requests->count++] = word;
}

/* --- deliveries of calls --- */

void th_live_call_context(const struct th_delivery *delivery, struct th_match_context *context)
{
    const struct th_call_event *call = th_live_call_of(delivery);

    context->env = &th_self.trace_thread->arena;
    context->id = call->process->id;
    context->traced = &call->process->traced;
    context->event = NULL;
    context->process = call->process;
    context->call = call;
}

static bool live_call_meta_is_special(const struct th_delivery *delivery)
{
    (void)delivery;
    return true; /* the flag timestamp */
}

static uint32_t live_call_meta_flags(const struct th_delivery *delivery)
{
    (void)delivery;
    return TH_FLAG_TIMESTAMP;
}

static inline void live_call_request(struct th_delivery *delivery, uint64_t word)
{
    want(((struct th_live_delivery *)delivery)->requests, word);
}

void th_live_call_forget(struct th_delivery *delivery, struct th_session *session)
{
    th_trace_traced_forget(&th_live_call_of(delivery)->process->traced, session);
}

static enum th_delivery_outcome live_call_go_on(struct th_delivery *delivery, th_term answer);
static enum th_delivery_outcome go_on_meta(struct th_delivery *delivery, th_term answer);

static const struct th_delivery_source call_source = {
    .group = TH_GROUP_call,
    .in_thread = true,
    .by_index = true,
    .of_process = true,
    .subject = th_live_call_subject,
    .context = th_live_call_context,
    .flags = th_live_call_flags,
    .is_special = th_live_call_is_special,
    .fill = th_live_call_fill,
    .request = live_call_request,
    .forget = th_live_call_forget,
    .go_on = live_call_go_on,
};

static const struct th_delivery_source meta_source = {
    .group = TH_GROUP_call,
    .in_thread = true,
    .meta = true,
    .subject = th_live_call_subject,
    .context = th_live_call_context,
    .flags = live_call_meta_flags,
    .is_special = live_call_meta_is_special,
    .fill = th_live_call_fill,
    .request = live_call_request,
    .go_on = go_on_meta,
};

static __attribute__((noinline)) enum th_delivery_outcome
live_call_go_on(struct th_delivery *delivery, th_term answer)
{
    return th_trace_delivery_go_on(delivery, &call_source, answer);
}

static enum th_delivery_outcome go_on_meta(struct th_delivery *delivery, th_term answer)
{
    return th_trace_delivery_go_on(delivery, &meta_source, answer);
}

/* Fills LIVE for CALL, which met the breakpoint of DATA, and for CALLED's tracer. The thread has
 * its struct th_trace_thread. */
static inline void live_call_address(struct th_live_delivery *live,
                                     const struct th_call_event *call, struct th_session *called,
                                     const struct th_bp_data *data, struct th_shared *spec,
                                     uint32_t kind)
{
    struct th_delivery *delivery = &live->delivery;

    live->subject.event = NULL;
    live->subject.end = NULL;
    live->subject.call = call;
    live->subject.breakpoint = data;
    live->subject.hit_kinds = kind;
    th_self.subject = &live->subject;
    live->call = call;
    delivery->spec = (struct th_shared_spec *)spec;
    delivery->kind = kind;
    delivery->argv[0] = TH_AM(call);
    delivery->argv[2] = call->process->id;
    th_trace_delivery_address(delivery, th_trace_session_attachment(called));
}

/* Offers CALL at a local or global breakpoint, KIND, of SESSION, which may be detached. */
static inline __attribute__((always_inline)) void
live_call_offer(const struct th_call_event *call, struct th_live_requests *requests,
                struct th_session *session, const struct th_bp_data *data, uint32_t kind)
{
    struct th_live_delivery live;

    if (__builtin_expect(!th_trace_session_is_attached(session), 0))
        return;
    live.requests = requests;
    live_call_address(&live, call, session, data, data->spec, kind);
    th_trace_deliver(&live.delivery, &call_source,
                     th_live_call_flags(&live.delivery) & TH_FLAG_CALL);
    th_self.subject = NULL;
}

void th_live_thread_init(struct th_live_thread *own)
{
    own->live.delivery.kind = TH_BP_LOCAL;
    own->live.delivery.argv[0] = TH_AM(call);
    own->live.call = &own->call;
    own->live.requests = &own->requests;
    own->live.subject.call = &own->call;
    own->live.subject.hit_kinds = TH_BP_LOCAL;
    th_live_thread_unfill(own);
    own->tuple[0] = th_header(TH_TUPLE, 3);
    own->extra[0] = th_header(TH_MAP, 3);
    own->extra[1] = 1;
    own->extra[2] = TH_AM(extra);
    own->end.tag = TH_TAG_return_from;
    own->end.class = TH_NONE;
    own->ending.end = &own->end;
    own->returned[0] = TH_AM(return_from);
    own->returned[4] = th_boxed(own->extra);
    for (size_t i = 0; i < TH_LIVE_ARGUMENTS; i++)
        own->cells[2 * i + 1] =
            i + 1 < TH_LIVE_ARGUMENTS ? th_listed(&own->cells[2 * i + 2]) : TH_NIL;
}

/* --- hooks --- */

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *breakpoints,
                          struct th_shared *spec, uint32_t kind)
{
    struct live_hit *live = (struct live_hit *)hit;

    if (hit->context)
        return th_trace_patterns_hit(hit, breakpoints, spec, kind);
    th_trace_thread_own();
    live_call_offer(live->call, live->requests, th_trace_breakpoints_session(breakpoints),
                    hit->data, kind);
    return 0;
}

/* CALLED, the session to call, differs from SESSION for a meta tracer. */
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec)
{
    const struct live_hit *met = (struct live_hit *)hit;
    struct th_live_delivery live;
    enum th_delivery_outcome outcome;

    if (!met->call->process)
        return 0;
    th_trace_thread_own();
    live.requests = met->requests;
    live.delivery.owner = session;
    live_call_address(&live, met->call, called, hit->data, spec, TH_BP_META);
    outcome = th_trace_deliver(&live.delivery, &meta_source, true);
    th_self.subject = NULL;
    return outcome == TH_DELIVERY_REMOVED ? TH_HIT_REMOVE : 0;
}

struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *breakpoints,
                                       struct th_account_reading *reading)
{
    const struct th_call_event *call = ((struct live_hit *)hit)->call;
    struct th_session *session = th_trace_breakpoints_session(breakpoints);

    if (!th_trace_session_is_attached(session) ||
        !(th_live_flags_in(call->process, session) & TH_FLAG_CALL))
        return NULL;
    th_live_read(call->process, reading);
    return th_trace_timing_account(&call->process->timing, session);
}

void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *breakpoints,
                         const struct th_account_frame *frame)
{
    struct live_hit *live = (struct live_hit *)hit;
    uint32_t number = th_trace_timing_enter(&live->call->process->timing,
                                            th_trace_breakpoints_session(breakpoints), frame);

    if (number != UINT32_MAX)
        want(live->requests, (uint64_t)number << TH_REQUEST_BITS | TH_REQUEST_TIME);
}

/* --- calls --- */

void th_live_call_suppressed(void)
{
    th_thread_count(&th_trace_thread_own()->suppressed);
}

/* Counts a call of a thread that is in a callback or runs no process. Without a process,
 * breakpoints for counts count the call, and meta ones find that there is no process. */
static __attribute__((cold, noinline)) void call_oddly(const struct th_call_event *call)
{
    struct th_trace_thread *thread = th_trace_thread_own();
    struct live_hit live = {.call = call};

    if (th_self.attachment) {
        th_thread_count(&thread->suppressed);
        return;
    }
    th_thread_count(&thread->strangers);
    live.hit.kinds = TH_BP_COUNT | TH_BP_META;
    th_breakpoint_hit(call->site, &live.hit);
}

/* Hits all breakpoints at the site. In a section, if the thread is in one. */
static __attribute__((noinline)) void hit(const struct th_call_event *call,
                                          struct th_live_requests *requests, uint32_t kinds)
{
    struct live_hit live;

    live.hit.context = NULL; /* the hit fills the rest */
    live.hit.kinds = kinds;
    live.call = call;
    live.requests = requests;
    th_breakpoint_hit(call->site, &live.hit);
}

void th_live_call_before(const struct th_call_event *call, struct th_site *next,
                         struct th_live_requests *requests)
{
    struct live_hit live = {.hit.kinds = TH_BP_ALL, .call = call, .requests = requests};

    requests->count = requests->capacity = 0;
    if (th_self.attachment) {
        call_oddly(call);
        return;
    }
    th_breakpoint_hit_before(call->site, next, &live.hit);
}

static inline uint32_t kinds_of(const struct th_call_event *call)
{
    return call->external ? TH_BP_ALL : TH_BP_ALL & ~TH_BP_GLOBAL;
}

/* hit_all() and offer_single() end the section. They are tail calls, so that th_live_call() saves
 * no register. */
static __attribute__((noinline)) void hit_all(const struct th_call_event *call,
                                              struct th_live_requests *requests)
{
    hit(call, requests, kinds_of(call));
    th_progress_leave();
}

/* Does the same as th_live_hit_call(), inlined. */
static __attribute__((noinline)) void offer_single(const struct th_call_event *call,
                                                   struct th_live_requests *requests,
                                                   const struct th_bp_data *data, uint32_t kind)
{
    if (__builtin_expect(!th_self.trace_thread, 0)) {
        hit_all(call, requests);
        return;
    }
    live_call_offer(call, requests, data->owner, data, kind);
    th_progress_leave();
}

void th_live_call(const struct th_call_event *call, struct th_live_requests *requests)
{
    struct th_fast_hit single;
    unsigned long *word;

    requests->count = requests->capacity = 0;
    if (__builtin_expect(th_self.attachment || !call->process, 0)) {
        call_oddly(call);
        return;
    }
    word = th_progress_enter_quickly();
    if (__builtin_expect(!word, 0)) {
        hit(call, requests, kinds_of(call));
        return;
    }
    if (__builtin_expect(!th_breakpoint_fast_hit(call->site, kinds_of(call), &single), 0)) {
        hit_all(call, requests);
        return;
    }
    if (single.kinds && th_live_is_calling(call->process)) {
        offer_single(call, requests, single.data, single.kinds);
        return;
    }
    th_progress_leave_quickly(word);
}
