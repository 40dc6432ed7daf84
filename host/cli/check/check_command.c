/* tracehost check: tries a library with events of all kinds, and reports the rules that it breaks. */
#include "check_races.h"
#include "check_tracer.h"

#include "host/check/check.h"

#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/cli/subcommand.h"

#include <stddef.h>

static const struct th_argument arguments[] = {
    TH_WORD("TRACER", TRACER, 0, TH_INTO(struct th_check_tracer, tracer)),
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
    TH_OPTION("rules", NULL, FLAG, OTHER, "List the rules, with their sources",
              TH_INTO(struct th_check_tracer, rules)),
    {0},
};

static enum th_status check_words(void *input)
{
    const struct th_check_tracer *check = input;

    return check->tracer || check->rules ? TH_OK
                                         : th_error_raise(TH_USAGE, "a TRACER must be given");
}

static void print_rules(void)
{
    for (int i = 0; i < TH_RULES; i++) {
        const struct th_check_rule_text *rule = &th_check_rules[i];
        printf("%-9s %s\n          %s\n", rule->name, rule->rule, rule->source);
    }
}

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = check_words},
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
    .words = "TRACER [RECORDING...]",
    .examples = "  tracehost check --for=1s text\n"
                "  tracehost check --for=1s count samples/recordings/s13_procs.trace",
};

int th_cli_command_check(int argc, char **argv)
{
    struct th_check_tracer check = {.for_ns = 5000000000, .seed = -1};
    char **words = argv - 1; /* of the program: main() has them all */
    int status;

    th_cli_command_parse(&usage, argc, argv, &check);
    if (check.rules)
        print_rules();
    if (!check.rules && th_check_races_begin(check.tracer, &check.folders, words) != TH_OK)
        status = th_cli_command_fail("check");
    else
        status = check.rules ? th_cli_command_finish("check", TH_OK) : th_check_tracer_run(&check);
    th_free(check.recordings.items);
    th_free(check.folders.items);
    return status;
}
