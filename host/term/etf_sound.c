/*
 * Skips external terms that the decoder would certainly accept.
 *
 * As th_etf_skip(), one walk with a counter of remaining terms in place of a stack. All that the
 * decoder checks is checked here, too, or the walk gives up: then the decoder decides, and reports
 * its own errors. The walk gives up at rare terms (maps of several pairs, whose keys would have to
 * be compared; old tags; damage), and at identifiers of other nodes, as the decoder numbers the
 * nodes in the order in which it meets them.
 *
 * The decoder's limits for a whole term hold by the size: a term nests no deeper than it has bytes,
 * and takes fewer than WORST bytes of memory for each of its own.
 */
#include "atom.h"
#include "etf_decoder.h"
#include "make.h"
#include "utf8.h"

#include "host/base/memory.h"

enum {
    WORST = 256,
    MOST_FREE = 255,
    ATOM_BYTES = 255 /* of a Latin-1 name, which has as many characters */
};

static bool is_utf8(const unsigned char *name, size_t bytes)
{
    size_t characters;
    uint64_t part, all = 0;
    size_t i = 0;

    for (; i + sizeof part <= bytes; i += sizeof part) {
        memcpy(&part, name + i, sizeof part);
        all |= part;
    }
    for (; i < bytes; i++)
        all |= (uint64_t)name[i];
    return (all & 0x8080808080808080u) == 0 ||
           th_utf8_count((const char *)name, bytes, &characters);
}

/* Returns the bytes of the atom at AT with one of the usual tags; 0: the decoder decides. */
static inline size_t sound_atom(const unsigned char *at, size_t left)
{
    size_t bytes;

    if (left < 3)
        return 0;
    if (at[0] == TH_ETF_ATOM) {
        bytes = th_etf_get16(at + 1);
        return bytes <= ATOM_BYTES && left - 3 >= bytes ? 3 + bytes : 0;
    }
    bytes = at[1];
    return at[0] == TH_ETF_SMALL_ATOM_UTF8 && left - 2 >= bytes && is_utf8(at + 2, bytes)
               ? 2 + bytes
               : 0;
}

/* Returns the bytes of the pid, port or reference at AT, if it is of the node HERE. */
static size_t sound_identifier(const unsigned char *at, size_t left, const struct th_etf_node *here)
{
    struct th_etf_decoder d = {.data = at, .end = at + left, .cache = th_etf_cache()};
    bool reference = at[0] == TH_ETF_NEWER_REFERENCE;
    size_t before = at[0] == TH_ETF_NEW_PORT ? 4 : 8, after = 0, words;
    const unsigned char *node = at + 1;
    th_term atom;

    if (left < 3 + sizeof here->creation)
        return 0;
    if (reference) {
        words = th_etf_get16(at + 1);
        if (words == 0 || words > TH_REF_WORDS)
            return 0;
        before = 0;
        after = 4 * words;
        node = at + 3;
    }
    node = th_etf_read_atom_fast(&d, node, &atom);
    if (!node) {
        th_error_clear();
        return 0;
    }
    if (th_etf_left(&d, node) < before + 4 + after || atom != here->node ||
        th_etf_get32(node + before) != here->creation)
        return 0;
    return (size_t)(node - at) + before + 4 + after;
}

/* Returns the bytes of the fun at AT up to its creator, a pid; *PARTS gets the number of the parts
 * from there on. */
static size_t sound_fun(const unsigned char *at, size_t left, size_t *parts)
{
    size_t bytes = th_etf_shapes[TH_ETF_NEW_FUN].head, free, atom;

    if (left < bytes)
        return 0;
    free = th_etf_get32(at + bytes - 4);
    atom = sound_atom(at + bytes, left - bytes);
    if (free > MOST_FREE || atom == 0)
        return 0;
    bytes += atom;
    for (int i = 0; i < 2; i++) { /* the old index and unique value */
        size_t size = left - bytes < 1                    ? 0
                      : at[bytes] == TH_ETF_SMALL_INTEGER ? 2
                      : at[bytes] == TH_ETF_INTEGER       ? 5
                                                          : 0;
        if (size == 0 || left - bytes < size)
            return 0;
        bytes += size;
    }
    *parts = 1 + free;
    return bytes < left && at[bytes] == TH_ETF_NEW_PID ? bytes : 0;
}

/* The terms that sound_terms() has no case for. */
static size_t sound_other(const unsigned char *at, size_t left, const struct th_etf_node *here,
                          size_t *parts)
{
    size_t bytes = th_etf_shapes[at[0]].head;

    if (left < bytes)
        return 0;
    switch (at[0]) {
    case TH_ETF_NEW_PID:
    case TH_ETF_NEW_PORT:
    case TH_ETF_V4_PORT:
    case TH_ETF_NEWER_REFERENCE:
        return sound_identifier(at, left, here);
    case TH_ETF_NEW_FUN:
        return sound_fun(at, left, parts);
    case TH_ETF_NEW_FLOAT: /* finite, if not all bits of the exponent are set */
        return (th_etf_get16(at + 1) & 0x7FF0) != 0x7FF0 ? bytes : 0;
    case TH_ETF_STRING:
        return bytes + th_etf_get16(at + 1);
    case TH_ETF_SMALL_BIG:
        return bytes + at[1];
    case TH_ETF_BINARY:
        return bytes + th_etf_get32(at + 1);
    case TH_ETF_LIST:
        *parts = 1 + (size_t)th_etf_get32(at + 1);
        return bytes;
    case TH_ETF_LARGE_TUPLE:
        *parts = th_etf_get32(at + 1);
        return bytes;
    case TH_ETF_MAP:
        *parts = 2 * (size_t)th_etf_get32(at + 1);
        return *parts <= 2 ? bytes : 0;
    default:
        return 0;
    }
}

/* Returns the bytes of PENDING terms. The usual tags come first; integers, which often stand in
 * runs, have a loop of their own. No sum of counts overflows: each takes a byte or more. */
static size_t sound_terms(const unsigned char *data, size_t size, size_t pending,
                          const struct th_etf_node *here)
{
    static const unsigned char plain[256] = {
        [TH_ETF_SMALL_INTEGER] = 2, [TH_ETF_INTEGER] = 5, [TH_ETF_NIL] = 1};
    const unsigned char *at = data, *const end = data + size;

    while (pending > 0) {
        size_t bytes, left = (size_t)(end - at), parts = 0;
        unsigned char tag;
        if (left == 0)
            return 0;
        tag = at[0];
        bytes = plain[tag];
        if (bytes > 0) {
            if (bytes > left)
                return 0;
            do {
                at += bytes;
                pending--;
            } while (pending > 0 && (size_t)(end - at) >= bytes && at[0] == tag);
            continue;
        }
        if (tag == TH_ETF_SMALL_TUPLE && left >= 2) {
            pending += (size_t)at[1] - 1;
            at += 2;
            continue;
        }
        if (tag == TH_ETF_ATOM || tag == TH_ETF_SMALL_ATOM_UTF8)
            bytes = sound_atom(at, left);
        else
            bytes = sound_other(at, left, here, &parts);
        if (bytes == 0 || bytes > left)
            return 0;
        at += bytes;
        pending += parts - 1;
    }
    return (size_t)(at - data);
}

size_t th_etf_skip_sound(const unsigned char *data, size_t size, size_t count,
                         const struct th_etf_options *options)
{
    struct th_etf_node here = options->here;

    if (size > TH_ETF_DEPTH || size > th_memory_budget.left / WORST)
        return 0;
    if (here.node == TH_NONE)
        here = (struct th_etf_node){TH_AM(nonode), 0};
    return sound_terms(data, size, count, &here);
}
