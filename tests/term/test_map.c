/* Tests maps against a simple model, across the sizes at which their representation changes. */
#include "host/term/term.h"

#include "host/base/base.h"
#include "host/term/map_internal.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 120, ROUNDS = 20000 };

static th_env env;      /* environment of the maps */
static th_env keys_env; /* environment of the keys */
static th_term keys[KEYS];

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

static size_t kinds; /* kinds of keys: 6, or 7 with maps */

/* Keys of several types; some are equal, but not identical. */
static th_term make_key(th_env *place, size_t i)
{
    const th_term both[] = {th_small((int64_t)i), TH_AM(ok)};

    switch (i % kinds) {
    case 6:
        return th_make_map(place, both, both, 1 + i / 7 % 2, true);
    case 0:
        return th_small((int64_t)(i / kinds) - 5);
    case 1:
        return th_make_float(place, (double)(i / kinds) - 5);
    case 2:
        return th_make_binary(place, &i, 1 + i % 8);
    case 3:
        return th_make_tuple_of(place, th_small((int64_t)(i % 4)), th_small((int64_t)i));
    case 4:
        return th_make_uint64(place, UINT64_MAX - i);
    default:
        return th_make_cons(place, th_small((int64_t)i), TH_NIL);
    }
}

static int begin_with(size_t kinds_of_keys)
{
    kinds = kinds_of_keys;
    th_env_init(&env, TH_ENV_PLAIN);
    th_env_init(&keys_env, TH_ENV_PLAIN);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = make_key(&keys_env, i);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with(6);
}

static int begin_with_maps(void **state)
{
    (void)state;
    return begin_with(7);
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_env_release(&keys_env);
    return 0;
}

/* Values by number of key, and the order of insertion. */
struct model {
    th_term values[KEYS]; /* TH_NONE: no such key */
    size_t came[KEYS];    /* numbers of the keys in the map */
    size_t count;
};

static void put_in_model(struct model *m, size_t key, th_term value)
{
    if (m->values[key] == TH_NONE)
        m->came[m->count++] = key;
    m->values[key] = value;
}

static void remove_from_model(struct model *m, size_t key)
{
    size_t i = 0;

    if (m->values[key] == TH_NONE)
        return;
    m->values[key] = TH_NONE;
    while (m->came[i] != key)
        i++;
    m->count--;
    memmove(m->came + i, m->came + i + 1, (m->count - i) * sizeof *m->came);
}

static int by_key(const void *a, const void *b)
{
    return th_compare_exact(keys[*(const size_t *)a], keys[*(const size_t *)b]);
}

/* Small maps are sorted; a map that becomes small loses its order of insertion. */
static void settle_model(struct model *m)
{
    if (m->count <= TH_MAP_SMALL)
        qsort(m->came, m->count, sizeof *m->came, by_key);
}

/* Asserts the order of positions from th_map_order(). */
static void assert_in_order(th_term map)
{
    const th_term *found = th_map_keys(map);
    struct th_sorted_keys *made = NULL;
    const uint32_t *order = th_map_order(map, &made);

    assert_int_equal(order != NULL, th_map_size(map) > TH_MAP_SMALL);
    for (size_t i = 1; i < th_map_size(map); i++)
        assert_order(
            th_compare_exact(found[order ? order[i - 1] : i - 1], found[order ? order[i] : i]), <,
            0);
    th_sorted_keys_free(made);
}

static void assert_equal_to_model(th_term map, const struct model *m)
{
    assert_true(th_is_map(map));
    assert_int_equal(th_map_size(map), m->count);
    for (size_t i = 0; i < m->count; i++) {
        assert_term_identical(th_map_keys(map)[i], keys[m->came[i]]);
        assert_int_equal(th_map_values(map)[i], m->values[m->came[i]]);
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_term_equal(th_map_get(map, make_key(&env, i)), m->values[i]);
    assert_in_order(map);
}

/* Makes ROUNDS changes, which first grow the map beyond the limit of small maps, then go back and
 * forth across it. */
static void random_changes_give_the_same_map_as_a_model(void **state)
{
    struct model m = {.count = 0};
    th_env other;
    th_term map = th_make_map(&env, NULL, NULL, 0, false);
    uint64_t seed = 3;

    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t key = next_random(&seed) % KEYS;
        size_t wanted = round / 500 % 2 ? 5 : 60;

        if (m.count < wanted || next_random(&seed) % 3 == 0) {
            map = th_map_put(&env, map, keys[key], th_small((int64_t)round));
            put_in_model(&m, key, th_small((int64_t)round));
        } else {
            map = th_map_remove(&env, map, keys[key]);
            remove_from_model(&m, key);
        }
        settle_model(&m);
        if (round % 16)
            continue;
        assert_equal_to_model(map, &m);
        th_env_init(&other, TH_ENV_PLAIN);
        map = th_copy(&other, map);
        th_env_release(&env);
        env = other;
    }
}

/* Creates maps of all sizes at once, in random orders, with and without duplicate keys. */
static void maps_created_at_once_equal_a_model(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (size_t round = 0; round < 3000; round++) {
        struct model m = {.count = 0};
        th_term some[2 * KEYS], values[2 * KEYS];
        size_t count = next_random(&seed) % (2 * KEYS);
        size_t variety = next_random(&seed) % KEYS + 1;
        th_term map;

        for (size_t i = 0; i < count; i++) {
            size_t key = next_random(&seed) % variety;
            some[i] = make_key(&env, key);
            values[i] = th_small((int64_t)i);
            put_in_model(&m, key, values[i]);
        }
        settle_model(&m);
        assert_equal_to_model(th_make_map(&env, some, values, count, true), &m);
        map = th_make_map(&env, some, values, count, false);
        assert_int_equal(map != TH_NONE, m.count == count);
        if (map != TH_NONE)
            assert_equal_to_model(map, &m);
        th_env_clear(&env);
    }
}

static void maps_created_from_sorted_keys_hold_all_pairs(void **state)
{
    th_term some[1000], values[1000];

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        some[i] = th_small((int64_t)i);
        values[i] = th_small((int64_t)(2 * i));
    }
    for (size_t count = 0; count <= 1000; count += count < 70 ? 1 : 93) {
        th_term map = th_make_map(&env, some, values, count, false);
        assert_int_equal(th_map_size(map), count);
        for (size_t i = 0; i < count; i++) {
            assert_term_equal(th_map_get(map, some[i]), values[i]);
        }
        assert_term_equal(th_map_get(map, th_small(1000)), TH_NONE);
        assert_term_equal(th_map_get(map, TH_AM(ok)), TH_NONE);
        assert_in_order(map);
    }
}

static void a_change_leaves_the_old_map_unchanged(void **state)
{
    th_term map = th_make_map(&env, keys, keys, KEYS / 2, false);
    th_term copy = th_copy(&keys_env, map);

    (void)state;
    th_map_put(&env, map, keys[3], TH_AM(ok));
    th_map_put(&env, map, keys[KEYS - 1], TH_AM(ok));
    th_map_remove(&env, map, keys[7]);
    assert_term_identical(map, copy);
    assert_term_equal(th_map_remove(&env, map, keys[KEYS - 1]), map);
}

static void integers_and_equal_floats_are_two_keys(void **state)
{
    const th_term some[] = {th_make_float(&env, 1.0), th_small(2), th_small(1)};
    const th_term values[] = {th_small(10), th_small(20), th_small(30)};
    th_term map = th_make_map(&env, some, values, 3, false);

    (void)state;
    assert_int_equal(th_map_size(map), 3);
    assert_term_equal(th_map_keys(map)[0], th_small(1)); /* integers first, as in OTP 25 */
    assert_term_equal(th_map_keys(map)[1], th_small(2));
    assert_term_equal(th_map_get(map, th_make_float(&env, 1.0)), th_small(10));
    assert_term_equal(th_map_get(map, th_make_float(&env, 2.0)), TH_NONE);
}

static void making_large_maps_allocates_nothing_but_the_heap(void **state)
{
    unsigned long allocations;

    (void)state;
    for (int round = 0; round < 2; round++) {
        th_term reversed[KEYS];
        for (size_t i = 0; i < KEYS; i++)
            reversed[i] = keys[KEYS - 1 - i];
        allocations = th_alloc_count();
        for (int i = 0; i < 50; i++) {
            th_make_map(&env, reversed, keys, KEYS, false);
            th_env_clear(&env);
        }
    }
    assert_int_equal(th_alloc_count(), allocations);
}

/* Each map is made from any earlier one by a put; all keep their own pairs. */
static void every_version_keeps_its_pairs(void **state)
{
    enum { VERSIONS = 400 };
    th_term maps[VERSIONS] = {th_make_map(&env, keys, keys, 30, false)};
    struct model *models = calloc(VERSIONS, sizeof *models);
    uint64_t seed = 5;

    (void)state;
    for (size_t i = 0; i < 30; i++)
        put_in_model(&models[0], i, keys[i]);
    settle_model(&models[0]);
    for (size_t i = 1; i < VERSIONS; i++) {
        size_t from = next_random(&seed) % 3 ? i - 1 : next_random(&seed) % i;
        size_t key = next_random(&seed) % KEYS;
        maps[i] = th_map_put(&env, maps[from], keys[key], th_small((int64_t)i));
        models[i] = models[from];
        put_in_model(&models[i], key, th_small((int64_t)i));
        settle_model(&models[i]);
    }
    for (size_t i = 0; i < VERSIONS; i++)
        assert_equal_to_model(maps[i], &models[i]);
    free(models);
}

/* Without sharing, all maps together would take 3 GiB. */
static void a_put_takes_memory_for_its_pair_only(void **state)
{
    enum { MANY = 20000 };
    th_term map = th_make_map(&env, NULL, NULL, 0, true);

    (void)state;
    for (int64_t i = 0; i < MANY; i++)
        map = th_map_put(&env, map, th_small(i * i), th_small(i));
    assert_int_equal(th_map_size(map), MANY);
    for (int64_t i = 0; i < MANY; i++)
        assert_term_equal(th_map_get(map, th_small(i * i)), th_small(i));
    assert_order(th_env_footprint(&env), <, 300 * MANY);
}

/* Large maps as keys of large maps, so deep that recursion would overflow the stack. */
static void deep_keys_need_no_stack(void **state)
{
    enum { DEPTH = 20000, PAIRS = TH_MAP_SMALL + 2 };
    th_term some[PAIRS], values[PAIRS];
    th_term copy, map;

    (void)state;
    for (size_t i = 0; i < PAIRS; i++)
        some[i] = values[i] = th_small((int64_t)i);
    map = th_make_map(&env, some, values, PAIRS, false);
    for (size_t depth = 0; depth < DEPTH; depth++) {
        some[3] = map;
        map = th_make_map(&env, some, values, PAIRS, false);
    }
    copy = th_copy(&keys_env, map);
    assert_term_identical(copy, map);
    assert_int_equal(th_compare(copy, map), 0);
    assert_int_equal(th_internal_hash(copy, 1), th_internal_hash(map, 1));
    assert_term_equal(th_map_get(map, th_map_keys(copy)[3]), th_map_values(map)[3]);
}

static void maps_in_another_order_are_identical(void **state)
{
    th_term turned[KEYS], copies[KEYS];
    th_term map = th_make_map(&env, keys, keys, KEYS, false);
    th_term other;

    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        turned[i] = keys[KEYS - 1 - i];
        copies[i] = th_copy(&env, turned[i]);
    }
    other = th_make_map(&env, copies, turned, KEYS, false);
    assert_term_identical(map, other);
    assert_int_equal(th_compare(map, other), 0);
    assert_int_equal(th_internal_hash(map, 7), th_internal_hash(other, 7));
    assert_int_equal(th_phash2(map), th_phash2(other));
    assert_false(th_identical(map, th_map_put(&env, other, keys[40], TH_AM(ok))));
    other = th_map_remove(&env, other, keys[40]);
    assert_false(th_identical(map, th_map_put(&env, other, TH_AM(ok), keys[40])));
}

struct reader {
    th_term map;
    _Atomic bool stop; /* relaxed: only this flag matters */
};

static void *read_again_and_again(void *context)
{
    struct reader *reader = context;

    do
        for (int64_t i = 0; i < 100; i++) {
            assert_term_equal(th_map_get(reader->map, th_small(i)), th_small(i));
            assert_term_equal(th_map_get(reader->map, th_small(-i - 1)), TH_NONE);
        }
    while (!atomic_load_explicit(&reader->stop, memory_order_relaxed));
    return NULL;
}

static void maps_are_read_while_other_threads_add_pairs(void **state)
{
    struct reader reader = {th_make_map(&env, NULL, NULL, 0, true), false};
    pthread_t thread;

    (void)state;
    for (int64_t i = 0; i < 100; i++)
        reader.map = th_map_put(&env, reader.map, th_small(i), th_small(i));
    pthread_create(&thread, NULL, read_again_and_again, &reader);
    for (int round = 0; round < 100; round++) {
        th_term map = reader.map;
        for (int64_t i = 1; i < 100; i++)
            map = th_map_put(&env, map, th_small(-i), th_small(i));
    }
    atomic_store_explicit(&reader.stop, true, memory_order_relaxed);
    pthread_join(thread, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define WITH_MAPS(test)                                              \
    {                                                                \
#test " with maps as keys", test, begin_with_maps, end, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_changes_give_the_same_map_as_a_model),
        WITH_MAPS(random_changes_give_the_same_map_as_a_model),
        TEST(maps_created_at_once_equal_a_model),
        WITH_MAPS(maps_created_at_once_equal_a_model),
        TEST(maps_created_from_sorted_keys_hold_all_pairs),
        TEST(a_change_leaves_the_old_map_unchanged),
        WITH_MAPS(a_change_leaves_the_old_map_unchanged),
        TEST(integers_and_equal_floats_are_two_keys),
        TEST(making_large_maps_allocates_nothing_but_the_heap),
        WITH_MAPS(making_large_maps_allocates_nothing_but_the_heap),
        TEST(every_version_keeps_its_pairs),
        WITH_MAPS(every_version_keeps_its_pairs),
        TEST(a_put_takes_memory_for_its_pair_only),
        TEST(deep_keys_need_no_stack),
        TEST(maps_in_another_order_are_identical),
        WITH_MAPS(maps_in_another_order_are_identical),
        TEST(maps_are_read_while_other_threads_add_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
