/*
 * Terms as JSON. Recursive, since Jansson reads no deeper than DEEPEST; a value that a program has
 * built deeper than that is refused.
 */
#include "json.h"

#include "atom.h"
#include "base64.h"
#include "make.h"
#include "map.h"
#include "text.h"

enum { DEEPEST = 2048 };

static const char etf_key[] = "$etf";

/* A value that Jansson has no memory for would look like damage, or be missing in what is written.
 */
static __attribute__((constructor)) void use_memory(void)
{
    json_set_alloc_funcs(th_alloc, th_free);
}

/* One versioned external term, and nothing behind it. */
static enum th_status from_etf(th_env *env, const json_t *text, const struct th_etf_node *here,
                               th_term *term)
{
    struct th_etf_options options = {.here = *here};
    struct th_buffer bytes = {0};
    size_t used;
    enum th_status status =
        th_base64_decode(&bytes, json_string_value(text), json_string_length(text));

    if (status == TH_OK)
        status = th_etf_decode(env, bytes.data, bytes.size, true, &options, term, &used);
    if (status == TH_OK && used < bytes.size)
        status =
            th_error_raise(TH_MALFORMED, "%zu bytes follow the external term", bytes.size - used);
    th_buffer_free(&bytes);
    return status == TH_OK ? TH_OK : th_error_context("in \"%s\"", etf_key);
}

static enum th_status to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                              int depth, th_term *term);

static enum th_status to_list(th_env *env, const json_t *array, const struct th_etf_node *here,
                              int depth, th_term *term)
{
    size_t count = json_array_size(array);
    enum th_status status = TH_OK;
    th_term *cells;

    *term = TH_NIL;
    if (count == 0)
        return TH_OK;
    cells = th_env_take(env, 2 * count);
    for (size_t i = 0; i < count && status == TH_OK; i++) {
        status = to_term(env, json_array_get(array, i), here, depth, &cells[2 * i]);
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    *term = th_listed(cells);
    return status;
}

static enum th_status to_map(th_env *env, json_t *object, const struct th_etf_node *here, int depth,
                             th_term *term)
{
    size_t count = json_object_size(object);
    enum th_status status = TH_OK;
    size_t i = 0;
    th_term *pairs;

    if (count == 0) {
        *term = th_make_map(env, NULL, NULL, 0, true);
        return TH_OK;
    }
    pairs = th_env_take(env, 2 * count);
    for (void *at = json_object_iter(object); at && status == TH_OK;
         at = json_object_iter_next(object, at), i++) {
        pairs[i] = th_make_binary(env, json_object_iter_key(at), json_object_iter_key_len(at));
        status = to_term(env, json_object_iter_value(at), here, depth, &pairs[count + i]);
    }
    if (status == TH_OK)
        *term = th_make_map(env, pairs, pairs + count, count, true);
    return status;
}

static enum th_status to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                              int depth, th_term *term)
{
    const json_t *etf;

    if (depth == DEEPEST)
        return th_error_raise(TH_MALFORMED, "JSON nested deeper than %d", DEEPEST);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        etf = json_object_size(value) == 1 ? json_object_get(value, etf_key) : NULL;
        if (etf && json_is_string(etf))
            return from_etf(env, etf, here, term);
        if (etf)
            return th_error_raise(TH_MALFORMED, "the value of \"%s\" must be a string", etf_key);
        return to_map(env, (json_t *)value, here, depth + 1, term); /* iterators take no const */
    case JSON_ARRAY:
        return to_list(env, value, here, depth + 1, term);
    case JSON_STRING:
        *term = th_make_binary(env, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        *term = th_make_int64(env, json_integer_value(value));
        break;
    case JSON_REAL:
        *term = th_make_float(env, json_real_value(value));
        break;
    case JSON_TRUE:
        *term = TH_AM(true);
        break;
    case JSON_FALSE:
        *term = TH_AM(false);
        break;
    case JSON_NULL:
        *term = TH_AM(null);
        break;
    }
    return TH_OK;
}

enum th_status th_json_to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                               th_term *term)
{
    th_term result = TH_NONE;
    enum th_status status;

    if (json_is_string(value))
        return th_text_parse(env, json_string_value(value), json_string_length(value), term);
    status = to_term(env, value, here, 0, &result);
    if (status == TH_OK)
        *term = result;
    return status;
}

static json_t *etf_of(th_term t, const struct th_etf_node *here)
{
    struct th_etf_options options = {.here = *here};
    struct th_buffer bytes = {0};
    struct th_buffer text = {0};
    json_t *value = NULL;

    if (th_etf_encode(&bytes, t, true, &options) == TH_OK) {
        th_base64_encode(&text, bytes.data, bytes.size);
        value = json_pack("{s:s%}", etf_key, (const char *)text.data, text.size);
    }
    th_buffer_free(&bytes);
    th_buffer_free(&text);
    return value;
}

json_t *th_json_from_term(th_term t, const struct th_etf_node *here)
{
    struct th_buffer text = {0};
    json_t *value;

    if (!th_text_can_carry(t))
        return etf_of(t, here);
    th_text_print(&text, t);
    value = json_stringn((const char *)text.data, text.size);
    th_buffer_free(&text);
    return value;
}
