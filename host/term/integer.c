/* Integers: small ones as immediates, the others as limbs in the heap. */
#include "make.h"

static inline th_term make_big(th_env *env, bool negative, const uint64_t *limbs, size_t count)
{
    th_term *words = th_env_take(env, count + 1);

    words[0] = th_header(negative ? TH_NEG_BIG : TH_POS_BIG, count);
    memcpy(words + 1, limbs, count * sizeof *limbs);
    return th_boxed(words);
}

th_term th_make_integer(th_env *env, bool negative, const uint64_t *limbs, size_t count)
{
    while (count > 0 && limbs[count - 1] == 0)
        count--;
    if (count == 0)
        return th_small(0);
    if (count == 1 && limbs[0] <= (uint64_t)TH_SMALL_MAX + negative)
        return th_small(negative ? -(int64_t)limbs[0] : (int64_t)limbs[0]);
    return make_big(env, negative, limbs, count);
}

static uint64_t magnitude_of(int64_t i)
{
    return i < 0 ? -(uint64_t)i : (uint64_t)i;
}

th_term th_make_big_int64(th_env *env, int64_t i)
{
    uint64_t limb = magnitude_of(i);

    return make_big(env, i < 0, &limb, 1);
}

th_term th_make_big_uint64(th_env *env, uint64_t i)
{
    return make_big(env, false, &i, 1);
}

bool th_get_int64(th_term t, int64_t *i)
{
    uint64_t limb;

    if (th_is_small(t)) {
        *i = th_small_value(t);
        return true;
    }
    if (!th_is_big(t) || th_header_words(*th_term_box(t)) != 1)
        return false;
    limb = th_term_box(t)[1];
    if (limb > (uint64_t)INT64_MAX + (th_term_subtag(t) == TH_NEG_BIG))
        return false;
    *i = (int64_t)(th_term_subtag(t) == TH_NEG_BIG ? -limb : limb);
    return true;
}

bool th_get_uint64(th_term t, uint64_t *i)
{
    if (th_is_small(t) && th_small_value(t) >= 0)
        *i = (uint64_t)th_small_value(t);
    else if (th_term_is(t, TH_POS_BIG) && th_header_words(*th_term_box(t)) == 1)
        *i = th_term_box(t)[1];
    else
        return false;
    return true;
}

bool th_get_limbs(th_term t, struct th_limbs *l)
{
    if (th_is_small(t)) {
        l->scratch = magnitude_of(th_small_value(t));
        l->limbs = &l->scratch;
        l->count = l->scratch != 0;
        l->negative = th_small_value(t) < 0;
        return true;
    }
    if (!th_is_big(t))
        return false;
    l->limbs = th_term_box(t) + 1;
    l->count = th_header_words(*th_term_box(t));
    l->negative = th_term_subtag(t) == TH_NEG_BIG;
    return true;
}
