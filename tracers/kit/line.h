/*
 * A line of text that grows while it is written, and goes to its file in one piece, so that text of
 * other threads cannot come in between.
 *
 * Formats are those of enif_snprintf(): printf()'s, and %#T for a term as Erlang text, %T in a
 * BEAM. (enif_fprintf() is unsuitable: in an Erlang node it writes to stdout without stdio's
 * buffer.)
 */
#ifndef TRACER_LINE_H
#define TRACER_LINE_H

#include "loss.h"

#include <erl_nif.h>
#include <nif_module.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

struct line {
    char *text; /* `first`, or allocated memory if `first` is too small */
    size_t used, size;
    int short_of_memory; /* a part was left out */
    int for_people;      /* terms in the user's encoding; else in the same for all users */
    int for_programs;    /* names as Erlang writes them, whatever the user has asked for */
    char first[2000];
};

static inline void line_start(struct line *line)
{
    line->text = line->first;
    line->used = 0;
    line->size = sizeof line->first;
    line->short_of_memory = 0;
    line->for_people = 0;
    line->for_programs = 0;
}

/* Marks the line as incomplete: no memory for a part of it. */
static inline void line_fall_short(struct line *line)
{
    line->short_of_memory = 1;
    loss_add();
}

/* Makes room for MORE bytes. 0 if there is no memory. */
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

/* Adds formatted text. If it cuts text, a BEAM's enif_vsnprintf() does not return the whole length,
 * but a number not less than the room; so the room is doubled until the text fits. A part without
 * memory is left out. */
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

/* Adds the name in Elixir's form; see th_elixir_name(). False, with nothing added, if it is to be
 * written as Erlang writes it. */
static inline int line_add_elixir(struct line *line, ERL_NIF_TERM module, ERL_NIF_TERM function)
{
    size_t length, room;

    if (line->for_programs || !TH_HAS(th_elixir_name))
        return 0;
    do {
        room = line->size - line->used;
        length = th_elixir_name(line->text + line->used, room, module, function);
    } while (length >= room && line_grow(line, length));
    line->used += length < room ? length : strlen(line->text + line->used);
    return length > 0;
}

/* Adds the name of a module or process. */
static inline void line_add_name(struct line *line, ERL_NIF_TERM name)
{
    if (!line_add_elixir(line, name, 0))
        line_add_term(line, name);
}

/* Adds a function without its arity. */
static inline void line_add_called(struct line *line, ERL_NIF_TERM module, ERL_NIF_TERM function)
{
    if (line_add_elixir(line, module, function))
        return;
    line_add_term(line, module);
    line_add(line, ":");
    line_add_term(line, function);
}

static inline void line_add_function(struct line *line, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                     unsigned arity)
{
    line_add_called(line, module, function);
    line_add(line, "/%u", arity);
}

/* Adds spaces up to COLUMN, at least one. */
static inline void line_pad(struct line *line, size_t column)
{
    do
        line_add(line, " ");
    while (line->used < column);
}

/* Discards the line. */
static inline void line_drop(struct line *line)
{
    if (line->text != line->first)
        free(line->text);
}

/* Begins a record of SIZE bytes: the file's buffer holds whole records, as far as they fit, so that a
 * buffer that outlives the program does. record_end() must follow. */
static inline void record_begin(FILE *file, size_t size)
{
    flockfile(file);
    if (__fpending(file) + size > __fbufsize(file))
        fflush_unlocked(file);
}

static inline void record_end(FILE *file)
{
    funlockfile(file);
}

/* Writes SIZE bytes of TEXT as one record. */
static inline void line_write(const char *text, size_t size, FILE *file)
{
    record_begin(file, size);
    fwrite_unlocked(text, 1, size, file);
    record_end(file);
}

/* Writes the line with a line feed, unless a part is missing, and discards it. */
static inline void line_end(struct line *line, FILE *file)
{
    line_add(line, "\n");
    if (!line->short_of_memory)
        line_write(line->text, line->used, file);
    line_drop(line);
}

#endif
