/* Commands of a host, as their tables of arguments have them. */
#include "server.h"

static const struct th_argument *const none[] = {NULL};

static const struct th_argument *const *arguments_of(const struct th_control_command *command)
{
    return command->arguments ? command->arguments : none;
}

char *th_control_usage(const struct th_control_command *command)
{
    struct th_buffer usage = {0};
    char *text;

    th_arguments_usage(arguments_of(command), &usage);
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
    return th_arguments_take(arguments_of(command), command->missing, count, words, input);
}
