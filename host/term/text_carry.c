/* Which terms come back from their text as they were. */
#include "text.h"

#include "atom.h"
#include "make.h"
#include "map.h"
#include "text_internal.h"

#include <math.h>

/* Terms that lie side by side in memory, with a gap or not, or the rest of a list. */
struct span {
    const th_term *next;
    size_t left;
    th_term list;    /* TH_NONE for the former */
    size_t gap_left; /* the gap comes when so many are left */
    size_t gap;      /* words to go past, between the keys of a large map and its values */
};

struct walk {
    struct span *spans;
    size_t depth;
    size_t capacity;
};

static bool push(struct walk *w, struct span span)
{
    if (w->depth == TH_TEXT_DEPTH)
        return false;
    TH_ARRAY_GROW(w->spans, w->depth, w->capacity);
    w->spans[w->depth++] = span;
    return true;
}

/* The printer shows other characters of an export's names in a way that cannot be read back. */
static bool is_ascii(th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    return name->bytes == name->characters;
}

static bool carries_export(th_term t)
{
    th_term module, function;
    uint32_t arity;

    return th_get_export(t, &module, &function, &arity) && is_ascii(module) && is_ascii(function) &&
           arity <= 255;
}

static bool carries_ref(th_term t)
{
    struct th_ref_parts ref;

    return th_get_ref(t, &ref) && ref.node == TH_NONE && ref.creation == 0 && ref.count >= 3 &&
           !ref.magic;
}

static bool carries_pid(th_term t)
{
    struct th_pid_parts pid;

    return th_get_pid(t, &pid) && pid.node == TH_NONE && pid.creation == 0;
}

static bool carries_port(th_term t)
{
    struct th_port_parts port;

    return th_get_port(t, &port) && port.node == TH_NONE && port.creation == 0;
}

/* A limb has at most 20 digits. */
static bool carries_big(th_term t)
{
    return th_header_words(*th_term_box(t)) <= TH_TEXT_DIGITS / 20;
}

static struct span span_of_map(th_term t)
{
    size_t size = th_map_size(t);

    return (struct span){th_map_keys(t), 2 * size, TH_NONE, size, th_map_stride(t) - size};
}

static bool visit_boxed(struct walk *w, th_term t)
{
    switch (th_term_subtag(t)) {
    case TH_TUPLE:
        return push(w, (struct span){.next = th_tuple_elements(t), .left = th_tuple_arity(t)});
    case TH_MAP:
        return push(w, span_of_map(t));
    case TH_POS_BIG:
    case TH_NEG_BIG:
        return carries_big(t);
    case TH_FLOAT:
        return isfinite(th_float_value(t));
    case TH_REF:
        return carries_ref(t);
    case TH_EXTERNAL_PID:
        return carries_pid(t);
    case TH_EXTERNAL_PORT:
        return carries_port(t);
    case TH_EXPORT:
        return carries_export(t);
    case TH_HEAP_BINARY:
    case TH_SHARED_BINARY:
    case TH_SUB_BINARY:
        return true;
    case TH_FUN:
        return false;
    }
    return false;
}

static bool visit(struct walk *w, th_term t)
{
    if (th_is_list(t))
        return push(w, (struct span){.list = t});
    return !th_is_boxed(t) || visit_boxed(w, t);
}

/* Takes one term off the innermost span; a tail that is no list is taken like an element. */
static bool step(struct walk *w)
{
    struct span *span = &w->spans[w->depth - 1];
    th_term t = TH_NIL;

    if (th_is_list(span->list)) {
        t = th_cell(span->list)[0];
        span->list = th_cell(span->list)[1];
    } else if (span->list != TH_NONE && span->list != TH_NIL) {
        t = span->list;
        span->list = TH_NIL;
    } else if (span->left > 0) {
        t = *span->next++;
        if (--span->left == span->gap_left)
            span->next += span->gap;
    } else {
        w->depth--;
    }
    return visit(w, t);
}

bool th_text_can_carry(th_term t)
{
    struct walk w = {0};
    bool good = visit(&w, t);

    while (good && w.depth > 0)
        good = step(&w);
    th_free(w.spans);
    return good;
}
