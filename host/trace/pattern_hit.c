/*
 * Patterns at work: what recorded calls do at breakpoints.
 *
 * Return requests of a call stay on the stack of its process until the call has ended
 * (pattern_end.c).
 */
#include "dispatch.h"

#include "host/self/self.h"
#include "host/trace/live/live_hit.h"

struct call_hit {
    struct th_hit hit;
    struct th_dispatch *dispatch;
};

/* --- the deliveries of calls ------------------------------------------------------------------ */

static struct th_match_subject subject_of(struct th_delivery *delivery)
{
    struct th_match_subject subject = {.target = TH_NONE};
    th_term last = th_tuple_elements(th_trace_dispatch_of(delivery)->event->term)[2];

    if (th_is_small(last))
        subject.count = (size_t)th_small_value(last);
    else
        subject.target = last;
    return subject;
}

static void request(struct th_delivery *delivery, uint64_t word)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    uint64_t bit = (uint64_t)1 << delivery->attachment->session->index;

    if (dispatch->caller)
        th_recorded_want(&dispatch->tracing->execution, &dispatch->caller->stack, word,
                         word & TH_REQUEST_RETURN_TO ? bit : 0);
}

static uint32_t meta_flags(const struct th_delivery *delivery)
{
    return th_trace_pattern_meta_flags(delivery->owner);
}

static const struct th_delivery_source call_source = {
    .group = TH_GROUP_call,
    .decode = th_trace_dispatch_decode,
    .subject = subject_of,
    .context = th_trace_dispatch_context,
    .flags = th_trace_dispatch_flags,
    .fill = th_trace_dispatch_fill,
    .request = request,
    .forget = th_trace_dispatch_forget,
};

static const struct th_delivery_source meta_source = {
    .group = TH_GROUP_call,
    .meta = true,
    .decode = th_trace_dispatch_decode,
    .subject = subject_of,
    .context = th_trace_dispatch_context,
    .flags = meta_flags,
    .fill = th_trace_dispatch_fill,
    .request = request,
};

/* --- breakpoints that are hit ----------------------------------------------------------------- */

static struct th_session *session_of(struct th_bp_session *points)
{
    struct th_session *session = ((struct th_points *)points)->session;

    return session && th_trace_session_is_attached(session) ? session : NULL;
}

/* What th_disarm() pauses in the callbacks that come next: the breakpoint of HIT, for KINDS. */
static void callbacks_about(struct th_hit *hit, uint32_t kinds)
{
    th_self.subject->breakpoint = hit ? hit->breakpoint : NULL;
    th_self.subject->breakpoint_data = hit ? hit->data : NULL;
    th_self.subject->hit_kinds = kinds;
}

/* A global breakpoint is about external calls. */
static bool is_met(const struct call_hit *call, struct th_session *session, uint32_t kind)
{
    enum th_fact external = call->dispatch->event->external;

    if (kind != TH_BP_GLOBAL)
        return true;
    if (external == TH_UNKNOWN)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(external_unknown));
    return external == TH_YES;
}

/* Addressed to CALLED. */
static struct th_delivery *delivery_of(struct call_hit *call, struct th_session *called,
                                       struct th_shared *spec, uint32_t kind)
{
    struct th_delivery *delivery = &call->dispatch->delivery;

    callbacks_about(&call->hit, kind);
    th_trace_dispatch_address(call->dispatch, th_trace_session_attachment(called), TH_FLAG_NONE);
    delivery->spec = (struct th_shared_spec *)spec;
    delivery->kind = kind;
    delivery->argv[0] = TH_AM(call);
    return delivery;
}

uint32_t th_trace_patterns_hit(struct th_hit *hit, struct th_bp_session *points,
                               struct th_shared *spec, uint32_t kind)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);
    bool traced;

    if (!session)
        return 0;
    traced = th_trace_pattern_flags(call->dispatch, session) & TH_FLAG_CALL &&
             is_met(call, session, kind);
    th_trace_deliver(delivery_of(call, session, spec, kind), &call_source, traced);
    return 0;
}

/* Who is called for a meta breakpoint: the session itself, or a tracer of its own. */
static struct th_session *meta_called(struct th_bp_session *points, struct th_shared *tracer)
{
    return tracer == &points->shared ? ((struct th_points *)points)->session
                                     : ((struct th_meta_tracer *)tracer)->session;
}

static void meta_removed(struct th_bp_session *points, struct th_shared *tracer)
{
    th_trace_session_count(((struct th_points *)points)->session,
                           TH_COUNTED_BY_PATTERNS(meta_removed));
    if (tracer != &points->shared)
        th_trace_session_count(meta_called(points, tracer), TH_COUNTED(removed));
}

static uint32_t hit_meta(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                         struct th_shared *tracer)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points), *called;
    enum th_delivery_outcome outcome;
    struct th_delivery *delivery;

    if (!session)
        return 0;
    called = meta_called(points, tracer);
    if (!th_trace_session_is_attached(called))
        return TH_HIT_REMOVE;
    if (!call)
        return th_live_hit_meta(hit, session, called, spec);
    delivery = delivery_of(call, called, spec, TH_BP_META);
    delivery->owner = session;
    outcome = th_trace_deliver(delivery, &meta_source, true);
    return outcome == TH_DELIVERY_REMOVED ? TH_HIT_REMOVE : 0;
}

static struct th_account *hit_account(struct th_hit *hit, struct th_bp_session *points,
                                      struct th_account_reading *reading)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);

    if (!call)
        return th_live_hit_account(hit, points, reading);
    if (!session || !call->dispatch->caller ||
        !(th_trace_pattern_flags(call->dispatch, session) & TH_FLAG_CALL))
        return NULL;
    if (!th_trace_timing_read(call->dispatch->event, reading)) {
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(untimed));
        return NULL;
    }
    return th_trace_timing_account(&call->dispatch->caller->timing, session);
}

static void hit_entered(struct th_hit *hit, struct th_bp_session *points,
                        const struct th_account_frame *frame)
{
    struct call_hit *call = hit->context;
    uint32_t number;

    if (!call) {
        th_live_hit_entered(hit, points, frame);
        return;
    }
    call->dispatch->tracing->execution.returns_matter = true;
    call->dispatch->caller->stack.sessions.timing |= (uint64_t)1 << session_of(points)->index;
    number = th_trace_timing_enter(&call->dispatch->caller->timing, session_of(points), frame);
    if (number != UINT32_MAX)
        th_recorded_want(&call->dispatch->tracing->execution, &call->dispatch->caller->stack,
                         (uint64_t)number << TH_REQUEST_BITS | TH_REQUEST_TIME, 0);
}

const struct th_bp_hooks th_trace_pattern_hooks = {
    .call = th_live_hit_call, /* which hands on what is recorded */
    .meta = hit_meta,
    .account = hit_account,
    .entered = hit_entered,
    .meta_removed = meta_removed,
};

void th_trace_patterns_hit_site(struct th_dispatch *dispatch, struct th_recorded_tracee *caller,
                                struct th_site *site)
{
    struct call_hit call = {.hit = {.kinds = TH_BP_ALL & ~TH_BP_MEMORY}, .dispatch = dispatch};

    dispatch->caller = caller;
    call.hit.context = &call;
    th_breakpoint_hit(site, &call.hit);
    callbacks_about(NULL, 0);
}
