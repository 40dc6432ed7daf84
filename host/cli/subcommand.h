/* Subcommands of the program, and the functions that they share. */
#ifndef TH_COMMAND_H
#define TH_COMMAND_H

#include "host/control/argument.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct th_usage;

/* A subcommand. RUN gets the words after the program's name; argv[0] is the command. RUN returns
 * the exit status. */
struct th_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

int th_cli_command_replay(int argc, char **argv);
int th_cli_command_report(int argc, char **argv);
int th_cli_command_diff(int argc, char **argv);
int th_cli_command_sql(int argc, char **argv);
int th_cli_command_dump(int argc, char **argv);
int th_cli_command_convert(int argc, char **argv);
int th_cli_command_streams(int argc, char **argv);
int th_cli_command_merge(int argc, char **argv);
int th_cli_command_cut(int argc, char **argv);
int th_cli_command_info(int argc, char **argv);
int th_cli_command_tracers(int argc, char **argv);
int th_cli_command_plugins(int argc, char **argv);
int th_cli_command_call(int argc, char **argv);
int th_cli_command_check(int argc, char **argv);
int th_cli_command_bench(int argc, char **argv);
int th_cli_command_match(int argc, char **argv);
int th_cli_command_run(int argc, char **argv);
int th_cli_command_probes(int argc, char **argv);
int th_cli_command_new(int argc, char **argv);
int th_cli_command_ctl(int argc, char **argv);

/* Print `tracehost help --json [COMMAND]`, and the completions of a command line, for COUNT
 * COMMANDS. Both return the exit status. */
int th_cli_help_json(const struct th_command commands[], size_t count, const char *command);
int th_cli_complete(const struct th_command commands[], size_t count, int argc, char **argv);

/* The exit statuses with their meanings: "0 done, 1 failed, ...". */
extern const char th_cli_exit_statuses[];

/* The text of --version: "tracehost 0.1.0 (NIF API 2.18)". */
extern const char th_cli_version[];

/*
 * Parses the arguments of "tracehost COMMAND" with argp, according to USAGE, into INPUT. Ends the
 * program with TH_USAGE at a usage error, and with 0 after --help and --version.
 */
void th_cli_command_parse(const struct th_usage *usage, int argc, char **argv, void *input);

/* An option or word of the command line; VALUE is NULL if it has none. */
struct th_cli_word {
    const struct th_argument *argument;
    const char *value;
};

/* Returns the options and words that th_cli_command_parse() has taken, in their order, and their
 * number in *COUNT. Valid until the next th_cli_command_parse(). */
const struct th_cli_word *th_cli_command_words(size_t *count);

/* Makes the next th_cli_command_parse() call TELL with its usage, instead of parsing, and end the
 * program with TELL's result. */
void th_cli_command_ask(int (*tell)(const struct th_usage *usage));

/* Gives the command COMMAND a supervisor with ADVICE for crashes (crash/supervisor.h), unless
 * --supervisor=no was given.
 * Order: before any library is opened and any thread is started. */
void th_cli_command_supervise(const char *command, const char *advice);
extern const struct th_argument th_cli_supervisor_arguments[]; /* --supervisor */

/* The same for COUNT workers, one for each tracer; see th_crash_supervise_several(), also for the
 * result. Ends the program with TH_USAGE if --supervisor=no was given. */
struct th_crash_policy;
size_t th_cli_command_supervise_several(const char *command, size_t count,
                                        const struct th_crash_policy *policy);

/* Prints WORD as a shell reads it. */
void th_cli_print_word(FILE *out, const char *word);

/* Flushes stdout, so that later text on stderr follows it. */
void th_cli_command_flush(void);

/* Starts a thread. Errors: TH_FAILED if the thread cannot be started. */
enum th_status th_cli_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* Prints JSON, with FLAGS of json_dumpf() and a newline, on stdout. Owner: takes the reference. */
void th_cli_command_print_json(json_t *json, size_t flags);

/* Prints the thread's chain of causes as "tracehost COMMAND: ..." and returns its status. */
int th_cli_command_fail(const char *command);

/* Flushes stdout. Returns STATUS; TH_FAILED, with the error reported, if output was lost; TH_FAILED
 * also if a tracer failed and STATUS is TH_OK or TH_PARTIAL. */
int th_cli_command_finish(const char *command, int status);

/* The option --encoding, and the options of every command: --help, --usage and --version, which end
 * the program. */
extern const struct th_argument th_cli_encoding_arguments[];
extern const struct th_argument th_cli_help_arguments[];

#endif
