/* The printer of terms as Erlang text. */

#include "atom.h"
#include "make.h"
#include "text.h"
#include "text_internal.h"
#include "text_walk.h"

#include <math.h>
#include <string.h>

struct printer {
    struct th_buffer *out;
    size_t end; /* the size of *out at which printing stops; SIZE_MAX: never */
    bool cut;   /* a part was left out */
    bool exact; /* leaves out terms that the parser does not read back */
    enum th_text_encoding encoding;
    enum th_text_names names;
    struct th_text_walk walk;
};

/* True if the printer shows the name so that the parser reads it back. */
static bool text_print_is_ascii(th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    return name->bytes == name->characters;
}

/* True for a bracket, whose content is checked later, and for a leaf that the parser reads back. */
static bool carries(th_term t)
{
    th_term module, function;
    struct th_ref_parts ref;
    struct th_pid_parts pid;
    struct th_port_parts port;
    uint32_t arity;

    switch (th_term_subtag(t)) {
    case TH_TUPLE:
    case TH_MAP:
        return true;
    case TH_POS_BIG:
    case TH_NEG_BIG:
        return th_header_words(*th_term_box(t)) <= TH_TEXT_DIGITS / 20; /* of a limb, at most */
    case TH_FLOAT:
        return isfinite(th_float_value(t));
    case TH_REF:
        return th_get_ref(t, &ref) && ref.node == TH_NONE && ref.creation == 0 && ref.count >= 3 &&
               !ref.magic;
    case TH_EXTERNAL_PID:
        return th_get_pid(t, &pid) && pid.node == TH_NONE && pid.creation == 0;
    case TH_EXTERNAL_PORT:
        return th_get_port(t, &port) && port.node == TH_NONE && port.creation == 0;
    case TH_EXPORT:
        return th_get_export(t, &module, &function, &arity) && text_print_is_ascii(module) &&
               text_print_is_ascii(function) && arity <= 255;
    default:
        return th_is_bitstring(t);
    }
}

static void begin_boxed(struct printer *p, th_term t, size_t room)
{
    if (p->exact && !carries(t)) {
        p->cut = true;
        return;
    }
    switch (th_term_subtag(t)) {
    case TH_TUPLE:
    case TH_MAP:
        th_text_walk_open(&p->walk, t);
        break;
    case TH_FLOAT:
        th_text_leaf_float(p->out, t);
        break;
    case TH_POS_BIG:
    case TH_NEG_BIG:
        p->cut = th_text_leaf_integer(p->out, t, room) == TH_LEAF_CUT;
        break;
    case TH_HEAP_BINARY:
    case TH_SHARED_BINARY:
    case TH_SUB_BINARY:
        p->cut = th_text_leaf_bits(p->out, t, room, p->encoding) == TH_LEAF_CUT;
        break;
    case TH_FUN:
    case TH_EXPORT:
        th_text_leaf_fun(p->out, t);
        break;
    case TH_REF:
    case TH_EXTERNAL_PID:
    case TH_EXTERNAL_PORT:
        th_text_leaf_identifier(p->out, t);
        break;
    }
}

/* Writes a leaf, or the opening bracket of a term with parts. Frames may move. */
static void text_print_begin(struct printer *p, th_term t)
{
    size_t room = p->out->size < p->end ? p->end - p->out->size : 0;
    enum th_leaf leaf;

    if (th_is_small(t)) {
        th_text_leaf_integer(p->out, t, room);
    } else if (th_is_atom(t)) {
        if (p->names == TH_TEXT_ERLANG || !th_text_elixir_alias(p->out, t))
            th_text_leaf_atom(p->out, t, p->encoding);
    } else if (th_is_boxed(t)) {
        begin_boxed(p, t, room);
    } else if (th_is_list(t)) {
        leaf = th_text_leaf_string(p->out, t, room, p->encoding);
        p->cut = leaf == TH_LEAF_CUT;
        if (leaf == TH_LEAF_OTHER)
            th_text_walk_open(&p->walk, t);
    } else if (t == TH_NIL) {
        th_buffer_add(p->out, "[]", 2);
    } else if (p->exact && th_peer_of(t)) {
        p->cut = true; /* another process may have other peers, or none */
    } else {
        th_text_leaf_identifier(p->out, t);
    }
}

/* Prints at most LIMIT bytes, or some more. False: a part was left out. */
static bool text_print_print(struct th_buffer *out, th_term t, size_t limit,
                             enum th_text_encoding encoding, enum th_text_names names, bool exact)
{
    size_t end = limit < SIZE_MAX - out->size ? out->size + limit : SIZE_MAX;
    struct printer p; /* not cleared: most of it is frames */

    p.out = out;
    p.end = end;
    p.cut = false;
    p.exact = exact;
    p.encoding = encoding;
    p.names = names;
    th_text_walk_begin(&p.walk, out, " => ");
    text_print_begin(&p, t);
    while (p.walk.stack.depth > 0 && !p.cut) {
        if (out->size >= end || (exact && p.walk.stack.depth > TH_TEXT_DEPTH))
            p.cut = true;
        else if (th_text_walk_step(&p.walk, &t))
            text_print_begin(&p, t);
    }
    if (p.cut)
        th_buffer_add(out, "...", 3);
    th_stack_end(&p.walk.stack);
    return !p.cut;
}

void th_text_print(struct th_buffer *out, th_term t)
{
    text_print_print(out, t, SIZE_MAX, TH_TEXT_LATIN1, TH_TEXT_ERLANG, false);
}

void th_text_print_limited(struct th_buffer *out, th_term t, size_t limit)
{
    text_print_print(out, t, limit, TH_TEXT_LATIN1, TH_TEXT_ERLANG, false);
}

bool th_text_print_exact(struct th_buffer *out, th_term t)
{
    size_t before = out->size;
    bool exact = text_print_print(out, t, SIZE_MAX, TH_TEXT_LATIN1, TH_TEXT_ERLANG, true);

    if (!exact)
        out->size = before;
    return exact;
}

void th_text_print_atom(struct th_buffer *out, th_term atom)
{
    th_text_leaf_atom(out, atom, TH_TEXT_LATIN1);
}

/* Written before other threads show terms. */
static enum th_text_encoding shown_in;
static enum th_text_names shown_names;

void th_text_show_in(enum th_text_encoding encoding)
{
    shown_in = encoding;
}

void th_text_show(struct th_buffer *out, th_term t)
{
    text_print_print(out, t, SIZE_MAX, shown_in, shown_names, false);
}

void th_text_show_limited(struct th_buffer *out, th_term t, size_t limit)
{
    text_print_print(out, t, limit, shown_in, shown_names, false);
}

void th_text_show_names(enum th_text_names names)
{
    shown_names = names;
}

enum th_text_names th_text_shown_names(void)
{
    return shown_names;
}

void th_text_show_atom(struct th_buffer *out, th_term atom)
{
    if (shown_names == TH_TEXT_ERLANG || !th_text_elixir_alias(out, atom))
        th_text_leaf_atom(out, atom, shown_in);
}

static void show_part(struct th_buffer *out, th_term atom)
{
    if (atom == TH_NONE)
        th_buffer_add_byte(out, '_');
    else
        th_text_leaf_atom(out, atom, shown_in);
}

void th_text_show_function(struct th_buffer *out, th_term module, th_term function)
{
    if (shown_names == TH_TEXT_ELIXIR && module != TH_NONE) {
        th_text_elixir_function(out, module, function);
        return;
    }
    show_part(out, module);
    th_buffer_add_byte(out, ':');
    show_part(out, function);
}

const char *th_text_fit(char *text, size_t size, th_term t)
{
    struct th_buffer whole = {0};
    size_t length;

    th_text_print_limited(&whole, t, size);
    length = whole.size;
    if (length >= size)
        for (length = size - 1; length > 0 && (whole.data[length] & 0xC0) == 0x80; length--)
            ;
    memcpy(text, whole.data, length);
    text[length] = 0;
    th_buffer_free(&whole);
    return text;
}
