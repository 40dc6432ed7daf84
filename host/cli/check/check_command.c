/* tracehost check: tries a library with events of all kinds, and reports the rules that it breaks. */
#include "check_tracer.h"

#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/cli/subcommand.h"

#include <stddef.h>

static const struct th_argument arguments[] = {
    TH_WORD("TRACER", TRACER, TH_ARGUMENT_NEEDED, TH_INTO(struct th_check_tracer, tracer)),
    TH_WORD("RECORDING", FILE, TH_ARGUMENT_REPEATS, TH_INTO(struct th_check_tracer, recordings)),
    TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first for the tracer", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct th_check_tracer, folders)),
    TH_OPTION("for", "T", TIME, LIMITS, "Try random events for T (default: 5s)",
              TH_INTO(struct th_check_tracer, for_ns)),
    TH_OPTION("seed", "N", NUMBER, INPUT, "Begin with the random events of seed N",
              .most = INT64_MAX / 2, TH_INTO(struct th_check_tracer, seed)),
    TH_OPTION(
        "run", "HOW", TEXT, INPUT,
        "Play the RECORDINGs alone, once: plain, state=TERM, threads=N, allocation=N, replace "
        "or twice",
        TH_INTO(struct th_check_tracer, run)),
    TH_OPTION("output", "DIR", FOLDER, OUTPUT, "Write the smallest streams into DIR", .letter = 'o',
              TH_INTO(struct th_check_tracer, output)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Tries a tracer with events of all kinds, and reports the rules that it breaks.\n"
              "TRACER is NAME or ./PATH.so, with settings as for replay -t; RECORDINGs give more "
              "events.",
    .after =
        "Each finding has the smallest stream for it in a file, and a command that repeats it. "
        "The rules are those of tracehost-tracer(7).\n\n"
        "Exit status: 0 no finding, 1 findings, 5 the tracer was refused.",
    .examples = "  tracehost check ./mine.so\n"
                "  tracehost check --for=60s ./mine.so,level=2 node.trace",
};

int th_cli_command_check(int argc, char **argv)
{
    struct th_check_tracer check = {.for_ns = 5000000000, .seed = -1};
    int status;

    th_cli_command_parse(&usage, argc, argv, &check);
    status = th_check_tracer_run(&check);
    th_free(check.recordings.items);
    th_free(check.folders.items);
    return status;
}
