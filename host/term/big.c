/* Magnitudes of integers: order, exact comparison with floats. Their digits are in digits.c. */
#include "integer_internal.h"

#include "make.h"

#include <math.h>

int th_term_big_compare_magnitudes(const uint64_t *a, size_t a_count, const uint64_t *b,
                                   size_t b_count)
{
    if (a_count != b_count)
        return a_count < b_count ? -1 : 1;
    for (size_t i = a_count; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* A small integer and a float: the whole part first, as an integer, then the rest. */
static int compare_small_float(int64_t i, double d)
{
    double whole = trunc(d);

    if (fabs(d) >= 0x1p62)
        return d < 0 ? 1 : -1;
    if ((int64_t)whole != i)
        return i < (int64_t)whole ? -1 : 1;
    return (whole > d) - (whole < d);
}

/* Limb I of the magnitude shifted SHIFT bits down. */
static uint64_t shifted_limb(const uint64_t *limbs, size_t count, size_t shift)
{
    size_t i = shift / 64;
    uint64_t low = i < count ? limbs[i] : 0;
    uint64_t high = i + 1 < count ? limbs[i + 1] : 0;

    return shift % 64 ? low >> shift % 64 | high << (64 - shift % 64) : low;
}

static bool any_bit_below(const uint64_t *limbs, size_t shift)
{
    for (size_t i = 0; i < shift / 64; i++)
        if (limbs[i])
            return true;
    return shift % 64 && limbs[shift / 64] << (64 - shift % 64);
}

/* A magnitude of at least 2^59 and a float D > 0. */
static int compare_magnitude_float(const uint64_t *limbs, size_t count, double d)
{
    size_t bits = 64 * count - (size_t)__builtin_clzll(limbs[count - 1]);
    int exponent;
    uint64_t fraction = (uint64_t)ldexp(frexp(d, &exponent), 53); /* d is fraction * 2^shift */
    uint64_t top;

    if (exponent <= 0 || bits != (size_t)exponent)
        return exponent <= 0 || bits > (size_t)exponent ? 1 : -1;
    top = shifted_limb(limbs, count, bits - 53);
    if (top != fraction)
        return top < fraction ? -1 : 1;
    return any_bit_below(limbs, bits - 53);
}

int th_term_big_compare_float(th_term integer, double d)
{
    uint64_t scratch;
    const uint64_t *limbs;
    size_t count;
    bool negative;

    if (th_is_small(integer))
        return compare_small_float(th_small_value(integer), d);
    th_get_limbs(integer, &scratch, &limbs, &count, &negative);
    if (negative)
        return d >= 0 ? -1 : -compare_magnitude_float(limbs, count, -d);
    return d <= 0 ? 1 : compare_magnitude_float(limbs, count, d);
}
