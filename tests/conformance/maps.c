/* Tests maps and their iterators. */
#include "nif_api.h"

#define FIRST ERL_NIF_MAP_ITERATOR_FIRST
#define LAST ERL_NIF_MAP_ITERATOR_LAST

/* The questions to an iterator; each gives a row. */
enum question { PAIR, IS_HEAD, IS_TAIL, STEP };
static const char *const names[] = {"get_pair", "is_head", "is_tail"};

/* Walks the map from one end to the other, beyond it, and three steps back. */
static void walk(ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIteratorEntry entry,
                 enum question question)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key = number(env, 77), value = key, pair;
    size_t size = 0;

    enif_get_map_size(env, map, &size);
    begin_row("enif_map_iterator_%s: %zu pairs from the %s",
              question < STEP    ? names[question]
              : (entry == FIRST) ? "next"
                                 : "prev",
              size, entry == FIRST ? "first" : "last");
    enif_map_iterator_create(env, map, &iter, entry);
    for (size_t i = 0; i < size + 6; i++) {
        bool on = (i < size + 3) == (entry == FIRST);
        int there = enif_map_iterator_get_pair(env, &iter, &key, &value), moved;
        pair = enif_make_tuple2(env, key, value);
        if (question == PAIR)
            put_output(env, there, pair, there ? number(env, 77) : pair);
        if (question == IS_HEAD)
            put_int(enif_map_iterator_is_head(env, &iter));
        if (question == IS_TAIL)
            put_int(enif_map_iterator_is_tail(env, &iter));
        moved = on ? enif_map_iterator_next(env, &iter) : enif_map_iterator_prev(env, &iter);
        if (question == STEP)
            put_int(moved);
    }
    end_row();
    enif_map_iterator_destroy(env, &iter);
}

ERL_NIF_TERM iterators(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifMapIterator iter, other;
    ERL_NIF_TERM map = enif_make_new_map(env), keys[32], key, value;
    int result;

    (void)argc;
    (void)argv;
    for (enum question question = PAIR; question <= STEP; question++) {
        walk(env, map, FIRST, question);
        walk(env, map, LAST, question);
    }
    for (int i = 0; i < 32; i++)
        keys[i] = number(env, (i + 7) % 32);
    for (unsigned size = 1; size <= 32; size += 31) {
        enif_make_map_from_arrays(env, keys, keys, size, &map);
        for (enum question question = PAIR; question <= STEP; question++) {
            walk(env, map, FIRST, question);
            walk(env, map, LAST, question);
        }
    }
    result = enif_map_iterator_create(env, map, &iter, (ErlNifMapIteratorEntry)9);
    say_int("enif_map_iterator_create: from no end", result);
    result = enif_map_iterator_create(env, map, &iter, FIRST);
    say_int("from the first", result);
    enif_map_iterator_destroy(env, &iter);
    say_int("enif_map_iterator_destroy: the map stays",
            enif_get_map_value(env, map, keys[3], &value));
    enif_map_iterator_create(env, map, &iter, LAST);
    enif_map_iterator_create(env, map, &other, FIRST);
    enif_map_iterator_destroy(env, &iter);
    result = enif_map_iterator_get_pair(env, &other, &key, &value);
    say_pair(env, "another iterator stays", result, key);
    enif_map_iterator_destroy(env, &other);
    return atom(env, "ok");
}

ERL_NIF_TERM small_maps(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM keys[32], map = number(env, 77);
    int result;

    (void)argc;
    (void)argv;
    say(env, "enif_make_new_map: empty", enif_make_new_map(env));
    say_int("is a map", enif_is_map(env, enif_make_new_map(env)));
    say_int("twice", enif_is_identical(enif_make_new_map(env), enif_make_new_map(env)));
    for (int i = 0; i < 32; i++)
        keys[i] = number(env, 32 - i);
    result = enif_make_map_from_arrays(env, keys, keys, 0, &map);
    say_pair(env, "enif_make_map_from_arrays: no pair", result, map);
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_pair(env, "32 pairs", result, map);
    keys[3] = keys[2];
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_int("a key twice", result);
    keys[3] = enif_make_double(env, 30.0); /* equal to 30, but not identical */
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_pair(env, "30 and 30.0", result, map);
    begin_row("enif_make_map_remove: one key after the other");
    for (int i = 0; i < 31; i++) {
        result = enif_make_map_remove(env, map, keys[i], &map);
        put_output(env, result, map, number(env, 77));
    }
    end_row();
    say_int("the last key", enif_make_map_remove(env, map, keys[31], &map));
    say(env, "the last map", map);
    return atom(env, "ok");
}

/* Reports the number of an iterator's pairs and the sum of keys; each pair must be in the map. */
static void say_sum(ErlNifEnv *env, ERL_NIF_TERM map, size_t size, ErlNifMapIteratorEntry entry)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key, value, of_map;
    long count = 0, sum = 0, n, wrong = 0;

    enif_map_iterator_create(env, map, &iter, entry);
    for (; enif_map_iterator_get_pair(env, &iter, &key, &value); count++) {
        enif_get_long(env, key, &n);
        sum += n;
        wrong += !enif_get_map_value(env, map, key, &of_map) || !enif_is_identical(of_map, value);
        if (entry == FIRST)
            enif_map_iterator_next(env, &iter);
        else
            enif_map_iterator_prev(env, &iter);
    }
    begin_row(
        "enif_map_iterator_%s: of %zu pairs: pairs, sum of keys, wrong pairs, is_head, is_tail",
        entry == FIRST ? "next" : "prev", size);
    put_int(count);
    put_int(sum);
    put_int(wrong);
    put_int(enif_map_iterator_is_head(env, &iter));
    put_int(enif_map_iterator_is_tail(env, &iter));
    end_row();
    enif_map_iterator_destroy(env, &iter);
}

/* Walks back and forth for a few steps; the pairs must be the same. */
static void turn_round(ErlNifEnv *env, ERL_NIF_TERM map, size_t size)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM keys[20], key, value;
    long same = 0;

    enif_map_iterator_create(env, map, &iter, FIRST);
    for (int i = 0; i < 20; i++) {
        enif_map_iterator_get_pair(env, &iter, &keys[i], &value);
        enif_map_iterator_next(env, &iter);
    }
    for (int i = 19; i >= 0; i--) {
        enif_map_iterator_prev(env, &iter);
        enif_map_iterator_get_pair(env, &iter, &key, &value);
        same += enif_is_identical(key, keys[i]);
    }
    begin_row("enif_map_iterator_prev: 20 steps back in %zu pairs, then beyond the first", size);
    put_int(same);
    put_int(enif_map_iterator_prev(env, &iter));
    put_int(enif_map_iterator_is_head(env, &iter));
    end_row();
    enif_map_iterator_destroy(env, &iter);
}

/* Returns whether an iterator's first keys are those that the map was made of first. */
static bool in_order_of_creation(ErlNifEnv *env, ERL_NIF_TERM map, const ERL_NIF_TERM *keys)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key, value;
    size_t same = 0;

    enif_map_iterator_create(env, map, &iter, FIRST);
    while (same < 20 && enif_map_iterator_get_pair(env, &iter, &key, &value) &&
           enif_is_identical(key, keys[same])) {
        enif_map_iterator_next(env, &iter);
        same++;
    }
    enif_map_iterator_destroy(env, &iter);
    return same == 20;
}

static void change_large(ErlNifEnv *env, ERL_NIF_TERM map, size_t size, const ERL_NIF_TERM *keys)
{
    ERL_NIF_TERM less, more;

    begin_row("enif_make_map_remove: of %zu pairs", size);
    put_int(enif_make_map_remove(env, map, keys[5], &less));
    put_term(env, less);
    end_row();
    begin_row("enif_make_map_put: makes %zu pairs, as they were", size);
    put_int(enif_make_map_put(env, less, keys[5], keys[5], &more));
    put_term(env, more);
    put_int(enif_is_identical(map, more));
    end_row();
    begin_row("enif_make_map_update: of %zu pairs, in order before", size);
    put_int(enif_make_map_update(env, map, keys[6], keys[7], &more));
    put_term(env, more);
    put_int(enif_compare(map, more) < 0);
    end_row();
}

ERL_NIF_TERM large_maps(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const size_t sizes[] = {33, 34, 100, 2000};
    static ERL_NIF_TERM keys[2000];
    ERL_NIF_TERM map;

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < COUNT(keys); i++)
        keys[i] = number(env, (long)i * 7 % 2000);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        begin_row("enif_make_map_from_arrays: %zu pairs", sizes[i]);
        put_int(enif_make_map_from_arrays(env, keys, keys, sizes[i], &map));
        put_term(env, map);
        end_row();
        say_sum(env, map, sizes[i], FIRST);
        say_sum(env, map, sizes[i], LAST);
        turn_round(env, map, sizes[i]);
        change_large(env, map, sizes[i], keys);
    }
    enif_make_map_from_arrays(env, keys, keys, 40, &map);
    say_differing(env, "enif_map_iterator_next: more than 32 pairs come in the order of creation",
                  number(env, in_order_of_creation(env, map, keys)));
    keys[3] = keys[2];
    say_differing(env, "enif_make_map_from_arrays: a key twice among more than 32",
                  number(env, enif_make_map_from_arrays(env, keys, keys, 40, &map)));
    return atom(env, "ok");
}
