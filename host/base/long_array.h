/*
 * Memory for an array that may become very long, in a thread that must not be kept from its work
 * while it does.
 *
 * A short one is allocated anew as it grows. A long one has addresses for as much as it may ever
 * be, and gets memory for them as it grows and pages as they are touched: so nothing is copied,
 * which for 50 MB of new pages may take a tenth of a second.
 */
#ifndef TH_LONG_ARRAY_H
#define TH_LONG_ARRAY_H

#include <stddef.h>

/* Has MEMORY grow from HAD bytes (0: there is none) to WANTED, at most MOST, which stays the same
 * for each array. Returns where it is now; NULL if there are not as many addresses, or not as much
 * memory: then MEMORY is as it was. */
void *th_long_array_grow(void *memory, size_t had, size_t wanted, size_t most);

/* HAS bytes. */
void th_long_array_free(void *memory, size_t has, size_t most);

#endif
