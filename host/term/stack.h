/*
 * Stacks for following terms without recursion: they begin in an array of the function that walks,
 * so that usual terms cost no allocation, and move to the heap when a term is deeper.
 *
 *     struct item first[16];
 *     struct item *items = first;
 *     size_t depth = 0, capacity = 16;
 *     if (depth == capacity)
 *         items = th_stack_grow(items, first, &capacity, sizeof *items);
 *     items[depth++] = ...
 *     th_stack_free(items, first);
 */
#ifndef TH_STACK_H
#define TH_STACK_H

#include <stddef.h>

/* Doubles a full stack of *CAPACITY items. FIRST is the array that it began in. */
void *th_stack_grow(void *items, const void *first, size_t *capacity, size_t item_size);

/* Frees the items if they are no longer in FIRST. */
void th_stack_free(void *items, const void *first);

#endif
