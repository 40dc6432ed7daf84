/*
 * Maps. A map is a few words (see word.h); every change makes a new one.
 *
 * Keys are told apart as by =:=. At most TH_MAP_SMALL keys stand in the order of
 * th_compare_exact(), as in the BEAM; a larger map keeps the order in which its keys came, which is
 * the recording's. A BEAM prints a large map in an order that depends on the atom table of its
 * node, which no recording has; so the order is kept, and not computed.
 */
#ifndef TH_MAP_H
#define TH_MAP_H

#include "env.h"

/*
 * A map of COUNT pairs, at most UINT32_MAX. Where a key comes twice: with LAST_WINS the later value
 * stays at the earlier key's place, without it the result is TH_NONE.
 */
th_term th_make_map(th_env *env, const th_term *keys, const th_term *values, size_t count,
                    bool last_wins);

/* The pairs of a map of more than TH_MAP_SMALL; see map_internal.h. */
struct th_map_table {
    size_t used, capacity; /* pairs */
    size_t mask;           /* hashed: the number of cells, a power of two, less one; sorted: 0 */
    /* CAPACITY keys, CAPACITY values, then 32-bit numbers: the cells, each a position + 1 or 0 for
     * free; or CAPACITY positions in the order of the keys. */
    th_term words[];
};

static inline size_t th_map_size(th_term map)
{
    return th_term_box(map)[1];
}

/* Of a map of more than TH_MAP_SMALL pairs. */
static inline struct th_map_table *th_map_table(th_term map)
{
    return (struct th_map_table *)(uintptr_t)th_term_box(map)[2];
}

static inline const th_term *th_map_keys(th_term map)
{
    return th_map_size(map) > TH_MAP_SMALL ? th_map_table(map)->words : th_term_box(map) + 2;
}

/* How far behind its key the value of a pair is. */
static inline size_t th_map_stride(th_term map)
{
    size_t size = th_map_size(map);

    return size > TH_MAP_SMALL ? th_map_table(map)->capacity : size;
}

static inline const th_term *th_map_values(th_term map)
{
    return th_map_keys(map) + th_map_stride(map);
}

/* Where the value of KEY is, NULL if there is none. A key of a small map that is the same word, as
 * every atom is, is found without a call. */
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

/* The value of KEY, TH_NONE if there is none. */
static inline th_term th_map_get(th_term map, th_term key)
{
    const th_term *value = th_map_find(map, key);

    return value ? *value : TH_NONE;
}

/* The map with KEY set to VALUE. A small map is copied; so is a large one, but not for a new key if
 * it is the latest of ENV that was made by putting one. */
th_term th_map_put(th_env *env, th_term map, th_term key, th_term value);

/* The map without KEY; the same term if it has none. */
th_term th_map_remove(th_env *env, th_term map, th_term key);

#endif
