/* What patterns a session has set, and what they have found. */
#include "pattern.h"

#include "live.h"
#include "meta_tracer.h"
#include "points.h"
#include "tracing.h"

static bool info_of(const struct th_session *session, const struct th_traced_function *function,
                    struct th_bp_info *info)
{
    struct th_points *points = atomic_load_explicit(&session->points, memory_order_relaxed);

    *info = (struct th_bp_info){0};
    return function && points &&
           th_breakpoint_info_of_two(function->site, function->local, &points->base, info);
}

bool th_session_function_info(const struct th_session *session, const struct th_function *function,
                              struct th_bp_info *info)
{
    struct th_tracing *tracing = session->tracing;
    const struct th_live_function *live;
    bool found;

    th_tracing_lock(tracing);
    live = th_live_function_find(tracing, function);
    found = info_of(session, live ? &live->function : NULL, info) ||
            info_of(session, th_functions_find(&tracing->functions, function), info);
    th_tracing_unlock(tracing);
    return found;
}

/* What is shown is copied first, as VISIT may call anything. */
struct functions_seen {
    struct th_traced_function *items;
    size_t count, capacity;
};

static void see(struct functions_seen *seen, const struct th_traced_function *function)
{
    TH_ARRAY_GROW(seen->items, seen->count, seen->capacity);
    seen->items[seen->count++] = *function;
}

static struct functions_seen see_all(struct th_tracing *tracing)
{
    struct functions_seen seen = {0};

    th_tracing_lock(tracing);
    for (size_t i = 0; i < tracing->functions.count; i++)
        see(&seen, tracing->functions.items[i]);
    for (const struct th_live_function *f = tracing->live_functions; f; f = f->next)
        see(&seen, &f->function);
    th_tracing_unlock(tracing);
    return seen;
}

bool th_pattern_meta_tracer(const struct th_session *session, const struct th_bp_info *info,
                            const char **name, th_term *state)
{
    const struct th_meta_tracer *tracer = (const struct th_meta_tracer *)info->meta_tracer;

    if (!tracer || &tracer->shared == &session->points->base.shared)
        return false;
    *name = tracer->session->name;
    *state = tracer->session->state;
    return true;
}

void th_session_functions(const struct th_session *session,
                          void (*visit)(void *context, const struct th_function *function,
                                        const struct th_bp_info *info),
                          void *context)
{
    struct functions_seen seen = see_all(session->tracing);
    struct th_bp_info info;

    for (size_t i = 0; i < seen.count; i++) {
        if (info_of(session, &seen.items[i], &info))
            visit(context, &seen.items[i].name, &info);
        th_bp_info_free(&info);
    }
    th_free(seen.items);
}

bool th_session_patterned(const struct th_session *session)
{
    return atomic_load_explicit(&session->points, memory_order_relaxed) != NULL;
}

void th_tracing_use_recorded_callers(struct th_tracing *tracing)
{
    tracing->recorded_callers = true;
}

void th_tracing_use_display(struct th_tracing *tracing, void (*show)(th_term term))
{
    tracing->display = show;
}

void th_tracing_use_execution(struct th_tracing *tracing,
                              const struct th_execution_options *options)
{
    th_execution_start(&tracing->execution, options);
}

struct th_execution_counts th_tracing_execution_counts(const struct th_tracing *tracing)
{
    return th_execution_counts(&tracing->execution);
}
