/* The text of a line that is edited, and the cursor in it. Inner header of the line editor. */
#ifndef TH_LINE_TEXT_H
#define TH_LINE_TEXT_H

#include "host/base/base.h"

struct th_line_text {
    struct th_buffer bytes; /* UTF-8 */
    size_t cursor;          /* at a character's first byte, or the end */
};

void th_line_set(struct th_line_text *line, const char *text);
void th_line_insert(struct th_line_text *line, const char *text, size_t size);

/* The place one character, or one word, before or behind AT; AT where there is none. */
size_t th_line_before(const struct th_line_text *line, size_t at);
size_t th_line_behind(const struct th_line_text *line, size_t at);
size_t th_line_word_before(const struct th_line_text *line, size_t at);
size_t th_line_word_behind(const struct th_line_text *line, size_t at);

/* Takes out what is from FROM to TO; the cursor is at FROM then. */
void th_line_cut(struct th_line_text *line, size_t from, size_t to);

/* Characters from FROM to TO, each taken for one column. */
size_t th_line_columns(const struct th_line_text *line, size_t from, size_t to);

#endif
