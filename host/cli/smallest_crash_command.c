/* The crashing tracer among those of the command line, and the command that repeats the crash. */
#include "smallest_crash.h"

#include "subcommand.h"

#include "host/control/commands/session_options.h"
#include "host/crash/crash.h"

#include <string.h>

/* Returns whether TEXT, a value of -t, is of the tracer NAME. */
static bool is_tracer(const char *text, const char *name)
{
    size_t length = strcspn(text, "=,");

    return strlen(name) == length && strncmp(text, name, length) == 0;
}

struct th_minimize_tracer
th_cli_minimize_find_tracer(const struct th_control_session_options *options,
                            const struct th_crash_signature *crash)
{
    struct th_minimize_tracer tracer = {0};
    bool several = false;

    for (size_t i = 0; i < options->count; i++) {
        const struct th_control_session_option *option = &options->items[i];
        if (strcmp(option->title ? option->title : "", crash->session) != 0)
            continue;
        for (size_t k = 0; k < option->tracer_count; k++)
            if (is_tracer(option->tracers[k], crash->tracer)) {
                several |= tracer.found;
                tracer = (struct th_minimize_tracer){true, i, k};
            }
    }
    tracer.found &= !several;
    return tracer;
}

/* --- The command ------------------------------------------------------------------------------ */

/* True if ARGUMENT cannot change what a tracer gets from the records that are left. */
static bool has_no_effect(const struct th_argument *argument)
{
    static const char *const names[] = {
        "on-crash", "from",     "to",        "max-events",   "max-records",   "max-memory",
        "control",  "watch",    "top",       "stats",        "format",        "color",
        "encoding", "progress", "reconnect", "fail-on-loss", "allow-partial",
    };

    if (!th_control_argument_is_option(argument))
        return true;
    for (size_t i = 0; argument->name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(argument->name, names[i]) == 0)
            return true;
    return false;
}

/* Returns whether ARGUMENT describes a session. */
static bool is_of_session(const struct th_argument *argument)
{
    return argument >= th_control_session_arguments &&
           argument < th_control_session_arguments + TH_SESSION_ARGUMENTS;
}

static void print_option(FILE *out, const struct th_cli_word *word)
{
    const struct th_argument *argument = word->argument;

    if (argument->letter)
        fprintf(out, " -%c%s", argument->letter, word->value ? " " : "");
    else
        fprintf(out, " --%s%s", argument->name, word->value ? "=" : "");
    if (word->value)
        th_cli_print_word(out, word->value);
}

void th_cli_minimize_print_command(FILE *out, const struct th_minimize_tracer *tracer,
                                   const char *file)
{
    size_t count, session = 0, seen = 0;
    const struct th_cli_word *words = th_cli_command_words(&count);

    fputs("  tracehost replay", out);
    for (size_t i = 0; i < count; i++) {
        const struct th_argument *argument = words[i].argument;
        bool names_tracer = argument == &th_control_session_arguments[TH_SESSION_TRACER];
        if (argument == &th_control_session_arguments[TH_SESSION_BEGIN]) {
            session++;
            seen = 0;
        }
        if (has_no_effect(argument))
            continue;
        if (!tracer->found || !is_of_session(argument) ||
            (session == tracer->session && (!names_tracer || seen == tracer->tracer)))
            print_option(out, &words[i]);
        seen += names_tracer;
    }
    fputc(' ', out);
    th_cli_print_word(out, file);
    fputc('\n', out);
}
