/*
 * A line that is typed at a terminal: edited as in Emacs, with a history and completion. On a
 * terminal that can move its cursor; lines that are too long for its width scroll.
 *
 *   editor = th_line_editor_create(prompt, &completer);
 *   while (th_line_edit(editor, descriptor, &line) == TH_LINE_TYPED) ...
 *   th_line_editor_free(editor);
 *
 * The terminal is as it was whenever th_line_edit() does not run.
 */
#ifndef TH_LINE_EDITOR_H
#define TH_LINE_EDITOR_H

#include "host/base/base.h"

/* Words that may stand at the end of what was typed. */
struct th_completions {
    size_t from;  /* the byte of the line where they begin */
    char **words; /* those that begin with what stands there; let go of by the editor */
    size_t count, capacity;
};

struct th_completer {
    /* Adds to COMPLETIONS what LINE, up to the cursor, may go on with. Ends the line, as Ctrl-C
     * does, if it leaves SIGINT pending. */
    void (*complete)(void *context, const char *line, struct th_completions *completions);
    void *context;
};

/* Adds WORD, copied, if it begins with PREFIX and is not there yet. */
void th_completions_add(struct th_completions *completions, const char *word, const char *prefix);

enum th_line_end {
    TH_LINE_TYPED,
    TH_LINE_INTERRUPTED, /* Ctrl-C: what was typed is forgotten */
    TH_LINE_OVER,        /* Ctrl-D on an empty line, or the terminal is gone */
    TH_LINE_NEWS         /* the other end of the descriptor has hung up */
};

struct th_line_editor;
struct th_line_editor *th_line_editor_create(const char *prompt,
                                             const struct th_completer *completer);
void th_line_editor_free(struct th_line_editor *editor);

/* Reads a line from stdin, shown on stdout; *LINE is good until the next call. SIGINT,
 * SIGTERM and SIGHUP must be blocked, and have handlers: they are let in while this waits, and end
 * it as TH_LINE_INTERRUPTED. */
enum th_line_end th_line_edit(struct th_line_editor *editor, int descriptor, const char **line);

#endif
