/* Tests changes of maps whose table another environment, or another version, shares. */
#include "host/term/term.h"

#include "host/base/base.h"
#include "host/term/map_internal.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 90, VERSIONS = 600, SHARED = 100 /* versions in the environment that is shared */ };

static th_env shared;  /* environment of the first maps and of the keys */
static th_env changed; /* environment of the later maps */
static th_term keys[KEYS];

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

static int begin(void **state)
{
    (void)state;
    th_env_init(&shared, TH_ENV_PLAIN);
    th_env_init(&changed, TH_ENV_PLAIN);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = i % 3 ? th_small((int64_t)(i * 7 % KEYS)) : th_make_binary(&shared, &i, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&changed);
    th_env_release(&shared);
    return 0;
}

/* --- The model: an array of pairs, in the order of the map ------------------------------------- */

struct model {
    size_t keys[KEYS];
    th_term values[KEYS];
    size_t count;
};

static size_t position_of(const struct model *m, size_t key)
{
    size_t i = 0;

    while (i < m->count && m->keys[i] != key)
        i++;
    return i;
}

static void model_put(struct model *m, size_t key, th_term value)
{
    size_t i = position_of(m, key);

    m->count += i == m->count;
    m->keys[i] = key;
    m->values[i] = value;
}

static void model_remove(struct model *m, size_t key)
{
    size_t i = position_of(m, key);

    if (i == m->count)
        return;
    m->count--;
    memmove(m->keys + i, m->keys + i + 1, (m->count - i) * sizeof m->keys[0]);
    memmove(m->values + i, m->values + i + 1, (m->count - i) * sizeof m->values[0]);
}

/* Small maps are sorted. */
static void model_settle(struct model *m)
{
    for (size_t i = 1; m->count <= TH_MAP_SMALL && i < m->count; i++)
        for (size_t k = i; k > 0; k--) {
            size_t key = m->keys[k];
            th_term value = m->values[k];
            if (th_compare_exact(keys[m->keys[k - 1]], keys[key]) < 0)
                break;
            m->keys[k] = m->keys[k - 1];
            m->values[k] = m->values[k - 1];
            m->keys[k - 1] = key;
            m->values[k - 1] = value;
        }
}

static th_term map_of_model(th_env *env, const struct model *m)
{
    th_term model_keys[KEYS];

    for (size_t i = 0; i < m->count; i++)
        model_keys[i] = keys[m->keys[i]];
    return th_make_map(env, model_keys, m->values, m->count, false);
}

static char *text_of(th_term t)
{
    struct th_buffer out = {0};

    th_text_print(&out, t);
    th_buffer_add(&out, "", 1);
    return (char *)out.data;
}

/* Looks the keys up first: the first look at the pairs makes a table of them. */
static void assert_equal_to_model(th_term map, const struct model *m)
{
    char *text, *expected;
    th_env env;
    th_term same, copy;

    for (size_t key = 0; key < KEYS; key++) {
        size_t i = position_of(m, key);
        assert_term_equal(th_map_get(map, keys[key]), i < m->count ? m->values[i] : TH_NONE);
    }
    assert_int_equal(th_map_size(map), m->count);
    for (size_t i = 0; i < m->count; i++) {
        assert_term_identical(th_map_keys(map)[i], keys[m->keys[i]]);
        assert_term_equal(th_map_values(map)[m->count - 1 - i], m->values[m->count - 1 - i]);
    }
    th_env_init(&env, TH_ENV_PLAIN);
    same = map_of_model(&env, m);
    text = text_of(map);
    expected = text_of(same);
    assert_string_equal(text, expected);
    th_free(text);
    th_free(expected);
    assert_term_identical(map, same);
    assert_int_equal(th_compare(map, same), 0);
    assert_int_equal(th_internal_hash(map, 3), th_internal_hash(same, 3));
    assert_int_equal(th_phash2(map), th_phash2(same));
    th_env_clear(&env);
    copy = th_copy(&env, map);
    assert_true(th_term_words(map) == th_term_words(copy));
    assert_term_identical(copy, map);
    th_env_release(&env);
}

/* --- Changes ----------------------------------------------------------------------------------- */

struct version {
    th_term map;
    struct model model;
};

/* Makes a version by a put, an update or a removal. The sizes go back and forth across the limit of
 * small maps. */
static void make_version(struct version *to, const struct version *from, th_env *env, size_t round,
                         uint64_t *seed)
{
    size_t key = next_random(seed) % KEYS, wanted = round / 50 % 2 ? 30 : 60;
    th_term value = th_small((int64_t)round);

    *to = *from;
    if (next_random(seed) % 3 == 0)
        key = to->model.count > 0 ? to->model.keys[next_random(seed) % to->model.count] : key;
    if (to->model.count < wanted || next_random(seed) % 3) {
        to->map = th_map_put(env, from->map, keys[key], value);
        model_put(&to->model, key, value);
    } else {
        to->map = th_map_remove(env, from->map, keys[key]);
        model_remove(&to->model, key);
    }
    model_settle(&to->model);
}

static void random_changes_of_shared_maps_equal_a_model(void **state)
{
    struct version *versions = calloc(VERSIONS, sizeof *versions);

    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        uint64_t random = seed;

        versions[0].model.count = 0;
        versions[0].map = th_make_map(&shared, NULL, NULL, 0, false);
        for (size_t i = 1; i < VERSIONS; i++) {
            size_t from = next_random(&random) % 64 ? i - 1 : next_random(&random) % i;
            make_version(&versions[i], &versions[from], i < SHARED ? &shared : &changed, i,
                         &random);
        }
        for (size_t i = 0; i < VERSIONS; i++) {
            const struct version *other = &versions[next_random(&random) % VERSIONS];
            int order = th_compare(versions[i].map, other->map);
            assert_int_equal(th_compare(map_of_model(&changed, &versions[i].model), other->map),
                             order);
            assert_int_equal(th_identical(versions[i].map, other->map), order == 0);
        }
        for (size_t i = 0; i < VERSIONS; i++)
            assert_equal_to_model(versions[i].map, &versions[i].model);
        th_env_clear(&changed);
    }
    free(versions);
}

/* A table of 1024 pairs has more than 2,500 words. */
static void a_change_of_a_shared_map_takes_few_words(void **state)
{
    enum { MANY = 1024, CHANGES = 160, ONE = 64, TABLE = 4096 };
    th_term map = th_make_map(&shared, NULL, NULL, 0, true), first;
    size_t before;

    (void)state;
    for (int64_t i = 0; i < MANY; i++)
        map = th_map_put(&shared, map, th_small(i), th_small(i));
    first = map;
    before = th_env_used(&changed);
    for (int64_t i = 0; i < CHANGES; i++)
        map = th_map_put(&changed, map, th_small(3 * i), TH_AM(ok));
    assert_order(th_env_used(&changed) - before, <, CHANGES * ONE + (CHANGES / 16) * TABLE);
    before = th_env_used(&changed);
    th_map_put(&changed, first, TH_AM(ok), TH_AM(ok));
    assert_order(th_env_used(&changed) - before, <, ONE);
    assert_term_equal(th_map_get(first, th_small(3)), th_small(3));
    assert_term_equal(th_map_get(map, th_small(3)), TH_AM(ok));
    assert_int_equal(th_map_size(map), MANY);
}

/* Any other key makes a sorted table, which a changed map cannot have. */
static void a_map_as_key_ends_the_changes(void **state)
{
    th_term map = th_make_map(&shared, keys, keys, KEYS, false);
    th_term key = th_make_map(&changed, keys, keys, 1, false);

    (void)state;
    map = th_map_put(&changed, map, keys[2], TH_AM(ok));
    assert_true(th_map_is_changed(map));
    assert_term_equal(th_map_get(map, key), TH_NONE);
    map = th_map_put(&changed, map, key, TH_AM(undefined));
    assert_false(th_map_is_changed(map));
    assert_term_equal(th_map_get(map, keys[2]), TH_AM(ok));
    assert_term_equal(th_map_get(map, key), TH_AM(undefined));
    assert_int_equal(th_map_size(map), KEYS + 1);
}

enum { MAPS = 500, THREADS = 4 };

static void *read_all(void *context)
{
    const th_term *maps = context;

    for (size_t i = 0; i < MAPS; i++) {
        assert_term_identical(th_map_keys(maps[i])[i % KEYS], keys[i % KEYS]);
        assert_term_equal(th_map_values(maps[i])[i % KEYS], TH_AM(ok));
        assert_term_equal(th_map_values(maps[i])[KEYS], TH_AM(undefined));
    }
    return NULL;
}

static void threads_look_at_one_changed_map_first(void **state)
{
    th_term map = th_make_map(&shared, keys, keys, KEYS, false);
    pthread_t threads[THREADS];
    th_term maps[MAPS];

    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        maps[i] = th_map_put(&changed, map, keys[i % KEYS], TH_AM(ok));
        maps[i] = th_map_put(&changed, maps[i], TH_AM(ok), TH_AM(undefined));
        assert_true(th_map_is_changed(maps[i]));
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_all, maps);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_changes_of_shared_maps_equal_a_model),
        TEST(a_change_of_a_shared_map_takes_few_words),
        TEST(a_map_as_key_ends_the_changes),
        TEST(threads_look_at_one_changed_map_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
