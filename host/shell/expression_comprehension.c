/*
 * Comprehensions: what they make is read, generators and filters; and made.
 *
 * What a generator goes through lies on the evaluation's stack, as does what was made so far, but
 * for bits, which are in a buffer. Recursion follows the generators.
 */
#include "shell_internal.h"

/* --- Reading ---------------------------------------------------------------------------------- */

static struct th_node *make_filter(struct th_expression_parser *p, struct th_node *expression)
{
    struct th_node *filter =
        th_shell_make_node_of(p, TH_NODE_FILTER, expression->at, &expression, 1);

    filter->exact = !p->failed && th_shell_is_test(expression);
    return filter;
}

/* Behind "<-", or "<=" for BITS. */
static struct th_node *parse_generator(struct th_expression_parser *p, struct th_node *pattern,
                                       bool bits)
{
    struct th_node *from, *generator;

    if (bits && pattern->kind != TH_NODE_BITS)
        return th_shell_fail(p, pattern->at, "expected a bit string as the pattern before '<='");
    from = th_shell_parse_expression(p);
    generator = th_shell_make_node_of(p, TH_NODE_GENERATOR, pattern->at,
                                      (struct th_node *[]){pattern, from}, 2);
    generator->exact = bits;
    return generator;
}

/* Behind ":=" that follows KEY: the generator of a map. */
static struct th_node *parse_map_generator(struct th_expression_parser *p, struct th_node *key)
{
    struct th_node *value = th_shell_parse_expression(p), *pair;

    if (!th_shell_skip(p, "<-"))
        return th_shell_fail_here(p, "an operator or '<-'");
    pair = th_shell_make_node_of(p, TH_NODE_PAIR, key->at, (struct th_node *[]){key, value}, 2);
    return parse_generator(p, pair, false);
}

static struct th_node *parse_qualifier(struct th_expression_parser *p)
{
    struct th_node *expression = th_shell_parse_expression(p);

    if (th_shell_skip(p, ":="))
        return parse_map_generator(p, expression);
    if (th_shell_skip(p, "<-"))
        return parse_generator(p, expression, false);
    if (th_shell_skip(p, "<="))
        return parse_generator(p, expression, true);
    return make_filter(p, expression);
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

/* --- Making ----------------------------------------------------------------------------------- */

struct comprehension {
    const struct th_node *node;
    size_t made;             /* where on the stack what was made lies: a list in reverse, a map */
    struct th_segments bits; /* or here */
};

static bool add_bits(struct th_evaluation *e, struct comprehension *c, th_term t)
{
    static const struct th_spec whole = {
        .type = TH_SEGMENT_BITSTRING, .order = TH_ORDER_BIG, .sign = TH_SIGN_NO, .unit = 1};

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

static bool add_made(struct th_evaluation *e, struct comprehension *c)
{
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
    if (c->node->kind == TH_NODE_COMPREHENSION_BITS)
        return add_bits(e, c, t);
    e->stack[c->made] = th_make_cons(&e->heap, t, e->stack[c->made]);
    return true;
}

static bool go_on(struct th_evaluation *e, struct comprehension *c, size_t i);

/* What a generator takes next, from the term on the stack at PLACE: matches PATTERN with it.
 * TH_TAKEN_NOT: nothing is left, or the term is none that it goes through. */
typedef enum th_taken take_next(struct th_evaluation *e, const struct th_node *pattern,
                                size_t place, size_t *at);

static enum th_taken taken_if(bool matched)
{
    return matched ? TH_TAKEN_MATCHED : TH_TAKEN_OTHER;
}

/* The rest of the list takes its place. */
static enum th_taken take_of_list(struct th_evaluation *e, const struct th_node *pattern,
                                  size_t place, size_t *unused)
{
    const th_term *cell;

    (void)unused;
    if (!th_is_list(e->stack[place]))
        return TH_TAKEN_NOT;
    cell = th_cell(e->stack[place]);
    e->stack[place] = cell[1];
    return taken_if(th_shell_match(e, pattern, cell[0]));
}

static enum th_taken take_of_map(struct th_evaluation *e, const struct th_node *pattern,
                                 size_t place, size_t *at)
{
    th_term map = e->stack[place];
    size_t i = *at;

    if (i == th_map_size(map))
        return TH_TAKEN_NOT;
    ++*at;
    return taken_if(th_shell_match(e, pattern->parts[0], th_map_keys(map)[i]) &&
                    th_shell_match(e, pattern->parts[1], th_map_values(map)[i]));
}

static enum th_taken take_of_bits(struct th_evaluation *e, const struct th_node *pattern,
                                  size_t place, size_t *at)
{
    return th_shell_match_next_bits(e, pattern, e->stack[place], at);
}

static bool raise_generator(struct th_evaluation *e, th_term t)
{
    th_shell_raise_pair(e, "bad_generator", t);
    return false;
}

/* With what the term on the stack has; variables are bound for each element in turn. */
static bool go_through(struct th_evaluation *e, struct comprehension *c, size_t i, take_next *take)
{
    const struct th_node *pattern = c->node->parts[i]->parts[0];
    size_t place = e->stacked - 1, bound = e->count, at = 0;
    enum th_taken taken;
    bool good;

    do {
        if (!th_shell_pause(e))
            return false;
        e->fresh = e->count;
        taken = take(e, pattern, place, &at);
        e->fresh = e->scope;
        good = taken != TH_TAKEN_MATCHED || go_on(e, c, i + 1);
        if (e->count > bound)
            e->count = bound;
        e->stacked = place + 1;
    } while (good && taken != TH_TAKEN_NOT);
    return good;
}

static bool generate(struct th_evaluation *e, struct comprehension *c, size_t i)
{
    const struct th_node *generator = c->node->parts[i];
    size_t place = e->stacked;
    th_term from = th_shell_evaluate(e, generator->parts[1]);
    bool good;

    if (from == TH_NONE)
        return false;
    th_shell_push(e, from);
    if (generator->parts[0]->kind == TH_NODE_PAIR)
        good = th_is_map(from) ? go_through(e, c, i, take_of_map) : raise_generator(e, from);
    else if (generator->exact)
        good = th_is_bitstring(from) ? go_through(e, c, i, take_of_bits) : raise_generator(e, from);
    else
        good = go_through(e, c, i, take_of_list) &&
               (e->stack[place] == TH_NIL || raise_generator(e, e->stack[place]));
    e->stacked = place;
    return good;
}

/* *PASSED tells whether the filter lets go on. What may be a guard's test fails as one: without an
 * exception. */
static bool filter(struct th_evaluation *e, const struct th_node *node, bool *passed)
{
    size_t stacked = e->stacked;
    th_term t = th_shell_evaluate(e, node->parts[0]);

    *passed = t == TH_AM(true);
    if (node->exact)
        e->stacked = stacked;
    if (node->exact || *passed || t == TH_AM(false))
        return !e->stopped;
    if (t != TH_NONE)
        th_shell_raise_pair(e, "bad_filter", t);
    return false;
}

/* With the part I, and those behind it, for the variables that are bound. */
static bool go_on(struct th_evaluation *e, struct comprehension *c, size_t i)
{
    bool passed = true;

    for (; i < c->node->count; i++) {
        const struct th_node *part = c->node->parts[i];
        if (part->kind == TH_NODE_GENERATOR)
            return generate(e, c, i);
        if (!filter(e, part, &passed))
            return false;
        if (!passed)
            return true;
    }
    return add_made(e, c);
}

static th_term reverse(th_env *env, th_term list)
{
    th_term t = TH_NIL;

    for (; th_is_list(list); list = th_cell(list)[1])
        t = th_make_cons(env, th_cell(list)[0], t);
    return t;
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
    if (go_on(e, &c, 1)) {
        t = e->stack[c.made];
        if (node->kind == TH_NODE_COMPREHENSION)
            t = reverse(&e->heap, t);
        else if (node->kind == TH_NODE_COMPREHENSION_BITS)
            t = th_shell_make_bits(&e->heap, c.bits.bytes.data, c.bits.bits);
        e->stacked = c.made;
        if (e->count > bound)
            e->count = bound;
    }
    th_buffer_free(&c.bits.bytes);
    return t;
}
