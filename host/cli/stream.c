#include "stream.h"

#include "interrupt.h"
#include "progress_line.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/crash/crash.h"
#include "host/replay/reader.h"
#include "host/trace/note.h"

#include <stdarg.h>
#include <string.h>

enum { TOLD = 10 /* limit of faults shown for one stream */ };

const struct th_argument th_cli_stream_arguments[] = {
    TH_OPTION("reconnect", "T", TIME, INPUT,
              "If the connection of tcp://HOST:PORT ends, try for the time T to connect again "
              "(default of T: 60s)",
              .how = TH_ARGUMENT_OPTIONAL | TH_ARGUMENT_RARE, .otherwise = "60s", .least = 1,
              .most = INT64_MAX, .wanted = "a time above 0",
              TH_INTO(struct th_stream_options, reconnect_ns)),
    TH_OPTION("scheduler-id", NULL, FLAG, INPUT,
              "The stream was recorded with the flag scheduler_id: read an ambiguous integer as a "
              "scheduler, not as a result of a match specification",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_stream_options, scheduler_id)),
    TH_OPTION("progress", "WHEN", CHOICE, OUTPUT,
              "Show on stderr, from the first second on, how much of the stream has been read: "
              "auto (default: if stderr is a terminal), always or never",
              .how = TH_ARGUMENT_RARE, .words = TH_WORDS("auto", "always", "never"),
              TH_INTO(struct th_stream_options, progress)),
    TH_OPTION("max-memory", "BYTES", BYTES, LIMITS,
              "Treat an event as damaged if reading it takes more memory than BYTES, at least 1MiB "
              "(default: 512MiB)",
              .how = TH_ARGUMENT_RARE, .least = TH_READER_LEAST_MEMORY, .most = INT64_MAX,
              .wanted = "at least 1MiB", TH_INTO(struct th_stream_options, max_memory)),
    TH_OPTION("allow-partial", NULL, FLAG, LIMITS,
              "Exit with 0, not 4, for damaged or truncated streams",
              TH_INTO(struct th_stream_options, allow_partial)),
    {0},
};

enum th_status th_cli_limit_take(const struct th_argument *argument, const char *value, void *input)
{
    struct th_limit *limit = (struct th_limit *)((char *)input + argument->into);
    int64_t count;
    enum th_status status = th_control_argument_number(argument, value, &count);

    if (status == TH_OK)
        *limit = (struct th_limit){true, (uint64_t)count};
    return status;
}

const struct th_argument th_cli_limit_arguments[] = {
    TH_OPTION("max-records", "N", NUMBER, LIMITS, "Stop after N records", .take = th_cli_limit_take,
              TH_INTO(struct th_stream_options, max_records)),
    TH_OPTION("max-events", "N", NUMBER, LIMITS, "The same: each record is an event here",
              .how = TH_ARGUMENT_RARE, .take = th_cli_limit_take,
              TH_INTO(struct th_stream_options, max_records)),
    {0},
};

const char *th_cli_stream_title(const char *name)
{
    return strcmp(name, "-") == 0 ? "stdin" : name;
}

void th_cli_stream_say(struct th_stream *stream, const char *format, ...)
{
    va_list args;

    th_cli_command_flush();
    th_cli_progress_hide(&stream->progress);
    fprintf(stderr, "tracehost %s: %s: ", stream->command, th_cli_stream_title(stream->name));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void th_cli_stream_notice(void *context, const char *text)
{
    struct th_stream *stream = context;
    const char *name = stream->name;
    bool common = th_crash_set_common(true);

    if (stream->names && stream->reader)
        stream->name = th_replay_reader_info(stream->reader)->file;
    th_cli_stream_say(stream, "%s", text);
    stream->name = name;
    th_crash_set_common(common);
}

/* Passes events on, also to the files of tracers, before a wait for more. */
static void on_wait(void *context)
{
    struct th_stream *stream = context;

    if (stream->idle)
        stream->idle(stream->idle_context);
    th_cli_command_flush();
    fflush(NULL);
    if (stream->reader)
        th_cli_progress_look(&stream->progress, th_cli_stream_title(stream->name),
                             th_replay_reader_info(stream->reader));
}

static void on_end(void *context)
{
    struct th_stream *stream = context;

    stream->ending(stream->idle_context);
}

static void on_record(void *context, const struct th_event *event)
{
    const struct th_stream *stream = context;

    stream->keep(stream->keep_context, stream->reader, event);
}

bool th_cli_stream_are_live(const char *const *names, size_t count)
{
    size_t live = 0;

    for (size_t i = 0; i < count; i++)
        live += th_replay_is_connection(names[i]);
    return live > 1;
}

enum th_status th_cli_stream_check_stdout(const char *name)
{
    if (!th_replay_reader_would_read(name, "-"))
        return TH_OK;
    th_error_raise(TH_USAGE, "stdout is redirected to the same file");
    return th_error_context("cannot read %s", th_cli_stream_title(name));
}

void th_cli_stream_take(struct th_stream *stream, const struct th_texts *names)
{
    stream->name = names->items[0];
    stream->names = names->count > 1 ? (const char *const *)names->items : NULL;
    stream->count = names->count;
}

int th_cli_stream_open(struct th_stream *stream)
{
    struct th_reader_options how = {
        .scheduler_id = stream->options->scheduler_id,
        .max_memory = stream->options->max_memory,
        .stop = &th_cli_interrupted,
        .reconnect_ns = stream->options->reconnect_ns,
        .resume = stream->options->resume,
        .node = stream->options->node.wish ? &stream->options->node : NULL,
        .waiting = on_wait,
        .notice = th_cli_stream_notice,
        .ending = stream->ending ? on_end : NULL,
        .keep = stream->keep ? on_record : NULL,
        .context = stream,
    };
    const char *note;

    stream->status = TH_OK;
    stream->skipped = stream->damages = 0;
    stream->reader = NULL;
    th_cli_progress_begin(&stream->progress, stream->options->progress);
    if (stream->names && stream->options->reconnect_ns) {
        th_error_raise(TH_USAGE, "--reconnect cannot be used with several connections: after a "
                                 "pause, a node's identifiers may be those of another start");
        return th_cli_command_fail(stream->command);
    }
    for (size_t i = 0; stream->names && i < stream->count; i++)
        if (th_cli_stream_check_stdout(stream->names[i]) != TH_OK)
            return th_cli_command_fail(stream->command);
    if (stream->names) {
        if (th_replay_reader_merge(stream->names, stream->count, &how, &stream->reader) != TH_OK)
            return th_cli_command_fail(stream->command);
        stream->name = th_replay_reader_info(stream->reader)->name;
    } else if (th_cli_stream_check_stdout(stream->name) != TH_OK ||
               th_replay_reader_open(stream->name, &how, &stream->reader) != TH_OK) {
        return th_cli_command_fail(stream->command);
    }
    stream->live = th_replay_reader_info(stream->reader)->live;
    note = th_replay_reader_info(stream->reader)->note;
    if (note && !stream->again && !stream->options->alone)
        fprintf(stderr, "tracehost %s: %s\n", stream->command, note);
    stream->again = true;
    return TH_OK;
}

/* Prints the damage on one line, with the causes below. */
void th_cli_stream_complain(struct th_stream *stream)
{
    const char *file = stream->reader ? th_replay_reader_info(stream->reader)->file : NULL;

    if (stream->skipped + stream->damages < TOLD) {
        th_cli_command_flush();
        th_cli_progress_hide(&stream->progress);
        fprintf(stderr, "tracehost %s: %s: %s\n", stream->command,
                th_cli_stream_title(file ? file : stream->name), th_error_link(0));
        for (size_t i = 1; th_error_link(i); i++)
            fprintf(stderr, "  %s\n", th_error_link(i));
    }
    if (th_error_status() == TH_MALFORMED)
        stream->skipped++;
    else
        stream->damages++;
    th_error_clear();
    stream->status = TH_PARTIAL;
}

void th_cli_stream_malformed(struct th_stream *stream, const struct th_event *event)
{
    th_error_context("record %llu at byte %llu was skipped", (unsigned long long)event->number,
                     (unsigned long long)event->position);
    th_cli_stream_complain(stream);
}

enum th_status th_cli_stream_look_into(struct th_event *event, th_env *env, struct th_mfa *function)
{
    enum th_status status;
    struct th_note note;

    if (event->kind == TH_EVENT_DROP)
        return TH_OK;
    if (event->kind == TH_EVENT_OTHER && th_trace_note(event, env, &note))
        return TH_OK;
    if (event->kind == TH_EVENT_OTHER)
        return th_error_raise(TH_MALFORMED, "the record is not a trace message");
    status = event->decoded ? TH_OK : th_trace_event_brief(event, env);
    if (status == TH_OK && event->tag == TH_TAG_call && event->kind != TH_EVENT_SEQ_TRACE)
        status = event->source->function(event, function);
    if (status == TH_OK)
        status = th_trace_event_time(event);
    return status;
}

void th_cli_stream_check(struct th_stream *stream, struct th_event *event, th_env *env)
{
    struct th_mfa function;

    if (th_cli_stream_look_into(event, env, &function) == TH_OK)
        return;
    th_error_raise(TH_PARTIAL, "%s", th_error_link(0));
    th_error_context("record %llu at byte %llu is damaged, and is kept unchanged",
                     (unsigned long long)event->number, (unsigned long long)event->position);
    th_cli_stream_complain(stream);
}

void th_cli_stream_step(struct th_stream *stream)
{
    th_cli_progress_step(&stream->progress, th_cli_stream_title(stream->name),
                         th_replay_reader_info(stream->reader));
}

bool th_cli_stream_next(struct th_stream *stream, struct th_event *event)
{
    const struct th_limit *limit = &stream->options->max_records;

    for (;;) {
        if (th_replay_reader_stops(stream->reader, &th_cli_interrupted) ||
            (limit->set && th_replay_reader_info(stream->reader)->records >= limit->count))
            return false;
        th_cli_stream_step(stream);
        switch (th_replay_reader_next(stream->reader, event)) {
        case TH_OK:
            return true;
        case TH_END:
            return false;
        case TH_USAGE: /* merged streams that cannot be put in order */
            th_cli_progress_hide(&stream->progress);
            stream->status = th_cli_command_fail(stream->command);
            return false;
        default:
            th_cli_stream_complain(stream);
        }
    }
}

int th_cli_stream_close(struct th_stream *stream)
{
    uint64_t records = th_replay_reader_info(stream->reader)->records;
    uint64_t late = th_replay_reader_info(stream->reader)->late;
    uint64_t sound = records - stream->skipped;
    bool more = stream->skipped + stream->damages > TOLD;
    char skipped[48] = "", shown[64] = "";

    th_cli_progress_hide(&stream->progress);
    th_cli_progress_last(th_cli_stream_title(stream->name), th_replay_reader_info(stream->reader));
    th_cli_command_flush();
    if (stream->skipped)
        snprintf(skipped, sizeof skipped, ", skipped %llu", (unsigned long long)stream->skipped);
    if (more)
        snprintf(shown, sizeof shown, "; only the first %d faults are shown", TOLD);
    if (stream->status == TH_PARTIAL)
        th_cli_stream_say(stream, "recovered %llu record%s%s%s", (unsigned long long)sound,
                          th_log_plural(sound), skipped, shown);
    if (late)
        th_cli_stream_say(stream, "%llu event%s came after later ones of other streams",
                          (unsigned long long)late, th_log_plural(late));
    if (th_cli_interrupt_came())
        th_cli_stream_say(stream, "received %s after %llu record%s", th_cli_interrupt_name(),
                          (unsigned long long)records, th_log_plural(records));
    th_replay_reader_close(stream->reader);
    return th_cli_interrupt_status(
        stream->status == TH_PARTIAL && stream->options->allow_partial ? TH_OK : stream->status);
}
