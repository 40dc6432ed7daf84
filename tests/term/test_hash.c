/*
 * Tests hashes: the portable one against values of a real BEAM (tests/oracle has many more), the
 * internal one for its spread.
 */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static th_env env;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

static uint32_t phash2(th_term t)
{
    return th_phash2(t) & ((1 << 27) - 1);
}

static th_term string(const char *text, th_term tail)
{
    size_t length = strlen(text);

    while (length-- > 0)
        tail = th_make_cons(&env, th_small((unsigned char)text[length]), tail);
    return tail;
}

static void atoms_lists_and_tuples_hash_as_in_a_beam(void **state)
{
    th_term empty = th_make_tuple(&env, NULL, 0);
    th_term a = th_atom("a");

    (void)state;
    assert_int_equal(phash2(th_atom("foo")), 27999);
    assert_int_equal(phash2(th_atom("\xE9")), 233); /* as Latin-1, not as UTF-8 */
    assert_int_equal(phash2(TH_NIL), 113427502);
    assert_int_equal(phash2(th_make_cons(&env, TH_NIL, TH_NIL)), 96416884);
    assert_int_equal(phash2(th_make_cons(&env, a, th_atom("b"))), 74710280);
    assert_int_equal(phash2(empty), 87486268);
    assert_int_equal(phash2(th_make_tuple_of(&env, a)), 35332806);
    assert_int_equal(phash2(th_make_tuple_of(&env, a, th_small(1), string("x", TH_NIL))),
                     117801664);
    assert_int_equal(phash2(th_make_cons(&env, empty, TH_NIL)), 24335964);
    assert_int_equal(phash2(th_make_export(&env, th_atom("lists"), th_atom("map"), 2)), 34981515);
}

static void strings_hash_as_in_a_beam(void **state)
{
    (void)state;
    assert_int_equal(phash2(string("abc", TH_NIL)), 117343302);
    assert_int_equal(phash2(string("abcd", TH_NIL)), 7922743);
    assert_int_equal(phash2(string("abcde", TH_NIL)), 71169904);
    assert_int_equal(phash2(string("abcd", th_atom("x"))), 36668708);
    assert_int_equal(
        phash2(string("\1\2\3", th_make_cons(&env, th_small(300), string("\4", TH_NIL)))),
        69805988);
    assert_int_equal(phash2(th_make_cons(&env, th_small(256), TH_NIL)), 73608398);
}

static void integers_and_floats_hash_as_in_a_beam(void **state)
{
    const struct {
        int64_t i;
        uint32_t hash;
    } small[] = {
        {0, 88723725},
        {1, 2614250},
        {-1, 44071773},
        {134217727, 112602999},
        {134217728, 12354923},
        {-134217728, 69672967},
        {-134217729, 76739502},
        {(int64_t)1 << 59, 26969617},
        {-((int64_t)1 << 59), 35173814},
    };
    uint64_t limbs[4] = {0, 0, 0, 256};
    const uint64_t negative[2] = {5, 1};

    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        assert_int_equal(phash2(th_make_int64(&env, small[i].i)), small[i].hash);
    assert_int_equal(phash2(th_make_uint64(&env, (uint64_t)1 << 63)), 39852678);
    assert_int_equal(phash2(th_make_integer(&env, false, limbs, 4)), 23185601);
    assert_int_equal(phash2(th_make_integer(&env, true, negative, 2)), 113907302);
    assert_int_equal(phash2(th_make_float(&env, 0.0)), 20875736);
    assert_int_equal(phash2(th_make_float(&env, -0.0)), 20875736);
    assert_int_equal(phash2(th_make_float(&env, -1.5)), 13753666);
    assert_int_equal(phash2(th_make_float(&env, 1.0e300)), 119088650);
}

static void bit_strings_hash_as_in_a_beam(void **state)
{
    const struct {
        size_t bytes;
        uint32_t hash;
    } sizes[] = {
        {0, 13708901},   {1, 38862734},  {3, 119402795}, {4, 52171600},
        {5, 93704889},   {8, 111604870}, {9, 80417678},  {11, 57630374},
        {12, 119431255}, {13, 3492547},  {24, 10597824}, {27, 17936818},
    };
    unsigned char data[27];
    unsigned char *place;
    th_term t;

    (void)state;
    memset(data, 171, sizeof data);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(phash2(th_make_binary(&env, data, sizes[i].bytes)), sizes[i].hash);
    t = th_make_heap_binary(&env, 11, &place);
    memcpy(place, "\xAB\xA0", 2);
    assert_int_equal(phash2(t), 112855079);
    t = th_make_heap_binary(&env, 3, &place);
    *place = 0xA0;
    assert_int_equal(phash2(t), 133543196);
}

static void maps_hash_equally_in_any_order(void **state)
{
    th_term a = th_atom("a"), b = th_atom("b"), c = th_atom("c");
    th_term keys[40], values[40];
    th_term inner = th_make_map(&env, &c, &(th_term){TH_NIL}, 1, false);
    const th_term both[] = {a, b};

    (void)state;
    assert_int_equal(phash2(th_make_map(&env, NULL, NULL, 0, false)), 39679005);
    assert_int_equal(phash2(th_make_map(&env, &a, &(th_term){th_small(1)}, 1, false)), 59617982);
    assert_int_equal(
        phash2(th_make_map(&env, both, (const th_term[]){th_small(1), inner}, 2, false)), 79632721);
    inner = th_make_map(&env, (const th_term[]){th_small(1), th_small(3)},
                        (const th_term[]){th_small(2), th_small(4)}, 2, false);
    assert_int_equal(phash2(th_make_tuple_of(&env, th_small(0), inner, th_small(5))), 100746560);
    for (int i = 0; i < 40; i++) {
        keys[i] = th_small(40 - i);
        values[i] = th_small((40 - i) * (40 - i));
    }
    assert_int_equal(phash2(th_make_map(&env, keys, values, 40, false)), 37357662);
}

static void identifiers_hash_as_in_a_beam(void **state)
{
    const uint32_t words[] = {5, 1, 2};

    (void)state;
    assert_int_equal(phash2(th_make_pid(&env, TH_NONE, 0, 1, 0)), 51930921);
    assert_int_equal(phash2(th_make_pid(&env, TH_AM(nonode), 1, 1, 77)), 51930921);
    assert_int_equal(phash2(th_make_pid(&env, TH_AM(nonode), 1, 32768, 0)), 20944570);
    assert_int_equal(phash2(th_make_pid(&env, TH_AM(nonode), 1, 1 << 28, 0)), 106070479);
    assert_int_equal(phash2(th_make_port(&env, TH_NONE, 0, 1)), 75346444);
    assert_int_equal(phash2(th_make_port(&env, TH_AM(nonode), 1, 1 << 27)), 93356782);
    assert_int_equal(phash2(th_make_reference(&env, TH_NONE, 0, words, 3)), 23297808);
}

static void hashing_deep_terms_needs_no_stack(void **state)
{
    th_term t = TH_NIL;

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        t = i % 3 ? th_make_tuple_of(&env, TH_AM(in), t, TH_AM(out))
                  : th_make_map(&env, &(th_term){TH_AM(ok)}, &t, 1, false);
    }
    assert_int_equal(th_phash2(t), th_phash2(t));
    assert_int_equal(th_internal_hash(t, 7), th_internal_hash(t, 7));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Among many similar terms, no two have the same 64 bits, and their low 32 bits collide no more
 * often than by chance. */
static void the_internal_hash_spreads(void **state)
{
    enum { COUNT = 100000 };
    static uint64_t hashes[COUNT];
    size_t met = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        th_term n = th_small((int64_t)(i / 5));
        th_term t = i % 5 == 0   ? n
                    : i % 5 == 1 ? th_make_tuple_of(&env, n, TH_AM(ok))
                    : i % 5 == 2 ? th_make_cons(&env, n, TH_NIL)
                    : i % 5 == 3 ? th_make_binary(&env, &i, 8)
                                 : th_local_pid((uint32_t)i, 0);
        hashes[i] = th_internal_hash(t, 0);
    }
    qsort(hashes, COUNT, sizeof *hashes, by_value);
    for (size_t i = 1; i < COUNT; i++)
        assert_int_not_equal(hashes[i - 1], hashes[i]);
    for (size_t i = 0; i < COUNT; i++)
        hashes[i] &= 0xFFFFFFFF;
    qsort(hashes, COUNT, sizeof *hashes, by_value);
    for (size_t i = 1; i < COUNT; i++)
        met += hashes[i - 1] == hashes[i];
    assert_in_range(met, 0, 12); /* 1.2 expected */
}

static void the_salt_changes_the_internal_hash(void **state)
{
    const th_term terms[] = {TH_NIL, TH_AM(ok), th_small(1), th_make_float(&env, 1),
                             th_make_tuple_of(&env, TH_NIL)};

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        for (uint64_t salt = 1; salt < 100; salt++)
            assert_int_not_equal(th_internal_hash(terms[i], salt), th_internal_hash(terms[i], 0));
}

static void every_byte_of_a_binary_changes_the_hash(void **state)
{
    unsigned char data[20] = {0};

    (void)state;
    for (size_t size = 1; size < sizeof data; size++)
        for (size_t i = 0; i < size; i++) {
            uint64_t before = th_internal_hash(th_make_binary(&env, data, size), 0);
            data[i] = 1;
            assert_int_not_equal(th_internal_hash(th_make_binary(&env, data, size), 0), before);
            data[i] = 0;
            assert_int_not_equal(th_internal_hash(th_make_binary(&env, data, size - 1), 0), before);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(atoms_lists_and_tuples_hash_as_in_a_beam),
        TEST(strings_hash_as_in_a_beam),
        TEST(integers_and_floats_hash_as_in_a_beam),
        TEST(bit_strings_hash_as_in_a_beam),
        TEST(maps_hash_equally_in_any_order),
        TEST(identifiers_hash_as_in_a_beam),
        TEST(hashing_deep_terms_needs_no_stack),
        TEST(the_internal_hash_spreads),
        TEST(the_salt_changes_the_internal_hash),
        TEST(every_byte_of_a_binary_changes_the_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
