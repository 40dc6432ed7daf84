/* Subcommands of the program, and what they share. */
#ifndef TH_COMMAND_H
#define TH_COMMAND_H

#include "host/base/base.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* A subcommand. RUN gets what follows the program's name, argv[0] being the command; it returns the
 * exit status. */
struct th_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

int th_command_replay(int argc, char **argv);
int th_command_report(int argc, char **argv);
int th_command_dump(int argc, char **argv);
int th_command_convert(int argc, char **argv);
int th_command_info(int argc, char **argv);
int th_command_tracers(int argc, char **argv);
int th_command_plugins(int argc, char **argv);
int th_command_call(int argc, char **argv);
int th_command_match(int argc, char **argv);
int th_command_run(int argc, char **argv);
int th_command_probes(int argc, char **argv);
int th_command_ctl(int argc, char **argv);

/* Another form of `tracehost help [COMMAND]`, and what completes command lines; of COUNT COMMANDS.
 * The exit status. */
int th_help_json(const struct th_command commands[], size_t count, const char *command);
int th_complete(const struct th_command commands[], size_t count, int argc, char **argv);

/* What statuses mean: "0 done, 1 failed, ...". */
extern const char th_exit_statuses[];

/* What --version prints. */
const char *th_command_version(void);

/*
 * Parses the command's arguments with ARGP as "tracehost COMMAND". Wrong usage ends the program
 * with TH_USAGE,
 * --help and --version with 0.
 */
void th_command_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The same; options behind the first argument are not looked at, if ARGP does not. */
void th_command_parse_in_order(const struct argp *argp, int argc, char **argv, void *input);

/* Instead of parsing, the next th_command_parse() calls TELL with what it was given, and ends the
 * program with what that returns. IN_ORDER: it is th_command_parse_in_order(). */
void th_command_ask(int (*tell)(const struct argp *argp, void *input, bool in_order));

/* Flushes stdout, so that what comes on stderr now stands behind it. */
void th_command_flush(void);

/* Prints the thread's chain of causes as "tracehost COMMAND: ..." and returns its status. */
int th_command_fail(const char *command);

/* Flushes stdout. Returns STATUS, or TH_FAILED after saying why if what was written did not get
 * through. */
int th_command_finish(const char *command, int status);

/* The keys of long options that have no letter. Each command may use those from TH_OPTION_OWN on as
 * it likes. */
enum th_option {
    TH_OPTION_ALLOW_PARTIAL = 256,
    TH_OPTION_FORMAT,
    TH_OPTION_SCHEDULER_ID,
    TH_OPTION_MAX_EVENTS,
    TH_OPTION_MAX_RECORDS,
    TH_OPTION_MAX_MEMORY,
    TH_OPTION_RECONNECT,
    TH_OPTION_PROGRESS,
    TH_OPTION_FROM,
    TH_OPTION_TO,
    TH_OPTION_ENCODING,
    TH_OPTION_TRACE, /* and so on: those of trace_options.c */
    TH_OPTION_OWN = TH_OPTION_TRACE + 32
};

/* Ends the program with argp_error() if STATUS is not TH_OK: with the outermost link of the chain.
 * 0, for argp. */
error_t th_option_check(enum th_status status, struct argp_state *state);

/* The count that TEXT is, for OPTION; ends the program with argp_error() if it is none. */
uint64_t th_option_count(const char *text, struct argp_state *state, const char *option);

/* The bytes of a size: a whole number and KiB, MiB, GiB (or K, M, G); bytes without one. Likewise.
 */
size_t th_option_bytes(const char *text, struct argp_state *state, const char *option);

/* The nanoseconds of a time: a number and ns, us, ms, s or min; s without one. Likewise. */
int64_t th_option_time(const char *text, struct argp_state *state, const char *option);

/* Likewise, of a time to wait: not below 0. */
int64_t th_option_wait(const char *text, struct argp_state *state, const char *option);

#endif
