/* Which terms come back from their text as they were. */
#include "text.h"

#include "atom.h"
#include "make.h"
#include "map.h"
#include "text_internal.h"
#include "text_walk.h"

#include <math.h>

/* The printer shows other characters of an export's names in a way that cannot be read back. */
static bool is_ascii(th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    return name->bytes == name->characters;
}

static bool carries_leaf(th_term t)
{
    th_term module, function;
    struct th_ref_parts ref;
    struct th_pid_parts pid;
    struct th_port_parts port;
    uint32_t arity;

    switch (th_term_subtag(t)) {
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
        return th_get_export(t, &module, &function, &arity) && is_ascii(module) &&
               is_ascii(function) && arity <= 255;
    default:
        return th_is_bitstring(t);
    }
}

/* False for a leaf that text does not carry, or a bracket too many. */
static bool visit(struct th_text_walk *walk, th_term t)
{
    bool open = th_is_list(t) || th_is_tuple(t) || th_is_map(t);

    walk->out->size = 0; /* the brackets themselves are of no use */
    if (!open)
        return !th_is_boxed(t) || carries_leaf(t);
    if (walk->stack.depth == TH_TEXT_DEPTH)
        return false;
    th_text_walk_open(walk, t);
    return true;
}

bool th_text_can_carry(th_term t)
{
    struct th_buffer brackets = {0};
    struct th_text_walk walk; /* not cleared: most of it is frames */
    bool good;

    th_text_walk_begin(&walk, &brackets, "");
    good = visit(&walk, t);
    while (good && walk.stack.depth > 0)
        if (th_text_walk_step(&walk, &t))
            good = visit(&walk, t);
    th_stack_end(&walk.stack);
    th_buffer_free(&brackets);
    return good;
}
