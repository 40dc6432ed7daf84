/* Making terms other than maps, pids, ports and references. */
#include "make.h"

#include "term_internal.h"

/* --- Integers: small ones as immediates, the others as limbs in the heap ---------------------- */

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

/* Makes room first. The slow way is called last, so that the usual one saves no register. */
th_term th_make_limb_slowly(th_env *env, th_term header, uint64_t limb)
{
    return make_big(env, header == th_header(TH_NEG_BIG, 1), &limb, 1);
}

th_term th_make_big_int64(th_env *env, int64_t i)
{
    return th_make_big_int64_inline(env, i);
}

th_term th_make_big_uint64(th_env *env, uint64_t i)
{
    return make_big(env, false, &i, 1);
}

bool th_get_int64(th_term t, int64_t *i)
{
    return th_get_int64_inline(t, i);
}

bool th_get_uint64(th_term t, uint64_t *i)
{
    return th_get_uint64_inline(t, i);
}

bool th_get_list_length(th_term t, size_t *length)
{
    return th_get_list_length_inline(t, length);
}

bool th_get_bytes(th_term t, const unsigned char **data, size_t *bytes)
{
    return th_get_bytes_inline(t, data, bytes);
}

bool th_get_bits(th_term t, const unsigned char **data, size_t *bits)
{
    if (!th_is_bitstring(t))
        return false;
    *bits = th_bits_size(t);
    *data = th_bits_data(t);
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

/* --- Bit strings: in the heap, shared, or a part of another ----------------------------------- */

/* The words, after the header, of the two kinds of binary that only refer to bytes. */
enum { BITS = 1, DATA = 2, SHARE = 3, SHARED_BINARY = 5, WHOLE = 3 };

th_term th_make_heap_binary(th_env *env, size_t bits, unsigned char **data)
{
    size_t size = th_term_heap_binary_words(bits);
    th_term *words = th_env_take(env, size);

    words[0] = th_header(TH_HEAP_BINARY, size - 1);
    words[size - 1] = 0;
    words[BITS] = bits;
    *data = (unsigned char *)(words + 2);
    return th_boxed(words);
}

th_term th_make_binary(th_env *env, const void *data, size_t bytes)
{
    unsigned char *place;
    th_term t = th_make_heap_binary(env, 8 * bytes, &place);

    if (bytes > 0)
        memcpy(place, data, bytes);
    return t;
}

static struct th_binary *binary_of(th_term *words)
{
    return (struct th_binary *)(uintptr_t)words[SHARED_BINARY];
}

static void release_share(struct th_offheap *self)
{
    th_binary_release(binary_of((th_term *)self - SHARE));
}

th_term th_make_shared_binary(th_env *env, struct th_binary *binary, const unsigned char *data,
                              size_t bits)
{
    th_term *words = th_env_take(env, TH_SHARED_BINARY_WORDS);

    words[0] = th_header(TH_SHARED_BINARY, TH_SHARED_BINARY_WORDS - 1);
    words[BITS] = bits;
    words[DATA] = (th_term)(uintptr_t)data;
    words[SHARED_BINARY] = (th_term)(uintptr_t)binary;
    th_binary_keep(binary);
    th_env_hold(env, (struct th_offheap *)(words + SHARE), release_share);
    return th_boxed(words);
}

struct th_binary *th_shared_binary_of(th_term t)
{
    if (th_term_is(t, TH_SUB_BINARY))
        t = th_term_box(t)[WHOLE];
    return th_term_is(t, TH_SHARED_BINARY) ? binary_of(th_term_box(t)) : NULL;
}

size_t th_binary_held(const th_env *env, const struct th_offheap *end)
{
    size_t bytes = 0;

    for (struct th_offheap *thing = env->offheap; thing && thing != end; thing = thing->next)
        if (thing->release == release_share)
            bytes += binary_of((th_term *)thing - SHARE)->size;
    return bytes;
}

/* --- Lists, tuples and funs ------------------------------------------------------------------- */

th_term th_make_latin1_string(th_env *env, const unsigned char *bytes, size_t count)
{
    th_term *cells;

    if (count == 0)
        return TH_NIL;
    cells = th_env_take(env, 2 * count);
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = th_small(bytes[i]);
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    return th_listed(cells);
}

th_term th_make_tuple(th_env *env, const th_term *elements, size_t count)
{
    th_term *place;
    th_term t = th_make_tuple_space(env, count, &place);

    if (count > 0)
        memcpy(place, elements, count * sizeof *elements);
    return t;
}

/* The words of a fun after its header. */
enum {
    FUN_MODULE = 1,
    FUN_NUMBERS = 2,
    FUN_UNIQUE = 3,
    FUN_OLD_INDEX = 5,
    FUN_OLD_UNIQUE = 6,
    FUN_CREATOR = 7,
    FUN_FREE = 8
};

th_term th_make_fun(th_env *env, const struct th_fun_parts *parts)
{
    th_term *words = th_env_take(env, FUN_FREE + parts->free_count);

    words[0] = th_header(TH_FUN, FUN_FREE - 1 + parts->free_count);
    words[FUN_MODULE] = parts->module;
    words[FUN_NUMBERS] = parts->arity | (uint64_t)parts->index << 32;
    memcpy(words + FUN_UNIQUE, parts->unique, sizeof parts->unique);
    words[FUN_OLD_INDEX] = parts->old_index;
    words[FUN_OLD_UNIQUE] = parts->old_unique;
    words[FUN_CREATOR] = parts->creator;
    if (parts->free_count > 0)
        memcpy(words + FUN_FREE, parts->free, parts->free_count * sizeof *words);
    return th_boxed(words);
}

bool th_get_fun(th_term t, struct th_fun_parts *parts)
{
    const th_term *words;

    if (!th_term_is(t, TH_FUN))
        return false;
    words = th_term_box(t);
    parts->module = words[FUN_MODULE];
    parts->arity = (uint32_t)words[FUN_NUMBERS];
    parts->index = (uint32_t)(words[FUN_NUMBERS] >> 32);
    memcpy(parts->unique, words + FUN_UNIQUE, sizeof parts->unique);
    parts->old_index = words[FUN_OLD_INDEX];
    parts->old_unique = words[FUN_OLD_UNIQUE];
    parts->creator = words[FUN_CREATOR];
    parts->free = words + FUN_FREE;
    parts->free_count = th_header_words(words[0]) - (FUN_FREE - 1);
    return true;
}

th_term th_make_export(th_env *env, th_term module, th_term function, uint32_t arity)
{
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(TH_EXPORT, 3);
    words[1] = module;
    words[2] = function;
    words[3] = th_small(arity);
    return th_boxed(words);
}

bool th_get_export(th_term t, th_term *module, th_term *function, uint32_t *arity)
{
    if (!th_term_is(t, TH_EXPORT))
        return false;
    *module = th_term_box(t)[1];
    *function = th_term_box(t)[2];
    *arity = (uint32_t)th_small_value(th_term_box(t)[3]);
    return true;
}

bool th_is_fun_of(th_term t, th_term arity)
{
    th_term module, function;
    struct th_fun_parts fun;
    uint32_t takes;

    if (th_get_fun(t, &fun))
        takes = fun.arity;
    else if (!th_get_export(t, &module, &function, &takes))
        return false;
    return arity == th_small(takes);
}
