/* Tests arithmetic: identities for integers of any size, known results, refusals. */
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

static th_term parse(const char *text)
{
    th_term t = TH_NONE;

    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return t;
}

static void assert_term(th_term t, const char *expected)
{
    struct th_buffer text = {0};

    assert_int_not_equal(t, TH_NONE);
    assert_int_not_equal(t, TH_NUMBER_LARGE);
    th_text_print(&text, t);
    assert_string_equal(th_buffer_text(&text), expected);
    th_buffer_free(&text);
}

/* --- Any size --------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

/* Returns an integer of up to MOST limbs, many of them all ones or all zeros, for long carries. */
static th_term random_integer(uint64_t *seed, size_t most)
{
    uint64_t limbs[16];
    size_t count = next_random(seed) % (most + 1);

    for (size_t i = 0; i < count; i++)
        switch (next_random(seed) % 4) {
        case 0:
            limbs[i] = 0;
            break;
        case 1:
            limbs[i] = UINT64_MAX;
            break;
        case 2:
            limbs[i] = next_random(seed) >> next_random(seed) % 64;
            break;
        default:
            limbs[i] = next_random(seed);
        }
    return th_make_integer(&env, next_random(seed) % 2, limbs, count);
}

static void assert_same(th_term a, th_term b)
{
    struct th_buffer text = {0};

    if (th_identical(a, b))
        return;
    th_text_print(&text, a);
    th_buffer_add_text(&text, " and ");
    th_text_print(&text, b);
    fail_msg("%s", th_buffer_text(&text));
}

static void check_division(th_term a, th_term b)
{
    th_term quotient = th_number_quotient(&env, a, b), rest = th_number_remainder(&env, a, b);

    if (b == th_small(0)) {
        assert_term_equal(quotient, TH_NONE);
        assert_term_equal(rest, TH_NONE);
        return;
    }
    assert_same(th_number_add(&env, th_number_multiply(&env, quotient, b), rest), a);
    assert_order(th_compare(th_number_absolute(&env, rest), th_number_absolute(&env, b)), <, 0);
    if (rest != th_small(0))
        assert_int_equal((th_compare(rest, th_small(0)) < 0), (th_compare(a, th_small(0)) < 0));
}

static void check_bits(th_term a, th_term b)
{
    th_term both = th_number_and(&env, a, b), any = th_number_or(&env, a, b);

    assert_same(th_number_add(&env, both, any), th_number_add(&env, a, b));
    assert_same(th_number_xor(&env, a, b), th_number_subtract(&env, any, both));
    assert_same(th_number_not(&env, a), th_number_subtract(&env, th_small(-1), a));
    assert_same(th_number_not(&env, both),
                th_number_or(&env, th_number_not(&env, a), th_number_not(&env, b)));
}

static void check_shifts(th_term a, int64_t count)
{
    th_term by = th_small(count), two = th_number_shift_left(&env, th_small(1), by);
    th_term up = th_number_shift_left(&env, a, by), down = th_number_shift_right(&env, a, by);
    th_term rest = th_number_subtract(&env, a, th_number_shift_left(&env, down, by));

    assert_same(up, th_number_multiply(&env, a, two));
    assert_same(th_number_shift_right(&env, up, by), a);
    assert_same(th_number_shift_left(&env, a, th_small(-count)), down);
    assert_true(th_compare(rest, th_small(0)) >= 0 && th_compare(rest, two) < 0);
}

static void arithmetic_identities_hold(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        th_term a = random_integer(&seed, 8), b = random_integer(&seed, 1 + (size_t)i % 8);
        th_term sum = th_number_add(&env, a, b);
        assert_same(th_number_subtract(&env, sum, b), a);
        assert_same(th_number_subtract(&env, a, b),
                    th_number_add(&env, a, th_number_negate(&env, b)));
        assert_same(
            th_number_multiply(&env, sum, b),
            th_number_add(&env, th_number_multiply(&env, a, b), th_number_multiply(&env, b, b)));
        check_division(a, b);
        check_bits(a, b);
        check_shifts(a, (int64_t)(next_random(&seed) % 300));
        th_env_clear(&env);
    }
}

/* --- Known results ---------------------------------------------------------------------------- */

static void division_rounds_towards_zero(void **state)
{
    (void)state;
    assert_term(th_number_quotient(&env, th_small(-7), th_small(2)), "-3");
    assert_term(th_number_remainder(&env, th_small(-7), th_small(2)), "-1");
    assert_term(th_number_remainder(&env, th_small(7), th_small(-2)), "1");
    assert_term(th_number_quotient(&env, th_small(TH_SMALL_MIN), th_small(-1)),
                "576460752303423488");
    /* The estimated quotient is two too large. */
    assert_term(th_number_quotient(&env,
                                   parse("16#7fffffffffffffff80000000000000000000000000000000"),
                                   parse("16#800000000000000000000000000000000000000000000001")),
                "0");
    assert_term(
        th_number_quotient(&env,
                           parse("16#7fffffffffffffff8000000000000000000000000000000000000000"
                                 "00000000"),
                           parse("16#80000000000000000000000000000001")),
        "340282366920938463444927863358058659838");
    assert_term(th_number_divide(&env, th_small(1), th_small(4)), "0.25");
}

static void floats_become_integers(void **state)
{
    (void)state;
    assert_term(th_number_round(&env, parse("2.5"), TH_ROUND_NEAREST), "3");
    assert_term(th_number_round(&env, parse("-2.5"), TH_ROUND_NEAREST), "-3");
    assert_term(th_number_round(&env, parse("-2.5"), TH_ROUND_TOWARDS_ZERO), "-2");
    assert_term(th_number_round(&env, parse("-2.5"), TH_ROUND_DOWN), "-3");
    assert_term(th_number_round(&env, parse("-2.5"), TH_ROUND_UP), "-2");
    assert_term(th_number_round(&env, parse("2.1"), TH_ROUND_UP), "3");
    assert_term(th_number_round(&env, parse("-1.0e30"), TH_ROUND_UP),
                "-1000000000000000019884624838656");
    assert_term(th_number_round(&env, parse("36893488147419103232.0"), TH_ROUND_DOWN),
                "36893488147419103232");
    assert_term(th_number_round(&env, parse("7"), TH_ROUND_DOWN), "7");
    assert_term(th_number_float(&env, parse("36893488147419103232")), "3.6893488147419103e19");
    assert_term(th_number_negate(&env, parse("0.0")), "-0.0");
    assert_term(th_number_absolute(&env, parse("-0.5")), "0.5");
    assert_term(th_number_absolute(&env, th_small(TH_SMALL_MIN)), "576460752303423488");
}

static void invalid_operands_are_refused_as_in_erlang(void **state)
{
    th_term a = TH_AM(ok), huge = th_number_shift_left(&env, th_small(1), th_small(2000));

    (void)state;
    assert_term_equal(th_number_add(&env, a, th_small(1)), TH_NONE);
    assert_term_equal(th_number_subtract(&env, th_small(1), a), TH_NONE);
    assert_term_equal(th_number_multiply(&env, a, parse("1.0")), TH_NONE);
    assert_term_equal(th_number_multiply(&env, parse("1.0e200"), parse("1.0e200")), TH_NONE);
    assert_term_equal(th_number_multiply(&env, huge, parse("0.0")), TH_NONE);
    assert_term_equal(th_number_add(&env, huge, parse("1.0")), TH_NONE);
    assert_term_equal(th_number_divide(&env, th_small(1), th_small(0)), TH_NONE);
    assert_term_equal(th_number_divide(&env, th_small(1), parse("0.0")), TH_NONE);
    assert_term_equal(th_number_divide(&env, th_small(1), huge), TH_NONE);
    assert_term_equal(th_number_quotient(&env, parse("1.0"), th_small(1)), TH_NONE);
    assert_term_equal(th_number_and(&env, parse("1.0"), th_small(1)), TH_NONE);
    assert_term_equal(th_number_not(&env, a), TH_NONE);
    assert_term_equal(th_number_shift_left(&env, th_small(1), parse("1.0")), TH_NONE);
    assert_term_equal(th_number_float(&env, huge), TH_NONE);
    assert_term_equal(th_number_float(&env, a), TH_NONE);
    assert_term_equal(th_number_round(&env, a, TH_ROUND_DOWN), TH_NONE);
    assert_term_equal(th_number_negate(&env, a), TH_NONE);
    assert_term_equal(th_number_absolute(&env, a), TH_NONE);
    assert_term_equal(th_number_shift_left(&env, th_small(1), huge), TH_NONE);
    assert_term_equal(th_number_shift_right(&env, th_small(-9), huge), th_small(-1));
    assert_term_equal(th_number_shift_left(&env, th_small(0), huge), th_small(0));
}

/* A result that is too large to compute is not the same as a wrong operand. */
static void a_result_that_is_too_large_has_its_own_error(void **state)
{
    th_term bits = th_small(64 * (TH_NUMBER_LIMBS - 2));
    th_term large = th_number_shift_left(&env, th_small(1), bits);

    (void)state;
    assert_true(th_is_big(large));
    assert_int_equal(th_number_shift_left(&env, large, th_small(128)), TH_NUMBER_LARGE);
    assert_int_equal(th_number_multiply(&env, large, large), TH_NUMBER_LARGE);
    assert_term_equal(th_number_multiply(&env, large, th_small(0)), th_small(0));
    assert_true(th_is_big(th_number_add(&env, large, large)));
    assert_term_equal(th_number_quotient(&env, large, large), th_small(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arithmetic_identities_hold, begin, end),
        cmocka_unit_test_setup_teardown(division_rounds_towards_zero, begin, end),
        cmocka_unit_test_setup_teardown(floats_become_integers, begin, end),
        cmocka_unit_test_setup_teardown(invalid_operands_are_refused_as_in_erlang, begin, end),
        cmocka_unit_test_setup_teardown(a_result_that_is_too_large_has_its_own_error, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
