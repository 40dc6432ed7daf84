#include "pattern_internal.h"

#include "host/trace/live/live.h"
#include "tracing.h"

/* The meta tracer of SETTING that is not the session's own; NULL: none. */
static struct th_shared *foreign_tracer(const struct th_bp_setting *setting)
{
    return setting->meta_tracer == &setting->session->shared ? NULL : setting->meta_tracer;
}

void th_trace_pattern_setting_drop(const struct th_bp_setting *setting)
{
    th_breakpoint_shared_drop(setting->spec);
    th_breakpoint_shared_drop(setting->meta_spec);
    th_breakpoint_shared_drop(foreign_tracer(setting));
}

void th_trace_pattern_defaults_end(struct th_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        th_trace_pattern_setting_drop(&points->defaults[i].setting);
    th_free(points->defaults);
}

/* --- keeping --- */

/* True if nothing is left of what OLD does once NEW, of PATTERN, is done. */
static bool is_done_over(const struct th_pattern_default *old, const struct th_pattern *pattern,
                         const struct th_bp_setting *new)
{
    const struct th_pattern *past = &old->pattern;
    const struct th_bp_setting *setting = &old->setting;
    bool is_same = past->module == pattern->module && past->function == pattern->function &&
                   past->arity == pattern->arity && past->on_load == pattern->on_load;
    bool same_kinds = setting->clear == new->clear && setting->set == new->set &&
                      setting->pause == new->pause && setting->restart == new->restart;
    /* The pattern is for all functions that OLD is for. */
    bool covers = (pattern->module == TH_NONE || pattern->module == past->module) &&
                  (pattern->function == TH_NONE || pattern->function == past->function) &&
                  (pattern->arity == TH_ANY_ARITY || pattern->arity == past->arity) &&
                  pattern->on_load == past->on_load;

    if (is_same && (same_kinds || new->set == TH_BP_GLOBAL ||
                    (setting->set == TH_BP_META && (new->set | new->clear) & TH_BP_META)))
        return true;
    return (old->waits || past->on_load) && covers && !new->set && setting->set &&
           !(setting->set & ~new->clear);
}

/* True if a pattern that is not for on_load has to wait for functions of this host. What clears or
 * pauses waits behind those that it may be about. */
static bool has_to_wait(const struct th_points *points, const struct th_pattern *pattern,
                        const struct th_bp_setting *setting)
{
    const struct th_tracing *tracing = points->session->tracing;

    if (!tracing->replays_nothing || pattern->on_load)
        return false;
    if (setting->set && pattern->module == TH_NONE)
        return false;
    if (setting->set) {
        const struct th_traceable_function *f = tracing->live_functions;
        while (f && !th_trace_pattern_concerns(pattern, &f->function.name))
            f = f->next;
        return !f;
    }
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
            th_trace_pattern_setting_drop(&one->setting);
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
    th_breakpoint_shared_take(foreign_tracer(setting));
}

/* --- functions that have come --- */

void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news)
{
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        struct th_points *points = th_trace_points_of(session);
        for (size_t k = 0; points && k < points->count; k++) {
            struct th_pattern_default *one = &points->defaults[k];
            bool comes = news == TH_NEWS_RECORDED || one->pattern.on_load ||
                         (one->waits && news == TH_NEWS_LOADED);
            if (!comes || !th_trace_pattern_concerns(&one->pattern, &function->name))
                continue;
            if (news == TH_NEWS_LOCAL)
                th_trace_pattern_set_at_local(change, function, &one->setting);
            else
                one->came |= th_trace_pattern_set_at(change, function, &one->setting,
                                                     news == TH_NEWS_RECORDED);
        }
    }
}

void th_trace_session_waiting(const struct th_session *session,
                              void (*visit)(void *context, const struct th_pattern *pattern),
                              void *context)
{
    const struct th_points *points;

    th_trace_lock(session->tracing);
    points = th_trace_points_of(session);
    for (size_t i = 0; points && session->tracing->replays_nothing && i < points->count; i++) {
        const struct th_pattern_default *one = &points->defaults[i];
        if ((one->waits || one->pattern.on_load) && one->setting.set && !one->came)
            visit(context, &one->pattern);
    }
    th_trace_unlock(session->tracing);
}
