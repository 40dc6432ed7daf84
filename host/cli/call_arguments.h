/*
 * What stands on a command line that evaluates calls of libraries: the libraries, and the texts
 * with the expressions.
 */
#ifndef TH_CALL_ARGUMENTS_H
#define TH_CALL_ARGUMENTS_H

#include "host/runtime/runtime.h"
#include "host/shell/shell.h"

#include "host/control/control.h"

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
    const char **libraries;
    size_t library_count, library_capacity;
    struct th_call_text *texts;
    size_t text_count, text_capacity;
    const char *info; /* what load() is given, Erlang text; NULL: 0 */
};

/* LIBRARY..., -f and --load-info. */
extern const struct th_argument th_cli_call_argument_table[];

/* Takes an argument: a library, an expression, or - for stdin; the name of a file with expressions.
 * They are not copied. */
void th_cli_call_arguments_add(struct th_call_arguments *arguments, const char *text);
void th_cli_call_arguments_add_file(struct th_call_arguments *arguments, const char *name);

/* Reads all texts: PROGRAMS has room for them; *COUNT of them are th_shell_program_free()'s after
 * that, whatever the status. */
enum th_status th_cli_call_arguments_read(const struct th_call_arguments *arguments,
                                          struct th_program programs[], size_t *count);

/* Loads all libraries, until th_code_end(); FOLDERS are looked in first. COPIES: private
 * copies of them, so that new code may take their place, whatever is done to the files. */
enum th_status th_cli_call_arguments_load(const struct th_call_arguments *arguments,
                                          const char *const folders[], size_t folder_count,
                                          bool copies);

void th_cli_call_arguments_free(struct th_call_arguments *arguments);

#endif
