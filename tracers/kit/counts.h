/* Counts by function, tag or process: a hash table with open addressing. */
#ifndef TRACER_COUNTS_H
#define TRACER_COUNTS_H

#include <erl_nif.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A count: of a function, or of a tag or process in `function`, with module 0. All keys are words
 * that are the same in every environment and for ever. */
struct count {
    ERL_NIF_TERM module, function; /* function 0: a free slot */
    unsigned arity;
    uint64_t events; /* of a function: its calls */
    uint64_t calls;  /* of a process: its calls */
    uint64_t errors; /* exceptions of calls */
};

/* `size` slots, a power of two, at most half of them used. Initialised with {0}. */
struct counts {
    struct count *slots;
    size_t used, size;
    uint64_t lost; /* events not counted for want of memory */
};

/* Returns the slot of WANTED, or the free slot for it. */
static inline struct count *counts_place(const struct counts *counts, const struct count *wanted)
{
    uint64_t sum = (wanted->module >> 6) * 0x2545F491 + (wanted->function >> 6) + wanted->arity;
    size_t i = (sum * 0x9E3779B97F4A7C15 >> 32) & (counts->size - 1);

    while (counts->slots[i].function &&
           (counts->slots[i].function != wanted->function ||
            counts->slots[i].module != wanted->module || counts->slots[i].arity != wanted->arity))
        i = (i + 1) & (counts->size - 1);
    return &counts->slots[i];
}

/* Doubles the table. Without memory the table stays, and may fill up to all but one slot. */
static inline void counts_grow(struct counts *counts)
{
    struct counts old = *counts;
    size_t size = old.size ? 2 * old.size : 16;
    struct count *slots = calloc(size, sizeof *slots);

    if (!slots)
        return;
    counts->slots = slots;
    counts->size = size;
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].function)
            *counts_place(counts, &old.slots[i]) = old.slots[i];
    free(old.slots);
}

/* Sets *COUNT to MFA, {Module, Function, Arity or arguments}, without figures; false if MFA is
 * another term. Does not check that the names are atoms: a function found in the table has atoms.
 */
static inline bool counts_read_function(ErlNifEnv *env, ERL_NIF_TERM mfa, struct count *count)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (!enif_get_tuple(env, mfa, &size, &elements) || size != 3)
        return false;
    *count = (struct count){.module = elements[0], .function = elements[1]};
    return enif_get_uint(env, elements[2], &count->arity) ||
           enif_get_list_length(env, elements[2], &count->arity);
}

/* Inserts NEW, which the table must not have yet. */
static inline void counts_insert(struct counts *counts, const struct count *new)
{
    if (2 * (counts->used + 1) > counts->size)
        counts_grow(counts);
    if (counts->used + 1 >= counts->size) {
        counts->lost += new->events + new->errors;
        return;
    }
    *counts_place(counts, new) = *new;
    counts->used++;
}

static inline void counts_clear(struct counts *counts)
{
    free(counts->slots);
    *counts = (struct counts){.lost = counts->lost};
}

/* Adds the figures of MORE to its slot. False if the table lacks it. */
static inline int counts_add(struct counts *counts, const struct count *more)
{
    struct count *place = counts->size ? counts_place(counts, more) : NULL;

    if (!place || !place->function)
        return 0;
    place->events += more->events;
    place->calls += more->calls;
    place->errors += more->errors;
    return 1;
}

#endif
