/* Magnitudes of integers: order, addition, multiplication, division, shifts. */
#include "integer_internal.h"
#include "make.h"

#include <math.h>

int th_term_limbs_compare(const struct th_limbs *a, const struct th_limbs *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

size_t th_term_limbs_lowest(const struct th_limbs *l)
{
    size_t i = 0;

    while (i < l->count && l->limbs[i] == 0)
        i++;
    return i;
}

void th_term_limbs_add(uint64_t *sum, const struct th_limbs *a, const struct th_limbs *b)
{
    unsigned __int128 carry = 0;

    for (size_t i = 0; i < a->count; i++) {
        carry += (unsigned __int128)a->limbs[i] + (i < b->count ? b->limbs[i] : 0);
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    sum[a->count] = (uint64_t)carry;
}

void th_term_limbs_subtract(uint64_t *difference, const struct th_limbs *a,
                            const struct th_limbs *b)
{
    bool borrow = false;

    for (size_t i = 0; i < a->count; i++) {
        uint64_t less = i < b->count ? b->limbs[i] : 0;
        uint64_t limb = a->limbs[i] - less - borrow;
        borrow = borrow ? a->limbs[i] <= less : a->limbs[i] < less;
        difference[i] = limb;
    }
}

void th_term_limbs_multiply(uint64_t *product, const struct th_limbs *a, const struct th_limbs *b)
{
    memset(product, 0, (a->count + b->count) * sizeof *product);
    for (size_t i = 0; i < a->count; i++) {
        unsigned __int128 carry = 0;
        for (size_t k = 0; k < b->count; k++) {
            carry += (unsigned __int128)a->limbs[i] * b->limbs[k] + product[i + k];
            product[i + k] = (uint64_t)carry;
            carry >>= 64;
        }
        product[i + b->count] = (uint64_t)carry;
    }
}

/* Moves COUNT limbs BITS (below 64) up; returns the bits that leave at the top. */
static uint64_t move_up(uint64_t *to, const uint64_t *from, size_t count, unsigned bits)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t limb = from[i];
        to[i] = bits ? limb << bits | carry : limb;
        carry = bits ? limb >> (64 - bits) : 0;
    }
    return carry;
}

/* Moves COUNT limbs, and HIGH above them, BITS (below 64) down. */
static void move_down(uint64_t *to, const uint64_t *from, size_t count, uint64_t high,
                      unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t above = i + 1 < count ? from[i + 1] : high;
        to[i] = bits ? from[i] >> bits | above << (64 - bits) : from[i];
    }
}

void th_term_limbs_up(uint64_t *to, const struct th_limbs *a, size_t shift)
{
    size_t whole = shift / 64;

    memset(to, 0, whole * sizeof *to);
    to[whole + a->count] = move_up(to + whole, a->limbs, a->count, shift % 64);
}

bool th_term_limbs_down(uint64_t *to, const struct th_limbs *a, size_t shift)
{
    size_t whole = shift / 64;
    uint64_t lost = shift % 64 ? a->limbs[whole] << (64 - shift % 64) : 0;

    for (size_t i = 0; i < whole; i++)
        lost |= a->limbs[i];
    move_down(to, a->limbs + whole, a->count - whole, 0, shift % 64);
    return lost != 0;
}

/* --- Division --------------------------------------------------------------------------------- */

/* REST -= FACTOR * DIVISOR, over COUNT limbs and the one above. True if the result went below 0. */
static bool take_off(uint64_t *rest, const uint64_t *divisor, size_t count, uint64_t factor)
{
    unsigned __int128 carry = 0;
    bool borrow = false;

    for (size_t i = 0; i <= count; i++) {
        uint64_t less, limb;
        carry += i < count ? (unsigned __int128)factor * divisor[i] : 0;
        less = (uint64_t)carry;
        carry >>= 64;
        limb = rest[i] - less - borrow;
        borrow = borrow ? rest[i] <= less : rest[i] < less;
        rest[i] = limb;
    }
    return borrow;
}

/*
 * Source: Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D. The divisor is
 * shifted up until its highest bit is set. Then the estimate from two limbs by one is at most two
 * too large; in that case the rest goes below 0.
 */
void th_term_limbs_divide(uint64_t *quotient, uint64_t *rest, uint64_t *divisor,
                          const struct th_limbs *a, const struct th_limbs *b)
{
    size_t count = b->count;
    unsigned bits = (unsigned)__builtin_clzll(b->limbs[count - 1]);

    if (count == 1) {
        rest[0] = 0;
        for (size_t i = a->count; i-- > 0;) {
            unsigned __int128 part = (unsigned __int128)rest[0] << 64 | a->limbs[i];
            quotient[i] = (uint64_t)(part / b->limbs[0]);
            rest[0] = (uint64_t)(part % b->limbs[0]);
        }
        return;
    }
    move_up(divisor, b->limbs, count, bits);
    rest[a->count] = move_up(rest, a->limbs, a->count, bits);
    for (size_t i = a->count - count + 1; i-- > 0;) {
        /* From the first limbs: the next limb of the quotient, or one or two more. */
        unsigned __int128 part = (unsigned __int128)rest[i + count] << 64 | rest[i + count - 1];
        uint64_t first = divisor[count - 1];
        uint64_t factor = rest[i + count] >= first ? UINT64_MAX : (uint64_t)(part / first);
        bool below = take_off(rest + i, divisor, count, factor);
        for (; below; factor--) {
            uint64_t before = rest[i + count];
            unsigned __int128 carry = 0;
            for (size_t k = 0; k < count; k++) {
                carry += (unsigned __int128)rest[i + k] + divisor[k];
                rest[i + k] = (uint64_t)carry;
                carry >>= 64;
            }
            rest[i + count] += (uint64_t)carry;
            below = rest[i + count] >= before; /* REST returns to 0 or more by passing 0 */
        }
        quotient[i] = factor;
    }
    move_down(rest, rest, count, rest[count], bits);
}

/* --- Integers and floats ---------------------------------------------------------------------- */

/* Compares a magnitude of at least 2^59 and a float D > 0. */
static int compare_magnitude_float(const struct th_limbs *n, double d)
{
    size_t bits = 64 * n->count - (size_t)__builtin_clzll(n->limbs[n->count - 1]);
    uint64_t top[2] = {0};
    int exponent;
    uint64_t fraction = (uint64_t)ldexp(frexp(d, &exponent), 53); /* d is fraction * 2^shift */
    bool lost;

    if (exponent <= 0 || bits != (size_t)exponent)
        return exponent <= 0 || bits > (size_t)exponent ? 1 : -1;
    lost = th_term_limbs_down(top, n, bits - 53);
    if (top[0] != fraction)
        return top[0] < fraction ? -1 : 1;
    return lost;
}

int th_term_big_compare_float(th_term integer, double d)
{
    struct th_limbs n;

    if (th_is_small(integer)) { /* first the whole part, as an integer, then the rest */
        int64_t i = th_small_value(integer);
        double whole = trunc(d);

        if (fabs(d) >= 0x1p62)
            return d < 0 ? 1 : -1;
        if ((int64_t)whole != i)
            return i < (int64_t)whole ? -1 : 1;
        return (whole > d) - (whole < d);
    }
    th_get_limbs(integer, &n);
    if (n.negative)
        return d >= 0 ? -1 : -compare_magnitude_float(&n, -d);
    return d <= 0 ? 1 : compare_magnitude_float(&n, d);
}
