/*
 * Floats as text.
 *
 * The shortest digits are found by trial. 15 digits suffice for a decimal that had at most 15, and
 * 17 for every double; so at most three widths are tried (all widths for subnormal numbers, which
 * have less precision). A rounded decimal is the nearest one of its width. If any decimal of that
 * width reads back as the number, the nearest one does, with one exception: below a power of two,
 * doubles are closer to each other than above, so the nearest decimal may miss on the low side
 * while the next one up hits.
 *
 * The C library converts between digits and doubles, as it rounds exactly, in a form without a
 * decimal point: whole digits and an exponent.
 */
#include "text_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17, SURE_DIGITS = 15 };

/* From this value on, not every integer is a double: plain notation would show unknown digits. */
#define PLAIN_LIMIT 9007199254740992.0

/* 0.D1D2D3... * 10^point */
struct decimal {
    char digits[DIGITS + 1]; /* the last is never '0' */
    int count;
    int point;
};

static double text_float_value_of(const struct decimal *n)
{
    char text[DIGITS + 16];

    snprintf(text, sizeof text, "%.*se%d", n->count, n->digits, n->point - n->count);
    return strtod(text, NULL);
}

/* Rounds D to COUNT digits. False if the digits do not read back as D. */
static bool try_digits(double d, int count, struct decimal *n)
{
    char text[64]; /* one digit, a decimal point of the locale's, digits, exponent */
    const char *at;
    int exponent, i;

    snprintf(text, sizeof text, "%.*e", count - 1, d);
    n->count = 0;
    for (at = text; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            n->digits[n->count++] = *at;
    n->point = atoi(at + 1) + 1;
    if (text_float_value_of(n) == d)
        return true;
    if (frexp(d, &exponent) != 0.5)
        return false;

    /* Add one in the last place. */
    for (i = n->count - 1; i >= 0 && n->digits[i] == '9'; i--)
        n->digits[i] = '0';
    if (i >= 0) {
        n->digits[i]++;
    } else {
        n->digits[0] = '1';
        n->point++;
    }
    return text_float_value_of(n) == d;
}

static void find_digits(double d, struct decimal *n)
{
    int count = fpclassify(d) == FP_SUBNORMAL ? 1 : SURE_DIGITS;

    if (d < PLAIN_LIMIT && d == floor(d)) { /* its own digits are the shortest */
        n->count = n->point = sprintf(n->digits, "%" PRIu64, (uint64_t)d);
    } else {
        while (!try_digits(d, count, n))
            count++;
    }
    while (n->count > 1 && n->digits[n->count - 1] == '0')
        n->count--;
}

static char *text_float_put_digits(char *to, const struct decimal *n, int from, int end)
{
    for (int i = from; i < end; i++)
        *to++ = i < n->count ? n->digits[i] : '0';
    return to;
}

/* 0.00123, 12.3, 1200.0 */
static char *put_plain(char *to, const struct decimal *n)
{
    if (n->point > 0) {
        to = text_float_put_digits(to, n, 0, n->point);
        *to++ = '.';
        return text_float_put_digits(to, n, n->point,
                                     n->count > n->point ? n->count : n->point + 1);
    }
    *to++ = '0';
    *to++ = '.';
    memset(to, '0', (size_t)-n->point);
    return text_float_put_digits(to - n->point, n, 0, n->count);
}

/* 1.23e-5 */
static char *put_scientific(char *to, const struct decimal *n)
{
    *to++ = n->digits[0];
    *to++ = '.';
    to = text_float_put_digits(to, n, 1, n->count > 1 ? n->count : 2);
    return to + sprintf(to, "e%d", n->point - 1);
}

size_t th_float_write(double d, char out[TH_FLOAT_TEXT])
{
    struct decimal n;
    char scientific[TH_FLOAT_TEXT];
    size_t plain_size, scientific_size;
    double positive = fabs(d);
    char *to = out;

    if (signbit(d))
        *to++ = '-';
    find_digits(positive, &n);
    scientific_size = (size_t)(put_scientific(scientific, &n) - scientific);
    plain_size = (size_t)(n.point <= 0        ? 2 - n.point + n.count
                          : n.count > n.point ? n.count + 1
                                              : n.point + 2);
    if (positive < PLAIN_LIMIT && plain_size <= scientific_size)
        return (size_t)(put_plain(to, &n) - out);
    memcpy(to, scientific, scientific_size);
    return (size_t)(to - out) + scientific_size;
}

bool th_float_read(const char *text, size_t bytes, char *scratch, double *d)
{
    /* If the exponent exceeds the length of any text, the digits in front of it do not matter, and
     * further digits of the exponent do not, either. */
    const long far = 100000000000000000;
    size_t count = 0, i;
    long fraction = 0, exponent = 0;
    bool behind_point = false, negative;

    for (i = 0; i < bytes && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.')
            behind_point = true;
        if (text[i] < '0' || text[i] > '9')
            continue;
        scratch[count++] = text[i];
        fraction += behind_point;
    }
    negative = i + 1 < bytes && text[i + 1] == '-';
    for (; i < bytes; i++)
        if (text[i] >= '0' && text[i] <= '9' && exponent < far)
            exponent = 10 * exponent + (text[i] - '0');
    sprintf(scratch + count, "e%ld", (negative ? -exponent : exponent) - fraction);
    *d = strtod(scratch, NULL);
    return isfinite(*d);
}
