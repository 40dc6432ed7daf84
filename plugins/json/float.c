/*
 * Floats as text.
 *
 * 15 digits reproduce any decimal with at most 15 digits, and 17 digits reproduce every double, so
 * three widths are tried; for subnormal numbers, which have less precision, all widths are. If a
 * decimal of some width reads back as the number, then the nearest one of that width does. Powers
 * of two are the exception, as the doubles below them are closer together than those above: the
 * nearest decimal may fail, and the next one up succeed.
 */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17, SURE_DIGITS = 15 };

/* From here on not every integer is a double, and Erlang prints exponents. */
#define PLAIN_LIMIT 9007199254740992.0

/* 0.D1D2D3... * 10^point; the last digit is not 0, except for the number 0 */
struct decimal {
    char digits[DIGITS + 1];
    int count, point;
};

/* Rounds D, which is positive, to COUNT digits. */
static void round_to(double d, int count, struct decimal *n)
{
    char text[FLOAT_TEXT]; /* one digit, the locale's decimal point, digits, the exponent */
    const char *at = text;

    snprintf(text, sizeof text, "%.*e", count - 1, d);
    for (n->count = 0; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            n->digits[n->count++] = *at;
    n->point = atoi(at + 1) + 1;
}

static void step_up(struct decimal *n)
{
    int i = n->count - 1;

    while (i >= 0 && n->digits[i] == '9')
        n->digits[i--] = '0';
    if (i >= 0) {
        n->digits[i]++;
    } else {
        n->digits[0] = '1';
        n->point++;
    }
}

static bool is(const struct decimal *n, double d)
{
    char text[FLOAT_TEXT];

    snprintf(text, sizeof text, "%.*se%d", n->count, n->digits, n->point - n->count);
    return strtod(text, NULL) == d;
}

static bool fits(double d, int count, struct decimal *n)
{
    int exponent;

    round_to(d, count, n);
    if (is(n, d))
        return true;
    if (frexp(d, &exponent) != 0.5)
        return false;
    step_up(n);
    return is(n, d);
}

static void find_shortest(double d, struct decimal *n)
{
    int count = fpclassify(d) == FP_SUBNORMAL ? 1 : SURE_DIGITS;

    while (!fits(d, count, n))
        count++;
    while (n->count > 1 && n->digits[n->count - 1] == '0')
        n->count--;
}

/* Writes 12.3, 1200.0, 0.00123. */
static void write_plain(const struct decimal *n, char *text)
{
    int before = n->point > 0 ? n->point : 0; /* digits before the point */

    if (before == 0)
        sprintf(text, "0.%.*s%.*s", -n->point, "0000000000000000", n->count, n->digits);
    else if (n->count <= before)
        sprintf(text, "%.*s%.*s.0", n->count, n->digits, before - n->count, "0000000000000000");
    else
        sprintf(text, "%.*s.%.*s", before, n->digits, n->count - before, n->digits + before);
}

static void write_exponent(const struct decimal *n, char *text)
{
    bool one = n->count == 1;

    sprintf(text, "%c.%.*se%d", n->digits[0], one ? 1 : n->count - 1, one ? "0" : n->digits + 1,
            n->point - 1);
}

/* Below this limit plain notation is always longer, with as many zeros as write_plain() writes. */
#define PLAIN_LEAST 1e-12

void float_write(double d, char text[FLOAT_TEXT])
{
    struct decimal n = {"0", 1, 1};
    char plain[2 * FLOAT_TEXT];

    if (signbit(d))
        *text++ = '-';
    d = fabs(d);
    if (d != 0)
        find_shortest(d, &n);
    write_exponent(&n, text);
    if (d >= PLAIN_LIMIT || (d < PLAIN_LEAST && d != 0))
        return;
    write_plain(&n, plain);
    if (strlen(plain) <= strlen(text))
        strcpy(text, plain);
}
