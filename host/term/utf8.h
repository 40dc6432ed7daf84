/* UTF-8 as in Erlang: no surrogates, no code point above 10FFFF, shortest forms only. */
#ifndef TH_UTF8_H
#define TH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_UTF8_MAX = 4 /* bytes of a character */ };

/* True for a code point that UTF-8 can encode. */
static inline bool th_utf8_valid(uint32_t c)
{
    return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

/* Writes a valid code point and returns the number of its bytes, 1 to 4. */
size_t th_utf8_put(uint32_t c, char *out);

/* Reads one character from BYTES bytes and returns the number of its bytes, 0 if BYTES is 0 or the
 * encoding is wrong. */
size_t th_utf8_get(const char *text, size_t bytes, uint32_t *c);

/* Counts the characters; false if the encoding is wrong. */
bool th_utf8_count(const char *text, size_t bytes, size_t *characters);

#endif
