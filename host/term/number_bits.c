/* Integers as bits in two's complement, without end to the left. */
#include "number.h"

#include "integer_internal.h"

/* No BEAM makes integers of so many bits. */
enum { SHIFT_MOST = 1 << 26 };

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

static th_term shift_up(th_env *env, const struct th_limbs *a, uint64_t count)
{
    uint64_t *limbs;
    size_t room;

    if (a->count == 0)
        return th_small(0);
    if (count > SHIFT_MOST)
        return TH_NONE;
    room = a->count + count / 64 + 1;
    if (room > TH_NUMBER_LIMBS)
        return TH_NUMBER_LARGE;
    limbs = th_env_take(env, room);
    th_term_limbs_up(limbs, a, count);
    return th_make_integer(env, a->negative, limbs, room);
}

/* Towards minus infinity. */
static th_term shift_down(th_env *env, const struct th_limbs *a, uint64_t count)
{
    uint64_t *limbs;
    size_t room;
    bool lost;

    if (count / 64 >= a->count)
        return th_small(a->negative ? -1 : 0);
    room = a->count - count / 64;
    limbs = th_env_take(env, room + 1);
    lost = th_term_limbs_down(limbs, a, count);
    limbs[room] = 0;
    for (size_t i = 0; a->negative && lost; i++)
        lost = ++limbs[i] == 0;
    return th_make_integer(env, a->negative, limbs, room + 1);
}

static th_term shift(th_env *env, th_term t, th_term by, bool up)
{
    struct th_limbs a, count;
    uint64_t bits;

    if (!th_is_integer(t) || !th_is_integer(by))
        return TH_NONE;
    th_get_limbs(t, &a);
    th_get_limbs(by, &count);
    bits = count.count == 0 ? 0 : count.count == 1 ? count.limbs[0] : UINT64_MAX;
    return up != count.negative ? shift_up(env, &a, bits) : shift_down(env, &a, bits);
}

th_term th_number_shift_left(th_env *env, th_term a, th_term count)
{
    return shift(env, a, count, true);
}

th_term th_number_shift_right(th_env *env, th_term a, th_term count)
{
    return shift(env, a, count, false);
}
