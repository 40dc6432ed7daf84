#include "aliases.h"

#include <string.h>

enum { DEEPEST = 3, WIDEST = 8 };

static ERL_NIF_TERM owner_of(const struct aliases *aliases, const char *text)
{
    for (unsigned i = 0; i < ALIASES; i++)
        if (strcmp(aliases->latest[i].text, text) == 0)
            return aliases->latest[i].owner;
    return 0;
}

static void note(struct aliases *aliases, ERL_NIF_TERM owner, ERL_NIF_TERM reference)
{
    struct alias alias = {.owner = owner};

    enif_snprintf(alias.text, sizeof alias.text, "%#T", reference);
    if (!owner_of(aliases, alias.text))
        aliases->latest[aliases->next++ % ALIASES] = alias;
}

/* Looks for references, also in [alias|Reference]. */
static void look(ErlNifEnv *env, struct aliases *aliases, ERL_NIF_TERM owner, ERL_NIF_TERM term,
                 int depth)
{
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM head, tail;
    int size;

    if (enif_is_ref(env, term)) {
        note(aliases, owner, term);
    } else if (enif_get_list_cell(env, term, &head, &tail)) {
        if (enif_is_ref(env, tail))
            note(aliases, owner, tail);
    } else if (depth < DEEPEST && enif_get_tuple(env, term, &size, &elements)) {
        for (int i = 0; i < size && i < WIDEST; i++)
            look(env, aliases, owner, elements[i], depth + 1);
    }
}

void aliases_note(ErlNifEnv *env, struct aliases *aliases, ERL_NIF_TERM owner, ERL_NIF_TERM term)
{
    look(env, aliases, owner, term, 0);
}

ERL_NIF_TERM aliases_owner(struct aliases *aliases, ERL_NIF_TERM reference)
{
    char text[ALIAS_SIZE];

    enif_snprintf(text, sizeof text, "%#T", reference);
    return owner_of(aliases, text);
}
