#include "usage.h"

#include "host/base/buffer.h"
#include "host/cli/subcommand.h"
#include "host/control/server.h"
#include "host/trace/tags.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add_row(struct th_argument_rows *rows, const struct th_argument *argument,
                    size_t offset, bool live)
{
    TH_ARRAY_GROW(rows->items, rows->count, rows->capacity);
    rows->items[rows->count++] = (struct th_argument_row){
        .argument = argument,
        .offset = offset,
        .help = live && argument->live_help ? argument->live_help : argument->help,
        .words = live && argument->live_words ? argument->live_words : argument->words,
    };
}

struct th_argument_rows th_options_usage_rows(const struct th_usage *usage)
{
    struct th_argument_rows rows = {0};

    for (const struct th_argument_set *set = usage->sets; set->items; set++)
        for (const struct th_argument *a = set->items; !th_control_argument_is_last(a); a++)
            if (!set->has || set->has(a))
                add_row(&rows, a, set->offset, usage->live);
    for (const struct th_argument *a = th_cli_help_arguments; !th_control_argument_is_last(a); a++)
        add_row(&rows, a, 0, false);
    return rows;
}

/* --- Groups ----------------------------------------------------------------------------------- */

static const char *const usage_headings[] = {
#define X(name, heading) heading,
    TH_ARGUMENT_GROUPS(X)
#undef X
};
enum { GROUPS = sizeof usage_headings / sizeof usage_headings[0], MOST_WITHOUT_HEADINGS = 10 };

void th_options_usage_sort(struct th_argument_rows *rows, bool all)
{
    struct th_argument_rows sorted = {0};

    for (unsigned part = 0; part < 2 * GROUPS; part++)
        for (size_t i = 0; i < rows->count; i++) {
            const struct th_argument *a = rows->items[i].argument;
            bool rare = a->how & TH_ARGUMENT_RARE;
            if (2 * a->group + rare != part || !th_control_argument_is_option(a) || (rare && !all))
                continue;
            TH_ARRAY_GROW(sorted.items, sorted.count, sorted.capacity);
            sorted.items[sorted.count++] = rows->items[i];
        }
    th_free(rows->items);
    *rows = sorted;
}

const char *th_options_usage_heading(const struct th_argument_rows *rows, size_t index)
{
    const struct th_argument *a = rows->items[index].argument;

    if (rows->count <= MOST_WITHOUT_HEADINGS ||
        (index > 0 && rows->items[index - 1].argument->group == a->group))
        return NULL;
    return usage_headings[a->group];
}

/* --- Arguments by name and place -------------------------------------------------------------- */

const struct th_argument_row *th_options_usage_named(const struct th_argument_rows *rows,
                                                     const char *name, size_t length)
{
    const struct th_argument_row *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const char *its = rows->items[i].argument->name;
        if (!its || strncmp(its, name, length) != 0)
            continue;
        if (!its[length])
            return &rows->items[i];
        found = &rows->items[i];
        count++;
    }
    return count == 1 ? found : NULL;
}

const struct th_argument_row *th_options_usage_lettered(const struct th_argument_rows *rows,
                                                        char letter)
{
    for (size_t i = 0; i < rows->count; i++)
        if (letter && rows->items[i].argument->letter == letter)
            return &rows->items[i];
    return NULL;
}

const struct th_argument_row *th_options_usage_positional(const struct th_argument_rows *rows,
                                                          size_t index)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct th_argument *argument = rows->items[i].argument;
        if (th_control_argument_is_option(argument))
            continue;
        if (argument->how & TH_ARGUMENT_REPEATS || index == 0)
            return &rows->items[i];
        index--;
    }
    return NULL;
}

/* --- Text ------------------------------------------------------------------------------------- */

char *th_options_usage_words(const struct th_usage *usage)
{
    struct th_argument_rows rows = th_options_usage_rows(usage);
    const struct th_argument **positional = th_alloc((rows.count + 1) * sizeof *positional);
    struct th_buffer text = {0};
    size_t count = 0;

    for (size_t i = 0; i < rows.count; i++)
        if (!th_control_argument_is_option(rows.items[i].argument))
            positional[count++] = rows.items[i].argument;
    positional[count] = NULL;
    if (usage->words)
        th_buffer_add_text(&text, usage->words);
    else
        th_control_arguments_usage(positional, &text);
    th_free(positional);
    th_free(rows.items);
    return th_buffer_take_text(&text);
}

/* Returns the paragraphs after the options, with the trace flags. */
static char *usage_after(const struct th_usage *usage)
{
    struct th_buffer text = {0};

    th_buffer_add_text(&text, usage->after ? usage->after : "");
    if (usage->flags) {
        th_buffer_add_text(&text, "\n\nFlags:\n");
#define X(name, bit, what) th_buffer_printf(&text, "  %-26s %s\n", #name, what);
        TH_FLAGS(X)
#undef X
        th_buffer_add_text(
            &text, "  all                        all but cpu_timestamp, silent and set_on_...");
    }
    return th_buffer_take_text(&text);
}

enum { HELP_WIDTH = 79, HELP_COLUMN = 25 /* of the text of an option */ };

void th_options_usage_wrap(struct th_buffer *help, const char *text, size_t column)
{
    size_t at = column;

    while (*text) {
        size_t length = strcspn(text, *text == ' ' ? "\n" : " \n");
        if (at > column && at + 1 + length > HELP_WIDTH) {
            th_buffer_printf(help, "\n%*s", (int)column, "");
            at = column;
        }
        th_buffer_printf(help, "%s%.*s", at > column ? " " : "", (int)length, text);
        at += length + (at > column);
        text += length;
        if (*text == '\n') {
            th_buffer_add_byte(help, '\n');
            at = column;
        }
        text += *text != 0;
    }
    th_buffer_add_byte(help, '\n');
}

static void add_option_help(struct th_buffer *help, const struct th_argument_row *row)
{
    const struct th_argument *a = row->argument;
    const char *value = a->value ? a->value : "";
    struct th_buffer title = {0};

    if (a->letter)
        th_buffer_printf(&title, "  -%c%s", a->letter, a->name ? ", " : " ");
    else
        th_buffer_add_text(&title, "      ");
    if (a->name)
        th_buffer_printf(&title, "--%s", a->name);
    if (a->how & TH_ARGUMENT_OPTIONAL)
        th_buffer_printf(&title, "[=%s]", value);
    else
        th_buffer_printf(&title, "%s%s", a->name && *value ? "=" : "", value);
    if (title.size + 2 > HELP_COLUMN)
        th_buffer_printf(help, "%s\n%*s", th_buffer_text(&title), HELP_COLUMN, "");
    else
        th_buffer_printf(help, "%-*s", HELP_COLUMN, th_buffer_text(&title));
    th_options_usage_wrap(help, row->help, HELP_COLUMN);
    th_buffer_free(&title);
}

char *th_options_usage_help(const struct th_usage *usage, const char *command, bool all)
{
    struct th_argument_rows rows = th_options_usage_rows(usage);
    char *words = th_options_usage_words(usage), *after = usage_after(usage);
    struct th_buffer help = {0};

    th_options_usage_sort(&rows, all);
    th_buffer_printf(&help, "Usage: tracehost %s [OPTION...] %s\n", command, words);
    th_options_usage_wrap(&help, usage->before, 0);
    for (size_t i = 0; i < rows.count; i++) {
        const char *heading = th_options_usage_heading(&rows, i);
        if (i == 0 || heading)
            th_buffer_add_text(&help, "\n");
        if (heading)
            th_buffer_printf(&help, "%s:\n", heading);
        add_option_help(&help, &rows.items[i]);
    }
    if (all && *after) {
        th_buffer_add_text(&help, "\n");
        th_options_usage_wrap(&help, after, 0);
    }
    th_buffer_printf(&help, "\nExamples:\n%s\n\n%s`man tracehost-%s` describes %s.\n",
                     usage->examples, all ? "" : "--help=all shows all options; ", command,
                     all ? "the options" : "them");
    th_free(after);
    th_free(words);
    th_free(rows.items);
    return th_buffer_take_text(&help);
}

/* --- tracehost help --json: commands and options, for programs -------------------------------- */

static const struct th_command *told; /* the command for usage_tell(); main thread only */

static int usage_tell(const struct th_usage *usage)
{
    struct th_argument_rows rows = th_options_usage_rows(usage);
    char *words = th_options_usage_words(usage), *after = usage_after(usage);
    json_t *options = json_array(), *commands = json_array(), *json;

    th_options_usage_sort(&rows, true);
    for (size_t i = 0; i < rows.count; i++) {
        const struct th_argument *option = rows.items[i].argument;
        const char letter[] = {option->letter, '\0'};
        json_t *choices = json_array();
        for (const char *const *word = rows.items[i].words; word && *word; word++)
            json_array_append_new(choices, json_string(*word));
        json_array_append_new(
            options,
            json_pack("{s:s?, s:s?, s:s?, s:b, s:s, s:s?, s:b, s:o, s:b, s:b}", "name",
                      option->name, "letter", option->letter ? letter : NULL, "argument",
                      option->value, "optional", option->how & TH_ARGUMENT_OPTIONAL, "help",
                      rows.items[i].help, "heading", th_options_usage_heading(&rows, i), "rare",
                      option->how & TH_ARGUMENT_RARE, "choices", choices, "list",
                      option->how & TH_ARGUMENT_LIST, "others", option->how & TH_ARGUMENT_OTHERS));
    }
    for (const struct th_control_command *const *c = usage->commands; c && *c; c++)
        json_array_append_new(commands, th_control_help(*c));
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "command", told->name, "summary",
                     told->summary, "usage", words, "before", usage->before, "after", after,
                     "examples", usage->examples, "options", options, "commands", commands);
    th_free(after);
    th_free(words);
    th_free(rows.items);
    th_cli_command_print_json(json, JSON_INDENT(1));
    return th_cli_command_finish("help", TH_OK);
}

int th_cli_help_json(const struct th_command commands[], size_t count, const char *command)
{
    json_t *all;

    for (size_t i = 0; command && i < count; i++)
        if (strcmp(commands[i].name, command) == 0) {
            told = &commands[i];
            th_cli_command_ask(usage_tell);
            return commands[i].run(1, (char *[]){(char *)(uintptr_t)command, NULL});
        }
    all = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "command", commands[i].name, "summary",
                                             commands[i].summary));
    th_cli_command_print_json(json_pack("{s:s, s:o, s:s}", "version", TH_VERSION, "commands", all,
                                        "exit_status", th_cli_exit_statuses),
                              JSON_INDENT(1));
    return th_cli_command_finish("help", TH_OK);
}
