#include "delivery.h"

#include "host/self/self.h"

const struct th_match_result th_trace_delivery_matched = {.end = TH_MATCH_YES,
                                                          .message = TH_AM(true)};

/* --- step 2: what becomes of `remove` --------------------------------------------------------- */

/* OTP 25 does not act on `remove` in receive and procs events, which come from outside of the
 * tracee. */
static bool can_remove(enum th_tracer_group group)
{
    return group != TH_GROUP_receive && group != TH_GROUP_procs && group != TH_GROUP_generic;
}

/* A meta breakpoint is not for one tracee: its hook ends the breakpoint. */
static enum th_delivery_outcome take_away(struct th_delivery *delivery,
                                          const struct th_delivery_source *source)
{
    struct th_session *session = delivery->attachment->session;

    if (!source->meta && can_remove(th_trace_delivery_group(delivery, source)))
        source->forget(delivery, session);
    else if (!source->meta)
        th_trace_session_count(session, TH_COUNTED(kept));
    return TH_DELIVERY_REMOVED;
}

/* --- step 3: the specification ---------------------------------------------------------------- */

/* The session that has set the specification, which counts its results. */
static struct th_session *matching(const struct th_delivery *delivery,
                                   const struct th_delivery_source *source)
{
    return source->meta ? delivery->owner : delivery->attachment->session;
}

static bool is_undecided(const struct th_match_result *result)
{
    return result->end == TH_MATCH_UNKNOWN ||
           (result->end == TH_MATCH_YES && result->message == TH_NONE);
}

static void run(struct th_delivery *delivery, const struct th_delivery_source *source,
                struct th_match_result *result)
{
    struct th_match_subject subject = source->subject(delivery);
    struct th_match_context context;

    source->context(delivery, &context);
    context.session = matching(delivery, source);
    th_trace_match_context_run(&context, delivery->spec->spec, &subject, result);
}

static void count_unknown(struct th_session *session, const struct th_match_result *result)
{
    for (unsigned i = 0; i < result->callers_unknown; i++)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(callers_unknown));
    for (unsigned i = 0; i < result->unsure; i++)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(actions_unsure));
    if (is_undecided(result))
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(undecided));
}

/* Matches a call. NULL: it is damaged. Else *ROOM, or the result that is the same for all. */
static const struct th_match_result *match(struct th_delivery *delivery,
                                           const struct th_delivery_source *source,
                                           struct th_match_result *room)
{
    if (source->subject && source->decode && !source->decode(delivery))
        return NULL;
    if (!source->subject || !delivery->spec)
        return &th_trace_delivery_matched;
    run(delivery, source, room);
    count_unknown(matching(delivery, source), room);
    return room;
}

/* True if the message passes. */
static bool match_message(struct th_delivery *delivery, const struct th_delivery_source *source,
                          struct th_session *session)
{
    struct th_match_result *result = &delivery->matched;

    run(delivery, source, result);
    for (unsigned i = 0; i < result->unsure; i++)
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(actions_unsure));
    if (is_undecided(result)) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(undecided));
        return false;
    }
    if (result->end == TH_MATCH_NO || result->message == TH_AM(false)) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
        return false;
    }
    return true;
}

/* The specification may have changed the flags. One that took away the flag for such events does so
 * for those to come; a tracee that is not traced at all any more is left out. */
bool th_trace_delivery_match_first(struct th_delivery *delivery,
                                   const struct th_delivery_source *source)
{
    struct th_session *session = delivery->attachment->session;

    if (!delivery->spec->spec) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
        return false;
    }
    if (!source->decode(delivery) || !match_message(delivery, source, session))
        return false;
    delivery->flags = source->flags(delivery);
    if (delivery->flags & TH_FLAG_SILENT) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(silenced));
        return false;
    }
    return delivery->flags != 0;
}

/* --- steps 3 to 6 ----------------------------------------------------------------------------- */

static enum th_delivery_outcome decide_call(struct th_delivery *delivery,
                                            const struct th_delivery_source *source,
                                            const struct th_match_result *result)
{
    struct th_match_result room;
    uint32_t flags;

    if (!result)
        result = match(delivery, source, &room);
    if (!result || result->end != TH_MATCH_YES)
        return TH_DELIVERY_OVER;
    flags = source->flags ? source->flags(delivery) : delivery->flags;
    if (flags & TH_FLAG_SILENT && th_trace_delivery_group(delivery, source) == TH_GROUP_call) {
        th_trace_session_count(delivery->attachment->session, TH_COUNTED(silenced));
        return TH_DELIVERY_SILENCED;
    }
    th_trace_delivery_accept(delivery, source, result, result->message, flags);
    return TH_DELIVERY_OVER;
}

enum th_delivery_outcome th_trace_delivery_decide(struct th_delivery *delivery,
                                                  const struct th_delivery_source *source,
                                                  th_term answer,
                                                  const struct th_match_result *result)
{
    enum th_delivery_outcome outcome = TH_DELIVERY_OVER;

    th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
    if (answer != TH_AM(trace))
        return take_away(delivery, source);
    if (!th_trace_session_is_attached(delivery->attachment->session) ||
        (source->meta && !th_trace_session_is_attached(delivery->owner)))
        return outcome; /* it may have been destroyed */
    if (source->is_message)
        th_trace_delivery_send(delivery, source, delivery->matched.message, delivery->flags);
    else
        outcome = decide_call(delivery, source, result);
    if (source->in_thread)
        th_env_clear(&th_self.trace_thread->arena);
    return outcome;
}

/* --- ends of calls at breakpoints ------------------------------------------------------------- */

struct th_session *th_trace_delivery_meta_tracer(struct th_tracing *tracing, uint64_t word,
                                                 struct th_session **owner)
{
    struct th_session *called;

    if (!(word & TH_REQUEST_META))
        return NULL;
    called = th_trace_meta_tracer_find(tracing, word >> TH_REQUEST_BITS, owner);
    if (!called)
        th_trace_meta_tracer_untold(tracing, word >> TH_REQUEST_BITS);
    return called;
}

void th_trace_deliver_return_to(struct th_delivery *delivery,
                                const struct th_delivery_source *source,
                                const struct th_tracing *tracing, uint64_t waiting, uint64_t before)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = waiting >> i & 1 ? th_trace_at(tracing, i) : NULL;
        uint32_t flags;
        if (!session || session->id / TH_SESSIONS_LIMIT >= before)
            continue;
        th_trace_delivery_address(delivery, th_trace_session_attachment(session));
        flags = source->flags(delivery);
        if (flags & TH_FLAG_RETURN_TO && th_trace_session_is_attached(session))
            th_trace_delivery_send(delivery, source, TH_AM(true), flags);
    }
}
