/* Pids, ports, references and funs as text. */
#include "text_internal.h"

#include "atom.h"
#include "make.h"
#include "utf8.h"

/* --- Identifiers ------------------------------------------------------------------------------ */

/* The BEAM shows a foreign node as the index of its name's atom. */
static uint64_t node_number(th_term node)
{
    return node == TH_NONE ? 0 : th_atom_index(node);
}

static void add_part(struct th_buffer *out, uint64_t n)
{
    th_buffer_add_byte(out, '.');
    th_text_add_unsigned(out, n);
}

void th_text_leaf_identifier(struct th_buffer *out, th_term t)
{
    struct th_pid_parts pid;
    struct th_port_parts port;
    struct th_ref_parts ref;

    if (th_get_pid(t, &pid)) {
        th_buffer_add_byte(out, '<');
        th_text_add_unsigned(out, node_number(pid.node));
        add_part(out, pid.number);
        add_part(out, pid.serial);
    } else if (th_get_port(t, &port)) {
        th_buffer_add_text(out, "#Port<");
        th_text_add_unsigned(out, node_number(port.node));
        add_part(out, port.id);
    } else if (th_get_ref(t, &ref)) {
        th_buffer_add_text(out, "#Ref<");
        th_text_add_unsigned(out, node_number(ref.node));
        /* The words of a reference stand last first; the BEAM fills up its own to three. */
        for (size_t i = ref.count; i < 3 && ref.node == TH_NONE; i++)
            add_part(out, 0);
        for (size_t i = ref.count; i > 0; i--)
            add_part(out, ref.words[i - 1]);
    }
    th_buffer_add_byte(out, '>');
}

/* --- Funs ------------------------------------------------------------------------------------- */

/* The BEAM writes a fun's text byte by byte, and the bytes of an atom in UTF-8 are then taken for
 * characters of Latin-1. */
static char *put_bytes_as_latin1(char *to, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to += th_utf8_put((unsigned char)text[i], to);
    return to;
}

/*
 * A name of an export is quoted by the BEAM's own rule: '@' needs quotes, reserved words do not,
 * escape and delete have no letters.
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
            to = th_text_put_octal(to, c);
        else
            to = th_text_put_quoted(to, c, '\'');
    }
    if (!bare)
        *to++ = '\'';
    out->size = (size_t)(to - (char *)out->data);
}

/* The low 32 bits of an integer, as the BEAM keeps these of a fun. */
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
    th_text_add_signed(out, low_word(fun->old_index));
    th_buffer_add_byte(out, '.');
    th_text_add_signed(out, low_word(fun->old_unique));
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
        th_text_add_unsigned(out, arity);
    }
}
