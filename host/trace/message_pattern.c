/*
 * Sets patterns for messages, returns them, and filters events by them.
 *
 * An event's delivery is one reader section, callbacks included: an argument of `trace` may be a
 * term of the specification, which a callback may replace.
 */
#include "dispatch.h"

/* A session's filter for messages. Never changes. */
struct th_message_filter {
    struct th_later later;      /* first member: linked when it is replaced */
    struct th_match_spec *spec; /* NULL: no message passes */
};

/* --- filters --- */

static void free_filter(struct th_later *later)
{
    struct th_message_filter *filter = (struct th_message_filter *)later;

    th_match_free(filter->spec);
    th_free(filter);
}

static void message_pattern_replace(struct th_session *session, enum th_message_side message,
                                    struct th_message_filter *filter)
{
    struct th_message_filter *old =
        atomic_exchange_explicit(&session->message_filters[message], filter, memory_order_acq_rel);

    if (filter)
        atomic_store_explicit(&session->message_patterned, true, memory_order_relaxed);
    if (old)
        th_progress_later(&old->later, free_filter);
}

void th_trace_message_filters_end(struct th_session *session)
{
    for (enum th_message_side i = 0; i < TH_MESSAGES; i++) {
        struct th_message_filter *filter =
            atomic_load_explicit(&session->message_filters[i], memory_order_relaxed);
        if (filter)
            free_filter(&filter->later);
    }
}

/* --- setting --- */

static enum th_status set(struct th_session *session, enum th_message_side message,
                          enum th_match_kind kind, th_term match)
{
    struct th_match_spec *spec = NULL;
    struct th_message_filter *filter;
    enum th_status status = TH_OK;

    if (match == TH_NIL || match == TH_AM(true)) {
        message_pattern_replace(session, message, NULL);
        return TH_OK;
    }
    if (th_is_atom(match) && match != TH_AM(false))
        return th_error_raise(
            TH_USAGE, "a pattern for messages must be true, false or a match specification");
    if (match != TH_AM(false))
        status = th_match_compile(kind, match, NULL, &spec);
    if (status != TH_OK)
        return status;
    filter = th_alloc_zero(sizeof *filter);
    filter->spec = spec;
    message_pattern_replace(session, message, filter);
    return TH_OK;
}

enum th_status th_trace_session_send_pattern(struct th_session *session, th_term match)
{
    return set(session, TH_MESSAGE_SENT, TH_MATCH_SEND, match);
}

enum th_status th_trace_session_receive_pattern(struct th_session *session, th_term match)
{
    return set(session, TH_MESSAGE_RECEIVED, TH_MATCH_RECEIVE, match);
}

/* --- queries --- */

static th_term info(const struct th_session *session, enum th_message_side message, th_env *env)
{
    const struct th_message_filter *filter;
    th_term match = TH_AM(true);

    th_progress_enter();
    filter = atomic_load_explicit(&session->message_filters[message], memory_order_acquire);
    if (filter)
        match = filter->spec ? th_copy(env, th_match_source(filter->spec)) : TH_AM(false);
    th_progress_leave();
    return match;
}

th_term th_trace_session_send_pattern_info(const struct th_session *session, th_env *env)
{
    return info(session, TH_MESSAGE_SENT, env);
}

th_term th_trace_session_receive_pattern_info(const struct th_session *session, th_env *env)
{
    return info(session, TH_MESSAGE_RECEIVED, env);
}

bool th_trace_session_message_patterned(const struct th_session *session)
{
    return atomic_load_explicit(&session->message_patterned, memory_order_relaxed);
}

/* --- Events ----------------------------------------------------------------------------------- */

/* No recording has node and sender of a received message. */
static struct th_match_subject message_pattern_subject_of(struct th_delivery *delivery)
{
    struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    const struct th_event *event = dispatch->event;
    const struct th_live_event *live = (const struct th_live_event *)event;
    th_term *elements = dispatch->message;

    dispatch->caller = !event->live && th_is_immediate(dispatch->tracee)
                           ? th_trace_tracee_own(dispatch->tracing, dispatch->tracee)
                           : NULL;
    if (delivery->group == TH_GROUP_send) {
        elements[0] = event->extra;
        elements[1] = event->term;
        return (struct th_match_subject){TH_NONE, elements, 2};
    }
    elements[0] = elements[1] = TH_NONE;
    elements[2] = event->term;
    if (event->live) {
        elements[0] = th_is_atom(live->sender) ? live->sender : TH_AM(nonode);
        elements[1] = th_is_atom(live->sender) ? TH_AM(undefined) : live->sender;
    }
    return (struct th_match_subject){TH_NONE, elements, 3};
}

static const struct th_delivery_source source = {
    .group = TH_GROUP_none,
    .is_message = true,
    .counts_flags = true,
    .decode = th_trace_dispatch_decode,
    .subject = message_pattern_subject_of,
    .context = th_trace_dispatch_context,
    .flags = th_trace_dispatch_flags,
    .fill = th_trace_dispatch_fill,
    .forget = th_trace_dispatch_forget,
};

bool th_trace_message_filter_offer(struct th_dispatch *dispatch, bool traced)
{
    struct th_delivery *delivery = &dispatch->delivery;
    const struct th_session *session = delivery->attachment->session;
    const struct th_message_filter *filter;
    struct th_shared_spec spec = {.spec = NULL};

    th_progress_enter();
    filter = atomic_load_explicit(&session->message_filters[delivery->group - TH_GROUP_send],
                                  memory_order_acquire);
    if (filter) {
        spec.spec = filter->spec;
        delivery->spec = &spec;
        th_trace_deliver(delivery, &source, traced);
        delivery->spec = NULL;
    }
    th_progress_leave();
    return filter != NULL;
}
