/*
 * Skips external terms that the decoder would certainly accept.
 *
 * As th_etf_skip(), one walk with a counter of remaining terms in place of a stack. All that the
 * decoder checks is checked here, too, or the walk gives up: then the decoder decides, and reports
 * its own errors. The walk gives up at rare terms (maps of several pairs, unless their keys are a
 * few atoms; old tags; damage; identifiers of other nodes).
 *
 * The decoder's limits for a whole term hold by the size: a term nests no deeper than it has bytes,
 * and takes fewer than WORST bytes of memory for each of its own.
 */
#include "atom.h"
#include "etf_decoder.h"
#include "make.h"
#include "peer.h"
#include "utf8.h"

#include "host/base/memory.h"

enum {
    WORST = 256,
    MOST_FREE = 255,
    ATOM_BYTES = 255, /* of a Latin-1 name, which has as many characters */
    SHORT = 5,        /* bytes of the longest short term, an integer */
    MOST_KEYS = 16    /* of a map of several pairs */
};

/* IN_MAP: the terms are values of a map of several pairs. */
static size_t sound_terms(const unsigned char *data, size_t size, size_t pending,
                          const struct th_etf_options *options, bool in_map);

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

/* Returns the bytes of the pid, port or reference at AT, if it is of this node or of a peer. */
static size_t sound_identifier(const unsigned char *at, size_t left,
                               const struct th_etf_options *options)
{
    struct th_etf_decoder d = {.data = at, .end = at + left, .cache = th_etf_cache()};
    bool reference = at[0] == TH_ETF_NEWER_REFERENCE;
    size_t before = at[0] == TH_ETF_NEW_PORT ? 4 : 8, after = 0, words;
    const unsigned char *node = at + 1;
    struct th_etf_node here = options->here;
    th_term atom;

    if (here.node == TH_NONE)
        here = (struct th_etf_node){TH_AM(nonode), 0};
    if (left < 3 + sizeof here.creation)
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
    if (th_etf_left(&d, node) < before + 4 + after)
        return 0;
    if ((atom != here.node || th_etf_get32(node + before) != here.creation) &&
        !th_peer_find(atom, th_etf_get32(node + before)))
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

/* Returns the bytes of the COUNT pairs at AT, if their keys are different atoms with the same tag.
 * Values hold no such map, so that the depth of calls is bounded. */
static size_t sound_pairs(const unsigned char *at, size_t left, size_t count,
                          const struct th_etf_options *options)
{
    const unsigned char *const data = at, *const end = at + left;
    struct {
        const unsigned char *at;
        size_t bytes;
    } keys[MOST_KEYS];

    if (count > MOST_KEYS)
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = sound_atom(at, (size_t)(end - at)), value;
        if (bytes == 0)
            return 0;
        for (size_t j = 0; j < i; j++)
            if (keys[j].at[0] != at[0] ||
                (keys[j].bytes == bytes && memcmp(keys[j].at, at, bytes) == 0))
                return 0;
        keys[i].at = at;
        keys[i].bytes = bytes;
        at += bytes;
        value = sound_terms(at, (size_t)(end - at), 1, options, true);
        if (value == 0)
            return 0;
        at += value;
    }
    return (size_t)(at - data);
}

/* Returns the bytes of the term at AT up to its parts, which may be more than LEFT; 0: the decoder
 * decides. *PARTS, which is 0, gets the number of parts. */
static __attribute__((noinline)) size_t sound_other(const unsigned char *at, size_t left,
                                                    const struct th_etf_options *options,
                                                    bool in_map, size_t *parts)
{
    size_t bytes, pairs;

    if (left == 0)
        return 0;
    bytes = th_etf_shapes[at[0]].head;
    if (left < bytes)
        return 0;
    switch (at[0]) {
    case TH_ETF_SMALL_INTEGER:
    case TH_ETF_INTEGER:
    case TH_ETF_NIL:
        return bytes;
    case TH_ETF_ATOM:
    case TH_ETF_SMALL_ATOM_UTF8:
        return sound_atom(at, left);
    case TH_ETF_SMALL_TUPLE:
        *parts = at[1];
        return bytes;
    case TH_ETF_NEW_PID:
    case TH_ETF_NEW_PORT:
    case TH_ETF_V4_PORT:
    case TH_ETF_NEWER_REFERENCE:
        return sound_identifier(at, left, options);
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
        if (*parts <= 2)
            return bytes;
        pairs = in_map ? 0 : sound_pairs(at + bytes, left - bytes, *parts / 2, options);
        *parts = 0;
        return pairs ? bytes + pairs : 0;
    default:
        return 0;
    }
}

/* Skips usual terms from DATA[AT] on, of *PENDING terms, while all bytes of a short term are there;
 * SIZE is at least SHORT. Returns the place of the first byte that is left to sound_terms(), which
 * is behind the end if an atom is cut off. Branches, in place of a table of sizes, as the processor
 * predicts the next tag and need not wait for its load. */
static inline size_t skip_usual(const unsigned char *data, size_t size, size_t at, size_t *pending)
{
    const size_t last = size - SHORT;
    size_t left = *pending;

    while (left > 0 && at <= last) {
        if (data[at] == TH_ETF_INTEGER) {
            at += 5;
        } else if (data[at] == TH_ETF_SMALL_TUPLE) {
            left += data[at + 1];
            at += 2;
        } else if (data[at] == TH_ETF_SMALL_INTEGER) {
            at += 2;
        } else if (data[at] == TH_ETF_ATOM && data[at + 1] == 0) { /* at most ATOM_BYTES */
            at += 3 + (size_t)data[at + 2];
        } else if (data[at] == TH_ETF_NIL) {
            at++;
        } else {
            break;
        }
        left--;
    }
    *pending = left;
    return at;
}

/* Returns the bytes of PENDING terms. No sum of counts overflows: each takes a byte or more. */
static size_t sound_terms(const unsigned char *data, size_t size, size_t pending,
                          const struct th_etf_options *options, bool in_map)
{
    size_t at = 0, bytes, parts;

    for (;;) {
        if (size - at >= SHORT)
            at = skip_usual(data, size, at, &pending);
        if (at > size)
            return 0;
        if (pending == 0)
            return at;
        if (size - at >= SHORT && data[at] == TH_ETF_LIST) {
            pending += th_etf_get32(data + at + 1);
            at += 5;
            continue;
        }
        parts = 0;
        bytes = sound_other(data + at, size - at, options, in_map, &parts);
        if (bytes == 0 || bytes > size - at)
            return 0;
        at += bytes;
        pending += parts - 1;
    }
}

size_t th_etf_skip_sound(const unsigned char *data, size_t size, size_t count,
                         const struct th_etf_options *options)
{
    if (size > TH_ETF_DEPTH || size > th_memory_budget.left / WORST)
        return 0;
    return sound_terms(data, size, count, options, false);
}
