/*
 * The tags of external terms, and their big-endian numbers, for the decoder, the encoder and the
 * skipper.
 *
 * X(name, tag, before, count, bytes, terms, terms_each, node, after)
 *
 * A term has, in this order: the tag; BEFORE bytes, which contain a count of COUNT bytes (at their
 * beginning; in NEW_FUN at their end); the name of a node, an atom, if NODE is 1; AFTER bytes;
 * BYTES bytes for each unit of the count; TERMS terms, and TERMS_EACH more for each unit of the
 * count.
 */
#ifndef TH_ETF_TAGS_H
#define TH_ETF_TAGS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define TH_ETF_TAGS(X)                           \
    X(NEW_FLOAT, 70, 8, 0, 0, 0, 0, 0, 0)        \
    X(BIT_BINARY, 77, 5, 4, 1, 0, 0, 0, 0)       \
    X(NEW_PID, 88, 0, 0, 0, 0, 0, 1, 12)         \
    X(NEW_PORT, 89, 0, 0, 0, 0, 0, 1, 8)         \
    X(NEWER_REFERENCE, 90, 2, 2, 4, 0, 0, 1, 4)  \
    X(SMALL_INTEGER, 97, 1, 0, 0, 0, 0, 0, 0)    \
    X(INTEGER, 98, 4, 0, 0, 0, 0, 0, 0)          \
    X(FLOAT, 99, 31, 0, 0, 0, 0, 0, 0)           \
    X(ATOM, 100, 2, 2, 1, 0, 0, 0, 0)            \
    X(REFERENCE, 101, 0, 0, 0, 0, 0, 1, 5)       \
    X(PORT, 102, 0, 0, 0, 0, 0, 1, 5)            \
    X(PID, 103, 0, 0, 0, 0, 0, 1, 9)             \
    X(SMALL_TUPLE, 104, 1, 1, 0, 0, 1, 0, 0)     \
    X(LARGE_TUPLE, 105, 4, 4, 0, 0, 1, 0, 0)     \
    X(NIL, 106, 0, 0, 0, 0, 0, 0, 0)             \
    X(STRING, 107, 2, 2, 1, 0, 0, 0, 0)          \
    X(LIST, 108, 4, 4, 0, 1, 1, 0, 0)            \
    X(BINARY, 109, 4, 4, 1, 0, 0, 0, 0)          \
    X(SMALL_BIG, 110, 2, 1, 1, 0, 0, 0, 0)       \
    X(LARGE_BIG, 111, 5, 4, 1, 0, 0, 0, 0)       \
    X(NEW_FUN, 112, 29, 4, 0, 4, 1, 0, 0)        \
    X(EXPORT, 113, 0, 0, 0, 3, 0, 0, 0)          \
    X(NEW_REFERENCE, 114, 2, 2, 4, 0, 0, 1, 1)   \
    X(SMALL_ATOM, 115, 1, 1, 1, 0, 0, 0, 0)      \
    X(MAP, 116, 4, 4, 0, 0, 2, 0, 0)             \
    X(ATOM_UTF8, 118, 2, 2, 1, 0, 0, 0, 0)       \
    X(SMALL_ATOM_UTF8, 119, 1, 1, 1, 0, 0, 0, 0) \
    X(V4_PORT, 120, 0, 0, 0, 0, 0, 1, 12)

enum th_etf_tag {
#define X(name, tag, ...) TH_ETF_##name = (tag),
    TH_ETF_TAGS(X)
#undef X
};

enum {
    TH_ETF_VERSION = 131,   /* the first byte of a versioned term */
    TH_ETF_COMPRESSED = 80, /* only behind it: 4 bytes of inflated size, then a zlib stream */
    /* Known tags that are refused. */
    TH_ETF_ATOM_CACHE_REF = 82,
    TH_ETF_FUN = 117,
    TH_ETF_LOCAL = 121
};

/* The table above, by tag; head is 0 for tags that are not in the table. */
struct th_etf_shape {
    const char *name;
    uint8_t head;     /* bytes of the tag and of BEFORE */
    uint8_t count_at; /* offset of the count from the tag */
    uint8_t count_bytes, bytes_each;
    uint8_t terms, terms_each;
    uint8_t node, after;
};

extern const struct th_etf_shape th_etf_shapes[256];

static inline uint16_t th_etf_get16(const unsigned char *from)
{
    uint16_t x;

    memcpy(&x, from, sizeof x);
    return be16toh(x);
}

static inline uint32_t th_etf_get32(const unsigned char *from)
{
    uint32_t x;

    memcpy(&x, from, sizeof x);
    return be32toh(x);
}

static inline uint64_t th_etf_get64(const unsigned char *from)
{
    uint64_t x;

    memcpy(&x, from, sizeof x);
    return be64toh(x);
}

static inline void th_etf_put16(unsigned char *to, uint16_t x)
{
    x = htobe16(x);
    memcpy(to, &x, sizeof x);
}

static inline void th_etf_put32(unsigned char *to, uint32_t x)
{
    x = htobe32(x);
    memcpy(to, &x, sizeof x);
}

static inline void th_etf_put64(unsigned char *to, uint64_t x)
{
    x = htobe64(x);
    memcpy(to, &x, sizeof x);
}

#endif
