/* tracehost help --json: the commands and their options, for programs. */
#include "command.h"
#include "option_table.h"

#include <jansson.h>
#include <string.h>

static const struct th_command *told; /* what json_of_command() is about; of the main thread */

static int print(json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(json);
    return th_command_finish("help", TH_OK);
}

static json_t *json_of_words(const struct th_choices *choices)
{
    json_t *words = json_array();

    for (size_t i = 0; choices && choices->words[i]; i++)
        json_array_append_new(words, json_string(choices->words[i]));
    return words;
}

static json_t *json_of_option(const struct th_option_row *option)
{
    const char letter[] = {option->letter, '\0'};

    return json_pack("{s:s?, s:s?, s:s?, s:b, s:s, s:i, s:o, s:b, s:b}", "name", option->name,
                     "letter", option->letter ? letter : NULL, "argument", option->argument,
                     "optional", option->optional, "help", option->help, "group", option->group,
                     "choices", json_of_words(option->choices), "list",
                     option->choices && option->choices->how & TH_CHOICES_LIST, "others",
                     option->choices && option->choices->how & TH_CHOICES_OTHERS);
}

static json_t *json_of_commands(const struct th_about *about)
{
    json_t *commands = json_array();

    for (size_t i = 0; i < about->command_count; i++) {
        const struct th_control_command *command = &about->commands[i];
        json_array_append_new(commands,
                              json_pack("{s:s, s:s, s:s}", "command", command->name, "arguments",
                                        command->arguments, "help", command->help));
    }
    return commands;
}

static int tell(const struct argp *argp, void *input, bool in_order)
{
    struct th_option_table table;
    json_t *options = json_array(), *json;

    (void)in_order;
    th_option_table_read(&table, argp, input);
    for (size_t i = 0; i < table.count; i++)
        json_array_append_new(options, json_of_option(&table.items[i]));
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "command", told->name, "summary",
                     told->summary, "usage", table.usage, "before", table.before, "after",
                     table.after ? table.after : "", "options", options, "commands",
                     json_of_commands(&table.about));
    th_option_table_free(&table);
    return print(json);
}

static int list(const struct th_command commands[], size_t count)
{
    json_t *all = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "command", commands[i].name, "summary",
                                             commands[i].summary));
    return print(json_pack("{s:s, s:o, s:s}", "version", TH_VERSION, "commands", all, "exit_status",
                           th_exit_statuses));
}

int th_help_json(const struct th_command commands[], size_t count, const char *command)
{
    for (size_t i = 0; command && i < count; i++)
        if (strcmp(commands[i].name, command) == 0) {
            char *words[] = {(char *)command, NULL};
            told = &commands[i];
            th_command_ask(tell);
            return commands[i].run(1, words);
        }
    return list(commands, count);
}
