/*
 * Messages at patterns.
 *
 * All of it is one read section, callbacks included: what is handed to `trace` may be a term of the
 * specification, which a callback may replace.
 */
#include "message_filter.h"

#include "dispatch.h"
#include "host/trace/live/live_hit.h"

static th_term node_of(th_term sender)
{
    return th_is_atom(sender) ? sender : TH_AM(nonode);
}

/* No recording has node and sender of a received message. */
static struct th_match_subject subject_of(struct th_delivery *delivery)
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
    elements[0] = event->live ? node_of(live->sender) : TH_NONE;
    elements[1] = !event->live               ? TH_NONE
                  : th_is_atom(live->sender) ? TH_AM(undefined)
                                             : live->sender;
    elements[2] = event->term;
    return (struct th_match_subject){TH_NONE, elements, 3};
}

static const struct th_delivery_source source = {
    .group = TH_GROUP_none,
    .is_message = true,
    .counts_flags = true,
    .decode = th_trace_dispatch_decode,
    .subject = subject_of,
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
    filter = atomic_load_explicit(&session->messages.items[delivery->group - TH_GROUP_send],
                                  memory_order_acquire);
    if (filter) {
        spec.spec = filter->spec;
        delivery->spec = &spec;
        th_trace_deliver(delivery, &source, traced);
    }
    th_progress_leave();
    return filter != NULL;
}
