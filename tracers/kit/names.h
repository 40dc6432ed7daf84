/*
 * Registered names and their owners: a table of tracees whose terms are the keys of the names. For one
 * thread at a time.
 *
 * In a replay of several nodes each node has its own names. A key is the name, an atom, with the
 * number of the node in the highest eight bits, which are 0 in atoms. A key of the first node, and in a
 * BEAM, is the name itself. Functions of the host or the BEAM get names, not keys.
 */
#ifndef TRACER_NAMES_H
#define TRACER_NAMES_H

#include "tracees.h"

#include <stdbool.h>

enum { NAMES_NODE = 56 /* the lowest bit of a node's number */ };

struct named {
    struct tracee tracee;
    ERL_NIF_TERM who; /* a local pid or port; 0: no owner any more */
    bool told;        /* known from a registration; else a guess */
};

static inline ERL_NIF_TERM names_key_of(ERL_NIF_TERM name, unsigned node)
{
    return name | (ERL_NIF_TERM)node << NAMES_NODE;
}

/* Returns the key of NAME in the node of TRACEE, a local pid or port. */
static inline ERL_NIF_TERM names_key(ERL_NIF_TERM name, ERL_NIF_TERM tracee)
{
    unsigned node;

    return TH_HAS(th_recorded_node) && th_recorded_node(tracee, &node) ? names_key_of(name, node)
                                                                       : name;
}

/* Returns the name with KEY. */
static inline ERL_NIF_TERM names_name(ERL_NIF_TERM key)
{
    return key & (((ERL_NIF_TERM)1 << NAMES_NODE) - 1);
}

/* Returns whether WORD, any term or a key, is a key. */
static inline bool names_are_key(ErlNifEnv *env, ERL_NIF_TERM word)
{
    return enif_is_atom(env, names_name(word));
}

/* Finds the owner of KEY when the recording began, if the recording tells it. */
static inline bool names_recorded(ERL_NIF_TERM key, ERL_NIF_TERM *who)
{
    return TH_HAS(th_recorded_owner) &&
           th_recorded_owner(names_name(key), (unsigned)(key >> NAMES_NODE), who);
}

/* Returns the owner of the name with KEY; 0 if unknown. */
static inline ERL_NIF_TERM names_find(const struct tracees *names, ERL_NIF_TERM key)
{
    const struct named *named = tracees_find(names, key);
    ERL_NIF_TERM who;

    if (named)
        return named->who;
    return names_recorded(key, &who) ? who : 0;
}

/* Returns whether a registration has named the owner of the name with KEY, or the recording does. */
static inline bool names_are_told(const struct tracees *names, ERL_NIF_TERM key)
{
    const struct named *named = tracees_find(names, key);
    ERL_NIF_TERM who;

    return named ? named->told : names_recorded(key, &who);
}

static inline struct named *names_set(struct tracees *names, ERL_NIF_TERM key, ERL_NIF_TERM who,
                                      size_t most)
{
    struct named *named = tracees_find(names, key);

    if (!named && names->used < most)
        named = tracees_add(names, key, sizeof *named);
    if (named)
        named->who = who;
    return named;
}

/* Sets the owner of the name with KEY to WHO; 0: none. False if there is no memory, or the table has MOST names.
 */
static inline bool names_give(struct tracees *names, ERL_NIF_TERM key, ERL_NIF_TERM who,
                              size_t most)
{
    struct named *named = names_set(names, key, who, most);

    if (named)
        named->told = who != 0;
    return named;
}

/* Sets WHO as the probable owner of the name with KEY, unless a registration has named one. */
static inline void names_guess(struct tracees *names, ERL_NIF_TERM key, ERL_NIF_TERM who,
                               size_t most)
{
    if (!names_are_told(names, key))
        names_set(names, key, who, most);
}

/* Removes all names. */
static inline void names_free(struct tracees *names)
{
    struct named *named;
    size_t slot = 0;

    while ((named = tracees_any(names, &slot))) {
        tracees_remove(names, &named->tracee);
        free(named);
    }
    free(names->slots);
    *names = (struct tracees){0};
}

#endif
