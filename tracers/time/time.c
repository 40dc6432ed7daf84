/*
 * time: how long calls took, by function or by process and function.
 *
 * A call event begins a call, return_from or exception_from ends it, in the order of a stack. That
 * holds for tail calls, too: a BEAM tells the return of each of them, the last one first. A table
 * is printed when the tracer is unloaded; README.md says what is in it.
 *
 * State: see ../output.h; and
 *
 *     by        function, or process: figures of each process and function
 *     frames    how many open calls of a process are remembered; 1000000 without it
 *     format    table, json or csv
 *     top       how many rows are shown; 0: all; 20 without it, and all in JSON and CSV
 */
#define TRACER_KEYS "by", "format", "frames", "top",
#define TRACER_SETTINGS read_settings
#define TRACER_PART struct gathered
#include "calls.h"
#include "report.h"

struct settings {
    unsigned by, format, top;
    struct calls calls;
};

/* By one thread. */
struct gathered {
    struct figures_table figures;
    uint64_t strays;  /* ends of calls that were not seen to begin */
    uint64_t untimed; /* events that asked for no time stamp */
};

#include "../part.h"
#include "../tracee.h"

enum { TOP = 20, FRAMES = 1000000 };
enum { BY_FUNCTION, BY_PROCESS };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    static const char *const by[] = {"function", "process", NULL};

    settings->format = output_choice(env, state, "format", table_formats, TABLE_TEXT);
    settings->by = output_choice(env, state, "by", by, BY_FUNCTION);
    settings->top = output_number(env, state, "top", settings->format == TABLE_TEXT ? TOP : 0);
    calls_init(&settings->calls, output_number(env, state, "frames", FRAMES));
}

/* A recording's event that has no time stamp has no time. */
static int64_t time_of(ErlNifEnv *env, ERL_NIF_TERM opts, struct gathered *gathered)
{
    ERL_NIF_TERM kind;

    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, timestamp), &kind))
        return enif_monotonic_time(ERL_NIF_NSEC);
    gathered->untimed++;
    return TIME_NONE;
}

/* An event of a function, as it is dealt with. */
struct event {
    ErlNifEnv *env;
    struct part *part;
    ERL_NIF_TERM process;
    struct count function;
    int64_t now;
};

static struct figures *figures_here(const struct event *event, const struct count *function)
{
    bool by_process = event->part->output->settings.by == BY_PROCESS;

    return figures_of(event->env, &event->part->own.figures,
                      &(struct figures){.process = by_process ? event->process : 0,
                                        .module = function->module,
                                        .function = function->function,
                                        .arity = function->arity});
}

static void begin(const struct event *event)
{
    struct figures *figures = figures_here(event, &event->function);
    struct shard *shard;

    if (!figures) /* names that are none */
        return;
    figures->calls++;
    shard = calls_enter(&event->part->output->settings.calls, event->process);
    calls_begin(shard, event->process, &event->function, event->now);
    calls_leave(shard);
}

static void add(const struct event *event, const struct ended *ended)
{
    const struct frame *frame = &ended->frame;
    struct figures *figures = figures_here(event, &(struct count){.module = frame->module,
                                                                  .function = frame->function,
                                                                  .arity = frame->arity});
    uint64_t took = (uint64_t)ended->took;

    if (!figures)
        return;
    figures->ended += ended->told;
    figures->untold += !ended->told;
    if (ended->took == TIME_NONE)
        return;
    figures->own += took > frame->callees ? took - frame->callees : 0;
    if (ended->outermost)
        figures->total += took;
    if (!histogram_add(&figures->times, took))
        event->part->own.figures.lost++;
}

static void end(const struct event *event, bool error)
{
    struct shard *shard = calls_enter(&event->part->output->settings.calls, event->process);
    struct ended ended = {.told = false};
    struct figures *figures;

    while (!ended.told && calls_end(shard, event->process, &event->function, event->now, &ended))
        add(event, &ended);
    calls_leave(shard);
    event->part->own.strays += !ended.told;
    figures = error ? figures_here(event, &event->function) : NULL;
    if (figures)
        figures->errors++;
}

/* --- Callbacks --- */

TH_TRACER_ENABLED(generic)
{
    return output_asked_status(env, tag, state) ? TH_TRACER_ATOM(env, trace)
                                                : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(call)
{
    bool called = tag == TH_TRACER_ATOM(env, call);
    bool thrown = tag == TH_TRACER_ATOM(env, exception_from);
    struct event event = {.env = env};

    if ((!called && !thrown && tag != TH_TRACER_ATOM(env, return_from)) ||
        !(event.part = part_of(env, state)) || !counts_read_function(env, term, &event.function))
        return;
    event.now = time_of(env, opts, &event.part->own);
    event.process = tracee_word(env, tracee);
    if (called)
        begin(&event);
    else
        end(&event, thrown);
}

/* Who exits has no calls any more. */
TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, exit) ? TH_TRACER_ATOM(env, trace)
                                            : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(procs)
{
    struct event event = {.env = env, .part = part_of(env, state)};
    struct shard *shard;
    struct ended ended;

    if (!event.part || tag != TH_TRACER_ATOM(env, exit))
        return;
    event.process = tracee_word(env, tracee);
    shard = calls_enter(&event.part->output->settings.calls, event.process);
    while (calls_exit(shard, event.process, &ended))
        add(&event, &ended);
    calls_leave(shard);
}

/* --- The end --- */

static void remark(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "time: %s: %llu\n", what, (unsigned long long)count);
}

static void remark_no_ends(const struct figures_table *table)
{
    uint64_t calls = 0, ended = 0;

    for (size_t i = 0; i < table->used; i++) {
        calls += table->slots[i]->calls;
        ended += table->slots[i]->ended;
    }
    if (calls && !ended)
        fputs("time: no call was told to end; that takes a match specification with "
              "{return_trace} or {exception_trace}, as by --return or --exception of -p\n",
              stderr);
}

static void report_output(struct output *output)
{
    struct settings *settings = &output->settings;
    uint64_t strays = 0, untimed = 0, lost = 0, forgotten = 0;
    struct figures_table all = {0};

    for (struct part *part = parts.first; part; part = part->next)
        if (part->output == output) {
            figures_move(&all, &part->own.figures);
            strays += part->own.strays;
            untimed += part->own.untimed;
        }
    for (size_t i = 0; i < SHARDS; i++) {
        lost += settings->calls.shards[i].lost;
        forgotten += settings->calls.shards[i].forgotten;
    }
    report(output->file, &all, settings->format, settings->by == BY_PROCESS, settings->top);
    remark_no_ends(&all);
    remark("events without a time stamp, which takes a flag such as monotonic_timestamp", untimed);
    remark("open calls forgotten, as there were more than `frames`", forgotten);
    remark("ends of calls whose beginnings are not known", strays);
    remark("events that there was no memory for", lost + all.lost);
    figures_free(&all);
    calls_free(&settings->calls);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = outputs.first; output; output = output->next)
        report_output(output);
    remark("events that there was no memory for", parts.lost);
    parts_free();
    output_close_all();
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0}};
ERL_NIF_INIT(time, callbacks, NULL, NULL, NULL, unload)
