/* Integers as bits in two's complement, without end to the left. */
#include "number.h"

#include "integer_internal.h"

/* No BEAM makes integers of so many bits. */
enum { SHIFT_MOST = 1 << 26 };

enum operation { AND, OR, XOR };

/* The limbs of an integer in two's complement, one after the other. */
struct complement {
    struct th_limbs n;
    bool carry;
};

static void begin(struct complement *c, th_term t)
{
    th_term_limbs_of(t, &c->n);
    c->carry = c->n.negative;
}

/* Limb I; they must be asked for in order. */
static uint64_t next(struct complement *c, size_t i)
{
    uint64_t limb = i < c->n.count ? c->n.limbs[i] : 0;

    if (!c->n.negative)
        return limb;
    limb = ~limb + c->carry;
    c->carry = c->carry && limb == 0;
    return limb;
}

static uint64_t combine(enum operation operation, uint64_t a, uint64_t b)
{
    return operation == AND ? a & b : operation == OR ? a | b : a ^ b;
}

/* The integer of COUNT limbs in two's complement, which are changed. */
static th_term make(th_env *env, uint64_t *limbs, size_t count, bool negative)
{
    bool carry = negative;

    for (size_t i = 0; negative && i < count; i++) {
        limbs[i] = ~limbs[i] + carry;
        carry = carry && limbs[i] == 0;
    }
    return th_make_integer(env, negative, limbs, count);
}

static th_term bitwise(th_env *env, enum operation operation, th_term x, th_term y)
{
    struct complement a, b;
    uint64_t *limbs;
    size_t count;

    if (!th_is_integer(x) || !th_is_integer(y))
        return TH_NONE;
    if (th_is_small(x) && th_is_small(y))
        return th_small(
            (int64_t)combine(operation, (uint64_t)th_small_value(x), (uint64_t)th_small_value(y)));
    begin(&a, x);
    begin(&b, y);
    count = (a.n.count > b.n.count ? a.n.count : b.n.count) + 1; /* one more: the sign's own */
    limbs = th_env_take(env, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t limb = next(&a, i);
        limbs[i] = combine(operation, limb, next(&b, i));
    }
    return make(env, limbs, count, combine(operation, a.n.negative, b.n.negative));
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
    th_term_limbs_of(t, &a);
    th_term_limbs_of(by, &count);
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
