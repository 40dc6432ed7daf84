/*
 * The usage of a subcommand: its typed arguments (host/control/argument.h), in sets that several
 * subcommands share, and the text around them. Parsing, `--help`, completion and `tracehost help
 * --json` use this struct; the manual pages are made from the JSON.
 */
#ifndef TH_USAGE_H
#define TH_USAGE_H

#include "host/base/error.h"

struct th_buffer;

/* Arguments whose members are in one struct. */
struct th_argument_set {
    const struct th_argument *items;                 /* the last one is {0} */
    size_t offset;                                   /* of their struct in the command's input */
    bool (*has)(const struct th_argument *argument); /* selects arguments; NULL: all of them */
    /* Checks the struct after the last word. NULL: no check. Errors: TH_USAGE, with one link. */
    enum th_status (*check)(void *input);
};

struct th_usage {
    const struct th_argument_set *sets; /* in the order of help; the last one is {0} */
    const char *before;                 /* a line that sums up; then the positional words */
    const char *after;                  /* paragraphs of --help=all and of the manual page */
    const char *examples;               /* command lines, one a line */
    const char *words;                  /* usage of positional words; NULL: made from the sets */
    bool live;                          /* this host is traced, not a recording */
    bool flags;                         /* the trace flags are listed after ->after */
    /* The commands of a host that this subcommand sends, NULL-terminated. NULL: none. */
    const struct th_control_command *const *commands;
};

/* An argument of a usage, with the texts for its help. */
struct th_argument_row {
    const struct th_argument *argument;
    size_t offset; /* of its struct */
    const char *help;
    const char *const *words; /* values; NULL: any */
};

struct th_argument_rows {
    struct th_argument_row *items;
    size_t count, capacity;
};

/* Returns all arguments, in the order of the sets; the options of every command are the last.
 * Owner: the caller frees ->items with th_free(). */
struct th_argument_rows th_options_usage_rows(const struct th_usage *usage);

/* Reduces ROWS to the options and sorts them by group, in a group those that are not rare first.
 * If not ALL, rare options are removed, too. */
void th_options_usage_sort(struct th_argument_rows *rows, bool all);

/* Returns the heading to show before option INDEX of sorted ROWS. NULL: none; few options have no
 * headings. */
const char *th_options_usage_heading(const struct th_argument_rows *rows, size_t index);

/* Finds the option --NAME, of LENGTH bytes: an exact match, or the only option with this prefix;
 * and the option of a LETTER. Both return NULL if there is none. */
const struct th_argument_row *th_options_usage_named(const struct th_argument_rows *rows,
                                                     const char *name, size_t length);
const struct th_argument_row *th_options_usage_lettered(const struct th_argument_rows *rows,
                                                        char letter);

/* Returns positional word INDEX of ROWS; NULL: there is none. */
const struct th_argument_row *th_options_usage_positional(const struct th_argument_rows *rows,
                                                          size_t index);

/* Return the positional words ("STREAM..."), and the text of `tracehost COMMAND --help`, or, if
 * ALL, of --help=all, wrapped at 80 columns.
 * Owner: the caller frees the text with th_free(). */
char *th_options_usage_words(const struct th_usage *usage);
char *th_options_usage_help(const struct th_usage *usage, const char *command, bool all);

/* Appends TEXT and a newline to HELP, whose last line has COLUMN characters. Each line of TEXT is
 * wrapped, and indented to COLUMN, unless the line begins with a blank. */
void th_options_usage_wrap(struct th_buffer *help, const char *text, size_t column);

#endif
