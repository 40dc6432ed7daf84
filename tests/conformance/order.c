/* Tests the order of all pairs of terms, and hashes. */
#include "nif_api.h"

/* 0.0 and -0.0 are one term or two, depending on the release. */
static bool is_zero(ErlNifEnv *env, ERL_NIF_TERM term)
{
    double value;

    return enif_get_double(env, term, &value) && value == 0;
}

/* Puts a word for a term: '<', '=' or '>' for each of the terms from FIRST to END, '0' for zeros. */
static void put_order(ErlNifEnv *env, const struct terms *terms, size_t i, size_t first, size_t end)
{
    char row[1000] = "";
    ERL_NIF_TERM one = terms->all[i];

    for (size_t j = first; j < end; j++) {
        int order = enif_compare(one, terms->all[j]);
        row[j - first] = order < 0 ? '<' : order > 0 ? '>' : '=';
        if (i != j && is_zero(env, one) && is_zero(env, terms->all[j]))
            row[j - first] = '0';
    }
    put_text(row);
}

static void compare_kinds(ErlNifEnv *env, const struct terms *terms, size_t one, size_t other)
{
    begin_row("enif_compare: %s with %s", terms->kinds[one].name, terms->kinds[other].name);
    for (size_t i = terms->kinds[one].first; i < terms->kinds[one].end; i++)
        put_order(env, terms, i, terms->kinds[other].first, terms->kinds[other].end);
    if (one == other || terms->kinds[one].end - terms->kinds[one].first > 40)
        end_row_as_hash();
    else
        end_row();
}

/* Puts the number of other terms that are identical to each term. */
static void count_identical(ErlNifEnv *env, const struct terms *terms, size_t kind)
{
    begin_row("enif_is_identical: terms like each of %s", terms->kinds[kind].name);
    for (size_t i = terms->kinds[kind].first; i < terms->kinds[kind].end; i++) {
        long count = 0;
        for (size_t j = 0; j < terms->count; j++)
            count += enif_is_identical(terms->all[i], terms->all[j]);
        put_int(is_zero(env, terms->all[i]) ? 0 : count);
    }
    end_row();
}

ERL_NIF_TERM order(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    for (size_t one = 0; one < KINDS; one++)
        for (size_t other = one; other < KINDS; other++)
            compare_kinds(env, &terms, one, other);
    begin_row("enif_compare: all terms, also nested");
    for (size_t i = 0; i < terms.count; i++)
        put_order(env, &terms, i, 0, terms.count);
    end_row_as_hash();
    for (size_t kind = 0; kind < KINDS; kind++)
        count_identical(env, &terms, kind);
    say_int("1 and 1.0", enif_is_identical(number(env, 1), enif_make_double(env, 1.0)));
    say_int("enif_compare: 1 and 1.0", enif_compare(number(env, 1), enif_make_double(env, 1.0)));
    say_differing(
        env, "enif_is_identical: 0.0 and -0.0",
        number(env, enif_is_identical(enif_make_double(env, 0.0), enif_make_double(env, -0.0))));
    free_terms(&terms);
    return atom(env, "ok");
}

/* The internal hash depends on the host; in each, it depends on the term and the salt only. */
static void ask_internal_hash(ErlNifEnv *other, ERL_NIF_TERM term, long *same, long *differ)
{
    ERL_NIF_TERM copy = enif_make_copy(other, term);
    ErlNifUInt64 hash = enif_hash(ERL_NIF_INTERNAL_HASH, term, 1);

    *same += hash == enif_hash(ERL_NIF_INTERNAL_HASH, copy, 1);
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

/* Puts the portable hash of each term from FIRST to END. */
static void put_hashes(const struct terms *terms, size_t first, size_t end, ErlNifUInt64 salt)
{
    for (size_t i = first; i < end; i++)
        put_int((long)enif_hash(ERL_NIF_PHASH2, terms->all[i], salt));
}

static void ask_internal_hashes(ErlNifEnv *env, const struct terms *terms)
{
    ErlNifEnv *other = enif_alloc_env();
    long same = 0, differ = 0, count = 0;

    for (size_t i = 0; i < terms->count; i++)
        if (!has_reference(env, terms->all[i])) {
            ask_internal_hash(other, terms->all[i], &same, &differ);
            count++;
        }
    say_int("internal: a copy's is the same", same == count);
    say_int("internal: nearly all go by their salt", differ > count * 8 / 10);
    enif_free_env(other);
}

ERL_NIF_TERM hashes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);

    (void)argc;
    (void)argv;
    for (size_t kind = 0; kind < KINDS; kind++) {
        begin_row("enif_hash: portable: %s", terms.kinds[kind].name);
        put_hashes(&terms, terms.kinds[kind].first, terms.kinds[kind].end, 0);
        end_row();
    }
    begin_row("enif_hash: portable: nested terms");
    put_hashes(&terms, terms.plain, terms.count, 0);
    end_row_as_hash();
    begin_row("enif_hash: portable, with a salt: all terms");
    put_hashes(&terms, 0, terms.count, 17);
    end_row_as_hash();
    ask_internal_hashes(env, &terms);
    say_int("of no kind", (long)enif_hash((ErlNifHash)9, terms.all[0], 1));
    free_terms(&terms);
    return atom(env, "ok");
}
