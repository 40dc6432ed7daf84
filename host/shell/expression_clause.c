/* Reads what begins with a reserved word: begin, case, if, receive, try. */
#include "expression.h"

/* Behind "when": tests separated by commas, in alternatives separated by semicolons. */
static struct th_node *parse_guard(struct th_expression_parser *p)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    th_shell_parse_several(p, th_shell_parse_block, ";");
    return th_shell_make_node(p, TH_NODE_GUARD, at, first);
}

/* The clause of PATTERN (NULL: none) and GUARD (NULL: none), from "->" on. */
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

static struct th_node *parse_clause(struct th_expression_parser *p)
{
    return th_shell_parse_clause_rest(p, th_shell_parse_expression(p));
}

static struct th_node *parse_if_clause(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;

    return parse_body(p, at, NULL, parse_guard(p));
}

/* --- The clauses of catch --------------------------------------------------------------------- */

/* Class:Reason:Stack, Class:Reason, or Reason, as a tuple of three. */
static struct th_node *parse_caught(struct th_expression_parser *p)
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
    } else { /* only a reason, as thrown */
        reason = class ? th_shell_parse_rest(p, class) : th_shell_parse_expression(p);
        class = th_shell_make_leaf(p, TH_NODE_CONSTANT, at, th_atom("throw"));
    }
    stack = th_shell_skip(p, ":") ? th_shell_parse_primary(p)
                                  : th_shell_make_leaf(p, TH_NODE_ANY, at, TH_NONE);
    return th_shell_make_node_of(p, TH_NODE_TUPLE, at, (struct th_node *[]){class, reason, stack},
                                 3);
}

static struct th_node *parse_catch_clause(struct th_expression_parser *p)
{
    return th_shell_parse_clause_rest(p, parse_caught(p));
}

/* --- Words ------------------------------------------------------------------------------------ */

void th_shell_parse_end(struct th_expression_parser *p)
{
    if (!th_shell_skip(p, "end"))
        th_shell_fail_here(p, "an operator, ',', ';' or 'end'");
}

static struct th_node *parse_begin(struct th_expression_parser *p, const char *at)
{
    (void)at; /* the block begins where its first expression does */
    return th_shell_parse_block(p);
}

static struct th_node *parse_case(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_push_part(p, th_shell_parse_expression(p));
    th_shell_expect(p, "of");
    th_shell_parse_several(p, parse_clause, ";");
    return th_shell_make_node(p, TH_NODE_CASE, at, first);
}

static struct th_node *parse_if(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_parse_several(p, parse_if_clause, ";");
    return th_shell_make_node(p, TH_NODE_IF, at, first);
}

static struct th_node *parse_receive(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_push_part(p, NULL);
    th_shell_push_part(p, NULL);
    if (!th_shell_at(p, "after"))
        th_shell_parse_several(p, parse_clause, ";");
    if (th_shell_skip(p, "after")) {
        struct th_node *time = th_shell_parse_expression(p), *block;
        th_shell_expect(p, "->");
        block = th_shell_parse_block(p);
        p->parts[first] = time;
        p->parts[first + 1] = block;
    }
    return th_shell_make_node(p, TH_NODE_RECEIVE, at, first);
}

/* The clauses behind WORD as a node, NULL if the word does not stand here. */
static struct th_node *parse_try_clauses(struct th_expression_parser *p, const char *word,
                                         th_shell_parsed *clause)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    if (!th_shell_skip(p, word))
        return NULL;
    th_shell_parse_several(p, clause, ";");
    return th_shell_make_node(p, TH_NODE_CLAUSES, at, first);
}

static struct th_node *parse_try(struct th_expression_parser *p, const char *at)
{
    struct th_node *block = th_shell_parse_block(p);
    struct th_node *of = parse_try_clauses(p, "of", parse_clause);
    struct th_node *caught = parse_try_clauses(p, "catch", parse_catch_clause);
    struct th_node *after = th_shell_skip(p, "after") ? th_shell_parse_block(p) : NULL;

    if (!caught && !after)
        th_shell_fail_here(p, "'catch' or 'after'");
    return th_shell_make_node_of(p, TH_NODE_TRY, at, (struct th_node *[]){block, of, caught, after},
                                 4);
}

struct th_node *th_shell_parse_word(struct th_expression_parser *p)
{
    static const struct {
        const char *word;
        struct th_node *(*parse)(struct th_expression_parser *, const char *);
    } words[] = {{"begin", parse_begin},
                 {"case", parse_case},
                 {"if", parse_if},
                 {"receive", parse_receive},
                 {"try", parse_try}};
    const char *at = p->scanner.start;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (th_shell_skip(p, words[i].word)) {
            struct th_node *node = words[i].parse(p, at);
            th_shell_parse_end(p);
            return node;
        }
    return th_shell_fail_here(p,
                              "an expression (a reserved word is an atom only in single quotes)");
}
