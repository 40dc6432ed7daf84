/*
 * text: one readable line for each event.
 *
 *     0.000131 <0.79.0>   call lists:reverse([1,2])
 *     0.000133 <0.79.0>   return lists:reverse/1 -> [2,1]
 *
 * The line has the time, if the event requests a time stamp; the tracee, behind its name if the
 * recording tells one; the contents; then, in brackets, a match specification's result and the
 * scheduler, if there are any. Columns grow with their contents.
 *
 * State: see ../output.h; and
 *
 *     time    relative, the seconds since the recording's first record, see ../moment.h; absolute,
 *             the UTC time where that is known; delta, the seconds since the line before; relative
 *             without it
 *     args    detail of arguments, results, messages and reasons: none; shape, their types and
 *             sizes; bounded, see term.h; full; bounded without it
 *     names   yes: names of tracees are shown; no: pids and ports alone; yes without it
 */
#define TRACER_DECLARES                                                        \
    {"args", TH_SETTING_WORD, TERM_ARGS, "bounded",                            \
     "how much is shown of arguments, results, messages and reasons"},         \
        {"names", TH_SETTING_WORD, "yes no", "yes",                            \
         "whether a process that the recording names is shown with its name"}, \
        {"time", TH_SETTING_WORD, "relative absolute delta", "relative",       \
         "seconds since the first record, the UTC time, or seconds since the line before"},
#define TRACER_SETTINGS read_settings
#include <stdatomic.h>
#include <stdint.h>

#include "../kit/moment.h"

#define NONE INT64_MIN

enum time { TIME_RELATIVE, TIME_ABSOLUTE, TIME_DELTA };
enum names { NAMES_YES, NAMES_NO };

/* Written by any thread while events are printed; no other data depends on these. */
struct settings {
    unsigned time, args, names;
    _Atomic(int64_t) began; /* the first event's microseconds by NODE_CLOCK, or NONE */
    _Atomic(int64_t) before[MOMENT_CLOCKS]; /* microseconds of the previous event of each clock */
    _Atomic(uint64_t) dateless;             /* events with a time but no date */
    atomic_size_t time_width, tracee_width; /* 0: no event with a time yet */
    struct columns *columns;                /* in a share of a recording: see columns.h */
};

#include "../kit/term.h"
#include "../kit/share.h"
#include "../kit/tracees.h"
#include "columns.h"
#include "event.h"

#include <time.h>

enum { TRACEE_WIDTH = 10 };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->time = output_choice(env, state, "time");
    settings->args = output_choice(env, state, "args");
    settings->names = output_choice(env, state, "names");
    settings->tracee_width = TRACEE_WIDTH;
    settings->began = NONE;
    for (int i = 0; i < MOMENT_CLOCKS; i++)
        settings->before[i] = NONE;
}

/* Widens a column to WIDTH, and returns its width: it never gets narrower. */
static size_t widen(atomic_size_t *column, size_t width)
{
    size_t wide = atomic_load_explicit(column, memory_order_relaxed);

    while (width > wide && !atomic_compare_exchange_weak_explicit(
                               column, &wide, width, memory_order_relaxed, memory_order_relaxed))
        ;
    return width > wide ? width : wide;
}

/* Returns whole microseconds, so that equal differences are printed equal. */
static int64_t microseconds(struct settings *settings, const struct moment *moment)
{
    int64_t first = NONE;

    if (settings->time == TIME_DELTA)
        first = atomic_exchange_explicit(&settings->before[moment->clock], moment->time,
                                         memory_order_relaxed);
    else if (moment->clock != NODE_CLOCK)
        return moment->time;
    else
        atomic_compare_exchange_strong_explicit(&settings->began, &first, moment->time,
                                                memory_order_relaxed, memory_order_relaxed);
    return first == NONE ? 0 : moment_between(first, moment->time);
}

/* Returns whether the date is known, and counts events for which it is not. */
static bool has_date(struct settings *settings, const struct moment *moment)
{
    bool known = moment_has_date(moment);

    if (!known)
        atomic_fetch_add_explicit(&settings->dateless, 1, memory_order_relaxed);
    return known;
}

static void write_seconds(char *text, size_t size, int64_t time)
{
    snprintf(text, size, "%s%lld.%06lld", time < 0 ? "-" : "", llabs(time) / 1000000,
             llabs(time) % 1000000);
}

/* Writes the recorded system time, or the present time. */
static void write_date(char *text, size_t size)
{
    int64_t now = enif_monotonic_time(ERL_NIF_NSEC) + enif_time_offset(ERL_NIF_NSEC);
    time_t seconds = now / 1000000000 - (now % 1000000000 < 0);
    struct tm date;
    size_t used;

    gmtime_r(&seconds, &date);
    used = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &date);
    snprintf(text + used, size - used, ".%06lldZ",
             (long long)(now - (int64_t)seconds * 1000000000) / 1000);
}

static void print_time(struct event *event, struct settings *settings)
{
    struct moment moment = moment_take(event->env, event->opts, ERL_NIF_USEC);
    char time[64] = "";
    size_t width;

    if (moment.stamped && settings->time == TIME_ABSOLUTE && has_date(settings, &moment))
        write_date(time, sizeof time);
    else if (moment.stamped)
        write_seconds(time, sizeof time, microseconds(settings, &moment));
    width = widen(&settings->time_width, strlen(time));
    if (!width)
        return;
    line_add(&event->line, "%*s", (int)(width - strlen(time)), "");
    if (*time)
        event_colour(event, DIM);
    line_add(&event->line, "%s", time);
    if (*time)
        event_colour(event, PLAIN);
    line_add(&event->line, " ");
}

static void print_tracee(struct event *event, struct settings *settings)
{
    struct tracee tracee = {.term = event_tracee(event)};
    size_t start = event->line.used;

    if (settings->names == NAMES_YES)
        tracee_ask(&tracee);
    if (tracee_add_label(&event->line, &tracee))
        line_add(&event->line, " ");
    line_add_term(&event->line, tracee.term);
    line_pad(&event->line, start + widen(&settings->tracee_width, event->line.used - start) + 1);
}

static void print_option(struct event *event, ERL_NIF_TERM key, const char *name)
{
    ERL_NIF_TERM value;

    if (!enif_get_map_value(event->env, event->opts, key, &value))
        return;
    event_colour(event, DIM);
    line_add(&event->line, " [%s", name);
    term_print(&event->line, event->env, value,
               event->args == ARGS_FULL ? ARGS_FULL : ARGS_BOUNDED);
    line_add(&event->line, "]");
    event_colour(event, PLAIN);
}

/* In a share: notes the widths of a line of SIZE bytes. */
static void note_columns(struct output *output, size_t size)
{
    struct settings *settings = &output->settings;

    columns_add(&settings->columns, (struct widths){settings->time_width, settings->tracee_width},
                size);
}

TH_TRACER_LOAD()
{
    event_load(env);
    return 0;
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
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
    event.args = output->settings.args;
    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &event.extra))
        event.extra = 0;
    line_start(&event.line);
    event.line.for_people = 1;
    print_time(&event, &output->settings);
    print_tracee(&event, &output->settings);
    event_print(&event);
    print_option(&event, TH_TRACER_ATOM(env, match_spec_result), "result ");
    print_option(&event, TH_TRACER_ATOM(env, scheduler_id), "scheduler ");
    if (output->to && output->to->share)
        note_columns(output, event.line.used + 1);
    line_end(&event.line, output->file);
}

/* --- Shares --- */

/* {File, [{Offset, TimeWidth, TraceeWidth}], Dateless}. The time since the line before, and lines
 * of two outputs in one file, need the lines before the share. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct settings *settings = &output->settings;
    ERL_NIF_TERM file = share_save_file(env, output), widths, dateless;
    int size;
    const ERL_NIF_TERM *elements;

    if (!file || !enif_get_tuple(env, file, &size, &elements) || size == 0 ||
        settings->time == TIME_DELTA || settings->began != NONE)
        return 0;
    widths = columns_save(env, settings->columns);
    dateless = enif_make_uint64(env, settings->dateless);
    settings->columns = NULL;
    settings->dateless = 0;
    return widths ? enif_make_tuple3(env, file, widths, dateless) : 0;
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct settings *settings = &output->settings;
    struct widths widths = {settings->time_width, settings->tracee_width};
    const ERL_NIF_TERM *elements;
    uint64_t dateless;
    bool merged;
    FILE *file;
    int size;

    if (!share_numbers(env, saved, 2, 1, (uint64_t *const[]){&dateless}) ||
        !enif_get_tuple(env, saved, &size, &elements) || !share_open_file(env, elements[0], &file))
        return false;
    merged = columns_merge(env, file, elements[1], &widths, output->file);
    fclose(file);
    settings->time_width = widths.time;
    settings->tracee_width = widths.tracee;
    settings->dateless += dateless;
    return merged;
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = outputs.first; output; output = output->next) {
        uint64_t dateless = atomic_load_explicit(&output->settings.dateless, memory_order_relaxed);
        if (dateless)
            fprintf(stderr,
                    "text: events whose date is not in the recording, shown in seconds since its "
                    "first record: %llu\n",
                    (unsigned long long)dateless);
    }
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(tracehost_text, callbacks, load, NULL, NULL, unload)
