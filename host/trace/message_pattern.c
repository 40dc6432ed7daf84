/* Setting patterns for messages, and what is set. */
#include "message_pattern.h"

#include "message_filter.h"
#include "tracing.h"

/* --- filters --- */

static void free_filter(struct th_message_filter *filter)
{
    th_match_free(filter->spec);
    th_free(filter);
}

static void free_later(struct th_later *later)
{
    free_filter(
        (struct th_message_filter *)((char *)later - offsetof(struct th_message_filter, later)));
}

static void replace(struct th_session *session, enum th_message_side message,
                    struct th_message_filter *filter)
{
    struct th_message_filters *filters = &session->messages;
    struct th_message_filter *old =
        atomic_exchange_explicit(&filters->items[message], filter, memory_order_acq_rel);

    if (filter)
        atomic_store_explicit(&filters->used, true, memory_order_relaxed);
    if (old)
        th_progress_later(&old->later, free_later);
}

void th_trace_message_filters_end(struct th_message_filters *filters)
{
    for (enum th_message_side i = 0; i < TH_MESSAGES; i++) {
        struct th_message_filter *filter =
            atomic_load_explicit(&filters->items[i], memory_order_relaxed);
        if (filter)
            free_filter(filter);
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
        replace(session, message, NULL);
        return TH_OK;
    }
    if (th_is_atom(match) && match != TH_AM(false))
        return th_error_raise(TH_USAGE, "a pattern for messages is true, false or a match "
                                        "specification");
    if (match != TH_AM(false))
        status = th_match_compile(kind, match, NULL, &spec);
    if (status != TH_OK)
        return status;
    filter = th_alloc_zero(sizeof *filter);
    filter->spec = spec;
    replace(session, message, filter);
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

/* --- asking --- */

static th_term info(const struct th_session *session, enum th_message_side message, th_env *env)
{
    const struct th_message_filter *filter;
    th_term match = TH_AM(true);

    th_progress_enter();
    filter = atomic_load_explicit(&session->messages.items[message], memory_order_acquire);
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
    return atomic_load_explicit(&session->messages.used, memory_order_relaxed);
}
