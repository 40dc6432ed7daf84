/*
 * Delivers recorded calls and their ends at breakpoints, and keeps the stacks of their processes.
 *
 * A call is entered on the stack and meets its breakpoints, which leave their requests there. An
 * end is delivered once the stack shows that the call has ended; a return_to once the function is
 * known to which control has returned.
 */
#include "dispatch.h"

#include "host/breakpoint/hit.h"
#include "host/trace/live/live_hit.h"

/* --- Deliveries of calls ---------------------------------------------------------------------- */

static struct th_match_subject pattern_hit_subject_of(struct th_delivery *delivery)
{
    struct th_match_subject subject = {.target = TH_NONE};
    th_term last = th_tuple_elements(th_trace_dispatch_of(delivery)->event->term)[2];

    if (th_is_small(last))
        subject.count = (size_t)th_small_value(last);
    else
        subject.target = last;
    return subject;
}

static void pattern_hit_request(struct th_delivery *delivery, uint64_t word)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    uint64_t bit = delivery->attachment->session->bit;

    if (dispatch->caller)
        th_recorded_want(&dispatch->tracing->execution, &dispatch->caller->stack, word,
                         word & TH_REQUEST_RETURN_TO ? bit : 0);
}

static uint32_t pattern_hit_meta_flags(const struct th_delivery *delivery)
{
    return th_trace_pattern_meta_flags(delivery->owner);
}

static const struct th_delivery_source call_source = {
    .group = TH_GROUP_call,
    .decode = th_trace_dispatch_decode,
    .subject = pattern_hit_subject_of,
    .context = th_trace_dispatch_context,
    .flags = th_trace_dispatch_flags,
    .fill = th_trace_dispatch_fill,
    .request = pattern_hit_request,
    .forget = th_trace_dispatch_forget,
};

static const struct th_delivery_source meta_source = {
    .group = TH_GROUP_call,
    .meta = true,
    .decode = th_trace_dispatch_decode,
    .subject = pattern_hit_subject_of,
    .context = th_trace_dispatch_context,
    .flags = pattern_hit_meta_flags,
    .fill = th_trace_dispatch_fill,
    .request = pattern_hit_request,
};

/* --- Breakpoints that are hit ----------------------------------------------------------------- */

static struct th_session *pattern_hit_session_of(struct th_bp_session *breakpoints)
{
    struct th_session *session = th_trace_breakpoints_session(breakpoints);

    return session && th_trace_session_is_attached(session) ? session : NULL;
}

/* Sets the breakpoint, of HIT and for KINDS, that th_disarm() pauses in the next callbacks; HIT
 * NULL: none. */
static void callbacks_about(struct th_hit *hit, uint32_t kinds)
{
    th_self.subject->breakpoint = hit ? hit->data : NULL;
    th_self.subject->hit_kinds = kinds;
}

/* Returns the delivery of HIT, addressed to CALLED. */
static struct th_delivery *delivery_of(struct th_hit *hit, struct th_session *called,
                                       struct th_shared *spec, uint32_t kind)
{
    struct th_dispatch *dispatch = hit->context;
    struct th_delivery *delivery = &dispatch->delivery;

    callbacks_about(hit, kind);
    th_trace_dispatch_address(dispatch, th_trace_session_attachment(called), TH_FLAG_NONE);
    delivery->spec = (struct th_shared_spec *)spec;
    delivery->kind = kind;
    delivery->argv[0] = TH_AM(call);
    return delivery;
}

uint32_t th_trace_patterns_hit(struct th_hit *hit, struct th_bp_session *breakpoints,
                               struct th_shared *spec, uint32_t kind)
{
    struct th_dispatch *dispatch = hit->context;
    struct th_session *session = pattern_hit_session_of(breakpoints);
    enum th_fact external = dispatch->event->external;
    bool traced;

    if (!session)
        return 0;
    traced = th_trace_pattern_flags(dispatch, session) & TH_FLAG_CALL;
    if (traced && kind == TH_BP_GLOBAL) { /* a global breakpoint is for external calls */
        traced = external == TH_YES;
        if (external == TH_UNKNOWN)
            th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(external_unknown));
    }
    th_trace_deliver(delivery_of(hit, session, spec, kind), &call_source, traced);
    return 0;
}

/* Returns the session to call for a meta breakpoint: the one that has set it, or that of its
 * tracer. */
static struct th_session *meta_called(struct th_bp_session *breakpoints, struct th_shared *tracer)
{
    return tracer == &breakpoints->shared ? th_trace_breakpoints_session(breakpoints)
                                          : ((struct th_meta_tracer *)tracer)->session;
}

static void meta_removed(struct th_bp_session *breakpoints, struct th_shared *tracer)
{
    th_trace_session_count(th_trace_breakpoints_session(breakpoints),
                           TH_COUNTED_BY_PATTERNS(meta_removed));
    if (tracer != &breakpoints->shared)
        th_trace_session_count(meta_called(breakpoints, tracer), TH_COUNTED(removed));
}

static uint32_t hit_meta(struct th_hit *hit, struct th_bp_session *breakpoints,
                         struct th_shared *spec, struct th_shared *tracer)
{
    struct th_dispatch *dispatch = hit->context;
    struct th_session *session = pattern_hit_session_of(breakpoints), *called;
    enum th_delivery_outcome outcome;
    struct th_delivery *delivery;

    if (!session)
        return 0;
    called = meta_called(breakpoints, tracer);
    if (!th_trace_session_is_attached(called))
        return TH_HIT_REMOVE;
    if (!dispatch)
        return th_live_hit_meta(hit, session, called, spec);
    delivery = delivery_of(hit, called, spec, TH_BP_META);
    delivery->owner = session;
    outcome = th_trace_deliver(delivery, &meta_source, true);
    return outcome == TH_DELIVERY_REMOVED ? TH_HIT_REMOVE : 0;
}

static struct th_account *hit_account(struct th_hit *hit, struct th_bp_session *breakpoints,
                                      struct th_account_reading *reading)
{
    struct th_dispatch *dispatch = hit->context;
    struct th_session *session = pattern_hit_session_of(breakpoints);

    if (!dispatch)
        return th_live_hit_account(hit, breakpoints, reading);
    if (!session || !dispatch->caller ||
        !(th_trace_pattern_flags(dispatch, session) & TH_FLAG_CALL))
        return NULL;
    if (!th_trace_timing_read(dispatch->event, reading)) {
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(untimed));
        return NULL;
    }
    return th_trace_timing_account(&dispatch->caller->timing, session);
}

static void hit_entered(struct th_hit *hit, struct th_bp_session *breakpoints,
                        const struct th_account_frame *frame)
{
    struct th_dispatch *dispatch = hit->context;
    uint32_t number;

    if (!dispatch) {
        th_live_hit_entered(hit, breakpoints, frame);
        return;
    }
    dispatch->tracing->execution.returns_matter = true;
    dispatch->caller->stack.sessions.timing |= (uint64_t)1
                                               << pattern_hit_session_of(breakpoints)->index;
    number = th_trace_timing_enter(&dispatch->caller->timing, pattern_hit_session_of(breakpoints),
                                   frame);
    if (number != UINT32_MAX)
        th_recorded_want(&dispatch->tracing->execution, &dispatch->caller->stack,
                         (uint64_t)number << TH_REQUEST_BITS | TH_REQUEST_TIME, 0);
}

const struct th_bp_hooks th_trace_pattern_hooks = {
    .call = th_live_hit_call, /* passes recorded calls on */
    .meta = hit_meta,
    .account = hit_account,
    .entered = hit_entered,
    .meta_removed = meta_removed,
};

/* --- Deliveries of ends ----------------------------------------------------------------------- */

/* Fills the delivery of an end. The current event is the end. For a return_to the current event is
 * the next one, or the return, if the function to which it returns is known. */
static void pattern_hit_fill(struct th_delivery *delivery, th_env *env, th_term tag, th_term extra,
                             th_term result, uint32_t flags)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);

    delivery->argv[0] = tag;
    delivery->argv[2] = dispatch->tracee;
    delivery->argv[3] =
        dispatch->function ? th_live_function_term(env, dispatch->function) : TH_AM(undefined);
    delivery->argv[4] = th_trace_opts_make(env, extra, result, dispatch->event->scheduler_id,
                                           dispatch->event->time.kind, flags);
}

static void fill_end(struct th_delivery *delivery, th_env *env, th_term message, uint32_t flags)
{
    const struct th_event *event = th_trace_dispatch_of(delivery)->event;

    (void)message;
    pattern_hit_fill(delivery, env, th_trace_tag_atom(event->tag), event->extra,
                     event->match_spec_result, flags);
}

static void fill_return_to(struct th_delivery *delivery, th_env *env, th_term message,
                           uint32_t flags)
{
    (void)message;
    pattern_hit_fill(delivery, env, TH_AM(return_to), TH_NONE, TH_NONE, flags);
}

static void pattern_hit_returns_to(struct th_delivery *delivery, struct th_session *session)
{
    th_trace_dispatch_of(delivery)->waiting |= session->bit;
}

static const struct th_delivery_source end_source = {
    .group = TH_GROUP_call,
    .decode = th_trace_dispatch_decode,
    .flags = th_trace_dispatch_flags,
    .meta_flags = th_trace_pattern_meta_flags,
    .fill = fill_end,
    .returns_to = pattern_hit_returns_to,
};

static const struct th_delivery_source return_to_source = {
    .group = TH_GROUP_call,
    .flags = th_trace_dispatch_flags,
    .fill = fill_return_to,
};

/* --- Ends ------------------------------------------------------------------------------------- */

/* A call with the request WORD has ended. */
static uint64_t pattern_hit_ended(void *context, enum th_ending ending,
                                  const struct th_mfa *function, uint64_t word)
{
    struct th_dispatch *dispatch = context;
    struct th_account_reading reading;

    /* Without a time, the call is charged until the next end below it. */
    if (word & TH_REQUEST_TIME && th_trace_timing_read(dispatch->event, &reading))
        th_trace_timing_leave(&dispatch->caller->timing, dispatch->tracing,
                              (uint32_t)(word >> TH_REQUEST_BITS), &reading);
    if (word & TH_REQUEST_TIME || dispatch->aside)
        return 0;
    dispatch->function = function;
    dispatch->waiting = 0;
    th_trace_deliver_end(&dispatch->delivery, &end_source, dispatch->tracing, word,
                         ending == TH_ENDED_RAISED, ending >= TH_ENDED_UNTOLD);
    return dispatch->waiting;
}

/* --- return_to -------------------------------------------------------------------------------- */

/* Delivers the return_to TO to the sessions that are due. */
static void send_return_to(struct th_dispatch *dispatch, struct th_recorded_tracee *tracee,
                           const struct th_caller *to)
{
    uint64_t waiting = tracee->stack.sessions.due;

    tracee->stack.sessions.due = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN || !th_trace_dispatch_decode(&dispatch->delivery))
        return;
    dispatch->function = to->kind == TH_CALLER_FUNCTION ? &to->function : NULL;
    th_trace_deliver_return_to(&dispatch->delivery, &return_to_source, dispatch->tracing, waiting,
                               UINT64_MAX);
}

/* --- calls --- */

/* Returns the stack of the event's process, making one if necessary; NULL: of another node. */
static struct th_recorded_tracee *pattern_hit_tracee_of(struct th_tracing *tracing,
                                                        const struct th_event *event)
{
    return th_is_immediate(event->tracee) ? th_trace_tracee_own(tracing, event->tracee) : NULL;
}

static void enter(struct th_tracing *tracing, struct th_recorded_tracee *tracee,
                  struct th_event *event, const struct th_mfa *name)
{
    struct th_recorded_call call = {*name, event->tail, th_trace_recorded_caller(tracing, event)};

    if (tracee)
        th_recorded_enter(&tracing->execution, &tracee->stack, &call);
}

void th_trace_patterns_call(struct th_dispatch *dispatch)
{
    struct th_hit hit = {.kinds = TH_BP_ALL & ~TH_BP_MEMORY, .context = dispatch};
    struct th_event *event = dispatch->event;
    struct th_function_sites *function;
    struct th_recorded_tracee *tracee;
    struct th_mfa name;

    if (dispatch->status == TH_OK)
        dispatch->status = event->source->function(event, &name);
    if (dispatch->status != TH_OK)
        return;
    tracee = pattern_hit_tracee_of(dispatch->tracing, event);
    if (tracee)
        send_return_to(dispatch, tracee, &tracee->returned_to);
    enter(dispatch->tracing, tracee, event, &name);
    function = th_trace_patterns_meet(dispatch->tracing, &name);
    if (!atomic_load_explicit(&function->called, memory_order_relaxed))
        atomic_store_explicit(&function->called, true, memory_order_relaxed);
    if (!th_breakpoint_site_is_armed(function->site))
        return;
    dispatch->caller = tracee;
    th_breakpoint_hit(function->site, &hit);
    callbacks_about(NULL, 0);
}

/* --- returns --- */

void th_trace_patterns_return(struct th_dispatch *dispatch)
{
    struct th_recorded_tracee *tracee = pattern_hit_tracee_of(dispatch->tracing, dispatch->event);
    struct th_execution_end end = {
        .tag = dispatch->event->tag, .ended = pattern_hit_ended, .context = dispatch};
    struct th_execution_left left;
    const struct th_caller *to;

    if (dispatch->status != TH_OK || !tracee)
        return;
    if (!th_recorded_end_function(dispatch->event, &end.function)) {
        dispatch->status = TH_MALFORMED;
        return;
    }
    dispatch->caller = tracee;
    dispatch->aside = false;
    if (end.tag == TH_TAG_return_from && tracee->returned_to.kind != TH_CALLER_UNKNOWN)
        send_return_to(dispatch, tracee, &tracee->returned_to);
    left = th_recorded_leave(&dispatch->tracing->execution, &tracee->stack, &end);
    for (size_t i = 0; left.doubtful; i++, left.doubtful >>= 1) {
        struct th_session *session = left.doubtful & 1 ? th_trace_at(dispatch->tracing, i) : NULL;
        if (session && th_trace_session_is_attached(session))
            th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(returns_doubtful));
    }

    /* An exception may go on: the next event shows its catcher. */
    to = end.tag == TH_TAG_return_to ? &end.function : &left.to;
    tracee->returned_to = *to;
    if (end.tag == TH_TAG_return_to ||
        (end.tag == TH_TAG_return_from && to->kind != TH_CALLER_UNKNOWN))
        send_return_to(dispatch, tracee, to);
}

/* --- events that no session gets, and events other than calls --- */

void th_trace_patterns_skip(struct th_tracing *tracing, struct th_event *event)
{
    struct th_recorded_tracee *tracee;
    struct th_mfa name;

    th_trace_patterns_run(tracing, event);
    if (event->tag == TH_TAG_spawned)
        th_trace_patterns_spawned(tracing, event->tracee);
    if (event->tag < TH_TAG_call || event->tag > TH_TAG_exception_from)
        return;
    tracee = pattern_hit_tracee_of(tracing, event);
    if (!tracee)
        return;
    if (event->tag != TH_TAG_call) {
        struct th_dispatch dispatch = {
            .tracing = tracing, .event = event, .caller = tracee, .aside = true};
        struct th_execution_end end = {
            .tag = event->tag, .ended = pattern_hit_ended, .context = &dispatch};
        if (th_recorded_end_function(event, &end.function))
            th_recorded_leave(&tracing->execution, &tracee->stack, &end);
        tracee->stack.sessions.due = 0;
    } else if (event->source->function(event, &name) == TH_OK) {
        enter(tracing, tracee, event, &name);
    }
    th_error_clear(); /* raised again when a session wants the event */
}

void th_trace_patterns_run(struct th_tracing *tracing, struct th_event *event)
{
    bool begins = event->tag == TH_TAG_in;
    bool stops = event->tag == TH_TAG_out || event->tag == TH_TAG_exit;
    struct th_recorded_tracee *tracee =
        begins || stops ? th_trace_tracee_find(event->tracee) : NULL;
    struct th_account_reading reading;

    if (!tracee || !tracee->timing.account_count || !th_trace_timing_read(event, &reading))
        return;
    if (begins)
        th_trace_timing_resume(&tracee->timing, &reading);
    else
        th_trace_timing_pause(&tracee->timing, tracing, &reading);
}

void th_trace_patterns_spawned(struct th_tracing *tracing, th_term id)
{
    struct th_recorded_tracee *tracee = th_trace_tracee_expect(tracing, id);

    if (tracee)
        th_recorded_spawned(&tracing->execution, &tracee->stack);
}
