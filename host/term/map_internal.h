/* Maps, inside term/: the tables of large maps, and keys in ascending order. */
#ifndef TH_MAP_INTERNAL_H
#define TH_MAP_INTERNAL_H

#include "env.h"
#include "map.h"

struct th_map_table;

/*
 * Tables: the pairs of large maps, with an index of the keys.
 *
 * A table lies in the heap of an environment, before the maps that share it: maps that were made
 * from each other by adding keys. Pairs are only added to a table, and a map of n pairs has the
 * first n; so no map changes, and adding n keys one by one takes n steps.
 *
 * Changed maps: a change of a pair, or a new key for a table of another environment or of a map with
 * more pairs, does not copy the table. The new map has the table and the changes: pairs that replace
 * those of the table, or follow them, in the order in which they were put. Few changes are recorded
 * before they are merged into a new table. A reader that needs all pairs in one table makes one
 * (th_map_table()), which is freed with the map. The table of a changed map is hashed.
 *
 * There are two kinds of table. A hashed table has plain keys: keys without maps, and with few
 * enough terms to be hashed. Any other key makes a table sorted: such a table has the positions of
 * its keys in ascending order, and nothing is added to it. To compare maps, the keys of a hashed
 * table may have to be sorted; as these keys contain no large map, there is no recursion, however
 * deep maps are nested.
 *
 * Thread: only the environment's own thread adds to a table. Other threads may read maps meanwhile:
 * they skip positions that are not in their map.
 */

/* In place of the position of a key. */
enum { TH_NOT_THERE = -1, TH_NOT_PLAIN = -2 };

static inline bool th_map_table_is_hashed(const struct th_map_table *table)
{
    return table->mask > 0;
}

static inline th_term *th_map_table_values(struct th_map_table *table)
{
    return table->words + table->capacity;
}

/* TABLE is sorted. */
static inline uint32_t *th_map_table_order(struct th_map_table *table)
{
    return (uint32_t *)(table->words + 2 * table->capacity);
}

/* Makes an empty hashed table with room for COUNT pairs, or a sorted table whose pairs and
 * positions the caller fills in. */
struct th_map_table *th_map_table_hashed(th_env *env, size_t count);
struct th_map_table *th_map_table_sorted(th_env *env, size_t count);

/* The position of KEY among the first COUNT pairs of a hashed table, TH_NOT_THERE, or TH_NOT_PLAIN
 * (then the table lacks KEY, too). */
ptrdiff_t th_map_table_find(struct th_map_table *table, size_t count, th_term key);

/*
 * Adds a pair to a hashed table that has room. *FOUND gets the position of KEY if the table has KEY
 * already, else TH_NOT_THERE; nothing changes if KEY was found.
 * Errors: returns false if KEY is not plain; nothing changes then.
 */
bool th_map_table_add(struct th_map_table *table, th_term key, th_term value, ptrdiff_t *found);

/* True if TABLE grows with the map of ENV that has the first COUNT pairs: in its place while there is
 * room, else by a larger table. */
bool th_map_table_is_growing(const th_env *env, const struct th_map_table *table, size_t count);

/* Copies the first COUNT pairs of a hashed table to a new one, with room for at least MORE.
 * Owner: if ENV is NULL, the caller, who frees the new table by th_free(). */
struct th_map_table *th_map_table_extend(th_env *env, struct th_map_table *table, size_t count,
                                         size_t more);

/* The words of a copy of the first COUNT pairs; and the copy, with no further room. Its keys and
 * values, 2 * COUNT words in a row, are those of TABLE. */
size_t th_map_table_copy_words(const struct th_map_table *table, size_t count);
struct th_map_table *th_map_table_copy(th_env *env, struct th_map_table *table, size_t count);

/* Makes the map of the first COUNT pairs of TABLE. */
th_term th_map_of_table(th_env *env, struct th_map_table *table, size_t count);

/* True if MAP, which is large, is a changed map. */
static inline bool th_map_is_changed(th_term map)
{
    return th_header_words(*th_term_box(map)) > 2;
}

/* Finds the value of KEY in a changed map, without a table of all pairs. */
const th_term *th_map_changes_find(th_term map, th_term key);

/* As th_map_put(), for a changed map or one with a hashed table. TH_NONE if KEY is not plain. */
th_term th_map_changes_put(th_env *env, th_term map, th_term key, th_term value);

/* As th_internal_hash(), for the keys of hashed tables. If T is not plain, *PLAIN is set to false,
 * and the result has no meaning. */
uint64_t th_key_hash(th_term t, bool *plain);

/*
 * The keys of maps in ascending order. Inside term/ only.
 */

/* Sorts the positions of COUNT keys into ORDER; SPARE has the same size. True if a key comes twice;
 * equal keys are neighbours then, the earlier position first. Stable, no allocation. */
bool th_sort_keys(const th_term *keys, size_t count, uint32_t *order, uint32_t *spare);

/* Positions of a map's keys, sorted for one use of the map: a list, freed after the use. */
struct th_sorted_keys {
    struct th_sorted_keys *next;
    uint32_t positions[];
};

/*
 * Returns the positions of MAP's keys in ascending order; NULL if the keys lie in that order.
 * Owner: positions of a hashed table are sorted now and added to *MADE, which the caller frees by
 * th_sorted_keys_free().
 */
const uint32_t *th_map_order(th_term map, struct th_sorted_keys **made);
void th_sorted_keys_free(struct th_sorted_keys *made);

/* Returns an upper bound of the heap words that th_make_map() of COUNT pairs takes. If some of more
 * than TH_MAP_SMALL keys are no immediates, a map usually takes much less. */
size_t th_map_room(const th_term *keys, size_t count);

#endif
