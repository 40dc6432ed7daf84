/* What the parser takes at most. The same bounds decide what text can carry. */
#ifndef TH_TEXT_LIMITS_H
#define TH_TEXT_LIMITS_H

#include <stdint.h>

enum {
    TH_TEXT_DEPTH = 1 << 20, /* open brackets */
    TH_TEXT_DIGITS = 1 << 20 /* of one integer */
};

/*
 * The bits of all bit strings of a text of BYTES bytes. A size takes no more text than its digits,
 * a character at most 32 bits: so what is written out always fits, and sizes add little.
 */
#define TH_TEXT_BITS(bytes) (32 * (uint64_t)(bytes) + 8 * ((uint64_t)16 << 20))

#endif
