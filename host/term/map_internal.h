/* Maps, inside term/: the tables of large maps, and keys in ascending order. */
#ifndef TH_MAP_INTERNAL_H
#define TH_MAP_INTERNAL_H

#include "env.h"
#include "map.h"

struct th_map_table;

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
 */

enum { TH_NOT_THERE = -1 };

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

/* th_internal_hash() for the keys of hashed tables: *PLAIN is set to false for others than plain
 * ones, and the result means nothing. */
uint64_t th_key_hash(th_term t, bool *plain);

/*
 * The keys of maps in ascending order. Inside term/ only.
 */

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

/* Words of a heap that are enough for th_make_map() of COUNT pairs, which takes much less as a rule
 * where there are keys that are no immediates. */
size_t th_map_room(const th_term *keys, size_t count);

#endif
