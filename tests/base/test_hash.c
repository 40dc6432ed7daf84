/* Tests hash tables against a simple model, under collisions, wrap-around and removals. */
#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 500, ROUNDS = 200000 };

/* xorshift64*: the same numbers in each run. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

/* Returns a value that is never NULL and differs for each N. */
static void *value_of(uint64_t n)
{
    return (void *)(uintptr_t)(n * 2 + 1);
}

/* The simplest table: the value of each of KEYS keys; NULL for a missing key. */
struct model {
    uint64_t keys[KEYS];
    void *values[KEYS];
    size_t count;
};

static void assert_equal_to_model(const struct th_table *t, const struct model *m)
{
    size_t position = 0;
    size_t walked = 0;

    assert_int_equal(t->count, m->count);
    for (size_t i = 0; i < KEYS; i++)
        assert_ptr_equal(th_hash_table_get(t, m->keys[i]), m->values[i]);
    for (struct th_slot *slot; (slot = th_hash_table_next(t, &position)); walked++)
        assert_ptr_equal(th_hash_table_get(t, slot->key), slot->value);
    assert_int_equal(walked, m->count);
}

static void set_in_both(struct th_table *t, struct model *m, size_t i, void *value)
{
    assert_ptr_equal(th_hash_table_set(t, m->keys[i], value), m->values[i]);
    m->count += m->values[i] == NULL;
    m->values[i] = value;
}

static void remove_in_both(struct th_table *t, struct model *m, size_t i)
{
    assert_ptr_equal(th_hash_table_remove(t, m->keys[i]), m->values[i]);
    m->count -= m->values[i] != NULL;
    m->values[i] = NULL;
}

/* Makes random sets and removals. Growth and shrinking alternate, so all fill levels are tested. */
static void compare_with_model(struct model *m)
{
    struct th_table t = {0};
    uint64_t seed = 42;

    for (size_t round = 0; round < ROUNDS; round++) {
        size_t i = next_random(&seed) % KEYS;
        unsigned remove_of_8 = round / (ROUNDS / 16) % 2 ? 6 : 2;
        if (next_random(&seed) % 8 < remove_of_8)
            remove_in_both(&t, m, i);
        else
            set_in_both(&t, m, i, value_of(round));
        if (round % 997 == 0)
            assert_equal_to_model(&t, m);
    }
    for (size_t i = 0; i < KEYS; i++)
        remove_in_both(&t, m, i);
    assert_int_equal(t.count, 0);
    assert_equal_to_model(&t, m);
    th_hash_table_free(&t);
}

static void a_table_of_random_keys_equals_the_model(void **state)
{
    struct model m = {0};
    uint64_t seed = 7;

    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        m.keys[i] = next_random(&seed) | 1;
    compare_with_model(&m);
}

static void a_table_of_addresses_equals_the_model(void **state)
{
    struct model m = {0};

    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        m.keys[i] = 0x7F0012340000u + 64 * i;
    compare_with_model(&m);
}

/* All keys hash to the last two slots of any table up to 1024, for long runs that wrap around. */
static void a_table_of_colliding_keys_equals_the_model(void **state)
{
    struct model m = {0};
    uint64_t key = 1;

    (void)state;
    for (size_t i = 0; i < KEYS; key++)
        if ((th_hash_mix(key) & 1023) >= 1022)
            m.keys[i++] = key;
    compare_with_model(&m);
}

static void an_empty_table_finds_no_key(void **state)
{
    struct th_table t = {0};
    size_t position = 0;

    (void)state;
    assert_null(th_hash_table_get(&t, 5));
    assert_null(th_hash_table_remove(&t, 5));
    assert_null(th_hash_table_next(&t, &position));
    assert_null(t.slots);
    th_hash_table_free(&t);
}

static void keys_with_any_bit_set_are_found(void **state)
{
    struct th_table t = {0};

    (void)state;
    for (int bit = 0; bit < 64; bit++)
        assert_null(th_hash_table_set(&t, UINT64_C(1) << bit, value_of((uint64_t)bit)));
    assert_null(th_hash_table_set(&t, UINT64_MAX, value_of(64)));
    for (int bit = 0; bit < 64; bit++)
        assert_ptr_equal(th_hash_table_get(&t, UINT64_C(1) << bit), value_of((uint64_t)bit));
    assert_ptr_equal(th_hash_table_get(&t, UINT64_MAX), value_of(64));
    assert_int_equal(t.count, 65);
    th_hash_table_free(&t);
}

static void a_freed_table_can_be_used_again(void **state)
{
    struct th_table t = {0};

    (void)state;
    th_hash_table_set(&t, 1, value_of(1));
    th_hash_table_free(&t);
    assert_null(th_hash_table_get(&t, 1));
    th_hash_table_set(&t, 2, value_of(2));
    assert_ptr_equal(th_hash_table_get(&t, 2), value_of(2));
    assert_int_equal(t.count, 1);
    th_hash_table_free(&t);
}

static void replacing_keys_at_constant_count_allocates_nothing(void **state)
{
    struct th_table t = {0};
    unsigned long before;

    (void)state;
    th_hash_table_set(&t, 1, value_of(1));
    before = th_alloc_count();
    for (uint64_t key = 2; key < 100000; key++) {
        th_hash_table_set(&t, key, value_of(key));
        assert_ptr_equal(th_hash_table_remove(&t, key), value_of(key));
    }
    assert_int_equal(th_alloc_count(), before);
    assert_int_equal(t.count, 1);
    th_hash_table_free(&t);
}

/* Each bit of the argument changes each bit of th_hash_mix() in a good part of the samples. */
static void each_input_bit_changes_each_bit_of_the_mix(void **state)
{
    static unsigned changed[64][64];
    enum { SAMPLES = 1000 };
    uint64_t seed = 3;

    (void)state;
    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t x = next_random(&seed);
        for (int in = 0; in < 64; in++) {
            uint64_t difference = th_hash_mix(x) ^ th_hash_mix(x ^ UINT64_C(1) << in);
            for (int out = 0; out < 64; out++)
                changed[in][out] += difference >> out & 1;
        }
    }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++)
            if (changed[in][out] == 0)
                fail_msg("bit %d of the result does not depend on bit %d", out, in);
}

static void hashes_of_different_names_differ(void **state)
{
    static uint64_t hashes[10000];
    char name[16];
    struct th_table seen = {0};

    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        int length = snprintf(name, sizeof name, "name_%d", (int)i);
        hashes[i] = th_hash_bytes(name, (size_t)length);
        assert_int_equal(hashes[i], th_hash_bytes(name, (size_t)length));
        assert_null(th_hash_table_set(&seen, hashes[i], value_of(i)));
    }
    th_hash_table_free(&seen);
    assert_int_not_equal(th_hash_bytes("a", 1), th_hash_bytes("a\0", 2));
    assert_int_equal(th_hash_bytes("x", 0), th_hash_bytes(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_finds_no_key),
        cmocka_unit_test(a_table_of_random_keys_equals_the_model),
        cmocka_unit_test(a_table_of_addresses_equals_the_model),
        cmocka_unit_test(a_table_of_colliding_keys_equals_the_model),
        cmocka_unit_test(keys_with_any_bit_set_are_found),
        cmocka_unit_test(a_freed_table_can_be_used_again),
        cmocka_unit_test(replacing_keys_at_constant_count_allocates_nothing),
        cmocka_unit_test(each_input_bit_changes_each_bit_of_the_mix),
        cmocka_unit_test(hashes_of_different_names_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
