/* Converts terms to JSON: they become Jansson's values, which Jansson prints. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

struct encoding {
    ErlNifEnv *env;
    long *steps;
    int level;
    bool marked; /* the printed text contains marks */
};

/* Returns a new value; NULL after an exception was raised, without steps left, or without memory.
 */
static json_t *value_of(struct encoding *e, ERL_NIF_TERM term);

static json_t *refuse(struct encoding *e, const char *reason, ERL_NIF_TERM term)
{
    enif_raise_exception(e->env, enif_make_tuple2(e->env, enif_make_atom(e->env, reason), term));
    return NULL;
}

/* --- Text ------------------------------------------------------------------------------------- */

struct text {
    const char *bytes;
    size_t size;
    char *own; /* freed with enif_free(); NULL: the bytes have another owner */
};

static struct text owned(char *bytes, size_t size)
{
    return (struct text){bytes, size, bytes};
}

/* Returns the text of a term for a string or a key; bytes are NULL if there is none. */
static struct text text_of(struct encoding *e, ERL_NIF_TERM term)
{
    ErlNifBinary bytes;
    size_t size = 0;
    char *name;

    if (enif_is_atom(e->env, term)) {
        name = atom_write(e->env, term, &size);
        return owned(name, size);
    }
    if (!enif_inspect_binary(e->env, term, &bytes))
        return (struct text){NULL, 0, NULL};
    return (struct text){bytes.size ? (char *)bytes.data : "", bytes.size, NULL};
}

/* Doubles each MARK. */
static void mark(struct encoding *e, struct text *text)
{
    char *doubled, *to;

    if (!text->bytes || !memchr(text->bytes, MARK, text->size))
        return;
    e->marked = true;
    doubled = to = enif_alloc(2 * text->size);
    for (size_t i = 0; i < text->size && doubled; i++) {
        if (text->bytes[i] == MARK)
            *to++ = MARK;
        *to++ = text->bytes[i];
    }
    enif_free(text->own);
    *text = owned(doubled, (size_t)(to - doubled));
}

static json_t *string_value(struct encoding *e, ERL_NIF_TERM term)
{
    struct text text = text_of(e, term);
    json_t *value;

    if (!text.bytes)
        return refuse(e, "unsupported_type", term);
    *e->steps -= (long)(text.size / 64);
    mark(e, &text);
    value = text.bytes ? json_stringn(text.bytes, text.size) : NULL;
    enif_free(text.own);
    return value ? value : refuse(e, "invalid_utf8", term);
}

static json_t *atom_value(struct encoding *e, ERL_NIF_TERM term)
{
    if (enif_is_identical(term, enif_make_atom(e->env, "null")))
        return json_null();
    if (enif_is_identical(term, enif_make_atom(e->env, "true")))
        return json_true();
    if (enif_is_identical(term, enif_make_atom(e->env, "false")))
        return json_false();
    return string_value(e, term);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Returns the digits of a number, in SMALL or owned. */
static struct text digits_of(struct encoding *e, ERL_NIF_TERM term, char small[FLOAT_TEXT])
{
    ErlNifSInt64 integer;
    double d;
    char *large;

    if (enif_get_int64(e->env, term, &integer)) {
        snprintf(small, FLOAT_TEXT, "%lld", (long long)integer);
    } else if (enif_get_double(e->env, term, &d)) {
        float_write(d, small);
        *e->steps -= 4;
    } else {
        large = integer_write(e->env, term, e->steps);
        return owned(large, large ? strlen(large) : 0);
    }
    return (struct text){small, strlen(small), NULL};
}

/* Returns a string that is printed as the number. */
static json_t *number_value(struct encoding *e, ERL_NIF_TERM term)
{
    char small[FLOAT_TEXT], *marked;
    struct text digits;
    ErlNifSInt64 integer;
    json_t *value = NULL;

    if (enif_get_int64(e->env, term, &integer))
        return json_integer(integer);
    digits = digits_of(e, term, small);
    if (!digits.bytes)
        return *e->steps < 0 ? NULL : refuse(e, "number_too_big", term);
    marked = enif_alloc(2 + digits.size);
    if (marked) {
        e->marked = true;
        marked[0] = MARK;
        marked[1] = MARK_NUMBER;
        memcpy(marked + 2, digits.bytes, digits.size);
        value = json_stringn_nocheck(marked, 2 + digits.size);
        enif_free(marked);
    }
    enif_free(digits.own);
    return value;
}

/* --- Lists and maps --------------------------------------------------------------------------- */

static json_t *array_value(struct encoding *e, ERL_NIF_TERM list)
{
    json_t *array = json_array(), *element;
    ERL_NIF_TERM head, rest = list;

    while (array && enif_get_list_cell(e->env, rest, &head, &rest)) {
        element = value_of(e, head);
        if (json_array_append_new(array, element) == 0)
            continue;
        json_decref(array);
        return NULL;
    }
    if (enif_is_empty_list(e->env, rest))
        return array;
    json_decref(array);
    return refuse(e, "unsupported_type", list);
}

/* Puts VALUE, which it takes over, under KEY; false on failure. */
static bool put(struct encoding *e, json_t *object, ERL_NIF_TERM key, json_t *value)
{
    char small[FLOAT_TEXT];
    bool number = enif_is_number(e->env, key), done;
    struct text text = number ? digits_of(e, key, small) : text_of(e, key);

    if (!text.bytes) {
        json_decref(value);
        if (*e->steps >= 0)
            refuse(e, number ? "number_too_big" : "unsupported_type", key);
        return false;
    }
    mark(e, &text);
    done = json_object_setn_new(object, text.bytes, text.size, value) == 0;
    enif_free(text.own);
    if (!done)
        refuse(e, "invalid_utf8", key);
    return done;
}

static json_t *object_value(struct encoding *e, ERL_NIF_TERM map)
{
    json_t *object = json_object(), *value;
    ErlNifMapIterator at;
    ERL_NIF_TERM key, term;
    size_t size;
    bool going = true;

    enif_map_iterator_create(e->env, map, &at, ERL_NIF_MAP_ITERATOR_FIRST);
    while (going && enif_map_iterator_get_pair(e->env, &at, &key, &term)) {
        value = value_of(e, term);
        going = value && put(e, object, key, value);
        enif_map_iterator_next(e->env, &at);
    }
    enif_map_iterator_destroy(e->env, &at);
    enif_get_map_size(e->env, map, &size);
    if (going && json_object_size(object) != size) {
        refuse(e, "duplicate_keys", map);
        going = false;
    }
    if (going)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *nested_value(struct encoding *e, ERL_NIF_TERM term,
                            json_t *(*make)(struct encoding *e, ERL_NIF_TERM term))
{
    json_t *value;

    if (e->level == MOST_LEVELS)
        return refuse(e, "too_deep", term);
    e->level++;
    value = make(e, term);
    e->level--;
    return value;
}

static json_t *value_of(struct encoding *e, ERL_NIF_TERM term)
{
    if (--*e->steps < 0)
        return NULL;
    switch (enif_term_type(e->env, term)) {
    case ERL_NIF_TERM_TYPE_ATOM:
        return atom_value(e, term);
    case ERL_NIF_TERM_TYPE_BITSTRING:
        return string_value(e, term);
    case ERL_NIF_TERM_TYPE_INTEGER:
    case ERL_NIF_TERM_TYPE_FLOAT:
        return number_value(e, term);
    case ERL_NIF_TERM_TYPE_LIST:
        return nested_value(e, term, array_value);
    case ERL_NIF_TERM_TYPE_MAP:
        return nested_value(e, term, object_value);
    default:
        return refuse(e, "unsupported_type", term);
    }
}

/* --- Printing --------------------------------------------------------------------------------- */

struct printed {
    ErlNifBinary bytes;
    size_t used;
};

static int append(const char *bytes, size_t size, void *data)
{
    struct printed *printed = data;
    size_t needed = printed->used + size;

    if (needed > printed->bytes.size && !enif_realloc_binary(&printed->bytes, 2 * needed))
        return -1;
    memcpy(printed->bytes.data + printed->used, bytes, size);
    printed->used = needed;
    return 0;
}

static bool print(struct encoding *e, const json_t *value, size_t flags, ERL_NIF_TERM *text)
{
    struct printed printed = {.used = 0};

    if (!enif_alloc_binary(128, &printed.bytes))
        return false;
    if (json_dump_callback(value, append, &printed, flags | JSON_ENCODE_ANY) != 0) {
        enif_release_binary(&printed.bytes);
        return false;
    }
    if (e->marked)
        printed.used = marks_take((char *)printed.bytes.data, printed.used);
    enif_realloc_binary(&printed.bytes, printed.used);
    *text = enif_make_binary(e->env, &printed.bytes);
    return true;
}

enum encoded encode_term(ErlNifEnv *env, ERL_NIF_TERM term, size_t flags, long *steps,
                         ERL_NIF_TERM *text)
{
    struct encoding e = {env, steps, 0, false};
    json_t *value = value_of(&e, term);
    bool done = value && print(&e, value, flags, text);

    json_decref(value);
    if (done)
        return ENCODE_DONE;
    if (enif_has_pending_exception(env, NULL))
        return ENCODE_RAISED;
    if (*steps < 0)
        return ENCODE_TOO_MUCH;
    enif_raise_exception(env, enif_make_atom(env, "no_memory"));
    return ENCODE_RAISED;
}
