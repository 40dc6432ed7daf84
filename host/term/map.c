/*
 * Maps: made at once from pairs, or one change after the other.
 *
 * The pairs of a new map come in ascending order, or their positions are sorted by a stable merge,
 * without a call of malloc: a large map sorts in the words where its positions will stand, with as
 * many more on the heap behind it that are given back afterwards.
 */
#include "map.h"

#include "compare.h"

#include <string.h>

static size_t order_words(size_t count)
{
    return count > TH_MAP_SMALL ? count / 2 + count % 2 : 0;
}

static size_t map_words(size_t count)
{
    return 2 + 2 * count + order_words(count);
}

/* A map with room for COUNT pairs; th_map_keys() and the others tell where they go. */
static th_term new_map(th_env *env, size_t count)
{
    th_term *words = th_env_take(env, map_words(count));

    words[0] = th_header(TH_MAP, map_words(count) - 1);
    words[1] = count;
    if (count > TH_MAP_SMALL)
        words[map_words(count) - 1] = 0;
    return th_boxed(words);
}

static th_term *keys_of(th_term map)
{
    return th_box(map) + 2;
}

static th_term *values_of(th_term map)
{
    return th_box(map) + 2 + th_map_size(map);
}

static uint32_t *order_of(th_term map)
{
    return (uint32_t *)(values_of(map) + th_map_size(map));
}

static bool is_ascending(const th_term *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (th_compare_exact(keys[i - 1], keys[i]) >= 0)
            return false;
    return true;
}

struct sorting {
    const th_term *keys;
    bool twice; /* two keys were identical: neighbours in the end are always compared */
};

static bool comes_first(struct sorting *s, uint32_t left, uint32_t right)
{
    int order = th_compare_exact(s->keys[left], s->keys[right]);

    s->twice |= order == 0;
    return order <= 0;
}

/* Merges the runs FROM[0..left) and FROM[left..count) into TO; of equal keys the left comes first.
 */
static void merge(struct sorting *s, const uint32_t *from, size_t left, size_t count, uint32_t *to)
{
    size_t i = 0;
    size_t j = left;

    while (i < left && j < count)
        *to++ = comes_first(s, from[i], from[j]) ? from[i++] : from[j++];
    memcpy(to, from + i, (left - i) * sizeof *to);
    memcpy(to + (left - i), from + j, (count - j) * sizeof *to);
}

/* Sorts the positions of the keys into ORDER; SPARE has as much room. */
static void sort(struct sorting *s, size_t count, uint32_t *order, uint32_t *spare)
{
    uint32_t *from = order;
    uint32_t *to = spare;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2) {
        uint32_t *swap = from;
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t rest = count - i;
            merge(s, from + i, rest < width ? rest : width, rest < 2 * width ? rest : 2 * width,
                  to + i);
        }
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
}

/*
 * A map where keys come twice. SOURCE gets for each key that is kept the position of the value that
 * wins; then what is kept is moved together and made a map.
 */
static th_term make_last(th_env *env, const th_term *keys, const th_term *values, size_t count,
                         const uint32_t *order)
{
    th_term *kept = th_env_take(env, 2 * count);
    uint32_t *source = (uint32_t *)th_env_take(env, count / 2 + 1);
    size_t used = 0;
    size_t i = 0;

    memset(source, 0xFF, count * sizeof *source);
    while (i < count) {
        size_t first = order[i];
        do
            source[first] = order[i++];
        while (i < count && th_identical(keys[first], keys[order[i]]));
    }
    for (i = 0; i < count; i++)
        if (source[i] != UINT32_MAX) {
            kept[used] = keys[i];
            kept[count + used++] = values[source[i]];
        }
    return th_make_map(env, kept, kept + count, used, true);
}

/* The pairs of a small map, moved to their sorted places. */
static void arrange(th_term map, const th_term *keys, const th_term *values, const uint32_t *order)
{
    for (size_t i = 0; i < th_map_size(map); i++) {
        keys_of(map)[i] = keys[order[i]];
        values_of(map)[i] = values[order[i]];
    }
}

static th_term make_unsorted(th_env *env, th_term map, const th_term *keys, const th_term *values,
                             bool last_wins)
{
    size_t count = th_map_size(map);
    struct sorting sorting = {keys, false};
    uint32_t few[2 * TH_MAP_SMALL];

    if (count <= TH_MAP_SMALL) {
        sort(&sorting, count, few, few + TH_MAP_SMALL);
        arrange(map, keys, values, few);
    } else {
        th_term *spare = th_env_take(env, order_words(count));
        sort(&sorting, count, order_of(map), (uint32_t *)spare);
        env->top = spare;
    }
    if (!sorting.twice)
        return map;
    return last_wins
               ? make_last(env, keys, values, count, count <= TH_MAP_SMALL ? few : order_of(map))
               : TH_NONE;
}

th_term th_make_map(th_env *env, const th_term *keys, const th_term *values, size_t count,
                    bool last_wins)
{
    th_term map;

    if (count > UINT32_MAX)
        return TH_NONE;
    map = new_map(env, count);
    if (count > 0) {
        memcpy(keys_of(map), keys, count * sizeof *keys);
        memcpy(values_of(map), values, count * sizeof *values);
    }
    if (!is_ascending(keys, count))
        return make_unsorted(env, map, keys, values, last_wins);
    for (size_t i = 0; i < count && count > TH_MAP_SMALL; i++)
        order_of(map)[i] = (uint32_t)i;
    return map;
}

/* The rank, among the sorted keys, of KEY or of the first key above it. */
static size_t find(th_term map, th_term key, bool *found)
{
    const th_term *keys = th_map_keys(map);
    size_t low = 0;
    size_t high = th_map_size(map);

    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = th_compare_exact(key, keys[th_map_sorted(map, middle)]);
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
        *found = order == 0;
    }
    return *found ? high : low;
}

th_term th_map_get(th_term map, th_term key)
{
    const th_term *keys = th_map_keys(map);
    size_t count = th_map_size(map);
    size_t i = 0;
    bool found;

    if (count > TH_MAP_SMALL) {
        i = find(map, key, &found);
        return found ? th_map_values(map)[th_map_sorted(map, i)] : TH_NONE;
    }
    if (th_is_immediate(key))
        while (i < count && keys[i] != key)
            i++;
    else
        while (i < count && !th_identical(keys[i], key))
            i++;
    return i < count ? keys[count + i] : TH_NONE;
}

/* Copies COUNT words, leaving out the one at SKIP. */
static void copy_without(th_term *to, const th_term *from, size_t count, size_t skip)
{
    memcpy(to, from, skip * sizeof *to);
    memcpy(to + skip, from + skip + 1, (count - skip - 1) * sizeof *to);
}

/* Copies COUNT words, with WORD put in at position AT. */
static void copy_with(th_term *to, const th_term *from, size_t count, size_t at, th_term word)
{
    memcpy(to, from, at * sizeof *to);
    to[at] = word;
    memcpy(to + at + 1, from + at, (count - at) * sizeof *to);
}

static th_term replace(th_env *env, th_term map, size_t position, th_term value)
{
    size_t count = th_map_size(map);
    th_term result = new_map(env, count);

    memcpy(th_box(result), th_box(map), map_words(count) * sizeof(th_term));
    values_of(result)[position] = value;
    return result;
}

th_term th_map_put(th_env *env, th_term map, th_term key, th_term value)
{
    bool found;
    size_t rank = find(map, key, &found);
    size_t count = th_map_size(map);
    size_t at = count < TH_MAP_SMALL ? rank : count;
    th_term result;

    if (found)
        return replace(env, map, th_map_sorted(map, rank), value);
    result = new_map(env, count + 1);
    copy_with(keys_of(result), th_map_keys(map), count, at, key);
    copy_with(values_of(result), th_map_values(map), count, at, value);
    for (size_t i = 0; i < count && count >= TH_MAP_SMALL; i++)
        order_of(result)[i + (i >= rank)] = (uint32_t)th_map_sorted(map, i);
    if (count >= TH_MAP_SMALL)
        order_of(result)[rank] = (uint32_t)count;
    return result;
}

/* A large map that stays large, without the key of that rank. */
static th_term remove_large(th_env *env, th_term map, size_t rank)
{
    size_t count = th_map_size(map);
    size_t gone = th_map_sorted(map, rank);
    th_term result = new_map(env, count - 1);

    copy_without(keys_of(result), th_map_keys(map), count, gone);
    copy_without(values_of(result), th_map_values(map), count, gone);
    for (size_t i = 0; i < count - 1; i++) {
        size_t position = th_map_sorted(map, i + (i >= rank));
        order_of(result)[i] = (uint32_t)(position - (position > gone));
    }
    return result;
}

th_term th_map_remove(th_env *env, th_term map, th_term key)
{
    bool found;
    size_t rank = find(map, key, &found);
    size_t count = th_map_size(map);
    th_term result;

    if (!found)
        return map;
    if (count - 1 > TH_MAP_SMALL)
        return remove_large(env, map, rank);
    result = new_map(env, count - 1);
    for (size_t i = 0; i < count - 1; i++) {
        size_t position = th_map_sorted(map, i + (i >= rank));
        keys_of(result)[i] = th_map_keys(map)[position];
        values_of(result)[i] = th_map_values(map)[position];
    }
    return result;
}
