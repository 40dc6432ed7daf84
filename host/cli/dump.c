/* tracehost dump: every record as text. */
#include "interrupt.h"
#include "stream.h"

#include <string.h>

struct dump {
    struct th_stream_options stream;
    bool jsonl;
    const char *output; /* NULL: stdout */
    const char *name;
};

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct dump, name)),
    TH_OPTION("format", "FORMAT", CHOICE, 0,
              "term (the default): one Erlang term a line, as io:format(\"~0p.~n\") writes it, or, "
              "with --encoding=unicode, \"~0tp.~n\"; jsonl: one JSON object a line",
              .words = TH_WORDS("term", "jsonl"), TH_INTO(struct dump, jsonl)),
    TH_OPTION("output", "FILE", FILE, 0, "Write to FILE, which appears when it is complete",
              .letter = 'o', TH_INTO(struct dump, output)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct dump, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct dump, stream)},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Prints every record of a recorded stream.",
    .after = "STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL, JSON "
             "lines, - for stdin, or tcp://HOST:PORT for what a running node sends to "
             "dbg:trace_port(ip, PORT).\n\n"
             "Examples:\n"
             "  tracehost dump calls.trace\n"
             "  tracehost dump --format=jsonl --max-events=3 calls.trace",
};

static int print_terms(const struct dump *dump)
{
    struct th_stream stream = {.command = "dump", .name = dump->name, .options = &dump->stream};
    enum th_status written = TH_OK;
    struct th_event event = {0};
    struct th_buffer text = {0};
    struct th_output out;
    th_term tuple;
    th_env env;
    int status = th_cli_stream_open(&stream);

    if (status != TH_OK)
        return status;
    if (th_output_open(&out, dump->output) != TH_OK) {
        th_replay_reader_close(stream.reader);
        return th_cli_interrupt_status(th_cli_command_fail("dump"));
    }

    th_env_init(&env, TH_ENV_PLAIN);
    while (written == TH_OK && th_cli_stream_next(&stream, &event)) {
        if (event.source->whole(&event, &env, &tuple) == TH_OK) {
            th_text_show(&text, tuple);
            th_buffer_add_text(&text, ".\n");
            written = th_output_write(&out, text.data, text.size);
            text.size = 0;
            th_cli_stream_check(&stream, &event, &env);
        } else {
            th_cli_stream_malformed(&stream, &event);
        }
        th_env_clear(&env);
    }
    th_output_flush(&out);
    th_env_release(&env);
    th_buffer_free(&text);

    status = th_cli_stream_close(&stream);
    if (th_cli_interrupt_came() && out.name && !stream.live) {
        fprintf(stderr, "tracehost dump: %s was not written\n", out.name);
        th_output_abandon(&out);
        return status;
    }
    return th_output_commit(&out) == TH_OK ? status : th_cli_command_fail("dump");
}

int th_cli_command_dump(int argc, char **argv)
{
    struct dump dump = {0};

    th_cli_command_parse(&usage, argc, argv, &dump);
    th_cli_interrupt_install();
    if (dump.jsonl)
        return th_cli_rewrite("dump", dump.name, &dump.stream, dump.output, TH_FORMAT_JSONL);
    return print_terms(&dump);
}
