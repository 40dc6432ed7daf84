/* Floats as Erlang text. No locale has a say. */
#ifndef TH_TEXT_FLOAT_H
#define TH_TEXT_FLOAT_H

#include <stdbool.h>
#include <stddef.h>

enum { TH_FLOAT_TEXT = 32 /* bytes that hold any float's text */ };

/* Writes D, which must be finite, with the fewest digits that read back as D, and returns the
 * bytes. */
size_t th_float_write(double d, char out[TH_FLOAT_TEXT]);

/* Reads a float whose form is known to be right: digits, '.', digits and perhaps an exponent, with
 * '_' between digits or not. False if it is too large for a double; too small is 0. SCRATCH has
 * TH_FLOAT_TEXT bytes more than the text. */
bool th_float_read(const char *text, size_t bytes, char *scratch, double *d);

#endif
