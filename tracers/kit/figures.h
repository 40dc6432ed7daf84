/* Figures of the calls of a function, in all processes or one; and a hash table of them. */
#ifndef TRACER_FIGURES_H
#define TRACER_FIGURES_H

#include "histogram.h"
#include "local.h"
#include "schedule.h"

#include <erl_nif.h>

struct figures {
    ERL_NIF_TERM process; /* 0: all processes */
    ERL_NIF_TERM module, function;
    unsigned arity;
    uint64_t calls, errors;
    uint64_t ended;      /* calls whose end was reported */
    uint64_t untold;     /* calls ended by the end of an outer call, without an event of their
                               own */
    uint64_t total, own; /* nanoseconds */
    struct spent spent, own_spent; /* the parts of them on and off a scheduler */
    struct histogram times;        /* of each call that ended with known times */
    size_t number;                 /* number of figures in the table before these */
};

/* `size` slots, a power of two: NULL or figures, at most half used. Initialised with {0}. */
struct figures_table {
    struct figures **slots;
    size_t used, size;
    uint64_t lost;       /* events lost for want of memory */
    size_t most;         /* maximum of `used`; `rest` then has the figures of all others; 0: no
                            limit */
    struct figures rest; /* function 0 */
};

/* Returns the figures of WANTED's process, module, function and arity. Makes new ones if there are
 * none; if `most` are in use, returns `rest` instead. Returns NULL if WANTED has new names that are
 * no atoms; NULL, and counts the event in `lost`, if there is no memory. */
TRACER_LOCAL struct figures *figures_of(ErlNifEnv *env, struct figures_table *table,
                                        const struct figures *wanted);

/* Moves all of FROM to TO, and frees the remains of FROM. */
TRACER_LOCAL void figures_move(struct figures_table *to, struct figures_table *from);

/* Moves the `used` figures to the first slots, sorted by their own time, the most first. After that
 * the table can only be freed. */
TRACER_LOCAL void figures_sort(struct figures_table *table);

/* Returns the figures as a list in the order of their first use, for a share of a recording; 0 if
 * there is no memory. `rest` is not used. figures_take() adds such a list to TABLE; false if it is
 * damaged, or there is no memory. */
TRACER_LOCAL ERL_NIF_TERM figures_save(ErlNifEnv *env, const struct figures_table *table);
TRACER_LOCAL bool figures_take(ErlNifEnv *env, struct figures_table *table, ERL_NIF_TERM list);

/* The same for the buckets of a histogram, without its `count` and `max`. */
TRACER_LOCAL ERL_NIF_TERM figures_save_histogram(ErlNifEnv *env, const struct histogram *histogram);
TRACER_LOCAL bool figures_take_histogram(ErlNifEnv *env, struct histogram *histogram,
                                         ERL_NIF_TERM binary);

TRACER_LOCAL void figures_free(struct figures_table *table);

#endif
