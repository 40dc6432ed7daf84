#include "rewrite.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/cli/options/usage.h"
#include "host/replay/log/log_stream.h"
#include "host/term/clock.h"
#include "host/trace/event.h"
#include "host/trace/note.h"

#include <string.h>

/* --- The format ------------------------------------------------------------------------------- */

const struct th_argument th_cli_rewrite_arguments[] = {
    TH_OPTION("index", "BYTES", BYTES, OUTPUT,
              "Make OUT, a .trace.zst, a packed recording, of which commands read only the frames "
              "that they need; of BYTES each (default: 1MiB)",
              .how = TH_ARGUMENT_OPTIONAL, .otherwise = "1MiB", .least = 1, .most = 1 << 28,
              .wanted = "at most 256MiB", TH_INTO(struct th_rewrite_options, index)),
    TH_OPTION("level", "N", NUMBER, OUTPUT,
              "Compress by level N: 1 to 9 for .gz (default: 6), 1 to 19 for .zst (default: 1)",
              TH_INTO(struct th_rewrite_options, level)),
    {0},
};

static const struct {
    const char *name;
    enum th_format format;
} formats[] = {
    {"jsonl", TH_FORMAT_JSONL},    {"json", TH_FORMAT_JSONL},     {"trace", TH_FORMAT_TRACE_PORT},
    {"log", TH_FORMAT_TRACE_PORT}, {"dat", TH_FORMAT_TRACE_PORT},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const struct {
    const char *suffix;
    enum th_compression compression;
} compressions[] = {{".gz", TH_COMPRESSION_GZIP}, {".zst", TH_COMPRESSION_ZSTD}};
enum { COMPRESSIONS = sizeof compressions / sizeof compressions[0] };

/* Takes the suffix of a compression from NAME, which has *LENGTH characters. */
static enum th_compression take_compression(const char *name, size_t *length)
{
    for (size_t i = 0; i < COMPRESSIONS; i++) {
        size_t suffix = strlen(compressions[i].suffix);
        if (*length > suffix &&
            memcmp(name + *length - suffix, compressions[i].suffix, suffix) == 0) {
            *length -= suffix;
            return compressions[i].compression;
        }
    }
    return TH_COMPRESSION_NONE;
}

enum th_status th_cli_rewrite_format(const struct th_rewrite_options *options, const char *out,
                                     struct th_writer_options *how)
{
    const char *name = options->to ? options->to : out, *dot;
    size_t length = strlen(name), out_length = strlen(out), i = 0;
    int most;

    how->compression = take_compression(name, &length);
    dot = options->to ? NULL : memrchr(name, '.', length);
    if (dot) {
        length -= (size_t)(dot + 1 - name);
        name = dot + 1;
    }
    while (i < FORMATS &&
           (strlen(formats[i].name) != length || memcmp(formats[i].name, name, length) != 0))
        i++;
    if (i == FORMATS && options->to)
        return th_error_raise(TH_USAGE,
                              "there is no format '%s': the formats are jsonl and trace, plain or "
                              "with .gz or .zst behind",
                              options->to);
    if (i == FORMATS)
        return th_error_raise(
            TH_USAGE, "the output's format is not known from the name '%s': %s", out,
            options->by_name ? "let it end in .trace or .jsonl" : "give --to=jsonl or --to=trace");
    how->format = formats[i].format;
    if (!how->compression)
        how->compression = take_compression(out, &out_length);
    most = th_replay_pack_level_most(how->compression);
    if (options->level > (uint64_t)most)
        return th_error_raise(TH_USAGE,
                              most ? "--level is at most %d for this compression"
                                   : "--level needs an output with .gz or .zst",
                              most);
    how->level = (int)options->level;
    how->frame = options->index;
    if (how->frame &&
        (how->format != TH_FORMAT_TRACE_PORT || how->compression != TH_COMPRESSION_ZSTD))
        return th_error_raise(TH_USAGE, "--index needs an output in the format trace.zst");
    return TH_OK;
}

/* --- Writing ---------------------------------------------------------------------------------- */

#define PASS_ON_NS INT64_C(2000000000)

/* A recording belongs to one node, whose identifiers are written without the node. */
static bool is_of(const struct th_etf_node *node, const struct th_stream *stream)
{
    const struct th_etf_node *now = &th_replay_reader_info(stream->reader)->node;

    return node->node == TH_NONE || now->node == TH_NONE ||
           (node->node == now->node && node->creation == now->creation);
}

void th_cli_rewrite_tell(struct th_stream *stream, struct th_event *event, th_env *env)
{
    struct th_buffer text = {0};
    struct th_note note;

    if (th_trace_note(event, env, &note) && th_trace_note_told(&note, &text))
        th_cli_stream_notice(stream, th_buffer_text(&text));
    th_buffer_free(&text);
}

/* Writes EVENT and all following events of NODE. Returns false if writing failed, with the cause in
 * the chain. */
static bool rewrite_add_all(struct th_stream *stream, struct th_writer *writer,
                            struct th_event *event, const struct th_etf_node *node,
                            const struct th_rewrite_filter *filter)
{
    enum th_status status = TH_OK;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    do {
        status = filter ? filter->takes(filter->context, event, &env) : TH_OK;
        if (status == TH_OK)
            status = th_replay_writer_add(writer, event, &env);
        if (status == TH_MALFORMED)
            th_cli_stream_malformed(stream, event);
        else if (status == TH_OK)
            th_cli_stream_check(stream, event, &env);
        if (stream->options->node.wish)
            th_cli_rewrite_tell(stream, event, &env);
        th_env_clear(&env);
    } while (status != TH_FAILED && th_cli_stream_next(stream, event) && is_of(node, stream));
    th_env_release(&env);
    if (status != TH_FAILED && !is_of(node, stream)) {
        th_cli_stream_say(stream, "the rest is not written: its records are of another node");
        stream->status = TH_PARTIAL;
    }
    return status != TH_FAILED;
}

/* Flushes before a wait for bytes: nothing stays in the buffer meanwhile. */
static void pass_on(void *writer)
{
    if (th_replay_writer_flush(writer) != TH_OK)
        th_error_clear(); /* the next write fails again */
}

/* The same for a file of a running node, in which a program that is killed is to leave what it has recorded:
 * not at each wait, as a frame of a packed recording ends then. */
static void pass_on_at_times(void *writer)
{
    static int64_t latest;
    int64_t now = th_clock_real_monotonic();

    if (now - latest < PASS_ON_NS)
        return;
    latest = now;
    pass_on(writer);
}

/* Ends WRITER, which writes LOG, and reports what is in it. WRITTEN: no write has failed. Returns the exit status. A
 * recording whose input was to be read to its end, and was not, stays incomplete. */
static int end_log(struct th_stream *stream, struct th_writer *writer,
                   const struct th_log_options *log, bool written)
{
    struct th_error_chain chain = {0};
    bool whole = written && (stream->live || !th_cli_interrupt_came());
    int status;

    th_error_save(&chain);
    if (!whole) {
        th_replay_writer_abandon(writer);
    } else if (th_replay_writer_commit(writer) != TH_OK) {
        whole = written = false;
        th_error_save(&chain);
    }
    if (log->lost > 0 && stream->status == TH_OK)
        stream->status = TH_PARTIAL;
    status = th_cli_stream_close(stream);
    th_cli_stream_say(stream, "recording %s%s: %llu record%s, %llu bytes, in %llu message%s",
                      log->id, whole ? "" : ", which has no end", (unsigned long long)log->records,
                      th_log_plural(log->records), (unsigned long long)log->bytes,
                      (unsigned long long)log->messages, th_log_plural(log->messages));
    if (log->lost)
        th_cli_stream_say(stream, "%llu event%s lost, as the log did not take them",
                          (unsigned long long)log->lost, log->lost == 1 ? " is" : "s are");
    th_error_restore(&chain);
    return written ? status : th_cli_interrupt_status(th_cli_command_fail(stream->command));
}

int th_cli_rewrite(struct th_stream stream, const char *output, struct th_writer_options how,
                   const struct th_rewrite_filter *filter)
{
    const bool to_file = output && strcmp(output, "-") != 0 && !how.log;
    struct th_event event = {0};
    struct th_writer *writer;
    bool some, written;
    uint64_t plain;
    int status = th_cli_stream_open(&stream);

    if (status != TH_OK)
        return status;
    if (filter)
        th_replay_reader_select(stream.reader, filter->selection, NULL);
    some = th_cli_stream_next(&stream, &event); /* the node is known with the first record */
    how.here = th_replay_reader_info(stream.reader)->node;
    how.utf8_atoms = th_replay_reader_info(stream.reader)->utf8_atoms;
    if (how.log) {
        how.log->stop = &th_cli_interrupted;
        how.log->notice = th_cli_stream_notice;
        how.log->context = &stream;
    }
    if (th_replay_writer_open(output ? output : "-", &how, &writer) != TH_OK) {
        th_replay_reader_close(stream.reader);
        return th_cli_interrupt_status(th_cli_command_fail(stream.command));
    }
    stream.idle = !to_file ? pass_on : stream.live ? pass_on_at_times : NULL;
    stream.idle_context = writer;
    written = !some || rewrite_add_all(&stream, writer, &event, &how.here, filter);
    if (how.log)
        return end_log(&stream, writer, how.log, written);
    status = th_cli_stream_close(&stream);
    if (written && !(th_cli_interrupt_came() && to_file && !stream.live)) {
        plain = th_replay_writer_plain(writer);
        if (th_replay_writer_commit(writer) != TH_OK)
            return th_cli_command_fail(stream.command);
        if (plain)
            th_cli_stream_say(
                &stream,
                "calls written without `external`, `tail` and callers (jsonl keeps them): %llu",
                (unsigned long long)plain);
        return status;
    }
    th_replay_writer_abandon(writer);
    if (!written)
        return th_cli_command_fail(stream.command);
    fprintf(stderr, "tracehost %s: %s was not written: received %s\n", stream.command, output,
            th_cli_interrupt_name());
    return status;
}

bool th_cli_rewrite_is_another(const char *name, const char *output)
{
    if (!output || strcmp(output, "-") == 0 || !th_replay_reader_would_read(name, output))
        return true;
    th_error_raise(TH_USAGE, "the output would overwrite the stream %s: choose another file",
                   th_cli_stream_title(name));
    return false;
}
