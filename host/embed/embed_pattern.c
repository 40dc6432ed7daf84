/* Patterns of a session: functions, and sent or received messages. */
#include "embed_host.h"

#include "host/base/buffer.h"
#include "host/breakpoint/account.h"
#include "host/control/commands/session_options.h"

#include <string.h>

_Static_assert((int)TRACEHOST_LOCAL == TH_BP_LOCAL && (int)TRACEHOST_GLOBAL == TH_BP_GLOBAL &&
                   (int)TRACEHOST_META == TH_BP_META && (int)TRACEHOST_CALL_COUNT == TH_BP_COUNT &&
                   (int)TRACEHOST_CALL_TIME == TH_BP_TIME &&
                   (int)TRACEHOST_CALL_MEMORY == TH_BP_MEMORY,
               "kinds are handed on as they are");

/* --- Parsing ---------------------------------------------------------------------------------- */

/* Reads an atom; TH_NONE for '_'. */
static bool read_pattern_name(th_term t, th_term *name)
{
    *name = t == th_atom("_") ? TH_NONE : t;
    return th_is_atom(t);
}

static bool read_function_term(th_term t, struct th_pattern *pattern)
{
    const th_term *parts = th_is_tuple(t) && th_tuple_arity(t) == 3 ? th_tuple_elements(t) : NULL;
    bool any = parts && parts[2] == th_atom("_");

    *pattern = (struct th_pattern){TH_NONE, TH_NONE, TH_ANY_ARITY, t == th_atom("on_load")};
    if (pattern->on_load)
        return true;
    if (!parts || !read_pattern_name(parts[0], &pattern->module) ||
        !read_pattern_name(parts[1], &pattern->function) || (!any && !th_is_small(parts[2])))
        return false;
    if (!any)
        pattern->arity = (int)th_small_value(parts[2]);
    return any ||
           (th_small_value(parts[2]) >= 0 && th_small_value(parts[2]) <= TH_FUNCTION_ARITY_MAX);
}

static enum th_status read_pattern_function(const struct tracehost_pattern *given,
                                            struct th_pattern *pattern)
{
    if (!given->function == (given->function_term == TH_NONE))
        return th_error_raise(TH_USAGE, "a pattern needs either `function` or `function_term`");
    if (given->function ? !th_trace_pattern_parse(given->function, pattern)
                        : !read_function_term(given->function_term, pattern))
        return th_error_raise(TH_USAGE, "a pattern must be " TH_PATTERN_FORMS);
    pattern->on_load |= given->on_load;
    return TH_OK;
}

/* --- Setting ---------------------------------------------------------------------------------- */

enum tracehost_status tracehost_session_set_pattern(tracehost_host *host, tracehost_session session,
                                                    const struct tracehost_pattern *given,
                                                    size_t *matched)
{
    struct tracehost_pattern known;
    struct th_pattern pattern;
    struct th_session *found;
    th_env env;
    th_term match;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_enter()
                                ?: th_embed_sized_take(&known, sizeof known, given, "tracehost_pattern")
                                ?: read_pattern_function(&known, &pattern);

    if (status != TH_OK)
        return th_embed_answer(status);
    th_env_init(&env, TH_ENV_PLAIN);
    match = known.match_term != TH_NONE ? known.match_term : TH_AM(true);
    if (known.match && known.match_term != TH_NONE)
        status = th_error_raise(TH_USAGE, "`match` cannot be combined with `match_term`");
    else if (known.match)
        status = th_control_match_read(&env, known.match, &match);
    status = status
                 ?: th_embed_find_copy(match)
                 ?: th_trace_session_function(found, &pattern, match,
                                        known.kinds ? known.kinds : TH_BP_LOCAL, matched);
    th_env_release(&env);
    return th_embed_answer(status);
}

/* --- Reading ---------------------------------------------------------------------------------- */

enum th_status th_embed_read_function(const char *text, struct th_mfa *function)
{
    struct th_pattern pattern;

    if (!th_trace_pattern_parse(text, &pattern) || pattern.arity == TH_ANY_ARITY)
        return th_error_raise(TH_USAGE, "a function must be M:F/A, not '%s'", text);
    *function = (struct th_mfa){pattern.module, pattern.function, (uint32_t)pattern.arity};
    return TH_OK;
}

struct functions {
    struct th_mfa *items;
    size_t count, capacity;
};

static void collect_function(void *context, const struct th_mfa *function,
                             const struct th_bp_info *info)
{
    struct functions *functions = context;

    (void)info;
    TH_ARRAY_GROW(functions->items, functions->count, functions->capacity);
    functions->items[functions->count++] = *function;
}

struct visitor {
    void (*visit)(void *context, const struct tracehost_function *function);
    void *context;
};

/* Copies the usage of processes, and adds up their amounts and calls. */
static struct tracehost_usage *copy_usage(const struct th_bp_usage *from, size_t count,
                                          int64_t *amount, uint64_t *calls)
{
    struct tracehost_usage *usage = th_alloc((count + 1) * sizeof *usage);

    for (size_t i = 0; i < count; i++) {
        usage[i] = (struct tracehost_usage){from[i].process, from[i].calls, from[i].amount};
        *amount += from[i].amount;
        *calls += from[i].calls;
    }
    return usage;
}

static void embed_pattern_show_function(const struct visitor *visitor, const struct th_mfa *name,
                                        const struct th_bp_info *info)
{
    struct tracehost_usage *times, *words;
    struct tracehost_function function = {
        .size = sizeof function,
        .module = name->module,
        .function = name->function,
        .arity = name->arity,
        .kinds = info->kinds,
        .active = info->active,
        .match_spec = th_trace_pattern_spec_source(
            info->kinds & TH_PATTERN_EITHER ? info->spec : info->meta_spec),
        .calls = info->calls,
        .usage_count = info->time_count,
        .words_usage_count = info->memory_count,
        .meta_match_spec =
            info->kinds & TH_BP_META ? th_trace_pattern_spec_source(info->meta_spec) : TH_NONE,
    };

    function.usage = times =
        copy_usage(info->time, info->time_count, &function.time, &function.time_calls);
    function.words_usage = words =
        copy_usage(info->memory, info->memory_count, &function.words, &function.words_calls);
    visitor->visit(visitor->context, &function);
    th_free(times);
    th_free(words);
}

/* FUNCTION NULL: patterns for functions that are loaded later. */
static void visit_function(const struct th_session *session, const struct th_mfa *function,
                           const struct visitor *visitor)
{
    const struct th_mfa any = {th_atom("_"), th_atom("_"), 0};
    struct th_bp_info info;

    th_self.embed_depth++;
    if (function ? th_trace_session_function_info(session, function, &info)
                 : th_trace_session_on_load_info(session, &info))
        embed_pattern_show_function(visitor, function ? function : &any, &info);
    th_breakpoint_info_free(&info);
    th_self.embed_depth--;
}

enum tracehost_status tracehost_session_visit_functions(
    tracehost_host *host, tracehost_session session, const char *function,
    void (*visit)(void *context, const struct tracehost_function *function), void *context)
{
    const struct visitor visitor = {visit, context};
    struct functions functions = {0};
    struct th_mfa named = {.module = TH_NONE};
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_enter()
                                ?: th_embed_need(visit, "function that visits");

    if (status == TH_OK && function && strcmp(function, "on_load") == 0)
        visit_function(found, NULL, &visitor);
    else if (status == TH_OK && function)
        status = th_embed_read_function(function, &named);
    else if (status == TH_OK)
        th_trace_session_functions(found, collect_function, &functions);
    if (named.module != TH_NONE)
        visit_function(found, &named, &visitor);
    for (size_t i = 0; i < functions.count; i++) {
        found =
            th_trace_session_find(host->tracing, session); /* the visitor may have destroyed it */
        if (found)
            visit_function(found, &functions.items[i], &visitor);
    }
    th_free(functions.items);
    return th_embed_answer(status);
}

/* --- Messages --------------------------------------------------------------------------------- */

static enum tracehost_status
set_message_pattern(tracehost_host *host, tracehost_session session, const char *text,
                    th_term match,
                    enum th_status (*set_in)(struct th_session *session, th_term match))
{
    struct th_session *found;
    th_env env;
    enum th_status status = th_embed_session(host, session, &found);

    if (status == TH_OK && !text == (match == TH_NONE))
        status = th_error_raise(TH_USAGE, "a pattern must be given either as text or as a term");
    status = status ?: th_embed_enter();
    if (status != TH_OK)
        return th_embed_answer(status);
    th_env_init(&env, TH_ENV_PLAIN);
    if (text)
        status = th_control_match_read(&env, text, &match);
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
