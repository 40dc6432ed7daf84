/* What is known of the calls of a function, or of those that one process made; and a hash table of
 * these. */
#ifndef TRACER_FIGURES_H
#define TRACER_FIGURES_H

#include "histogram.h"
#include "local.h"

#include <erl_nif.h>

struct figures {
    ERL_NIF_TERM process; /* 0: of all */
    ERL_NIF_TERM module, function;
    unsigned arity;
    uint64_t calls, errors;
    uint64_t ended;         /* calls whose end was told */
    uint64_t untold;        /* calls that have ended, as those around them have; no event told it */
    uint64_t total, own;    /* nanoseconds */
    struct histogram times; /* of each call that ended and whose times are known */
};

/* A power of two of slots, NULL or figures, at most half of them used. Start it as {0}. */
struct figures_table {
    struct figures **slots;
    size_t used, size;
    uint64_t lost;       /* events that there was no memory for */
    size_t most;         /* so many at most, then `rest` is of all others; 0: any number */
    struct figures rest; /* function 0 */
};

/* The figures of that process, module, function and arity; new ones if there are none. NULL, and
 * lost, if there is no memory, or if the names of new ones are no atoms. */
TRACER_LOCAL struct figures *figures_of(ErlNifEnv *env, struct figures_table *table,
                                        const struct figures *wanted);

/* Moves all of FROM to TO, and frees what is left of it. */
TRACER_LOCAL void figures_move(struct figures_table *to, struct figures_table *from);

/* The figures in a row, from the first slot on, `used` of them: those with the most time of their
 * own first. Then the table can only be freed. */
TRACER_LOCAL void figures_sort(struct figures_table *table);

TRACER_LOCAL void figures_free(struct figures_table *table);

#endif
