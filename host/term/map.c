/*
 * Maps: made at once from pairs, or by one change after the other.
 *
 * Small maps are runs of words, sorted on the stack. The pairs of large maps lie in tables
 * (map_internal.h): hashed, unless a key is not plain. No function calls malloc().
 */
#include "map.h"

#include "atom.h"
#include "compare.h"
#include "map_internal.h"

#include <string.h>

/* --- Small maps ------------------------------------------------------------------------------- */

/* As th_compare_exact(); atoms, the most frequent keys, are compared without a call. */
static inline int compare_keys(th_term a, th_term b)
{
    return th_is_atom(a) && th_is_atom(b) ? th_atom_compare(a, b) : th_compare_exact(a, b);
}

/* Returns the rank, among COUNT sorted keys, of KEY or of the first key above KEY. ORDER has the
 * keys' positions; NULL: the keys lie in order. */
static size_t find_rank(const th_term *keys, const uint32_t *order, size_t count, th_term key,
                        bool *found)
{
    size_t low = 0;
    size_t high = count;

    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int compared = compare_keys(key, keys[order ? order[middle] : middle]);
        if (compared > 0)
            low = middle + 1;
        else
            high = middle;
        *found = compared == 0;
    }
    return *found ? high : low;
}

static th_term new_small(th_env *env, size_t count)
{
    th_term *words = th_env_take(env, 2 + 2 * count);

    words[0] = th_header(TH_MAP, 1 + 2 * count);
    words[1] = count;
    return th_boxed(words);
}

/* For the few words of a small map, a loop is faster than a call of memcpy(). */
static inline void copy_words(th_term *to, const th_term *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

static th_term small_in_order(th_env *env, const th_term *keys, const th_term *values, size_t count)
{
    th_term map = new_small(env, count);
    th_term *to = th_term_box(map) + 2;

    copy_words(to, keys, count);
    copy_words(to + count, values, count);
    return map;
}

/* Sorts by insertion: the keys often come in order, or nearly. */
static th_term make_small(th_env *env, const th_term *keys, const th_term *values, size_t count,
                          bool last_wins)
{
    th_term sorted[2][TH_MAP_SMALL];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t rank = used;
        bool found = false;

        if (used > 0 && compare_keys(sorted[0][used - 1], keys[i]) >= 0)
            rank = find_rank(sorted[0], NULL, used, keys[i], &found);
        if (found && !last_wins)
            return TH_NONE;
        if (!found) {
            for (size_t k = used++; k > rank; k--) {
                sorted[0][k] = sorted[0][k - 1];
                sorted[1][k] = sorted[1][k - 1];
            }
            sorted[0][rank] = keys[i];
        }
        sorted[1][rank] = values[i];
    }
    return small_in_order(env, sorted[0], sorted[1], used);
}

/* --- Large maps ------------------------------------------------------------------------------- */

th_term th_map_of_table(th_env *env, struct th_map_table *table, size_t count)
{
    th_term *words = th_env_take(env, 3);

    words[0] = th_header(TH_MAP, 2);
    words[1] = count;
    words[2] = (th_term)(uintptr_t)table;
    return th_boxed(words);
}

/*
 * Makes a map where keys come twice: SOURCE gets, for each key that is kept, the position of the
 * value that wins; then the kept pairs are moved together and become a map.
 */
static th_term make_last(th_env *env, const struct th_map_table *table, const th_term *values,
                         const uint32_t *order)
{
    size_t count = table->used;
    th_term *kept = th_env_take(env, 2 * count);
    uint32_t *source = (uint32_t *)th_env_take(env, count / 2 + 1);
    size_t used = 0;
    size_t i = 0;

    memset(source, 0xFF, count * sizeof *source);
    while (i < count) {
        size_t first = order[i];
        do
            source[first] = order[i++];
        while (i < count && th_identical(table->words[first], table->words[order[i]]));
    }
    for (i = 0; i < count; i++)
        if (source[i] != UINT32_MAX) {
            kept[used] = table->words[i];
            kept[count + used++] = values[source[i]];
        }
    return th_make_map(env, kept, kept + count, used, true);
}

/* For keys that are not plain. */
static th_term make_sorted(th_env *env, const th_term *keys, const th_term *values, size_t count,
                           bool last_wins)
{
    struct th_map_table *table = th_map_table_sorted(env, count);
    uint32_t *order = th_map_table_order(table);
    th_term *spare = th_env_take(env, (count + 1) / 2);

    memcpy(table->words, keys, count * sizeof *keys);
    memcpy(th_map_table_values(table), values, count * sizeof *values);
    if (!th_sort_keys(keys, count, order, (uint32_t *)spare)) {
        env->top = spare;
        return th_map_of_table(env, table, count);
    }
    return last_wins ? make_last(env, table, values, order) : TH_NONE;
}

static th_term make_large(th_env *env, const th_term *keys, const th_term *values, size_t count,
                          bool last_wins)
{
    struct th_map_table *table = th_map_table_hashed(env, count);
    ptrdiff_t found;

    for (size_t i = 0; i < count; i++) {
        if (!th_map_table_add(table, keys[i], values[i], &found))
            return make_sorted(env, keys, values, count, last_wins);
        if (found == TH_NOT_THERE)
            continue;
        if (!last_wins)
            return TH_NONE;
        th_map_table_values(table)[found] = values[i];
    }
    if (table->used <= TH_MAP_SMALL)
        return make_small(env, table->words, th_map_table_values(table), table->used, true);
    return th_map_of_table(env, table, table->used);
}

/*
 * A table takes at most 3.5 words a pair, or 2.5 if it is sorted, and 40 more. If a key is not
 * plain, the table of make_large() is wasted; then make_sorted() takes 3 words a pair, and
 * make_last() takes 2.5 and starts again.
 */
size_t th_map_room(const th_term *keys, size_t count)
{
    if (count <= TH_MAP_SMALL)
        return 2 + 2 * count;
    for (size_t i = 0; i < count; i++)
        if (!th_is_immediate(keys[i]))
            return 16 * count + 256;
    return 4 * count + 128;
}

th_term th_make_map(th_env *env, const th_term *keys, const th_term *values, size_t count,
                    bool last_wins)
{
    if (count <= TH_MAP_SMALL)
        return make_small(env, keys, values, count, last_wins);
    return count <= UINT32_MAX ? make_large(env, keys, values, count, last_wins) : TH_NONE;
}

/* --- Looking up ------------------------------------------------------------------------------- */

/* Returns the position of KEY in a large map; below 0: MAP lacks KEY. */
static ptrdiff_t find_large(th_term map, th_term key)
{
    struct th_map_table *table = th_map_table(map);
    const uint32_t *order;
    size_t rank;
    bool found;

    if (__builtin_expect(th_map_table_is_hashed(table), 1))
        return th_map_table_find(table, th_map_size(map), key);
    order = th_map_table_order(table);
    rank = find_rank(table->words, order, th_map_size(map), key, &found);
    return found ? (ptrdiff_t)order[rank] : TH_NOT_THERE;
}

const th_term *th_map_find_any(th_term map, th_term key)
{
    const th_term *keys = th_term_box(map) + 2;
    size_t count = th_map_size(map);
    ptrdiff_t large;

    if (count > TH_MAP_SMALL && th_map_is_changed(map))
        return th_map_changes_find(map, key);
    if (count > TH_MAP_SMALL) {
        large = find_large(map, key);
        return large < 0 ? NULL : th_map_values(map) + large;
    }
    for (size_t i = 0; i < count; i++)
        if (th_identical(keys[i], key))
            return keys + count + i;
    return NULL;
}

/* --- Changing --------------------------------------------------------------------------------- */

/* Copies COUNT words without the word at SKIP. */
static void copy_without(th_term *to, const th_term *from, size_t count, size_t skip)
{
    copy_words(to, from, skip);
    copy_words(to + skip, from + skip + 1, count - skip - 1);
}

/* Copies COUNT words and inserts WORD at position AT. */
static void copy_with(th_term *to, const th_term *from, size_t count, size_t at, th_term word)
{
    copy_words(to, from, at);
    to[at] = word;
    copy_words(to + at + 1, from + at, count - at);
}

/* Makes a map with one pair more, as if from pairs. */
static th_term make_with(th_env *env, th_term map, th_term key, th_term value)
{
    size_t count = th_map_size(map);
    th_term *pairs = th_env_take(env, 2 * (count + 1));

    copy_with(pairs, th_map_keys(map), count, count, key);
    copy_with(pairs + count + 1, th_map_values(map), count, count, value);
    return th_make_map(env, pairs, pairs + count + 1, count + 1, false);
}

/* Called last, so that the usual way saves few registers. */
static __attribute__((noinline)) th_term replace_slowly(th_env *env, th_term map, th_term key,
                                                        const th_term *found, th_term value)
{
    if (th_map_size(map) > TH_MAP_SMALL)
        return th_map_put(env, map, key, value);
    th_env_reserve(env, 2 + 2 * th_map_size(map));
    return th_map_replace(env, map, key, found, value);
}

th_term th_map_replace(th_env *env, th_term map, th_term key, const th_term *found, th_term value)
{
    const th_term *from = th_term_box(map);
    size_t count = th_map_size(map), words = 2 + 2 * count;
    th_term *to;

    if (count > TH_MAP_SMALL || !th_env_has(env, words))
        return replace_slowly(env, map, key, found, value);
    to = th_env_take(env, words);
    copy_words(to, from, words);
    to[found - from] = value;
    return th_boxed(to);
}

static th_term put_small(th_env *env, th_term map, th_term key, th_term value)
{
    const th_term *from = th_term_box(map) + 2, *there = th_map_find(map, key);
    size_t count = th_map_size(map), rank;
    th_term result, *to;
    bool found;

    if (there)
        return th_map_replace(env, map, key, there, value);
    if (count == TH_MAP_SMALL)
        return make_with(env, map, key, value);
    rank = find_rank(from, NULL, count, key, &found);
    result = new_small(env, count + 1);
    to = th_term_box(result) + 2;
    copy_with(to, from, count, rank, key);
    copy_with(to + count + 1, from + count, count, rank, value);
    return result;
}

/* Copies the sorted table of MAP, with KEY set to VALUE. */
static th_term put_sorted(th_env *env, th_term map, th_term key, th_term value)
{
    struct th_map_table *table = th_map_table(map);
    const uint32_t *order = th_map_table_order(table);
    size_t count = th_map_size(map), rank;
    bool there;

    rank = find_rank(table->words, order, count, key, &there);
    if (there) {
        table = th_map_table_copy(env, table, count);
        th_map_table_values(table)[order[rank]] = value;
        return th_map_of_table(env, table, count);
    }
    table = th_map_table_sorted(env, count + 1);
    copy_with(table->words, th_map_keys(map), count, count, key);
    copy_with(th_map_table_values(table), th_map_values(map), count, count, value);
    for (size_t i = 0; i < count; i++)
        th_map_table_order(table)[i + (i >= rank)] = order[i];
    th_map_table_order(table)[rank] = (uint32_t)count;
    return th_map_of_table(env, table, count + 1);
}

/* Adds a new key to a table that grows with MAP; other changes are recorded. */
static th_term put_hashed(th_env *env, th_term map, th_term key, th_term value)
{
    struct th_map_table *table = th_map_is_changed(map) ? NULL : th_map_table(map);
    size_t count = th_map_size(map);
    th_term result;
    ptrdiff_t found;

    if (table && th_map_table_is_growing(env, table, count)) {
        if (count == table->capacity && th_map_table_find(table, count, key) == TH_NOT_THERE)
            table = th_map_table_extend(env, table, count, 1);
        if (count < table->capacity && th_map_table_add(table, key, value, &found) &&
            found == TH_NOT_THERE)
            return th_map_of_table(env, table, count + 1);
    }
    result = th_map_changes_put(env, map, key, value);
    return result == TH_NONE ? make_with(env, map, key, value) : result;
}

th_term th_map_put(th_env *env, th_term map, th_term key, th_term value)
{
    if (th_map_size(map) <= TH_MAP_SMALL)
        return put_small(env, map, key, value);
    if (!th_map_is_changed(map) && !th_map_table_is_hashed(th_map_table(map)))
        return put_sorted(env, map, key, value);
    return put_hashed(env, map, key, value);
}

static __attribute__((noinline)) th_term remove_slowly(th_env *env, th_term map, th_term key)
{
    size_t count = th_map_size(map);
    ptrdiff_t found;
    th_term *pairs;

    if (count <= TH_MAP_SMALL) {
        th_env_reserve(env, 2 * count);
        return th_map_remove(env, map, key);
    }
    found = find_large(map, key);
    if (found < 0)
        return map;
    pairs = th_env_take(env, 2 * (count - 1));
    copy_without(pairs, th_map_keys(map), count, (size_t)found);
    copy_without(pairs + count - 1, th_map_values(map), count, (size_t)found);
    return th_make_map(env, pairs, pairs + count - 1, count - 1, false);
}

th_term th_map_remove(th_env *env, th_term map, th_term key)
{
    const th_term *from = th_term_box(map) + 2, *found;
    size_t count = th_map_size(map), position;
    th_term *to;

    if (count > TH_MAP_SMALL || !th_env_has(env, 2 * count))
        return remove_slowly(env, map, key);
    found = th_map_find(map, key);
    if (!found)
        return map;
    position = (size_t)(found - (from + count));
    to = th_env_take(env, 2 * count);
    to[0] = th_header(TH_MAP, 2 * count - 1);
    to[1] = count - 1;
    copy_words(to + 2, from, position);
    /* the keys behind KEY and the values before its value are neighbours, here and there */
    copy_words(to + 2 + position, from + position + 1, count - 1);
    copy_words(to + 1 + count + position, from + count + position + 1, count - position - 1);
    return th_boxed(to);
}
