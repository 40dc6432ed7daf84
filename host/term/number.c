/* Arithmetic on integers of any size and floats. */
#include "number.h"

#include "integer_internal.h"
#include "make.h"

#include <math.h>

static th_term make_finite(th_env *env, double d)
{
    return isfinite(d) ? th_make_float(env, d) : TH_NONE;
}

/* Converts T to a double, rounded as in the BEAM, from the lowest limb up; infinite if T is too
 * large. */
static double number_to_double(th_term t)
{
    struct th_limbs n;
    double d = 0;

    if (th_is_float(t))
        return th_float_value(t);
    if (th_is_small(t))
        return (double)th_small_value(t);
    th_get_limbs(t, &n);
    if (n.count > 16)
        return n.negative ? -INFINITY : INFINITY;
    for (size_t i = 0; i < n.count; i++)
        d += ldexp((double)n.limbs[i], (int)(64 * i));
    return n.negative ? -d : d;
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* A + B, or A - B if MINUS. */
static th_term add_integers(th_env *env, th_term x, th_term y, bool minus)
{
    struct th_limbs first, second, *a = &first, *b = &second;
    uint64_t *limbs;

    th_get_limbs(x, a);
    th_get_limbs(y, b);
    b->negative ^= minus;
    if (th_term_limbs_compare(a, b) < 0) {
        a = &second;
        b = &first;
    }
    limbs = th_env_take(env, a->count + 1);
    limbs[a->count] = 0;
    if (a->negative == b->negative)
        th_term_limbs_add(limbs, a, b);
    else
        th_term_limbs_subtract(limbs, a, b);
    return th_make_integer(env, a->negative, limbs, a->count + 1);
}

static th_term number_sum(th_env *env, th_term a, th_term b, bool minus)
{
    if (th_is_small(a) && th_is_small(b)) /* of 60 bits: no overflow in 64 */
        return th_make_int64(env, minus ? th_small_value(a) - th_small_value(b)
                                        : th_small_value(a) + th_small_value(b));
    if (!th_is_number(a) || !th_is_number(b))
        return TH_NONE;
    if (th_is_integer(a) && th_is_integer(b))
        return add_integers(env, a, b, minus);
    return make_finite(env, minus ? number_to_double(a) - number_to_double(b)
                                  : number_to_double(a) + number_to_double(b));
}

th_term th_number_add(th_env *env, th_term a, th_term b)
{
    return number_sum(env, a, b, false);
}

th_term th_number_subtract(th_env *env, th_term a, th_term b)
{
    return number_sum(env, a, b, true);
}

th_term th_number_negate(th_env *env, th_term a)
{
    return th_is_float(a) ? th_make_float(env, -th_float_value(a))
                          : number_sum(env, th_small(0), a, true);
}

th_term th_number_absolute(th_env *env, th_term a)
{
    bool negative = th_is_small(a) ? th_small_value(a) < 0 : th_term_is(a, TH_NEG_BIG);

    if (th_is_float(a))
        return th_make_float(env, fabs(th_float_value(a)));
    if (!th_is_integer(a))
        return TH_NONE;
    return negative ? th_number_negate(env, a) : a;
}

/* --- Products --------------------------------------------------------------------------------- */

th_term th_number_multiply(th_env *env, th_term x, th_term y)
{
    struct th_limbs a, b;
    uint64_t *limbs;
    int64_t product;

    if (!th_is_number(x) || !th_is_number(y))
        return TH_NONE;
    if (th_is_float(x) || th_is_float(y))
        return isfinite(number_to_double(x)) && isfinite(number_to_double(y))
                   ? make_finite(env, number_to_double(x) * number_to_double(y))
                   : TH_NONE;
    if (th_is_small(x) && th_is_small(y) &&
        !__builtin_mul_overflow(th_small_value(x), th_small_value(y), &product))
        return th_make_int64(env, product);
    th_get_limbs(x, &a);
    th_get_limbs(y, &b);
    if (a.count + b.count > TH_NUMBER_LIMBS && a.count > 0 && b.count > 0)
        return TH_NUMBER_LARGE;
    limbs = th_env_take(env, a.count + b.count + 1);
    th_term_limbs_multiply(limbs, &a, &b);
    return th_make_integer(env, a.negative != b.negative, limbs, a.count + b.count);
}

th_term th_number_divide(th_env *env, th_term a, th_term b)
{
    double divisor;

    if (!th_is_number(a) || !th_is_number(b))
        return TH_NONE;
    divisor = number_to_double(b);
    return divisor != 0 && isfinite(divisor) ? make_finite(env, number_to_double(a) / divisor)
                                             : TH_NONE;
}

/* REST: rem, else div. */
static th_term number_divide(th_env *env, th_term x, th_term y, bool rest)
{
    struct th_limbs a, b;
    uint64_t *limbs;
    size_t quotient;

    if (!th_is_integer(x) || !th_is_integer(y) || y == th_small(0))
        return TH_NONE;
    if (th_is_small(x) && th_is_small(y))
        return th_make_int64(env, rest ? th_small_value(x) % th_small_value(y)
                                       : th_small_value(x) / th_small_value(y));
    th_get_limbs(x, &a);
    th_get_limbs(y, &b);
    if (th_term_limbs_compare(&a, &b) < 0)
        return rest ? x : th_small(0);
    if (a.count > TH_NUMBER_LIMBS)
        return TH_NUMBER_LARGE;
    quotient = a.count - b.count + 1;
    limbs = th_env_take(env, quotient + a.count + 1 + b.count);
    th_term_limbs_divide(limbs, limbs + quotient, limbs + quotient + a.count + 1, &a, &b);
    return rest ? th_make_integer(env, a.negative, limbs + quotient, b.count)
                : th_make_integer(env, a.negative != b.negative, limbs, quotient);
}

th_term th_number_quotient(th_env *env, th_term a, th_term b)
{
    return number_divide(env, a, b, false);
}

th_term th_number_remainder(th_env *env, th_term a, th_term b)
{
    return number_divide(env, a, b, true);
}

/* --- Floats to integers, and back ------------------------------------------------------------- */

th_term th_number_float(th_env *env, th_term a)
{
    return th_is_number(a) ? make_finite(env, number_to_double(a)) : TH_NONE;
}

th_term th_number_round(th_env *env, th_term a, enum th_rounding rounding)
{
    static double (*const rounded[])(double) = {[TH_ROUND_NEAREST] = round,
                                                [TH_ROUND_TOWARDS_ZERO] = trunc,
                                                [TH_ROUND_DOWN] = floor,
                                                [TH_ROUND_UP] = ceil};
    enum { LIMBS = 17 }; /* of the largest double */
    uint64_t limbs[LIMBS] = {0}, fraction;
    struct th_limbs whole = {.limbs = &fraction, .count = 1};
    int exponent;
    double d;

    if (!th_is_float(a))
        return th_is_integer(a) ? a : TH_NONE;
    d = rounded[rounding](th_float_value(a));
    if (fabs(d) < 0x1p62)
        return th_make_int64(env, (int64_t)d);
    fraction = (uint64_t)ldexp(frexp(fabs(d), &exponent), 53);
    th_term_limbs_up(limbs, &whole, (size_t)exponent - 53);
    return th_make_integer(env, d < 0, limbs, LIMBS);
}

/* --- Bits, in infinite two's complement ------------------------------------------------------- */

enum operation { AND, OR, XOR };

static uint64_t combine(enum operation operation, uint64_t a, uint64_t b)
{
    return operation == AND ? a & b : operation == OR ? a | b : a ^ b;
}

static th_term bitwise(th_env *env, enum operation operation, th_term x, th_term y)
{
    struct th_limbs a, b, result = {0};
    size_t a_lowest, b_lowest, lowest;
    uint64_t *limbs;

    if (!th_is_integer(x) || !th_is_integer(y))
        return TH_NONE;
    if (th_is_small(x) && th_is_small(y))
        return th_small(
            (int64_t)combine(operation, (uint64_t)th_small_value(x), (uint64_t)th_small_value(y)));
    th_get_limbs(x, &a);
    th_get_limbs(y, &b);
    a_lowest = th_term_limbs_lowest(&a);
    b_lowest = th_term_limbs_lowest(&b);
    result.count = (a.count > b.count ? a.count : b.count) + 1; /* one more: the sign's own */
    result.negative = combine(operation, a.negative, b.negative);
    result.limbs = limbs = th_env_take(env, result.count);
    for (size_t i = 0; i < result.count; i++)
        limbs[i] = combine(operation, th_term_limbs_complement(&a, a_lowest, i),
                           th_term_limbs_complement(&b, b_lowest, i));
    lowest = th_term_limbs_lowest(&result);
    for (size_t i = 0; i < result.count; i++)
        limbs[i] = th_term_limbs_complement(&result, lowest, i);
    return th_make_integer(env, result.negative, limbs, result.count);
}

th_term th_number_and(th_env *env, th_term a, th_term b)
{
    return bitwise(env, AND, a, b);
}

th_term th_number_or(th_env *env, th_term a, th_term b)
{
    return bitwise(env, OR, a, b);
}

th_term th_number_xor(th_env *env, th_term a, th_term b)
{
    return bitwise(env, XOR, a, b);
}

th_term th_number_not(th_env *env, th_term a)
{
    return bitwise(env, XOR, a, th_small(-1));
}

/* --- Shifts ----------------------------------------------------------------------------------- */

/* No BEAM makes integers of that many bits. */
enum { SHIFT_MOST = 1 << 26 };

static th_term shift(th_env *env, th_term t, th_term by, bool up)
{
    struct th_limbs a, count;
    uint64_t *limbs, bits;
    size_t room;
    bool lost;

    if (!th_is_integer(t) || !th_is_integer(by))
        return TH_NONE;
    th_get_limbs(t, &a);
    th_get_limbs(by, &count);
    bits = count.count == 0 ? 0 : count.count == 1 ? count.limbs[0] : UINT64_MAX;
    if (up != count.negative) {
        if (a.count == 0)
            return th_small(0);
        if (bits > SHIFT_MOST)
            return TH_NONE;
        room = a.count + bits / 64 + 1;
        if (room > TH_NUMBER_LIMBS)
            return TH_NUMBER_LARGE;
        limbs = th_env_take(env, room);
        th_term_limbs_up(limbs, &a, bits);
        return th_make_integer(env, a.negative, limbs, room);
    }

    /* Down, towards minus infinity. */
    if (bits / 64 >= a.count)
        return th_small(a.negative ? -1 : 0);
    room = a.count - bits / 64 + 1;
    limbs = th_env_take(env, room);
    lost = th_term_limbs_down(limbs, &a, bits);
    limbs[room - 1] = 0;
    for (size_t i = 0; a.negative && lost; i++)
        lost = ++limbs[i] == 0;
    return th_make_integer(env, a.negative, limbs, room);
}

th_term th_number_shift_left(th_env *env, th_term a, th_term count)
{
    return shift(env, a, count, true);
}

th_term th_number_shift_right(th_env *env, th_term a, th_term count)
{
    return shift(env, a, count, false);
}
