/*
 * The parts that `tracehost call` and `run` share: command lines with libraries and Erlang
 * expressions, and the host in which the expressions are evaluated.
 */
#ifndef TH_CALL_ARGUMENTS_H
#define TH_CALL_ARGUMENTS_H

#include "host/control/argument.h"
#include "host/runtime/runtime.h"
#include "host/shell/shell.h"

/* Text for a command's help. */
#define TH_CALL_ARGUMENTS_HELP                                                                     \
    "LIBRARY is a name, looked up as NAME.so, or a path with a '/'. An EXPRESSION ends in a full " \
    "stop, or contains a bracket, a quote, a blank or one of = : ; , < > ! $ # %. A word that "    \
    "begins with / or ./ or ../, or ends in .so after a /, is a path. - is the text on stdin. "    \
    "The "                                                                                         \
    "last full stop of an EXPRESSION may be left out."

struct th_call_text {
    const char *name; /* name of the file; NULL: the text is an argument */
    const char *expression;
};

struct th_call_arguments {
    struct th_texts libraries;
    struct th_call_text *texts;
    size_t text_count, text_capacity;
    const char *info; /* Erlang text, argument of load(); NULL: 0 */
    int64_t grace;    /* nanoseconds to wait at the end for functions that run */
    bool check;
};

enum { TH_CALL_MOST_THREADS = 1024 };
#define TH_CALL_GRACE (10 * (int64_t)1000000000) /* nanoseconds, if --grace is not given */

/* LIBRARY..., -f, --load-info, --grace and --check, as members of struct th_call_arguments. */
extern const struct th_argument th_cli_call_argument_table[];

/* Adds a text: the name of a file ("-" for stdin), or an expression; the other one is NULL.
 * Owner: the caller; the strings are not copied and must stay until th_cli_call_host_run()
 * returns. */
void th_cli_call_arguments_add(struct th_call_arguments *arguments, const char *name,
                               const char *expression);

struct th_call_host {
    const char *command; /* for messages */
    struct th_call_arguments *arguments;
    const struct th_texts *folders; /* searched first for libraries */
    bool copies;                    /* private copies: loaded code survives changes of the files */
    struct th_runtime_setup setup;

    /* Called after the guard and the checker have begun, before anything else. NULL: nothing. */
    void (*begin)(void *context);
    /* Evaluates the programs of all texts, after all libraries are loaded. */
    enum th_status (*evaluate)(void *context, const struct th_program programs[], size_t count);
    /* Called at the end, after the last unload(); also if nothing was evaluated. NULL: nothing. */
    void (*end)(void *context);
    void *context;
};

/* Reads all texts, starts the runtime, loads the libraries, calls host->evaluate, ends all again,
 * and frees the arguments.
 * Errors: the exit status; the error is already reported on stderr. */
enum th_status th_cli_call_host_run(const struct th_call_host *host);

#endif
