/* Maps and their iterators. */
#include "host/check/check.h"
#include "host/term/map.h"
#include "plugin_api/erl_nif.h"

/* --- Maps ------------------------------------------------------------------------------------- */

int enif_is_map(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_map(term);
}

int enif_get_map_size(ErlNifEnv *env, ERL_NIF_TERM term, size_t *size)
{
    (void)env;
    if (!th_is_map(term))
        return th_check_misread_boxed(term, "enif_get_map_size");
    *size = th_map_size(term);
    return 1;
}

int enif_get_map_value(ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
    const th_term *found;

    (void)env;
    if (__builtin_expect(!th_is_map(map), 0))
        return th_check_misread_boxed(map, "enif_get_map_value");
    found = th_map_find(map, key);
    if (!found)
        return th_check_misread_boxed(key, "enif_get_map_value");
    *value = *found;
    return 1;
}

static __attribute__((cold, noinline)) th_term make_new_map_slowly(ErlNifEnv *env)
{
    return th_make_new_map(env);
}

ERL_NIF_TERM enif_make_new_map(ErlNifEnv *env)
{
    return th_env_has(env, 2) ? th_make_new_map(env) : make_new_map_slowly(env);
}

int enif_make_map_put(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value,
                      ERL_NIF_TERM *map_out)
{
    if (!th_is_map(map_in))
        return th_check_misread(map_in, "enif_make_map_put");
    *map_out = th_map_put(env, map_in, th_check_part(key, "enif_make_map_put"),
                          th_check_part(value, "enif_make_map_put"));
    return 1;
}

int enif_make_map_update(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key, ERL_NIF_TERM value,
                         ERL_NIF_TERM *map_out)
{
    const th_term *found = th_is_map(map_in) ? th_map_find(map_in, key) : NULL;

    if (!found)
        return th_check_misread(map_in, "enif_make_map_update") ||
               th_check_misread(key, "enif_make_map_update");
    *map_out =
        th_map_replace(env, map_in, key, found, th_check_part(value, "enif_make_map_update"));
    return 1;
}

int enif_make_map_remove(ErlNifEnv *env, ERL_NIF_TERM map_in, ERL_NIF_TERM key,
                         ERL_NIF_TERM *map_out)
{
    if (!th_is_map(map_in))
        return th_check_misread(map_in, "enif_make_map_remove");
    *map_out = th_map_remove(env, map_in, th_check_part(key, "enif_make_map_remove"));
    return 1;
}

/* Checks COUNT terms that are put into a map, and returns a copy of them. If the checker is off,
 * returns TERMS. */
static const th_term *parts(th_env *env, const th_term *terms, size_t count)
{
    th_term *copy;

    if (!th_check_on() || count == 0)
        return terms;
    copy = th_env_take(env, count);
    memcpy(copy, terms, count * sizeof *copy);
    th_check_parts(copy, count, 1, "enif_make_map_from_arrays");
    return copy;
}

int enif_make_map_from_arrays(ErlNifEnv *env, ERL_NIF_TERM keys[], ERL_NIF_TERM values[],
                              size_t cnt, ERL_NIF_TERM *map_out)
{
    th_term map = th_make_map(env, parts(env, keys, cnt), parts(env, values, cnt), cnt, false);

    if (map == TH_NONE)
        return 0;
    *map_out = map;
    return 1;
}

/* --- Map iterators ---------------------------------------------------------------------------- */

/* idx is 1 for the first pair, `size` for the last, 0 before the first and size + 1 behind the
 * last; an iterator of an empty map is both before and behind. The order is that of the map's keys:
 * in a small map they are sorted, as in a BEAM. */

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
