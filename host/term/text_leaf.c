/* The text of terms without parts. */
#include "atom.h"
#include "integer_internal.h"
#include "make.h"
#include "peer.h"
#include "text_internal.h"
#include "utf8.h"

#include "host/base/buffer.h"

#include <stdio.h>
#include <string.h>

/* --- Numbers and characters as text ----------------------------------------------------------- */

enum {
    TH_PUT_INTEGER = 20, /* bytes that hold any 64-bit number */
    TH_PUT_ESCAPED = 11  /* bytes that hold any character between quotes: \x{10FFFF}, and a 0 */
};

static const char two_digits[] = "0001020304050607080910111213141516171819"
                                 "2021222324252627282930313233343536373839"
                                 "4041424344454647484950515253545556575859"
                                 "6061626364656667686970717273747576777879"
                                 "8081828384858687888990919293949596979899";

static char *put_unsigned(char *to, uint64_t n)
{
    char digits[TH_PUT_INTEGER];
    char *first = digits + sizeof digits;
    size_t count;

    for (; n >= 100; n /= 100)
        memcpy(first -= 2, two_digits + 2 * (n % 100), 2);
    if (n >= 10)
        memcpy(first -= 2, two_digits + 2 * n, 2);
    else
        *--first = (char)('0' + n);
    count = (size_t)(digits + sizeof digits - first);
    memcpy(to, first, count);
    return to + count;
}

static void add_unsigned(struct th_buffer *out, uint64_t n)
{
    char *to = (char *)th_buffer_reserve(out, TH_PUT_INTEGER);

    out->size += (size_t)(put_unsigned(to, n) - to);
}

static void add_signed(struct th_buffer *out, int64_t n)
{
    if (n < 0)
        th_buffer_add_byte(out, '-');
    add_unsigned(out, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *put_octal(char *to, uint32_t c)
{
    *to++ = '\\';
    *to++ = (char)('0' + (c >> 6));
    *to++ = (char)('0' + (c >> 3 & 7));
    *to++ = (char)('0' + (c & 7));
    return to;
}

/* Writes a character between quotes that put_quoted() does not write as it is. */
static char *put_escaped(char *to, uint32_t c, char quote)
{
    if (c > 255) {
        return to + sprintf(to, "\\x{%X}", c);
    }
    if (c > 127)
        return c < 0xA0 ? put_octal(to, c) : to + th_utf8_put(c, to);
    if (c == (unsigned char)quote || th_text_char_escapes[c] != 0) {
        *to++ = '\\';
        *to++ = c == (unsigned char)quote ? quote : th_text_char_escapes[c];
        return to;
    }
    if (c < ' ')
        return put_octal(to, c);
    *to++ = (char)c;
    return to;
}

/* Writes a character between quotes. */
static inline char *put_quoted(char *to, uint32_t c, char quote)
{
    if (c < ' ' || c > '~' || c == '\\' || c == (unsigned char)quote)
        return put_escaped(to, c, quote);
    *to = (char)c;
    return to + 1;
}

/* --- Numbers and atoms ------------------------------------------------------------------------ */

enum th_leaf th_text_leaf_integer(struct th_buffer *out, th_term integer, size_t room)
{
    int64_t n;

    if (th_get_int64(integer, &n)) {
        add_signed(out, n);
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

/* Writes a character between quotes, at most TH_PUT_ESCAPED bytes. */
static char *put_character(char *to, uint32_t c, char quote, enum th_text_encoding encoding)
{
    if (c > 255 && encoding == TH_TEXT_UNICODE)
        return to + th_utf8_put(c, to);
    return put_quoted(to, c, quote);
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

/* True for a character of a string, as in io_lib:printable_latin1_list/1 and
 * printable_unicode_list/1. */
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

/* The form of a binary's bytes. */
enum shape { NUMBERS, LATIN1, UTF8 };

/* Bytes that are UTF-8 never count as Latin-1, unless they are ASCII. */
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
        to = put_unsigned(to, data[i]);
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

/* Writes the head of a binary that is too long: ROOM bytes, or less, so that a character is
 * whole. */
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

    data = th_bits_data(t);
    bits = th_bits_size(t);
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

/* --- Identifiers ------------------------------------------------------------------------------ */

/* The BEAM shows another node as the index of its name's atom. That index depends on all atoms that
 * were made before, so it would differ between plays of one recording: in shares, beside other
 * tracers. A hash of the name does not, nor does the index of a peer. 0 is this node. */
static uint64_t node_number(th_term node, uint32_t creation)
{
    unsigned peer = node == TH_NONE ? 0 : th_peer_find(node, creation);

    return node == TH_NONE || peer ? peer : (uint32_t)th_atom_name(node)->hash | 1;
}

static void add_part(struct th_buffer *out, uint64_t n)
{
    th_buffer_add_byte(out, '.');
    add_unsigned(out, n);
}

void th_text_leaf_identifier(struct th_buffer *out, th_term t)
{
    struct th_pid_parts pid;
    struct th_port_parts port;
    struct th_ref_parts ref;

    if (th_get_pid(t, &pid)) {
        th_buffer_add_byte(out, '<');
        add_unsigned(out, node_number(pid.node, pid.creation));
        add_part(out, pid.number);
        add_part(out, pid.serial);
    } else if (th_get_port(t, &port)) {
        th_buffer_add_text(out, "#Port<");
        add_unsigned(out, node_number(port.node, port.creation));
        add_part(out, port.id);
    } else if (th_get_ref(t, &ref)) {
        th_buffer_add_text(out, "#Ref<");
        add_unsigned(out, node_number(ref.node, ref.creation));
        /* The words of a reference are written last first; the BEAM pads its own to three. */
        for (size_t i = ref.count; i < 3 && ref.node == TH_NONE; i++)
            add_part(out, 0);
        for (size_t i = ref.count; i > 0; i--)
            add_part(out, ref.words[i - 1]);
    }
    th_buffer_add_byte(out, '>');
}

/* --- Funs ------------------------------------------------------------------------------------- */

/* The BEAM writes a fun's text byte by byte, and then reads the UTF-8 bytes of an atom as
 * characters of Latin-1. */
static char *put_bytes_as_latin1(char *to, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to += th_utf8_put((unsigned char)text[i], to);
    return to;
}

/*
 * Writes a name of an export, quoted by the BEAM's own rule: '@' needs quotes, reserved words do
 * not, and escape and delete have no letters.
 */
static void add_export_name(struct th_buffer *out, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);
    unsigned wanted = TH_CHAR_LOWER;
    bool bare = name->bytes > 0;
    char *to = (char *)th_buffer_reserve(out, 8 * (size_t)name->characters + 2);
    size_t used;
    uint32_t c;

    for (size_t at = 0; at < name->bytes && bare; wanted = TH_CHAR_NAME) {
        at += th_utf8_get(name->text + at, name->bytes - at, &c);
        bare = th_text_char_is(c, wanted) && c != '@';
    }
    if (!bare)
        *to++ = '\'';
    for (size_t at = 0; at < name->bytes; at += used) {
        used = th_utf8_get(name->text + at, name->bytes - at, &c);
        if (c > 0x9F || c == 0x7F)
            to = put_bytes_as_latin1(to, name->text + at, used);
        else if (c == 0x1B)
            to = put_octal(to, c);
        else
            to = put_quoted(to, c, '\'');
    }
    if (!bare)
        *to++ = '\'';
    out->size = (size_t)(to - (char *)out->data);
}

/* The low 32 bits of an integer, as the BEAM keeps them in a fun. */
static int32_t low_word(th_term integer)
{
    struct th_limbs n = {0};
    uint32_t low;

    th_get_limbs(integer, &n);
    low = n.count > 0 ? (uint32_t)n.limbs[0] : 0;
    return (int32_t)(n.negative ? -low : low);
}

void th_text_leaf_fun_numbers(struct th_buffer *out, const struct th_fun_parts *fun)
{
    th_buffer_add_byte(out, '.');
    add_signed(out, low_word(fun->old_index));
    th_buffer_add_byte(out, '.');
    add_signed(out, low_word(fun->old_unique));
    th_buffer_add_byte(out, '>');
}

void th_text_leaf_fun(struct th_buffer *out, th_term t)
{
    const struct th_atom_name *name;
    struct th_fun_parts fun;
    th_term module, function;
    uint32_t arity;
    char *to;

    if (th_get_fun(t, &fun)) {
        name = th_atom_name(fun.module);
        th_buffer_add_text(out, "#Fun<");
        to = (char *)th_buffer_reserve(out, 2 * (size_t)name->bytes);
        to = put_bytes_as_latin1(to, name->text, name->bytes);
        out->size = (size_t)(to - (char *)out->data);
        th_text_leaf_fun_numbers(out, &fun);
    } else if (th_get_export(t, &module, &function, &arity)) {
        th_buffer_add_text(out, "fun ");
        add_export_name(out, module);
        th_buffer_add_byte(out, ':');
        add_export_name(out, function);
        th_buffer_add_byte(out, '/');
        add_unsigned(out, arity);
    }
}
