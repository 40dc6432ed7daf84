/*
 * The length of an external term, without decoding it.
 *
 * Terms are in prefix order: each tag determines how many terms follow as its parts. To find the
 * end, only the number of remaining terms matters, not the term that they belong to. So a counter
 * replaces the decoder's stack, and depth costs nothing. Each remaining term takes at least a byte:
 * a counter above the number of bytes left means that the term is cut off, and the counter can
 * never overflow.
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

/* Returns the bytes of the term at AT up to its parts, from its shape; 0 if the term is damaged or
 * cut off. *PARTS gets the number of parts. */
static size_t skip_one(const unsigned char *at, size_t left, size_t *parts)
{
    const struct th_etf_shape *shape = &th_etf_shapes[at[0]], *atom;
    size_t bytes = shape->head;
    size_t count;

    if (bytes == 0 || bytes > left)
        return 0;
    count = count_at(at + shape->count_at, shape->count_bytes);
    if (shape->node) { /* an atom; more bytes follow the atom, so three bytes are always there */
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
 * The usual tags have cases of their own, although skip_one() handles them, too: the processor
 * predicts the next case and continues, while it would have to wait for the load of a shape.
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
