/*
 * Lines that are typed at a terminal, edited by libedit as in Emacs, with a history and completion.
 *
 *   editor = th_cli_line_editor_create(stdout, complete, context);
 *   while (th_cli_line_edit(editor, "prompt> ", descriptor, &line) == TH_LINE_TYPED) ...
 *   th_cli_line_editor_free(editor);
 *
 * A terminal whose cursor cannot be moved ($TERM is "dumb", or not set) edits lines by itself. The
 * terminal is as its shell uses it whenever th_cli_line_edit() does not run. One thread, and one
 * editor at a time.
 */
#ifndef TH_LINE_EDITOR_H
#define TH_LINE_EDITOR_H

#include "host/library/name_list.h"

#include <stdio.h>

/* Words that may stand at the end of what was typed. */
struct th_completions {
    size_t from;           /* the byte of the line where they begin */
    struct th_names words; /* those that begin with what stands there; let go of by the editor */
};

/* Adds to COMPLETIONS what LINE, up to the cursor, may go on with. Ends the line, as Ctrl-C does,
 * if it leaves SIGINT pending. */
typedef void th_completer(void *context, const char *line, struct th_completions *completions);

/* Adds WORD, copied, if it begins with PREFIX and is not there yet. */
void th_cli_completions_add(struct th_completions *completions, const char *word,
                            const char *prefix);

enum th_line_end {
    TH_LINE_TYPED,
    TH_LINE_INTERRUPTED, /* Ctrl-C: what was typed is forgotten */
    TH_LINE_OVER,        /* Ctrl-D on an empty line, or the terminal is gone */
    TH_LINE_NEWS         /* the other end of the descriptor has hung up */
};

/* True: stdin and stdout are a terminal whose cursor can be moved. */
bool th_cli_line_terminal(void);

/* Lines are shown on OUT. COMPLETE is called with CONTEXT; it may be NULL. NULL: the memory for it
 * is not there. */
struct th_line_editor;
struct th_line_editor *th_cli_line_editor_create(FILE *out, th_completer *complete, void *context);
void th_cli_line_editor_free(struct th_line_editor *editor);

/* Reads a line from stdin; *LINE, without its end, is good until the next call. SIGINT, SIGTERM and
 * SIGHUP must be blocked, and have handlers: they are let in while this waits, and end it as
 * TH_LINE_INTERRUPTED. A DESCRIPTOR of -1 has no other end. */
enum th_line_end th_cli_line_edit(struct th_line_editor *editor, const char *prompt, int descriptor,
                                  const char **line);

/* If a line is being edited, the terminal becomes what it was. For the handler of a crash: it is
 * async-signal-safe. */
void th_cli_line_editor_restore(void);

#endif
