/*
 * Parses forms: tokens, and operators by precedence.
 *
 * Recursion follows the nesting of the text; the parser's depth bounds it. After an error the
 * scanner is at the end of the text, so that no function has to check whether another has failed.
 */
#include "shell_internal.h"

#include "host/term/number.h"

#include <stdatomic.h>
#include <string.h>

const char *const th_shell_operator_texts[TH_OPERATOR_COUNT] = {
#define X(name, text, precedence, right) text,
    TH_OPERATORS(X)
#undef X
};

static const struct {
    unsigned precedence;
    bool right;
} operators[] = {
#define X(name, text, precedence, right) {precedence, right},
    TH_OPERATORS(X)
#undef X
};

enum { COMPARISON = 200, UNARY = 600 /* precedences */ };

/* --- Tokens ----------------------------------------------------------------------------------- */

struct th_node *th_shell_stop(struct th_expression_parser *p)
{
    p->failed = true;
    p->scanner.token = TH_TOKEN_END;
    p->scanner.start = p->scanner.at = p->scanner.end;
    return th_shell_make_leaf(p, TH_NODE_ANY, p->scanner.end, TH_NONE);
}

void th_shell_advance(struct th_expression_parser *p)
{
    if (!p->failed && th_text_scan_next(&p->scanner) != TH_OK)
        th_shell_stop(p);
}

bool th_shell_at(const struct th_expression_parser *p, const char *text)
{
    const struct th_scanner *s = &p->scanner;
    size_t size = (size_t)(s->at - s->start);

    return s->token != TH_TOKEN_TERM && s->token != TH_TOKEN_STRING &&
           s->token != TH_TOKEN_VARIABLE && s->token != TH_TOKEN_DOT && size == strlen(text) &&
           memcmp(s->start, text, size) == 0;
}

struct th_node *th_shell_fail(struct th_expression_parser *p, const char *at, const char *format,
                              ...)
{
    char message[TH_ERROR_TEXT / 4];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!p->failed)
        th_text_scan_fail(&p->scanner, at, "%s", message);
    return th_shell_stop(p);
}

struct th_node *th_shell_fail_here(struct th_expression_parser *p, const char *wanted)
{
    return th_shell_fail(p, p->scanner.start, "expected %s", wanted);
}

bool th_shell_skip(struct th_expression_parser *p, const char *text)
{
    bool there = th_shell_at(p, text);

    if (there)
        th_shell_advance(p);
    return there;
}

void th_shell_expect(struct th_expression_parser *p, const char *text)
{
    if (!th_shell_skip(p, text))
        th_shell_fail(p, p->scanner.start, "expected '%s'", text);
}

void th_shell_parse_several(struct th_expression_parser *p, th_shell_parsed *parse,
                            const char *separator)
{
    do
        th_shell_push_part(p, parse(p));
    while (th_shell_skip(p, separator));
}

/* --- Operators -------------------------------------------------------------------------------- */

/* Returns the current token's binary operator; TH_OPERATOR_COUNT if there is none. */
static enum th_operator operator_at(const struct th_expression_parser *p)
{
    for (enum th_operator o = 0; o < TH_OPERATOR_NOT; o++)
        if (th_shell_at(p, th_shell_operator_texts[o]))
            return o;
    return TH_OPERATOR_COUNT;
}

/* Parses an operand with its signs; PARSE parses the part after the signs. */
static struct th_node *parse_signed(struct th_expression_parser *p, th_shell_parsed *parse)
{
    const char *at = p->scanner.start;
    enum th_operator op = th_shell_at(p, "+")      ? TH_OPERATOR_PLUS
                          : th_shell_at(p, "-")    ? TH_OPERATOR_MINUS
                          : th_shell_at(p, "not")  ? TH_OPERATOR_NOT
                          : th_shell_at(p, "bnot") ? TH_OPERATOR_BNOT
                                                   : TH_OPERATOR_COUNT;
    struct th_node *node;

    if (p->depth >= TH_EXPRESSION_DEPTH)
        return th_shell_fail(p, at, "expected at most %d expressions inside each other",
                             TH_EXPRESSION_DEPTH);
    p->depth++;
    if (op == TH_OPERATOR_COUNT) {
        node = parse(p);
    } else {
        th_shell_advance(p);
        node = parse_signed(p, parse);
        if (node->kind == TH_NODE_CONSTANT && th_is_number(node->value) &&
            (op == TH_OPERATOR_PLUS || op == TH_OPERATOR_MINUS)) {
            node->at = at; /* -1 is a constant, and allowed in patterns */
            if (op == TH_OPERATOR_MINUS)
                node->value = th_number_negate(&p->source->env, node->value);
        } else {
            node = th_shell_make_node_of(p, TH_NODE_UNARY, at, &node, 1);
            node->op = (unsigned char)op;
        }
    }
    p->depth--;
    return node;
}

struct th_node *th_shell_parse_primary(struct th_expression_parser *p)
{
    return parse_signed(p, th_shell_parse_bare);
}

/* At "catch". */
static struct th_node *parse_catch(struct th_expression_parser *p)
{
    const char *at = p->scanner.start;
    struct th_node *inside;

    th_shell_advance(p);
    inside = th_shell_parse_expression(p);
    return th_shell_make_node_of(p, TH_NODE_CATCH, at, &inside, 1);
}

struct th_node *th_shell_parse_rest(struct th_expression_parser *p, struct th_node *left,
                                    unsigned least)
{
    for (;;) {
        enum th_operator op = operator_at(p);
        unsigned precedence;
        struct th_node *right;
        if (op == TH_OPERATOR_COUNT || operators[op].precedence < least)
            return left;
        precedence = operators[op].precedence;
        p->depth++;
        th_shell_advance(p);
        if (p->depth > TH_EXPRESSION_DEPTH)
            right = th_shell_fail_here(p, "less operators behind each other");
        else if (th_shell_at(p, "catch"))
            right = parse_catch(p);
        else
            right = th_shell_parse_rest(p, parse_signed(p, th_shell_parse_called),
                                        operators[op].right ? precedence : precedence + 1);
        p->depth--;
        left = th_shell_make_node_of(p,
                                     op == TH_OPERATOR_MATCH  ? TH_NODE_MATCH
                                     : op == TH_OPERATOR_SEND ? TH_NODE_SEND
                                                              : TH_NODE_BINARY,
                                     left->at, (struct th_node *[]){left, right}, 2);
        left->op = (unsigned char)op;
        if (precedence == COMPARISON && operator_at(p) != TH_OPERATOR_COUNT &&
            operators[operator_at(p)].precedence == COMPARISON)
            return th_shell_fail_here(p, "no second comparison: parentheses say which comes first");
    }
}

struct th_node *th_shell_parse_expression(struct th_expression_parser *p)
{
    struct th_node *node;

    if (p->depth >= TH_EXPRESSION_DEPTH)
        return th_shell_fail_here(p, "less expressions inside each other");
    p->depth++;
    node = th_shell_at(p, "catch") ? parse_catch(p) : parse_signed(p, th_shell_parse_called);
    node = th_shell_parse_rest(p, node, 0);
    p->depth--;
    return node;
}

struct th_node *th_shell_parse_block(struct th_expression_parser *p)
{
    size_t first = p->count;
    const char *at = p->scanner.start;

    th_shell_parse_several(p, th_shell_parse_expression, ",");
    return th_shell_make_node(p, TH_NODE_BLOCK, at, first);
}

/* --- Forms ------------------------------------------------------------------------------------ */

/* Number of sources so far; any thread may add. */
static _Atomic uint64_t sources;

enum th_status th_shell_parse(struct th_program *program, const char *text, size_t size, bool open)
{
    struct th_source *source = th_alloc(sizeof *source);
    struct th_expression_parser p = {.source = source};

    *source = (struct th_source){.shares = 1, .text = th_alloc(size + 1), .size = size};
    source->number = atomic_fetch_add_explicit(&sources, 1, memory_order_relaxed) + 1;
    source->magic = (struct th_magic){th_shell_source_keep,
                                      {(uint32_t)source->number, (uint32_t)(source->number >> 32)}};
    memcpy(source->text, text, size);
    th_env_init(&source->env, TH_ENV_PLAIN);
    *program = (struct th_program){.source = source};
    p.scanner = th_text_scanner(&source->env, source->text, size);
    th_shell_advance(&p);
    while (p.scanner.token != TH_TOKEN_END) {
        struct th_node *form = th_shell_parse_block(&p);
        if (p.scanner.token == TH_TOKEN_END ? !open : p.scanner.token != TH_TOKEN_DOT)
            th_shell_fail_here(&p, "an operator, ',' or a full stop");
        if (p.failed || th_shell_check(source, form) != TH_OK) {
            th_shell_stop(&p);
            break;
        }
        TH_ARRAY_GROW(program->forms, program->count, program->capacity);
        program->forms[program->count++] = form;
        th_shell_advance(&p);
    }
    th_text_scanner_free(&p.scanner);
    th_free(p.parts);
    return p.failed ? th_error_status() : TH_OK;
}

enum th_typed th_shell_typed(const char *text, size_t size)
{
    th_env env;
    struct th_scanner s = th_text_scanner(&env, text, size);
    enum th_typed typed = TH_TYPED_NOTHING;
    enum th_status status;

    th_env_init(&env, TH_ENV_PLAIN);
    while ((status = th_text_scan_next(&s)) == TH_OK && s.token != TH_TOKEN_END)
        typed = s.token == TH_TOKEN_DOT ? TH_TYPED_FORMS : TH_TYPED_PART;
    if (status != TH_OK) {
        typed = s.unclosed ? TH_TYPED_PART : TH_TYPED_FORMS;
        th_error_clear();
    }
    th_text_scanner_free(&s);
    th_env_release(&env);
    return typed;
}
