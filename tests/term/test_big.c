/* Tests integers of any size: conversion to and from digits, and their order against floats. */
#include "host/term/term.h"
#include "host/term/integer_internal.h"
#include "tests/support/assertions.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

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

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

static th_term parse(const char *text, unsigned radix)
{
    bool negative = *text == '-';

    text += negative;
    return th_term_big_from_digits(&env, negative, text, strlen(text), radix);
}

static void assert_decimal(th_term t, const char *expected)
{
    struct th_buffer out = {0};

    th_buffer_add_text(&out, "x");
    th_term_big_to_decimal(&out, t);
    assert_string_equal(th_buffer_text(&out) + 1, expected);
    assert_int_equal(out.size, strlen(expected) + 1);
    th_buffer_free(&out);
}

static void decimal_numbers_survive_reading_and_printing(void **state)
{
    static const char *const texts[] = {
        "0",
        "7",
        "-7",
        "10000000000000000000",
        "9999999999999999999",
        "10000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551616",
        "100000000000000000000000000000000000000",
        "99999999999999999999999999999999999999",
        "340282366920938463463374607431768211455",
        "340282366920938463463374607431768211456",
        "-1000000000000000000000000000000000000000000000000000000000",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_decimal(parse(texts[i], 10), texts[i]);
    assert_decimal(parse("-0", 10), "0");
    assert_decimal(parse("000000000000000000000000000000000000000000000000000012", 10), "12");
    assert_decimal(th_make_int64(&env, INT64_MIN), "-9223372036854775808");
}

static void digits_are_read_in_all_radixes(void **state)
{
    (void)state;
    for (unsigned radix = 2; radix <= 36; radix++) {
        char text[100];
        th_term sum = th_small(0);
        uint64_t limbs[12] = {0};

        for (size_t i = 0; i < sizeof text; i++) {
            unsigned digit = (unsigned)(i * 7 + 5) % radix;
            unsigned __int128 carry = digit;
            text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[digit];
            if (i % 2 && text[i] >= 'a')
                text[i] = (char)(text[i] - 'a' + 'A');
            for (size_t k = 0; k < 12; k++) {
                carry += (unsigned __int128)limbs[k] * radix;
                limbs[k] = (uint64_t)carry;
                carry >>= 64;
            }
            sum = th_make_integer(&env, true, limbs, 12);
            assert_int_equal(
                th_compare(th_term_big_from_digits(&env, true, text, i + 1, radix), sum), 0);
        }
    }
}

static void characters_that_are_no_digits_are_refused(void **state)
{
    (void)state;
    assert_term_equal(th_term_big_from_digits(&env, false, "", 0, 10), TH_NONE);
    assert_term_equal(parse("12a", 10), TH_NONE);
    assert_term_equal(parse("a12", 10), TH_NONE);
    assert_term_equal(parse("2", 2), TH_NONE);
    assert_term_equal(parse("z", 35), TH_NONE);
    assert_term_equal(parse("Z", 36), th_small(35));
    assert_term_equal(parse("1_0", 36), TH_NONE);
    assert_term_equal(parse("1.0", 36), TH_NONE);
    assert_term_equal(parse("\xC3\xA9", 36), TH_NONE);
}

static void random_integers_survive_their_digits(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint64_t limbs[40];
        size_t count = next_random(&seed) % 40 + 1;
        struct th_buffer out = {0};
        th_term t;

        for (size_t i = 0; i < count; i++)
            limbs[i] = next_random(&seed) & (next_random(&seed) % 4 ? UINT64_MAX : 0);
        t = th_make_integer(&env, round % 2, limbs, count);
        th_term_big_to_decimal(&out, t);
        assert_int_equal(th_compare(t, parse(th_buffer_text(&out), 10)), 0);
        th_buffer_free(&out);
        th_env_clear(&env);
    }
}

static void a_hundred_thousand_digits_are_read_quickly(void **state)
{
    enum { DIGITS = 100000 };
    static char text[DIGITS + 1];
    clock_t start = clock();

    (void)state;
    for (size_t i = 0; i < DIGITS; i++)
        text[i] = (char)('1' + i * 31 % 9);
    assert_decimal(parse(text, 10), text);
    assert_order(clock() - start, <, 5 * CLOCKS_PER_SEC);
}

/* --- Long integers, which are converted in blocks --------------------------------------------- */

/* A prime that is coprime to all bases. */
#define MODULUS 2305843009213693951u

static uint64_t rest_of_text(const char *text, unsigned radix)
{
    unsigned __int128 rest = 0;

    for (; *text; text++) {
        unsigned digit = (unsigned)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
        rest = (rest * radix + digit) % MODULUS;
    }
    return (uint64_t)rest;
}

static uint64_t rest_of_integer(th_term t)
{
    unsigned __int128 rest = 0;
    struct th_limbs n;

    th_get_limbs(t, &n);
    while (n.count-- > 0)
        rest = (rest << 64 | n.limbs[n.count]) % MODULUS;
    return (uint64_t)rest;
}

static char *random_text(uint64_t *seed, size_t count, unsigned radix)
{
    char *text = th_alloc(count + 1);

    for (size_t i = 0; i < count; i++)
        text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[next_random(seed) % radix];
    text[0] += text[0] == '0';
    text[count] = 0;
    return text;
}

static void long_texts_are_read_in_all_radixes(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (unsigned radix = 2; radix <= 36; radix++)
        for (int round = 0; round < 8; round++) {
            char *text = random_text(&seed, next_random(&seed) % 40000 + 1000, radix);
            th_term t = parse(text, radix);
            assert_int_equal(rest_of_integer(t), rest_of_text(text, radix));
            if (radix == 10)
                assert_decimal(t, text);
            th_free(text);
            th_env_clear(&env);
        }
}

static void long_integers_are_written(void **state)
{
    enum { MOST = 4000 };
    static uint64_t limbs[MOST];
    uint64_t seed = 4;

    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t count = round < 30 ? 150 + 6 * (size_t)round : next_random(&seed) % MOST + 1;
        struct th_buffer out = {0};
        for (size_t i = 0; i < count; i++)
            limbs[i] = round % 3 == 0 ? UINT64_MAX : round % 3 == 1 ? 0 : next_random(&seed);
        limbs[count - 1] |= 1;
        th_term t = th_make_integer(&env, false, limbs, count);
        th_term_big_to_decimal(&out, t);
        assert_int_equal(rest_of_text(th_buffer_text(&out), 10), rest_of_integer(t));
        assert_int_equal(th_compare(t, parse(th_buffer_text(&out), 10)), 0);
        th_buffer_free(&out);
        th_env_clear(&env);
    }
}

/* Numbers of nines, or of a one and zeros, at each length around the ends of blocks. */
static void carries_pass_the_ends_of_blocks(void **state)
{
    static char text[20000];

    (void)state;
    for (size_t count = 2400; count < 12400; count += count % 1000 == 435 ? 565 : 7) {
        memset(text, '9', count);
        text[count] = 0;
        assert_decimal(parse(text, 10), text);
        memset(text + 1, '0', count - 1);
        text[0] = '1';
        assert_decimal(parse(text, 10), text);
        memset(text, '0', count);
        assert_decimal(parse(text, 10), "0");
        th_env_clear(&env);
    }
}

static void a_million_bytes_are_printed_quickly(void **state)
{
    enum { LIMBS = (1 << 20) / 8 };
    uint64_t *limbs = th_alloc(LIMBS * sizeof *limbs), seed = 5;
    struct th_buffer out = {0};
    clock_t start;
    th_term t;

    (void)state;
    for (size_t i = 0; i < LIMBS; i++)
        limbs[i] = next_random(&seed);
    t = th_make_integer(&env, true, limbs, LIMBS);
    start = clock();
    th_term_big_to_decimal(&out, t);
    t = parse(th_buffer_text(&out) + 1, 10);
    assert_order(clock() - start, <,
                 12 * CLOCKS_PER_SEC); /* with a sanitizer; else tenths of one */
    assert_int_equal(out.size, 1 + 2525223);
    assert_int_equal(rest_of_integer(t), rest_of_text(th_buffer_text(&out) + 1, 10));
    th_free(limbs);
    th_buffer_free(&out);
}

/* Asserts the order of an integer near a float: below, equal or above. */
static void assert_float(const char *integer, double d, int order)
{
    th_term t = parse(integer, 10);
    th_term f = th_make_float(&env, d);
    th_term negative_t = *integer == '-' ? parse(integer + 1, 10) : TH_NONE;

    assert_int_equal(th_compare(t, f), order);
    assert_int_equal(th_compare(f, t), -order);
    if (negative_t != TH_NONE)
        assert_int_equal(th_compare(negative_t, th_make_float(&env, -d)), -order);
    assert_order(th_compare_exact(t, f), <, 0);
    assert_order(th_compare_exact(f, t), >, 0);
    assert_false(th_identical(t, f));
}

static void integers_and_floats_compare_exactly(void **state)
{
    (void)state;
    assert_float("0", 0.0, 0);
    assert_float("0", -0.0, 0);
    assert_float("0", 0x1p-1074, -1);
    assert_float("0", -0x1p-1074, 1);
    assert_float("-1", -1.0, 0);
    assert_float("-1", -1.5, 1);
    assert_float("-2", -1.5, -1);
    assert_float("-9007199254740992", -0x1p53, 0);
    assert_float("-9007199254740993", -0x1p53, -1);
    assert_float("-9007199254740991", -0x1p53, 1);
    /* Around the largest small integer, which no float equals. */
    assert_float("-576460752303423487", -0x1p59, 1);
    assert_float("-576460752303423488", -0x1p59, 0);
    assert_float("-576460752303423489", -0x1p59, -1);
    assert_float("-9223372036854775808", -0x1p63, 0);
    assert_float("-9223372036854775809", -0x1p63, -1);
    assert_float("-9223372036854775807", -0x1p63, 1);
    assert_float("-18446744073709551616", -0x1p64, 0);
    assert_float("-18446744073709551615", -0x1p64, 1);
    assert_float("-18446744073709551617", -0x1p64, -1);
    assert_float("-340282366920938463463374607431768211456", -0x1p128, 0);
    assert_float("-340282366920938463463374607431768211457", -0x1p128, -1);
    assert_float("-340282366920938463463374607431768211455", -0x1p128, 1);
    /* The neighbours of 2^128 among the floats. */
    assert_float("-340282366920938425684442744474606501888", -0x1.fffffffffffffp127, 0);
    assert_float("-340282366920938425684442744474606501889", -0x1.fffffffffffffp127, -1);
    assert_float("-340282366920938425684442744474606501887", -0x1.fffffffffffffp127, 1);
    assert_float("-1000000000000000000000000000000", -1e-300, -1);
    assert_float("-18446744073709551616", -0.0, -1);
    assert_float("-18446744073709551616", 1.0, -1);
    assert_float("-18446744073709551616", 0x1p1000, -1);
    assert_float("-18446744073709551616", -0x1p1000, 1);
}

static void integers_beyond_all_floats_compare_larger(void **state)
{
    uint64_t limbs[17] = {0};
    th_term largest = th_make_float(&env, 0x1.fffffffffffffp1023);

    (void)state;
    limbs[16] = 1; /* 2^1024 */
    assert_order(th_compare(th_make_integer(&env, false, limbs, 17), largest), >, 0);
    limbs[16] = 0;
    limbs[15] = 0xFFFFFFFFFFFFF800;
    assert_int_equal(th_compare(th_make_integer(&env, false, limbs, 16), largest), 0);
    limbs[0] = 1;
    assert_order(th_compare(th_make_integer(&env, false, limbs, 16), largest), >, 0);
}

/* Compares with the C library's conversion, for integers that a long double can hold. */
static void random_integers_and_floats_compare_exactly(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        uint64_t limb = next_random(&seed) >> next_random(&seed) % 64;
        double d = (double)(limb + next_random(&seed) % 5 - 2);
        long double exact = (long double)limb;
        th_term t = th_make_integer(&env, false, &limb, 1);
        int order = (exact > (long double)d) - (exact < (long double)d);

        assert_int_equal(th_term_big_compare_float(t, d), order);
        th_env_clear(&env);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(decimal_numbers_survive_reading_and_printing),
        TEST(digits_are_read_in_all_radixes),
        TEST(characters_that_are_no_digits_are_refused),
        TEST(random_integers_survive_their_digits),
        TEST(a_hundred_thousand_digits_are_read_quickly),
        TEST(long_texts_are_read_in_all_radixes),
        TEST(long_integers_are_written),
        TEST(carries_pass_the_ends_of_blocks),
        TEST(a_million_bytes_are_printed_quickly),
        TEST(integers_and_floats_compare_exactly),
        TEST(integers_beyond_all_floats_compare_larger),
        TEST(random_integers_and_floats_compare_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
