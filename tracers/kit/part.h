/*
 * Parts: data that each thread gathers for an output, without a lock.
 *
 * Before it includes this, a tracer defines TRACER_PART, the type of the data, which starts as
 * zeros. Parts stay until the tracer is unloaded and adds them up.
 */
#ifndef TRACER_PART_H
#define TRACER_PART_H

#include "output.h"

struct part {
    struct part *next;      /* next in parts.first */
    struct part *next_here; /* next in the list of its thread */
    struct output *output;
    TRACER_PART own;
};

static struct {
    struct part *_Atomic first; /* newest part; any thread adds in front, unload reads */
    atomic_ullong lost;         /* events without memory for a part */
} parts;

/* Parts of this thread: the one for states without settings, and the others. The lists of all
 * threads end when the library is unloaded. */
static _Thread_local struct {
    struct part *plain;
    struct part *others;
} parts_here;

/* Adds a new part in front of LIST, a list of this thread. NULL if there is no memory. */
static struct part *part_new(struct part **list, struct output *output)
{
    struct part *part = output ? calloc(1, sizeof *part) : NULL;

    if (!part) {
        atomic_fetch_add_explicit(&parts.lost, 1, memory_order_relaxed);
        return NULL;
    }
    part->output = output;
    part->next_here = *list;
    *list = part;
    part->next = atomic_load_explicit(&parts.first, memory_order_relaxed);
    /* Release: unload then sees all links behind the first part. */
    while (!atomic_compare_exchange_weak_explicit(&parts.first, &part->next, part,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return part;
}

static struct part *part_of_settings(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct part *part = parts_here.others;

    while (part && part->output != output)
        part = part->next_here;
    return part ? part : part_new(&parts_here.others, output);
}

/* Returns this thread's part for that state. NULL, and counted as lost, if there is no memory. */
static inline struct part *part_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    if (output_has_settings(env, state))
        return part_of_settings(env, state);
    return parts_here.plain ? parts_here.plain : part_new(&parts_here.plain, output_of(env, state));
}

/* For unload: frees all parts; the tracer has freed their contents. */
static void parts_free(void)
{
    struct part *part = parts.first, *next;

    for (; part; part = next) {
        next = part->next;
        free(part);
    }
    parts.first = parts_here.plain = parts_here.others = NULL;
}

#endif
