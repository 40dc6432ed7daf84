/* tracehost convert, tracehost dump: write a stream again, in the same format or another, or as
 * text. */
#include "interrupt.h"
#include "stream.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/cli/options/usage.h"
#include "host/replay/flat_rows.h"
#include "host/replay/reader.h"
#include "host/replay/spool.h"
#include "host/replay/writer.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/event.h"
#include "host/trace/note.h"

#include <string.h>

#define PASS_ON_NS INT64_C(2000000000)

/* --- Rewriting a stream ----------------------------------------------------------------------- */

/* A recording belongs to one node, whose identifiers are written without the node. */
static bool is_of(const struct th_etf_node *node, const struct th_stream *stream)
{
    const struct th_etf_node *now = &th_replay_reader_info(stream->reader)->node;

    return node->node == TH_NONE || now->node == TH_NONE ||
           (node->node == now->node && node->creation == now->creation);
}

/* Tells the user what EVENT, a note of a running node, is for. */
static void convert_tell(struct th_stream *stream, struct th_event *event, th_env *env)
{
    struct th_buffer text = {0};
    struct th_note note;

    if (th_trace_note(event, env, &note) && th_trace_note_told(&note, &text))
        th_cli_stream_notice(stream, th_buffer_text(&text));
    th_buffer_free(&text);
}

/* Writes EVENT and all following events of NODE. Returns false if writing failed, with the cause in
 * the chain. */
static bool convert_add_all(struct th_stream *stream, struct th_writer *writer,
                            struct th_event *event, const struct th_etf_node *node)
{
    enum th_status status = TH_OK;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    do {
        status = th_replay_writer_add(writer, event, &env);
        if (status == TH_MALFORMED)
            th_cli_stream_malformed(stream, event);
        else if (status == TH_OK)
            th_cli_stream_check(stream, event, &env);
        if (stream->options->node.wish)
            convert_tell(stream, event, &env);
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

/* Returns false, with an error, if OUTPUT (NULL: stdout) is a file that the stream NAME is read from. */
static bool is_another(const char *name, const char *output)
{
    if (!output || strcmp(output, "-") == 0 || !th_replay_reader_would_read(name, output))
        return true;
    th_error_raise(TH_USAGE, "the output would overwrite the stream %s: choose another file",
                   th_cli_stream_title(name));
    return false;
}

/* Writes STREAM, which is not open, to OUTPUT (NULL: stdout), as HOW says; the stream tells the node.
 * Returns the exit status. */
static int rewrite(struct th_stream stream, const char *output, struct th_writer_options how)
{
    const bool to_file = output && strcmp(output, "-") != 0;
    struct th_event event = {0};
    struct th_writer *writer;
    bool some, written;
    uint64_t plain;
    int status = th_cli_stream_open(&stream);

    if (status != TH_OK)
        return status;
    some = th_cli_stream_next(&stream, &event); /* the node is known with the first record */
    how.here = th_replay_reader_info(stream.reader)->node;
    how.utf8_atoms = th_replay_reader_info(stream.reader)->utf8_atoms;
    if (th_replay_writer_open(output ? output : "-", &how, &writer) != TH_OK) {
        th_replay_reader_close(stream.reader);
        return th_cli_interrupt_status(th_cli_command_fail(stream.command));
    }
    stream.idle = !to_file ? pass_on : stream.live ? pass_on_at_times : NULL;
    stream.idle_context = writer;
    written = !some || convert_add_all(&stream, writer, &event, &how.here);
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

/* --- convert ---------------------------------------------------------------------------------- */

struct convert {
    struct th_stream_options stream;
    struct th_control_session_options sessions; /* for running nodes */
    const char *to;                             /* NULL: the suffix of OUT decides */
    uint64_t level;                             /* of compression; 0: the usual one */
    uint64_t index;                             /* bytes of a frame; 0: no index */
    const char *in, *out;
};

/* --to accepts the suffixes, too. */
static const struct th_argument arguments[] = {
    TH_WORD("IN", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct convert, in)),
    TH_WORD("OUT", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct convert, out)),
    TH_OPTION("to", "FORMAT", TEXT, OUTPUT,
              "jsonl or trace, also as jsonl.gz, trace.zst and so on (default: by the suffix of "
              "OUT, which "
              "is .jsonl, .json, .trace, .log or .dat, and .gz or .zst behind it)",
              .how = TH_ARGUMENT_OTHERS,
              .words = TH_WORDS("jsonl", "trace", "jsonl.gz", "trace.gz", "jsonl.zst", "trace.zst"),
              TH_INTO(struct convert, to)),
    TH_OPTION("index", "BYTES", BYTES, OUTPUT,
              "Make OUT, a .trace.zst, a packed recording, of which commands read only the frames "
              "that they need; of BYTES each (default: 1MiB)",
              .how = TH_ARGUMENT_OPTIONAL, .otherwise = "1MiB", .least = 1, .most = 1 << 28,
              .wanted = "at most 256MiB", TH_INTO(struct convert, index)),
    TH_OPTION("level", "N", NUMBER, OUTPUT,
              "Compress by level N: 1 to 9 for .gz (default: 6), 1 to 19 for .zst (default: 1)",
              TH_INTO(struct convert, level)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct convert, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct convert, stream)},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct convert, sessions),
     .has = th_cli_node_is_of_session,
     .check = th_cli_node_check},
    {.items = th_cli_node_arguments, .offset = offsetof(struct convert, stream)},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Converts a recorded stream between trace-port format and JSON lines, plain or "
              "compressed.\n"
              "IN and OUT are files, or - for stdin and stdout. IN may be node:NAME@HOST, a "
              "running node, or tcp://HOST:PORT, its trace port.",
    .after = "Nothing is lost by the conversion; tracehost-jsonl(5) describes the JSON. A running "
             "node is recorded until --for, a signal or the node ends it. node:NAME@HOST records "
             "what -p and --flags ask for; tcp://HOST:PORT is the port of dbg:trace_port(ip, PORT) "
             "in the node.",
    .examples = "  tracehost convert samples/recordings/s13_procs.trace procs.jsonl\n"
                "  tracehost convert --to=jsonl samples/recordings/s13_procs.trace - | head",
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

/* Sets HOW's format and compression. Errors: TH_USAGE. */
static enum th_status find_format(const struct convert *convert, struct th_writer_options *how)
{
    const char *name = convert->to ? convert->to : convert->out, *dot;
    size_t length = strlen(name), out_length = strlen(convert->out), i = 0;
    int most;

    how->compression = take_compression(name, &length);
    dot = convert->to ? NULL : memrchr(name, '.', length);
    if (dot) {
        length -= (size_t)(dot + 1 - name);
        name = dot + 1;
    }
    while (i < FORMATS &&
           (strlen(formats[i].name) != length || memcmp(formats[i].name, name, length) != 0))
        i++;
    if (i == FORMATS && convert->to)
        return th_error_raise(TH_USAGE,
                              "there is no format '%s': the formats are jsonl and trace, plain or "
                              "with .gz or .zst behind",
                              convert->to);
    if (i == FORMATS)
        return th_error_raise(TH_USAGE,
                              "the output's format is not known from the name '%s': give "
                              "--to=jsonl or --to=trace",
                              convert->out);
    how->format = formats[i].format;
    if (!how->compression)
        how->compression = take_compression(convert->out, &out_length);
    most = th_replay_pack_level_most(how->compression);
    if (convert->level > (uint64_t)most)
        return th_error_raise(TH_USAGE,
                              most ? "--level is at most %d for this compression"
                                   : "--level needs an output with .gz or .zst",
                              most);
    how->level = (int)convert->level;
    how->frame = convert->index;
    if (how->frame &&
        (how->format != TH_FORMAT_TRACE_PORT || how->compression != TH_COMPRESSION_ZSTD))
        return th_error_raise(TH_USAGE, "--index needs an output in the format trace.zst");
    return TH_OK;
}

int th_cli_command_convert(int argc, char **argv)
{
    struct convert convert = {0};
    struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};

    th_control_session_options_init(&convert.sessions, false);
    th_cli_command_parse(&usage, argc, argv, &convert);
    th_cli_node_ask_only("convert", &convert.stream, &convert.in, 1, &convert.sessions);
    th_control_session_options_free(&convert.sessions);
    if (convert.stream.max_records.set && !is_another(convert.in, convert.out))
        return th_cli_command_fail("convert");
    if (find_format(&convert, &how) != TH_OK)
        return th_cli_command_fail("convert");
    th_cli_interrupt_install();
    return rewrite(
        (struct th_stream){.command = "convert", .name = convert.in, .options = &convert.stream},
        convert.out, how);
}

/* --- dump ------------------------------------------------------------------------------------- */

struct dump {
    struct th_stream_options stream;
    struct th_control_session_options sessions; /* for running nodes */
    enum { DUMP_TERM, DUMP_JSONL, DUMP_CSV, DUMP_TABLE, DUMP_JSONL_FLAT } format;
    const char *output; /* NULL: stdout */
    struct th_texts streams;
    struct th_flat_rows *rows; /* NULL: the format has terms */
};

static const struct th_argument dump_arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct dump, streams)),
    TH_OPTION(
        "format", "FORMAT", CHOICE, OUTPUT,
        "term (default): one Erlang term a line, as by io:format(\"~0p.~n\"); jsonl: one JSON "
        "object a line; csv, jsonl-flat, table: flat rows, for databases and for people",
        .words = TH_WORDS("term", "jsonl", "csv", "table", "jsonl-flat"),
        TH_INTO(struct dump, format)),
    TH_OPTION("output", "FILE", FILE, OUTPUT,
              "Write to FILE, which appears once the output is complete", .letter = 'o',
              TH_INTO(struct dump, output)),
    {0},
};

static const struct th_argument_set dump_sets[] = {
    {.items = dump_arguments},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct dump, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct dump, stream)},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct dump, sessions),
     .has = th_cli_node_is_of_session,
     .check = th_cli_node_check},
    {.items = th_cli_node_arguments, .offset = offsetof(struct dump, stream)},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage dump_usage = {
    .sets = dump_sets,
    .before =
        "Prints every record of recorded streams. Several are merged by time.\n" TH_STREAM_HELP,
    .after = TH_STREAM_MORE_HELP "\n\n" TH_NODE_HELP,
    .examples = "  tracehost dump samples/recordings/s13_procs.trace\n"
                "  tracehost dump --format=jsonl samples/recordings/s13_procs.trace",
};

/* Appends EVENT to TEXT. Errors: TH_MALFORMED if EVENT is no term. */
static enum th_status dump_event(const struct dump *dump, const struct th_stream *stream,
                                 struct th_event *event, th_env *env, struct th_buffer *text)
{
    th_term tuple;

    if (dump->rows)
        return th_replay_flat_add(dump->rows, th_replay_reader_info(stream->reader), event, env,
                                  text);
    if (event->source->whole(event, env, &tuple) != TH_OK)
        return TH_MALFORMED;
    th_text_show(text, tuple);
    th_buffer_add_text(text, ".\n");
    return TH_OK;
}

/* Writes all events of STREAM to OUT. */
static void dump_all(const struct dump *dump, struct th_stream *stream, struct th_output *out)
{
    enum th_status written = TH_OK;
    struct th_event event = {0};
    struct th_buffer text = {0};
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (dump->rows)
        th_replay_flat_head(dump->rows, &text);
    written = th_output_write(out, text.data, text.size);
    while (written == TH_OK && th_cli_stream_next(stream, &event)) {
        text.size = 0;
        if (dump_event(dump, stream, &event, &env, &text) == TH_OK) {
            written = th_output_write(out, text.data, text.size);
            th_cli_stream_check(stream, &event, &env);
            if (stream->options->node.wish)
                convert_tell(stream, &event, &env);
        } else {
            th_cli_stream_malformed(stream, &event);
        }
        th_env_clear(&env);
    }
    th_output_flush(out);
    th_env_release(&env);
    th_buffer_free(&text);
}

/* --- Durations of calls: flat rows are read twice --------------------------------------------- */

/* Returns whether the streams can be read twice: files, and one stream that a spool (spool.h) copies
 * meanwhile. A connection is not copied: the rows of a running node appear as events come. */
static bool can_read_twice(const struct th_texts *streams)
{
    size_t files, pipes = 0;

    for (size_t i = 0; i < streams->count; i++) {
        if (!th_replay_reader_reads_once(streams->items[i], &files))
            continue;
        if (th_replay_is_connection(streams->items[i]) || files > 1 || ++pipes > 1)
            return false;
    }
    return true;
}

/* Reads STREAM, which is not open, for the first time. The second time reports damage. Returns the
 * exit status. */
static int learn_durations(const struct dump *dump, struct th_stream *stream)
{
    const struct th_spool_limits all = {.kept = INT64_MAX, .ahead = TH_SPOOL_AHEAD};
    enum th_status status = TH_OK, learnt = TH_OK;
    struct th_event event = {0};
    th_env env;
    int opened;

    if (th_replay_spool_begin((const char *const *)dump->streams.items, dump->streams.count, 1,
                              NULL, &all) != TH_OK)
        return th_cli_command_fail(stream->command);
    th_replay_spool_enter(0);
    opened = th_cli_stream_open(stream);
    if (opened != TH_OK)
        return opened;
    th_env_init(&env, TH_ENV_PLAIN);
    while (status != TH_END && learnt == TH_OK &&
           !th_replay_reader_stops(stream->reader, &th_cli_interrupted)) {
        th_cli_stream_step(stream);
        status = th_replay_reader_next(stream->reader, &event);
        if (status == TH_OK)
            learnt = th_replay_flat_learn(dump->rows, &event, &env);
        else
            th_error_clear();
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_cli_progress_hide(&stream->progress);
    th_replay_reader_close(stream->reader);
    th_replay_spool_again(0);
    return learnt == TH_OK ? TH_OK : th_cli_command_fail(stream->command);
}

/* Tells which durations are not in the rows. */
static void tell_durations(struct th_stream *stream, struct th_flat_counts counts)
{
    const struct {
        uint64_t count;
        const char *what;
    } lines[] = {
        {counts.learns ? 0 : counts.calls,
         "calls without a duration, as the streams cannot be read twice"},
        {counts.of[TH_DURATION_OPEN], "calls without a duration, as no record shows their end"},
        {counts.of[TH_DURATION_UNSHOWN],
         "calls without a duration, as their end has no record of its own"},
        {counts.of[TH_DURATION_DOUBTFUL],
         "calls without a duration, as several calls may have ended"},
        {counts.of[TH_DURATION_UNTIMED],
         "calls without a duration, as there are no times to compare"},
        {counts.ends.unmatched, "ends whose calls were not recorded, or are forgotten"},
        {counts.ends.forgotten, "calls whose ends are not known, as too many were open"},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].count)
            th_cli_stream_say(stream, "%s: %llu", lines[i].what,
                              (unsigned long long)lines[i].count);
}

/* --- The command dump ------------------------------------------------------------------------- */

/* Prepares the rows of FORMAT. Returns the exit status. */
static int begin_rows(struct dump *dump, struct th_stream *stream)
{
    const enum th_flat_format format = dump->format == DUMP_CSV     ? TH_FLAT_CSV
                                       : dump->format == DUMP_TABLE ? TH_FLAT_TABLE
                                                                    : TH_FLAT_JSONL;
    bool twice = can_read_twice(&dump->streams);

    dump->rows = th_replay_flat_begin(format, twice);
    return twice ? learn_durations(dump, stream) : TH_OK;
}

int th_cli_command_dump(int argc, char **argv)
{
    static struct dump dump; /* its list of streams is used until the program ends */
    struct th_stream stream = {.command = "dump", .options = &dump.stream};
    struct th_output out;
    int status;

    th_control_session_options_init(&dump.sessions, false);
    th_cli_command_parse(&dump_usage, argc, argv, &dump);
    th_cli_node_ask_only("dump", &dump.stream, (const char *const *)dump.streams.items,
                         dump.streams.count, &dump.sessions);
    th_control_session_options_free(&dump.sessions);
    for (size_t i = 0; i < dump.streams.count; i++)
        if (!is_another(dump.streams.items[i], dump.output))
            return th_cli_command_fail("dump");
    th_cli_interrupt_install();
    th_cli_stream_take(&stream, &dump.streams);
    if (dump.format == DUMP_JSONL)
        return rewrite(stream, dump.output, (struct th_writer_options){.format = TH_FORMAT_JSONL});
    status = dump.format == DUMP_TERM ? TH_OK : begin_rows(&dump, &stream);
    if (status == TH_OK)
        status = th_cli_stream_open(&stream);
    if (status != TH_OK)
        return status;
    if (th_output_open(&out, dump.output) != TH_OK) {
        th_replay_reader_close(stream.reader);
        return th_cli_interrupt_status(th_cli_command_fail("dump"));
    }
    dump_all(&dump, &stream, &out);
    if (dump.rows)
        tell_durations(&stream, th_replay_flat_counts(dump.rows));
    th_replay_flat_end(dump.rows);
    status = th_cli_stream_close(&stream);
    th_replay_spool_end();
    if (th_cli_interrupt_came() && out.name && !stream.live) {
        fprintf(stderr, "tracehost dump: %s was not written: received %s\n", out.name,
                th_cli_interrupt_name());
        th_output_abandon(&out);
        return status;
    }
    return th_output_commit(&out) == TH_OK ? status : th_cli_command_fail("dump");
}
