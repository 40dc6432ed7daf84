/* Bit strings: in the heap, shared, or a part of another. */
#include "make.h"

/* The words of the two kinds that only refer to their bytes, after the header. */
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
    th_term *words = th_env_take(env, SHARED_BINARY + 1);

    words[0] = th_header(TH_SHARED_BINARY, SHARED_BINARY);
    words[BITS] = bits;
    words[DATA] = (th_term)(uintptr_t)data;
    words[SHARED_BINARY] = (th_term)(uintptr_t)binary;
    th_binary_keep(binary);
    th_env_hold(env, (struct th_offheap *)(words + SHARE), release_share);
    return th_boxed(words);
}

struct th_binary *th_shared_binary_of(th_term t)
{
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

th_term th_make_sub_binary(th_env *env, th_term whole, size_t position, size_t bytes)
{
    const unsigned char *data = NULL;
    size_t bits;
    th_term *words;

    th_get_bits(whole, &data, &bits);
    data += position;
    if (th_term_is(whole, TH_SHARED_BINARY))
        return th_make_shared_binary(env, binary_of(th_term_box(whole)), data, 8 * bytes);
    if (th_term_is(whole, TH_SUB_BINARY))
        whole = th_term_box(whole)[WHOLE];
    words = th_env_take(env, WHOLE + 1);
    words[0] = th_header(TH_SUB_BINARY, WHOLE);
    words[BITS] = 8 * bytes;
    words[DATA] = (th_term)(uintptr_t)data;
    words[WHOLE] = whole;
    return th_boxed(words);
}

bool th_get_bits(th_term t, const unsigned char **data, size_t *bits)
{
    th_term *words;

    if (!th_is_bitstring(t))
        return false;
    words = th_term_box(t);
    *bits = words[BITS];
    *data = th_term_subtag(t) == TH_HEAP_BINARY ? (const unsigned char *)(words + 2)
                                                : (const unsigned char *)(uintptr_t)words[DATA];
    return true;
}

bool th_get_bytes(th_term t, const unsigned char **data, size_t *bytes)
{
    if (!th_is_bitstring(t) || th_term_box(t)[BITS] % 8 != 0)
        return false;
    th_get_bits(t, data, bytes);
    *bytes /= 8;
    return true;
}
