/* Numbers, atoms, strings and bit strings as text. */
#include "text_leaf.h"

#include "atom.h"
#include "big.h"
#include "make.h"
#include "text.h"
#include "text_chars.h"
#include "text_float.h"
#include "text_put.h"
#include "utf8.h"

#include <string.h>

enum th_leaf th_leaf_integer(struct th_buffer *out, th_term integer, size_t room)
{
    int64_t n;

    if (th_get_int64(integer, &n)) {
        th_add_signed(out, n);
        return TH_LEAF_WHOLE;
    }
    if (th_header_words(*th_box(integer)) > room / 16 + 64 && room < SIZE_MAX)
        return TH_LEAF_CUT;
    th_big_to_decimal(out, integer);
    return TH_LEAF_WHOLE;
}

void th_leaf_float(struct th_buffer *out, th_term t)
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
        if (!th_char_is(c, wanted))
            return false;
    }
    return !th_text_is_reserved(name->text, name->bytes);
}

void th_leaf_atom(struct th_buffer *out, th_term atom)
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
        to = th_put_quoted(to, c, '\'');
    }
    *to++ = '\'';
    out->size = (size_t)(to - (char *)out->data);
}

void th_text_print_atom(struct th_buffer *out, th_term atom)
{
    th_leaf_atom(out, atom);
}

/* --- Strings ---------------------------------------------------------------------------------- */

/* Counts the characters of a string, or its first MOST. */
static enum th_leaf count_string(th_term list, size_t most, size_t *count)
{
    size_t n = 0;

    for (; th_is_list(list) && n < most; list = th_cell(list)[1], n++) {
        th_term head = th_cell(list)[0];
        if (!th_is_small(head) || head >> 4 > 255 || !th_char_is(head >> 4, TH_CHAR_PRINTABLE))
            return TH_LEAF_OTHER;
    }
    *count = n;
    return list == TH_NIL ? TH_LEAF_WHOLE : n == most ? TH_LEAF_CUT : TH_LEAF_OTHER;
}

enum th_leaf th_leaf_string(struct th_buffer *out, th_term list, size_t room)
{
    size_t count;
    enum th_leaf kind = count_string(list, room, &count);
    char *to;

    if (kind == TH_LEAF_OTHER)
        return kind;
    to = (char *)th_buffer_reserve(out, 2 * count + 2);
    *to++ = '"';
    for (; count > 0; count--, list = th_cell(list)[1])
        to = th_put_quoted(to, (uint32_t)(th_cell(list)[0] >> 4), '"');
    if (kind == TH_LEAF_WHOLE)
        *to++ = '"';
    out->size = (size_t)(to - (char *)out->data);
    return kind;
}

static bool is_printable(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((th_char_classes[data[i]] & TH_CHAR_PRINTABLE) == 0)
            return false;
    return bytes > 0;
}

static char *put_byte(char *to, unsigned char byte)
{
    if (byte >= 100)
        *to++ = (char)('0' + byte / 100);
    if (byte >= 10)
        *to++ = (char)('0' + byte / 10 % 10);
    *to++ = (char)('0' + byte % 10);
    return to;
}

static char *put_byte_values(char *to, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (i > 0)
            *to++ = ',';
        to = put_byte(to, data[i]);
    }
    return to;
}

static char *put_text_bytes(char *to, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to = th_put_quoted(to, data[i], '"');
    return to;
}

static char *put_last_bits(char *to, unsigned char byte, size_t bits)
{
    to = th_put_unsigned(to, byte >> (8 - bits));
    *to++ = ':';
    *to++ = (char)('0' + bits);
    return to;
}

/* The head of a binary that is too long to show. */
static enum th_leaf add_cut_bits(struct th_buffer *out, const unsigned char *data, size_t bytes)
{
    bool text = is_printable(data, bytes);
    char *to = (char *)th_buffer_reserve(out, 4 * bytes + 3);

    memcpy(to, "<<\"", 3);
    to += text ? 3 : 2;
    to = text ? put_text_bytes(to, data, bytes) : put_byte_values(to, data, bytes);
    out->size = (size_t)(to - (char *)out->data);
    return TH_LEAF_CUT;
}

enum th_leaf th_leaf_bits(struct th_buffer *out, th_term t, size_t room)
{
    const unsigned char *data;
    size_t bits, bytes;
    char *to;

    th_get_bits(t, &data, &bits);
    bytes = bits / 8;
    if (bytes > room)
        return add_cut_bits(out, data, room);
    to = (char *)th_buffer_reserve(out, 4 * bytes + 16);
    to = stpcpy(to, "<<");
    if (bits % 8 == 0 && is_printable(data, bytes)) {
        *to++ = '"';
        to = put_text_bytes(to, data, bytes);
        *to++ = '"';
    } else {
        to = put_byte_values(to, data, bytes);
        if (bits % 8 != 0 && bytes > 0)
            *to++ = ',';
        if (bits % 8 != 0)
            to = put_last_bits(to, data[bytes], bits % 8);
    }
    to = stpcpy(to, ">>");
    out->size = (size_t)(to - (char *)out->data);
    return TH_LEAF_WHOLE;
}
