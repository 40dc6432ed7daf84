/* Who has which registered name: a table of tracees whose terms are the names. Not for several
 * threads at once. */
#ifndef TRACER_NAMES_H
#define TRACER_NAMES_H

#include "tracees.h"

#include <stdbool.h>

struct named {
    struct tracee tracee;
    ERL_NIF_TERM who; /* a local pid or port; 0: nobody has the name any more */
    bool told;        /* by a registration; else it is guessed */
};

/* Who has NAME, an atom; 0 if that is not known. */
static inline ERL_NIF_TERM names_find(const struct tracees *names, ERL_NIF_TERM name)
{
    const struct named *named = tracees_find(names, name);

    return named ? named->who : 0;
}

/* Whether a registration has told whose NAME is, an atom. */
static inline bool names_are_told(const struct tracees *names, ERL_NIF_TERM name)
{
    const struct named *named = tracees_find(names, name);

    return named && named->told;
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

/* NAME is WHO's from now on, or nobody's if that is 0. False if there is no memory for it, or as
 * many names as MOST. */
static inline bool names_give(struct tracees *names, ERL_NIF_TERM name, ERL_NIF_TERM who,
                              size_t most)
{
    struct named *named = names_set(names, name, who, most);

    if (named)
        named->told = who != 0;
    return named;
}

/* NAME seems to be WHO's, unless a registration has told whose it is. */
static inline void names_guess(struct tracees *names, ERL_NIF_TERM name, ERL_NIF_TERM who,
                               size_t most)
{
    if (!names_are_told(names, name))
        names_set(names, name, who, most);
}

/* Forgets all. */
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
