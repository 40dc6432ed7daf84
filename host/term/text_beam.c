/*
 * Terms as a BEAM's own C code prints them, with erts_printf()'s %T.
 *
 * Each term, each character of a string, each byte of a binary and each byte of an atom costs one
 * unit of the limit. If no unit is left, the text ends with "... ", whatever brackets are open; so
 * does a text that uses the limit exactly.
 */

#include "atom.h"
#include "make.h"
#include "text.h"
#include "text_internal.h"
#include "text_walk.h"

#include <string.h>

struct printer {
    struct th_buffer *out;
    long left;
    size_t numbers; /* bytes that were written for numbers */
    struct th_text_walk walk;
};

/* Takes a unit; false if none is left. */
static bool spend(struct printer *p)
{
    return p->left-- > 0;
}

/* Counts the digits of the text from START on. */
static void count_digits(struct printer *p, size_t start)
{
    for (; start < p->out->size; start++)
        p->numbers += p->out->data[start] >= '0' && p->out->data[start] <= '9';
}

/* --- Atoms ------------------------------------------------------------------------------------ */

static bool is_lower(unsigned c)
{
    return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFF && c != 0xF7);
}

/* Returns the character of one or two bytes that begins with C. A continuation byte counts as a
 * letter, the first byte of three or four does not. */
static unsigned latin1_of(unsigned char c, unsigned char next)
{
    if (c < 0x80)
        return c;
    if ((c & 0xE0) == 0xC0)
        return (c & 0x1Fu) << 6 | (next & 0x3Fu);
    return (c & 0xC0) == 0x80 ? 'a' : 0;
}

/* Writes the text of an atom; escapes control characters, quotes and backslashes only. */
static void add_atom_text(struct printer *p, const unsigned char *text, size_t bytes)
{
    static const char letters[] = "\n\f\t\r\b\v'\\", shown[] = "nftrbv'\\";

    for (size_t i = 0; i < bytes; i++) {
        const char *letter = text[i] ? strchr(letters, text[i]) : NULL;
        if (letter) {
            th_buffer_add_byte(p->out, '\\');
            th_buffer_add_byte(p->out, (unsigned char)shown[letter - letters]);
        } else if (text[i] < ' ' || (text[i] == 0xC2 && text[i + 1] < 0xA0)) {
            i += text[i] == 0xC2;
            th_buffer_printf(p->out, "\\%03o", text[i]);
            p->numbers += 3;
        } else {
            th_buffer_add_byte(p->out, text[i]);
        }
    }
}

/* Returns the number of units: its bytes. */
static long add_atom(struct printer *p, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);
    const unsigned char *text = (const unsigned char *)name->text;
    bool bare = name->bytes > 0 && is_lower(latin1_of(text[0], text[1]));

    for (size_t i = 1; i < name->bytes && bare; i++) {
        unsigned c = latin1_of(text[i], text[i + 1]);
        bare = is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
               (c >= '0' && c <= '9') || c == '_';
    }
    if (!bare)
        th_buffer_add_byte(p->out, '\'');
    add_atom_text(p, text, name->bytes);
    if (!bare)
        th_buffer_add_byte(p->out, '\'');
    return (long)name->bytes;
}

/* --- Other leaves ----------------------------------------------------------------------------- */

static void add_fun(struct printer *p, th_term t)
{
    const struct th_atom_name *name;
    struct th_fun_parts fun;
    th_term module, function;
    uint32_t arity;
    size_t start;

    if (th_get_export(t, &module, &function, &arity)) {
        th_buffer_add_text(p->out, "fun ");
        p->left -= add_atom(p, module);
        th_buffer_add_byte(p->out, ':');
        p->left -= add_atom(p, function);
        start = p->out->size;
        th_buffer_printf(p->out, "/%u", arity);
        count_digits(p, start);
        return;
    }
    if (!th_get_fun(t, &fun))
        return;
    name = th_atom_name(fun.module);
    th_buffer_add_text(p->out, "#Fun<");
    th_buffer_add(p->out, name->text, name->bytes);
    start = p->out->size;
    th_text_leaf_fun_numbers(p->out, &fun);
    count_digits(p, start);
}

/* False: no unit is left. */
static bool text_beam_add_bits(struct printer *p, th_term t)
{
    const unsigned char *data = NULL;
    size_t bits = 0, bytes, start = p->out->size;
    bool text;

    data = th_bits_data(t);
    bits = th_bits_size(t);
    bytes = bits / 8;
    text = bits % 8 == 0 && bytes > 0;
    for (size_t i = 0; i < bytes && text; i++)
        text = data[i] >= ' ' && data[i] < 127;
    th_buffer_add_text(p->out, text ? "<<\"" : "<<");
    for (size_t i = 0; i < bytes; i++) {
        if (!text)
            th_buffer_printf(p->out, i ? ",%u" : "%u", data[i]);
        else if (data[i] == '"')
            th_buffer_add_text(p->out, "\\\"");
        else
            th_buffer_add_byte(p->out, data[i]);
        if (!spend(p)) {
            if (!text)
                count_digits(p, start);
            return false;
        }
    }
    if (bits % 8)
        th_buffer_printf(p->out, bytes ? ",%u:%u" : "%u:%u", data[bytes] >> (8 - bits % 8),
                         (unsigned)(bits % 8));
    if (!text)
        count_digits(p, start);
    th_buffer_add_text(p->out, text ? "\">>" : ">>");
    return true;
}

static bool is_string(th_term list)
{
    for (; th_is_list(list); list = th_cell(list)[1]) {
        th_term head = th_cell(list)[0];
        int64_t c = th_is_small(head) ? th_small_value(head) : -1;
        bool control = c < ' ' || c == 127 || (c >= 128 && c < 160) || c > 255;
        if (control && c != '\n' && c != '\t' && c != '\r')
            return false;
    }
    return list == TH_NIL;
}

/* Writes each character as one byte, its number. */
static bool text_beam_add_string(struct printer *p, th_term list)
{
    th_buffer_add_byte(p->out, '"');
    for (; th_is_list(list); list = th_cell(list)[1]) {
        unsigned char c = (unsigned char)th_small_value(th_cell(list)[0]);
        if (!spend(p))
            return false;
        if (c == '"')
            th_buffer_add_byte(p->out, '\\');
        if (c == '\n')
            th_buffer_add_text(p->out, "\\n");
        else
            th_buffer_add_byte(p->out, c);
    }
    th_buffer_add_byte(p->out, '"');
    return true;
}

/* --- The walk --------------------------------------------------------------------------------- */

/* Writes a leaf, or the opening bracket of a term with parts. False: the text ends here. */
static bool text_beam_begin(struct printer *p, th_term t)
{
    size_t start = p->out->size;

    if (!spend(p))
        return false;
    if (t == TH_NONE) {
        th_buffer_add_text(p->out, "<TNV>");
        return false;
    }
    if (th_is_atom(t)) {
        p->left -= add_atom(p, t);
        return p->left > 0;
    }
    if (th_is_bitstring(t))
        return text_beam_add_bits(p, t);
    if (th_is_list(t) && is_string(t))
        return text_beam_add_string(p, t);
    if (th_is_list(t) || th_is_tuple(t) || th_is_map(t)) {
        th_text_walk_open(&p->walk, t);
    } else if (t == TH_NIL) {
        th_buffer_add_text(p->out, "[]");
    } else if (th_is_integer(t)) {
        th_text_leaf_integer(p->out, t, SIZE_MAX);
        p->numbers += th_is_small(t) ? p->out->size - start : 0;
    } else if (th_is_float(t)) {
        th_buffer_printf(p->out, "%e", th_float_value(t));
        p->numbers += p->out->size - start;
    } else if (th_is_fun(t)) {
        add_fun(p, t);
    } else {
        th_text_leaf_identifier(p->out, t);
        count_digits(p, start);
    }
    return true;
}

size_t th_text_print_beam(struct th_buffer *out, th_term t, long limit)
{
    struct printer p; /* not cleared: most of it is frames */
    bool goes_on;

    p.out = out;
    p.left = limit;
    p.numbers = 0;
    th_text_walk_begin(&p.walk, out, "=>");
    goes_on = text_beam_begin(&p, t);
    while (goes_on && p.walk.stack.depth > 0)
        if (th_text_walk_step(&p.walk, &t))
            goes_on = text_beam_begin(&p, t);
    if (p.left <= 0)
        th_buffer_add_text(out, "... ");
    th_stack_end(&p.walk.stack);
    return p.numbers;
}
