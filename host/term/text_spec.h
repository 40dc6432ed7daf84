/*
 * What stands behind the value of a segment: ":Size/Type-Order-Sign-unit:N", any of it or nothing.
 */
#ifndef TH_TEXT_SPEC_H
#define TH_TEXT_SPEC_H

#include "text_token.h"

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
enum th_status th_spec_read_types(struct th_scanner *s, struct th_spec *spec);

/* Fills in what was not said. Returns what was expected where the parts do not go together, else
 * NULL. */
const char *th_spec_complete(struct th_spec *spec);

/* Reads the specification of the value at PLACE, whose size is a constant, and the token behind it;
 * completes it. */
enum th_status th_spec_read(struct th_scanner *s, const char *place, struct th_spec *spec);

#endif
