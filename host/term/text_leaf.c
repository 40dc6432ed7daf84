/* Numbers, atoms, strings and bit strings as text. */
#include "text_internal.h"

#include "atom.h"
#include "integer_internal.h"
#include "make.h"
#include "text.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum th_leaf th_text_leaf_integer(struct th_buffer *out, th_term integer, size_t room)
{
    int64_t n;

    if (th_get_int64(integer, &n)) {
        th_text_add_signed(out, n);
        return TH_LEAF_WHOLE;
    }
    if (th_header_words(*th_term_box(integer)) > room / 16 + 64 && room < SIZE_MAX)
        return TH_LEAF_CUT;
    th_term_big_to_decimal(out, integer);
    return TH_LEAF_WHOLE;
}

void th_text_leaf_float(struct th_buffer *out, th_term t)
{
    char *to = (char *)th_buffer_reserve(out, TH_FLOAT_TEXT);

    out->size += th_float_write(th_float_value(t), to);
}

static bool is_bare_atom(const struct th_atom_name *name)
{
    unsigned wanted = TH_CHAR_LOWER;
    uint32_t c;

    if (name->bytes == 0 || !name->latin1)
        return false;
    for (size_t at = 0; at < name->bytes; wanted = TH_CHAR_NAME) {
        c = (unsigned char)name->text[at];
        at += c < 0x80 ? 1 : th_utf8_get(name->text + at, name->bytes - at, &c);
        if (!th_text_char_is(c, wanted))
            return false;
    }
    return !th_text_is_reserved(name->text, name->bytes);
}

/* A character between quotes, of at most TH_PUT_ESCAPED bytes. */
static char *put_character(char *to, uint32_t c, char quote, enum th_text_encoding encoding)
{
    if (c > 255 && encoding == TH_TEXT_UNICODE)
        return to + th_utf8_put(c, to);
    return th_text_put_quoted(to, c, quote);
}

void th_text_leaf_atom(struct th_buffer *out, th_term atom, enum th_text_encoding encoding)
{
    const struct th_atom_name *name = th_atom_name(atom);
    char *to;
    uint32_t c;

    if (is_bare_atom(name)) {
        th_buffer_add(out, name->text, name->bytes);
        return;
    }
    to = (char *)th_buffer_reserve(out, TH_PUT_ESCAPED * (size_t)name->characters + 2);
    *to++ = '\'';
    for (size_t at = 0; at < name->bytes;) {
        at += th_utf8_get(name->text + at, name->bytes - at, &c);
        to = put_character(to, c, '\'', encoding);
    }
    *to++ = '\'';
    out->size = (size_t)(to - (char *)out->data);
}

/* --- Strings ---------------------------------------------------------------------------------- */

/* Shows in a string, as io_lib:printable_latin1_list/1 and printable_unicode_list/1 have it. */
static inline bool is_shown(uint64_t c, enum th_text_encoding encoding)
{
    if (c < 256)
        return (th_text_char_classes[c] & TH_CHAR_PRINTABLE) != 0;
    return encoding == TH_TEXT_UNICODE &&
           (c < 0xD800 || (c > 0xDFFF && c < 0xFFFE) || (c > 0xFFFF && c <= 0x10FFFF));
}

enum th_leaf th_text_leaf_string(struct th_buffer *out, th_term list, size_t room,
                                 enum th_text_encoding encoding)
{
    th_term tail = list;
    size_t count = 0;
    char *to;

    for (; th_is_list(tail) && count < room; tail = th_cell(tail)[1], count++) {
        th_term head = th_cell(tail)[0];
        if (!th_is_small(head) || !is_shown(head >> 4, encoding))
            return TH_LEAF_OTHER;
    }
    if (tail != TH_NIL && count < room)
        return TH_LEAF_OTHER;
    to = (char *)th_buffer_reserve(out, TH_UTF8_MAX * count + 2);
    *to++ = '"';
    for (; count > 0; count--, list = th_cell(list)[1])
        to = put_character(to, (uint32_t)(th_cell(list)[0] >> 4), '"', encoding);
    if (tail == TH_NIL)
        *to++ = '"';
    out->size = (size_t)(to - (char *)out->data);
    return tail == TH_NIL ? TH_LEAF_WHOLE : TH_LEAF_CUT;
}

/* --- Bit strings ------------------------------------------------------------------------------ */

/* How the bytes of a binary are written. */
enum shape { NUMBERS, LATIN1, UTF8 };

/* Bytes that are UTF-8 are never taken for Latin-1, unless they are ASCII. */
static enum shape shape_of(const unsigned char *data, size_t bytes, enum th_text_encoding encoding)
{
    size_t characters;
    uint32_t c;

    if (encoding == TH_TEXT_UNICODE && th_utf8_count((const char *)data, bytes, &characters) &&
        characters < bytes) {
        for (size_t at = 0; at < bytes;) {
            at += th_utf8_get((const char *)data + at, bytes - at, &c);
            if (!is_shown(c, TH_TEXT_UNICODE))
                return NUMBERS;
        }
        return UTF8;
    }
    for (size_t i = 0; i < bytes; i++)
        if ((th_text_char_classes[data[i]] & TH_CHAR_PRINTABLE) == 0)
            return NUMBERS;
    return bytes > 0 ? LATIN1 : NUMBERS;
}

static char *put_byte_values(char *to, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (i > 0)
            *to++ = ',';
        to = th_text_put_unsigned(to, data[i]);
    }
    return to;
}

static char *put_text_bytes(char *to, const unsigned char *data, size_t bytes, enum shape shape)
{
    uint32_t c;

    for (size_t i = 0; i < bytes;) {
        c = data[i];
        i += shape == UTF8 ? th_utf8_get((const char *)data + i, bytes - i, &c) : 1;
        to = put_character(to, c, '"', TH_TEXT_UNICODE);
    }
    return to;
}

/* The head of a binary that is too long to show: ROOM bytes, or less, so that a character is whole.
 */
static enum th_leaf add_cut_bits(struct th_buffer *out, const unsigned char *data, size_t room,
                                 enum th_text_encoding encoding)
{
    char *to = (char *)th_buffer_reserve(out, 4 * room + 3);
    size_t bytes = room;
    enum shape shape;

    while (room - bytes < TH_UTF8_MAX && bytes > 0 && (data[bytes] & 0xC0) == 0x80)
        bytes--;
    shape = shape_of(data, bytes, encoding);
    if (shape != UTF8)
        shape = shape_of(data, bytes = room, TH_TEXT_LATIN1);
    to = stpcpy(to, shape == NUMBERS ? "<<" : "<<\"");
    to = shape == NUMBERS ? put_byte_values(to, data, bytes)
                          : put_text_bytes(to, data, bytes, shape);
    out->size = (size_t)(to - (char *)out->data);
    return TH_LEAF_CUT;
}

enum th_leaf th_text_leaf_bits(struct th_buffer *out, th_term t, size_t room,
                               enum th_text_encoding encoding)
{
    const unsigned char *data;
    size_t bits, bytes;
    enum shape shape;
    char *to;

    th_get_bits(t, &data, &bits);
    bytes = bits / 8;
    if (bytes > room)
        return add_cut_bits(out, data, room, encoding);
    shape = bits % 8 == 0 ? shape_of(data, bytes, encoding) : NUMBERS;
    to = (char *)th_buffer_reserve(out, 4 * bytes + 16);
    to = stpcpy(to, "<<");
    if (shape != NUMBERS) {
        *to++ = '"';
        to = put_text_bytes(to, data, bytes, shape);
        to = stpcpy(to, shape == UTF8 ? "\"/utf8" : "\"");
    } else {
        to = put_byte_values(to, data, bytes);
        if (bits % 8 != 0 && bytes > 0)
            *to++ = ',';
        if (bits % 8 != 0)
            to += sprintf(to, "%d:%zu", data[bytes] >> (8 - bits % 8), bits % 8);
    }
    to = stpcpy(to, ">>");
    out->size = (size_t)(to - (char *)out->data);
    return TH_LEAF_WHOLE;
}
