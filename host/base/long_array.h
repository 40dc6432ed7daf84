/*
 * Memory for an array that may become very long, in a thread that the growth must not delay.
 *
 * A short array is reallocated as it grows. A long array reserves addresses for its greatest size
 * at once, gets memory as it grows, and gets pages as they are touched. So nothing is copied: a
 * copy into 50 MB of new pages may take a tenth of a second.
 */
#ifndef TH_LONG_ARRAY_H
#define TH_LONG_ARRAY_H

#include <stddef.h>

/* Grows MEMORY from HAD bytes (0: none yet) to WANTED bytes. The greatest size, MOST, is the same
 * at each call for an array. Returns the address of the array, which may have moved.
 * Errors: returns NULL if there are not enough addresses or memory; MEMORY is unchanged then. A
 * short array gives up, as th_realloc() does. */
void *th_long_array_grow(void *memory, size_t had, size_t wanted, size_t most);

/* Frees MEMORY, of HAS bytes. */
void th_long_array_free(void *memory, size_t has, size_t most);

#endif
