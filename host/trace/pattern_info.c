/* Returns the patterns that a session has set, and their results; reads and prints patterns as
 * text: M:F/A or M.F/A, with _ for any. */

#include "pattern.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/term/text.h"
#include "host/trace/live/live.h"

#include <string.h>

/* Fills INFO with all breakpoints of FUNCTION. If a global one stands in for a local one, INFO has
 * only the kind that new calls meet. */
static bool info_of(const struct th_session *session, const struct th_function_sites *function,
                    struct th_bp_info *info)
{
    const uint32_t both = TH_BP_LOCAL | TH_BP_GLOBAL;
    struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
    uint32_t less;

    *info = (struct th_bp_info){0};
    if (!function || !breakpoints ||
        !th_breakpoint_info_of_two(function->site, function->local, &breakpoints->base, info))
        return false;
    less = (info->kinds & both) != both             ? 0
           : th_trace_function_local_site(function) ? TH_BP_GLOBAL
                                                    : TH_BP_LOCAL;
    info->kinds &= ~less;
    info->active &= ~less;
    return true;
}

bool th_trace_session_function_info(const struct th_session *session, const struct th_mfa *function,
                                    struct th_bp_info *info)
{
    struct th_tracing *tracing = session->tracing;
    const uint64_t key = th_trace_function_key(function);
    bool found = false;

    th_trace_lock(tracing);
    for (const struct th_traceable_function *f = tracing->live_functions; f && !found; f = f->next)
        found =
            th_trace_function_key(&f->function.name) == key && info_of(session, &f->function, info);
    if (!found)
        found = info_of(session, th_trace_functions_find(&tracing->functions, function), info);
    th_trace_unlock(tracing);
    return found;
}

static void pattern_info_replace(struct th_shared **place, struct th_shared *with)
{
    th_breakpoint_shared_take(with);
    th_breakpoint_shared_drop(*place);
    *place = with;
}

/* Applies SETTING to INFO, as for a function that can have all kinds. Counts stay 0. */
static void follow(struct th_bp_info *info, const struct th_bp_setting *setting)
{
    uint32_t clear = setting->clear | th_trace_pattern_excluded(setting);

    info->kinds = (info->kinds & ~clear) | setting->set;
    info->active = (info->active & ~clear) | setting->set;
    info->active = (info->active & ~setting->pause) | (setting->restart & info->kinds);
    if (setting->set & TH_PATTERN_EITHER || !(info->kinds & TH_PATTERN_EITHER))
        pattern_info_replace(&info->spec, setting->set & TH_PATTERN_EITHER ? setting->spec : NULL);
    if (setting->set & TH_BP_META || !(info->kinds & TH_BP_META)) {
        pattern_info_replace(&info->meta_spec,
                             setting->set & TH_BP_META ? setting->meta_spec : NULL);
        pattern_info_replace(&info->meta_tracer,
                             setting->set & TH_BP_META ? setting->meta_tracer : NULL);
    }
}

bool th_trace_session_on_load_info(const struct th_session *session, struct th_bp_info *info)
{
    const struct th_session_breakpoints *breakpoints;

    *info = (struct th_bp_info){0};
    th_trace_lock(session->tracing);
    breakpoints = th_trace_session_breakpoints(session);
    for (size_t i = 0; breakpoints && i < breakpoints->count; i++)
        if (breakpoints->defaults[i].pattern.on_load &&
            breakpoints->defaults[i].pattern.module == TH_NONE)
            follow(info, &breakpoints->defaults[i].setting);
    th_trace_unlock(session->tracing);
    return info->kinds != 0;
}

/* Functions to visit are copied first, as VISIT may call any function. */
struct functions_seen {
    struct th_function_sites *items;
    size_t live; /* number of live ones, which come first */
    size_t count, capacity;
};

static void pattern_info_see(struct functions_seen *seen, const struct th_function_sites *function)
{
    TH_ARRAY_GROW(seen->items, seen->count, seen->capacity);
    seen->items[seen->count++] = *function;
}

/* Copies all functions, in the order of th_trace_session_function_info(). */
static struct functions_seen pattern_info_see_all(struct th_tracing *tracing)
{
    struct functions_seen seen = {0};

    th_trace_lock(tracing);
    for (const struct th_traceable_function *f = tracing->live_functions; f; f = f->next)
        pattern_info_see(&seen, &f->function);
    seen.live = seen.count;
    for (size_t i = 0; i < tracing->functions.count; i++)
        pattern_info_see(&seen, tracing->functions.items[i]);
    th_trace_unlock(tracing);
    return seen;
}

void th_trace_functions(const struct th_tracing *tracing,
                        void (*visit)(void *context, const struct th_function_info *function),
                        void *context)
{
    struct functions_seen seen = pattern_info_see_all((struct th_tracing *)tracing);
    struct th_table visited = {0};

    for (size_t i = 0; i < seen.count; i++) {
        const struct th_function_sites *found = &seen.items[i];
        struct th_function_info function = {
            .name = found->name,
            .live = i < seen.live,
            .local = i >= seen.live || th_trace_function_local_site(found),
            .global = found->site != NULL,
            .no_local = found->no_local,
        };
        uint64_t key = th_trace_function_key(&function.name);
        if (th_hash_table_get(&visited, key))
            continue;
        th_hash_table_set(&visited, key, &seen.items[i]);
        visit(context, &function);
    }
    th_hash_table_free(&visited);
    th_free(seen.items);
}

bool th_trace_called(const struct th_tracing *tracing, const struct th_pattern *pattern)
{
    bool called = false;

    th_trace_lock((struct th_tracing *)tracing);
    for (size_t i = 0; i < tracing->functions.count && !called; i++) {
        const struct th_function_sites *function = tracing->functions.items[i];
        called = atomic_load_explicit(&function->called, memory_order_relaxed) &&
                 th_trace_pattern_concerns(pattern, &function->name);
    }
    th_trace_unlock((struct th_tracing *)tracing);
    return called;
}

bool th_trace_pattern_meta_tracer(const struct th_session *session, const struct th_bp_info *info,
                                  const char **name, th_term *state)
{
    const struct th_meta_tracer *tracer = (const struct th_meta_tracer *)info->meta_tracer;

    if (!tracer || &tracer->shared == &session->breakpoints->base.shared)
        return false;
    *name = th_trace_session_name(tracer->session);
    *state = th_trace_session_state_term(tracer->session);
    return true;
}

void th_trace_session_functions(const struct th_session *session,
                                void (*visit)(void *context, const struct th_mfa *function,
                                              const struct th_bp_info *info),
                                void *context)
{
    struct functions_seen seen = pattern_info_see_all(session->tracing);
    struct th_table visited = {0};
    struct th_bp_info info;

    for (size_t i = 0; i < seen.count; i++) {
        uint64_t key = th_trace_function_key(&seen.items[i].name);
        if (th_hash_table_get(&visited, key) || !info_of(session, &seen.items[i], &info))
            continue;
        th_hash_table_set(&visited, key, &seen.items[i]);
        visit(context, &seen.items[i].name, &info);
        th_breakpoint_info_free(&info);
    }
    th_hash_table_free(&visited);
    th_free(seen.items);
}

bool th_trace_session_patterned(const struct th_session *session)
{
    return th_trace_session_breakpoints(session) != NULL;
}

void th_trace_use_recorded_callers(struct th_tracing *tracing)
{
    tracing->recorded_callers = true;
}

void th_trace_use_display(struct th_tracing *tracing, void (*show)(th_term term))
{
    tracing->display = show;
}

void th_trace_use_execution(struct th_tracing *tracing, const struct th_execution_options *options)
{
    th_recorded_start(&tracing->execution, options);
}

struct th_execution_counts th_trace_execution_counts(const struct th_tracing *tracing)
{
    return th_recorded_counts(&tracing->execution);
}

/* --- patterns as text --- */

const char *const th_trace_pattern_kind_names[] = {
#define X(name, bit) #name,
    TH_PATTERN_LIVE_KINDS(X)
#undef X
        NULL};

const enum th_bp_kind th_trace_pattern_kinds[] = {
#define X(name, bit) TH_BP_##bit,
    TH_PATTERN_LIVE_KINDS(X)
#undef X
};

/* Reads an atom or _, which gives TH_NONE. */
static bool take_atom(const char **text, th_term *atom)
{
    const char *from = *text;
    size_t length = 0;
    bool quoted = false, good;
    th_env env;

    /* Up to a ':' or '/' outside of quotes. */
    for (; from[length] && (quoted || (from[length] != ':' && from[length] != '/')); length++) {
        if (quoted && from[length] == '\\' && from[length + 1])
            length++;
        else if (from[length] == '\'')
            quoted = !quoted;
    }
    *text += length;
    *atom = TH_NONE;
    if (length == 1 && from[0] == '_')
        return true;
    th_env_init(&env, TH_ENV_PLAIN);
    good = th_text_parse(&env, from, length, atom) == TH_OK && th_is_atom(*atom);
    th_env_release(&env);
    th_error_clear();
    return good;
}

static bool pattern_info_take_arity(const char *text, int *arity)
{
    *arity = TH_ANY_ARITY;
    if (strcmp(text, "_") == 0)
        return true;
    *arity = 0;
    for (; *text >= '0' && *text <= '9' && *arity <= TH_FUNCTION_ARITY_MAX; text++)
        *arity = *arity * 10 + (*text - '0');
    return !*text && *arity <= TH_FUNCTION_ARITY_MAX;
}

bool th_trace_pattern_parse(const char *text, struct th_pattern *pattern)
{
    bool good;

    *pattern = (struct th_pattern){.arity = TH_ANY_ARITY};
    if ((*text >= 'A' && *text <= 'Z') || *text == ':')
        good = th_text_elixir_take(&text, &pattern->module, &pattern->function);
    else
        good = take_atom(&text, &pattern->module) && *text++ == ':' &&
               take_atom(&text, &pattern->function);
    if (!good || (*text && *text != '/'))
        return false;
    if (*text == '/' && (!text[1] || !pattern_info_take_arity(text + 1, &pattern->arity)))
        return false;
    return (pattern->module != TH_NONE || pattern->function == TH_NONE) &&
           (pattern->function != TH_NONE || pattern->arity == TH_ANY_ARITY);
}

static void print_part(struct th_buffer *out, th_term atom)
{
    if (atom == TH_NONE)
        th_buffer_add_byte(out, '_');
    else
        th_text_print_atom(out, atom);
}

static void print_plainly(struct th_buffer *out, th_term module, th_term function)
{
    print_part(out, module);
    th_buffer_add_byte(out, ':');
    print_part(out, function);
}

static void pattern_info_print_pattern(struct th_buffer *out, const struct th_pattern *pattern,
                                       void (*print)(struct th_buffer *out, th_term module,
                                                     th_term function))
{
    if (pattern->on_load && pattern->module == TH_NONE) {
        th_buffer_printf(out, "on_load");
        return;
    }
    print(out, pattern->module, pattern->function);
    if (pattern->arity == TH_ANY_ARITY)
        th_buffer_printf(out, "/_");
    else
        th_buffer_printf(out, "/%d", pattern->arity);
}

void th_trace_pattern_print(struct th_buffer *out, const struct th_pattern *pattern)
{
    pattern_info_print_pattern(out, pattern, print_plainly);
}

void th_trace_pattern_show(struct th_buffer *out, const struct th_pattern *pattern)
{
    pattern_info_print_pattern(out, pattern, th_text_show_function);
}
