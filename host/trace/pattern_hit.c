/*
 * Patterns at work: what recorded calls do at breakpoints.
 *
 * In the order of a BEAM: flag `call` (a meta breakpoint: for each tracee), enabled, the match
 * specification, silent, trace. What is wanted of a call's end stays on its stack (pattern_end.c).
 */
#include "pattern_hit.h"

#include "host/trace/live/live_hit.h"
#include "points.h"
#include "match_context.h"
#include "return_request.h"

struct call_hit {
    struct th_hit hit;
    struct th_way *way;
    struct th_tracee *tracee; /* NULL: it is of another node */
};

static void want(const struct call_hit *call, const struct th_session *session, uint64_t what)
{
    if (what && call->tracee)
        th_recorded_want(&call->way->tracing->execution, &call->tracee->stack,
                         session->id << WANT_BITS | what,
                         what & WANT_RETURN_TO ? (uint64_t)1 << session->index : 0);
}

/* --- match specifications --- */

static struct th_match_subject subject_of(th_term call)
{
    struct th_match_subject subject = {.target = TH_NONE};
    th_term last = th_tuple_elements(call)[2];

    if (th_is_small(last))
        subject.count = (size_t)th_small_value(last);
    else
        subject.target = last;
    return subject;
}

void th_wants_count_unknown(struct th_session *session, const struct th_match_result *result)
{
    for (unsigned i = 0; i < result->callers_unknown; i++)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(callers_unknown));
    for (unsigned i = 0; i < result->unsure; i++)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(actions_unsure));
    if (result->end == TH_MATCH_UNKNOWN ||
        (result->end == TH_MATCH_YES && result->message == TH_NONE))
        th_session_count(session, TH_COUNTED_BY_PATTERNS(undecided));
}

/* Without a specification each call matches. False: the event is damaged. */
static bool match(const struct call_hit *call, struct th_session *session, struct th_shared *spec,
                  struct th_match_result *result)
{
    struct th_match_context context = {.tracing = call->way->tracing,
                                       .session = session,
                                       .id = call->way->tracee,
                                       .traced = call->tracee ? &call->tracee->traced : NULL,
                                       .event = call->way->event};
    struct th_match_subject subject;

    *result = (struct th_match_result){.end = TH_MATCH_YES, .message = TH_AM(true)};
    if (!th_way_decode(call->way))
        return false;
    if (!spec)
        return true;
    subject = subject_of(call->way->event->term);
    th_match_context_run(&context, ((struct th_shared_spec *)spec)->spec, &subject,
                         &call->way->tracing->arena, result);
    th_wants_count_unknown(session, result);
    return result->end == TH_MATCH_YES;
}

/* The tracer gets the call, unless the specification says no. */
static void tell_call(const struct call_hit *call, struct th_attachment *attachment,
                      const struct th_match_result *result, uint32_t flags)
{
    struct th_event event = *call->way->event;

    if (!th_wants_message(result))
        return;
    event.match_spec_result = result->message;
    th_way_hand_over(call->way, attachment, &event, flags);
}

/* --- breakpoints that are hit --- */

static struct th_session *session_of(struct th_bp_session *points)
{
    struct th_session *session = ((struct th_points *)points)->session;

    return session && th_session_is_attached(session) ? session : NULL;
}

/* What th_disarm() pauses in the callbacks that come next: the breakpoint of HIT, for KINDS. */
static void callbacks_about(struct th_hit *hit, uint32_t kinds)
{
    th_callback_current.breakpoint = hit ? hit->breakpoint : NULL;
    th_callback_current.breakpoint_data = hit ? hit->data : NULL;
    th_callback_current.hit_kinds = kinds;
}

/* A global breakpoint is about external calls. */
static bool is_external(const struct call_hit *call, struct th_session *session)
{
    enum th_fact external = call->way->event->external;

    if (external == TH_UNKNOWN)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(external_unknown));
    return external == TH_YES;
}

uint32_t th_patterns_hit(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                         uint32_t kind)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);
    struct th_attachment *attachment;
    struct th_match_result result;
    uint32_t flags;

    if (!session || !(th_pattern_flags(call->way, session) & TH_FLAG_CALL))
        return 0;
    if (kind == TH_BP_GLOBAL && !is_external(call, session))
        return 0;
    callbacks_about(hit, kind);
    attachment = th_session_attachment(session);
    if (!th_way_ask(call->way, attachment) || !match(call, session, spec, &result))
        return 0;
    flags = th_pattern_flags(call->way, session); /* the specification may have changed them */
    if (flags & TH_FLAG_SILENT) {
        th_session_count(session, TH_COUNTED(silenced));
        return 0;
    }
    tell_call(call, attachment, &result, flags);
    want(call, session, th_wants_of(&result) | th_wants_return_to(&result, kind, flags));
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
    th_session_count(((struct th_points *)points)->session, TH_COUNTED_BY_PATTERNS(meta_removed));
    if (tracer != &points->shared)
        th_session_count(meta_called(points, tracer), TH_COUNTED(removed));
}

static uint32_t hit_meta(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                         struct th_shared *tracer)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points), *called;
    struct th_attachment *attachment;
    struct th_match_result result;
    th_term answer;
    uint64_t wanted;

    if (!session)
        return 0;
    called = meta_called(points, tracer);
    if (!th_session_is_attached(called))
        return TH_HIT_REMOVE;
    if (!call)
        return th_live_hit_meta(hit, session, called, spec);
    callbacks_about(hit, TH_BP_META);
    attachment = th_session_attachment(called);
    answer = th_way_question(call->way, attachment);
    if (answer == TH_AM(remove))
        return TH_HIT_REMOVE;
    if (answer != TH_AM(trace) || !th_session_is_attached(session) ||
        !match(call, session, spec, &result))
        return 0;
    tell_call(call, attachment, &result, th_pattern_meta_flags(session));
    wanted = th_wants_of(&result);
    want(call, called, wanted ? wanted | WANT_META : 0);
    return 0;
}

static struct th_account *hit_account(struct th_hit *hit, struct th_bp_session *points,
                                      struct th_account_reading *reading)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);

    if (!call)
        return th_live_hit_account(hit, points, reading);
    if (!session || !call->tracee || !(th_pattern_flags(call->way, session) & TH_FLAG_CALL))
        return NULL;
    if (!th_timing_read(call->way->event, reading)) {
        th_session_count(session, TH_COUNTED_BY_PATTERNS(untimed));
        return NULL;
    }
    return th_timing_account(&call->tracee->timing, session);
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
    call->way->tracing->execution.returns_matter = true;
    call->tracee->stack.sessions.timing |= (uint64_t)1 << session_of(points)->index;
    number = th_timing_enter(&call->tracee->timing, session_of(points), frame);
    if (number != UINT32_MAX)
        th_recorded_want(&call->way->tracing->execution, &call->tracee->stack,
                         (uint64_t)number << WANT_BITS | WANT_TIME, 0);
}

const struct th_bp_hooks th_pattern_hooks = {
    .call = th_live_hit_call, /* which hands on what is recorded */
    .meta = hit_meta,
    .account = hit_account,
    .entered = hit_entered,
    .meta_removed = meta_removed,
};

void th_patterns_hit_site(struct th_way *way, struct th_tracee *tracee, struct th_site *site)
{
    struct call_hit call = {
        .hit = {.kinds = TH_BP_ALL & ~TH_BP_MEMORY}, .way = way, .tracee = tracee};

    call.hit.context = &call;
    th_breakpoint_hit(site, &call.hit);
    callbacks_about(NULL, 0);
}
