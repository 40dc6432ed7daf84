/*
 * Terms as JSON. The functions are recursive, since Jansson reads no deeper than DEEPEST; a value
 * that a program has built deeper is refused.
 */
#include "json.h"

#include "atom.h"
#include "etf.h"
#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "term_internal.h"
#include "text.h"

#include "host/base/buffer.h"

#include <jansson.h>
#include <string.h>

enum { DEEPEST = 2048, SHORT_WORDS = 8 /* upper bound for a number or an empty value */ };

/*
 * Jansson cannot handle a lack of memory: a value without memory would look like damage, or be
 * missing in the output, and its reader looks for the end of a string that it could not store. So
 * Jansson's allocations always succeed, and th_json_read() takes the same amount from the budget
 * first.
 *
 * This Jansson is linked statically into the program, or into libtracehost, for their use alone: a
 * program that embeds the library, and its plugins, have another Jansson.
 */
static __attribute__((constructor)) void use_memory(void)
{
    json_set_alloc_funcs(th_alloc, th_free);
}

enum {
    SHORT = 8192,      /* bytes of a text that is not checked: it takes less than 1 MiB */
    VALUE_BYTES = 320, /* upper bound for a value and its place in its container, without
                          characters: an empty object 208, and its key and hash 100 */
    STRING_TIMES = 4   /* for characters: the reader's buffer, as it grows, and the value */
};

/* Counts the values of a text, or some more: before each value but the first, or before its key,
 * there is a comma or a bracket. */
static size_t count_values(const char *text, size_t size)
{
    size_t values = 1;
    bool quoted = false;

    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == ',' || c == '{' || c == '['))
            values++;
    }
    return values;
}

json_t *th_json_read(const char *text, size_t size, size_t flags)
{
    size_t reading = (STRING_TIMES - 1) * size;
    json_error_t error;
    json_t *value;

    /* Take the memory of the value, and of reading, from the budget; return that of reading. */
    if (size > SHORT) {
        if (!th_memory_take(reading + size + VALUE_BYTES * count_values(text, size)))
            return NULL;
        th_memory_give(reading);
    }
    value = json_loadb(text, size, flags, &error);
    if (!value)
        th_error_raise(TH_MALFORMED, "column %d: %s", error.column, error.text);
    return value;
}

/* --- Base64 ----------------------------------------------------------------------------------- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void th_json_base64_encode(struct th_buffer *out, const unsigned char *data, size_t size)
{
    unsigned char *to = th_buffer_reserve(out, (size / 3 + 1) * 4);

    for (; size > 0; data += 3, to += 4, out->size += 4) {
        uint32_t group = (uint32_t)data[0] << 16 | (uint32_t)(size > 1 ? data[1] : 0) << 8 |
                         (size > 2 ? data[2] : 0);
        to[0] = (unsigned char)alphabet[group >> 18];
        to[1] = (unsigned char)alphabet[group >> 12 & 63];
        to[2] = (unsigned char)(size > 1 ? alphabet[group >> 6 & 63] : '=');
        to[3] = (unsigned char)(size > 2 ? alphabet[group & 63] : '=');
        size -= size < 3 ? size : 3;
    }
}

static enum th_status json_broken(size_t at, const char *why)
{
    return th_error_raise(TH_MALFORMED, "base64, character %zu: %s", at + 1, why);
}

enum th_status th_json_base64_decode(struct th_buffer *out, const char *text, size_t length)
{
    size_t characters, before = out->size;
    uint32_t bits = 0;

    if (length % 4 != 0)
        return json_broken(length, "the text ends within a group of four");
    characters = length;
    while (characters > 0 && characters + 2 > length && text[characters - 1] == '=')
        characters--;
    th_buffer_reserve(out, length / 4 * 3 + 1);
    for (size_t i = 0; i < characters; i++) {
        const char *place = memchr(alphabet, text[i], 64);
        if (!place) {
            out->size = before;
            return json_broken(i, "not a character of base64");
        }
        bits = bits << 6 | (uint32_t)(place - alphabet);
        if (i % 4 > 0) /* the second character of a group ends a byte and leaves 4 bits, ... */
            out->data[out->size++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    if (characters % 4 > 0 && (bits & (characters % 4 == 2 ? 15 : 3)) != 0) {
        out->size = before;
        return json_broken(characters - 1, "bits left over are not 0");
    }
    return TH_OK;
}

/* --- JSON to terms ---------------------------------------------------------------------------- */

enum th_status th_json_etf_to_term(th_env *env, const char *text, size_t length,
                                   const struct th_etf_node *here, th_term *term)
{
    struct th_etf_options options = {.here = *here};
    struct th_buffer bytes = {0};
    th_term read = TH_NONE;
    size_t used;
    enum th_status status = th_buffer_try(&bytes, length / 4 * 3 + 1) ? TH_OK : th_error_status();

    if (status == TH_OK)
        status = th_json_base64_decode(&bytes, text, length);
    if (status == TH_OK)
        status = th_etf_decode(env, bytes.data, bytes.size, true, &options, &read, &used);
    if (status == TH_OK && used < bytes.size)
        status =
            th_error_raise(TH_MALFORMED, "%zu bytes follow the external term", bytes.size - used);
    th_buffer_free(&bytes);
    if (status == TH_OK)
        *term = read;
    return status == TH_OK ? TH_OK : th_error_context("in \"%s\"", TH_JSON_ETF);
}

static enum th_status to_term(th_env *env, const json_t *value, const struct th_etf_node *here,
                              int depth, th_term *term);

static enum th_status to_binary(th_env *env, const char *text, size_t size, th_term *term)
{
    if (!th_env_room(env, th_term_heap_binary_words(8 * size)))
        return th_error_status();
    *term = th_make_binary(env, text, size);
    return TH_OK;
}

static enum th_status to_list(th_env *env, const json_t *array, const struct th_etf_node *here,
                              int depth, th_term *term)
{
    size_t count = json_array_size(array);
    enum th_status status = TH_OK;
    th_term *cells;

    *term = TH_NIL;
    if (count == 0)
        return TH_OK;
    cells = th_env_try(env, 2 * count);
    if (!cells)
        return th_error_status();
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
    pairs = th_env_try(env, 2 * count);
    if (!pairs)
        return th_error_status();
    for (void *at = json_object_iter(object); at && status == TH_OK;
         at = json_object_iter_next(object, at), i++) {
        status = to_binary(env, json_object_iter_key(at), json_object_iter_key_len(at), &pairs[i]);
        if (status == TH_OK)
            status = to_term(env, json_object_iter_value(at), here, depth, &pairs[count + i]);
    }
    if (status == TH_OK && !th_env_room(env, th_map_room(pairs, count)))
        status = th_error_status();
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
    if (!th_env_room(env, SHORT_WORDS))
        return th_error_status();
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        etf = json_object_size(value) == 1 ? json_object_get(value, TH_JSON_ETF) : NULL;
        if (etf && json_is_string(etf))
            return th_json_etf_to_term(env, json_string_value(etf), json_string_length(etf), here,
                                       term);
        if (etf)
            return th_error_raise(TH_MALFORMED, "the value of \"%s\" must be a string",
                                  TH_JSON_ETF);
        return to_map(env, (json_t *)value, here, depth + 1, term); /* iterators take no const */
    case JSON_ARRAY:
        return to_list(env, value, here, depth + 1, term);
    case JSON_STRING:
        return to_binary(env, json_string_value(value), json_string_length(value), term);
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

/* --- Terms to JSON ---------------------------------------------------------------------------- */

/* The letter behind the backslash for a character of JSON's own escapes; 'u' for another control
 * character; 0: the character stands for itself. */
static char escape_letter(unsigned char c)
{
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
    };

    if (c >= 0x20)
        return c == '"' || c == '\\' ? (char)c : 0;
    return letters[c] ? letters[c] : 'u';
}

/* Escapes the bytes of OUT from FROM on, in place, from the last to the first. */
static void escape_from(struct th_buffer *out, size_t from)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *read;
    unsigned char *write;
    size_t more = 0;

    for (size_t i = from; i < out->size; i++) {
        char letter = escape_letter(out->data[i]);
        more += letter == 'u' ? 5 : letter != 0;
    }
    if (more == 0)
        return;
    write = th_buffer_reserve(out, more) + more;
    read = write - more;
    out->size += more;
    while (write > read) {
        unsigned char c = *--read;
        char letter = escape_letter(c);
        if (letter == 'u') {
            write -= 6;
            memcpy(write, "\\u00", 4);
            write[4] = (unsigned char)digits[c >> 4];
            write[5] = (unsigned char)digits[c & 15];
        } else if (letter) {
            *--write = (unsigned char)letter;
            *--write = '\\';
        } else {
            *--write = c;
        }
    }
}

void th_json_add_string(struct th_buffer *out, const char *text, size_t size)
{
    size_t from = out->size + 1;

    th_buffer_add_byte(out, '"');
    th_buffer_add(out, text, size);
    escape_from(out, from);
    th_buffer_add_byte(out, '"');
}

enum th_status th_json_add_term(struct th_buffer *out, th_term t, const struct th_etf_node *here)
{
    struct th_etf_options options = {.here = *here};
    const size_t before = out->size;
    struct th_buffer bytes = {0};
    enum th_status status;

    th_buffer_add_byte(out, '"');
    if (th_text_print_exact(out, t)) {
        escape_from(out, before + 1);
        th_buffer_add_byte(out, '"');
        return TH_OK;
    }
    out->size = before;
    status = th_etf_encode(&bytes, t, true, &options);
    if (status == TH_OK) {
        th_buffer_add_text(out, "{\"" TH_JSON_ETF "\":\"");
        th_json_base64_encode(out, bytes.data, bytes.size);
        th_buffer_add_text(out, "\"}");
    }
    th_buffer_free(&bytes);
    return status;
}
