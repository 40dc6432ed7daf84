/*
 * Completes command lines in shells. host/cli/completion/tracehost.bash runs
 *
 *     tracehost complete LINE BREAKS
 *
 * LINE is the text typed up to the cursor, BREAKS is $COMP_WORDBREAKS. The answer has a line for
 * each candidate that may replace the text after the last break: a kind, the candidate, and the
 * text to put before the candidate, separated by the character 0x1f.
 *
 *     word     a complete word: a blank may follow
 *     part     an incomplete word, which ends in =, : or .
 *     files    any file whose path begins with the text
 *     folders  any folder whose path begins with the text
 *     sockets  likewise, and folders that may contain sockets
 */
#ifndef TH_COMPLETE_H
#define TH_COMPLETE_H

#include "usage.h"

#include "host/control/argument.h"
#include "host/library/name_list.h"

/* A word that is being typed, at a prompt or in a shell. */
struct th_typed_word {
    const char *word; /* without its quotes */
    size_t begin;     /* byte of `word` at which the text to complete begins */
    /* Offers TEXT if TEXT begins with the typed text. */
    void (*add)(struct th_typed_word *typed, const char *text);
};

/* Moves typed->begin behind the last SEPARATOR. */
void th_options_typed_skip(struct th_typed_word *typed, char separator);

/* Completes NAME,key=value,...: offers the settings of the tracer NAME, or the values of the last
 * setting. FOLDERS are searched first for the tracer. Returns true if the value may be a path. */
bool th_options_typed_settings(struct th_typed_word *typed, const char *name,
                               const struct th_texts *folders);

/* A command line that is being typed in a shell, split as the shell splits it. */
struct th_shell_line {
    struct th_names words; /* without their quotes; the last word is being typed and may be empty */
    size_t kept;           /* bytes at the start of the last word that the shell keeps */
    char quote;            /* open quote in the last word; 0: none */
    bool redirected;       /* the last word is the file of < or >; others are left out */
};

struct th_completion {
    struct th_typed_word typed; /* must be the first member */
    struct th_shell_line line;
    const struct th_usage *usage;     /* of the command */
    struct th_argument_rows rows;     /* all arguments */
    struct th_argument_rows options;  /* those that are options */
    struct th_texts folders;          /* of -L */
    struct th_texts arguments;        /* words that are no options */
    const char *cookie, *cookie_file; /* values of --cookie and --cookie-file; NULL: not given */
};

/* Offers files, folders or sockets, according to KIND, without comparing names: the shell does. */
void th_options_completion_add_files(struct th_completion *completion, const char *kind);

/* Offers values of ROW. */
void th_options_completion_add_value(struct th_completion *completion,
                                     const struct th_argument_row *row);

/* Offers patterns for the modules and functions that the running node NODE has loaded. */
void th_options_completion_add_node(struct th_completion *completion, const char *node);

/* Offers words of a `tracehost ctl` command. The first of c->arguments is the host's socket. */
void th_options_completion_add_ctl(struct th_completion *completion);

#endif
