/* Subcommands of the program, and what they share. */
#ifndef TH_COMMAND_H
#define TH_COMMAND_H

#include "host/control/argument.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct th_usage;

/* A subcommand. RUN gets what follows the program's name, argv[0] being the command; it returns the
 * exit status. */
struct th_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

int th_cli_command_replay(int argc, char **argv);
int th_cli_command_report(int argc, char **argv);
int th_cli_command_dump(int argc, char **argv);
int th_cli_command_convert(int argc, char **argv);
int th_cli_command_info(int argc, char **argv);
int th_cli_command_tracers(int argc, char **argv);
int th_cli_command_plugins(int argc, char **argv);
int th_cli_command_call(int argc, char **argv);
int th_cli_command_match(int argc, char **argv);
int th_cli_command_run(int argc, char **argv);
int th_cli_command_probes(int argc, char **argv);
int th_cli_command_ctl(int argc, char **argv);

/* Another form of `tracehost help [COMMAND]`, and what completes command lines; of COUNT COMMANDS.
 * The exit status. */
int th_cli_help_json(const struct th_command commands[], size_t count, const char *command);
int th_cli_complete(const struct th_command commands[], size_t count, int argc, char **argv);

/* The meanings of exit statuses, as text: "0 done, 1 failed, ...". */
extern const char th_cli_exit_statuses[];

/* The text that --version prints: "tracehost 0.1.0 (NIF API 2.18)". */
extern const char th_cli_version[];

/*
 * Parses the command's arguments as USAGE says, into INPUT, with argp, as "tracehost COMMAND".
 * Wrong usage ends the program with TH_USAGE, --help and --version with 0.
 */
void th_cli_command_parse(const struct th_usage *usage, int argc, char **argv, void *input);

/* Instead of parsing, the next th_cli_command_parse() calls TELL with its usage, and ends the
 * program with what that returns. */
void th_cli_command_ask(int (*tell)(const struct th_usage *usage));

/* Flushes stdout, so that what comes on stderr now stands behind it. */
void th_cli_command_flush(void);

/* Starts a thread of the program's own. TH_FAILED if there is none to be had. */
enum th_status th_cli_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* Prints JSON, with FLAGS of json_dumpf(), as a line of stdout or several, and lets go of it. */
void th_cli_command_print_json(json_t *json, size_t flags);

/* Prints the thread's chain of causes as "tracehost COMMAND: ..." and returns its status. */
int th_cli_command_fail(const char *command);

/* Flushes stdout. Returns STATUS, or TH_FAILED after saying why if what was written did not get
 * through. */
int th_cli_command_finish(const char *command, int status);

/* --encoding. */
extern const struct th_argument th_cli_encoding_arguments[];

#endif
