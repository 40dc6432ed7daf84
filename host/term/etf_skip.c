/*
 * The length of an external term, without decoding it.
 *
 * Terms stand in prefix order: each tag says how many terms follow as its parts. To find the end it
 * is enough to know how many terms are still to come, not whose parts they are, so a counter serves
 * where the decoder has a stack, and depth costs nothing. Each term that is to come takes a byte at
 * least: a counter above the bytes left means that the term is cut off, and can never overflow.
 */
#include "etf.h"
#include "etf_tags.h"

const struct th_etf_shape th_etf_shapes[256] = {
#define X(name, tag, before, count, bytes, terms, terms_each, node, after)                     \
    [tag] = {#name "_EXT", 1 + (before), (tag) == TH_ETF_NEW_FUN ? 1 + (before) - (count) : 1, \
             (count),      (bytes),      (terms),                                              \
             (terms_each), (node),       (after)},
    TH_ETF_TAGS(X)
#undef X
};

static inline size_t count_at(const unsigned char *at, unsigned bytes)
{
    switch (bytes) {
    case 0:
        return 0;
    case 1:
        return at[0];
    case 2:
        return th_etf_get16(at);
    default:
        return th_etf_get32(at);
    }
}

/* The bytes of the term at AT up to its parts, from its shape; *PARTS is how many those are. 0 if
 * it is damaged or cut off. */
static size_t skip_one(const unsigned char *at, size_t left, size_t *parts)
{
    const struct th_etf_shape *shape = &th_etf_shapes[at[0]], *atom;
    size_t bytes = shape->head;
    size_t count;

    if (bytes == 0 || bytes > left)
        return 0;
    count = count_at(at + shape->count_at, shape->count_bytes);
    if (shape->node) { /* an atom; more follows it, so three bytes are always there */
        const unsigned char *node = at + bytes;

        if (left - bytes < 3 || (node[0] != TH_ETF_ATOM && node[0] != TH_ETF_SMALL_ATOM_UTF8 &&
                                 node[0] != TH_ETF_ATOM_UTF8 && node[0] != TH_ETF_SMALL_ATOM))
            return 0;
        atom = &th_etf_shapes[node[0]];
        bytes += atom->head + count_at(node + 1, atom->count_bytes) + shape->after;
    }
    bytes += count * shape->bytes_each;
    *parts = shape->terms + count * shape->terms_each;
    return bytes <= left ? bytes : 0;
}

/*
 * The usual tags have cases of their own, though their shapes would do: the processor guesses which
 * case comes next and goes on, where it would have to wait for the shape.
 */
size_t th_etf_skip(const unsigned char *data, size_t size)
{
    const unsigned char *at = data;
    const unsigned char *end = data + size;
    size_t pending = 1;

    while (pending > 0) {
        size_t left = (size_t)(end - at);
        size_t bytes;
        size_t parts = 0;
        if (pending > left)
            return 0;
        switch (at[0]) {
        case TH_ETF_SMALL_INTEGER:
            bytes = 2;
            break;
        case TH_ETF_INTEGER:
            bytes = 5;
            break;
        case TH_ETF_NIL:
            bytes = 1;
            break;
        case TH_ETF_ATOM:
        case TH_ETF_STRING:
            bytes = left < 3 ? 3 : 3 + (size_t)th_etf_get16(at + 1);
            break;
        case TH_ETF_SMALL_ATOM_UTF8:
            bytes = left < 2 ? 2 : 2 + (size_t)at[1];
            break;
        case TH_ETF_SMALL_TUPLE:
            bytes = 2;
            parts = left < 2 ? 0 : at[1];
            break;
        default:
            bytes = skip_one(at, left, &parts);
            if (bytes == 0)
                return 0;
        }
        if (bytes > left)
            return 0;
        at += bytes;
        pending += parts - 1;
    }
    return (size_t)(at - data);
}
