/* Counts by function, tag or process: a hash table with open addressing. */
#ifndef TRACER_COUNTS_H
#define TRACER_COUNTS_H

#include <erl_nif.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* What is counted: a function; or a tag or a process, which stand as function of module 0. All are
 * the same words in every environment and for ever. */
struct count {
    ERL_NIF_TERM module, function; /* function 0: the slot is free */
    unsigned arity;
    uint64_t events; /* of a function its calls */
    uint64_t calls;  /* of a process */
    uint64_t errors; /* exceptions of calls */
};

/* A power of two of slots, at most half of them used. Start it as {0}. */
struct counts {
    struct count *slots;
    size_t used, size;
    uint64_t lost; /* events that there was no memory to count */
};

/* Where WANTED is, or would be. */
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

/* If there is no memory it stays as it is, and may fill up but for one slot. */
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

/* Makes *COUNT that of MFA, {Module, Function, Arity or arguments}, without figures; false if MFA
 * is anything else. That the names are atoms is not looked at: where they have been found, they
 * are. */
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

/* Puts what is not there yet there. */
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

/* Adds the figures of MORE. False if it is not there yet. */
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
