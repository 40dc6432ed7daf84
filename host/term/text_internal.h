/* The text of terms, inside term/: leaves, characters, numbers, and the bounds of the parser. */
#ifndef TH_TEXT_INTERNAL_H
#define TH_TEXT_INTERNAL_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_buffer;

/*
 * The text of terms that contain no other terms: the text between the printer's brackets.
 *
 * ROOM is the number of bytes that the caller still needs (SIZE_MAX: all). A function with ROOM
 * reads no more of the term than these bytes need, and stops in the middle if ROOM is too small. So
 * a long list counts as a string as soon as its first ROOM elements are characters.
 */

enum th_leaf {
    TH_LEAF_WHOLE,
    TH_LEAF_CUT,  /* the text is longer than ROOM */
    TH_LEAF_OTHER /* the term is of another kind; nothing was written */
};

/* ENCODING determines which characters are written as they are (text.h). */
void th_text_leaf_atom(struct th_buffer *out, th_term atom, enum th_text_encoding encoding);

/* Writes an integer of any size. Omits a large one that would exceed ROOM by far: its first digits
 * cost as much as all. */
enum th_leaf th_text_leaf_integer(struct th_buffer *out, th_term integer, size_t room);
void th_text_leaf_float(struct th_buffer *out, th_term t);

/* Writes a pid, port or reference. */
void th_text_leaf_identifier(struct th_buffer *out, th_term t);

/* Writes a fun or an export. */
void th_text_leaf_fun(struct th_buffer *out, th_term t);

/* Writes the text behind the module of a fun that is no export: ".0.17>". */
struct th_fun_parts;
void th_text_leaf_fun_numbers(struct th_buffer *out, const struct th_fun_parts *fun);

enum th_leaf th_text_leaf_bits(struct th_buffer *out, th_term t, size_t room,
                               enum th_text_encoding encoding);

/* Writes a list that is a string. */
enum th_leaf th_text_leaf_string(struct th_buffer *out, th_term list, size_t room,
                                 enum th_text_encoding encoding);

/*
 * The classes of Latin-1 characters in Erlang text. One table serves both sides, so that the
 * printer quotes exactly the atoms that the scanner would not accept unquoted.
 */

enum {
    TH_CHAR_LOWER = 1,      /* begins an unquoted atom */
    TH_CHAR_UPPER = 2,      /* begins a variable */
    TH_CHAR_NAME = 4,       /* continues an atom or a variable */
    TH_CHAR_SPACE = 8,      /* separates tokens */
    TH_CHAR_PRINTABLE = 16, /* shown in a string, as it is or behind a backslash */
    TH_CHAR_SINGLE = 32     /* a token by itself, whatever follows */
};

extern const unsigned char th_text_char_classes[256];

/* The letter of the escape for an ASCII character (n for a new line), or 0. */
extern const char th_text_char_escapes[128];

static inline bool th_text_char_is(uint32_t c, unsigned classes)
{
    return c < 256 && (th_text_char_classes[c] & classes) != 0;
}

/* True for a reserved word, which is an atom only if quoted. */
bool th_text_is_reserved(const char *name, size_t bytes);

/* Floats as Erlang text, independent of the locale. */

enum { TH_FLOAT_TEXT = 32 /* bytes for the text of any float */ };

/* Writes D, which must be finite, with the fewest digits that read back as D; returns the number of
 * bytes. */
size_t th_float_write(double d, char out[TH_FLOAT_TEXT]);

/* Reads a float of correct form: digits, '.', digits and perhaps an exponent, perhaps with '_'
 * between digits. Returns false if the value is too large for a double; a value that is too small
 * is 0. SCRATCH has TH_FLOAT_TEXT bytes more than the text. */
bool th_float_read(const char *text, size_t bytes, char *scratch, double *d);

/* The bounds of the parser. The printer uses them, too, to decide if a term has exact text. */

enum {
    TH_TEXT_DEPTH = 1 << 20, /* open brackets */
    TH_TEXT_DIGITS = 1 << 20 /* digits of one integer */
};

/*
 * The bits of all bit strings of a text of BYTES bytes. A character makes at most 32 bits, so bit
 * strings without sizes always fit. A size needs no more text than its digits, so sizes add only 16
 * MiB.
 */
#define TH_TEXT_BITS(bytes) (32 * (uint64_t)(bytes) + 8 * ((uint64_t)16 << 20))

#endif
