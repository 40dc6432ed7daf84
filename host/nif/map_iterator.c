/*
 * Map iterators.
 *
 * idx is 1 for the first pair and `size` for the last, 0 before the first and size + 1 behind the
 * last; an iterator of an empty map is always both. The order is that in which the map's keys
 * stand: small maps sorted, as in a BEAM.
 */
#include "nif.h"

#include "host/runtime/runtime.h"

int enif_map_iterator_create(ErlNifEnv *env, ERL_NIF_TERM map, ErlNifMapIterator *iter,
                             ErlNifMapIteratorEntry entry)
{
    (void)env;
    if (!th_is_map(map) ||
        (entry != ERL_NIF_MAP_ITERATOR_FIRST && entry != ERL_NIF_MAP_ITERATOR_LAST))
        return th_check_misread(map, "enif_map_iterator_create");
    memset(iter, 0, sizeof *iter);
    iter->map = map;
    iter->size = th_map_size(map);
    iter->idx = entry == ERL_NIF_MAP_ITERATOR_FIRST ? 1 : iter->size;
    return 1;
}

void enif_map_iterator_destroy(ErlNifEnv *env, ErlNifMapIterator *iter)
{
    (void)env;
    iter->map = TH_NONE;
}

int enif_map_iterator_is_head(ErlNifEnv *env, ErlNifMapIterator *iter)
{
    (void)env;
    return iter->size == 0 || iter->idx == 0;
}

int enif_map_iterator_is_tail(ErlNifEnv *env, ErlNifMapIterator *iter)
{
    (void)env;
    return iter->size == 0 || iter->idx > iter->size;
}

int enif_map_iterator_next(ErlNifEnv *env, ErlNifMapIterator *iter)
{
    (void)env;
    if (iter->idx <= iter->size)
        iter->idx++;
    return iter->idx <= iter->size;
}

int enif_map_iterator_prev(ErlNifEnv *env, ErlNifMapIterator *iter)
{
    (void)env;
    if (iter->idx > 0)
        iter->idx--;
    return iter->idx > 0 && iter->size > 0;
}

int enif_map_iterator_get_pair(ErlNifEnv *env, ErlNifMapIterator *iter, ERL_NIF_TERM *key,
                               ERL_NIF_TERM *value)
{
    (void)env;
    if (iter->idx == 0 || iter->idx > iter->size)
        return 0;
    if (!th_is_map(iter->map))
        return th_check_misread(iter->map, "enif_map_iterator_get_pair");
    *key = th_map_keys(iter->map)[iter->idx - 1];
    *value = th_map_values(iter->map)[iter->idx - 1];
    return 1;
}
