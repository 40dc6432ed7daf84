/*
 * Maps. A map is a few words (see word.h); every change makes a new map.
 *
 * Keys are distinguished by =:=. Up to TH_MAP_SMALL keys are in the order of th_compare_exact(), as
 * in the BEAM. A larger map keeps the order in which its keys were added: the order of the
 * recording. A BEAM prints a large map in an order that depends on the atom table of its node,
 * which no recording contains; so the order is kept, and not computed.
 */
#ifndef TH_MAP_H
#define TH_MAP_H

#include "env.h"

/*
 * Makes a map of COUNT pairs, at most UINT32_MAX. If a key comes twice and LAST_WINS, the later
 * value gets the earlier key's place; without LAST_WINS the result is TH_NONE.
 */
th_term th_make_map(th_env *env, const th_term *keys, const th_term *values, size_t count,
                    bool last_wins);

/* Makes an empty map. */
static inline th_term th_make_new_map(th_env *env)
{
    th_term *words = th_env_take(env, 2);

    words[0] = th_header(TH_MAP, 1);
    words[1] = 0;
    return th_boxed(words);
}

/* The pairs of a map of more than TH_MAP_SMALL pairs; see map_internal.h. */
struct th_map_table {
    size_t used, capacity; /* in pairs */
    size_t mask;           /* hashed: the number of cells, a power of two, less one; sorted: 0 */
    /* CAPACITY keys, CAPACITY values, then 32-bit numbers: of a hashed table its cells, each a
     * position + 1, or 0 for free; of a sorted table CAPACITY positions in the order of the
     * keys. */
    th_term words[];
};

static inline size_t th_map_size(th_term map)
{
    return th_term_box(map)[1];
}

/* The table of a map of more than TH_MAP_SMALL pairs. The first look at a changed map makes its
 * table. Any thread. Acquire: another thread may have made the table. */
struct th_map_table *th_map_changes_flat(th_term map);
static inline struct th_map_table *th_map_table(th_term map)
{
    th_term table = __atomic_load_n(&th_term_box(map)[2], __ATOMIC_ACQUIRE);

    if (__builtin_expect(table == 0, 0))
        return th_map_changes_flat(map);
    return (struct th_map_table *)(uintptr_t)table;
}

static inline const th_term *th_map_keys(th_term map)
{
    return th_map_size(map) > TH_MAP_SMALL ? th_map_table(map)->words : th_term_box(map) + 2;
}

/* The distance in words from a key to its value. */
static inline size_t th_map_stride(th_term map)
{
    size_t size = th_map_size(map);

    return size > TH_MAP_SMALL ? th_map_table(map)->capacity : size;
}

static inline const th_term *th_map_values(th_term map)
{
    return th_map_keys(map) + th_map_stride(map);
}

/* Returns the address of KEY's value, NULL if MAP lacks KEY. In a small map, a key that is the same
 * word, as every atom is, is found without a function call. */
const th_term *th_map_find_any(th_term map, th_term key);
static inline const th_term *th_map_find(th_term map, th_term key)
{
    const th_term *place = th_term_box(map) + 2;
    size_t count = th_map_size(map);

    if (__builtin_expect(count > TH_MAP_SMALL, 0))
        return th_map_find_any(map, key);
    for (const th_term *end = place + count; place < end; place++)
        if (*place == key)
            return place + count;
    return th_is_immediate(key) ? NULL : th_map_find_any(map, key);
}

/* The value of KEY, TH_NONE if MAP lacks KEY. */
static inline th_term th_map_get(th_term map, th_term key)
{
    const th_term *value = th_map_find(map, key);

    return value ? *value : TH_NONE;
}

/* Returns the map with KEY set to VALUE. A small map is copied. A new key of a large map is added to
 * the map's table, if MAP has all pairs of the table, which lies in ENV's current chunk. Any other
 * change of a large map is recorded beside its table; one of seventeen copies the table. */
th_term th_map_put(th_env *env, th_term map, th_term key, th_term value);

/* As th_map_put(), for the KEY whose value is at FOUND, from th_map_find(). */
th_term th_map_replace(th_env *env, th_term map, th_term key, const th_term *found, th_term value);

/* Returns the map without KEY; MAP itself if it lacks KEY. */
th_term th_map_remove(th_env *env, th_term map, th_term key);

#endif
