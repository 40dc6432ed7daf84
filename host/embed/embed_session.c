/* Sessions: a tracer with its state, by its name. */
#include "embed_host.h"

/* --- creating --- */

static enum th_status read_session_state(const struct tracehost_session_setup *setup, th_env *env,
                                         th_term *state)
{
    int given = (setup->state != TH_NONE) + !!setup->state_text + !!setup->state_options;

    *state = setup->state;
    if (given > 1)
        return th_error_raise(TH_USAGE, "there is more than one state");
    if (setup->state_text)
        return th_trace_tracer_state_parse(env, setup->state_text, state);
    if (setup->state_options)
        return th_trace_tracer_settings_parse(env, setup->state_options, state);
    if (!given)
        *state = th_make_map(env, NULL, NULL, 0, true);
    return TH_OK;
}

static enum th_status load_tracer(tracehost_host *host, const char *name,
                                  struct th_library **library)
{
    struct th_search search;
    enum th_status status;

    pthread_mutex_lock(&host->loading);
    th_embed_search(host, &search);
    status = th_trace_tracer_load(&search, name, library);
    th_library_search_free(&search);
    pthread_mutex_unlock(&host->loading);
    return status;
}

static enum th_status create_session(tracehost_host *host,
                                     const struct tracehost_session_setup *setup, th_term state,
                                     struct th_session **session)
{
    uint32_t flags = th_embed_flags(setup->recorded_flags);
    struct th_session_setup inner = {
        .name = setup->tracer, .title = setup->name, .state = state, .flags = flags};
    enum th_status status = load_tracer(host, setup->tracer, &inner.library);

    if (status != TH_OK)
        return status;
    return flags ? th_trace_session_attach(host->tracing, &inner, session)
                 : th_trace_session_create(host->tracing, &inner, session);
}

enum tracehost_status tracehost_session_create(tracehost_host *host,
                                               const struct tracehost_session_setup *given,
                                               tracehost_session *session)
{
    struct tracehost_session_setup setup;
    struct th_session *made;
    th_env env;
    th_term state;
    enum th_status status =
        th_embed_check(host)
            ?: th_embed_enter()
            ?: th_embed_sized_take(&setup, sizeof setup, given, "tracehost_session_setup")
            ?: th_embed_need(setup.tracer, "name of a tracer")
            ?: th_embed_need(session, "result")
            ?: th_embed_check_flags(setup.recorded_flags);

    if (status != TH_OK)
        return th_embed_answer(status);
    th_env_init(&env, TH_ENV_PLAIN);
    status = read_session_state(&setup, &env, &state)
                 ?: th_embed_find_copy(state)
                 ?: create_session(host, &setup, state, &made);
    th_env_release(&env);
    if (status == TH_OK)
        *session = th_trace_session_id_of(made);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_destroy(tracehost_host *host, tracehost_session session)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found);
    unsigned long failures = th_trace_failures();

    if (status == TH_OK) {
        th_trace_session_destroy(found);
        status = th_trace_failures_raise(failures);
    }
    return th_embed_answer(status);
}

/* --- asking --- */

enum tracehost_session_state tracehost_session_get_state(tracehost_host *host,
                                                         tracehost_session session)
{
    _Static_assert((int)TRACEHOST_SESSION_ALIVE == TH_SESSION_ALIVE &&
                       (int)TRACEHOST_SESSION_CLEARING == TH_SESSION_CLEARING &&
                       (int)TRACEHOST_SESSION_DEAD == TH_SESSION_DEAD,
                   "states are handed on as they are");
    if (th_embed_check(host) != TH_OK)
        return TRACEHOST_SESSION_DEAD;
    return (enum tracehost_session_state)th_trace_session_state(host->tracing, session);
}

enum tracehost_status tracehost_session_ask_status(tracehost_host *host, tracehost_session session,
                                                   bool *attached)
{
    struct th_session *found;
    enum th_status status =
        th_embed_session(host, session, &found) ?: th_embed_need(attached, "result");

    if (status == TH_OK)
        *attached = th_trace_session_status(found);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_get_counts(tracehost_host *host, tracehost_session session,
                                                   struct tracehost_session_counts *counts)
{
    struct th_session *found;
    struct th_session_counts of;
    struct th_pattern_counts patterns;
    struct th_message_counts messages;
    struct tracehost_session_counts known;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_sized_check(counts, "tracehost_session_counts");

    if (status != TH_OK)
        return th_embed_answer(status);
    of = th_trace_session_counts(found);
    patterns = th_trace_session_pattern_counts(found);
    messages = th_trace_session_message_counts(found);
    known = (struct tracehost_session_counts){
        .enabled = of.enabled,
        .traced = of.traced,
        .discarded = of.discarded,
        .silenced = of.silenced,
        .untraced = of.untraced,
        .filtered = of.filtered,
        .removed = of.removed,
        .kept = of.kept,
        .refused = of.refused,
        .status = of.status,
        .undecided = patterns.undecided,
        .callers_unknown = patterns.callers_unknown,
        .actions_unsure = patterns.actions_unsure,
        .external_unknown = patterns.external_unknown,
        .untimed = patterns.untimed,
        .returns_unknown = patterns.returns_unknown,
        .lines_unknown = patterns.lines_unknown,
        .messages_unmatched = messages.unmatched,
        .messages_silenced = messages.silenced,
        .messages_undecided = messages.undecided,
        .messages_unsure = messages.actions_unsure,
        .returns_doubtful = patterns.returns_doubtful,
    };
    th_embed_sized_give(counts, &known, sizeof known);
    return TRACEHOST_OK;
}

enum tracehost_status tracehost_session_get_info(tracehost_host *host, tracehost_session session,
                                                 struct tracehost_session_info *info)
{
    struct th_session *found;
    struct tracehost_session_info known;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_sized_check(info, "tracehost_session_info");

    if (status != TH_OK)
        return th_embed_answer(status);
    known = (struct tracehost_session_info){
        .name = th_trace_session_title(found),
        .tracer = th_trace_session_name(found),
        .state = th_trace_session_state_term(found),
        .attached = th_trace_session_attached(found),
        .patterned = th_trace_session_patterned(found),
    };
    th_embed_sized_give(info, &known, sizeof known);
    return TRACEHOST_OK;
}

size_t tracehost_session_list(tracehost_host *host, ERL_NIF_TERM tracee,
                              tracehost_session *sessions, size_t room)
{
    th_session_id ids[TH_SESSIONS_LIMIT];
    size_t count;

    if (th_embed_check(host) != TH_OK)
        return 0;
    count = th_trace_sessions_of(host->tracing, tracee, ids);
    for (size_t i = 0; i < count && i < room; i++)
        sessions[i] = ids[i];
    return count;
}
