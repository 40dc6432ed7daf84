/*
 * Tables: the pairs of large maps, and how a key is found among them.
 *
 * A table stands in the heap of an environment, before the maps that have it: those that were made
 * of each other by putting new keys. Pairs are only ever added to a table, and a map of n pairs has
 * the first n; so no map is seen to change, and n keys are put one after the other in n steps.
 *
 * There are two kinds. The keys of a hashed table are plain: they hold no maps, and no more terms
 * than are worth hashing. Any other key makes a table sorted: that has the positions of its keys
 * in ascending order, and is never added to. So whoever must sort the keys of a hashed table, to
 * compare maps, meets no further large map in them: however deep maps are nested, there is no
 * recursion.
 *
 * Only the environment's own thread adds to a table. Others may read maps meanwhile: they go past
 * positions that are not their map's.
 *
 * Inside term/ only, but for what map.h needs.
 */
#ifndef TH_MAP_INTERNAL_H
#define TH_MAP_INTERNAL_H

#include "env.h"

enum { TH_NOT_THERE = -1 };

struct th_map_table {
    size_t used, capacity; /* pairs */
    size_t mask;           /* hashed: the number of cells, a power of two, less one; sorted: 0 */
    /* CAPACITY keys, CAPACITY values, then 32-bit numbers: the cells, each a position + 1 or 0 for
     * free; or CAPACITY positions in the order of the keys. */
    th_term words[];
};

static inline bool th_map_table_is_hashed(const struct th_map_table *table)
{
    return table->mask > 0;
}

static inline th_term *th_map_table_values(struct th_map_table *table)
{
    return table->words + table->capacity;
}

/* Of a sorted table. */
static inline uint32_t *th_map_table_order(struct th_map_table *table)
{
    return (uint32_t *)(table->words + 2 * table->capacity);
}

/* An empty hashed table with room for COUNT pairs, or a sorted one without its pairs and positions.
 */
struct th_map_table *th_map_table_hashed(th_env *env, size_t count);
struct th_map_table *th_map_table_sorted(th_env *env, size_t count);

/* The position of KEY among the first COUNT pairs of a hashed table, or TH_NOT_THERE. */
ptrdiff_t th_map_table_find(struct th_map_table *table, size_t count, th_term key);

/*
 * Adds a pair to a hashed table that has room for it; what it found, if KEY is there already:
 * nothing is changed then. False if KEY is not plain: nothing is changed then, either.
 */
bool th_map_table_add(struct th_map_table *table, th_term key, th_term value, ptrdiff_t *found);

/* True if a pair can be added for the map of ENV that has the first COUNT pairs. */
bool th_map_table_has_room(const th_env *env, const struct th_map_table *table, size_t count);

/* The first COUNT pairs of a hashed table in a new one, with room for more. */
struct th_map_table *th_map_table_extend(th_env *env, struct th_map_table *table, size_t count);

/* The words that a copy of the first COUNT pairs takes, and the copy, with room for no more. Its
 * keys and values, 2 * COUNT words in a row, are those of TABLE. */
size_t th_map_table_copy_words(const struct th_map_table *table, size_t count);
struct th_map_table *th_map_table_copy(th_env *env, struct th_map_table *table, size_t count);

#endif
