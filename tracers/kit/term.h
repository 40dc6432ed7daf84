/* Prints terms, in full or bounded. */
#ifndef TRACER_TERM_H
#define TRACER_TERM_H

#include <erl_nif.h>

#include "line.h"
#include "local.h"

enum args { ARGS_NONE, ARGS_SHAPE, ARGS_BOUNDED, ARGS_FULL };

/* Words of a setting for enum args, in its order. */
#define TERM_ARGS "none shape bounded full"

/* Limits of ARGS_BOUNDED. An omitted rest is shown as "...(N)", with the number N of all. */
enum {
    MOST_ELEMENTS = 20, /* of a list, tuple or map */
    MOST_CHARACTERS = 80,
    MOST_BYTES = 64,
    MOST_DIGITS = 100,  /* also characters of other long terms */
    MOST_DEPTH = 6,     /* of nested terms */
    MOST_TOGETHER = 100 /* elements at all depths together */
};

/* Adds TERM to LINE; nothing for ARGS_NONE. ENV is the environment of TERM, and gets parts of it.
 */
TRACER_LOCAL void term_print(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term, enum args args);

/* The same behind BEFORE. For ARGS_NONE adds nothing at all. */
TRACER_LOCAL void term_print_after(struct line *line, const char *before, ErlNifEnv *env,
                                   ERL_NIF_TERM term, enum args args);

/* Adds the last element of {M, F, Args} as (A,B), that of {M, F, Arity} as /2; for ARGS_NONE always
 * the latter. */
TRACER_LOCAL void term_print_arguments(struct line *line, ErlNifEnv *env, ERL_NIF_TERM arguments,
                                       enum args args);

/* Adds " ! Class:Reason" of EXCEPTION, {Class, Reason}. */
TRACER_LOCAL void term_print_exception(struct line *line, ErlNifEnv *env, ERL_NIF_TERM exception,
                                       enum args args);

/* Adds the class of an exception, and the atom that REASON is or begins with, but no other part of
 * the reason: error:badmatch. */
TRACER_LOCAL void term_print_type(struct line *line, ErlNifEnv *env, ERL_NIF_TERM class,
                                  ERL_NIF_TERM reason);

#endif
