/* Changed maps: the changes beside a table that is shared (map_internal.h). */
#include "compare.h"
#include "map.h"
#include "map_internal.h"

#include "host/base/memory.h"

#include <string.h>

/* The words of a changed map after its size; then come the changes: a key and its value each. */
enum { FLAT = 2, FLAT_OWNER = 3, TABLE = 5, TABLE_COUNT = 6, CHANGES = 7 };

enum { MOST_CHANGES = 16 };

/* A table, its first COUNT pairs, and the changes of them. */
struct changed {
    struct th_map_table *table;
    size_t count;
    const th_term *changes;
    size_t change_count;
};

static struct changed look_at(th_term map)
{
    const th_term *words = th_term_box(map);

    if (!th_map_is_changed(map))
        return (struct changed){th_map_table(map), words[1], NULL, 0};
    return (struct changed){(struct th_map_table *)(uintptr_t)words[TABLE], words[TABLE_COUNT],
                            words + CHANGES, (th_header_words(words[0]) + 1 - CHANGES) / 2};
}

/* Returns the number of the change of KEY, the number of all changes if KEY is not changed. */
static size_t find_change(const struct changed *map, th_term key)
{
    size_t i = 0;

    while (i < map->change_count && !th_identical(map->changes[2 * i], key))
        i++;
    return i;
}

const th_term *th_map_changes_find(th_term term, th_term key)
{
    struct changed map = look_at(term);
    size_t i = find_change(&map, key);
    ptrdiff_t found;

    if (i < map.change_count)
        return map.changes + 2 * i + 1;
    found = th_map_table_find(map.table, map.count, key);
    return found < 0 ? NULL : th_map_table_values(map.table) + found;
}

/* --- One table again -------------------------------------------------------------------------- */

/* TABLE is hashed and has room; KEY is plain. */
static void set_pair(struct th_map_table *table, th_term key, th_term value)
{
    ptrdiff_t found;

    th_map_table_add(table, key, value, &found);
    if (found >= 0)
        th_map_table_values(table)[found] = value;
}

/* Makes a table of MAP's pairs, with room for one more; see th_map_table_extend(). */
static struct th_map_table *merge_changes(th_env *env, const struct changed *map)
{
    struct th_map_table *table =
        th_map_table_extend(env, map->table, map->count, map->change_count + 1);

    for (size_t i = 0; i < map->change_count; i++)
        set_pair(table, map->changes[2 * i], map->changes[2 * i + 1]);
    return table;
}

/* Release: a thread that finds the table reads its pairs. */
struct th_map_table *th_map_changes_flat(th_term term)
{
    struct changed map = look_at(term);
    struct th_map_table *table = merge_changes(NULL, &map);
    th_term none = 0;

    if (__atomic_compare_exchange_n(&th_term_box(term)[FLAT], &none, (th_term)(uintptr_t)table,
                                    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return table;
    th_free(table);
    return (struct th_map_table *)(uintptr_t)none;
}

static void free_flat(struct th_offheap *owner)
{
    th_free((void *)(uintptr_t)((th_term *)owner - FLAT_OWNER)[FLAT]);
}

/* --- Changing --------------------------------------------------------------------------------- */

th_term th_map_changes_put(th_env *env, th_term term, th_term key, th_term value)
{
    struct changed map = look_at(term);
    size_t size = th_map_size(term), i = find_change(&map, key), count = map.change_count;
    th_term *words;

    if (i == count) {
        ptrdiff_t found = th_map_table_find(map.table, map.count, key);

        if (found == TH_NOT_PLAIN)
            return TH_NONE;
        size += found == TH_NOT_THERE;
        if (count == MOST_CHANGES) {
            struct th_map_table *table = merge_changes(env, &map);

            set_pair(table, key, value);
            return th_map_of_table(env, table, size);
        }
        count++;
    }
    words = th_env_take(env, CHANGES + 2 * count);
    words[0] = th_header(TH_MAP, CHANGES - 1 + 2 * count);
    words[1] = size;
    words[FLAT] = 0;
    words[TABLE] = (th_term)(uintptr_t)map.table;
    words[TABLE_COUNT] = map.count;
    for (size_t k = 0; k < 2 * map.change_count; k++)
        words[CHANGES + k] = map.changes[k];
    words[CHANGES + 2 * i] = key;
    words[CHANGES + 2 * i + 1] = value;
    th_env_hold(env, (struct th_offheap *)(words + FLAT_OWNER), free_flat);
    return th_boxed(words);
}
