/* Tests the order of all pairs of terms, and hashes. */
#include "nif_api.h"

#include <stdlib.h>

bool is_zero(ErlNifEnv *env, ERL_NIF_TERM term)
{
    double value;

    return enif_get_double(env, term, &value) && value == 0;
}

/* Writes one line a term: '<', '=' or '>' for each other term, '#' for identical ones. */
ERL_NIF_TERM order(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);
    char *row = calloc(terms.count + 1, 1);

    (void)argc;
    (void)argv;
    topic("order");
    for (size_t i = 0; row && i < terms.count; i++) {
        for (size_t j = 0; j < terms.count; j++) {
            int order = enif_compare(terms.all[i], terms.all[j]);
            row[j] = order < 0 ? '<' : order > 0 ? '>' : '=';
            if (enif_is_identical(terms.all[i], terms.all[j]))
                row[j] = row[j] == '=' ? '#' : '!';
            if (NEWER && i != j && is_zero(env, terms.all[i]) && is_zero(env, terms.all[j]))
                row[j] = '0';
        }
        say_text("row", row);
    }
    say_meant_in_newer(
        env, "enif_is_identical: 0.0 and -0.0",
        number(env, enif_is_identical(enif_make_double(env, 0.0), enif_make_double(env, -0.0))));
    free(row);
    free_terms(&terms);
    return atom(env, "ok");
}

/* The internal hash depends on the host; in each, it depends on the term and the salt only. */
static void ask_internal_hash(ErlNifEnv *other, ERL_NIF_TERM term, long *differ)
{
    ERL_NIF_TERM copy = enif_make_copy(other, term);
    ErlNifUInt64 hash = enif_hash(ERL_NIF_INTERNAL_HASH, term, 1);

    say_int("internal hash of a copy", hash == enif_hash(ERL_NIF_INTERNAL_HASH, copy, 1));
    *differ += hash != enif_hash(ERL_NIF_INTERNAL_HASH, term, 2);
    enif_clear_env(other);
}

/* In an internal hash, a BEAM of OTP 25 takes references of other nodes for its own: it reads
 * beyond the term, and may crash. */
static bool has_reference(ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *elements;
    ErlNifMapIterator iterator;
    ERL_NIF_TERM one, other;
    bool has = false;
    int arity;

    if (enif_get_tuple(env, term, &arity, &elements))
        return arity > 0 && has_reference(env, elements[0]);
    if (enif_get_list_cell(env, term, &one, &other))
        return has_reference(env, one) || has_reference(env, other);
    if (!enif_is_map(env, term))
        return enif_is_ref(env, term);
    enif_map_iterator_create(env, term, &iterator, ERL_NIF_MAP_ITERATOR_FIRST);
    if (enif_map_iterator_get_pair(env, &iterator, &one, &other))
        has = has_reference(env, one) || has_reference(env, other);
    enif_map_iterator_destroy(env, &iterator);
    return has;
}

ERL_NIF_TERM hashes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);
    ErlNifEnv *other = enif_alloc_env();
    long differ = 0;

    (void)argc;
    (void)argv;
    topic("hash");
    for (size_t i = 0; i < terms.count; i++) {
        say_int("phash2", (long)enif_hash(ERL_NIF_PHASH2, terms.all[i], 0));
        say_int("phash2 salted", (long)enif_hash(ERL_NIF_PHASH2, terms.all[i], 17));
        if (!has_reference(env, terms.all[i]))
            ask_internal_hash(other, terms.all[i], &differ);
    }
    say_int("internal hashes go by their salt", differ > (long)terms.count * 8 / 10);
    say_int("enif_hash of no kind", (long)enif_hash((ErlNifHash)9, terms.all[0], 1));
    enif_free_env(other);
    free_terms(&terms);
    return atom(env, "ok");
}
