/*
 * What completes command lines in shells: host/cli/completion/tracehost.bash asks
 *
 *     tracehost complete LINE BREAKS
 *
 * LINE being what was typed up to the cursor, BREAKS $COMP_WORDBREAKS. The answer is a line for
 * each thing that may be put in for what stands behind the last break: its kind, the text, and what
 * is put before the text, with the character 0x1f between them.
 *
 *     word     it is complete: a blank may follow
 *     part     it is not, as it ends in = or :
 *     files    any file whose path begins with the text
 *     folders  likewise
 *     sockets  likewise, and folders that may have some
 */
#ifndef TH_COMPLETE_H
#define TH_COMPLETE_H

#include "usage.h"

#include "host/control/argument.h"
#include "host/library/name_list.h"

/* A word that is being typed, at a prompt or in a shell. */
struct th_typed_word {
    const char *word; /* without its quotes */
    size_t begin;     /* what is looked for begins so many bytes behind that */
    /* Offers TEXT, if it begins as what was typed of it. */
    void (*add)(struct th_typed_word *typed, const char *text);
};

/* From the byte after the last SEPARATOR on. */
void th_options_typed_skip(struct th_typed_word *typed, char separator);

/* NAME,key=value,...: offers the settings that the tracer NAME declares, or values of the last one.
 * FOLDERS are looked in first. True: a path may be the value. */
bool th_options_typed_settings(struct th_typed_word *typed, const char *name,
                               const struct th_texts *folders);

/* A command line that is being typed in a shell, taken apart as the shell would. */
struct th_shell_line {
    struct th_names words; /* without their quotes; the last one is being typed, and may be empty */
    size_t kept;           /* so many bytes of the last word are left alone by what is put in */
    char quote;            /* the last word is in a quote that has not ended; 0: it is not */
    bool redirected;       /* the last word is a file of < or >; others of these are left out */
};

struct th_completion {
    struct th_typed_word typed; /* the first member */
    struct th_shell_line line;
    const struct th_usage *usage;    /* of the command */
    struct th_argument_rows rows;    /* all of its arguments */
    struct th_argument_rows options; /* those that are options */
    struct th_texts folders;         /* of -L */
    struct th_texts arguments;       /* that are no options */
};

/* Offers files, folders or sockets, as KIND says. Nothing is compared. */
void th_options_completion_add_files(struct th_completion *completion, const char *kind);

/* Offers values of ROW. */
void th_options_completion_add_value(struct th_completion *completion,
                                     const struct th_argument_row *row);

/* The words of a command of `tracehost ctl`, for the host of the socket that is the first argument.
 */
void th_options_completion_add_ctl(struct th_completion *completion);

#endif
