/* Commands of a host, as their tables of arguments have them. */
#include "server.h"

#include "host/library/library.h"

#include <string.h>

static const struct th_argument *const none[] = {NULL};

static const struct th_argument *const *arguments_of(const struct th_control_command *command)
{
    return command->arguments ? command->arguments : none;
}

char *th_control_usage(const struct th_control_command *command)
{
    struct th_buffer usage = {0};
    char *text;

    th_control_arguments_usage(arguments_of(command), &usage);
    text = th_strdup(th_buffer_text(&usage));
    th_buffer_free(&usage);
    return text;
}

json_t *th_control_help(const struct th_control_command *command)
{
    char *usage = th_control_usage(command);
    json_t *help = json_pack("{s:s, s:s, s:s}", "command", command->name, "arguments", usage,
                             "help", command->help);

    th_free(usage);
    return help;
}

enum th_status th_control_take(const struct th_control_command *command, int count,
                               char *const words[], void *input)
{
    return th_control_arguments_take(arguments_of(command), command->missing, count, words, input);
}

const struct th_control_command *th_control_find(const struct th_control_command *const commands[],
                                                 const char *name)
{
    while (*commands && strcmp((*commands)->name, name) != 0)
        commands++;
    return *commands;
}

const char *th_control_nearest(const struct th_control_command *const commands[], const char *name)
{
    struct th_names names = {0};
    const char *nearest;

    for (const struct th_control_command *const *c = commands; *c; c++)
        th_library_names_add(&names, (*c)->name);
    nearest = th_library_suggest_nearest(name, (const char *const *)names.items, names.count);
    if (nearest)
        nearest = th_control_find(commands, nearest)->name;
    th_library_names_free(&names);
    return nearest;
}
