/* tracehost help --json: the commands and their options, for programs. */
#include "host/cli/subcommand.h"

#include <jansson.h>
#include <string.h>

static const struct th_command *told; /* what tell() is about; of the main thread */

static int print(json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(json);
    return th_cli_command_finish("help", TH_OK);
}

static json_t *json_of_words(const char *const *words)
{
    json_t *list = json_array();

    for (size_t i = 0; words && words[i]; i++)
        json_array_append_new(list, json_string(words[i]));
    return list;
}

static json_t *json_of_option(const struct th_argument_row *row)
{
    const struct th_argument *option = row->argument;
    const char letter[] = {option->letter, '\0'};

    return json_pack("{s:s?, s:s?, s:s?, s:b, s:s, s:i, s:o, s:b, s:b}", "name", option->name,
                     "letter", option->letter ? letter : NULL, "argument", option->value,
                     "optional", option->how & TH_ARGUMENT_OPTIONAL, "help", row->help, "group",
                     option->group, "choices", json_of_words(row->words), "list",
                     option->how & TH_ARGUMENT_LIST, "others", option->how & TH_ARGUMENT_OTHERS);
}

static json_t *json_of_commands(const struct th_usage *usage)
{
    json_t *commands = json_array();

    for (const struct th_control_command *const *c = usage->commands; c && *c; c++)
        json_array_append_new(commands, th_control_help(*c));
    return commands;
}

static int tell(const struct th_usage *usage)
{
    struct th_argument_rows rows = th_options_usage_rows(usage);
    char *words = th_options_usage_words(usage), *after = th_options_usage_after(usage, "\n");
    json_t *options = json_array(), *json;

    th_options_usage_sort(&rows);
    for (size_t i = 0; i < rows.count; i++)
        json_array_append_new(options, json_of_option(&rows.items[i]));
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "command", told->name, "summary",
                     told->summary, "usage", words, "before", usage->before, "after", after,
                     "options", options, "commands", json_of_commands(usage));
    th_free(after);
    th_free(words);
    th_free(rows.items);
    return print(json);
}

static int list(const struct th_command commands[], size_t count)
{
    json_t *all = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "command", commands[i].name, "summary",
                                             commands[i].summary));
    return print(json_pack("{s:s, s:o, s:s}", "version", TH_VERSION, "commands", all, "exit_status",
                           th_cli_exit_statuses));
}

int th_cli_help_json(const struct th_command commands[], size_t count, const char *command)
{
    for (size_t i = 0; command && i < count; i++)
        if (strcmp(commands[i].name, command) == 0) {
            char *words[] = {(char *)command, NULL};
            told = &commands[i];
            th_cli_command_ask(tell);
            return commands[i].run(1, words);
        }
    return list(commands, count);
}
