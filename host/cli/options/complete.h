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
 *     part     it is not
 *     files    any file whose path begins with the text
 *     folders  likewise
 *     sockets  likewise, and folders that may have some
 */
#ifndef TH_COMPLETE_H
#define TH_COMPLETE_H

#include "usage.h"
#include "host/cli/shell_line.h"

struct th_completion {
    struct th_shell_line line;
    const struct th_usage *usage;    /* of the command */
    struct th_argument_rows rows;    /* all of its arguments */
    struct th_argument_rows options; /* those that are options */
    const char *word;                /* what is being typed, without its quotes */
    size_t begin;                    /* what is looked for begins so many bytes behind that */
    const char **folders;            /* of -L */
    size_t folder_count, folder_capacity;
    const char **arguments; /* that are no options */
    size_t argument_count, argument_capacity;
};

/* Offers what is looked for, if it begins as what was typed of it; KIND as above. Of files
 * nothing is compared. */
void th_options_completion_add(struct th_completion *completion, const char *kind,
                               const char *text);
void th_options_completion_add_files(struct th_completion *completion, const char *kind);

/* From the byte after the last SEPARATOR on. */
void th_options_completion_skip(struct th_completion *completion, char separator);

/* Offers values of ROW. */
void th_options_completion_add_value(struct th_completion *completion,
                                     const struct th_argument_row *row);

/* The words of a command of `tracehost ctl`, for the host of the socket that is the first argument.
 */
void th_options_completion_add_ctl(struct th_completion *completion);

#endif
