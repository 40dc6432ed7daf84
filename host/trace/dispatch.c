/*
 * Takes each event to the sessions.
 *
 * 1. A tracee that is spawned, opened or named by the event gets its flags (inheritance.c).
 * 2. If a process is scheduled in, the host asks the sessions that trace it for their trace_status;
 *    `remove` takes the session away from the process.
 * 3. The event is offered to each session that traces the tracee (delivery.h): the first one that
 *    wants it has the terms decoded, into the arena that all share.
 * 4. Sessions with patterns get calls and their ends at breakpoints (pattern_hit.c).
 *
 * Nothing is built or allocated before a session wants the event (except for a process that is seen
 * for the first time, and once a session has discarded some calls and wanted others:
 * discard_streak.c).
 */
#include "dispatch.h"

#include "host/process/process.h"
#include "host/trace/live/live_hit.h"
#include "host/trace/recorded/recordings.h"

static bool fill_clock(struct th_clock *clock)
{
    struct th_event_clock *self = (struct th_event_clock *)clock;
    struct th_event *event = self->event;

    if (th_trace_event_time(event) != TH_OK || event->time.kind == TH_TIME_NONE) {
        th_error_clear(); /* raised again when a session wants the terms */
        return false;
    }
    clock->monotonic = event->time.ns;
    clock->cpu = event->time.ns;
    clock->offset = th_trace_time_clock(event->time.kind) == TH_CLOCK_MONOTONIC
                        ? th_recorded_streams_offset()
                        : 0;
    clock->zero = th_recorded_streams_zero(&event->time);
    clock->ready = true;
    return true;
}

/* SUBJECT must stay until dispatch_end(). */
static void dispatch_begin(struct th_tracing *tracing, struct th_event *event,
                           struct th_callback_subject *subject)
{
    tracing->clock.clock.ready = false;
    tracing->clock.clock.fill = fill_clock;
    tracing->clock.event = event;
    th_self.clock = tracing->wall_clock ? NULL : &tracing->clock.clock;
    *subject = (struct th_callback_subject){.event = event, .tracee = event->tracee};
    th_self.subject = subject;
}

static inline void dispatch_end(struct th_tracing *tracing)
{
    th_self.clock = NULL;
    th_self.subject = NULL;
    th_env_clear(&tracing->arena);
    if (tracing->waiting || atomic_load_explicit(&tracing->meta_ended, memory_order_relaxed))
        th_trace_settle(tracing);
}

/* --- Deliveries of events --------------------------------------------------------------------- */

static th_env *arena_of(const struct th_dispatch *dispatch)
{
    return dispatch->event->live ? &th_trace_thread_own()->arena : &dispatch->tracing->arena;
}

bool th_trace_dispatch_decode(struct th_delivery *delivery)
{
    struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);

    if (dispatch->status == TH_OK)
        dispatch->status = th_trace_event_decode(dispatch->event, arena_of(dispatch));
    if (dispatch->status == TH_OK)
        dispatch->status = th_trace_event_time(dispatch->event);
    return dispatch->status == TH_OK;
}

/* True if the tracer gets the brief term: it looks at no other, or the flag arity replaces the
 * arguments of a call. Terms of a live event stand ready: those are not left out. */
static inline bool gets_brief(const struct th_delivery *delivery, uint32_t flags)
{
    const struct th_event *event = th_trace_dispatch_of(delivery)->event;

    return (delivery->attachment->slots->functions_only && !event->live) ||
           (flags & TH_FLAG_ARITY && event->tag == TH_TAG_call);
}

/* True if the tracer gets no other term than the brief one. With the flag arity, a tracer also gets
 * what stands behind the call. */
static inline bool needs_only_brief(const struct th_delivery *delivery)
{
    const struct th_event *event = th_trace_dispatch_of(delivery)->event;

    return gets_brief(delivery, delivery->flags) &&
           (delivery->attachment->slots->functions_only ||
            event->tuple_size == 4 + (event->kind == TH_EVENT_TRACE_TS));
}

/* As th_trace_dispatch_decode(), without the terms that the tracer does not get. */
TH_DELIVERY_INLINE bool decode_for_tracer(struct th_delivery *delivery)
{
    struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);

    if (!needs_only_brief(delivery))
        return th_trace_dispatch_decode(delivery);
    if (dispatch->status == TH_OK)
        dispatch->status = th_trace_event_brief(dispatch->event, arena_of(dispatch));
    if (dispatch->status == TH_OK)
        dispatch->status = th_trace_event_time(dispatch->event);
    return dispatch->status == TH_OK;
}

uint32_t th_trace_dispatch_flags(const struct th_delivery *delivery)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    const struct th_tracee_flags *tracee_flags =
        dispatch->event->live ? th_trace_traced_flags(dispatch->event->live)
                              : th_trace_tracee_flags(dispatch->tracing, dispatch->tracee);

    return th_trace_flags_of_session(tracee_flags, delivery->attachment->session);
}

void th_trace_dispatch_context(const struct th_delivery *delivery, struct th_match_context *context)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    struct th_event *event = dispatch->event;

    *context = (struct th_match_context){
        .env = arena_of(dispatch), .id = dispatch->tracee, .traced = event->live, .event = event};
    if (event->live)
        context->process = th_live_process_of(event);
    else if (dispatch->caller)
        context->traced = &dispatch->caller->traced;
}

void th_trace_dispatch_forget(struct th_delivery *delivery, struct th_session *session)
{
    struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    struct th_event *event = dispatch->event;

    th_trace_traced_forget(
        event->live ? event->live : &th_trace_tracee_own(dispatch->tracing, event->tracee)->traced,
        session);
}

TH_DELIVERY_INLINE void fill_event(struct th_delivery *delivery, th_env *env, th_term message,
                                   uint32_t flags)
{
    struct th_event *event = th_trace_dispatch_of(delivery)->event;
    th_term *argv = delivery->argv;

    argv[3] = event->term;
    /* The brief term is in the arena, which all sessions share. */
    if (gets_brief(delivery, flags) &&
        th_trace_event_brief(event, arena_of(th_trace_dispatch_of(delivery))) == TH_OK) {
        argv[3] = event->brief;
        if (delivery->attachment->slots->functions_only) {
            argv[4] = th_trace_opts_make_recorded(env, TH_NONE, TH_NONE, TH_NONE, event->time.kind,
                                                  flags);
            return;
        }
    }
    if (event->kind == TH_EVENT_SEQ_TRACE) {
        argv[2] = event->label;
        if (event->live)
            flags = TH_FLAG_AS_RECORDED; /* the token chooses the time stamp */
    }
    argv[4] = th_trace_opts_make_recorded(env, event->extra, message, event->scheduler_id,
                                          event->time.kind, flags);
}

void th_trace_dispatch_fill(struct th_delivery *delivery, th_env *env, th_term message,
                            uint32_t flags)
{
    fill_event(delivery, env, message, flags);
}

/* Without a pattern the recorded result stays. */
TH_DELIVERY_INLINE void fill_as_recorded(struct th_delivery *delivery, th_env *env, th_term message,
                                         uint32_t flags)
{
    (void)message;
    fill_event(delivery, env, th_trace_dispatch_of(delivery)->event->match_spec_result, flags);
}

/* A session that discarded the call, or whose tracee was silent, does not get its end. */
static bool withholds(struct th_delivery *delivery)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    struct th_session *session = delivery->attachment->session;

    if (!(dispatch->withheld >> session->index & 1))
        return false;
    if (dispatch->doubtful >> session->index & 1)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(returns_doubtful));
    else
        th_trace_session_count(session, TH_COUNTED(untraced));
    return !(dispatch->risked >> session->index & 1);
}

/* The kind of an offered event: a constant where events are offered, so that each kind has its own
 * code. */
enum offered { OFFERED_CALL, OFFERED_END, OFFERED_OTHER };

static enum th_delivery_outcome go_on_with_event(struct th_delivery *delivery, th_term answer);

static inline bool event_is_silent(const struct th_delivery *delivery)
{
    return delivery->flags & TH_FLAG_SILENT;
}

static const struct th_delivery_source event_source = {
    .group = TH_GROUP_none,
    .counts_flags = true,
    .decode = decode_for_tracer,
    .is_special = event_is_silent,
    .fill = fill_as_recorded,
    .forget = th_trace_dispatch_forget,
    .go_on = go_on_with_event,
};

static enum th_delivery_outcome go_on_with_event(struct th_delivery *delivery, th_term answer)
{
    return th_trace_delivery_go_on(delivery, &event_source, answer);
}

static const struct th_delivery_source end_source = {
    .group = TH_GROUP_call,
    .counts_flags = true,
    .decode = decode_for_tracer,
    .fill = fill_as_recorded,
    .withholds = withholds,
};

TH_DELIVERY_INLINE void dispatch_offer(struct th_dispatch *dispatch,
                                       const struct th_tracee_ref *ref,
                                       struct th_attachment *attachment, enum offered offered)
{
    struct th_session *session = ref->session;
    struct th_delivery *delivery = &dispatch->delivery;
    unsigned message = (unsigned)delivery->group - TH_GROUP_send;
    bool traced = ref->flags & dispatch->flag;
    enum th_delivery_outcome outcome;

    _Static_assert(TH_GROUP_receive - TH_GROUP_send == TH_MESSAGE_RECEIVED, "as the groups");

    if (offered != OFFERED_OTHER && th_trace_session_breakpoints(session)) /* see pattern_hit.c */
        return;
    th_trace_dispatch_address(dispatch, attachment, ref->flags);
    if (offered == OFFERED_END) {
        th_trace_deliver(delivery, &end_source, traced);
        return;
    }
    /* Relaxed, as only th_trace_message_filter_offer() reads the filter itself; a filter that is
     * set meanwhile applies from the next event on. */
    if (offered == OFFERED_OTHER && message < TH_MESSAGES &&
        atomic_load_explicit(&session->message_filters[message], memory_order_relaxed) &&
        !th_is_port(dispatch->tracee) && th_trace_message_filter_offer(dispatch, traced))
        return;
    outcome = th_trace_deliver(delivery, &event_source, traced);
    if (offered != OFFERED_CALL || outcome == TH_DELIVERY_PASSED)
        return;
    dispatch->offered |= session->bit;
    if (outcome == TH_DELIVERY_DISCARDED || outcome == TH_DELIVERY_SILENCED)
        dispatch->declined |= session->bit;
}

/* Step 2. */
static bool may_run(struct th_dispatch *dispatch, struct th_attachment *attachment)
{
    if (dispatch->event->tag != TH_TAG_in || dispatch->delivery.group != TH_GROUP_running_procs)
        return true;
    if (th_trace_attachment_ask_status(attachment, dispatch->tracee))
        return th_trace_session_is_attached(attachment->session);
    th_trace_dispatch_forget(&dispatch->delivery, attachment->session);
    return false;
}

static inline const struct th_tracee_flags *flags_of_tracee(const struct th_tracing *tracing,
                                                            th_term id)
{
    const struct th_recorded_process *process =
        th_is_immediate(id) ? th_process_world_see(id) : NULL;
    const struct th_recorded_tracee *tracee = process ? process->tracing : NULL;

    return tracee ? th_trace_traced_flags(&tracee->traced) : th_trace_found_flags(tracing, id);
}

/* TRACEE_FLAGS serve the whole event: a replacement applies from the next event on. */
TH_DELIVERY_INLINE void offer_to_all(struct th_dispatch *dispatch,
                                     const struct th_tracee_flags *tracee_flags,
                                     enum offered offered)
{
    for (uint32_t i = 0; i < tracee_flags->count; i++) {
        struct th_attachment *attachment;
        if (!th_trace_session_is_attached(tracee_flags->tracee_flags[i].session))
            continue;
        attachment = th_trace_session_attachment(tracee_flags->tracee_flags[i].session);
        if (offered != OFFERED_OTHER || may_run(dispatch, attachment))
            dispatch_offer(dispatch, &tracee_flags->tracee_flags[i], attachment, offered);
    }
}

/* Offers a call, and enters it unless the streak holds. */
TH_DELIVERY_INLINE void offer_call(struct th_dispatch *dispatch)
{
    struct th_tracing *tracing = dispatch->tracing;
    struct th_event *event = dispatch->event;
    struct th_recorded_call call;

    dispatch->offered = dispatch->declined = 0;
    offer_to_all(dispatch, flags_of_tracee(tracing, event->tracee), OFFERED_CALL);
    if (th_recorded_streak_holds(&tracing->streak, dispatch->offered, dispatch->declined) ||
        dispatch->status != TH_OK)
        return;
    call = (struct th_recorded_call){.tail = TH_UNKNOWN};
    dispatch->status = event->source->function(event, &call.function);
    if (dispatch->status != TH_OK || !th_is_immediate(event->tracee))
        return;
    call.recorded = th_trace_recorded_caller(tracing, event);
    th_recorded_streak_enter(&th_trace_tracee_own(tracing, event->tracee)->offered,
                             &tracing->streak, &call, dispatch->offered, dispatch->declined);
}

/* Offers return_from, exception_from or return_to, except to sessions that discarded the call. */
TH_DELIVERY_INLINE void offer_return(struct th_dispatch *dispatch)
{
    struct th_tracing *tracing = dispatch->tracing;
    struct th_event *event = dispatch->event;

    dispatch->withheld = tracing->streak.discarding;
    dispatch->doubtful = dispatch->risked = 0;
    if (tracing->streak.broken && th_is_immediate(event->tracee)) {
        struct th_execution_end dispatch_end = {.tag = event->tag};
        if (!th_recorded_end_function(event, &dispatch_end.function)) {
            dispatch->status = TH_MALFORMED;
            return;
        }
        dispatch->withheld =
            th_recorded_streak_leave(&th_trace_tracee_own(tracing, event->tracee)->offered,
                                     &tracing->streak, dispatch_end, &dispatch->doubtful);
        dispatch->risked = dispatch->doubtful & ~dispatch->withheld;
        dispatch->withheld |= dispatch->doubtful;
    }
    offer_to_all(dispatch, flags_of_tracee(tracing, event->tracee), OFFERED_END);
}

static bool is_relevant(const struct th_tracing *tracing, const struct th_event *event)
{
    return atomic_load_explicit(&tracing->relevant, memory_order_relaxed) >> event->tag & 1;
}

/* Offers an event other than a call or its end. */
static void offer_other(struct th_dispatch *dispatch)
{
    struct th_tracing *tracing = dispatch->tracing;
    struct th_event *event = dispatch->event;
    const struct th_tracee_flags *tracee_flags = NULL;

    if (is_relevant(tracing, event))
        th_trace_inheritance_apply(tracing, event);
    if (event->kind == TH_EVENT_SEQ_TRACE)
        tracee_flags = atomic_load_explicit(&tracing->everyone, memory_order_acquire);
    else if (((event->tag >= TH_TAG_in_exiting && event->tag <= TH_TAG_out_exited) ||
              event->tag == TH_TAG_unregister) &&
             tracing->departures > 0 && !th_process_alive(event->tracee)) {
        /* The last events of a process that is exiting come after its exit. */
        for (size_t i = 1; !tracee_flags && i <= TH_DEPARTED && i <= tracing->departures; i++) {
            const struct th_departed *departed =
                &tracing->departed[(tracing->departures - i) % TH_DEPARTED];
            if (departed->id == event->tracee)
                tracee_flags = atomic_load_explicit(&departed->tracee_flags, memory_order_acquire);
        }
    }
    offer_to_all(dispatch, tracee_flags ? tracee_flags : flags_of_tracee(tracing, event->tracee),
                 OFFERED_OTHER);
}

static bool is_return(const struct th_event *event)
{
    return event->tag > TH_TAG_call && event->tag <= TH_TAG_exception_from;
}

/* By the replaying thread. */
TH_DELIVERY_INLINE void take_recorded(struct th_dispatch *dispatch)
{
    struct th_tracing *tracing = dispatch->tracing;
    struct th_callback_subject subject;

    tracing->seen |= dispatch->flag;
    dispatch_begin(tracing, dispatch->event, &subject);
    if (dispatch->event->tag == TH_TAG_call)
        offer_call(dispatch);
    else if (is_return(dispatch->event))
        offer_return(dispatch);
    else
        offer_other(dispatch);
    /* Sessions with patterns come after those without. */
    if (atomic_load_explicit(&tracing->patterned, memory_order_relaxed)) {
        if (dispatch->event->tag == TH_TAG_call)
            th_trace_patterns_call(dispatch);
        else if (is_return(dispatch->event))
            th_trace_patterns_return(dispatch);
        else if (dispatch->event->tag == TH_TAG_spawned)
            th_trace_patterns_spawned(tracing, dispatch->event->tracee);
        else
            th_trace_patterns_run(tracing, dispatch->event);
    }
    dispatch_end(tracing);
}

static void take_shared(struct th_dispatch *dispatch)
{
    struct th_tracing *tracing = dispatch->tracing;
    struct th_event *event = dispatch->event;
    struct th_callback_subject subject;
    struct th_mfa name;

    /* Live calls and their ends are in live_call.c and live_end.c. */
    if (event->live && th_self.attachment) {
        th_thread_count(&th_trace_thread_own()->suppressed);
    } else if (event->live) {
        th_progress_enter();
        subject = (struct th_callback_subject){.event = event, .tracee = event->tracee};
        th_self.subject = &subject;
        offer_to_all(dispatch,
                     event->kind == TH_EVENT_SEQ_TRACE
                         ? atomic_load_explicit(&tracing->everyone, memory_order_acquire)
                         : th_trace_traced_flags(event->live),
                     OFFERED_OTHER);
        th_self.subject = NULL;
        th_env_clear(&th_trace_thread_own()->arena);
        th_progress_leave();
    } else {
        /* A new function gets its breakpoints before the section, as the change is waited for. */
        if (event->tag == TH_TAG_call &&
            atomic_load_explicit(&tracing->patterned, memory_order_relaxed)) {
            if (event->source->function(event, &name) == TH_OK)
                th_trace_patterns_meet(tracing, &name);
            else
                th_error_clear(); /* raised again when a session wants the event */
        }
        th_progress_enter();
        th_trace_catch_up(tracing);
        take_recorded(dispatch);
        th_progress_leave();
    }
}

enum th_status th_trace(struct th_tracing *tracing, struct th_event *event)
{
    struct th_dispatch dispatch;
    enum th_tracer_group group;
    bool question;
    uint32_t flag;

    if (atomic_load_explicit(&tracing->attached, memory_order_relaxed) == 0)
        return TH_END;
    if (event->kind > TH_EVENT_SEQ_TRACE) /* a drop, or no trace message */
        return TH_OK;
    group = th_trace_tag_group(event->tag, event->tracee);
    if (group == TH_GROUP_none)
        return th_error_raise(TH_MALFORMED, "a %s has no '%s' events",
                              th_is_port(event->tracee) ? "port" : "process",
                              th_trace_tag_name(event->tag));
    flag = th_trace_tag_flag(event->tag, group);
    /* `in` of a live process asks all sessions that trace it, with any flag, for their
     * trace_status. */
    question = event->live && event->tag == TH_TAG_in && group == TH_GROUP_running_procs;
    if (!(flag & atomic_load_explicit(&tracing->wanted, memory_order_relaxed)) &&
        !is_relevant(tracing, event) && !question) { /* not wanted, without effects */
        if (!event->live) {
            tracing->seen |= flag;
            th_thread_count(&tracing->unwanted);
        }
        return TH_OK;
    }
    /* Member by member: the rest is filled for each session, or on demand. */
    dispatch.delivery.group = group;
    dispatch.delivery.argv[0] = th_trace_tag_atom(event->tag);
    dispatch.tracing = tracing;
    dispatch.event = event;
    dispatch.flag = flag;
    dispatch.tracee = event->tracee;
    dispatch.status = TH_OK;
    if (event->kind == TH_EVENT_SEQ_TRACE) {
        dispatch.tracee = event->source->actor(event);
        if (dispatch.tracee == TH_NONE)
            dispatch.tracee = TH_AM(undefined);
    }
    if (__builtin_expect(tracing->shared, 0))
        take_shared(&dispatch);
    else
        take_recorded(&dispatch);
    return dispatch.status;
}

void th_trace_skip(struct th_tracing *tracing, struct th_event *event)
{
    struct th_callback_subject subject;

    if (event->kind == TH_EVENT_DROP)
        th_recorded_gap(&tracing->execution);
    if (event->kind >= TH_EVENT_SEQ_TRACE ||
        th_trace_tag_group(event->tag, event->tracee) == TH_GROUP_none)
        return;
    if (!atomic_load_explicit(&tracing->patterned, memory_order_relaxed) &&
        !is_relevant(tracing, event))
        return;
    th_trace_enter(tracing);
    if (tracing->shared)
        th_trace_catch_up(tracing);
    dispatch_begin(tracing, event, &subject);
    if (atomic_load_explicit(&tracing->patterned, memory_order_relaxed))
        th_trace_patterns_skip(tracing, event);
    if (is_relevant(tracing, event))
        th_trace_inheritance_apply(tracing, event);
    dispatch_end(tracing);
    th_trace_leave(tracing);
}
