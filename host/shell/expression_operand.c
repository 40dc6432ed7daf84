/*
 * Reads operands: constants, variables, brackets, calls.
 *
 * Recursion follows the nesting of the text and is bounded by the parser's depth.
 */
#include "expression.h"

/* --- Operands --------------------------------------------------------------------------------- */

struct th_node *th_shell_parse_constant(struct th_expression_parser *p, th_term value)
{
    struct th_node *leaf = th_shell_make_leaf(p, TH_NODE_CONSTANT, p->scanner.start, value);

    th_shell_advance(p);
    return leaf;
}

struct th_node *th_shell_parse_variable(struct th_expression_parser *p)
{
    const struct th_scanner *s = &p->scanner;
    size_t size = (size_t)(s->at - s->start);
    bool any = size == 1 && *s->start == '_';
    th_term name = th_atom_utf8(s->start, size);
    struct th_node *leaf;

    if (name == TH_NONE)
        return th_shell_fail_here(p, "a variable whose name is not that long");
    leaf = th_shell_make_leaf(p, any ? TH_NODE_ANY : TH_NODE_VARIABLE, s->start, name);
    th_shell_advance(p);
    return leaf;
}

void th_shell_parse_elements(struct th_expression_parser *p, const char *closing)
{
    if (th_shell_skip(p, closing))
        return;
    th_shell_parse_several(p, th_shell_parse_expression, ",");
    if (!th_shell_skip(p, closing))
        th_shell_fail(p, p->scanner.start, "expected an operator, ',' or '%s'", closing);
}

/* Behind '['. */
static struct th_node *parse_list(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;
    struct th_node *tail = NULL;

    if (!th_shell_at(p, "]")) {
        th_shell_parse_several(p, th_shell_parse_expression, ",");
        if (th_shell_at(p, "||"))
            return p->count == first + 1
                       ? th_shell_parse_comprehension(p, TH_NODE_COMPREHENSION,
                                                      p->parts[--p->count], "]")
                       : th_shell_fail_here(p, "',', '|' or ']' behind several elements");
        if (th_shell_skip(p, "|"))
            tail = th_shell_parse_expression(p);
        else if (!th_shell_at(p, "]"))
            th_shell_fail_here(p, "an operator, ',', '|' or ']'");
    }
    if (!tail)
        tail = th_shell_make_leaf(p, TH_NODE_CONSTANT, p->scanner.start, TH_NIL);
    th_shell_expect(p, "]");
    th_shell_push_part(p, tail);
    return th_shell_make_node(p, TH_NODE_LIST, at, first);
}

static struct th_node *parse_tuple(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_parse_elements(p, "}");
    return th_shell_make_node(p, TH_NODE_TUPLE, at, first);
}

static struct th_node *parse_pair(struct th_expression_parser *p)
{
    struct th_node *key = th_shell_parse_expression(p), *value, *pair;
    bool exact = th_shell_skip(p, ":=");

    if (!exact && !th_shell_skip(p, "=>"))
        return th_shell_fail_here(p, "'=>' or ':='");
    value = th_shell_parse_expression(p);
    pair = th_shell_make_node_of(p, TH_NODE_PAIR, key->at, (struct th_node *[]){key, value}, 2);
    pair->exact = exact;
    return pair;
}

/* At '#': a new map, or an update of BASE. */
static struct th_node *parse_map(struct th_expression_parser *p, struct th_node *base)
{
    size_t first = p->count;
    const char *at = base ? base->at : p->scanner.start;

    th_shell_push_part(p, base);
    th_shell_advance(p);
    if (!th_shell_skip(p, "{"))
        return th_shell_fail_here(p, "'{' behind '#' (there are no records here)");
    if (!th_shell_skip(p, "}")) {
        th_shell_parse_several(p, parse_pair, ",");
        if (th_shell_at(p, "||") && !base && p->count == first + 2) {
            p->count = first;
            return th_shell_parse_comprehension(p, TH_NODE_COMPREHENSION_MAP, p->parts[first + 1],
                                                "}");
        }
        if (!th_shell_skip(p, "}"))
            th_shell_fail_here(p, "an operator, ',' or '}'");
    }
    return th_shell_make_node(p, TH_NODE_MAP, at, first);
}

static struct th_node *parse_parenthesis(struct th_expression_parser *p)
{
    struct th_node *inside = th_shell_parse_expression(p);

    return th_shell_skip(p, ")") ? inside : th_shell_fail_here(p, "an operator or ')'");
}

/* What begins with a bracket or a word; its first token is taken. */
static struct th_node *parse_open(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    int token = p->scanner.token;

    th_shell_advance(p);
    switch (token) {
    case '[':
        return parse_list(p, at);
    case '{':
        return parse_tuple(p, at);
    case '(':
        return parse_parenthesis(p);
    case TH_TOKEN_OPEN_BINARY:
        return th_shell_parse_bits(p, at);
    default:
        return th_shell_parse_fun(p, at);
    }
}

struct th_node *th_shell_parse_bare(struct th_expression_parser *p)
{
    struct th_scanner *s = &p->scanner;

    switch (s->token) {
    case TH_TOKEN_TERM:
        return th_shell_parse_constant(p, s->value);
    case TH_TOKEN_STRING:
        return th_shell_parse_constant(p, th_text_scan_list(s));
    case TH_TOKEN_VARIABLE:
        return th_shell_parse_variable(p);
    case '#':
        return parse_map(p, NULL);
    case '[':
    case '{':
    case '(':
    case TH_TOKEN_OPEN_BINARY:
    case TH_TOKEN_FUN:
        return parse_open(p);
    case TH_TOKEN_RESERVED:
        return th_shell_parse_word(p);
    default:
        return th_shell_fail_here(p, "an expression");
    }
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Behind '('. */
static struct th_node *parse_arguments(struct th_expression_parser *p, struct th_node *module,
                                       struct th_node *function)
{
    size_t first = p->count;
    const char *at = module ? module->at : function->at;

    th_shell_push_part(p, module);
    th_shell_push_part(p, function);
    th_shell_parse_elements(p, ")");
    if (p->count - first > 2 + 255)
        th_shell_fail(p, at, "expected at most 255 arguments");
    return th_shell_make_node(p, TH_NODE_CALL, at, first);
}

/* Behind ':'. */
static struct th_node *parse_remote_call(struct th_expression_parser *p, struct th_node *module)
{
    struct th_node *function = th_shell_parse_bare(p);

    if (!th_shell_skip(p, "("))
        return th_shell_fail_here(p, "'(' and the arguments of the function");
    return parse_arguments(p, module, function);
}

struct th_node *th_shell_parse_called(struct th_expression_parser *p)
{
    bool enclosed = th_shell_at(p, "(");
    struct th_node *node = th_shell_parse_bare(p);

    for (;; enclosed = false) {
        if (th_shell_at(p, "(") && node->kind == TH_NODE_CALL && !enclosed)
            return th_shell_fail_here(p, "an operator (what is called is put in parentheses)");
        if (th_shell_skip(p, ":"))
            node = parse_remote_call(p, node);
        else if (th_shell_skip(p, "("))
            node = parse_arguments(p, NULL, node);
        else if (th_shell_at(p, "#"))
            node = parse_map(p, node);
        else
            return node;
    }
}
