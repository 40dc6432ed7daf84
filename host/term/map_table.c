/* The tables of large maps, and keys in ascending order (map_internal.h). */
#include "compare.h"
#include "map.h"
#include "map_internal.h"

#include "host/base/memory.h"

#include <string.h>
#include <sys/random.h>

enum { HEAD_WORDS = sizeof(struct th_map_table) / sizeof(th_term), LEAST_CELLS = 64 };

/* Random in each process, so that nobody can prepare keys that collide. Written before main(). */
static uint64_t salt, factor;

__attribute__((constructor(101))) static void choose_salt(void)
{
    uint64_t chosen[2] = {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u};

    if (getrandom(chosen, sizeof chosen, GRND_NONBLOCK) < 0)
        chosen[0] ^= (uint64_t)(uintptr_t)&chosen; /* too early for random numbers */
    salt = chosen[0];
    factor = chosen[1] | 1;
}

/* XORs both halves of a product: each bit of KEY affects all bits of the result. */
static inline uint64_t hash_word(uint64_t key)
{
    unsigned __int128 product = (unsigned __int128)(key ^ salt) * factor;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Sets *PLAIN to false if KEY is not plain; else leaves *PLAIN unchanged. */
static inline uint64_t hash_of(th_term key, bool *plain)
{
    if (__builtin_expect(th_is_immediate(key), 1))
        return hash_word(key);
    return hash_word(th_key_hash(key, plain));
}

/* --- Cells ------------------------------------------------------------------------------------ */

static uint32_t *cells_of(const struct th_map_table *table)
{
    return (uint32_t *)(table->words + 2 * table->capacity);
}

static void fill_cell(uint32_t *cell, size_t position)
{
    __atomic_store_n(cell, (uint32_t)(position + 1), __ATOMIC_RELAXED);
}

/* At most two of three cells are used. */
static size_t cells_for(size_t count)
{
    size_t cells = LEAST_CELLS;

    while (2 * cells < 3 * count)
        cells *= 2;
    return cells;
}

/* Returns the cell that holds KEY, or the free cell where the search ended. */
static inline uint32_t *map_table_find_cell(struct th_map_table *table, size_t count, th_term key,
                                            uint64_t hash, ptrdiff_t *found)
{
    uint32_t *cells = cells_of(table);

    for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
        /* Relaxed: a reader ignores pairs that are added while it reads. */
        size_t position = (size_t)__atomic_load_n(&cells[i], __ATOMIC_RELAXED) - 1;
        *found = (ptrdiff_t)position;
        if (*found == TH_NOT_THERE)
            return &cells[i];
        if (position < count && th_identical(table->words[position], key))
            return &cells[i];
    }
}

/* --- Tables ----------------------------------------------------------------------------------- */

static size_t map_table_words_of(size_t capacity, size_t numbers)
{
    return HEAD_WORDS + 2 * capacity + (numbers + 1) / 2;
}

/* Makes a table with room for NUMBERS cells, if HASHED, or positions. The caller fills it in. */
static struct th_map_table *new_table(th_env *env, size_t capacity, size_t numbers, bool hashed)
{
    size_t size = map_table_words_of(capacity, numbers);
    th_term *words = env ? th_env_take(env, size) : th_alloc(size * sizeof *words);
    struct th_map_table *table = (struct th_map_table *)words;

    table->used = 0;
    table->capacity = capacity;
    table->mask = hashed ? numbers - 1 : 0;
    words[size - 1] = 0; /* its second half may be unused */
    return table;
}

struct th_map_table *th_map_table_hashed(th_env *env, size_t count)
{
    struct th_map_table *table = new_table(env, count, cells_for(count), true);

    memset(cells_of(table), 0, (table->mask + 1) * sizeof(uint32_t));
    return table;
}

struct th_map_table *th_map_table_sorted(th_env *env, size_t count)
{
    struct th_map_table *table = new_table(env, count, count, false);

    table->used = count;
    return table;
}

ptrdiff_t th_map_table_find(struct th_map_table *table, size_t count, th_term key)
{
    bool plain = true;
    uint64_t hash = hash_of(key, &plain);
    ptrdiff_t found = TH_NOT_PLAIN;

    if (plain)
        map_table_find_cell(table, count, key, hash, &found);
    return found;
}

bool th_map_table_add(struct th_map_table *table, th_term key, th_term value, ptrdiff_t *found)
{
    bool plain = true;
    uint64_t hash = hash_of(key, &plain);
    uint32_t *cell;

    if (!plain)
        return false;
    cell = map_table_find_cell(table, table->used, key, hash, found);
    if (*found != TH_NOT_THERE)
        return true;
    table->words[table->used] = key;
    th_map_table_values(table)[table->used] = value;
    fill_cell(cell, table->used++);
    return true;
}

/* ENV's own thread surely owns only the chunk in use. A table in an older chunk moves to that
 * chunk, as each chunk is larger than the one before. */
bool th_map_table_is_growing(const th_env *env, const struct th_map_table *table, size_t count)
{
    uintptr_t place = (uintptr_t)table;

    return count == table->used && place >= (uintptr_t)env->bottom && place < (uintptr_t)env->top;
}

/* Fills the cells of TO, which has the first COUNT pairs of FROM. */
static void fill_cells(struct th_map_table *to, struct th_map_table *from, size_t count)
{
    uint32_t *cells = cells_of(to);
    bool plain = true;

    if (to->mask == from->mask && count == from->used) {
        memcpy(cells, cells_of(from), (to->mask + 1) * sizeof(uint32_t));
        return;
    }
    memset(cells, 0, (to->mask + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        size_t k = hash_of(to->words[i], &plain) & to->mask;
        while (cells[k] != 0)
            k = (k + 1) & to->mask;
        fill_cell(&cells[k], i);
    }
}

static void copy_pairs(struct th_map_table *to, struct th_map_table *from, size_t count)
{
    memcpy(to->words, from->words, count * sizeof(th_term));
    memcpy(th_map_table_values(to), th_map_table_values(from), count * sizeof(th_term));
    to->used = count;
}

struct th_map_table *th_map_table_extend(th_env *env, struct th_map_table *table, size_t count,
                                         size_t more)
{
    size_t cells = cells_for(count + more);
    struct th_map_table *larger = new_table(env, 2 * cells / 3, cells, true);

    copy_pairs(larger, table, count);
    fill_cells(larger, table, count);
    return larger;
}

static size_t numbers_for(const struct th_map_table *table, size_t count)
{
    return th_map_table_is_hashed(table) ? cells_for(count) : count;
}

size_t th_map_table_copy_words(const struct th_map_table *table, size_t count)
{
    return map_table_words_of(count, numbers_for(table, count));
}

struct th_map_table *th_map_table_copy(th_env *env, struct th_map_table *table, size_t count)
{
    bool hashed = th_map_table_is_hashed(table);
    struct th_map_table *copy = new_table(env, count, numbers_for(table, count), hashed);

    copy_pairs(copy, table, count);
    if (hashed)
        fill_cells(copy, table, count);
    else
        memcpy(th_map_table_order(copy), th_map_table_order(table), count * sizeof(uint32_t));
    return copy;
}

/* --- Order ------------------------------------------------------------------------------------ */

/* Merges the runs FROM[0..left) and FROM[left..count) into TO; of equal keys, the left one comes
 * first. True if there are equal keys. */
static bool merge(const th_term *keys, const uint32_t *from, size_t left, size_t count,
                  uint32_t *to)
{
    size_t i = 0, j = left;
    bool twice = false;

    while (i < left && j < count) {
        int order = th_compare_exact(keys[from[i]], keys[from[j]]);
        twice |= order == 0;
        *to++ = order <= 0 ? from[i++] : from[j++];
    }
    memcpy(to, from + i, (left - i) * sizeof *to);
    memcpy(to + (left - i), from + j, (count - j) * sizeof *to);
    return twice;
}

bool th_sort_keys(const th_term *keys, size_t count, uint32_t *order, uint32_t *spare)
{
    uint32_t *from = order;
    uint32_t *to = spare;
    bool twice = false; /* identical keys end as neighbours, so they are compared */

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2) {
        uint32_t *swap = from;
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t rest = count - i;
            twice |= merge(keys, from + i, rest < width ? rest : width,
                           rest < 2 * width ? rest : 2 * width, to + i);
        }
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
    return twice;
}

const uint32_t *th_map_order(th_term map, struct th_sorted_keys **made)
{
    size_t count = th_map_size(map);
    struct th_sorted_keys *sorted;

    if (count <= TH_MAP_SMALL)
        return NULL;
    if (!th_map_table_is_hashed(th_map_table(map)))
        return th_map_table_order(th_map_table(map));
    sorted = th_alloc(sizeof *sorted + 2 * count * sizeof sorted->positions[0]);
    th_sort_keys(th_map_keys(map), count, sorted->positions, sorted->positions + count);
    sorted->next = *made;
    *made = sorted;
    return sorted->positions;
}

void th_sorted_keys_free(struct th_sorted_keys *made)
{
    while (made) {
        struct th_sorted_keys *next = made->next;
        th_free(made);
        made = next;
    }
}
