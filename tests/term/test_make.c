/* Tests terms that are made and taken apart, and the words of those that tracers inspect. */
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

/* The expected words were measured in OTP 25. */
static void immediates_have_the_same_words_as_in_the_beam(void **state)
{
    (void)state;
    assert_term_equal(th_small(5), 0x5F);
    assert_int_equal(th_small(-1), UINT64_MAX);
    assert_term_equal(TH_NIL, 0x3B);
    assert_int_equal(th_local_pid(9, 0) & ~(th_term)0x7FFFFFFF0, 0x4800000003);
    assert_int_equal(th_local_pid(9, 0) >> 35 & 0xFFFFFFF, 9);
    assert_int_equal(th_local_pid(9, 1) >> 35 & 0xFFFFFFF, 9 | 1 << 15);
    assert_int_equal(th_local_port(3), 0x37);
}

static const int64_t edges[] = {
    0,
    1,
    -1,
    TH_SMALL_MAX,
    TH_SMALL_MAX - 1,
    TH_SMALL_MAX + 1,
    TH_SMALL_MIN,
    TH_SMALL_MIN + 1,
    TH_SMALL_MIN - 1,
    INT64_MAX,
    INT64_MIN,
    INT64_MIN + 1,
};

static void integers_of_64_bits_return_their_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        th_term t = th_make_int64(&env, edges[i]);
        int64_t back = 99;
        uint64_t unsigned_back = 99;

        assert_true(th_is_integer(t));
        assert_int_equal(th_is_small(t), th_term_fits_small(edges[i]));
        assert_true(th_get_int64(t, &back));
        assert_int_equal(back, edges[i]);
        assert_int_equal(th_get_uint64(t, &unsigned_back), edges[i] >= 0);
        assert_int_equal(unsigned_back, edges[i] >= 0 ? (uint64_t)edges[i] : 99);
    }
}

static void unsigned_integers_return_their_value(void **state)
{
    static const uint64_t values[] = {0, TH_SMALL_MAX, (uint64_t)TH_SMALL_MAX + 1,
                                      (uint64_t)INT64_MAX + 1, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        th_term t = th_make_uint64(&env, values[i]);
        uint64_t back = 99;
        int64_t signed_back = 99;

        assert_int_equal(th_is_small(t), values[i] <= TH_SMALL_MAX);
        assert_true(th_get_uint64(t, &back));
        assert_int_equal(back, values[i]);
        assert_int_equal(th_get_int64(t, &signed_back), values[i] <= INT64_MAX);
    }
}

static void integers_beyond_64_bits_return_no_value(void **state)
{
    const uint64_t limbs[] = {5, 1};
    const uint64_t below_min = (uint64_t)INT64_MAX + 2;
    int64_t i = 99;
    uint64_t u = 99;

    (void)state;
    assert_false(th_get_int64(th_make_integer(&env, false, limbs, 2), &i));
    assert_false(th_get_uint64(th_make_integer(&env, false, limbs, 2), &u));
    assert_false(th_get_int64(th_make_integer(&env, true, &below_min, 1), &i));
    assert_false(th_get_uint64(th_make_integer(&env, true, &below_min, 1), &u));
    assert_false(th_get_int64(th_make_float(&env, 1.0), &i));
    assert_false(th_get_uint64(TH_NIL, &u));
    assert_false(th_get_int64(th_make_tuple(&env, NULL, 0), &i));
    assert_int_equal(i, 99);
    assert_int_equal(u, 99);
}

static void leading_zero_limbs_are_dropped(void **state)
{
    const uint64_t limbs[] = {7, 0, 0};
    const uint64_t large[] = {0, 1, 0};
    th_term t = th_make_integer(&env, true, large, 3);
    struct th_limbs back;

    (void)state;
    assert_term_equal(th_make_integer(&env, false, limbs, 3), th_small(7));
    assert_term_equal(th_make_integer(&env, true, limbs, 3), th_small(-7));
    assert_term_equal(th_make_integer(&env, true, limbs + 1, 2), th_small(0));
    assert_term_equal(th_make_integer(&env, true, NULL, 0), th_small(0));
    assert_true(th_get_limbs(t, &back));
    assert_true(back.negative);
    assert_int_equal(back.count, 2);
    assert_memory_equal(back.limbs, large, 16);
}

static void small_integers_reach_one_further_below_zero(void **state)
{
    const uint64_t limb = (uint64_t)1 << 59;
    struct th_limbs back;

    (void)state;
    assert_term_equal(th_make_integer(&env, true, &limb, 1), th_small(TH_SMALL_MIN));
    assert_true(th_term_is(th_make_integer(&env, false, &limb, 1), TH_POS_BIG));
    assert_true(th_get_limbs(th_small(TH_SMALL_MIN), &back));
    assert_int_equal(back.limbs[0], limb);
    assert_true(back.negative);
    assert_true(th_get_limbs(th_small(0), &back));
    assert_int_equal(back.count, 0);
    assert_false(th_get_limbs(TH_AM(ok), &back));
}

static void floats_return_their_value(void **state)
{
    (void)state;
    assert_true(th_is_float(th_make_float(&env, 1.5)));
    assert_true(th_float_value(th_make_float(&env, -0x1.8p-1074)) == -0x1.8p-1074);
    assert_false(th_is_integer(th_make_float(&env, 1.0)));
}

static void only_proper_lists_have_a_length(void **state)
{
    const th_term elements[] = {th_small(1), TH_AM(ok), TH_NIL};
    th_term list = th_make_list(&env, elements, 3);
    size_t length = 99;

    (void)state;
    assert_false(th_get_list_length(TH_AM(ok), &length));
    assert_false(th_get_list_length(th_make_cons(&env, TH_NIL, TH_AM(ok)), &length));
    assert_int_equal(length, 99);
    assert_true(th_get_list_length(list, &length));
    assert_int_equal(length, 3);
    assert_term_equal(th_cell(list)[0], th_small(1));
    assert_term_equal(th_cell(th_cell(list)[1])[0], TH_AM(ok));
    assert_term_equal(th_make_list(&env, NULL, 0), TH_NIL);
    assert_true(th_get_list_length(TH_NIL, &length));
    assert_int_equal(length, 0);
}

static void strings_are_lists_of_bytes(void **state)
{
    th_term s = th_make_latin1_string(&env, (const unsigned char *)"a\xFF", 2);

    (void)state;
    assert_term_equal(th_cell(s)[0], th_small('a'));
    assert_term_equal(th_cell(th_cell(s)[1])[0], th_small(0xFF));
    assert_term_equal(th_cell(th_cell(s)[1])[1], TH_NIL);
    assert_term_equal(th_make_latin1_string(&env, NULL, 0), TH_NIL);
}

static void tuples_hold_their_elements(void **state)
{
    th_term t = th_make_tuple_of(&env, TH_AM(ok), th_small(2), TH_NIL);
    th_term *elements;
    th_term space = th_make_tuple_space(&env, 2, &elements);

    (void)state;
    elements[0] = TH_AM(error);
    elements[1] = t;
    assert_int_equal(th_tuple_arity(t), 3);
    assert_term_equal(th_tuple_elements(t)[2], TH_NIL);
    assert_int_equal(th_tuple_arity(space), 2);
    assert_term_equal(th_tuple_elements(space)[1], t);
    assert_int_equal(th_tuple_arity(th_make_tuple(&env, NULL, 0)), 0);
}

static void funs_return_their_parts(void **state)
{
    const th_term free[] = {TH_NIL, th_small(4)};
    const struct th_fun_parts parts = {
        .module = TH_AM(erlang),
        .arity = 255,
        .index = UINT32_MAX,
        .unique = "0123456789abcde",
        .old_index = th_small(3),
        .old_unique = th_small(-4),
        .creator = th_local_pid(3, 4),
        .free = free,
        .free_count = 2,
    };
    th_term t = th_make_fun(&env, &parts);
    struct th_fun_parts back = {.arity = 99};

    (void)state;
    assert_true(th_is_fun(t));
    assert_false(th_get_fun(th_make_export(&env, TH_AM(erlang), TH_AM(send), 2), &back));
    assert_int_equal(back.arity, 99);
    assert_true(th_get_fun(t, &back));
    assert_term_equal(back.module, TH_AM(erlang));
    assert_int_equal(back.arity, 255);
    assert_int_equal(back.index, UINT32_MAX);
    assert_memory_equal(back.unique, parts.unique, 16);
    assert_term_equal(back.old_index, th_small(3));
    assert_term_equal(back.old_unique, th_small(-4));
    assert_term_equal(back.creator, th_local_pid(3, 4));
    assert_int_equal(back.free_count, 2);
    assert_memory_equal(back.free, free, sizeof free);
}

static void exports_return_their_parts(void **state)
{
    th_term t = th_make_export(&env, TH_AM(erlang), TH_AM(send), 255);
    th_term module, function;
    uint32_t arity;

    (void)state;
    assert_true(th_is_fun(t));
    assert_true(th_get_export(t, &module, &function, &arity));
    assert_term_equal(module, TH_AM(erlang));
    assert_term_equal(function, TH_AM(send));
    assert_int_equal(arity, 255);
    assert_false(th_get_export(TH_NIL, &module, &function, &arity));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(immediates_have_the_same_words_as_in_the_beam),
        TEST(integers_of_64_bits_return_their_value),
        TEST(unsigned_integers_return_their_value),
        TEST(integers_beyond_64_bits_return_no_value),
        TEST(leading_zero_limbs_are_dropped),
        TEST(small_integers_reach_one_further_below_zero),
        TEST(floats_return_their_value),
        TEST(only_proper_lists_have_a_length),
        TEST(strings_are_lists_of_bytes),
        TEST(tuples_hold_their_elements),
        TEST(funs_return_their_parts),
        TEST(exports_return_their_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
