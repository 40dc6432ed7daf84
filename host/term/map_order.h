/*
 * The keys of maps in ascending order. Inside term/ only.
 */
#ifndef TH_MAP_ORDER_H
#define TH_MAP_ORDER_H

#include "word.h"

/* Sorts the positions of COUNT keys into ORDER; SPARE has as much room. True if a key is there
 * twice; then equal keys stand side by side, the earlier position first. Stable, no allocation. */
bool th_sort_keys(const th_term *keys, size_t count, uint32_t *order, uint32_t *spare);

/* Positions that were sorted for one use of them. */
struct th_sorted_keys {
    struct th_sorted_keys *next;
    uint32_t positions[];
};

/*
 * The positions of MAP's keys in ascending order; NULL: they stand in that order. Those of a hashed
 * table are sorted now, and hung on *MADE, which the caller gives to th_sorted_keys_free().
 */
const uint32_t *th_map_order(th_term map, struct th_sorted_keys **made);
void th_sorted_keys_free(struct th_sorted_keys *made);

#endif
