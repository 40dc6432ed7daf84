/*
 * Hashes of terms, the same in each run of the program and in each recording: atoms count by their
 * names; pids, ports and references by their types. The position of a pid is a hash of the indexes
 * that lead to it, and of the key in a map.
 */
#include "gather.h"

#include "../kit/tracee.h"

#include <string.h>

enum { OF_ATOM = 1, OF_NUMBER, OF_LIST, OF_TUPLE, OF_MAP, OF_BINARY, OF_OTHER };

struct hashing {
    ErlNifEnv *env;
    struct gathered *gathered;
    uint32_t call;
    bool of_outcome;
    uint64_t pids;
};

static uint64_t hash_any(struct hashing *hashing, ERL_NIF_TERM term, uint64_t position,
                         unsigned depth);

static uint64_t hash_atom(ErlNifEnv *env, ERL_NIF_TERM atom)
{
    char name[1024] = ""; /* 255 characters of at most four bytes */
    unsigned length = 0;

    if (enif_get_atom_length(env, atom, &length, ERL_NIF_LATIN1))
        enif_get_atom(env, atom, name, sizeof name, ERL_NIF_LATIN1);
    else
        length = (unsigned)enif_snprintf(name, sizeof name, "%#T", atom);
    return hash_bytes(OF_ATOM, name, length);
}

static uint64_t hash_number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifSInt64 whole;
    double real;
    uint64_t bits;

    if (enif_get_int64(env, term, &whole))
        return mix(OF_NUMBER, (uint64_t)whole);
    if (!enif_get_double(env, term, &real))
        return mix(OF_NUMBER + 1, enif_hash(ERL_NIF_PHASH2, term, 0));
    memcpy(&bits, &real, sizeof bits);
    return mix(OF_NUMBER + 2, bits);
}

static uint64_t hash_list(struct hashing *hashing, ERL_NIF_TERM list, uint64_t position,
                          unsigned depth)
{
    uint64_t hash = OF_LIST;
    ERL_NIF_TERM head;

    for (uint64_t i = 0; enif_get_list_cell(hashing->env, list, &head, &list); i++)
        hash = mix(hash, hash_any(hashing, head, mix(position, i), depth));
    return enif_is_empty_list(hashing->env, list)
               ? hash
               : mix(hash, hash_any(hashing, list, mix(position, UINT64_MAX), depth));
}

/* Keys are hashed in any order. */
static uint64_t hash_map(struct hashing *hashing, ERL_NIF_TERM map, uint64_t position,
                         unsigned depth)
{
    uint64_t sum = OF_MAP, of_key;
    ERL_NIF_TERM key, value;
    ErlNifMapIterator iterator;

    if (!enif_map_iterator_create(hashing->env, map, &iterator, ERL_NIF_MAP_ITERATOR_FIRST))
        return sum;
    while (enif_map_iterator_get_pair(hashing->env, &iterator, &key, &value)) {
        of_key = hash_any(hashing, key, position, depth);
        sum += mix(of_key, hash_any(hashing, value, mix(position, of_key), depth));
        enif_map_iterator_next(hashing->env, &iterator);
    }
    enif_map_iterator_destroy(hashing->env, &iterator);
    return mix(OF_MAP, sum);
}

static void keep_pid(struct hashing *hashing, ERL_NIF_TERM pid, uint64_t position)
{
    struct side *side = &hashing->gathered->side;
    ERL_NIF_TERM word = tracee_word(hashing->env, pid);
    const struct known *known;

    if (!enif_is_pid(hashing->env, word)) /* the pid is of a node that is not recorded */
        return;
    hashing->pids += mix(position, word);
    known = known_process(hashing->gathered, word);
    if (!known || !make_room(&side->identifiers, side->identifiers_used, &side->identifiers_size,
                             sizeof *side->identifiers, IDENTIFIERS_MOST)) {
        side->lost[LOST_IDENTIFIERS]++;
        return;
    }
    side->identifiers[side->identifiers_used++] = (struct identifier){
        .position = position,
        .call = hashing->call,
        .process = known->number,
        .of_outcome = hashing->of_outcome,
    };
}

/* Hashes a term by its text: a fun. */
static uint64_t hash_text(ERL_NIF_TERM term)
{
    struct line line;
    uint64_t hash;

    line_start(&line);
    line_add(&line, "%#T", term);
    hash = hash_bytes(OF_OTHER, line.text, line.used);
    line_drop(&line);
    return hash;
}

static uint64_t hash_any(struct hashing *hashing, ERL_NIF_TERM term, uint64_t position,
                         unsigned depth)
{
    ErlNifEnv *env = hashing->env;
    const ERL_NIF_TERM *elements;
    ErlNifBinary binary;
    uint64_t hash;
    int count;

    if (enif_is_atom(env, term))
        return hash_atom(env, term);
    if (enif_is_number(env, term))
        return hash_number(env, term);
    if (depth == NESTED_MOST) {
        hashing->gathered->side.lost[LOST_NESTED]++;
        return mix(OF_OTHER, enif_hash(ERL_NIF_PHASH2, term, 0));
    }
    if (enif_is_list(env, term))
        return hash_list(hashing, term, position, depth + 1);
    if (enif_get_tuple(env, term, &count, &elements)) {
        hash = mix(OF_TUPLE, (uint64_t)count);
        for (int i = 0; i < count; i++)
            hash = mix(hash, hash_any(hashing, elements[i], mix(position, (uint64_t)i), depth + 1));
        return hash;
    }
    if (enif_is_map(env, term))
        return hash_map(hashing, term, position, depth + 1);
    if (enif_inspect_binary(env, term, &binary))
        return hash_bytes(OF_BINARY, binary.data, binary.size);
    if (enif_is_pid(env, term)) {
        keep_pid(hashing, term, position);
        return OF_OTHER + 1;
    }
    if (enif_is_port(env, term) || enif_is_ref(env, term))
        return OF_OTHER + 2;
    return hash_text(term);
}

struct hashed hash_term(ErlNifEnv *env, struct gathered *gathered, ERL_NIF_TERM term, uint32_t call,
                        bool of_outcome)
{
    struct hashing hashing = {env, gathered, call, of_outcome, 0};
    uint64_t hash = hash_any(&hashing, term, of_outcome, 0);

    return (struct hashed){hash, hashing.pids};
}
