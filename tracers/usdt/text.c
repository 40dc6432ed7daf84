#include "text.h"

#include <stdarg.h>

enum { DEEPEST = 1000 };

static const char *print(struct text *text, const char *format, ...)
{
    const int most = (int)sizeof text->bytes;
    va_list arguments;
    int length, end;

    va_start(arguments, format);
    length = enif_vsnprintf(text->bytes, sizeof text->bytes, format, arguments);
    va_end(arguments);
    if (length < 0)
        text->bytes[0] = 0;
    if (length < most)
        return text->bytes;
    for (end = most - 2; end > 0 && ((unsigned char)text->bytes[end] & 0xC0) == 0x80; end--)
        ;
    if ((unsigned char)text->bytes[end] < 0x80)
        end = most - 1; /* ends with a whole character */
    text->bytes[end] = 0;
    return text->bytes;
}

const char *text_of(struct text *text, ERL_NIF_TERM term)
{
    return print(text, "%#T", term);
}

const char *text_of_function(ErlNifEnv *env, struct text *text, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *parts;
    unsigned length;
    int arity;

    if (!enif_get_tuple(env, term, &arity, &parts) || arity != 3)
        return text_of(text, term);
    if (enif_get_list_length(env, parts[2], &length))
        arity = (int)length;
    else if (!enif_get_int(env, parts[2], &arity))
        return text_of(text, term);
    return print(text, "%#T:%#T/%d", parts[0], parts[1], arity);
}

/* --- Sizes ------------------------------------------------------------------------------------ */

static uint32_t words_in(ErlNifEnv *env, ERL_NIF_TERM term, int depth);

static uint32_t words_of_list(ErlNifEnv *env, ERL_NIF_TERM list, int depth)
{
    ERL_NIF_TERM head;
    uint32_t words = 0;

    while (enif_get_list_cell(env, list, &head, &list))
        words += 2 + words_in(env, head, depth + 1);
    return words + words_in(env, list, depth + 1); /* the tail of an improper list */
}

/* Counts the words as a BEAM stores up to 32 keys: the keys are a tuple of their own. */
static uint32_t words_of_map(ErlNifEnv *env, ERL_NIF_TERM map, int depth)
{
    ERL_NIF_TERM key, value;
    ErlNifMapIterator at;
    uint32_t words = 4;

    if (!enif_map_iterator_create(env, map, &at, ERL_NIF_MAP_ITERATOR_FIRST))
        return 0;
    for (; enif_map_iterator_get_pair(env, &at, &key, &value); enif_map_iterator_next(env, &at))
        words += 2 + words_in(env, key, depth + 1) + words_in(env, value, depth + 1);
    enif_map_iterator_destroy(env, &at);
    return words;
}

static uint32_t words_in(ErlNifEnv *env, ERL_NIF_TERM term, int depth)
{
    const ERL_NIF_TERM *parts;
    uint32_t words;
    double number;
    int arity;

    if (depth > DEEPEST)
        return 0;
    if (enif_is_list(env, term))
        return words_of_list(env, term, depth);
    if (enif_is_map(env, term))
        return words_of_map(env, term, depth);
    if (!enif_get_tuple(env, term, &arity, &parts))
        return enif_get_double(env, term, &number) ? 2 : 0;
    words = 1 + (uint32_t)arity;
    for (int i = 0; i < arity; i++)
        words += words_in(env, parts[i], depth + 1);
    return words;
}

uint32_t words_of(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return words_in(env, term, 0);
}
