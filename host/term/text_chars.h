/*
 * What the characters of Latin-1 are to Erlang text. One table, so that the printer quotes just
 * what the scanner would not take bare.
 */
#ifndef TH_TEXT_CHARS_H
#define TH_TEXT_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TH_CHAR_LOWER = 1,      /* begins a bare atom */
    TH_CHAR_UPPER = 2,      /* begins a variable */
    TH_CHAR_NAME = 4,       /* goes on either */
    TH_CHAR_SPACE = 8,      /* separates tokens */
    TH_CHAR_PRINTABLE = 16, /* shows in a string, as it is or behind a backslash */
    TH_CHAR_SINGLE = 32     /* a token by itself, whatever follows */
};

extern const unsigned char th_char_classes[256];

/* The letter that stands for an ASCII character behind a backslash (n for a new line), or 0. */
extern const char th_char_escapes[128];

static inline bool th_char_is(uint32_t c, unsigned classes)
{
    return c < 256 && (th_char_classes[c] & classes) != 0;
}

/* True for the words that are no atoms unless they are quoted. */
bool th_text_is_reserved(const char *name, size_t bytes);

#endif
