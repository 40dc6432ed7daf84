/* Converts JSON to terms: Jansson parses the text, its values become terms. */
#include "parts.h"

#include <string.h>

struct decoding {
    ErlNifEnv *env;
    bool marked;
};

/* Both return 0 if there is no memory. They recurse at most 2048 levels on the C stack, the limit
 * of Jansson's parser. */
static ERL_NIF_TERM term_of(const struct decoding *d, const json_t *value);

/* Makes a string without its marks. */
static ERL_NIF_TERM unmarked(const struct decoding *d, const char *text, size_t size)
{
    size_t left = 0;
    ERL_NIF_TERM term;
    unsigned char *bytes;

    for (size_t i = 0; i < size; i++, left++)
        i += text[i] == MARK;
    bytes = enif_make_new_binary(d->env, left, &term);
    for (size_t i = 0; i < size; i++) {
        bool marked = text[i] == MARK && ++i;
        *bytes++ = marked && text[i] == MARK_NUL ? 0 : (unsigned char)text[i];
    }
    return term;
}

static ERL_NIF_TERM binary_of(const struct decoding *d, const char *text, size_t size)
{
    ERL_NIF_TERM term;
    unsigned char *bytes;

    if (d->marked && memchr(text, MARK, size))
        return unmarked(d, text, size);
    bytes = enif_make_new_binary(d->env, size, &term);
    if (size)
        memcpy(bytes, text, size);
    return term;
}

static ERL_NIF_TERM string_term(const struct decoding *d, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t size = json_string_length(value);

    if (d->marked && size > 2 && text[0] == MARK && text[1] == MARK_NUMBER)
        return integer_read(d->env, text + 2, size - 2);
    return binary_of(d, text, size);
}

static ERL_NIF_TERM array_term(const struct decoding *d, const json_t *array)
{
    ERL_NIF_TERM list = enif_make_list(d->env, 0);

    for (size_t i = json_array_size(array); i-- > 0;) {
        ERL_NIF_TERM element = term_of(d, json_array_get(array, i));
        if (!element)
            return 0;
        list = enif_make_list_cell(d->env, element, list);
    }
    return list;
}

static ERL_NIF_TERM object_term(const struct decoding *d, json_t *object)
{
    size_t size = json_object_size(object), i = 0;
    ERL_NIF_TERM *keys = enif_alloc(2 * size * sizeof *keys + 1), map = 0;

    if (!keys)
        return 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at), i++) {
        keys[i] = binary_of(d, json_object_iter_key(at), json_object_iter_key_len(at));
        keys[size + i] = term_of(d, json_object_iter_value(at));
        if (!keys[size + i])
            break;
    }
    if (i == size)
        enif_make_map_from_arrays(d->env, keys, keys + size, size, &map);
    enif_free(keys);
    return map;
}

static ERL_NIF_TERM term_of(const struct decoding *d, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return object_term(d, (json_t *)value);
    case JSON_ARRAY:
        return array_term(d, value);
    case JSON_STRING:
        return string_term(d, value);
    case JSON_INTEGER:
        return enif_make_int64(d->env, json_integer_value(value));
    case JSON_REAL:
        return enif_make_double(d->env, json_real_value(value));
    case JSON_TRUE:
        return enif_make_atom(d->env, "true");
    case JSON_FALSE:
        return enif_make_atom(d->env, "false");
    case JSON_NULL:
        break;
    }
    return enif_make_atom(d->env, "null");
}

/* --- Errors ----------------------------------------------------------------------------------- */

static ERL_NIF_TERM raise_at(ErlNifEnv *env, size_t position, const char *reason)
{
    enif_raise_exception(
        env, enif_make_tuple2(env, enif_make_uint64(env, position), enif_make_atom(env, reason)));
    return 0;
}

static const char *reason_of(const json_error_t *error)
{
    switch (json_error_code(error)) {
    case json_error_premature_end_of_input:
        return "unexpected_end";
    case json_error_end_of_input_expected:
        return "trailing_data";
    case json_error_invalid_utf8:
        return "invalid_utf8";
    case json_error_numeric_overflow:
        return "number_too_big";
    case json_error_stack_overflow:
        return "too_deep";
    case json_error_out_of_memory:
        return "no_memory";
    default:
        return "invalid_syntax";
    }
}

static json_t *parse(const char *text, size_t size, json_error_t *error)
{
    return json_loadb(size ? text : "", size, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

static json_t *parse_marked(const char *text, size_t size, json_error_t *error)
{
    size_t marked_size;
    char *marked = marks_put(text, size, &marked_size);
    json_t *value;

    if (!marked)
        return NULL;
    value = parse(marked, marked_size, error);
    enif_free(marked);
    if (!value && error->position >= 0)
        error->position = (int)marks_place(text, size, (size_t)error->position);
    return value;
}

static json_t *parse_any(struct decoding *d, const char *text, size_t size, json_error_t *error)
{
    json_t *value = parse(text, size, error);

    if (!value && (json_error_code(error) == json_error_numeric_overflow ||
                   json_error_code(error) == json_error_null_byte_in_key)) {
        d->marked = true;
        value = parse_marked(text, size, error);
    }
    return value;
}

/* JSON has no byte 0, but Jansson ignores one behind a number: so it gets only the text before the
 * byte. */
ERL_NIF_TERM decode_text(ErlNifEnv *env, const char *text, size_t size)
{
    struct decoding d = {env, false};
    const char *zero = size ? memchr(text, 0, size) : NULL;
    size_t read = zero ? (size_t)(zero - text) : size;
    json_error_t error;
    json_t *value = parse_any(&d, text, read, &error);
    ERL_NIF_TERM term;

    if (!value && !(zero && json_error_code(&error) == json_error_premature_end_of_input))
        return raise_at(env, (size_t)error.position, reason_of(&error));
    term = value && !zero ? term_of(&d, value) : 0;
    json_decref(value);
    if (zero)
        return raise_at(env, read + 1, "invalid_syntax");
    return term ? term : raise_at(env, size, "no_memory");
}
