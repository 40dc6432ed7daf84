/*
 * A hash table of tracees: from pid or port to a tracer's own struct, whose first member is a
 * struct tracee. For one thread at a time.
 */
#ifndef TRACER_TRACEES_H
#define TRACER_TRACEES_H

#include "line.h"
#include "mfa.h"

#include <stdint.h>
#include <stdlib.h>

struct tracee {
    struct tracee *next;
    ERL_NIF_TERM term; /* local pids and ports are the same word in every environment */
    ERL_NIF_TERM name; /* an atom: its latest registered name; 0: none */
    struct mfa first;  /* function with which it was started; module 0: unknown */
};

/* Sets TRACEE's name and first function to those that the recording tells of its beginning. */
static inline void tracee_ask(struct tracee *tracee)
{
    struct mfa *first = &tracee->first;

    if (TH_HAS(th_recorded_name) && !th_recorded_name(tracee->term, &tracee->name))
        tracee->name = 0;
    if (TH_HAS(th_recorded_first_call))
        th_recorded_first_call(tracee->term, &first->module, &first->function, &first->arity);
}

/* Adds what TRACEE is called: its registered name, else its first function as M:F/A. Returns whether
 * it is called anything. */
static inline bool tracee_add_label(struct line *line, const struct tracee *tracee)
{
    if (tracee->name)
        line_add_name(line, tracee->name);
    else if (tracee->first.module)
        line_add_function(line, tracee->first.module, tracee->first.function, tracee->first.arity);
    return tracee->name || tracee->first.module;
}

/* Initialised with {0}. */
struct tracees {
    struct tracee **slots;
    size_t used, size; /* a power of two, or 0 */
};

/* Hashes TERM. Local pids differ in their upper half, atoms in their lower half. A bit of a product
 * depends on the bits at and below its place: so the upper half is first mixed into the lower one.
 * The upper bits of the result are the best. */
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

/* Doubles the table. Without memory the table stays as it is. */
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

/* Adds a tracee that the table lacks: SIZE bytes, zero except the struct tracee at their start.
 * The name is that at the beginning of the recording. NULL if there is no memory. */
static inline void *tracees_add(struct tracees *tracees, ERL_NIF_TERM term, size_t size)
{
    struct tracee *tracee;

    if (tracees->used >= tracees->size)
        tracees_grow(tracees);
    tracee = tracees->size ? calloc(1, size) : NULL;
    if (!tracee)
        return NULL;
    tracee->term = term;
    tracee_ask(tracee);
    tracees_link(tracees, tracee);
    tracees->used++;
    return tracee;
}

/* Removes TRACEE; the caller frees it. */
static inline void tracees_remove(struct tracees *tracees, struct tracee *tracee)
{
    struct tracee **slot = &tracees->slots[tracees_slot(tracees, tracee->term)];

    while (*slot != tracee)
        slot = &(*slot)->next;
    *slot = tracee->next;
    tracees->used--;
}

/* Returns any tracee, NULL if there is none; *SLOT is 0 before the first call. */
static inline void *tracees_any(const struct tracees *tracees, size_t *slot)
{
    while (*slot < tracees->size && !tracees->slots[*slot])
        ++*slot;
    return *slot < tracees->size ? tracees->slots[*slot] : NULL;
}

#endif
