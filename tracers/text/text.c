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

#define NONE INT64_MIN

enum { TIME_WIDTH = 9, TRACEE_WIDTH = 11 };

/* Times can be compared within a clock. */
enum clock { SYSTEM_TIME, CPU_TIME, MONOTONIC_TIME, CLOCKS };

static _Atomic(int64_t) began[CLOCKS] = {NONE, NONE, NONE}; /* the first event's, microseconds */
static atomic_bool timed;                                   /* there was one */

static enum clock clock_of(ErlNifEnv *env, ERL_NIF_TERM kind)
{
    if (kind == TH_TRACER_ATOM(env, timestamp))
        return SYSTEM_TIME;
    return kind == TH_TRACER_ATOM(env, cpu_timestamp) ? CPU_TIME : MONOTONIC_TIME;
}

/* Microseconds are counted whole, so that equal differences are printed equal. */
static int64_t time_since_first(enum clock clock)
{
    int64_t now = enif_monotonic_time(ERL_NIF_USEC), first = NONE;

    timed = true;
    if (atomic_compare_exchange_strong_explicit(&began[clock], &first, now, memory_order_relaxed,
                                                memory_order_relaxed))
        return 0;
    return now - first;
}

static void print_time(struct event *event)
{
    ERL_NIF_TERM kind;
    int64_t time;

    if (!enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, timestamp),
                            &kind)) {
        if (timed)
            line_pad(&event->line, TIME_WIDTH);
        return;
    }
    time = time_since_first(clock_of(event->env, kind));
    event_colour(event, DIM);
    line_add(&event->line, "%s%lld.%06lld", time < 0 ? "-" : "", llabs(time) / 1000000,
             llabs(time) % 1000000);
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
    print_time(&event);
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
