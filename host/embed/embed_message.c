/* Which messages a session traces. */
#include "embed_host.h"

static enum tracehost_status
set_message_pattern(tracehost_host *host, tracehost_session session, const char *text,
                    th_term match,
                    enum th_status (*set_in)(struct th_session *session, th_term match))
{
    struct th_session *found;
    th_env env;
    enum th_status status = th_embed_session(host, session, &found);

    if (status == TH_OK && !text == (match == TH_NONE))
        status = th_error_raise(TH_USAGE, "a pattern is either text or a term");
    status = status ?: th_embed_enter();
    if (status != TH_OK)
        return th_embed_answer(status);
    th_env_init(&env, TH_ENV_PLAIN);
    if (text)
        status = th_embed_read_specification(&env, text, &match);
    status = status ?: th_embed_find_copy(match) ?: set_in(found, match);
    th_env_release(&env);
    return th_embed_answer(status);
}

static enum tracehost_status
get_message_pattern(tracehost_host *host, tracehost_session session, ErlNifEnv *env, th_term *match,
                    th_term (*get_from)(const struct th_session *session, th_env *env))
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_need(env, "environment")
                                ?: th_embed_need(match, "result");

    if (status == TH_OK)
        *match = get_from(found, env);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_set_send_pattern(tracehost_host *host,
                                                         tracehost_session session,
                                                         const char *match, ERL_NIF_TERM match_term)
{
    return set_message_pattern(host, session, match, match_term, th_trace_session_send_pattern);
}

enum tracehost_status tracehost_session_set_receive_pattern(tracehost_host *host,
                                                            tracehost_session session,
                                                            const char *match,
                                                            ERL_NIF_TERM match_term)
{
    return set_message_pattern(host, session, match, match_term, th_trace_session_receive_pattern);
}

enum tracehost_status tracehost_session_get_send_pattern(tracehost_host *host,
                                                         tracehost_session session, ErlNifEnv *env,
                                                         ERL_NIF_TERM *match)
{
    return get_message_pattern(host, session, env, match, th_trace_session_send_pattern_info);
}

enum tracehost_status tracehost_session_get_receive_pattern(tracehost_host *host,
                                                            tracehost_session session,
                                                            ErlNifEnv *env, ERL_NIF_TERM *match)
{
    return get_message_pattern(host, session, env, match, th_trace_session_receive_pattern_info);
}
