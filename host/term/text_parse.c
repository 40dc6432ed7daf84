/*
 * The parser.
 *
 * It alternates between wanting a term and having one. A term that is complete is put into the
 * innermost bracket, and the token behind it says how that goes on; when the bracket closes, what
 * it makes is the next complete term. No token behind the whole term is looked at.
 */
#include "text.h"

#include "make.h"
#include "text_parse_internal.h"
#include "text_internal.h"

#include <string.h>

enum { SHORT_WORDS = 32 /* the most that a term of one token takes, but for long ones */ };

struct parser {
    struct th_scanner scanner;
    struct th_builder builder;
};

static void start(struct parser *p, th_env *env, const char *text, size_t length)
{
    p->scanner = th_text_scanner(env, text, length);
    th_text_builder_init(&p->builder, env, length);
}

static void finish(struct parser *p)
{
    th_text_scanner_free(&p->scanner);
    th_text_builder_free(&p->builder);
}

/* A term that was made, or there was no memory for it. */
static enum th_status made(th_term t, th_term *value)
{
    *value = t;
    return t != TH_NONE ? TH_OK : th_error_status();
}

static enum th_status add(struct parser *p, th_term t)
{
    return th_text_builder_add(&p->builder, t) ? TH_OK : th_error_status();
}

static enum th_status open_bracket(struct parser *p, enum th_bracket_kind kind)
{
    if (p->builder.brackets.depth == TH_TEXT_DEPTH)
        return th_text_scan_fail(&p->scanner, p->scanner.start, "expected at most %d open brackets",
                                 TH_TEXT_DEPTH);
    return th_text_builder_open(&p->builder, kind, p->scanner.start) ? TH_OK : th_error_status();
}

/* A number with a minus in front. */
static enum th_status negate(struct th_scanner *s, const char *place, th_term *value)
{
    struct th_limbs n;

    if (th_is_float(*value)) {
        *value = th_make_float(s->env, -th_float_value(*value));
        return TH_OK;
    }
    if (!th_get_limbs(*value, &n))
        return th_text_scan_fail(s, place, "expected a number behind the sign");
    if (!th_env_room(s->env, n.count + 1))
        return th_error_status();
    *value = th_make_integer(s->env, !n.negative, n.limbs, n.count);
    return TH_OK;
}

/* --- Wanting a term --------------------------------------------------------------------------- */

static enum th_status fail_term(const struct th_scanner *s)
{
    if (s->token == TH_TOKEN_VARIABLE)
        return th_text_scan_fail(s, s->start, "expected a term (variables have no value here)");
    if (s->token == TH_TOKEN_RESERVED)
        return th_text_scan_fail(s, s->start,
                                 "expected a term (a reserved word is an atom only in "
                                 "single quotes)");
    return th_text_scan_fail(s, s->start, "expected a term");
}

/* Reads the next token, which must be TOKEN. */
static enum th_status expect(struct th_scanner *s, int token, const char *wanted)
{
    enum th_status status = th_text_scan_next(s);

    if (status == TH_OK && s->token != token)
        status = th_text_scan_fail(s, s->start, "expected %s", wanted);
    return status;
}

/* A part of a fun's name; the printer does not quote reserved words there. */
static enum th_status read_name(struct th_scanner *s, const char *wanted, th_term *name)
{
    enum th_status status = th_text_scan_next(s);

    if (status != TH_OK)
        return status;
    if (s->token != TH_TOKEN_RESERVED && s->token != TH_TOKEN_FUN &&
        !(s->token == TH_TOKEN_TERM && th_is_atom(s->value)))
        return th_text_scan_fail(s, s->start, "expected %s", wanted);
    *name = s->value;
    return TH_OK;
}

/* Module:Function/Arity */
static enum th_status read_fun(struct th_scanner *s, th_term *value)
{
    th_term module = TH_NONE;
    th_term function = TH_NONE;
    int64_t arity;
    enum th_status status = read_name(s, "a module behind fun", &module);

    if (status == TH_OK)
        status = expect(s, ':', "':', as in fun Module:Function/Arity");
    if (status == TH_OK)
        status = read_name(s, "the name of a function", &function);
    if (status == TH_OK)
        status = expect(s, '/', "'/' and an arity");
    if (status == TH_OK)
        status = expect(s, TH_TOKEN_TERM, "an arity");
    if (status != TH_OK)
        return status;
    if (!th_get_int64(s->value, &arity) || arity < 0 || arity > 255)
        return th_text_scan_fail(s, s->start, "expected an arity from 0 to 255");
    *value = th_make_export(s->env, module, function, (uint32_t)arity);
    return TH_OK;
}

/* A closing bracket right behind its opening one. */
static enum th_status close_empty(struct parser *p, th_term *value)
{
    int token = p->scanner.token;
    enum th_bracket_kind kind =
        p->builder.brackets.depth > 0 && th_text_builder_top(&p->builder)->fresh
            ? th_text_builder_top(&p->builder)->kind
            : TH_OPEN_PARENTHESIS;

    if (token == ']' && kind == TH_OPEN_LIST)
        return made(th_text_builder_list(&p->builder, TH_NIL), value);
    if (token == '}' && kind == TH_OPEN_TUPLE)
        return made(th_text_builder_tuple(&p->builder), value);
    if (token == '}' && kind == TH_OPEN_KEY)
        return made(th_text_builder_map(&p->builder), value);
    if (token == TH_TOKEN_CLOSE_BINARY && kind == TH_OPEN_BITS)
        return made(th_text_builder_bits(&p->builder), value);
    return fail_term(&p->scanner);
}

/*
 * Reads a term that is one token, then *COMPLETE is true, or opens a bracket. A string is left in
 * the scanner, *VALUE is TH_NONE then: whether it becomes a list depends on the bracket around it.
 */
static enum th_status begin_term(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    enum th_status status =
        th_env_room(s->env, SHORT_WORDS) ? th_text_scan_next(s) : th_error_status();

    if (status != TH_OK)
        return status;
    if (p->builder.brackets.depth > 0 && th_text_builder_top(&p->builder)->kind == TH_OPEN_BITS)
        th_text_builder_top(&p->builder)->place = s->start;
    *complete = false;
    switch (s->token) {
    case '[':
        return open_bracket(p, TH_OPEN_LIST);
    case '{':
        return open_bracket(p, TH_OPEN_TUPLE);
    case '(':
        return open_bracket(p, TH_OPEN_PARENTHESIS);
    case '+':
        return open_bracket(p, TH_OPEN_PLUS);
    case '-':
        return open_bracket(p, TH_OPEN_MINUS);
    case TH_TOKEN_OPEN_BINARY:
        return open_bracket(p, TH_OPEN_BITS);
    case '#':
        status = expect(s, '{', "'{' behind '#'");
        return status == TH_OK ? open_bracket(p, TH_OPEN_KEY) : status;
    }
    *complete = true;
    switch (s->token) {
    case TH_TOKEN_TERM:
        *value = s->value;
        return TH_OK;
    case TH_TOKEN_STRING:
        *value = TH_NONE;
        return TH_OK;
    case TH_TOKEN_FUN:
        return read_fun(s, value);
    }
    return close_empty(p, value);
}

/* --- Having a term ---------------------------------------------------------------------------- */

static enum th_status fail_behind(const struct th_scanner *s, const char *wanted)
{
    bool is_operator = s->token == TH_TOKEN_OPERATOR ||
                       (s->token > 0 && s->token < 128 && strchr("+-#(/:", s->token));

    return th_text_scan_fail(s, s->start, "expected %s%s", wanted,
                             is_operator ? " (only constants are read, no expressions)" : "");
}

/* Reads the next token, which must be TOKEN. */
static enum th_status expect_behind(struct th_scanner *s, int token, const char *wanted)
{
    enum th_status status = th_text_scan_next(s);

    return status == TH_OK && s->token != token ? fail_behind(s, wanted) : status;
}

static enum th_status put_in_list(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    enum th_status status = add(p, *value);

    if (status == TH_OK)
        status = th_text_scan_next(s);
    if (status != TH_OK)
        return status;
    *complete = s->token == ']';
    if (s->token == ']')
        return made(th_text_builder_list(&p->builder, TH_NIL), value);
    if (s->token == '|')
        th_text_builder_top(&p->builder)->kind = TH_OPEN_TAIL;
    else if (s->token != ',')
        return fail_behind(s, "',', '|' or ']'");
    return TH_OK;
}

static enum th_status put_in_braces(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct th_bracket *top = th_text_builder_top(&p->builder);
    enum th_status status = add(p, *value);

    if (status == TH_OK)
        status = th_text_scan_next(s);
    if (status != TH_OK)
        return status;
    *complete = s->token == '}';
    if (s->token != '}' && s->token != ',')
        return fail_behind(s, "',' or '}'");
    if (top->kind == TH_OPEN_VALUE)
        top->kind = TH_OPEN_KEY;
    if (!*complete)
        return TH_OK;
    return made(top->kind == TH_OPEN_KEY ? th_text_builder_map(&p->builder)
                                         : th_text_builder_tuple(&p->builder),
                value);
}

static enum th_status put_in_bits(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct th_bracket *top = th_text_builder_top(&p->builder);
    enum th_status status = th_text_segment_add(&p->builder.segments, s, top->place, *value);

    if (status != TH_OK)
        return status;
    top->fresh = false;
    *complete = s->token == TH_TOKEN_CLOSE_BINARY;
    if (*complete)
        return made(th_text_builder_bits(&p->builder), value);
    if (s->token != ',')
        return fail_behind(s, "',' or '>>'");
    return TH_OK;
}

/* Puts a complete term into the innermost bracket. Where that closes with it, *VALUE is what the
 * bracket makes, complete in its turn. */
static enum th_status put_term(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct th_bracket *top = th_text_builder_top(&p->builder);
    enum th_bracket_kind kind = top->kind;
    enum th_status status;

    if (*value == TH_NONE && kind != TH_OPEN_BITS && kind != TH_OPEN_PARENTHESIS &&
        made(th_text_scan_list(&p->scanner), value) != TH_OK)
        return th_error_status();
    switch (kind) {
    case TH_OPEN_LIST:
        return put_in_list(p, value, complete);
    case TH_OPEN_TUPLE:
    case TH_OPEN_VALUE:
        return put_in_braces(p, value, complete);
    case TH_OPEN_BITS:
        return put_in_bits(p, value, complete);
    case TH_OPEN_TAIL:
        status = expect_behind(s, ']', "']'");
        return status == TH_OK ? made(th_text_builder_list(&p->builder, *value), value) : status;
    case TH_OPEN_KEY:
        top->kind = TH_OPEN_VALUE;
        *complete = false;
        status = add(p, *value);
        return status == TH_OK ? expect_behind(s, TH_TOKEN_ARROW, "'=>'") : status;
    case TH_OPEN_PARENTHESIS:
        p->builder.brackets.depth--;
        return expect_behind(s, ')', "')'");
    case TH_OPEN_PLUS:
        p->builder.brackets.depth--;
        return th_is_float(*value) || th_is_integer(*value)
                   ? TH_OK
                   : th_text_scan_fail(s, top->place, "expected a number behind the sign");
    case TH_OPEN_MINUS:
        p->builder.brackets.depth--;
        return negate(s, top->place, value);
    }
    return TH_OK;
}

static enum th_status parse(struct parser *p, th_term *term)
{
    th_term value = TH_NONE;
    bool complete = false;
    enum th_status status;

    do
        status = complete ? put_term(p, &value, &complete) : begin_term(p, &value, &complete);
    while (status == TH_OK && !(complete && p->builder.brackets.depth == 0));
    if (status == TH_OK)
        status = made(value != TH_NONE ? value : th_text_scan_list(&p->scanner), term);
    return status;
}

enum th_status th_text_parse(th_env *env, const char *text, size_t length, th_term *term)
{
    struct parser p;
    enum th_status status;
    th_term t;

    start(&p, env, text, length);
    status = parse(&p, &t);
    if (status == TH_OK)
        status = th_text_scan_next(&p.scanner);
    if (status == TH_OK && p.scanner.token == TH_TOKEN_DOT)
        status = th_text_scan_next(&p.scanner);
    if (status == TH_OK && p.scanner.token != TH_TOKEN_END)
        status = fail_behind(&p.scanner, "the end of the term");
    if (status == TH_OK)
        *term = t;
    finish(&p);
    return status;
}

enum th_status th_text_parse_prefix(th_env *env, const char *text, size_t length, th_term *term,
                                    size_t *used)
{
    struct parser p;
    enum th_status status;

    start(&p, env, text, length);
    status = parse(&p, term);
    if (status == TH_OK)
        *used = (size_t)(p.scanner.at - text);
    finish(&p);
    return status;
}
