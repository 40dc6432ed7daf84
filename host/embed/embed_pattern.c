/* Which calls a session traces. */
#include "embed_host.h"

#include "host/self/self.h"

#include <string.h>

_Static_assert((int)TRACEHOST_LOCAL == TH_BP_LOCAL && (int)TRACEHOST_GLOBAL == TH_BP_GLOBAL &&
                   (int)TRACEHOST_META == TH_BP_META && (int)TRACEHOST_CALL_COUNT == TH_BP_COUNT &&
                   (int)TRACEHOST_CALL_TIME == TH_BP_TIME &&
                   (int)TRACEHOST_CALL_MEMORY == TH_BP_MEMORY,
               "kinds are handed on as they are");

/* --- reading --- */

static enum th_status no_pattern(void)
{
    return th_error_raise(TH_USAGE, "a pattern is M:F/A, M:F/_, M:_/_ or _:_/_");
}

/* An atom, or TH_NONE for '_'. */
static bool read_pattern_name(th_term t, th_term *name)
{
    *name = t == th_atom("_") ? TH_NONE : t;
    return th_is_atom(t);
}

static bool read_pattern_arity(th_term t, int *arity)
{
    *arity = TH_ANY_ARITY;
    if (t == th_atom("_"))
        return true;
    if (!th_is_small(t) || th_small_value(t) < 0 || th_small_value(t) > TH_FUNCTION_ARITY_MAX)
        return false;
    *arity = (int)th_small_value(t);
    return true;
}

static enum th_status read_function_term(th_term t, struct th_pattern *pattern)
{
    const th_term *parts;

    *pattern = (struct th_pattern){TH_NONE, TH_NONE, TH_ANY_ARITY, t == th_atom("on_load")};
    if (pattern->on_load)
        return TH_OK;
    if (!th_is_tuple(t) || th_tuple_arity(t) != 3)
        return no_pattern();
    parts = th_tuple_elements(t);
    return read_pattern_name(parts[0], &pattern->module) &&
                   read_pattern_name(parts[1], &pattern->function) &&
                   read_pattern_arity(parts[2], &pattern->arity)
               ? TH_OK
               : no_pattern();
}

static enum th_status read_pattern_function(const struct tracehost_pattern *given,
                                            struct th_pattern *pattern)
{
    enum th_status status = TH_OK;

    if (!given->function == (given->function_term == TH_NONE))
        return th_error_raise(TH_USAGE, "a pattern has a function, either as text or as a term");
    if (given->function_term != TH_NONE)
        status = read_function_term(given->function_term, pattern);
    else if (!th_trace_pattern_parse(given->function, pattern))
        status = no_pattern();
    pattern->on_load |= given->on_load;
    return status;
}

static enum th_status read_match(const struct tracehost_pattern *given, th_env *env, th_term *match)
{
    *match = given->match_term != TH_NONE ? given->match_term : TH_AM(true);
    if (!given->match)
        return TH_OK;
    if (given->match_term != TH_NONE)
        return th_error_raise(TH_USAGE, "a pattern has one match specification");
    return th_embed_read_specification(env, given->match, match);
}

/* --- setting --- */

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
    status = read_match(&known, &env, &match)
                 ?: th_embed_find_copy(match)
                 ?: th_trace_session_function(found, &pattern, match,
                                        known.kinds ? known.kinds : TH_BP_LOCAL, matched);
    th_env_release(&env);
    return th_embed_answer(status);
}

/* --- asking --- */

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

/* The one that TEXT names. */
static enum th_status collect_named(const char *text, struct functions *functions)
{
    const struct th_bp_info nothing = {0};
    struct th_pattern pattern;

    if (!th_trace_pattern_parse(text, &pattern) || pattern.arity == TH_ANY_ARITY)
        return th_error_raise(TH_USAGE, "a function is M:F/A, not '%s'", text);
    collect_function(functions,
                     &(struct th_mfa){pattern.module, pattern.function, (uint32_t)pattern.arity},
                     &nothing);
    return TH_OK;
}

struct visitor {
    void (*visit)(void *context, const struct tracehost_function *function);
    void *context;
};

/* Copies what was used by processes, and sums it up. */
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

static void show_function(const struct visitor *visitor, const struct th_mfa *name,
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

/* FUNCTION NULL: what is set for functions that are loaded later. */
static void visit_function(const struct th_session *session, const struct th_mfa *function,
                           const struct visitor *visitor)
{
    const struct th_mfa any = {th_atom("_"), th_atom("_"), 0};
    struct th_bp_info info;

    th_self.embed_depth++;
    if (function ? th_trace_session_function_info(session, function, &info)
                 : th_trace_session_on_load_info(session, &info))
        show_function(visitor, function ? function : &any, &info);
    th_breakpoint_info_free(&info);
    th_self.embed_depth--;
}

enum tracehost_status tracehost_session_visit_functions(
    tracehost_host *host, tracehost_session session, const char *function,
    void (*visit)(void *context, const struct tracehost_function *function), void *context)
{
    const struct visitor visitor = {visit, context};
    struct functions functions = {0};
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: th_embed_enter()
                                ?: th_embed_need(visit, "function that visits");

    if (status == TH_OK && function && strcmp(function, "on_load") == 0)
        visit_function(found, NULL, &visitor);
    else if (status == TH_OK && function)
        status = collect_named(function, &functions);
    else if (status == TH_OK)
        th_trace_session_functions(found, collect_function, &functions);
    for (size_t i = 0; i < functions.count; i++) {
        found =
            th_trace_session_find(host->tracing, session); /* the visitor may have destroyed it */
        if (found)
            visit_function(found, &functions.items[i], &visitor);
    }
    th_free(functions.items);
    return th_embed_answer(status);
}
