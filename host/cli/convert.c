/* tracehost convert: a stream in the other format. */
#include "interrupt.h"
#include "stream.h"

#include <string.h>

struct convert {
    struct th_stream_options stream;
    const char *to; /* NULL: the suffix of OUT tells */
    const char *in, *out;
};

/* The suffixes may be given to --to, too. */
static const struct th_argument arguments[] = {
    TH_WORD("IN", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct convert, in)),
    TH_WORD("OUT", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct convert, out)),
    TH_OPTION(
        "to", "FORMAT", TEXT, 0,
        "jsonl or trace; without it the suffix of OUT tells: .jsonl, .json or .trace, .log, .dat",
        .how = TH_ARGUMENT_OTHERS, .words = TH_WORDS("jsonl", "trace"),
        TH_INTO(struct convert, to)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct convert, stream)},
    {.items = th_cli_limit_arguments, .offset = offsetof(struct convert, stream)},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before =
        "Converts a recorded stream between the trace-port format and JSON lines, losing nothing.",
    .after = "Either may be - for stdin or stdout. The JSON is described in samples/README.md. IN "
             "may be tcp://HOST:PORT, what a running node sends to dbg:trace_port(ip, PORT): then "
             "it is recorded, until the node or a signal ends it.\n\n"
             "Examples:\n"
             "  tracehost convert calls.trace calls.jsonl\n"
             "  tracehost convert tcp://localhost:4711 calls.trace\n"
             "  tracehost convert --to=trace calls.jsonl - | tracehost info -",
};

static const struct {
    const char *name;
    enum th_format format;
} formats[] = {
    {"jsonl", TH_FORMAT_JSONL},    {"json", TH_FORMAT_JSONL},     {"trace", TH_FORMAT_TRACE_PORT},
    {"log", TH_FORMAT_TRACE_PORT}, {"dat", TH_FORMAT_TRACE_PORT},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

int th_cli_command_convert(int argc, char **argv)
{
    struct convert convert = {0};
    const char *name, *dot;
    size_t i = 0;

    th_cli_command_parse(&usage, argc, argv, &convert);
    dot = strrchr(convert.out, '.');
    name = convert.to ? convert.to : dot ? dot + 1 : "";
    while (i < FORMATS && strcmp(formats[i].name, name) != 0)
        i++;
    if (i == FORMATS) {
        if (convert.to)
            th_error_raise(TH_USAGE, "there is no format '%s': it is jsonl or trace", convert.to);
        else
            th_error_raise(TH_USAGE,
                           "the name '%s' does not tell a format: give --to=jsonl or --to=trace",
                           convert.out);
        return th_cli_command_fail("convert");
    }
    th_cli_interrupt_install();
    return th_cli_rewrite("convert", convert.in, &convert.stream, convert.out, formats[i].format);
}
