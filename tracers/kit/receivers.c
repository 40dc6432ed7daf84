#include "receivers.h"

#include "names.h"

#include <stdbool.h>
#include <string.h>

/* In external terms a reference of this node has its node as an atom, after four bytes. */
static bool is_this_node(ErlNifEnv *env, ERL_NIF_TERM node)
{
    enum { ATOM = 1, NODE = 4 };
    ErlNifBinary atom, reference;
    bool is = false;

    if (!enif_term_to_binary(env, node, &atom))
        return false;
    if (enif_term_to_binary(env, enif_make_ref(env), &reference)) {
        is = reference.size - NODE > atom.size - ATOM &&
             memcmp(reference.data + NODE, atom.data + ATOM, atom.size - ATOM) == 0;
        enif_release_binary(&reference);
    }
    enif_release_binary(&atom);
    return is;
}

ERL_NIF_TERM receivers_name(ErlNifEnv *env, ERL_NIF_TERM sender, ERL_NIF_TERM to)
{
    const ERL_NIF_TERM *elements;
    unsigned node;
    int size;

    if (enif_is_atom(env, to))
        return names_key(to, sender);
    if (!enif_get_tuple(env, to, &size, &elements) || size != 2 ||
        !enif_is_atom(env, elements[0]) || !enif_is_atom(env, elements[1]))
        return to;
    if (TH_HAS(th_recorded_node))
        return th_recorded_node(elements[1], &node) ? names_key_of(elements[0], node) : to;
    return is_this_node(env, elements[1]) ? elements[0] : to;
}

static struct set *set_of(struct receivers *receivers, ErlNifUInt64 hash)
{
    return &receivers->sets[hash % RECEIVERS_SETS];
}

void receivers_sent(struct receivers *receivers, ErlNifUInt64 hash, ERL_NIF_TERM to)
{
    struct set *set = set_of(receivers, hash);
    unsigned place = set->next++ % RECEIVERS_EACH;

    set->sent[place].hash = hash;
    set->sent[place].to = to;
}

ERL_NIF_TERM receivers_received(ErlNifEnv *env, struct receivers *receivers, ErlNifUInt64 hash,
                                ERL_NIF_TERM pid)
{
    struct set *set = set_of(receivers, hash);
    unsigned place = RECEIVERS_EACH;
    ERL_NIF_TERM only = 0;
    bool several = false;

    for (unsigned at = 0; at < RECEIVERS_EACH; at++) {
        ErlNifPid other;

        if (!set->sent[at].to || set->sent[at].hash != hash)
            continue;
        if (set->sent[at].to == pid) {
            set->sent[at].to = 0;
            return 0;
        }
        if (names_are_key(env, set->sent[at].to)
                ? names_key(names_name(set->sent[at].to), pid) != set->sent[at].to
                : enif_get_local_pid(env, set->sent[at].to, &other))
            continue;
        several |= only && only != set->sent[at].to;
        only = set->sent[at].to;
        place = at;
    }
    if (!only || several || !names_are_key(env, only))
        return 0;
    set->sent[place].to = 0;
    return only;
}
