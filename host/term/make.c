/* Lists, tuples and funs. Numbers, bit strings and identifiers have files of their own. */
#include "make.h"

th_term th_make_list(th_env *env, const th_term *elements, size_t count)
{
    th_term *cells;

    if (count == 0)
        return TH_NIL;
    cells = th_env_take(env, 2 * count);
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = elements[i];
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    return th_listed(cells);
}

th_term th_make_latin1_string(th_env *env, const unsigned char *bytes, size_t count)
{
    th_term *cells;

    if (count == 0)
        return TH_NIL;
    cells = th_env_take(env, 2 * count);
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = th_small(bytes[i]);
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    return th_listed(cells);
}

bool th_get_list_length(th_term t, size_t *length)
{
    size_t count = 0;

    for (; th_is_list(t); t = th_cell(t)[1])
        count++;
    if (t != TH_NIL)
        return false;
    *length = count;
    return true;
}

th_term th_make_tuple(th_env *env, const th_term *elements, size_t count)
{
    th_term *place;
    th_term t = th_make_tuple_space(env, count, &place);

    if (count > 0)
        memcpy(place, elements, count * sizeof *elements);
    return t;
}

/* The words of a fun after its header. */
enum {
    FUN_MODULE = 1,
    FUN_NUMBERS = 2,
    FUN_UNIQUE = 3,
    FUN_OLD_INDEX = 5,
    FUN_OLD_UNIQUE = 6,
    FUN_CREATOR = 7,
    FUN_FREE = 8
};

th_term th_make_fun(th_env *env, const struct th_fun_parts *parts)
{
    th_term *words = th_env_take(env, FUN_FREE + parts->free_count);

    words[0] = th_header(TH_FUN, FUN_FREE - 1 + parts->free_count);
    words[FUN_MODULE] = parts->module;
    words[FUN_NUMBERS] = parts->arity | (uint64_t)parts->index << 32;
    memcpy(words + FUN_UNIQUE, parts->unique, sizeof parts->unique);
    words[FUN_OLD_INDEX] = parts->old_index;
    words[FUN_OLD_UNIQUE] = parts->old_unique;
    words[FUN_CREATOR] = parts->creator;
    if (parts->free_count > 0)
        memcpy(words + FUN_FREE, parts->free, parts->free_count * sizeof *words);
    return th_boxed(words);
}

bool th_get_fun(th_term t, struct th_fun_parts *parts)
{
    const th_term *words;

    if (!th_term_is(t, TH_FUN))
        return false;
    words = th_term_box(t);
    parts->module = words[FUN_MODULE];
    parts->arity = (uint32_t)words[FUN_NUMBERS];
    parts->index = (uint32_t)(words[FUN_NUMBERS] >> 32);
    memcpy(parts->unique, words + FUN_UNIQUE, sizeof parts->unique);
    parts->old_index = words[FUN_OLD_INDEX];
    parts->old_unique = words[FUN_OLD_UNIQUE];
    parts->creator = words[FUN_CREATOR];
    parts->free = words + FUN_FREE;
    parts->free_count = th_header_words(words[0]) - (FUN_FREE - 1);
    return true;
}

th_term th_make_export(th_env *env, th_term module, th_term function, uint32_t arity)
{
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(TH_EXPORT, 3);
    words[1] = module;
    words[2] = function;
    words[3] = th_small(arity);
    return th_boxed(words);
}

bool th_get_export(th_term t, th_term *module, th_term *function, uint32_t *arity)
{
    if (!th_term_is(t, TH_EXPORT))
        return false;
    *module = th_term_box(t)[1];
    *function = th_term_box(t)[2];
    *arity = (uint32_t)th_small_value(th_term_box(t)[3]);
    return true;
}

bool th_is_fun_of(th_term t, th_term arity)
{
    th_term module, function;
    struct th_fun_parts fun;
    uint32_t takes;

    if (th_get_fun(t, &fun))
        takes = fun.arity;
    else if (!th_get_export(t, &module, &function, &takes))
        return false;
    return arity == th_small(takes);
}
