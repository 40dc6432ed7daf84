#include "command.h"

#include "host/library/library.h"
#include "host/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "tracehost 0.1.0 (NIF API 2.18)" */
static const char version[] = "tracehost " TH_VERSION " (NIF API 2.18)";

static int (*asked)(const struct argp *argp, void *input, bool in_order);
static const char *parsing; /* the command whose options argp reads, which may end the program */
static const struct argp *parsed;
static int parsed_count;
static char **parsed_words;
static int stdout_error; /* errno of the first flush that failed; of the main thread */

const char *th_command_version(void)
{
    return version;
}

const char th_exit_statuses[] =
    "0 done, 1 failed, 2 wrong usage, 3 input unreadable, 4 input partial or events lost, 5 a "
    "library was refused, 6 it crashed or hung, 128+n ended by signal n";

/* --- Options that there are not --- */

struct option_names {
    const char **items;
    size_t count, capacity;
};

static void add_names(struct option_names *names, const struct argp *argp)
{
    const struct argp_option *o = argp->options;
    const struct argp_child *child = argp->children;

    for (; o && (o->name || o->key || o->doc || o->group); o++)
        if (o->name && !(o->flags & (OPTION_DOC | OPTION_HIDDEN))) {
            TH_ARRAY_GROW(names->items, names->count, names->capacity);
            names->items[names->count++] = o->name;
        }
    for (; child && child->argp; child++)
        add_names(names, child->argp);
}

/* An option may be cut short, as long as it is one alone: getopt has told of others. */
static bool is_option(const struct option_names *names, const char *word)
{
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->items[i], word, strlen(word)) == 0)
            return true;
    return false;
}

/* The program ends with STATUS, perhaps because argp has met an option that it does not know. */
static void suggest_option(int status, void *unused)
{
    struct option_names names = {0};

    (void)unused;
    if (!parsing || status != TH_USAGE)
        return;
    add_names(&names, parsed);
    for (int i = 1; i < parsed_count && strcmp(parsed_words[i], "--") != 0; i++) {
        char *word = th_printf("%s", parsed_words[i]);
        const char *nearest;
        word[strcspn(word, "=")] = 0;
        nearest = strncmp(word, "--", 2) == 0 && !is_option(&names, word + 2)
                      ? th_spelling_nearest(word + 2, names.items, names.count)
                      : NULL;
        th_free(word);
        if (nearest) {
            fprintf(stderr, "tracehost %s: did you mean '--%s'?\n", parsing, nearest);
            break;
        }
    }
    th_free(names.items);
}

/* argp ends the program with 0 when it has printed help, whatever became of that. */
static void check_help(void)
{
    if (parsing && th_command_finish(parsing, TH_OK) != TH_OK)
        _exit(TH_FAILED);
}

/* --- -h --- */

static error_t take_short_help(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != 'h')
        return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

/* The children of ARGP, and one that takes -h, which no command has for anything else. */
static struct argp_child *add_short_help(const struct argp *argp)
{
    static const struct argp_option options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
    static const struct argp short_help = {options, take_short_help, NULL, NULL, NULL, NULL, NULL};
    size_t count = 0;
    struct argp_child *children;

    while (argp->children && argp->children[count].argp)
        count++;
    children = th_alloc_zero((count + 2) * sizeof *children);
    for (size_t i = 0; i < count; i++)
        children[i] = argp->children[i];
    children[count].argp = &short_help;
    return children;
}

static void parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *input)
{
    char *name = th_printf("tracehost %s", argv[0]);
    char *command = argv[0];
    struct argp with_help = *argp;
    struct argp_child *children;
    error_t error;

    if (asked)
        exit(asked(argp, input, flags & ARGP_IN_ORDER));
    children = add_short_help(argp);
    with_help.children = children;
    argp_err_exit_status = TH_USAGE;
    argp_program_version = version; /* libc's own variable: ours would be hidden from it */
    setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    argv[0] = name;
    program_invocation_name = program_invocation_short_name = name;
    parsing = command;
    parsed = argp;
    parsed_count = argc;
    parsed_words = argv;
    atexit(check_help);
    on_exit(suggest_option, NULL);
    error = argp_parse(&with_help, argc, argv, flags, NULL, input);
    if (error)
        th_give_up("cannot read the arguments: %s", strerror(error));
    th_free(children);
    parsing = NULL;
    argv[0] = command;
    program_invocation_name = program_invocation_short_name = "tracehost";
    th_warn_as(name); /* to the end: nobody frees it */
}

void th_command_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    parse(argp, 0, argc, argv, input);
}

void th_command_parse_in_order(const struct argp *argp, int argc, char **argv, void *input)
{
    parse(argp, ARGP_IN_ORDER, argc, argv, input);
}

void th_command_ask(int (*tell)(const struct argp *argp, void *input, bool in_order))
{
    asked = tell;
}

void th_command_flush(void)
{
    if (fflush(stdout) != 0 && !stdout_error)
        stdout_error = errno;
}

int th_command_fail(const char *command)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, "tracehost %s", command);
    th_command_flush();
    th_error_print(stderr, prefix);
    return th_error_status();
}

/* A failure of a tracer was shown when it came. It is worse than a stream that was read in part. */
int th_command_finish(const char *command, int status)
{
    if (th_failures() > 0 && (status == TH_OK || status == TH_PARTIAL))
        status = TH_FAILED;
    th_command_flush();
    if (stdout_error)
        th_error_raise(TH_FAILED, "cannot write to stdout: %s", strerror(stdout_error));
    else if (ferror(stdout)) /* it failed in between, and whoever wrote knew why */
        th_error_raise(TH_FAILED, "cannot write all to stdout");
    else
        return status;
    return th_command_fail(command);
}

error_t th_option_check(enum th_status status, struct argp_state *state)
{
    if (status != TH_OK)
        argp_error(state, "%s", th_error_link(0));
    return 0;
}

uint64_t th_option_count(const char *text, struct argp_state *state, const char *option)
{
    char *end;
    uint64_t count;

    errno = 0;
    count = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-')
        argp_error(state, "%s wants a number, not '%s'", option, text);
    return count;
}

size_t th_option_bytes(const char *text, struct argp_state *state, const char *option)
{
    static const char letters[] = "KMG";
    const char *letter;
    char *end;
    uint64_t count;
    unsigned shift = 0;

    errno = 0;
    count = strtoull(text, &end, 10);
    if (!errno && end > text && *end && (letter = strchr(letters, *end))) {
        shift = 10 * (unsigned)(letter - letters + 1);
        end += end[1] == 'i' && end[2] == 'B' ? 3 : 1;
    }
    if (errno || end == text || *end || *text == '-' || count > SIZE_MAX >> shift)
        argp_error(state, "%s wants a size such as 1048576, 64KiB or 2GiB, not '%s'", option, text);
    return (size_t)count << shift;
}

int64_t th_option_time(const char *text, struct argp_state *state, const char *option)
{
    static const struct {
        const char *name;
        long double ns;
    } units[] = {{"", 1e9L}, {"s", 1e9L}, {"ms", 1e6L}, {"us", 1e3L}, {"ns", 1}, {"min", 60e9L}};
    char *end;
    long double value = strtold(text, &end); /* 64 bits of mantissa: every nanosecond since 1970 */

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].name) == 0 && fabsl(value * units[i].ns) < 9.2e18L)
            return llroundl(value * units[i].ns);
    argp_error(state, "%s wants a time such as 1.5, 250ms, 10us or 2min, not '%s'", option, text);
    return 0;
}

int64_t th_option_wait(const char *text, struct argp_state *state, const char *option)
{
    int64_t time = th_option_time(text, state, option);

    if (time < 0)
        argp_error(state, "%s wants a time that is not below 0, not '%s'", option, text);
    return time;
}
