/* What the parser takes at most. The same bounds decide what text can carry. */
#ifndef TH_TEXT_LIMITS_H
#define TH_TEXT_LIMITS_H

#include <stdint.h>

enum {
    TH_TEXT_DEPTH = 1 << 20, /* open brackets */
    TH_TEXT_DIGITS = 1 << 20 /* of one integer: reading them costs their square */
};

/* The bits of all bit strings of one text. A size costs no more text than its digits. */
#define TH_TEXT_BITS ((uint64_t)8 << 28)

#endif
