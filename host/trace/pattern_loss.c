/* Breakpoints that newer code of functions has no room for. */
#include "host/trace/live/live.h"
#include "pattern.h"
#include "pattern_internal.h"
#include "tracing.h"

#include <string.h>

struct losses {
    struct th_pattern_loss *items;
    size_t count, capacity;
};

static bool is_same(const struct th_pattern_loss *a, const struct th_pattern_loss *b)
{
    return a->kinds == b->kinds && a->outside == b->outside && strcmp(a->why, b->why) == 0;
}

/* Functions that began first come last, and are named. */
static void note(struct losses *losses, const struct th_pattern_loss *loss)
{
    size_t i = 0;

    while (i < losses->count && !is_same(&losses->items[i], loss))
        i++;
    if (i == losses->count) {
        TH_ARRAY_GROW(losses->items, losses->count, losses->capacity);
        losses->items[losses->count++] = *loss;
    }
    losses->items[i].first = loss->first;
    losses->items[i].functions++;
}

/* The kinds of breakpoints that POINTS has in code of FUNCTION, but not of the newest. */
static uint32_t kinds_lost(const struct th_points *points, const struct th_function_sites *function)
{
    struct th_bp_info info;
    uint32_t kinds;

    if (!function->local || !function->no_local ||
        !th_breakpoint_info(function->local, &points->base, &info))
        return 0;
    kinds = info.kinds;
    th_breakpoint_info_free(&info);
    return kinds;
}

static struct losses losses_of(const struct th_session *session, const struct th_points *points,
                               th_term module)
{
    struct losses losses = {0};

    for (const struct th_traceable_function *f = session->tracing->live_functions; f; f = f->next) {
        const struct th_function_sites *function = &f->function;
        struct th_pattern_loss loss = {.session = session,
                                       .outside = function->site,
                                       .why = function->no_local,
                                       .first = function->name};
        if (function->name.module != module)
            continue;
        loss.kinds = kinds_lost(points, function);
        if (loss.kinds)
            note(&losses, &loss);
    }
    return losses;
}

void th_trace_losses(struct th_tracing *tracing, th_term module,
                     void (*visit)(void *context, const struct th_pattern_loss *loss),
                     void *context)
{
    th_trace_lock(tracing);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        const struct th_session *session = th_trace_at(tracing, i);
        const struct th_points *points =
            session ? atomic_load_explicit(&session->points, memory_order_relaxed) : NULL;
        struct losses losses = {0};
        if (points)
            losses = losses_of(session, points, module);
        for (size_t k = losses.count; k-- > 0;)
            visit(context, &losses.items[k]);
        th_free(losses.items);
    }
    th_trace_unlock(tracing);
}

static void print_kinds(struct th_buffer *out, uint32_t kinds)
{
    const char *between = "";

    for (size_t i = 0; th_trace_pattern_kind_names[i]; i++)
        if (kinds & th_trace_pattern_kinds[i]) {
            th_buffer_printf(out, "%s%s", between, th_trace_pattern_kind_names[i]);
            between = ",";
        }
}

void th_trace_pattern_loss_print(struct th_buffer *out, const struct th_pattern_loss *loss)
{
    th_trace_function_show(out, &loss->first);
    if (loss->functions > 1)
        th_buffer_printf(out, " and %zu more", loss->functions - 1);
    th_buffer_add_text(out, ": ");
    print_kinds(out, loss->kinds);
    th_buffer_printf(out, ": calls%s are not met any more: %s",
                     loss->outside ? " from within the module" : "", loss->why);
}

static void warn(void *context, const struct th_pattern_loss *loss)
{
    struct th_buffer text = {0};

    (void)context;
    th_trace_pattern_loss_print(&text, loss);
    th_warn("tracer '%s': %s", th_trace_session_name(loss->session), th_buffer_text(&text));
    th_buffer_free(&text);
}

void th_trace_warn_of_losses(struct th_tracing *tracing, th_term module)
{
    th_trace_losses(tracing, module, warn, NULL);
}
