#include "pattern_internal.h"

#include "host/trace/live/live.h"
#include "tracing.h"

struct th_shared *th_trace_pattern_foreign_tracer(const struct th_bp_setting *setting)
{
    return setting->meta_tracer == &setting->session->shared ? NULL : setting->meta_tracer;
}

static void drop_default(struct th_pattern_default *one)
{
    th_breakpoint_shared_drop(one->setting.spec);
    th_breakpoint_shared_drop(one->setting.meta_spec);
    th_breakpoint_shared_drop(th_trace_pattern_foreign_tracer(&one->setting));
}

void th_trace_pattern_defaults_end(struct th_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        drop_default(&points->defaults[i]);
    th_free(points->defaults);
}

/* --- keeping --- */

static bool same_kinds(const struct th_bp_setting *a, const struct th_bp_setting *b)
{
    return a->clear == b->clear && a->set == b->set && a->pause == b->pause &&
           a->restart == b->restart;
}

/* True if NEW is for all functions that OLD is for. */
static bool covers(const struct th_pattern *new, const struct th_pattern *old)
{
    return (new->module == TH_NONE || new->module == old->module) &&
           (new->function == TH_NONE || new->function == old->function) &&
           (new->arity == TH_ANY_ARITY || new->arity == old->arity) && new->on_load == old->on_load;
}

static bool is_same(const struct th_pattern *a, const struct th_pattern *b)
{
    return a->module == b->module && a->function == b->function && a->arity == b->arity &&
           a->on_load == b->on_load;
}

/* True if nothing is left of what OLD does once NEW, of PATTERN, is done. */
static bool is_done_over(const struct th_pattern_default *old, const struct th_pattern *pattern,
                         const struct th_bp_setting *new)
{
    const struct th_bp_setting *setting = &old->setting;

    if (is_same(&old->pattern, pattern) &&
        (same_kinds(setting, new) || new->set == TH_BP_GLOBAL ||
         (setting->set == TH_BP_META && (new->set | new->clear) & TH_BP_META)))
        return true;
    return (old->waits || old->pattern.on_load) && covers(pattern, &old->pattern) && !new->set &&
           setting->set && !(setting->set & ~new->clear);
}

static bool is_there(const struct th_tracing *tracing, const struct th_pattern *pattern)
{
    const struct th_traceable_function *f = tracing->live_functions;

    while (f && !th_trace_pattern_concerns(pattern, &f->function.name))
        f = f->next;
    return f;
}

/* True if a pattern that is not for on_load has to wait for functions of this host. What clears or
 * pauses waits behind those that it may be about. */
static bool has_to_wait(const struct th_points *points, const struct th_pattern *pattern,
                        const struct th_bp_setting *setting)
{
    const struct th_tracing *tracing = points->session->tracing;

    if (!tracing->replays_nothing || pattern->on_load)
        return false;
    if (setting->set)
        return pattern->module != TH_NONE && !is_there(tracing, pattern);
    for (size_t i = 0; i < points->count; i++)
        if (points->defaults[i].waits)
            return true;
    return false;
}

void th_trace_pattern_default_keep(struct th_points *points, const struct th_pattern *pattern,
                                   const struct th_bp_setting *setting)
{
    struct th_pattern_default *one;
    size_t kept = 0;
    bool waits;

    for (size_t i = 0; i < points->count; i++) {
        one = &points->defaults[i];
        if (is_done_over(one, pattern, setting))
            drop_default(one);
        else
            points->defaults[kept++] = *one;
    }
    points->count = kept;
    waits = has_to_wait(points, pattern, setting);
    if (!waits && th_trace_pattern_names_one(pattern))
        return;
    TH_ARRAY_GROW(points->defaults, points->count, points->capacity);
    one = &points->defaults[points->count++];
    *one = (struct th_pattern_default){*pattern, *setting, waits, false};
    th_breakpoint_shared_take(setting->spec);
    th_breakpoint_shared_take(setting->meta_spec);
    th_breakpoint_shared_take(th_trace_pattern_foreign_tracer(setting));
}

/* --- functions that have come --- */

static bool is_for(const struct th_pattern_default *one, const struct th_mfa *name,
                   enum th_pattern_news news)
{
    bool comes =
        news == TH_NEWS_RECORDED || one->pattern.on_load || (one->waits && news == TH_NEWS_LOADED);

    return comes && th_trace_pattern_concerns(&one->pattern, name);
}

static void add_defaults(struct th_change *change, struct th_points *points,
                         const struct th_function_sites *function, enum th_pattern_news news)
{
    for (size_t i = 0; i < points->count; i++) {
        struct th_pattern_default *one = &points->defaults[i];
        if (!is_for(one, &function->name, news))
            continue;
        if (news == TH_NEWS_LOCAL)
            th_trace_pattern_set_at_local(change, function, &one->setting);
        else
            one->came |=
                th_trace_pattern_set_at(change, function, &one->setting, news == TH_NEWS_RECORDED);
    }
}

void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_trace_at(tracing, i);
        struct th_points *points =
            session ? atomic_load_explicit(&session->points, memory_order_relaxed) : NULL;
        if (points)
            add_defaults(change, points, function, news);
    }
}

void th_trace_session_waiting(const struct th_session *session,
                              void (*visit)(void *context, const struct th_pattern *pattern),
                              void *context)
{
    const struct th_points *points;

    th_trace_lock(session->tracing);
    points = atomic_load_explicit(&session->points, memory_order_relaxed);
    for (size_t i = 0; points && session->tracing->replays_nothing && i < points->count; i++) {
        const struct th_pattern_default *one = &points->defaults[i];
        if ((one->waits || one->pattern.on_load) && one->setting.set && !one->came)
            visit(context, &one->pattern);
    }
    th_trace_unlock(session->tracing);
}
