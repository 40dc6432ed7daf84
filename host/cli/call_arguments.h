/*
 * What `tracehost call` and `run` share: a command line with libraries and with texts of
 * expressions, and the host in which these are evaluated.
 */
#ifndef TH_CALL_ARGUMENTS_H
#define TH_CALL_ARGUMENTS_H

#include "host/control/argument.h"
#include "host/runtime/runtime.h"
#include "host/shell/shell.h"

/* For a command's help. */
#define TH_CALL_ARGUMENTS_HELP                                                                     \
    "LIBRARY is a name, looked up as NAME.so, or a path with a '/'. EXPRESSION is what ends in a " \
    "full stop or has a bracket, a quote, a blank or any of = : ; , < > ! $ # % in it; but what "  \
    "begins with / or ./ or ../, or ends in .so behind a /, is a path. - stands for what is on "   \
    "stdin. An EXPRESSION's last full stop may be left out."

struct th_call_text {
    const char *name; /* of the file, NULL: it is an argument */
    const char *expression;
};

struct th_call_arguments {
    struct th_texts libraries;
    struct th_call_text *texts;
    size_t text_count, text_capacity;
    const char *info; /* what load() is given, Erlang text; NULL: 0 */
    int64_t grace;    /* nanoseconds, for functions that run in the end */
    bool check;
};

enum { TH_CALL_MOST_THREADS = 1024 };
#define TH_CALL_GRACE (10 * (int64_t)1000000000) /* in nanoseconds, if the option is not given */

/* LIBRARY..., -f, --load-info, --grace and --check. */
extern const struct th_argument th_cli_call_argument_table[];

/* Adds a text: the name of a file, "-" for stdin, or an expression. It is not copied. */
void th_cli_call_arguments_add(struct th_call_arguments *arguments, const char *name,
                               const char *expression);

struct th_call_host {
    const char *command; /* for messages */
    struct th_call_arguments *arguments;
    const struct th_texts *folders; /* in which libraries are looked for first */
    bool copies; /* the libraries are opened as private copies, so that new code may take their
                    place, whatever is done to the files */
    struct th_runtime_setup setup;

    /* Evaluates the programs of all texts, after the libraries were loaded. */
    enum th_status (*evaluate)(void *context, const struct th_program programs[], size_t count);
    /* At the end, after the last unload(); also if nothing could be evaluated. NULL: nothing. */
    void (*end)(void *context);
    void *context;
};

/* Reads all texts, starts the runtime, loads the libraries, has the programs evaluated, and ends
 * all of that. Frees the arguments. Errors were told. */
enum th_status th_cli_call_host_run(const struct th_call_host *host);

#endif
