/*
 * External terms in their bytes: what can be known of a record without decoding it.
 *
 * Everything here takes the next byte and the end, and gives back where the element ends, NULL if
 * it is something else or cut off. th_etf_decode() is the way for all that is not known here.
 */
#ifndef TH_RAW_H
#define TH_RAW_H

#include "host/term/term.h"

#include <string.h>

/* An atom's name where it stands. */
struct th_raw_name {
    const unsigned char *text;
    uint32_t bytes;
    bool utf8;
};

static inline const unsigned char *th_raw_atom(const unsigned char *p, const unsigned char *end,
                                               struct th_raw_name *name)
{
    bool small;

    if (end - p < 2)
        return NULL;
    small = p[0] == TH_ETF_SMALL_ATOM || p[0] == TH_ETF_SMALL_ATOM_UTF8;
    if (!small && ((p[0] != TH_ETF_ATOM && p[0] != TH_ETF_ATOM_UTF8) || end - p < 3))
        return NULL;
    name->utf8 = p[0] == TH_ETF_ATOM_UTF8 || p[0] == TH_ETF_SMALL_ATOM_UTF8;
    name->bytes = small ? p[1] : th_etf_get16(p + 1);
    name->text = p + (small ? 2 : 3);
    return (size_t)(end - name->text) < name->bytes ? NULL : name->text + name->bytes;
}

static inline bool th_raw_is(const struct th_raw_name *name, const char *text)
{
    return name->bytes == strlen(text) && memcmp(name->text, text, name->bytes) == 0;
}

/* The atom of a name; TH_NONE if it has none. */
static inline th_term th_raw_intern(const struct th_raw_name *name)
{
    return name->utf8 ? th_atom_utf8((const char *)name->text, name->bytes)
                      : th_atom_latin1((const char *)name->text, name->bytes);
}

static inline const unsigned char *th_raw_tuple(const unsigned char *p, const unsigned char *end,
                                                uint32_t *arity)
{
    if (end - p >= 2 && p[0] == TH_ETF_SMALL_TUPLE) {
        *arity = p[1];
        return p + 2;
    }
    if (end - p >= 5 && p[0] == TH_ETF_LARGE_TUPLE) {
        *arity = th_etf_get32(p + 1);
        return p + 5;
    }
    return NULL;
}

/* Integers of 64 bits; NULL for those that need more. */
const unsigned char *th_raw_integer(const unsigned char *p, const unsigned char *end,
                                    int64_t *value);

/* The node of a pid or port in any encoding. */
bool th_raw_node(const unsigned char *p, const unsigned char *end, struct th_etf_node *node);

/* The number of elements of a list, as the argument list of a call; neither they nor the tail are
 * looked at. */
bool th_raw_length(const unsigned char *p, const unsigned char *end, int64_t *length);

#endif
