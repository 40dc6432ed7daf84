/*
 * Messages at patterns, in the order of a BEAM: the specification, silent, enabled, trace.
 *
 * All of it is one read section, callbacks included: what is handed to `trace` may be a term of the
 * specification, which a callback may replace.
 */
#include "message_filter.h"

#include "host/trace/live/live_hit.h"
#include "match_context.h"

/* The process is this host's now, or a recording's. */
static struct th_match_context context_of(const struct th_way *way, struct th_session *session)
{
    struct th_match_context context = {.tracing = way->tracing,
                                       .session = session,
                                       .id = way->tracee,
                                       .traced = way->event->live,
                                       .event = way->event};

    if (way->event->live)
        context.process = th_live_process_of(way->event);
    else if (th_is_immediate(way->tracee))
        context.traced = &th_tracee_own(way->tracing, way->tracee)->traced;
    return context;
}

static uint32_t flags_now(const struct th_way *way, const struct th_session *session)
{
    return th_refs_flags(way->event->live ? th_traced_refs(way->event->live)
                                          : th_tracee_refs(way->tracing, way->tracee),
                         session);
}

static th_term node_of(th_term sender)
{
    return th_is_atom(sender) ? sender : TH_AM(nonode);
}

/* What a specification's head is matched with. No recording tells node and sender. */
static struct th_match_subject subject_of(const struct th_way *way, th_term elements[3])
{
    const struct th_event *event = way->event;
    const struct th_live_event *live = (const struct th_live_event *)event;

    if (way->group == TH_GROUP_send) {
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

/* True if it passes, RESULT telling how. False also if it is damaged. */
static bool match(struct th_way *way, struct th_session *session, const struct th_match_spec *spec,
                  struct th_match_result *result)
{
    struct th_match_context context;
    struct th_match_subject subject;
    th_term elements[3];

    if (!th_way_decode(way))
        return false;
    context = context_of(way, session);
    subject = subject_of(way, elements);
    th_match_context_run(&context, spec, &subject, th_way_arena(way), result);
    for (unsigned i = 0; i < result->unsure; i++)
        th_session_count(session, TH_COUNTED_OF_MESSAGES(actions_unsure));
    if (result->end == TH_MATCH_UNKNOWN ||
        (result->end == TH_MATCH_YES && result->message == TH_NONE)) {
        th_session_count(session, TH_COUNTED_OF_MESSAGES(undecided));
        return false;
    }
    if (result->end == TH_MATCH_NO || result->message == TH_AM(false)) {
        th_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
        return false;
    }
    return true;
}

/* The specification may have changed the flags. One that took away the flag for such events does so
 * for those to come; whoever is not traced at all any more is told nothing. */
static void tell(struct th_way *way, struct th_attachment *attachment,
                 const struct th_match_result *result)
{
    struct th_session *session = attachment->session;
    uint32_t flags = flags_now(way, session);
    struct th_event event;

    if (flags & TH_FLAG_SILENT) {
        th_session_count(session, TH_COUNTED_OF_MESSAGES(silenced));
        return;
    }
    if (!flags || !th_way_ask(way, attachment))
        return;
    event = *way->event;
    event.match_spec_result = result->message;
    th_way_hand_over(way, attachment, &event, flags);
}

static void offer(struct th_way *way, struct th_attachment *attachment,
                  const struct th_message_filter *filter)
{
    struct th_session *session = attachment->session;
    struct th_match_result result;

    if (!filter->spec)
        th_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
    else if (match(way, session, filter->spec, &result))
        tell(way, attachment, &result);
}

bool th_message_filter_offer(struct th_way *way, struct th_attachment *attachment)
{
    const struct th_session *session = attachment->session;
    const struct th_message_filter *filter;

    th_progress_enter();
    filter = atomic_load_explicit(&session->messages.items[way->group - TH_GROUP_send],
                                  memory_order_acquire);
    if (filter)
        offer(way, attachment, filter);
    th_progress_leave();
    return filter != NULL;
}
