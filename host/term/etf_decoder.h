/*
 * The decoder's inner interface: etf_decode.c follows the nesting, etf_read.c reads terms without
 * parts, etf_inflate.c inflates.
 *
 * A reading function takes the address of the tag, stores the term, and returns the address behind
 * the term; NULL after it has raised an error. Its caller has checked that the first `head` bytes
 * of the tag's shape are there; the function checks the bytes after them.
 */
#ifndef TH_ETF_DECODER_H
#define TH_ETF_DECODER_H

#include "etf.h"
#include "etf_tags.h"

/*
 * A direct-mapped cache of the atoms that a thread read last, by the bytes of their names, in front
 * of the atom table, which must check, hash and compare whole names. The cache holds only names in
 * ASCII, so all four atom tags share it. No entry becomes stale, as atoms live for ever and are the
 * same in all threads. Each thread has its own cache, so no thread sees a half-written entry.
 */
enum { TH_ETF_CACHE_BITS = 9, TH_ETF_CACHE_NAME = 16 };

/* A name as the cache compares it: up to 16 bytes, padded with 0; both ends of a longer name. */
struct th_etf_name {
    uint64_t first, last;
};

struct th_etf_cached {
    struct th_etf_name name;
    uint32_t index; /* of the atom */
    uint32_t bytes; /* of the name, plus 1; 0: free */
};

struct th_etf_decoder {
    th_env *env;
    const unsigned char *data, *end;
    struct th_etf_node here; /* node is never 0 */
    bool safe;
    struct th_etf_cached *cache; /* the thread's */
    th_term (*finding)(th_env *env, const uint32_t words[], size_t count);
};

/* Raises an error about the term whose tag is at TAG, and returns NULL. */
const unsigned char *th_etf_fault(const struct th_etf_decoder *d, const unsigned char *tag,
                                  const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
const unsigned char *th_etf_cut_off(const struct th_etf_decoder *d, const unsigned char *tag)
    __attribute__((cold));

static inline size_t th_etf_left(const struct th_etf_decoder *d, const unsigned char *at)
{
    return (size_t)(d->end - at);
}

/* The cache of the calling thread, valid until the thread ends. */
struct th_etf_cached *th_etf_cache(void);

/* Reads an atom with any of the four tags; fails for other tags. At least one byte must be
 * there. */
const unsigned char *th_etf_read_atom(struct th_etf_decoder *d, const unsigned char *tag,
                                      th_term *atom);

/* Reads a term that has no parts but atoms. ENV has room for a short term. */
const unsigned char *th_etf_read_leaf(struct th_etf_decoder *d, const unsigned char *tag,
                                      th_term *term);

/* Inflates the data at DATA, behind a version byte and TH_ETF_COMPRESSED, to at most LIMIT bytes
 * (0: 256 MiB). *USED gets the number of bytes read.
 * Owner: the caller frees *INFLATED by th_try_free(), with *INFLATED_SIZE + 1 bytes. */
enum th_status th_etf_inflate(const unsigned char *data, size_t size, size_t limit,
                              unsigned char **inflated, size_t *inflated_size, size_t *used);

/* The first BYTES bytes of the TH_ETF_CACHE_NAME bytes at NAME, which must all be readable; the
 * rest is 0. */
static inline struct th_etf_name th_etf_short_name(const unsigned char *name, size_t bytes)
{
    static const unsigned char masks[2 * TH_ETF_CACHE_NAME] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    struct th_etf_name key, mask;

    memcpy(&key, name, sizeof key);
    memcpy(&mask, masks + TH_ETF_CACHE_NAME - bytes, sizeof mask);
    return (struct th_etf_name){key.first & mask.first, key.last & mask.last};
}

static inline struct th_etf_cached *th_etf_cache_place(const struct th_etf_decoder *d,
                                                       struct th_etf_name key)
{
    uint64_t mixed = (key.first ^ key.last * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;

    return &d->cache[mixed >> (64 - TH_ETF_CACHE_BITS)];
}

static inline bool th_etf_cache_has(const struct th_etf_cached *place, struct th_etf_name key,
                                    size_t bytes)
{
    return place->name.first == key.first && place->name.last == key.last &&
           place->bytes == bytes + 1;
}

static inline th_term th_etf_cached_atom(const struct th_etf_cached *place)
{
    return (th_term)place->index << 6 | TH_TAG_ATOM;
}

/* As th_etf_read_atom(), fast for the usual tags and a short name that is in the cache. */
static inline const unsigned char *th_etf_read_atom_fast(struct th_etf_decoder *d,
                                                         const unsigned char *tag, th_term *atom)
{
    const struct th_etf_cached *place;
    const unsigned char *name;
    struct th_etf_name key;
    size_t bytes;

    if (th_etf_left(d, tag) < 3 + TH_ETF_CACHE_NAME)
        return th_etf_read_atom(d, tag, atom);
    if (tag[0] == TH_ETF_ATOM) {
        bytes = th_etf_get16(tag + 1);
        name = tag + 3;
    } else {
        bytes = tag[1];
        name = tag + 2;
    }
    if (bytes > TH_ETF_CACHE_NAME || (tag[0] != TH_ETF_ATOM && tag[0] != TH_ETF_SMALL_ATOM_UTF8))
        return th_etf_read_atom(d, tag, atom);
    key = th_etf_short_name(name, bytes);
    place = th_etf_cache_place(d, key);
    if (!th_etf_cache_has(place, key, bytes))
        return th_etf_read_atom(d, tag, atom);
    *atom = th_etf_cached_atom(place);
    return name + bytes;
}

#endif
