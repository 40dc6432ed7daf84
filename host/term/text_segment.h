/*
 * Building bit strings from segments, as between << and >>.
 *
 * One run of bytes serves bit strings that are being built inside others: each begins behind the
 * bytes of the one around it.
 */
#ifndef TH_TEXT_SEGMENT_H
#define TH_TEXT_SEGMENT_H

#include "word.h"

#include "host/base/buffer.h"

struct th_scanner;

/* The text behind the value of a segment: ":Size/Type-Order-Sign-unit:N", any of it or nothing. */
enum {
    TH_SEGMENT_INTEGER = 1,
    TH_SEGMENT_FLOAT,
    TH_SEGMENT_BINARY,
    TH_SEGMENT_BITSTRING,
    TH_SEGMENT_UTF8,
    TH_SEGMENT_UTF16,
    TH_SEGMENT_UTF32
};

enum { TH_ORDER_BIG = 1, TH_ORDER_LITTLE };
enum { TH_SIGN_NO = 1, TH_SIGN_YES };

struct th_spec {
    const char *place; /* of the value */
    bool sized;        /* a size was given */
    uint64_t size;     /* in units; 0 for a bit string without one */
    unsigned type;
    unsigned order;
    unsigned sign; /* makes no difference to what is built */
    unsigned unit; /* in bits */
};

/* Behind a '/': reads the types and the token behind them. */
enum th_status th_text_spec_read_types(struct th_scanner *s, struct th_spec *spec);

/* Fills in what was not said. Returns what was expected where the parts do not go together, else
 * NULL. */
const char *th_text_spec_complete(struct th_spec *spec);

struct th_segments {
    struct th_buffer bytes;
    size_t start;  /* the first byte of the bit string that is being built */
    size_t bits;   /* its bits so far; those of the last byte that are not used are 0 */
    uint64_t left; /* how many bits may still be made */
};

/* Adds a segment with VALUE. Returns what was expected instead where that cannot be, else NULL. */
const char *th_text_segment_put(struct th_segments *b, const struct th_spec *spec, th_term value);

#endif
