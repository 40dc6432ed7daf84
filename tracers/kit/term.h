/* How much of a term is printed. */
#ifndef TRACER_TERM_H
#define TRACER_TERM_H

#include <erl_nif.h>

#include "line.h"
#include "local.h"

enum args { ARGS_NONE, ARGS_SHAPE, ARGS_BOUNDED, ARGS_FULL };

/* The words of a setting that says which: in that order. */
#define TERM_ARGS "none shape bounded full"

/* What ARGS_BOUNDED shows of a term at most. What is left out stands as "...(N)", N being how much
 * there is in all. */
enum {
    MOST_ELEMENTS = 20, /* of a list, tuple or map */
    MOST_CHARACTERS = 80,
    MOST_BYTES = 64,
    MOST_DIGITS = 100,  /* also of whatever else is long */
    MOST_DEPTH = 6,     /* of terms inside of terms */
    MOST_TOGETHER = 100 /* elements, at all depths */
};

/* Adds TERM to LINE; nothing for ARGS_NONE. The environment is one for TERM, and gets parts of it.
 */
TRACER_LOCAL void term_print(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term, enum args args);

#endif
