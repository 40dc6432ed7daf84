/*
 * Parses operands: constants, variables, brackets, calls, and expressions that begin with a
 * reserved word.
 *
 * Recursion follows the nesting of the text; the parser's depth bounds it.
 */
#include "shell_internal.h"

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

/* Parses after '['. */
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

/* At '#': parses a new map, or an update of BASE. */
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

/* --- Reserved words --------------------------------------------------------------------------- */

/* Parses after "when": tests separated by commas, in alternatives separated by semicolons. */
static struct th_node *parse_guard(struct th_expression_parser *p)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    th_shell_parse_several(p, th_shell_parse_block, ";");
    return th_shell_make_node(p, TH_NODE_GUARD, at, first);
}

/* Parses a clause from "->" on. PATTERN and GUARD may be NULL. */
static struct th_node *parse_body(struct th_expression_parser *p, const char *at,
                                  struct th_node *pattern, struct th_node *guard)
{
    struct th_node *body;

    th_shell_expect(p, "->");
    body = th_shell_parse_block(p);
    return th_shell_make_node_of(p, TH_NODE_CLAUSE, at, (struct th_node *[]){pattern, guard, body},
                                 3);
}

struct th_node *th_shell_parse_clause_rest(struct th_expression_parser *p, struct th_node *pattern)
{
    return parse_body(p, pattern->at, pattern, th_shell_skip(p, "when") ? parse_guard(p) : NULL);
}

static struct th_node *expression_operand_parse_clause(struct th_expression_parser *p)
{
    return th_shell_parse_clause_rest(p, th_shell_parse_expression(p));
}

static struct th_node *parse_if_clause(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;

    return parse_body(p, at, NULL, parse_guard(p));
}

/* Parses a clause of `catch`: Class:Reason:Stack, Class:Reason, or Reason. The pattern becomes a
 * tuple of three. */
static struct th_node *parse_catch_clause(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    int token = p->scanner.token;
    struct th_node *class = NULL, *reason, *stack;

    if (token == TH_TOKEN_VARIABLE)
        class = th_shell_parse_variable(p);
    else if (token == TH_TOKEN_TERM)
        class = th_shell_parse_constant(p, p->scanner.value);
    if (class && th_shell_skip(p, ":")) {
        reason = th_shell_parse_primary(p);
    } else { /* only a reason, with class throw */
        reason = class ? th_shell_parse_rest(p, class, 0) : th_shell_parse_expression(p);
        class = th_shell_make_leaf(p, TH_NODE_CONSTANT, at, th_atom("throw"));
    }
    stack = th_shell_skip(p, ":") ? th_shell_parse_primary(p)
                                  : th_shell_make_leaf(p, TH_NODE_ANY, at, TH_NONE);
    return th_shell_parse_clause_rest(
        p,
        th_shell_make_node_of(p, TH_NODE_TUPLE, at, (struct th_node *[]){class, reason, stack}, 3));
}

void th_shell_parse_end(struct th_expression_parser *p)
{
    if (!th_shell_skip(p, "end"))
        th_shell_fail_here(p, "an operator, ',', ';' or 'end'");
}

static struct th_node *parse_receive(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_push_part(p, NULL);
    th_shell_push_part(p, NULL);
    if (!th_shell_at(p, "after"))
        th_shell_parse_several(p, expression_operand_parse_clause, ";");
    if (th_shell_skip(p, "after")) {
        struct th_node *time = th_shell_parse_expression(p), *block;
        th_shell_expect(p, "->");
        block = th_shell_parse_block(p);
        p->parts[first] = time;
        p->parts[first + 1] = block;
    }
    return th_shell_make_node(p, TH_NODE_RECEIVE, at, first);
}

/* Parses after "try". */
static struct th_node *parse_try(struct th_expression_parser *p, const char *at)
{
    static const struct {
        const char *word;
        th_shell_parsed *clause;
    } sets[] = {{"of", expression_operand_parse_clause}, {"catch", parse_catch_clause}};
    struct th_node *parts[4] = {th_shell_parse_block(p)};

    for (size_t i = 0; i < 2; i++) {
        size_t first = p->count;
        const char *set_at = p->scanner.start;
        if (!th_shell_skip(p, sets[i].word))
            continue;
        th_shell_parse_several(p, sets[i].clause, ";");
        parts[1 + i] = th_shell_make_node(p, TH_NODE_CLAUSES, set_at, first);
    }
    if (th_shell_skip(p, "after"))
        parts[3] = th_shell_parse_block(p);
    if (!parts[2] && !parts[3])
        th_shell_fail_here(p, "'catch' or 'after'");
    return th_shell_make_node_of(p, TH_NODE_TRY, at, parts, 4);
}

/* Parses at a reserved word. */
static struct th_node *parse_word(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    size_t first = p->count;
    struct th_node *node;

    if (th_shell_skip(p, "begin")) { /* the block begins at its first expression */
        node = th_shell_parse_block(p);
    } else if (th_shell_skip(p, "case")) {
        th_shell_push_part(p, th_shell_parse_expression(p));
        th_shell_expect(p, "of");
        th_shell_parse_several(p, expression_operand_parse_clause, ";");
        node = th_shell_make_node(p, TH_NODE_CASE, at, first);
    } else if (th_shell_skip(p, "if")) {
        th_shell_parse_several(p, parse_if_clause, ";");
        node = th_shell_make_node(p, TH_NODE_IF, at, first);
    } else if (th_shell_skip(p, "receive")) {
        node = parse_receive(p, at);
    } else if (th_shell_skip(p, "try")) {
        node = parse_try(p, at);
    } else {
        return th_shell_fail_here(
            p, "an expression (a reserved word is an atom only in single quotes)");
    }
    th_shell_parse_end(p);
    return node;
}

struct th_node *th_shell_parse_bare(struct th_expression_parser *p)
{
    struct th_scanner *s = &p->scanner;
    const char *at = s->start;
    size_t first = p->count;
    struct th_node *inside;

    switch (s->token) {
    case TH_TOKEN_TERM:
        return th_shell_parse_constant(p, s->value);
    case TH_TOKEN_STRING:
        return th_shell_parse_constant(p, th_text_scan_list(s));
    case TH_TOKEN_VARIABLE:
        return th_shell_parse_variable(p);
    case TH_TOKEN_RESERVED:
        return parse_word(p);
    case '#':
        return parse_map(p, NULL);
    case '[':
        th_shell_advance(p);
        return parse_list(p, at);
    case '{':
        th_shell_advance(p);
        th_shell_parse_elements(p, "}");
        return th_shell_make_node(p, TH_NODE_TUPLE, at, first);
    case '(':
        th_shell_advance(p);
        inside = th_shell_parse_expression(p);
        return th_shell_skip(p, ")") ? inside : th_shell_fail_here(p, "an operator or ')'");
    case TH_TOKEN_OPEN_BINARY:
        th_shell_advance(p);
        return th_shell_parse_bits(p, at);
    case TH_TOKEN_FUN:
        th_shell_advance(p);
        return th_shell_parse_fun(p, at);
    default:
        return th_shell_fail_here(p, "an expression");
    }
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Parses after '('. */
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

struct th_node *th_shell_parse_called(struct th_expression_parser *p)
{
    bool enclosed = th_shell_at(p, "(");
    struct th_node *node = th_shell_parse_bare(p);

    for (;; enclosed = false) {
        if (th_shell_at(p, "(") && node->kind == TH_NODE_CALL && !enclosed)
            return th_shell_fail_here(p, "an operator (what is called is put in parentheses)");
        if (th_shell_skip(p, ":")) {
            struct th_node *function = th_shell_parse_bare(p);
            node = th_shell_skip(p, "(")
                       ? parse_arguments(p, node, function)
                       : th_shell_fail_here(p, "'(' and the arguments of the function");
        } else if (th_shell_skip(p, "(")) {
            node = parse_arguments(p, NULL, node);
        } else if (th_shell_at(p, "#")) {
            node = parse_map(p, node);
        } else {
            return node;
        }
    }
}
