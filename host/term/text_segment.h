/*
 * Builds bit strings from segments, as between << and >>.
 *
 * One buffer serves nested bit strings: an inner bit string begins behind the bytes of the outer
 * one.
 */
#ifndef TH_TEXT_SEGMENT_H
#define TH_TEXT_SEGMENT_H

#include "word.h"

#include "host/base/buffer.h"

struct th_scanner;

/* Types of a segment. 0, here and for order and sign below: not given. */
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

/* The text behind the value of a segment: ":Size/Type-Order-Sign-unit:N", or a part of that, or
 * nothing. */
struct th_spec {
    const char *place; /* of the value */
    bool sized;        /* the text has a size */
    uint64_t size;     /* in units; 0 for a bit string without one */
    unsigned type;
    unsigned order;
    unsigned sign; /* does not change the bits that are built */
    unsigned unit; /* in bits */
};

/* Reads the types behind a '/', and the token behind them. */
enum th_status th_text_spec_read_types(struct th_scanner *s, struct th_spec *spec);

/* Sets defaults for missing parts. Returns the expected text if the parts contradict each other,
 * else NULL. */
const char *th_text_spec_complete(struct th_spec *spec);

struct th_segments {
    struct th_buffer bytes;
    size_t start;  /* the first byte of the bit string that is being built */
    size_t bits;   /* its bits so far; unused bits of the last byte are 0 */
    uint64_t left; /* bits that the text may still make */
};

/* Adds a segment with VALUE. Returns the expected text if VALUE does not suit SPEC, else NULL.
 * Errors: if there is no memory, raises an error and returns a text, too. */
const char *th_text_segment_put(struct th_segments *b, const struct th_spec *spec, th_term value);

#endif
