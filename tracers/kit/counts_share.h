/*
 * Counts of shares of a recording. A tracer whose TRACER_PART is struct counts gets functions for
 * share_save() and share_merge() from here.
 */
#ifndef TRACER_COUNTS_SHARE_H
#define TRACER_COUNTS_SHARE_H

#include "counts.h"
#ifdef TRACER_PART
#include "part.h"
#endif
#include "share.h"

/* Returns LIST with {Module or 0, Function, Arity, Events, Calls, Errors} for each count in front,
 * and clears COUNTS. */
static inline ERL_NIF_TERM counts_save(ErlNifEnv *env, struct counts *counts, ERL_NIF_TERM list)
{
    for (size_t i = 0; i < counts->size; i++) {
        const struct count *slot = &counts->slots[i];
        if (slot->function)
            list = enif_make_list_cell(
                env,
                enif_make_tuple6(
                    env, slot->module ? slot->module : enif_make_uint64(env, 0), slot->function,
                    enif_make_uint64(env, slot->arity), enif_make_uint64(env, slot->events),
                    enif_make_uint64(env, slot->calls), enif_make_uint64(env, slot->errors)),
                list);
    }
    counts_clear(counts);
    return list;
}

/* Adds such a list to COUNTS. False if it is damaged. */
static inline bool counts_take(ErlNifEnv *env, struct counts *counts, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM head;
    uint64_t arity;
    int size;

    while (enif_get_list_cell(env, list, &head, &list)) {
        struct count more = {0};
        uint64_t *const numbers[] = {&arity, &more.events, &more.calls, &more.errors};
        if (!share_numbers(env, head, 2, 4, numbers) ||
            !enif_get_tuple(env, head, &size, &elements))
            return false;
        more.module = enif_is_atom(env, elements[0]) ? elements[0] : 0;
        more.function = elements[1];
        more.arity = (unsigned)arity;
        if (!counts_add(counts, &more))
            counts_insert(counts, &more);
    }
    return true;
}

#ifdef TRACER_PART
static ERL_NIF_TERM counts_save_output(ErlNifEnv *env, struct output *output)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (struct part *part = parts.first; part; part = part->next) {
        if (part->own.lost)
            return 0;
        if (part->output == output)
            list = counts_save(env, &part->own, list);
    }
    return list;
}

static bool counts_merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM list)
{
    struct part *part = share_part(output);

    return part && counts_take(env, &part->own, list);
}
#endif

#endif
