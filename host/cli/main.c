/* The program: finds the subcommand and runs it. */
#include "subcommand.h"

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
    {"replay", "load tracers by name and play recorded event streams into them",
     th_cli_command_replay},
    {"report", "make a page for browsers of recorded event streams", th_cli_command_report},
    {"dump", "print every record of a stream as Erlang text or JSON lines", th_cli_command_dump},
    {"convert", "convert a stream between the trace-port format and JSON lines",
     th_cli_command_convert},
    {"info", "count what is in a stream", th_cli_command_info},
    {"tracers", "list the tracers that are found, or examine one", th_cli_command_tracers},
    {"plugins", "list the plugins that are found, or examine one", th_cli_command_plugins},
    {"probes", "list the USDT probes of this program, or of any file", th_cli_command_probes},
    {"match", "try a match specification on arguments or a message", th_cli_command_match},
    {"call", "evaluate calls of functions of any NIF library", th_cli_command_call},
    {"run", "run functions of NIF libraries under trace", th_cli_command_run},
    {"ctl", "tell a host that runs what to trace", th_cli_command_ctl},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void main_print_help(FILE *out)
{
    enum { WIDTH = 75 };
    int column;

    fputs("Usage: tracehost COMMAND [OPTION...] [ARGUMENT...]\n"
          "Runs Erlang tracers (erl_tracer backends) and NIF libraries outside the "
          "BEAM.\n\nCommands:\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'tracehost COMMAND --help' tells more. 'tracehost --version' tells the version.\n\n",
          out);
    /* Wraps the exit statuses like the lines above. */
    column = fprintf(out, "Exit status:");
    for (const char *word = th_cli_exit_statuses; *word; word += *word == ' ') {
        int length = (int)strcspn(word, " ");
        bool fits = column + 1 + length + !word[length] <= WIDTH;
        fprintf(out, "%c%.*s", fits ? ' ' : '\n', length, word);
        column = fits ? column + 1 + length : length;
        word += length;
    }
    fputs(".\n", out);
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
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc, argv);
    if (strcmp(name, "complete") == 0) /* for shells; help does not list it */
        return th_cli_complete(commands, COMMANDS, argc, argv);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts(th_cli_version);
        return th_cli_command_finish("--version", TH_OK);
    }
    return unknown(name);
}
