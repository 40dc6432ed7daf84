/*
 * Building bit strings from segments, as between << and >>.
 *
 * One run of bytes serves bit strings that are being built inside others: each begins behind the
 * bytes of the one around it.
 */
#ifndef TH_TEXT_SEGMENT_H
#define TH_TEXT_SEGMENT_H

#include "text_spec.h"

struct th_segments {
    struct th_buffer bytes;
    size_t start;  /* the first byte of the bit string that is being built */
    size_t bits;   /* its bits so far; those of the last byte that are not used are 0 */
    uint64_t left; /* how many bits may still be made */
};

/* Adds a segment with VALUE. Returns what was expected instead where that cannot be, else NULL. */
const char *th_segment_put(struct th_segments *b, const struct th_spec *spec, th_term value);

/*
 * Adds a segment whose value was just read, at PLACE: VALUE, or the scanner's characters if it is
 * TH_NONE. Reads what may follow the value, ":Size" and "/Types", and the token behind it.
 */
enum th_status th_segment_add(struct th_segments *b, struct th_scanner *s, const char *place,
                              th_term value);

#endif
