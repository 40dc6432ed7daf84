/* Reads what begins with a reserved word: begin, case, if, receive, try. */
#include "expression.h"

/* Behind "when": tests separated by commas, in alternatives separated by semicolons. */
static struct th_node *parse_guard(struct th_expression_parser *p)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    for (;;) {
        struct th_node *tests = th_shell_parse_block(p);
        if (!tests)
            return NULL;
        th_shell_push_part(p, tests);
        if (!th_shell_at(p, ";"))
            break;
        if (!th_shell_advance(p))
            return NULL;
    }
    return th_shell_make_node(p, TH_NODE_GUARD, at, first);
}

/* The clause of PATTERN (NULL: none) and GUARD (NULL: none), from "->" on. */
static struct th_node *parse_body(struct th_expression_parser *p, const char *at,
                                  struct th_node *pattern, struct th_node *guard)
{
    size_t first = p->count;
    struct th_node *body = th_shell_expect(p, "->") ? th_shell_parse_block(p) : NULL;

    if (!body)
        return NULL;
    th_shell_push_part(p, pattern);
    th_shell_push_part(p, guard);
    th_shell_push_part(p, body);
    return th_shell_make_node(p, TH_NODE_CLAUSE, at, first);
}

struct th_node *th_shell_parse_clause_rest(struct th_expression_parser *p, struct th_node *pattern)
{
    struct th_node *guard = NULL;

    if (!pattern)
        return NULL;
    if (th_shell_at(p, "when")) {
        guard = th_shell_advance(p) ? parse_guard(p) : NULL;
        if (!guard)
            return NULL;
    }
    return parse_body(p, pattern->at, pattern, guard);
}

static struct th_node *parse_clause(struct th_expression_parser *p)
{
    return th_shell_parse_clause_rest(p, th_shell_parse_expression(p));
}

static struct th_node *parse_if_clause(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    struct th_node *guard = parse_guard(p);

    return guard ? parse_body(p, at, NULL, guard) : NULL;
}

/* --- The clauses of catch --------------------------------------------------------------------- */

/* Pushes the parts of Class:Reason:Stack, Class:Reason, or Reason. */
static bool parse_caught(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    int token = p->scanner.token;
    struct th_node *class = NULL, *reason, *stack;

    if (token == TH_TOKEN_VARIABLE || token == TH_TOKEN_TERM) {
        class = th_shell_make_leaf(p, TH_NODE_CONSTANT, at, p->scanner.value);
        if (token == TH_TOKEN_VARIABLE && class) {
            size_t size = (size_t)(p->scanner.at - at);
            class->kind = size == 1 && *at == '_' ? TH_NODE_ANY : TH_NODE_VARIABLE;
            class->value = th_atom_utf8(at, size);
        }
        if (!class || class->value == TH_NONE || !th_shell_advance(p))
            return false;
    }
    if (class && th_shell_at(p, ":")) {
        reason = th_shell_advance(p) ? th_shell_parse_primary(p) : NULL;
    } else { /* only a reason, as thrown */
        reason = class ? th_shell_parse_rest(p, class) : th_shell_parse_expression(p);
        class = th_shell_make_leaf(p, TH_NODE_CONSTANT, at, th_atom("throw"));
    }
    stack = th_shell_make_leaf(p, TH_NODE_ANY, at, TH_NONE);
    if (reason && th_shell_at(p, ":"))
        stack = th_shell_advance(p) ? th_shell_parse_primary(p) : NULL;
    if (!class || !reason || !stack)
        return false;
    th_shell_push_part(p, class);
    th_shell_push_part(p, reason);
    th_shell_push_part(p, stack);
    return true;
}

static struct th_node *parse_catch_clause(struct th_expression_parser *p)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    return parse_caught(p)
               ? th_shell_parse_clause_rest(p, th_shell_make_node(p, TH_NODE_TUPLE, at, first))
               : NULL;
}

/* --- Words ------------------------------------------------------------------------------------ */

/* Pushes clauses, as CLAUSE reads them, as long as semicolons follow. */
static bool parse_clauses(struct th_expression_parser *p,
                          struct th_node *(*clause)(struct th_expression_parser *))
{
    for (;;) {
        struct th_node *node = clause(p);
        if (!node)
            return false;
        th_shell_push_part(p, node);
        if (!th_shell_at(p, ";"))
            return true;
        if (!th_shell_advance(p))
            return false;
    }
}

static bool parse_end(struct th_expression_parser *p)
{
    if (th_shell_at(p, "end"))
        return th_shell_advance(p);
    th_shell_fail_here(p, "an operator, ',', ';' or 'end'");
    return false;
}

static struct th_node *parse_begin(struct th_expression_parser *p)
{
    struct th_node *block = th_shell_parse_block(p);

    return block && parse_end(p) ? block : NULL;
}

static struct th_node *parse_case(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;
    struct th_node *subject = th_shell_parse_expression(p);

    if (!subject)
        return NULL;
    th_shell_push_part(p, subject);
    if (!th_shell_expect(p, "of") || !parse_clauses(p, parse_clause) || !parse_end(p))
        return NULL;
    return th_shell_make_node(p, TH_NODE_CASE, at, first);
}

static struct th_node *parse_if(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    if (!parse_clauses(p, parse_if_clause) || !parse_end(p))
        return NULL;
    return th_shell_make_node(p, TH_NODE_IF, at, first);
}

static struct th_node *parse_receive(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    th_shell_push_part(p, NULL);
    th_shell_push_part(p, NULL);
    if (!th_shell_at(p, "after") && !parse_clauses(p, parse_clause))
        return NULL;
    if (th_shell_at(p, "after")) {
        struct th_node *time = th_shell_advance(p) ? th_shell_parse_expression(p) : NULL;
        struct th_node *block = time && th_shell_expect(p, "->") ? th_shell_parse_block(p) : NULL;
        if (!block)
            return NULL;
        p->parts[first] = time;
        p->parts[first + 1] = block;
    }
    return parse_end(p) ? th_shell_make_node(p, TH_NODE_RECEIVE, at, first) : NULL;
}

/* Pushes the clauses behind WORD as a node, NULL if the word does not stand here. */
static bool parse_try_clauses(struct th_expression_parser *p, const char *word,
                              struct th_node *(*clause)(struct th_expression_parser *))
{
    size_t first = p->count;
    const char *at = p->scanner.start;
    struct th_node *clauses = NULL;

    if (th_shell_at(p, word)) {
        if (!th_shell_advance(p) || !parse_clauses(p, clause))
            return false;
        clauses = th_shell_make_node(p, TH_NODE_CLAUSES, at, first);
        if (!clauses)
            return false;
    }
    th_shell_push_part(p, clauses);
    return true;
}

static struct th_node *parse_try(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;
    struct th_node *block = th_shell_parse_block(p);
    struct th_node *after = NULL;

    if (!block)
        return NULL;
    th_shell_push_part(p, block);
    if (!parse_try_clauses(p, "of", parse_clause) ||
        !parse_try_clauses(p, "catch", parse_catch_clause))
        return NULL;
    if (th_shell_at(p, "after")) {
        after = th_shell_advance(p) ? th_shell_parse_block(p) : NULL;
        if (!after)
            return NULL;
    } else if (!p->parts[first + 2]) {
        return th_shell_fail_here(p, "'catch' or 'after'");
    }
    th_shell_push_part(p, after);
    return parse_end(p) ? th_shell_make_node(p, TH_NODE_TRY, at, first) : NULL;
}

struct th_node *th_shell_parse_word(struct th_expression_parser *p)
{
    static const struct {
        const char *word;
        struct th_node *(*parse)(struct th_expression_parser *, const char *);
    } words[] = {
        {"case", parse_case}, {"if", parse_if}, {"receive", parse_receive}, {"try", parse_try}};
    const char *at = p->scanner.start;

    if (th_shell_at(p, "begin"))
        return th_shell_advance(p) ? parse_begin(p) : NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (th_shell_at(p, words[i].word))
            return th_shell_advance(p) ? words[i].parse(p, at) : NULL;
    return th_shell_fail_here(p,
                              "an expression (a reserved word is an atom only in single quotes)");
}
