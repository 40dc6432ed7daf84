/* Keys, as terminals send them. */
#ifndef TH_TOP_KEY_H
#define TH_TOP_KEY_H

#include <stddef.h>

enum th_top_key {
    TH_KEY_NONE, /* one that means nothing here, or the beginning of a sequence that goes on */
    TH_KEY_UP = 256,
    TH_KEY_DOWN,
    TH_KEY_PAGE_UP,
    TH_KEY_PAGE_DOWN,
    TH_KEY_HOME,
    TH_KEY_END
    /* others are themselves: 'q' */
};

/* The first key in COUNT bytes, of which there is at least one; *USED gets how many of them it is.
 */
int th_top_key_read(const char *bytes, size_t count, size_t *used);

#endif
