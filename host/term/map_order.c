#include "map_internal.h"

#include "compare.h"
#include "map.h"
#include "host/base/base.h"

#include <string.h>

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

bool th_sort_keys(const th_term *keys, size_t count, uint32_t *order, uint32_t *spare)
{
    struct sorting sorting = {keys, false};
    uint32_t *from = order;
    uint32_t *to = spare;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2) {
        uint32_t *swap = from;
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t rest = count - i;
            merge(&sorting, from + i, rest < width ? rest : width,
                  rest < 2 * width ? rest : 2 * width, to + i);
        }
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
    return sorting.twice;
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
