#include "stream.h"

#include "census.h"
#include "interrupt.h"
#include "option_table.h"

#include <string.h>

enum { TOLD = 10 /* so many faults of a stream are shown */ };

static const struct argp_option options[] = {
    {"allow-partial", TH_OPTION_ALLOW_PARTIAL, NULL, 0,
     "Exit with 0 though a stream is damaged or cut off (else 4)", 90},
    {"scheduler-id", TH_OPTION_SCHEDULER_ID, NULL, 0,
     "Where one integer may be a match specification's result or a scheduler's number, it is the "
     "scheduler's: for streams recorded with the flag scheduler_id",
     90},
    {"max-memory", TH_OPTION_MAX_MEMORY, "BYTES", 0,
     "Take an event for damaged that needs more memory to be read: 1MiB or more "
     "(default: 512MiB)",
     90},
    {"reconnect", TH_OPTION_RECONNECT, "T", OPTION_ARG_OPTIONAL,
     "Of tcp://...: where the connection ends, try for the time T (60s) to take it up again", 90},
    {"progress", TH_OPTION_PROGRESS, "WHEN", 0,
     "Show on stderr how far a stream is read, from the first second on: auto (the default: if "
     "stderr "
     "is a terminal), always, never",
     90},
    {0},
};

static const struct th_choices choices[] = {
    {TH_OPTION_PROGRESS, "--progress", TH_WORDS("auto", "always", "never"), 0}, {0}};

static void set_reconnect(struct th_stream_options *options, const char *value,
                          struct argp_state *state)
{
    options->reconnect_ns = th_option_time(value ? value : "60s", state, "--reconnect");
    if (options->reconnect_ns <= 0)
        argp_error(state, "--reconnect wants a time above 0, not '%s'", value);
}

static void set_memory(struct th_stream_options *options, const char *value,
                       struct argp_state *state)
{
    options->max_memory = th_option_bytes(value, state, "--max-memory");
    if (options->max_memory < TH_READER_LEAST_MEMORY)
        argp_error(state, "--max-memory wants 1MiB at least, not '%s'", value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct th_stream_options *into = state->input;

    switch (key) {
    case TH_OPTION_ALLOW_PARTIAL:
        into->allow_partial = true;
        return 0;
    case TH_OPTION_SCHEDULER_ID:
        into->scheduler_id = true;
        return 0;
    case TH_OPTION_MAX_MEMORY:
        set_memory(into, value, state);
        return 0;
    case TH_OPTION_RECONNECT:
        set_reconnect(into, value, state);
        return 0;
    case TH_OPTION_PROGRESS:
        into->progress = (enum th_progress_when)th_option_choice(choices, key, value, state);
        return 0;
    case TH_KEY_ABOUT:
        ((struct th_about *)state->hook)->choices = choices;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp th_stream_argp = {.options = options, .parser = parse};

static const struct argp_option limit_options[] = {
    {"max-records", TH_OPTION_MAX_RECORDS, "N", 0, "Stop after N records", 90},
    {"max-events", TH_OPTION_MAX_EVENTS, "N", 0, "The same: each record is an event here", 90},
    {0},
};

static error_t parse_limit(int key, char *value, struct argp_state *state)
{
    struct th_stream_options *into = state->input;

    if (key != TH_OPTION_MAX_RECORDS && key != TH_OPTION_MAX_EVENTS)
        return ARGP_ERR_UNKNOWN;
    into->max_records.count = th_option_count(
        value, state, key == TH_OPTION_MAX_EVENTS ? "--max-events" : "--max-records");
    into->max_records.set = true;
    return 0;
}

const struct argp th_limit_argp = {.options = limit_options, .parser = parse_limit};

const char *th_stream_title(const char *name)
{
    return strcmp(name, "-") == 0 ? "stdin" : name;
}

/* A line on stderr. */
static void say(struct th_stream *stream, const char *text)
{
    th_command_flush();
    th_progress_hide(&stream->progress);
    fprintf(stderr, "tracehost %s: %s: %s\n", stream->command, th_stream_title(stream->name), text);
}

static void on_notice(void *context, const char *text)
{
    say(context, text);
}

/* Passes on the events that have come, to the files of tracers, too, before more are awaited. */
static void on_wait(void *context)
{
    struct th_stream *stream = context;

    if (stream->idle)
        stream->idle(stream->idle_context);
    th_command_flush();
    fflush(NULL);
    if (stream->reader)
        th_progress_look(&stream->progress, th_stream_title(stream->name),
                         th_reader_info(stream->reader));
}

enum th_status th_stream_check_stdout(const char *name)
{
    if (!th_reader_would_read(name, "-"))
        return TH_OK;
    th_error_raise(TH_USAGE, "stdout goes to the same file");
    return th_error_context("cannot read %s", th_stream_title(name));
}

int th_stream_open(struct th_stream *stream)
{
    struct th_reader_options how = {
        .scheduler_id = stream->options->scheduler_id,
        .max_memory = stream->options->max_memory,
        .stop = &th_interrupted,
        .reconnect_ns = stream->options->reconnect_ns,
        .waiting = on_wait,
        .notice = on_notice,
        .context = stream,
    };
    const char *note;

    stream->status = TH_OK;
    stream->skipped = stream->damages = 0;
    stream->reader = NULL;
    th_progress_begin(&stream->progress, stream->options->progress);
    if (th_stream_check_stdout(stream->name) != TH_OK ||
        th_reader_open(stream->name, &how, &stream->reader) != TH_OK)
        return th_command_fail(stream->command);
    stream->live = th_reader_info(stream->reader)->live;
    note = th_reader_info(stream->reader)->note;
    if (note)
        fprintf(stderr, "tracehost %s: %s\n", stream->command, note);
    return TH_OK;
}

/* The damage in one line with the causes under it. */
static void tell_damage(struct th_stream *stream)
{
    const char *file = th_reader_info(stream->reader)->file;

    th_command_flush();
    th_progress_hide(&stream->progress);
    fprintf(stderr, "tracehost %s: %s: %s\n", stream->command,
            th_stream_title(file ? file : stream->name), th_error_link(0));
    for (size_t i = 1; th_error_link(i); i++)
        fprintf(stderr, "  %s\n", th_error_link(i));
}

void th_stream_complain(struct th_stream *stream)
{
    if (stream->skipped + stream->damages < TOLD)
        tell_damage(stream);
    if (th_error_status() == TH_MALFORMED)
        stream->skipped++;
    else
        stream->damages++;
    th_error_clear();
    stream->status = TH_PARTIAL;
}

void th_stream_malformed(struct th_stream *stream, const struct th_event *event)
{
    th_error_context("record %llu at byte %llu was skipped", (unsigned long long)event->number,
                     (unsigned long long)event->position);
    th_stream_complain(stream);
}

void th_stream_check(struct th_stream *stream, struct th_event *event, th_env *env)
{
    struct th_function function;

    if (th_census_look_into(event, env, &function) == TH_OK)
        return;
    th_error_raise(TH_PARTIAL, "%s", th_error_link(0));
    th_error_context("record %llu at byte %llu is damaged, and kept as it is",
                     (unsigned long long)event->number, (unsigned long long)event->position);
    th_stream_complain(stream);
}

void th_stream_step(struct th_stream *stream)
{
    th_progress_step(&stream->progress, th_stream_title(stream->name),
                     th_reader_info(stream->reader));
}

bool th_stream_next(struct th_stream *stream, struct th_event *event)
{
    const struct th_limit *limit = &stream->options->max_records;

    for (;;) {
        if (th_interrupt_came() ||
            (limit->set && th_reader_info(stream->reader)->records >= limit->count))
            return false;
        th_stream_step(stream);
        switch (th_reader_next(stream->reader, event)) {
        case TH_OK:
            return true;
        case TH_END:
            return false;
        default:
            th_stream_complain(stream);
        }
    }
}

void th_stream_leave(struct th_stream *stream, const char *text)
{
    say(stream, text);
    stream->status = TH_PARTIAL;
}

static void tell_interrupt(const struct th_stream *stream)
{
    uint64_t records = th_reader_info(stream->reader)->records;

    fprintf(stderr, "tracehost %s: %s: %s came after %llu record%s\n", stream->command,
            th_stream_title(stream->name), th_interrupt_name(), (unsigned long long)records,
            th_plural(records));
}

static void tell_recovery(const struct th_stream *stream)
{
    uint64_t records = th_reader_info(stream->reader)->records;
    uint64_t faults = stream->skipped + stream->damages;

    fprintf(stderr, "tracehost %s: %s: recovered %llu record%s", stream->command,
            th_stream_title(stream->name), (unsigned long long)(records - stream->skipped),
            th_plural(records - stream->skipped));
    if (stream->skipped)
        fprintf(stderr, ", skipped %llu", (unsigned long long)stream->skipped);
    if (faults > TOLD)
        fprintf(stderr, "; only the first %d faults are shown", TOLD);
    fputc('\n', stderr);
}

int th_stream_close(struct th_stream *stream)
{
    th_progress_hide(&stream->progress);
    th_progress_last(th_stream_title(stream->name), th_reader_info(stream->reader));
    th_command_flush();
    if (stream->status != TH_OK)
        tell_recovery(stream);
    if (th_interrupt_came())
        tell_interrupt(stream);
    th_reader_close(stream->reader);
    return th_interrupt_status(stream->options->allow_partial ? TH_OK : stream->status);
}
