/*
 * A line of text that grows as it is written, and leaves for its file in one piece: what other
 * threads write does not come in between.
 *
 * Formats are those of enif_snprintf(): printf()'s, and %#T for a term as Erlang text, %T in a
 * BEAM. (enif_fprintf() would not do: an Erlang node lets it write to stdout past the buffer that
 * stdio has.)
 */
#ifndef TRACER_LINE_H
#define TRACER_LINE_H

#include "loss.h"

#include <erl_nif.h>
#include <nif_module.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    char *text; /* `first`, or allocated when that is too small */
    size_t used, size;
    int short_of_memory; /* something was left out */
    int for_people;      /* terms are in the user's encoding, not the same for all */
    char first[2000];
};

static inline void line_start(struct line *line)
{
    line->text = line->first;
    line->used = 0;
    line->size = sizeof line->first;
    line->short_of_memory = 0;
    line->for_people = 0;
}

/* There is no memory for a part of it. */
static inline void line_fall_short(struct line *line)
{
    line->short_of_memory = 1;
    loss_add();
}

/* Makes room for MORE than there is. 0 if there is no memory. */
static inline int line_grow(struct line *line, size_t more)
{
    size_t size = 2 * line->size + more;
    char *text = line->text == line->first ? malloc(size) : realloc(line->text, size);

    if (!text) {
        line_fall_short(line);
        return 0;
    }
    if (line->text == line->first)
        memcpy(text, line->first, line->used);
    line->text = text;
    line->size = size;
    return 1;
}

/* Where text had to be cut, a BEAM's enif_vsnprintf() does not say how much there was; but what it
 * says is no less than what it had room for. What there is no memory for is left out. */
static inline void line_add(struct line *line, const char *format, ...)
{
    va_list arguments;
    size_t room;
    int length;

    do {
        room = line->size - line->used;
        va_start(arguments, format);
        length = enif_vsnprintf(line->text + line->used, room, format, arguments);
        va_end(arguments);
        if (length < 0)
            return;
    } while ((size_t)length + 1 >= room && line_grow(line, (size_t)length));
    line->used += (size_t)length + 1 < room ? (size_t)length : strlen(line->text + line->used);
}

/* In a BEAM, whose tracers have no user: as %#T. */
static inline void line_add_term(struct line *line, ERL_NIF_TERM term)
{
    size_t length, room;

    if (!line->for_people || !TH_HAS(th_show_term)) {
        line_add(line, "%#T", term);
        return;
    }
    do {
        room = line->size - line->used;
        length = th_show_term(line->text + line->used, room, term);
    } while (length >= room && line_grow(line, length));
    line->used += length < room ? length : strlen(line->text + line->used);
}

static inline void line_add_function(struct line *line, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                     unsigned arity)
{
    line_add_term(line, module);
    line_add(line, ":");
    line_add_term(line, function);
    line_add(line, "/%u", arity);
}

/* Spaces up to COLUMN, one at least. */
static inline void line_pad(struct line *line, size_t column)
{
    do
        line_add(line, " ");
    while (line->used < column);
}

/* Forgets the line. */
static inline void line_drop(struct line *line)
{
    if (line->text != line->first)
        free(line->text);
}

/* Writes the line and its end, unless a part of it is missing, and forgets it. */
static inline void line_end(struct line *line, FILE *file)
{
    line_add(line, "\n");
    if (!line->short_of_memory)
        fwrite(line->text, 1, line->used, file);
    line_drop(line);
}

#endif
