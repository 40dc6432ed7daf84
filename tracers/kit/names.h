/* Registered names and their owners: a table of tracees whose terms are the names. For one thread
 * at a time. */
#ifndef TRACER_NAMES_H
#define TRACER_NAMES_H

#include "tracees.h"

#include <stdbool.h>

struct named {
    struct tracee tracee;
    ERL_NIF_TERM who; /* a local pid or port; 0: no owner any more */
    bool told;        /* known from a registration; else a guess */
};

/* Returns the owner of NAME, an atom; 0 if unknown. */
static inline ERL_NIF_TERM names_find(const struct tracees *names, ERL_NIF_TERM name)
{
    const struct named *named = tracees_find(names, name);
    ERL_NIF_TERM who;

    if (named)
        return named->who;
    return TH_HAS(th_recorded_owner) && th_recorded_owner(name, &who) ? who : 0;
}

/* Returns whether a registration has named the owner of NAME, an atom, or the recording does. */
static inline bool names_are_told(const struct tracees *names, ERL_NIF_TERM name)
{
    const struct named *named = tracees_find(names, name);
    ERL_NIF_TERM who;

    if (named)
        return named->told;
    return TH_HAS(th_recorded_owner) && th_recorded_owner(name, &who);
}

static inline struct named *names_set(struct tracees *names, ERL_NIF_TERM name, ERL_NIF_TERM who,
                                      size_t most)
{
    struct named *named = tracees_find(names, name);

    if (!named && names->used < most)
        named = tracees_add(names, name, sizeof *named);
    if (named)
        named->who = who;
    return named;
}

/* Sets the owner of NAME to WHO; 0: none. False if there is no memory, or the table has MOST names.
 */
static inline bool names_give(struct tracees *names, ERL_NIF_TERM name, ERL_NIF_TERM who,
                              size_t most)
{
    struct named *named = names_set(names, name, who, most);

    if (named)
        named->told = who != 0;
    return named;
}

/* Sets WHO as the probable owner of NAME, unless a registration has named one. */
static inline void names_guess(struct tracees *names, ERL_NIF_TERM name, ERL_NIF_TERM who,
                               size_t most)
{
    if (!names_are_told(names, name))
        names_set(names, name, who, most);
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
