/* Tests maps and their iterators. */
#include "nif_api.h"

/* Walks the map forwards, backwards and beyond both ends. */
static void walk(ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIteratorEntry entry)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key = number(env, 77);
    ERL_NIF_TERM value = key;
    size_t size = 0;

    enif_get_map_size(env, map, &size);
    say_int("map_iterator_create", enif_map_iterator_create(env, map, &iter, entry));
    for (size_t i = 0; i < size + 3; i++) {
        int there = enif_map_iterator_get_pair(env, &iter, &key, &value);
        say_pair(env, "map_iterator_get_pair", there, enif_make_tuple2(env, key, value));
        say_int("map_iterator_is_head", enif_map_iterator_is_head(env, &iter));
        say_int("map_iterator_is_tail", enif_map_iterator_is_tail(env, &iter));
        if (entry == ERL_NIF_MAP_ITERATOR_FIRST)
            say_int("map_iterator_next", enif_map_iterator_next(env, &iter));
        else
            say_int("map_iterator_prev", enif_map_iterator_prev(env, &iter));
    }
    say_int("map_iterator_prev", enif_map_iterator_prev(env, &iter));
    say_int("map_iterator_next", enif_map_iterator_next(env, &iter));
    say_int("map_iterator_next", enif_map_iterator_next(env, &iter));
    enif_map_iterator_destroy(env, &iter);
}

ERL_NIF_TERM iterators(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);
    ErlNifMapIterator iter;
    size_t size;

    (void)argc;
    (void)argv;
    topic("iterator");
    for (size_t i = 0; i < terms.plain; i++)
        if (enif_get_map_size(env, terms.all[i], &size) && size <= 32) {
            walk(env, terms.all[i], ERL_NIF_MAP_ITERATOR_FIRST);
            walk(env, terms.all[i], ERL_NIF_MAP_ITERATOR_LAST);
        }
    say_int("create from no end", enif_map_iterator_create(env, enif_make_new_map(env), &iter,
                                                           (ErlNifMapIteratorEntry)9));
    free_terms(&terms);
    return atom(env, "ok");
}

ERL_NIF_TERM small_maps(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM keys[32], map = number(env, 77);
    int result;

    (void)argc;
    (void)argv;
    topic("small map");
    for (int i = 0; i < 32; i++)
        keys[i] = number(env, 32 - i);
    result = enif_make_map_from_arrays(env, keys, keys, 0, &map);
    say_pair(env, "make_map_from_arrays", result, map);
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_pair(env, "make_map_from_arrays", result, map);
    keys[3] = keys[2];
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_int("make_map_from_arrays with a double key", result);
    keys[3] = enif_make_double(env, 30.0); /* equal to 30, but not identical */
    result = enif_make_map_from_arrays(env, keys, keys, 32, &map);
    say_pair(env, "make_map_from_arrays", result, map);
    for (int i = 0; i < 31; i++) {
        result = enif_make_map_remove(env, map, keys[i], &map);
        say_pair(env, "make_map_remove", result, map);
    }
    return atom(env, "ok");
}

/* Reports the number of an iterator's pairs and the sum of keys; each pair must be in the map. */
static void say_sum(ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIteratorEntry entry)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key, value, of_map;
    long count = 0, sum = 0, n, wrong = 0;

    enif_map_iterator_create(env, map, &iter, entry);
    for (; enif_map_iterator_get_pair(env, &iter, &key, &value); count++) {
        enif_get_long(env, key, &n);
        sum += n;
        wrong += !enif_get_map_value(env, map, key, &of_map) || !enif_is_identical(of_map, value);
        if (entry == ERL_NIF_MAP_ITERATOR_FIRST)
            enif_map_iterator_next(env, &iter);
        else
            enif_map_iterator_prev(env, &iter);
    }
    say_int("pairs", count);
    say_int("sum of keys", sum);
    say_int("wrong pairs", wrong);
    say_int("is_head", enif_map_iterator_is_head(env, &iter));
    say_int("is_tail", enif_map_iterator_is_tail(env, &iter));
    enif_map_iterator_destroy(env, &iter);
}

/* Walks back and forth for a few steps; the pairs must be the same. */
static void turn_round(ErlNifEnv *env, ERL_NIF_TERM map)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM keys[20], key, value;
    long same = 0;

    enif_map_iterator_create(env, map, &iter, ERL_NIF_MAP_ITERATOR_FIRST);
    for (int i = 0; i < 20; i++) {
        enif_map_iterator_get_pair(env, &iter, &keys[i], &value);
        enif_map_iterator_next(env, &iter);
    }
    for (int i = 19; i >= 0; i--) {
        enif_map_iterator_prev(env, &iter);
        enif_map_iterator_get_pair(env, &iter, &key, &value);
        same += enif_is_identical(key, keys[i]);
    }
    say_int("the same backwards", same);
    say_int("prev of the first", enif_map_iterator_prev(env, &iter));
    say_int("is_head", enif_map_iterator_is_head(env, &iter));
    enif_map_iterator_destroy(env, &iter);
}

/* Returns the keys in an iterator's order. */
static ERL_NIF_TERM key_order(ErlNifEnv *env, ERL_NIF_TERM map)
{
    ErlNifMapIterator iter;
    ERL_NIF_TERM key, value, list = enif_make_list(env, 0);

    enif_map_iterator_create(env, map, &iter, ERL_NIF_MAP_ITERATOR_LAST);
    while (enif_map_iterator_get_pair(env, &iter, &key, &value)) {
        list = enif_make_list_cell(env, key, list);
        enif_map_iterator_prev(env, &iter);
    }
    enif_map_iterator_destroy(env, &iter);
    return list;
}

ERL_NIF_TERM large_maps(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const size_t sizes[] = {33, 34, 100, 2000};
    static ERL_NIF_TERM keys[2000];
    ERL_NIF_TERM map, less, more;

    (void)argc;
    (void)argv;
    topic("large map");
    for (size_t i = 0; i < COUNT(keys); i++)
        keys[i] = number(env, (long)i * 7 % 2000);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        int result = enif_make_map_from_arrays(env, keys, keys, sizes[i], &map);
        say_pair(env, "make_map_from_arrays", result, map);
        say_sum(env, map, ERL_NIF_MAP_ITERATOR_FIRST);
        say_sum(env, map, ERL_NIF_MAP_ITERATOR_LAST);
        turn_round(env, map);
        result = enif_make_map_remove(env, map, keys[5], &less);
        say_pair(env, "make_map_remove", result, less);
        result = enif_make_map_put(env, less, keys[5], keys[5], &more);
        say_pair(env, "make_map_put", result, more);
        say_int("is what it was", enif_is_identical(map, more));
        result = enif_make_map_update(env, map, keys[6], keys[7], &more);
        say_pair(env, "make_map_update", result, more);
        say_int("compare", enif_compare(map, more) < 0);
    }
    enif_make_map_from_arrays(env, keys, keys, 40, &map);
    say_meant(env, "enif_map_iterator_next: order of more than 32 pairs", key_order(env, map));
    keys[3] = keys[2];
    say_meant(env, "enif_make_map_from_arrays: a key twice among more than 32",
              enif_make_map_from_arrays(env, keys, keys, 40, &map)
                  ? number(env, (long)enif_hash(ERL_NIF_PHASH2, map, 0))
                  : atom(env, "no map"));
    return atom(env, "ok");
}
