/* tracehost convert: a stream in the other format. */
#include "interrupt.h"
#include "option_table.h"
#include "stream.h"

#include <string.h>

struct convert {
    struct th_stream_options stream;
    const char *to; /* NULL: the suffix of OUT tells */
    const char *in, *out;
};

enum { TO = TH_OPTION_OWN };

static const struct argp_option options[] = {
    {"to", TO, "FORMAT", 0,
     "jsonl or trace; without it the suffix of OUT tells: .jsonl, .json or "
     ".trace, .log, .dat",
     0},
    {0},
};

/* The suffixes may be given, too. */
static const struct th_choices choices[] = {
    {TO, "--to", TH_WORDS("jsonl", "trace"), TH_CHOICES_OTHERS}, {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct convert *convert = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &convert->stream;
        return 0;
    case TO:
        convert->to = value;
        return 0;
    case TH_KEY_ABOUT:
        ((struct th_about *)state->hook)->choices = choices;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "there are only IN and OUT");
        *(state->arg_num ? &convert->out : &convert->in) = value;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_error(state, "IN and OUT are wanted");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&th_stream_argp, 0, NULL, 0}, {&th_limit_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "IN OUT",
    "Converts a recorded stream between the trace-port format and JSON lines, losing nothing.\v"
    "Either may be - for stdin or stdout. The JSON is described in samples/README.md. IN may be "
    "tcp://HOST:PORT, what a running node sends to dbg:trace_port(ip, PORT): then it is recorded, "
    "until the node or a signal ends it.\n\n"
    "Examples:\n"
    "  tracehost convert calls.trace calls.jsonl\n"
    "  tracehost convert tcp://localhost:4711 calls.trace\n"
    "  tracehost convert --to=trace calls.jsonl - | tracehost info -",
    children,
    NULL,
    NULL,
};

static const struct {
    const char *name;
    enum th_format format;
} formats[] = {
    {"jsonl", TH_FORMAT_JSONL},    {"json", TH_FORMAT_JSONL},     {"trace", TH_FORMAT_TRACE_PORT},
    {"log", TH_FORMAT_TRACE_PORT}, {"dat", TH_FORMAT_TRACE_PORT},
};

static bool find_format(const struct convert *convert, enum th_format *format)
{
    const char *dot = strrchr(convert->out, '.');
    const char *name = convert->to ? convert->to : dot ? dot + 1 : "";

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *format = formats[i].format;
            return true;
        }
    return false;
}

int th_command_convert(int argc, char **argv)
{
    struct convert convert = {0};
    enum th_format format;

    th_command_parse(&argp, argc, argv, &convert);
    if (!find_format(&convert, &format)) {
        if (convert.to)
            th_error_raise(TH_USAGE, "there is no format '%s': it is jsonl or trace", convert.to);
        else
            th_error_raise(TH_USAGE,
                           "the name '%s' does not tell a format: give --to=jsonl or "
                           "--to=trace",
                           convert.out);
        return th_command_fail("convert");
    }
    th_interrupt_install();
    return th_rewrite("convert", convert.in, &convert.stream, convert.out, format);
}
