/* tracehost convert, tracehost dump: write a stream again, in the same format or another, or as
 * text. */
#include "interrupt.h"
#include "rewrite.h"
#include "stream.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/cli/options/usage.h"
#include "host/replay/flat_rows.h"
#include "host/replay/log/log_stream.h"
#include "host/replay/reader.h"
#include "host/replay/spool.h"
#include "host/replay/writer.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/event.h"
#include "host/trace/note.h"

#include <string.h>

/* --- convert ---------------------------------------------------------------------------------- */

struct convert {
    struct th_stream_options stream;
    struct th_control_session_options sessions; /* for running nodes */
    struct th_rewrite_options output;
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
              TH_INTO(struct convert, output.to)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_rewrite_arguments, .offset = offsetof(struct convert, output)},
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
              "IN and OUT are files, - for stdin and stdout, or nats://HOST/NAME, a log. IN may be "
              "node:NAME@HOST, a running node, or tcp://HOST:PORT, its trace port.",
    .after = "Nothing is lost by the conversion; tracehost-jsonl(5) describes the JSON. A running "
             "node is recorded until --for, a signal or the node ends it. node:NAME@HOST records "
             "what -p and --flags ask for; tcp://HOST:PORT is the port of dbg:trace_port(ip, PORT) "
             "in the node.",
    .examples = "  tracehost convert samples/recordings/s13_procs.trace procs.jsonl\n"
                "  tracehost convert --to=jsonl samples/recordings/s13_procs.trace - | head",
};

/* Checks that a log (LOG is not NULL) is written without the options of a format. Errors: TH_USAGE. */
static enum th_status check_log(const struct th_rewrite_options *output,
                                const struct th_log_options *log)
{
    if (log && (output->to || output->level || output->index))
        return th_error_raise(TH_USAGE, "--to, --level and --index are for files: a log has one "
                                        "format");
    return TH_OK;
}

int th_cli_command_convert(int argc, char **argv)
{
    struct convert convert = {0};
    struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_log_options log = {0};

    th_control_session_options_init(&convert.sessions, false);
    th_cli_command_parse(&usage, argc, argv, &convert);
    th_cli_node_ask_only("convert", &convert.stream, &convert.in, 1, &convert.sessions);
    th_control_session_options_free(&convert.sessions);
    if (convert.stream.max_records.set && !th_cli_rewrite_is_another(convert.in, convert.out))
        return th_cli_command_fail("convert");
    if (th_replay_log_is_name(convert.out))
        how.log = &log;
    if (check_log(&convert.output, how.log) != TH_OK ||
        (!how.log && th_cli_rewrite_format(&convert.output, convert.out, &how) != TH_OK))
        return th_cli_command_fail("convert");
    th_cli_interrupt_install();
    return th_cli_rewrite(
        (struct th_stream){.command = "convert", .name = convert.in, .options = &convert.stream},
        convert.out, how, NULL);
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
                th_cli_rewrite_tell(stream, &event, &env);
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
        if (status != TH_OK)
            th_error_clear();
        if (status == TH_PARTIAL)
            event.kind = TH_EVENT_DROP; /* a call that is open here may end in what is lost */
        if (status == TH_OK || status == TH_PARTIAL)
            learnt = th_replay_flat_learn(dump->rows, &event, &env);
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
        if (!th_cli_rewrite_is_another(dump.streams.items[i], dump.output))
            return th_cli_command_fail("dump");
    th_cli_interrupt_install();
    th_cli_stream_take(&stream, &dump.streams);
    if (dump.format == DUMP_JSONL)
        return th_cli_rewrite(stream, dump.output,
                              (struct th_writer_options){.format = TH_FORMAT_JSONL}, NULL);
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
