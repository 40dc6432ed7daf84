/*
 * What a command's argp tables say, for programs: `tracehost help --json` prints it, from which the
 * manual pages are made, and completion goes by it.
 *
 * Beside its argp_options a table may tell more. Its parser is called with TH_KEY_ABOUT, once,
 * after ARGP_KEY_INIT, and sets what it knows in the struct th_about that state->hook points to;
 * argp itself never does so.
 */
#ifndef TH_OPTION_TABLE_H
#define TH_OPTION_TABLE_H

#include "host/control/control.h"

#include <argp.h>
#include <stdbool.h>

enum { TH_KEY_ABOUT = 0x3000001 };

enum th_choices_how {
    TH_CHOICES_LIST = 1,  /* several, separated by commas */
    TH_CHOICES_OTHERS = 2 /* the words are some of what it may be */
};

/* The words that an option may have as its value. A table of them ends with one without an option.
 */
struct th_choices {
    int key;
    const char *option;       /* "--format" */
    const char *const *words; /* NULL behind them */
    unsigned how;             /* enum th_choices_how */
};

#define TH_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The index of VALUE in the words of KEY; ends the program with argp_error() if it is none. */
size_t th_option_choice(const struct th_choices table[], int key, const char *value,
                        struct argp_state *state);

struct th_about {
    const struct th_choices *choices;
    const struct th_choices *instead; /* in place of that of the same key; NULL: none is */
    const char *name;                 /* what NAME stands for in the usage: TRACER or LIBRARY */
    /* Commands of its own. */
    const struct th_control_command *commands;
    size_t command_count;
};

struct th_option_row {
    const char *name; /* NULL: it has only a letter */
    char letter;      /* 0: it has none */
    const char *argument;
    bool optional; /* the argument is */
    int group;
    char *help;
    const struct th_choices *choices; /* NULL: any value */
};

struct th_option_table {
    struct th_option_row *items; /* by group, then by name */
    size_t count, capacity;
    const char *usage;     /* the arguments: "STREAM..." */
    char *before, *after;  /* what help says before and behind the options */
    struct th_about about; /* of the command itself; its choices are the options' */
    bool in_order;         /* what is behind the first argument is no option */
};

/* INPUT is what the tables would be parsed with. */
void th_option_table_read(struct th_option_table *table, const struct argp *argp, void *input);
void th_option_table_free(struct th_option_table *table);

/* The option --NAME, of LENGTH bytes, in whole or as far as no other begins so; that of a letter.
 * NULL: there is none. */
const struct th_option_row *th_option_named(const struct th_option_table *table, const char *name,
                                            size_t length);
const struct th_option_row *th_option_lettered(const struct th_option_table *table, char letter);

#endif
