/*
 * Maps. A map is one run of words (see word.h); every change makes a new one.
 *
 * Keys are told apart as by =:=. At most TH_MAP_SMALL keys stand in the order of
 * th_compare_exact(), as in the BEAM; a larger map keeps the order in which its keys came, which is
 * the recording's.
 */
#ifndef TH_MAP_H
#define TH_MAP_H

#include "env.h"

/*
 * A map of COUNT pairs, at most UINT32_MAX. Where a key comes twice: with LAST_WINS the later value
 * stays at the earlier key's place, without it the result is TH_NONE. Time is COUNT * log COUNT,
 * COUNT if the keys come in ascending order.
 */
th_term th_make_map(th_env *env, const th_term *keys, const th_term *values, size_t count,
                    bool last_wins);

static inline size_t th_map_size(th_term map)
{
    return th_box(map)[1];
}

static inline const th_term *th_map_keys(th_term map)
{
    return th_box(map) + 2;
}

static inline const th_term *th_map_values(th_term map)
{
    return th_box(map) + 2 + th_map_size(map);
}

/* The positions of the keys in ascending order; NULL: they stand in that order. */
static inline const uint32_t *th_map_order(th_term map)
{
    size_t size = th_map_size(map);

    return size > TH_MAP_SMALL ? (const uint32_t *)(th_map_values(map) + size) : NULL;
}

/* The position of the I-th key in ascending order. */
static inline size_t th_map_sorted(th_term map, size_t i)
{
    const uint32_t *order = th_map_order(map);

    return order ? order[i] : i;
}

/* The value of KEY, TH_NONE if there is none. */
th_term th_map_get(th_term map, th_term key);

/* The map with KEY set to VALUE. The words that need no change are copied. */
th_term th_map_put(th_env *env, th_term map, th_term key, th_term value);

/* The map without KEY; the same term if it has none. */
th_term th_map_remove(th_env *env, th_term map, th_term key);

#endif
