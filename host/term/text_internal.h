/* The text of terms, inside term/: leaves, characters, numbers, and the bounds of what is read. */
#ifndef TH_TEXT_INTERNAL_H
#define TH_TEXT_INTERNAL_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_buffer;

/*
 * The text of terms that hold no other terms: what the printer writes between its brackets.
 *
 * Those that can be long take ROOM, the bytes that are still wanted (SIZE_MAX: all), look at no
 * more of the term than that takes, and end in the middle where it is not enough. So a long list
 * counts as a string as soon as its first ROOM elements are characters.
 */

enum th_leaf {
    TH_LEAF_WHOLE,
    TH_LEAF_CUT,  /* there is more than ROOM */
    TH_LEAF_OTHER /* the term is something else; nothing was written */
};

/* ENCODING says which characters are written as they are, where that may be (text.h). */
void th_text_leaf_atom(struct th_buffer *out, th_term atom, enum th_text_encoding encoding);

/* An integer of any size. A large one that would overstep ROOM by far is left out: its first digits
 * cost as much as all. */
enum th_leaf th_text_leaf_integer(struct th_buffer *out, th_term integer, size_t room);
void th_text_leaf_float(struct th_buffer *out, th_term t);

/* A pid, port or reference. */
void th_text_leaf_identifier(struct th_buffer *out, th_term t);

/* A fun or an export. */
void th_text_leaf_fun(struct th_buffer *out, th_term t);

/* Of a fun that is no export, what stands behind its module: ".0.17>". */
struct th_fun_parts;
void th_text_leaf_fun_numbers(struct th_buffer *out, const struct th_fun_parts *fun);

enum th_leaf th_text_leaf_bits(struct th_buffer *out, th_term t, size_t room,
                               enum th_text_encoding encoding);

/* A list that is a string. */
enum th_leaf th_text_leaf_string(struct th_buffer *out, th_term list, size_t room,
                                 enum th_text_encoding encoding);

/*
 * What the characters of Latin-1 are to Erlang text. One table, so that the printer quotes just
 * what the scanner would not take bare.
 */

enum {
    TH_CHAR_LOWER = 1,      /* begins a bare atom */
    TH_CHAR_UPPER = 2,      /* begins a variable */
    TH_CHAR_NAME = 4,       /* goes on either */
    TH_CHAR_SPACE = 8,      /* separates tokens */
    TH_CHAR_PRINTABLE = 16, /* shows in a string, as it is or behind a backslash */
    TH_CHAR_SINGLE = 32     /* a token by itself, whatever follows */
};

extern const unsigned char th_text_char_classes[256];

/* The letter that stands for an ASCII character behind a backslash (n for a new line), or 0. */
extern const char th_text_char_escapes[128];

static inline bool th_text_char_is(uint32_t c, unsigned classes)
{
    return c < 256 && (th_text_char_classes[c] & classes) != 0;
}

/* True for the words that are no atoms unless they are quoted. */
bool th_text_is_reserved(const char *name, size_t bytes);

/* Floats as Erlang text. No locale has a say. */

enum { TH_FLOAT_TEXT = 32 /* bytes that hold any float's text */ };

/* Writes D, which must be finite, with the fewest digits that read back as D, and returns the
 * bytes. */
size_t th_float_write(double d, char out[TH_FLOAT_TEXT]);

/* Reads a float whose form is known to be right: digits, '.', digits and perhaps an exponent, with
 * '_' between digits or not. False if it is too large for a double; too small is 0. SCRATCH has
 * TH_FLOAT_TEXT bytes more than the text. */
bool th_float_read(const char *text, size_t bytes, char *scratch, double *d);

/* What the parser takes at most. The same bounds decide what text can carry. */

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
