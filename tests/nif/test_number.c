/* Tests numbers: each range, small and big; a failure does not change the output. */
#include "host/nif/nif.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

static void ints_are_checked_for_their_range(void **state)
{
    int i = 77;

    (void)state;
    assert_true(enif_get_int(env, enif_make_int(env, INT_MIN), &i) && i == INT_MIN);
    assert_true(enif_get_int(env, enif_make_int(env, INT_MAX), &i) && i == INT_MAX);
    i = 77;
    assert_false(enif_get_int(env, enif_make_long(env, (long)INT_MAX + 1), &i));
    assert_false(enif_get_int(env, enif_make_long(env, (long)INT_MIN - 1), &i));
    assert_false(enif_get_int(env, enif_make_long(env, LONG_MAX), &i));
    assert_false(enif_get_int(env, enif_make_double(env, 1.0), &i));
    assert_false(enif_get_int(env, TH_AM(ok), &i));
    assert_false(enif_get_int(env, TH_NIL, &i));
    assert_int_equal(i, 77);
}

static void unsigned_ints_are_checked_for_their_range(void **state)
{
    unsigned u = 77;

    (void)state;
    assert_true(enif_get_uint(env, enif_make_uint(env, UINT_MAX), &u) && u == UINT_MAX);
    assert_true(enif_get_uint(env, enif_make_uint(env, 0), &u) && u == 0);
    u = 77;
    assert_false(enif_get_uint(env, enif_make_int(env, -1), &u));
    assert_false(enif_get_uint(env, enif_make_long(env, (long)UINT_MAX + 1), &u));
    assert_false(enif_get_uint(env, enif_make_ulong(env, ULONG_MAX), &u));
    assert_false(enif_get_uint(env, TH_NIL, &u));
    assert_int_equal(u, 77);
}

static void longs_may_be_big_integers(void **state)
{
    static const long values[] = {
        LONG_MIN, LONG_MAX, 0, TH_SMALL_MIN, TH_SMALL_MAX, -1, TH_SMALL_MIN - 1, TH_SMALL_MAX + 1};
    long l = 77;

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(enif_get_long(env, enif_make_long(env, values[i]), &l) && l == values[i]);
    l = 77;
    assert_false(enif_get_long(env, enif_make_ulong(env, (unsigned long)LONG_MAX + 1), &l));
    assert_false(enif_get_long(env, enif_make_double(env, 1.0), &l));
    assert_false(enif_get_long(env, TH_NIL, &l));
    assert_int_equal(l, 77);
}

static void unsigned_longs_may_be_big_integers(void **state)
{
    static const unsigned long values[] = {0,        TH_SMALL_MAX,   TH_SMALL_MAX + 1ul,
                                           LONG_MAX, LONG_MAX + 1ul, ULONG_MAX};
    uint64_t limbs[] = {0, 1};
    unsigned long u = 77;

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(enif_get_ulong(env, enif_make_ulong(env, values[i]), &u) && u == values[i]);
    u = 77;
    assert_false(enif_get_ulong(env, enif_make_int(env, -1), &u));
    assert_false(enif_get_ulong(env, enif_make_long(env, LONG_MIN), &u));
    assert_false(enif_get_ulong(env, th_make_integer(env, false, limbs, 2), &u));
    assert_false(enif_get_ulong(env, TH_AM(ok), &u));
    assert_int_equal(u, 77);
}

static void integers_of_equal_value_are_identical_terms(void **state)
{
    (void)state;
    assert_term_equal(enif_make_int(env, 5), enif_make_ulong(env, 5));
    assert_term_equal(enif_make_uint(env, 5), enif_make_long(env, 5));
    assert_true(enif_is_identical(enif_make_long(env, LONG_MAX), enif_make_ulong(env, LONG_MAX)));
}

static void only_floats_can_be_read_as_doubles(void **state)
{
    double d = 77;

    (void)state;
    assert_true(enif_get_double(env, enif_make_double(env, -0.5), &d) && d == -0.5);
    d = 77;
    assert_false(enif_get_double(env, enif_make_int(env, 1), &d));
    assert_false(enif_get_double(env, enif_make_ulong(env, ULONG_MAX), &d));
    assert_false(enif_get_double(env, TH_AM(ok), &d));
    assert_true(d == 77);
}

static void infinite_doubles_and_nan_raise_an_exception(void **state)
{
    static const double bad[] = {INFINITY, -INFINITY, NAN};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(enif_is_exception(env, enif_make_double(env, bad[i])));
        enif_clear_env(env);
    }
}

static void the_64_bit_functions_exist_besides_their_macros(void **state)
{
#undef enif_get_int64
#undef enif_get_uint64
#undef enif_make_int64
#undef enif_make_uint64
    ErlNifSInt64 i;
    ErlNifUInt64 u;

    (void)state;
    assert_true(enif_get_int64(env, enif_make_int64(env, LONG_MIN), &i) && i == LONG_MIN);
    assert_true(enif_get_uint64(env, enif_make_uint64(env, ULONG_MAX), &u) && u == ULONG_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ints_are_checked_for_their_range, begin, end),
        cmocka_unit_test_setup_teardown(unsigned_ints_are_checked_for_their_range, begin, end),
        cmocka_unit_test_setup_teardown(longs_may_be_big_integers, begin, end),
        cmocka_unit_test_setup_teardown(unsigned_longs_may_be_big_integers, begin, end),
        cmocka_unit_test_setup_teardown(integers_of_equal_value_are_identical_terms, begin, end),
        cmocka_unit_test_setup_teardown(only_floats_can_be_read_as_doubles, begin, end),
        cmocka_unit_test_setup_teardown(infinite_doubles_and_nan_raise_an_exception, begin, end),
        cmocka_unit_test_setup_teardown(the_64_bit_functions_exist_besides_their_macros, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
