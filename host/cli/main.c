/* The program: finds the subcommand and runs it. */
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/control/commands/commands.h"
#include "host/library/name_list.h"
#include "host/term/text.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct th_command commands[] = {
    {"replay", "play recorded event streams into tracers", th_cli_command_replay},
    {"report", "make an HTML page from recorded event streams", th_cli_command_report},
    {"diff", "compare the calls of two recordings", th_cli_command_diff},
    {"sql", "query recordings in SQL", th_cli_command_sql},
    {"info", "count the records of a stream", th_cli_command_info},
    {"dump", "print every record of a stream as Erlang text or JSON lines", th_cli_command_dump},
    {"convert", "convert a stream between trace-port format and JSON lines",
     th_cli_command_convert},
    {"streams", "list the recordings in logs of NATS", th_cli_command_streams},
    {"merge", "print the results of many workers on one recording", th_cli_command_merge},
    {"cut", "write a part of a recording", th_cli_command_cut},
    {"run", "run functions of NIF libraries under trace", th_cli_command_run},
    {"call", "call functions of NIF libraries", th_cli_command_call},
    {"new", "make a folder with a tracer or plugin to begin with", th_cli_command_new},
    {"check", "find the mistakes of a tracer or NIF library", th_cli_command_check},
    {"bench", "measure what each callback of a tracer costs", th_cli_command_bench},
    {"ctl", "control a running host", th_cli_command_ctl},
    {"match", "try a match specification on arguments or a message", th_cli_command_match},
    {"tracers", "list the tracers that are found, or show one", th_cli_command_tracers},
    {"plugins", "list the NIF libraries that are found, or show one", th_cli_command_plugins},
    {"probes", "list the USDT probes of tracehost or of a file", th_cli_command_probes},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void main_print_help(FILE *out)
{
    struct th_buffer help = {0};
    char *statuses = th_printf("Exit status: %s.", th_cli_exit_statuses);

    th_buffer_add_text(&help, "Usage: tracehost COMMAND [OPTION...] [ARGUMENT...]\n"
                              "Runs Erlang tracers (erl_tracer backends) and NIF libraries outside "
                              "the BEAM.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        th_buffer_printf(&help, "  %-9s %s\n", commands[i].name, commands[i].summary);
    th_buffer_add_text(&help, "\n");
    th_options_usage_wrap(&help, statuses, 0);
    th_buffer_add_text(
        &help, "\nExamples:\n"
               "  tracehost replay samples/recordings/s13_procs.trace\n"
               "  tracehost run -p fib:fib/1 --return fib 'fib:fib(2)'\n\n"
               "`tracehost COMMAND --help` shows the options; `man tracehost` describes all.\n");
    fputs(th_buffer_text(&help), out);
    th_buffer_free(&help);
    th_free(statuses);
}

static const struct th_command *main_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    static const char *const others[] = {"help", "--help", "--version"};
    enum { OTHERS = sizeof others / sizeof others[0] };
    const char *names[COMMANDS + OTHERS], *nearest, *of_ctl;
    bool option = *name == '-';

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    memcpy(names + COMMANDS, others, sizeof others);
    nearest = th_library_suggest_nearest(name, names, COMMANDS + OTHERS);
    of_ctl = th_control_nearest(th_control_commands, name);
    fprintf(stderr, "tracehost: there is no %s '%s'; ", option ? "option" : "command", name);
    if (nearest)
        fprintf(stderr, "did you mean '%s'?\n", nearest);
    else if (of_ctl && !option)
        fprintf(stderr, "did you mean '%s', a command of 'tracehost ctl'?\n", of_ctl);
    else
        fprintf(stderr, "see 'tracehost --help'\n");
    return TH_USAGE;
}

/* tracehost help [--json] [COMMAND] */
static int help(int argc, char **argv)
{
    bool json = argc > 2 && strcmp(argv[2], "--json") == 0;
    const struct th_command *command = argc > 2 + json ? main_find(argv[2 + json]) : NULL;
    char *words[] = {argv[2], "--help", NULL};

    if (argc > 2 + json && !command)
        return unknown(argv[2 + json]);
    if (json)
        return th_cli_help_json(commands, COMMANDS, argv[3]);
    if (command)
        return command->run(2, words);
    main_print_help(stdout);
    return th_cli_command_finish("help", TH_OK);
}

static enum th_status main_check_value(void *context, const struct th_argument *argument,
                                       const char *value)
{
    int64_t which;

    (void)context;
    return value ? th_control_argument_number(argument, value, &which) : TH_OK;
}

/* tracehost --help[=all] [--json] [COMMAND]: the option of every command, before a command. */
static int main_help_option(int argc, char **argv)
{
    const struct th_argument *const options[] = {&th_cli_help_arguments[0], NULL};

    if (th_control_arguments_visit(options, 1, argv + 1, main_check_value, NULL) != TH_OK) {
        th_error_print(stderr, "tracehost");
        return TH_USAGE;
    }
    return help(argc, argv);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct th_command *command = name ? main_find(name) : NULL;
    int fd;

    /* If stdin, stdout or stderr is closed, no opened file may get its descriptor: reads and writes
     * must fail. */
    do
        fd = open("/dev/null", O_PATH | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);

    /* For libraries, as in a BEAM. Numbers, dates and messages keep the C locale. */
    setlocale(LC_CTYPE, "");
    th_text_show_in(strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? TH_TEXT_UNICODE : TH_TEXT_LATIN1);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond `ulimit -f` then fails, and the error is reported */
    if (!name) {
        main_print_help(stderr);
        return TH_USAGE;
    }
    if (command)
        return command->run(argc - 1, argv + 1);
    if (strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc, argv);
    if (strcmp(name, "--help") == 0 || strncmp(name, "--help=", strlen("--help=")) == 0)
        return main_help_option(argc, argv);
    if (strcmp(name, "complete") == 0) /* for shells; help does not list it */
        return th_cli_complete(commands, COMMANDS, argc, argv);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts(th_cli_version);
        return th_cli_command_finish("--version", TH_OK);
    }
    return unknown(name);
}
