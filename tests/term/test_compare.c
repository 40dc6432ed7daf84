/* Tests the order of all types, equality and identity, and deep or long terms. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
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

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static th_term bits(const char *bytes, size_t count)
{
    unsigned char *data;
    th_term t = th_make_heap_binary(&env, count, &data);

    memcpy(data, bytes, (count + 7) / 8);
    return t;
}

static th_term map_of(th_term key, th_term value)
{
    return th_make_map(&env, &key, &value, 1, false);
}

static th_term map_of_two(th_term k1, th_term v1, th_term k2, th_term v2)
{
    return th_make_map(&env, (const th_term[]){k1, k2}, (const th_term[]){v1, v2}, 2, false);
}

static th_term big(bool negative, uint64_t low, uint64_t high)
{
    return th_make_integer(&env, negative, (const uint64_t[]){low, high}, 2);
}

static th_term ref(const char *node, uint32_t creation, uint32_t w0, uint32_t w1, uint32_t w2)
{
    return th_make_reference(&env, node ? th_atom(node) : TH_NONE, creation,
                             (const uint32_t[]){w0, w1, w2}, 3);
}

static th_term pid(const char *node, uint32_t creation, uint32_t number, uint32_t serial)
{
    return th_make_pid(&env, node ? th_atom(node) : TH_NONE, creation, number, serial);
}

static th_term port(const char *node, uint32_t creation, uint64_t id)
{
    return th_make_port(&env, node ? th_atom(node) : TH_NONE, creation, id);
}

static th_term fun(const char *module, uint32_t index, int64_t old_unique, size_t free_count,
                   th_term free)
{
    const th_term both[] = {free, free};

    return th_make_fun(&env, &(const struct th_fun_parts){.module = th_atom(module),
                                                          .index = index,
                                                          .old_index = th_small(0),
                                                          .old_unique = th_small(old_unique),
                                                          .creator = th_local_pid(1, 0),
                                                          .free = both,
                                                          .free_count = free_count});
}

static th_term float_(double d)
{
    return th_make_float(&env, d);
}

static th_term export_(const char *module, const char *function, uint32_t arity)
{
    return th_make_export(&env, th_atom(module), th_atom(function), arity);
}

static void assert_ascending(const th_term *terms, size_t count, int (*compare)(th_term, th_term))
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (sign(compare(terms[i], terms[k])) != (i > k) - (i < k))
                fail_msg("terms %zu and %zu", i, k);
}

/* Asserts that each term is before all later ones, in both kinds of comparison. */
static void assert_ordered(const th_term *terms, size_t count)
{
    assert_ascending(terms, count, th_compare);
    assert_ascending(terms, count, th_compare_exact);
}

static void types_are_ordered(void **state)
{
    const th_term ascending[] = {
        th_small(1),
        th_atom("a"),
        ref("a@x", 1, 1, 1, 1),
        fun("a", 1, 1, 0, TH_NIL),
        port("a@x", 1, 1),
        pid("a@x", 1, 1, 0),
        th_make_tuple(&env, NULL, 0),
        th_make_map(&env, NULL, NULL, 0, false),
        TH_NIL,
        th_make_cons(&env, th_small(1), TH_NIL),
        bits("", 0),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void integers_are_ordered(void **state)
{
    const th_term ascending[] = {
        big(true, 1, 1),
        big(true, 0, 1),
        th_make_int64(&env, INT64_MIN),
        th_small(TH_SMALL_MIN),
        th_small(-1),
        th_small(0),
        th_small(1),
        th_small(TH_SMALL_MAX),
        th_make_int64(&env, INT64_MAX),
        big(false, 0, 1),
        big(false, 1, 1),
        big(false, 0, 2),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void references_are_ordered_by_node_and_number(void **state)
{
    const th_term ascending[] = {
        ref(NULL, 0, 0x3FFFF, 1, 1),
        ref(NULL, 0, 1, 2, 1),
        ref(NULL, 0, 1, 1, 2),
        ref("nonode@nohost", 0, 1, 1, 1),
        ref("nonode@nohost", 1, 1, 1, 1),
        ref("z@x", 1, 1, 1, 1),
        ref("z@x", 2, 0, 0, 0),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void funs_are_ordered_by_code_and_variables(void **state)
{
    const th_term one = th_small(1), two = th_small(2);
    const th_term ascending[] = {
        fun("aa", 1, 1, 0, TH_NIL), fun("aa", 1, 1, 2, one),    fun("aa", 1, 1, 2, two),
        fun("aa", 1, 2, 1, one),    fun("aa", 2, 0, 0, TH_NIL), fun("ab", 0, 0, 0, TH_NIL),
        export_("a", "a", 1),       export_("a", "a", 2),       export_("a", "b", 0),
        export_("b", "a", 0),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void ports_are_ordered_by_node_and_number(void **state)
{
    const th_term ascending[] = {
        port("a@x", 1, 9),         port("a@x", 2, 1),
        port(NULL, 0, 1),          port(NULL, 0, (uint64_t)1 << 40),
        port(NULL, 0, UINT64_MAX), port("z@x", 1, 1),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void pids_are_ordered_by_number_and_node(void **state)
{
    const th_term ascending[] = {
        pid(NULL, 0, 1, 0),     pid("z@x", 1, 1, 0), pid("a@x", 1, 2, 0),
        pid("a@x", 2, 2, 0),    pid(NULL, 0, 2, 0),  pid("nonode@nohost", 0, 2, 0),
        pid(NULL, 0, 32769, 0), pid(NULL, 0, 1, 1),  pid("a@x", 1, 1, 1 << 20),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void compound_terms_are_ordered(void **state)
{
    const th_term a = th_atom("a"), b = th_atom("b");
    const th_term one = th_small(1), two = th_small(2);
    const th_term ascending[] = {
        th_make_tuple(&env, NULL, 0),
        th_make_tuple_of(&env, TH_NIL),
        th_make_tuple_of(&env, a, b),
        th_make_tuple_of(&env, b, a),
        th_make_tuple_of(&env, b, b),
        th_make_map(&env, NULL, NULL, 0, false),
        map_of(one, two),
        map_of(two, one),
        map_of(a, one),
        map_of_two(a, one, b, one),
        map_of_two(a, one, b, two),
        map_of_two(a, two, b, one),
        TH_NIL,
        th_make_cons(&env, one, two),
        th_make_cons(&env, one, TH_NIL),
        th_make_cons(&env, one, th_make_cons(&env, one, TH_NIL)),
        th_make_cons(&env, two, TH_NIL),
        th_make_cons(&env, th_make_cons(&env, one, TH_NIL), TH_NIL),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void bit_strings_are_ordered(void **state)
{
    const th_term ascending[] = {
        bits("", 0),          bits("\x00", 1), bits("\x00", 8),      bits("\x00\x00", 9),
        bits("\x40", 2),      bits("\x61", 8), bits("\x61\x00", 16), bits("\x61\x80", 9),
        bits("\x61\xC0", 10), bits("\x62", 8), bits("\x80", 1),      bits("\xFF", 8),
    };

    (void)state;
    assert_ordered(ascending, sizeof ascending / sizeof *ascending);
}

static void numbers_are_ordered_by_value(void **state)
{
    const th_term ascending[] = {
        float_(-1e300),   big(true, 0, 5),  float_(-0x1p66), th_small(-2),    float_(-1.5),
        th_small(-1),     float_(-1e-300),  float_(0.0),     float_(0x1p-99), float_(0.5),
        th_small(1),      float_(1.5),      th_small(2),     float_(0x1p62),  big(false, 1, 1),
        float_(0x1.8p64), big(false, 0, 4),
    };

    (void)state;
    assert_ascending(ascending, sizeof ascending / sizeof *ascending, th_compare);
    assert_int_equal(th_compare(float_(0x1p66), big(false, 0, 4)), 0);
    assert_int_equal(th_compare(th_small(1), float_(1.0)), 0);
}

static void integers_come_before_floats_in_the_exact_order(void **state)
{
    const th_term ascending[] = {
        big(true, 0, 5), th_small(-2), th_small(2),   big(false, 0, 4), float_(-1e300),
        float_(-1.5),    float_(1.0),  float_(1e300), th_atom("a"),
    };

    (void)state;
    assert_ascending(ascending, sizeof ascending / sizeof *ascending, th_compare_exact);
}

/* 1 == 1.0 inside of tuples, lists and values of maps, but not in keys. */
static void equality_of_numbers_holds_in_terms_but_not_in_keys(void **state)
{
    const th_term one = th_small(1), float_one = float_(1.0);
    const struct {
        th_term a, b;
        int order;
    } pairs[] = {
        {th_make_tuple_of(&env, one), th_make_tuple_of(&env, float_one), 0},
        {th_make_cons(&env, one, TH_NIL), th_make_cons(&env, float_one, TH_NIL), 0},
        {th_make_cons(&env, TH_NIL, one), th_make_cons(&env, TH_NIL, float_one), 0},
        {map_of(TH_NIL, one), map_of(TH_NIL, float_one), 0},
        {map_of(one, TH_NIL), map_of(float_one, TH_NIL), -1},
        {map_of(th_make_tuple_of(&env, one), TH_NIL),
         map_of(th_make_tuple_of(&env, float_one), TH_NIL), -1},
        {fun("a", 1, 1, 1, one), fun("a", 1, 1, 1, float_one), 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(th_compare(pairs[i].a, pairs[i].b), pairs[i].order);
        assert_int_equal(th_compare(pairs[i].b, pairs[i].a), -pairs[i].order);
        assert_int_equal(th_compare_exact(pairs[i].a, pairs[i].b), -1);
        assert_int_equal(th_compare_exact(pairs[i].b, pairs[i].a), 1);
        assert_false(th_identical(pairs[i].a, pairs[i].b));
    }
}

static void assert_identical(th_term a, th_term b)
{
    assert_int_equal(th_compare(a, b), 0);
    assert_int_equal(th_compare_exact(a, b), 0);
    assert_int_equal(th_compare_exact(b, a), 0);
    assert_term_identical(a, b);
    assert_term_identical(b, a);
    assert_int_equal(th_internal_hash(a, 1), th_internal_hash(b, 1));
    assert_int_equal(th_phash2(a), th_phash2(b));
}

static void terms_are_identical_in_any_representation(void **state)
{
    struct th_binary *binary = th_binary_create(4);
    th_term shared, part;

    (void)state;
    memcpy(binary->data, "abc\xFF", 4);
    shared = th_make_shared_binary(&env, binary, binary->data, 26);
    th_binary_release(binary);
    part = th_make_sub_binary(&env, th_make_binary(&env, "xabcd", 5), 1, 3);
    assert_identical(shared, bits("abc\xC0", 26));
    assert_identical(part, th_make_binary(&env, "abc", 3));
    assert_identical(th_make_shared_binary(&env, binary, binary->data, 24), part);
    assert_identical(float_(0.0), float_(-0.0));
    assert_identical(th_make_reference(&env, TH_NONE, 0, (const uint32_t[]){7, 0, 0}, 3),
                     th_make_reference(&env, TH_NONE, 0, (const uint32_t[]){7}, 1));
    assert_identical(fun("a", 1, 1, 2, float_(2)), fun("a", 1, 1, 2, float_(2)));
    assert_identical(export_("a", "b", 3), export_("a", "b", 3));
    assert_identical(big(true, 7, 7), big(true, 7, 7));
    assert_identical(pid("a@b", 1, 2, 3), pid("a@b", 1, 2, 3));
    assert_identical(port("a@b", 1, 2), port("a@b", 1, 2));
}

static void large_maps_are_identical_in_any_order(void **state)
{
    enum { COUNT = 100 };
    th_term up[COUNT], down[COUNT], float_up[COUNT];
    th_term a, b;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        up[i] = th_make_tuple_of(&env, th_small((int64_t)i));
        down[COUNT - 1 - i] = up[i];
        float_up[i] = th_make_tuple_of(&env, float_((double)i));
    }
    a = th_make_map(&env, up, up, COUNT, false);
    b = th_make_map(&env, down, down, COUNT, false);
    assert_identical(a, b);
    assert_int_equal(th_compare(a, th_make_map(&env, up, float_up, COUNT, false)), 0);
    assert_false(th_identical(a, th_make_map(&env, up, float_up, COUNT, false)));
    b = th_map_put(&env, b, up[40], TH_AM(ok));
    assert_order(th_compare(a, b), >, 0);
    assert_order(th_compare(a, th_map_remove(&env, b, up[40])), >, 0);
}

static void funs_of_other_code_are_not_identical(void **state)
{
    struct th_fun_parts parts = {.module = TH_AM(erlang),
                                 .old_index = th_small(0),
                                 .old_unique = th_small(0),
                                 .creator = th_local_pid(1, 0)};
    th_term a = th_make_fun(&env, &parts);
    th_term b, c;

    (void)state;
    parts.creator = th_local_pid(2, 0);
    assert_identical(a, th_make_fun(&env, &parts));
    parts.unique[15] = 1;
    b = th_make_fun(&env, &parts);
    assert_false(th_identical(a, b));
    parts.unique[15] = 0;
    parts.arity = 1;
    c = th_make_fun(&env, &parts);
    assert_false(th_identical(a, c));
    assert_false(th_identical(b, c));
}

/* Nests a term LEVELS times in a tuple, a list's head, a map's value and a list's tail. */
static th_term nest(th_term innermost, size_t levels)
{
    th_term t = innermost;

    for (size_t i = 0; i < levels; i++) {
        t = th_make_tuple_of(&env, TH_AM(ok), t, TH_AM(ok));
        t = th_make_cons(&env, t, TH_NIL);
        t = map_of_two(TH_AM(in), t, TH_AM(out), TH_NIL);
        t = th_make_cons(&env, float_(1), t);
    }
    return t;
}

static void comparing_deep_terms_needs_no_stack(void **state)
{
    enum { LEVELS = 300000 };
    th_term a = nest(th_small(1), LEVELS);

    (void)state;
    assert_identical(a, nest(th_small(1), LEVELS));
    assert_order(th_compare(a, nest(th_small(2), LEVELS)), <, 0);
    assert_order(th_compare(a, nest(float_(0.5), LEVELS)), >, 0);
    assert_int_equal(th_compare(a, nest(float_(1), LEVELS)), 0);
    assert_int_equal(th_compare_exact(a, nest(float_(1), LEVELS)), -1);
}

static void long_lists_are_compared_up_to_their_tails(void **state)
{
    enum { LENGTH = 1000000 };
    th_term a = TH_AM(ok), b = TH_NIL;

    (void)state;
    for (size_t i = 0; i < LENGTH; i++) {
        a = th_make_cons(&env, th_small((int64_t)i), a);
        b = th_make_cons(&env, th_small((int64_t)i), b);
    }
    assert_order(th_compare(a, b), <, 0);
    assert_false(th_identical(a, b));
    assert_identical(a, th_copy(&env, a));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(types_are_ordered),
        TEST(integers_are_ordered),
        TEST(references_are_ordered_by_node_and_number),
        TEST(funs_are_ordered_by_code_and_variables),
        TEST(ports_are_ordered_by_node_and_number),
        TEST(pids_are_ordered_by_number_and_node),
        TEST(compound_terms_are_ordered),
        TEST(bit_strings_are_ordered),
        TEST(numbers_are_ordered_by_value),
        TEST(integers_come_before_floats_in_the_exact_order),
        TEST(equality_of_numbers_holds_in_terms_but_not_in_keys),
        TEST(terms_are_identical_in_any_representation),
        TEST(large_maps_are_identical_in_any_order),
        TEST(funs_of_other_code_are_not_identical),
        TEST(comparing_deep_terms_needs_no_stack),
        TEST(long_lists_are_compared_up_to_their_tails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
