#include "usage.h"

#include "host/base/buffer.h"
#include "host/cli/subcommand.h"
#include "host/control/server.h"
#include "host/trace/tags.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Options that argp adds to every command. */
static const struct th_argument added[] = {
    TH_OPTION("help", NULL, FLAG, -1, "Give this help list", .letter = '?'),
    TH_OPTION("usage", NULL, FLAG, -1, "Give a short usage message"),
    TH_OPTION("version", NULL, FLAG, -1, "Print program version", .letter = 'V'),
    {0},
};

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
    return rows;
}

/* Orders by group, groups below 0 last, then by name; a letter counts as a name. */
static int usage_compare(const void *first, const void *second)
{
    const struct th_argument *a = ((const struct th_argument_row *)first)->argument;
    const struct th_argument *b = ((const struct th_argument_row *)second)->argument;
    const char letters[2][2] = {{a->letter}, {b->letter}};
    int order;

    if (a->group != b->group)
        return (a->group < 0) != (b->group < 0) ? (a->group < 0 ? 1 : -1) : a->group - b->group;
    order = strcasecmp(a->letter ? letters[0] : a->name, b->letter ? letters[1] : b->name);
    return order ? order : a->letter - b->letter;
}

void th_options_usage_sort(struct th_argument_rows *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (th_control_argument_is_option(rows->items[i].argument))
            rows->items[count++] = rows->items[i];
    rows->count = count;
    for (const struct th_argument *a = added; !th_control_argument_is_last(a); a++)
        add_row(rows, a, 0, false);
    qsort(rows->items, rows->count, sizeof *rows->items, usage_compare);
}

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

char *th_options_usage_after(const struct th_usage *usage, const char *separator)
{
    struct th_buffer text = {0};

    th_buffer_add_text(&text, usage->after);
    if (usage->flags) {
        th_buffer_printf(&text, "%sFlags:\n", separator);
#define X(name, bit, what) th_buffer_printf(&text, "  %-26s %s\n", #name, what);
        TH_FLAGS(X)
#undef X
        th_buffer_add_text(
            &text, "  all                        all but cpu_timestamp, silent and set_on_...");
    }
    return th_buffer_take_text(&text);
}

/* --- tracehost help --json: commands and options, for programs -------------------------------- */

static const struct th_command *told; /* the command for usage_tell(); main thread only */

static int usage_tell(const struct th_usage *usage)
{
    struct th_argument_rows rows = th_options_usage_rows(usage);
    char *words = th_options_usage_words(usage), *after = th_options_usage_after(usage, "\n");
    json_t *options = json_array(), *commands = json_array(), *json;

    th_options_usage_sort(&rows);
    for (size_t i = 0; i < rows.count; i++) {
        const struct th_argument *option = rows.items[i].argument;
        const char letter[] = {option->letter, '\0'};
        json_t *choices = json_array();
        for (const char *const *word = rows.items[i].words; word && *word; word++)
            json_array_append_new(choices, json_string(*word));
        json_array_append_new(
            options,
            json_pack("{s:s?, s:s?, s:s?, s:b, s:s, s:i, s:o, s:b, s:b}", "name", option->name,
                      "letter", option->letter ? letter : NULL, "argument", option->value,
                      "optional", option->how & TH_ARGUMENT_OPTIONAL, "help", rows.items[i].help,
                      "group", option->group, "choices", choices, "list",
                      option->how & TH_ARGUMENT_LIST, "others", option->how & TH_ARGUMENT_OTHERS));
    }
    for (const struct th_control_command *const *c = usage->commands; c && *c; c++)
        json_array_append_new(commands, th_control_help(*c));
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "command", told->name, "summary",
                     told->summary, "usage", words, "before", usage->before, "after", after,
                     "options", options, "commands", commands);
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
