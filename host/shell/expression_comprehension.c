/*
 * Comprehensions: parses their results, generators and filters, and evaluates them.
 *
 * The input of a generator is on the evaluation's stack, and so is the result so far, except for
 * bits, which are in a buffer. Recursion follows the generators.
 */
#include "shell_internal.h"

#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text_segment.h"

/* --- Parsing ---------------------------------------------------------------------------------- */

/* Parses a generator or a filter. */
static struct th_node *parse_qualifier(struct th_expression_parser *p)
{
    struct th_node *pattern = th_shell_parse_expression(p), *node, *from;
    const char *at = pattern->at;
    bool of_map = th_shell_skip(p, ":="), bits = !of_map && th_shell_skip(p, "<=");

    if (of_map) {
        struct th_node *value = th_shell_parse_expression(p);
        pattern =
            th_shell_make_node_of(p, TH_NODE_PAIR, at, (struct th_node *[]){pattern, value}, 2);
    }
    if (!bits && !th_shell_skip(p, "<-")) {
        if (of_map)
            return th_shell_fail_here(p, "an operator or '<-'");
        node = th_shell_make_node_of(p, TH_NODE_FILTER, at, &pattern, 1);
        node->exact = !p->failed && th_shell_is_test(pattern);
        return node;
    }
    if (bits && pattern->kind != TH_NODE_BITS)
        return th_shell_fail(p, at, "expected a bit string as the pattern before '<='");
    from = th_shell_parse_expression(p);
    node = th_shell_make_node_of(p, TH_NODE_GENERATOR, at, (struct th_node *[]){pattern, from}, 2);
    node->exact = bits;
    return node;
}

struct th_node *th_shell_parse_comprehension(struct th_expression_parser *p, enum th_node_kind kind,
                                             struct th_node *made, const char *closing)
{
    size_t first = p->count;

    if (made->kind == TH_NODE_PAIR && made->exact)
        return th_shell_fail(p, made->at, "expected '=>' between key and value of a new map");
    th_shell_push_part(p, made);
    th_shell_advance(p);
    th_shell_parse_several(p, parse_qualifier, ",");
    if (!th_shell_skip(p, closing))
        th_shell_fail(p, p->scanner.start, "expected an operator, ',' or '%s'", closing);
    return th_shell_make_node(p, kind, made->at, first);
}

/* --- Evaluating ------------------------------------------------------------------------------- */

struct comprehension {
    const struct th_node *node;
    size_t made;             /* stack index of the result: a list in reverse, or a map */
    struct th_segments bits; /* the result of a bit string comprehension */
};

static bool add_made(struct th_evaluation *e, struct comprehension *c)
{
    static const struct th_spec whole = {
        .type = TH_SEGMENT_BITSTRING, .order = TH_ORDER_BIG, .sign = TH_SIGN_NO, .unit = 1};
    const struct th_node *node = c->node->parts[0];
    size_t first;
    th_term t;

    if (node->kind == TH_NODE_PAIR) {
        if (!th_shell_evaluate_all(e, node->parts, 2, &first))
            return false;
        e->stack[c->made] =
            th_map_put(&e->heap, e->stack[c->made], e->stack[first], e->stack[first + 1]);
        e->stacked = first;
        return true;
    }
    t = th_shell_evaluate(e, node);
    if (t == TH_NONE)
        return false;
    if (c->node->kind == TH_NODE_COMPREHENSION) {
        e->stack[c->made] = th_make_cons(&e->heap, t, e->stack[c->made]);
        return true;
    }
    if (!th_is_bitstring(t)) {
        th_shell_raise(e, TH_CLASS_ERROR, TH_AM(badarg));
        e->exception.construction = true;
        return false;
    }
    if (!th_text_segment_put(&c->bits, &whole, t))
        return true;
    th_shell_raise_limit(e, "a bit string takes more than a quarter of a gigabyte");
    return false;
}

static bool expression_comprehension_go_on(struct th_evaluation *e, struct comprehension *c,
                                           size_t i);

/* Takes the next element from the term at stack index PLACE, and matches the generator's pattern.
 * Returns TH_TAKEN_NOT if nothing is left, or if the term is no input of this generator. */
static enum th_taken take_next(struct th_evaluation *e, const struct th_node *generator,
                               size_t place, size_t *at)
{
    const struct th_node *pattern = generator->parts[0];
    th_term from = e->stack[place];
    bool matched;

    if (generator->exact)
        return th_shell_match_next_bits(e, pattern, from, at);
    if (pattern->kind == TH_NODE_PAIR) {
        size_t i = *at;
        if (i == th_map_size(from))
            return TH_TAKEN_NOT;
        ++*at;
        matched = th_shell_match(e, pattern->parts[0], th_map_keys(from)[i]) &&
                  th_shell_match(e, pattern->parts[1], th_map_values(from)[i]);
    } else if (th_is_list(from)) {
        e->stack[place] = th_cell(from)[1];
        matched = th_shell_match(e, pattern, th_cell(from)[0]);
    } else {
        return TH_TAKEN_NOT;
    }
    return matched ? TH_TAKEN_MATCHED : TH_TAKEN_OTHER;
}

/* Evaluates generator I and, for each of its elements, the parts behind it. */
static bool generate(struct th_evaluation *e, struct comprehension *c, size_t i)
{
    const struct th_node *generator = c->node->parts[i];
    size_t place = e->stacked, bound, at = 0;
    th_term from = th_shell_evaluate(e, generator->parts[1]);
    bool of_map = generator->parts[0]->kind == TH_NODE_PAIR, good = true;
    enum th_taken taken;

    if (from == TH_NONE)
        return false;
    if (of_map ? !th_is_map(from) : generator->exact && !th_is_bitstring(from)) {
        th_shell_raise_pair(e, "bad_generator", from);
        return false;
    }
    th_shell_push(e, from);
    bound = e->count;
    do {
        if (!th_shell_pause(e))
            return false;
        e->fresh = e->count;
        taken = take_next(e, generator, place, &at);
        e->fresh = e->scope;
        good = taken != TH_TAKEN_MATCHED || expression_comprehension_go_on(e, c, i + 1);
        if (e->count > bound)
            e->count = bound;
        e->stacked = place + 1;
    } while (good && taken != TH_TAKEN_NOT);
    if (good && !of_map && !generator->exact && e->stack[place] != TH_NIL) {
        th_shell_raise_pair(e, "bad_generator", e->stack[place]);
        good = false;
    }
    e->stacked = place;
    return good;
}

/* Evaluates part I and the parts behind it, with the current bindings. */
static bool expression_comprehension_go_on(struct th_evaluation *e, struct comprehension *c,
                                           size_t i)
{
    for (; i < c->node->count; i++) {
        const struct th_node *part = c->node->parts[i];
        size_t stacked = e->stacked;
        th_term t;
        if (part->kind == TH_NODE_GENERATOR)
            return generate(e, c, i);
        t = th_shell_evaluate(e, part->parts[0]);
        if (part->exact) /* a guard's test fails without an exception */
            e->stacked = stacked;
        else if (t != TH_NONE && !th_shell_is_boolean(t))
            th_shell_raise_pair(e, "bad_filter", t);
        if (e->stopped || (!part->exact && !th_shell_is_boolean(t)))
            return false;
        if (t != TH_AM(true))
            return true;
    }
    return add_made(e, c);
}

th_term th_shell_evaluate_comprehension(struct th_evaluation *e, const struct th_node *node)
{
    struct comprehension c = {
        .node = node, .made = e->stacked, .bits = {.left = TH_EXPRESSION_BITS}};
    size_t bound = e->count;
    th_term t = TH_NONE;

    th_shell_push(e, node->kind == TH_NODE_COMPREHENSION_MAP
                         ? th_make_map(&e->heap, NULL, NULL, 0, true)
                         : TH_NIL);
    if (expression_comprehension_go_on(e, &c, 1)) {
        t = e->stack[c.made];
        if (node->kind == TH_NODE_COMPREHENSION) {
            th_term made = t; /* in reverse */
            for (t = TH_NIL; th_is_list(made); made = th_cell(made)[1])
                t = th_make_cons(&e->heap, th_cell(made)[0], t);
        } else if (node->kind == TH_NODE_COMPREHENSION_BITS) {
            t = th_shell_make_bits(&e->heap, c.bits.bytes.data, c.bits.bits);
        }
        e->stacked = c.made;
        if (e->count > bound)
            e->count = bound;
    }
    th_buffer_free(&c.bits.bytes);
    return t;
}
