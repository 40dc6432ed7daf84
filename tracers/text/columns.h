/*
 * The widths of the columns of a share's lines.
 *
 * Columns are as wide as their widest entry so far. A share of a recording does not know the
 * entries before: it notes where its columns get wider. When the share is appended to the lines
 * before, lines with narrower columns are filled up.
 */
#ifndef TEXT_COLUMNS_H
#define TEXT_COLUMNS_H

#include "../kit/local.h"

#include <erl_nif.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct widths {
    size_t time, tracee; /* time 0: no line has a time */
};

struct columns;

/* Notes a line of SIZE bytes. *COLUMNS, NULL at first, has the changes of the widths. */
TRACER_LOCAL void columns_add(struct columns **columns, struct widths widths, size_t size);

/* Returns [{Offset, TimeWidth, TraceeWidth}], for each change, and frees COLUMNS, which may be NULL.
 * 0: there was no memory for a change. */
TRACER_LOCAL ERL_NIF_TERM columns_save(ErlNifEnv *env, struct columns *columns);

/* Appends FROM's lines, with the changes LIST, to TO, whose lines have WIDTHS. Updates WIDTHS. */
TRACER_LOCAL bool columns_merge(ErlNifEnv *env, FILE *from, ERL_NIF_TERM list,
                                struct widths *widths, FILE *to);

#endif
