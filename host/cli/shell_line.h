/* A command line that is being typed in a shell, taken apart as the shell would, and what it is
 * about to put in. */
#ifndef TH_SHELL_LINE_H
#define TH_SHELL_LINE_H

#include "host/base/base.h"

#include <stdbool.h>

struct th_shell_line {
    char **words; /* without their quotes; the last one is being typed, and may be empty */
    size_t count, capacity;
    size_t kept;     /* so many bytes of the last word are left alone by what is put in */
    char quote;      /* the last word is in a quote that has not ended; 0: it is not */
    bool redirected; /* the last word is a file of < or >; others of these are left out */
};

/* LINE ends at the cursor. BREAKS: the characters at which the shell begins to put in, but that do
 * not end a word ($COMP_WORDBREAKS); those among them that do are known. */
void th_cli_shell_line_read(struct th_shell_line *line, const char *text, const char *breaks);
void th_cli_shell_line_free(struct th_shell_line *line);

/* TEXT as it is typed there, as a part of the last word. */
void th_cli_shell_line_quote(const struct th_shell_line *line, const char *text,
                             struct th_buffer *out);

#endif
