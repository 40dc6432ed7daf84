/*
 * Messages at patterns, in the order of a BEAM: the specification, silent, enabled, trace.
 *
 * All of it is one read section, callbacks included: what is handed to `trace` may be a term of the
 * specification, which a callback may replace.
 */
#include "message_filter.h"

#include "surroundings.h"
#include "tracing.h"
#include "way.h"

/* What a specification's head is matched with. */
static struct th_match_subject subject_of(const struct th_way *way, th_term elements[3])
{
    const struct th_event *event = way->event;

    if (way->group == TH_GROUP_send) {
        elements[0] = event->extra;
        elements[1] = event->term;
        return (struct th_match_subject){TH_NONE, elements, 2};
    }
    elements[0] = elements[1] = TH_NONE; /* no recording tells node and sender */
    elements[2] = event->term;
    return (struct th_match_subject){TH_NONE, elements, 3};
}

/* True if it passes, RESULT telling how. False also if it is damaged. */
static bool match(struct th_way *way, struct th_session *session, const struct th_match_spec *spec,
                  struct th_match_result *result)
{
    struct th_tracee *tracee =
        th_is_immediate(way->tracee) ? th_tracee_own(way->tracing, way->tracee) : NULL;
    struct th_surroundings context = {way, session, tracee};
    struct th_match_surroundings surroundings = {&th_pattern_operations, &context};
    struct th_message_counts *counts = &session->messages.counts;
    struct th_match_subject subject;
    th_term elements[3];

    if (!th_way_decode(way))
        return false;
    subject = subject_of(way, elements);
    th_match_run(spec, &subject, &surroundings, &way->tracing->arena, result);
    counts->actions_unsure += result->unsure;
    if (result->end == TH_MATCH_UNKNOWN ||
        (result->end == TH_MATCH_YES && result->message == TH_NONE)) {
        counts->undecided++;
        return false;
    }
    if (result->end == TH_MATCH_NO || result->message == TH_AM(false)) {
        counts->unmatched++;
        return false;
    }
    return true;
}

/* The specification may have changed the flags. One that took away the flag for such events does so
 * for those to come; whoever is not traced at all any more is told nothing. */
static void tell(struct th_way *way, struct th_session *session,
                 const struct th_match_result *result)
{
    uint32_t flags = th_refs_flags(th_tracee_refs(way->tracing, way->tracee), session);
    struct th_event event;

    if (flags & TH_FLAG_SILENT) {
        session->messages.counts.silenced++;
        return;
    }
    if (!flags || !th_way_ask(way, session))
        return;
    event = *way->event;
    event.match_spec_result = result->message;
    th_way_hand_over(way, session, &event, flags);
}

static void offer(struct th_way *way, struct th_session *session,
                  const struct th_message_filter *filter)
{
    struct th_match_result result;

    if (!filter->spec)
        session->messages.counts.unmatched++;
    else if (match(way, session, filter->spec, &result))
        tell(way, session, &result);
}

bool th_message_filter_offer(struct th_way *way, struct th_session *session)
{
    const struct th_message_filter *filter;

    th_progress_enter();
    filter = atomic_load_explicit(&session->messages.items[way->group - TH_GROUP_send],
                                  memory_order_acquire);
    if (filter)
        offer(way, session, filter);
    th_progress_leave();
    return filter != NULL;
}
