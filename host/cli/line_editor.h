/*
 * Reads lines from a terminal, edited by libedit as in Emacs, with a history and completion.
 *
 *   editor = th_cli_line_editor_create(stdout, complete, context);
 *   while (th_cli_line_edit(editor, "prompt> ", descriptor, &line) == TH_LINE_TYPED) ...
 *   th_cli_line_editor_free(editor);
 *
 * If the terminal cannot move its cursor ($TERM is "dumb" or not set), the terminal's own line
 * editing is used. While th_cli_line_edit() does not run, the terminal has its original settings.
 * Thread: one thread, and one editor at a time.
 */
#ifndef TH_LINE_EDITOR_H
#define TH_LINE_EDITOR_H

#include "host/library/name_list.h"

#include <stdio.h>

/* Candidate words for the end of the typed line. */
struct th_completions {
    size_t from;           /* byte of the line at which the candidates begin */
    struct th_names words; /* candidates that extend the typed text; the editor frees them */
};

/* Adds the possible continuations of LINE, which ends at the cursor, to COMPLETIONS. If the
 * function leaves SIGINT pending, the line ends as with Ctrl-C. */
typedef void th_completer(void *context, const char *line, struct th_completions *completions);

/* Adds a copy of WORD if WORD begins with PREFIX and is not yet in COMPLETIONS. */
void th_cli_completions_add(struct th_completions *completions, const char *word,
                            const char *prefix);

enum th_line_end {
    TH_LINE_TYPED,
    TH_LINE_INTERRUPTED, /* Ctrl-C: the typed text is dropped */
    TH_LINE_OVER,        /* Ctrl-D on an empty line, or the terminal is gone */
    TH_LINE_NEWS         /* the other end of the descriptor has hung up */
};

/* Returns true if stdin and stdout are terminals and the cursor can be moved. */
bool th_cli_line_terminal(void);

/* Creates an editor that writes to OUT. COMPLETE is called with CONTEXT; may be NULL. Returns NULL
 * if memory is short. */
struct th_line_editor;
struct th_line_editor *th_cli_line_editor_create(FILE *out, th_completer *complete, void *context);
void th_cli_line_editor_free(struct th_line_editor *editor);

/* Reads a line from stdin. *LINE has no newline and is valid until the next call. A DESCRIPTOR of
 * -1 is not watched.
 * Thread: SIGINT, SIGTERM and SIGHUP must have handlers and be blocked; they are unblocked only
 * while this function waits, and end the line as TH_LINE_INTERRUPTED. */
enum th_line_end th_cli_line_edit(struct th_line_editor *editor, const char *prompt, int descriptor,
                                  const char **line);

/* Restores the terminal's settings if a line is being edited. Async-signal-safe, for the handler of
 * a crash. */
void th_cli_line_editor_restore(void);

#endif
