/*
 * The usage of a subcommand: its typed arguments (host/control/argument.h), in sets that several
 * subcommands share, and the text around them. Parsing, `--help`, `tracehost help --json`, from
 * which the manual pages are made, and completion go by it.
 */
#ifndef TH_USAGE_H
#define TH_USAGE_H

#include "host/base/error.h"

/* Arguments whose members are in one struct. */
struct th_argument_set {
    const struct th_argument *items;                 /* the last one is {0} */
    size_t offset;                                   /* of their struct in the command's input */
    bool (*has)(const struct th_argument *argument); /* NULL: all of them */
    /* After the last word, with their struct. TH_USAGE, with one link. NULL: nothing to check. */
    enum th_status (*check)(void *input);
};

struct th_usage {
    const struct th_argument_set *sets; /* the first is the command's own; the last one is {0} */
    const char *before, *after;         /* the text before the options and behind them */
    const char *words;                  /* the positional words; NULL: made from the sets */
    bool live;                          /* this host is traced, not a recording */
    bool flags;                         /* the trace flags stand behind the text */
    /* The commands of a host that this subcommand sends, with NULL behind them. NULL: none. */
    const struct th_control_command *const *commands;
};

/* An argument of a usage, as it is shown. */
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

/* Owner: the caller, who frees ->items with th_free(). In the sets' order. */
struct th_argument_rows th_options_usage_rows(const struct th_usage *usage);

/* The options of ROWS as help shows them, those of every command among them: by group, then by
 * name. */
void th_options_usage_sort(struct th_argument_rows *rows);

/* The option --NAME, of LENGTH bytes, in whole or as far as no other begins so; that of a letter.
 * NULL: there is none. */
const struct th_argument_row *th_options_usage_named(const struct th_argument_rows *rows,
                                                     const char *name, size_t length);
const struct th_argument_row *th_options_usage_lettered(const struct th_argument_rows *rows,
                                                        char letter);

/* Positional word INDEX of ROWS; NULL: there is none. */
const struct th_argument_row *th_options_usage_positional(const struct th_argument_rows *rows,
                                                          size_t index);

/* "STREAM...". Owner: the caller, who frees the text with th_free(). So for the next one: the text
 * behind the options, with the flags; SEPARATOR stands before these. */
char *th_options_usage_words(const struct th_usage *usage);
char *th_options_usage_after(const struct th_usage *usage, const char *separator);

#endif
