/* tracehost check: tries a library with events of all kinds, and reports the rules that it breaks. */
#include "check_folder.h"
#include "check_lines.h"
#include "check_node.h"
#include "check_options.h"
#include "check_races.h"

#include "host/check/check.h"

#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/cli/subcommand.h"
#include "host/library/find.h"

#include <stddef.h>
#include <string.h>

static const struct th_argument arguments[] = {
    TH_WORD("LIBRARY", TRACER, 0, TH_INTO(struct th_check_options, library)),
    TH_WORD("FILE", FILE, TH_ARGUMENT_REPEATS, TH_INTO(struct th_check_options, recordings)),
    TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first for the library", .letter = 'L',
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct th_check_options, folders)),
    TH_OPTION("for", "T", TIME, LIMITS, "Try random events, or calls, for T (default: 5s)",
              TH_INTO(struct th_check_options, for_ns)),
    TH_OPTION("load-info", "TERM", TEXT, INPUT, "Argument of a NIF library's load() (default: 0)",
              TH_INTO(struct th_check_options, info)),
    TH_OPTION("seed", "N", NUMBER, INPUT, "Begin with the random events, or calls, of seed N",
              .most = INT64_MAX / 2, TH_INTO(struct th_check_options, seed)),
    TH_OPTION(
        "run", "HOW", TEXT, INPUT,
        "Play the FILEs alone, once: plain, threads=N, allocation=N or replace; state=TERM or "
        "twice for a tracer, kill=MS or rounds=N for a NIF library",
        TH_INTO(struct th_check_options, run)),
    TH_OPTION("output", "DIR", FOLDER, OUTPUT, "Write the smallest streams and calls into DIR",
              .letter = 'o', TH_INTO(struct th_check_options, output)),
    TH_OPTION("rules", NULL, FLAG, OTHER, "List the rules, with their sources",
              TH_INTO(struct th_check_options, rules)),
    {0},
};

static enum th_status check_words(void *input)
{
    const struct th_check_options *check = input;

    return check->library || check->rules ? TH_OK
                                          : th_error_raise(TH_USAGE, "a LIBRARY must be given");
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
    .before =
        "Tries a tracer with events of all kinds, or a NIF library with calls of all kinds, and "
        "reports the rules that it breaks.\n"
        "LIBRARY is NAME or ./PATH.so, a tracer with settings as for replay -t. FILEs are "
        "recordings for a tracer, and calls for a NIF library, an Erlang expression a line.",
    .after = "Each finding has the smallest stream or list of calls for it in a file, and a "
             "command that repeats it. "
             "The rules are those of tracehost-tracer(7).\n\n"
             "Exit status: 0 no finding, 1 findings, 5 the library was refused.",
    .words = "LIBRARY [FILE...]",
    .examples = "  tracehost check --for=1s text\n"
                "  tracehost check --for=1s count samples/recordings/s13_procs.trace\n"
                "  tracehost check --for=1s json",
};

/* Returns the path of the library; NULL: there is none. Owner: the caller frees the path. */
static char *find_library(const struct th_check_options *check)
{
    static const enum th_search_kind kinds[] = {TH_SEARCH_TRACERS, TH_SEARCH_PLUGINS};
    char *name = th_printf("%.*s", (int)strcspn(check->library, "=,"), check->library);
    char *path = NULL;
    struct th_search search;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !path; i++) {
        th_library_search_init(&search, kinds[i], check->folders.items, check->folders.count);
        if (th_library_search_find(&search, name, &path) != TH_OK)
            path = NULL;
        th_library_search_free(&search);
    }
    th_error_clear();
    th_free(name);
    return path;
}

static int check_library(const struct th_check_options *given)
{
    struct th_check_options check = *given;
    const struct th_check_call_results *results = NULL;
    struct th_check_node node = {0};
    struct th_check_folder folder;
    char *path = find_library(given);
    bool plugin;
    int status;

    check.path = path;
    check.node = &node;
    if (th_check_folder_make(&folder) != TH_OK) {
        th_free(path);
        return th_cli_command_fail("check");
    }
    check.folder = folder.path;
    th_check_lines_begin(folder.path);
    if (path)
        results = th_check_call_examine(
            &(struct th_check_call_setting){.path = path, .info = check.info});
    th_error_clear();
    if (results)
        th_check_node_note(&node, results);
    plugin = results && results->functions > 0 && !results->tracer;
    status = plugin ? th_check_plugin_run(&check) : th_check_tracer_run(&check);
    th_check_folder_remove(&folder);
    th_free(path);
    return status;
}

int th_cli_command_check(int argc, char **argv)
{
    struct th_check_options check = {.for_ns = 5000000000, .seed = -1};
    char **words = argv - 1; /* of the program: main() has them all */
    int status;

    th_cli_command_parse(&usage, argc, argv, &check);
    if (check.rules)
        print_rules();
    if (!check.rules && th_check_races_begin(check.library, &check.folders, words) != TH_OK)
        status = th_cli_command_fail("check");
    else
        status = check.rules ? th_cli_command_finish("check", TH_OK) : check_library(&check);
    th_free(check.recordings.items);
    th_free(check.folders.items);
    return status;
}
