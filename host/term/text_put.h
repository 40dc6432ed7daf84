/* Numbers and characters as text: what several parts of the printer write. */
#ifndef TH_TEXT_PUT_H
#define TH_TEXT_PUT_H

#include "host/base/base.h"

enum {
    TH_PUT_INTEGER = 20, /* bytes that hold any 64-bit number */
    TH_PUT_ESCAPED = 10  /* bytes that hold any character between quotes: \x{10FFFF} */
};

/* th_put_*() write at TO, where there must be room, and return the place behind. */
char *th_put_unsigned(char *to, uint64_t n);
char *th_put_octal(char *to, uint32_t c);

/* A character between quotes that is not as plain as th_put_quoted() takes them. */
char *th_put_escaped(char *to, uint32_t c, char quote);

/* A character between quotes. */
static inline char *th_put_quoted(char *to, uint32_t c, char quote)
{
    if (c < ' ' || c > '~' || c == '\\' || c == (unsigned char)quote)
        return th_put_escaped(to, c, quote);
    *to = (char)c;
    return to + 1;
}

void th_add_unsigned(struct th_buffer *out, uint64_t n);
void th_add_signed(struct th_buffer *out, int64_t n);

#endif
