/*
 * text: one readable line for each event.
 *
 *     0.000131 <0.79.0>   call lists:reverse([1,2])
 *     0.000133 <0.79.0>   return lists:reverse/1 -> [2,1]
 *
 * The seconds since the first event, where the event asks for a time stamp; the tracee; what
 * happened; then, in brackets, a match specification's result and the scheduler, where there are
 * any. Terms are printed whole.
 *
 * State: see ../output.h.
 */
#include "../output.h"
#include "event.h"

enum { TRACEE_WIDTH = 11 };

/* Microseconds are counted, so that equal differences are printed equal. */
static void print_time(struct event *event, struct output *output)
{
    int64_t first = INT64_MIN, now;
    ERL_NIF_TERM kind;

    if (!enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, timestamp), &kind))
        return;
    now = enif_monotonic_time(ERL_NIF_USEC);
    if (atomic_compare_exchange_strong_explicit(&output->began, &first, now, memory_order_relaxed,
                                                memory_order_relaxed))
        first = now;
    now -= first;
    event_colour(event, DIM);
    line_add(&event->line, "%s%lld.%06lld", now < 0 ? "-" : "", llabs(now) / 1000000,
             llabs(now) % 1000000);
    event_colour(event, PLAIN);
    line_add(&event->line, " ");
}

static void print_tracee(struct event *event)
{
    size_t start = event->line.used;

    line_add(&event->line, "%T", event_tracee(event));
    line_pad(&event->line, start + TRACEE_WIDTH);
}

static void print_option(struct event *event, ERL_NIF_TERM key, const char *name)
{
    ERL_NIF_TERM value;

    if (!enif_get_map_value(event->env, event->opts, key, &value))
        return;
    event_colour(event, DIM);
    line_add(&event->line, " [%s%T]", name, value);
    event_colour(event, PLAIN);
}

TH_TRACER_LOAD()
{
    event_load(env);
    return 0;
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    struct event event;

    if (!output)
        return;
    event.env = env;
    event.tag = tag;
    event.tracee = tracee;
    event.term = term;
    event.opts = opts;
    event.colour = output->colour;
    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &event.extra))
        event.extra = 0;
    line_start(&event.line);
    print_time(&event, output);
    print_tracee(&event);
    event_print(&event);
    print_option(&event, TH_TRACER_ATOM(env, match_spec_result), "result ");
    print_option(&event, TH_TRACER_ATOM(env, scheduler_id), "scheduler ");
    line_end(&event.line, output->file);
}

TH_TRACER_UNLOAD()
{
    output_close_all();
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(text, callbacks, load, NULL, NULL, unload)
