#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/crash/crash.h"
#include "host/library/name_list.h"
#include "host/term/text.h"
#include "host/trace/callback.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char th_cli_version[] = "tracehost " TH_VERSION " (NIF API 2.18)";

static int (*asked)(const struct th_usage *usage);
static int stdout_error; /* errno of the first failed flush; main thread only */

/* The command line that argp parses; argp may end the program. Main thread only. */
static struct {
    const char *command; /* NULL: no parsing in progress */
    const struct th_usage *usage;
    const struct argp *argp;
    void *input;
    struct th_argument_rows rows;
    int count;
    char **words;
    size_t positional; /* number of positional words so far */
} parsing;

/* The words that were taken. Main thread only. */
static struct {
    struct th_cli_word *items;
    size_t count, capacity;
} taken;

const char th_cli_exit_statuses[] =
    "0 done, 1 failed, 2 wrong usage, 3 input unreadable, 4 input partial or events lost, 5 a "
    "library was refused, 6 it crashed or hung, 128+n ended by signal n";

/* --- Unknown options -------------------------------------------------------------------------- */

/* Suggests an option when the program ends with STATUS because argp found an unknown one. An
 * abbreviation that fits exactly one option is valid; getopt has reported ambiguous ones. */
static void suggest_option(int status, void *unused)
{
    struct th_names names = {0};

    (void)unused;
    if (!parsing.command || status != TH_USAGE)
        return;
    for (size_t i = 0; i < parsing.rows.count; i++)
        if (parsing.rows.items[i].argument->name)
            th_library_names_add(&names, parsing.rows.items[i].argument->name);
    for (int i = 1; i < parsing.count && strcmp(parsing.words[i], "--") != 0; i++) {
        char *word = th_printf("%s", parsing.words[i]);
        bool known = strncmp(word, "--", 2) != 0;
        const char *nearest = NULL;
        word[strcspn(word, "=")] = 0;
        for (size_t k = 0; k < names.count && !known; k++)
            known = strncmp(names.items[k], word + 2, strlen(word + 2)) == 0;
        if (!known)
            nearest =
                th_library_suggest_nearest(word + 2, (const char *const *)names.items, names.count);
        th_free(word);
        if (nearest) {
            fprintf(stderr, "tracehost %s: did you mean '--%s'?\n", parsing.command, nearest);
            break;
        }
    }
    th_library_names_free(&names);
}

/* After help, the program ends with 0, even if the output failed. */
static void check_help(void)
{
    if (parsing.command && th_cli_command_finish(parsing.command, TH_OK) != TH_OK)
        _exit(TH_FAILED);
}

/* --- Options of every command ----------------------------------------------------------------- */

static enum th_status take_help(const struct th_argument *argument, const char *value, void *input)
{
    int64_t which;
    char *help;

    (void)input;
    if (value && th_control_argument_number(argument, value, &which) != TH_OK)
        return TH_USAGE;
    help = th_options_usage_help(parsing.usage, parsing.command, value != NULL);
    fputs(help, stdout);
    th_free(help);
    exit(TH_OK);
}

static enum th_status take_usage(const struct th_argument *argument, const char *value, void *input)
{
    (void)argument, (void)value, (void)input;
    argp_help(parsing.argp, stdout, ARGP_HELP_USAGE, parsing.words[0]);
    exit(TH_OK);
}

static enum th_status take_version(const struct th_argument *argument, const char *value,
                                   void *input)
{
    (void)argument, (void)value, (void)input;
    puts(th_cli_version);
    exit(TH_OK);
}

const struct th_argument th_cli_help_arguments[] = {
    TH_OPTION("help", "all", CHOICE, OTHER, "Show this help; all: with all options", .letter = '?',
              .how = TH_ARGUMENT_OPTIONAL, .words = TH_WORDS("all"), .take = take_help),
    TH_OPTION("usage", NULL, FLAG, OTHER, "Show the options in short form", .how = TH_ARGUMENT_RARE,
              .take = take_usage),
    TH_OPTION("version", NULL, FLAG, OTHER, "Show the version of tracehost and of the NIF API",
              .letter = 'V', .how = TH_ARGUMENT_RARE, .take = take_version),
    {0},
};

/* --- Parsing --- */

enum { ROW_KEY = 0x1000 }; /* argp's key of an option without a letter: ROW_KEY + its row */

/* Ends the program with argp_error() if STATUS is not TH_OK. */
static error_t subcommand_check(enum th_status status, struct argp_state *state)
{
    if (status != TH_OK)
        argp_error(state, "%s", th_error_link(0));
    return 0;
}

static error_t subcommand_take(const struct th_argument_row *row, const char *value,
                               struct argp_state *state)
{
    TH_ARRAY_GROW(taken.items, taken.count, taken.capacity);
    taken.items[taken.count++] = (struct th_cli_word){row->argument, value};
    return subcommand_check(
        th_control_argument_store(row->argument, value, (char *)parsing.input + row->offset),
        state);
}

static error_t subcommand_take_word(const char *value, struct argp_state *state)
{
    const struct th_argument_row *row =
        th_options_usage_positional(&parsing.rows, parsing.positional++);
    char *words;

    if (!row && parsing.positional == 2) {
        row = th_options_usage_positional(&parsing.rows, 0);
        argp_error(state, "unexpected argument '%s': only one %s can be given", value,
                   row->argument->value);
    } else if (!row) {
        words = th_options_usage_words(parsing.usage);
        argp_error(state, "unexpected argument '%s': only %.*s and %s can be given", value,
                   (int)strcspn(words, " "), words, words + strcspn(words, " ") + 1);
        th_free(words);
    } else {
        subcommand_take(row, value, state);
        while (row->argument->type == TH_ARGUMENT_REST && state->next < state->argc)
            subcommand_take(row, state->argv[state->next++], state);
    }
    return 0;
}

/* Reports missing words, and runs the checks of all sets. */
static error_t subcommand_end(struct argp_state *state)
{
    const struct th_argument_row *row =
        th_options_usage_positional(&parsing.rows, parsing.positional);
    const struct th_argument_row *other = th_options_usage_positional(&parsing.rows, 1);
    bool taken = row && row->argument->how & TH_ARGUMENT_REPEATS && parsing.positional > 0;
    const struct th_argument_row *first = th_options_usage_positional(&parsing.rows, 0);

    if (row && !taken && row->argument->how & TH_ARGUMENT_NEEDED) {
        if (other && other != first && other->argument->how & TH_ARGUMENT_NEEDED)
            argp_error(state, "arguments %s and %s are needed", first->argument->value,
                       other->argument->value);
        argp_error(state, "argument %s is missing", row->argument->value);
    }
    for (const struct th_argument_set *set = parsing.usage->sets; set->items; set++)
        if (set->check)
            subcommand_check(set->check((char *)parsing.input + set->offset), state);
    return 0;
}

static error_t parse_key(int key, char *value, struct argp_state *state)
{
    const struct th_argument_row *row;

    switch (key) {
    case 'h': /* no command uses -h for anything else */
        return subcommand_check(take_help(NULL, NULL, NULL), state);
    case ARGP_KEY_ARG:
        return subcommand_take_word(value, state);
    case ARGP_KEY_END:
        return subcommand_end(state);
    default:
        row = key >= ROW_KEY && (size_t)(key - ROW_KEY) < parsing.rows.count
                  ? &parsing.rows.items[key - ROW_KEY]
                  : th_options_usage_lettered(&parsing.rows, key > 32 && key < 127 ? (char)key : 0);
        return row ? subcommand_take(row, value, state) : ARGP_ERR_UNKNOWN;
    }
}

/* Makes argp's table. Owner: the caller frees the table. */
static struct argp_option *make_options(bool *in_order)
{
    const struct th_argument_rows *rows = &parsing.rows;
    struct argp_option *options = th_alloc_zero((rows->count + 2) * sizeof *options);
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct th_argument *a = rows->items[i].argument;
        *in_order |= a->type == TH_ARGUMENT_REST;
        if (th_control_argument_is_option(a))
            options[count++] = (struct argp_option){
                .name = a->name,
                .key = a->letter ? a->letter : ROW_KEY + (int)i,
                .arg = a->value,
                .flags = a->how & TH_ARGUMENT_OPTIONAL ? OPTION_ARG_OPTIONAL : 0,
            };
    }
    options[count] = (struct argp_option){.key = 'h', .flags = OPTION_HIDDEN};
    return options;
}

/* argp ends the program after an error, or after it has printed help. */
void th_cli_command_parse(const struct th_usage *usage, int argc, char **argv, void *input)
{
    char *name = th_printf("tracehost %s", argv[0]), *command = argv[0];
    char *words = th_options_usage_words(usage);
    struct argp_option *options;
    struct argp argp = {.parser = parse_key};
    bool in_order = false;
    error_t error;

    if (asked)
        exit(asked(usage));
    parsing.command = command;
    parsing.usage = usage;
    parsing.input = input;
    parsing.rows = th_options_usage_rows(usage);
    parsing.count = argc;
    parsing.words = argv;
    taken.count = 0;
    argv[0] = name;
    argp.options = options = make_options(&in_order);
    argp.args_doc = words;
    parsing.argp = &argp;

    argp_err_exit_status = TH_USAGE;
    program_invocation_name = program_invocation_short_name = name;
    atexit(check_help);
    on_exit(suggest_option, NULL);
    error =
        argp_parse(&argp, argc, argv, (in_order ? ARGP_IN_ORDER : 0) | ARGP_NO_HELP, NULL, input);
    if (error)
        th_give_up("cannot read the arguments: %s", strerror(error));
    program_invocation_name = program_invocation_short_name = "tracehost";

    argv[0] = command;
    parsing.command = NULL;
    th_free(options);
    th_free(words);
    th_free(parsing.rows.items);
    th_warn_as(name); /* stays allocated until the program ends */
}

const struct th_cli_word *th_cli_command_words(size_t *count)
{
    *count = taken.count;
    return taken.items;
}

void th_cli_command_ask(int (*tell)(const struct th_usage *usage))
{
    asked = tell;
}

void th_cli_print_word(FILE *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+./,:=@%";

    if (*word && word[strspn(word, safe)] == 0) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
    fputc('\'', out);
}

void th_cli_command_flush(void)
{
    if (fflush(stdout) != 0 && !stdout_error)
        stdout_error = errno;
}

enum th_status th_cli_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    int error = pthread_create(thread, NULL, run, context);

    return error ? th_error_raise(TH_FAILED, "cannot start a thread: %s", strerror(error)) : TH_OK;
}

void th_cli_command_print_json(json_t *json, size_t flags)
{
    json_dumpf(json, stdout, flags);
    putchar('\n');
    json_decref(json);
}

int th_cli_command_fail(const char *command)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, "tracehost %s", command);
    th_cli_command_flush();
    th_error_print(stderr, prefix);
    return th_error_status();
}

/* The failure of a tracer was reported when it happened. It outranks a stream that was read in
 * part. */
int th_cli_command_finish(const char *command, int status)
{
    if (th_trace_failures() > 0 && (status == TH_OK || status == TH_PARTIAL))
        status = TH_FAILED;
    th_cli_command_flush();
    if (stdout_error)
        th_error_raise(TH_FAILED, "cannot write to stdout: %s", strerror(stdout_error));
    else if (ferror(stdout)) /* an earlier write failed; its reason is not known here */
        th_error_raise(TH_FAILED, "cannot write to stdout: an earlier write failed");
    else
        return status;
    return th_cli_command_fail(command);
}

/* --- The supervisor --------------------------------------------------------------------------- */

static bool unsupervised; /* --supervisor=no */

static enum th_status take_supervisor(const struct th_argument *argument, const char *value,
                                      void *input)
{
    int64_t which = 0;
    enum th_status status = th_control_argument_number(argument, value, &which);

    (void)input;
    unsupervised = which != 0;
    return status;
}

const struct th_argument th_cli_supervisor_arguments[] = {
    TH_OPTION(
        "supervisor", "WHEN", CHOICE, OTHER,
        "Run libraries in a process of their own, whose death is reported: yes (default) or no",
        .how = TH_ARGUMENT_RARE, .words = TH_WORDS("yes", "no"), .take = take_supervisor),
    {0},
};

/* Returns the name of COMMAND for messages of the supervisor. */
static const char *supervised_name(const char *command)
{
    static char name[64];

    snprintf(name, sizeof name, "tracehost %s", command);
    return name;
}

void th_cli_command_supervise(const char *command, const char *advice)
{
    if (!unsupervised)
        th_crash_supervise(supervised_name(command), advice);
}

size_t th_cli_command_supervise_several(const char *command, size_t count,
                                        const struct th_crash_policy *policy)
{
    if (unsupervised) {
        th_error_raise(TH_USAGE, "--isolate and --on-crash=continue need the supervisor: leave out "
                                 "--supervisor=no");
        exit(th_cli_command_fail(command));
    }
    return th_crash_supervise_several(supervised_name(command), count, policy);
}

/* --- Encoding and names of text for people ---------------------------------------------------- */

static enum th_status take_encoding(const struct th_argument *argument, const char *value,
                                    void *input)
{
    static const enum th_text_encoding encodings[] = {TH_TEXT_LATIN1, TH_TEXT_UNICODE};
    int64_t number;
    enum th_status status = th_control_argument_number(argument, value, &number);

    (void)input;
    if (status == TH_OK)
        th_text_show_in(encodings[number]);
    return status;
}

static enum th_status take_language(const struct th_argument *argument, const char *value,
                                    void *input)
{
    int64_t number;
    enum th_status status = th_control_argument_number(argument, value, &number);

    (void)input;
    if (status == TH_OK)
        th_text_show_names(number == 0 ? TH_TEXT_ERLANG : TH_TEXT_ELIXIR);
    return status;
}

const struct th_argument th_cli_encoding_arguments[] = {
    TH_OPTION("encoding", "ENCODING", CHOICE, OUTPUT,
              "Characters of atoms, strings and binaries that are printed unescaped, as with `erl "
              "+pc`: latin1 or unicode (default: unicode if the locale is UTF-8)",
              .how = TH_ARGUMENT_RARE, .words = TH_WORDS("latin1", "unicode"),
              .take = take_encoding),
    TH_OPTION("names", "LANGUAGE", CHOICE, OUTPUT,
              "Names of functions and modules: erlang (default), 'Elixir.Enum':sort/1, or elixir, "
              "Enum.sort/1",
              .how = TH_ARGUMENT_RARE, .words = TH_WORDS("erlang", "elixir"),
              .take = take_language),
    {0},
};
