/*
 * What a tracer keeps of each tracee: a hash table from pid or port to a struct of the tracer's
 * own, which begins with a struct tracee. Not for several threads at once.
 */
#ifndef TRACER_TRACEES_H
#define TRACER_TRACEES_H

#include <erl_nif.h>

#include <stdint.h>
#include <stdlib.h>

struct tracee {
    struct tracee *next;
    ERL_NIF_TERM term; /* local pids and ports are the same words in every environment */
    ERL_NIF_TERM name; /* an atom: what it was registered as last; 0: it was not */
};

/* Start it as {0}. */
struct tracees {
    struct tracee **slots;
    size_t used, size; /* a power of two, or 0 */
};

/* Local pids tell themselves apart in their upper half, atoms in their lower one. A product's bits
 * depend on those that are not above them: so the upper half comes down first. The best bits are
 * the upper ones. */
static inline uint64_t tracees_hash(ERL_NIF_TERM term)
{
    return ((uint64_t)term ^ (uint64_t)term >> 35) * 0x9E3779B97F4A7C15;
}

static inline size_t tracees_slot(const struct tracees *tracees, ERL_NIF_TERM term)
{
    return (tracees_hash(term) >> 32) & (tracees->size - 1);
}

static inline void *tracees_find(const struct tracees *tracees, ERL_NIF_TERM term)
{
    struct tracee *tracee = tracees->size ? tracees->slots[tracees_slot(tracees, term)] : NULL;

    while (tracee && tracee->term != term)
        tracee = tracee->next;
    return tracee;
}

static inline void tracees_link(struct tracees *tracees, struct tracee *tracee)
{
    struct tracee **slot = &tracees->slots[tracees_slot(tracees, tracee->term)];

    tracee->next = *slot;
    *slot = tracee;
}

/* If there is no memory it stays as it is. */
static inline void tracees_grow(struct tracees *tracees)
{
    struct tracees old = *tracees;
    size_t size = old.size ? 2 * old.size : 64;
    struct tracee **slots = calloc(size, sizeof(struct tracee *));

    if (!slots)
        return;
    tracees->slots = slots;
    tracees->size = size;
    for (size_t i = 0; i < old.size; i++)
        for (struct tracee *tracee = old.slots[i], *next; tracee; tracee = next) {
            next = tracee->next;
            tracees_link(tracees, tracee);
        }
    free(old.slots);
}

/* SIZE bytes, zero but for the tracee at their beginning, which is not there yet. NULL if there is
 * no memory. */
static inline void *tracees_add(struct tracees *tracees, ERL_NIF_TERM term, size_t size)
{
    struct tracee *tracee;

    if (tracees->used >= tracees->size)
        tracees_grow(tracees);
    tracee = tracees->size ? calloc(1, size) : NULL;
    if (!tracee)
        return NULL;
    tracee->term = term;
    tracees_link(tracees, tracee);
    tracees->used++;
    return tracee;
}

/* Takes it out; the caller frees it. */
static inline void tracees_remove(struct tracees *tracees, struct tracee *tracee)
{
    struct tracee **slot = &tracees->slots[tracees_slot(tracees, tracee->term)];

    while (*slot != tracee)
        slot = &(*slot)->next;
    *slot = tracee->next;
    tracees->used--;
}

/* Any one that is there, NULL if there is none; begin with *SLOT as 0. */
static inline void *tracees_any(const struct tracees *tracees, size_t *slot)
{
    while (*slot < tracees->size && !tracees->slots[*slot])
        ++*slot;
    return *slot < tracees->size ? tracees->slots[*slot] : NULL;
}

#endif
