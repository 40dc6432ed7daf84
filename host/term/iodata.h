/*
 * I/O data: a binary, or a list of bytes, binaries and such lists, whose tail may be a binary.
 * Iterative.
 */
#ifndef TH_IODATA_H
#define TH_IODATA_H

#include "word.h"

/* How many bytes T stands for. False, with *SIZE as it was, if it is no I/O data. */
bool th_iodata_size(th_term t, size_t *size);

/* The bytes of T, which is I/O data, at TO, where there is room for them. */
void th_iodata_copy(th_term t, unsigned char *to);

#endif
