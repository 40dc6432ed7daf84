/*
 * The parser.
 *
 * The parser alternates between two states: it needs a term, or it has one. A complete term goes
 * into the innermost bracket, and the token behind the term determines the next step. A bracket
 * that closes makes the next complete term. No token behind the whole term is read.
 */

#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "stack.h"
#include "term_internal.h"
#include "text_internal.h"
#include "text_parse_internal.h"
#include "text_segment.h"
#include "text_token.h"

#include <string.h>

enum { SHORT_WORDS = 32 /* upper bound for a term of one token that is not long */ };

/*
 * The open brackets, and the terms that were read inside them.
 */

enum bracket_kind {
    OPEN_LIST,
    OPEN_TAIL, /* a list behind its bar */
    OPEN_TUPLE,
    OPEN_KEY,   /* a map that needs a key */
    OPEN_VALUE, /* a map that needs the value of the last key */
    OPEN_PARENTHESIS,
    OPEN_PLUS, /* a sign counts as a bracket around the term behind it */
    OPEN_MINUS,
    OPEN_BITS
};

struct bracket {
    enum bracket_kind kind;
    bool fresh;        /* still empty */
    size_t first;      /* index of its first term */
    size_t start;      /* bits: `start` of the outer bit string */
    size_t bits;       /* bits: `bits` of the outer bit string */
    const char *place; /* its place in the text; bits: the place of the last value */
};

enum { FEW_BRACKETS = 16, FEW_TERMS = 64 /* that need no allocation */ };

struct parser {
    struct th_scanner scanner;
    struct th_segments segments;

    struct th_stack brackets, terms;
    struct bracket few_brackets[FEW_BRACKETS];
    th_term few_terms[FEW_TERMS];
};

static void text_parse_start(struct parser *p, th_env *env, const char *text, size_t length)
{
    p->scanner =
        th_text_scanner(env, text, length); /* the rest is not cleared: most of it is room */
    p->segments = (struct th_segments){.left = TH_TEXT_BITS(length)};
    th_stack_begin(&p->brackets, p->few_brackets, FEW_BRACKETS);
    th_stack_begin(&p->terms, p->few_terms, FEW_TERMS);
}

static void text_parse_finish(struct parser *p)
{
    th_text_scanner_free(&p->scanner);
    th_buffer_free(&p->segments.bytes);
    th_stack_try_end(&p->brackets, sizeof(struct bracket));
    th_stack_try_end(&p->terms, sizeof(th_term));
}

/* The innermost bracket; one must be open. Valid until the next is opened. */
static inline struct bracket *top_of(struct parser *p)
{
    return th_stack_top(&p->brackets, sizeof(struct bracket));
}

/* --- Closing brackets ------------------------------------------------------------------------- */

/* Functions that return TH_NONE have raised an error: there is no memory. */

/* Removes the innermost bracket and its terms, which stay readable until the next term is added. */
static const th_term *pop(struct parser *p, size_t *count)
{
    size_t first = top_of(p)->first;

    *count = p->terms.depth - first;
    p->terms.depth = first;
    p->brackets.depth--;
    return (const th_term *)p->terms.items + first;
}

static th_term make_list(struct parser *p, th_term tail)
{
    size_t count;
    const th_term *terms = pop(p, &count);
    th_term *cells;

    if (count == 0)
        return tail;
    cells = th_env_try(p->scanner.env, 2 * count);
    if (!cells)
        return TH_NONE;
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = terms[i];
        cells[2 * i + 1] = i + 1 < count ? th_listed(cells + 2 * i + 2) : tail;
    }
    return th_listed(cells);
}

static th_term make_tuple(struct parser *p)
{
    size_t count;
    const th_term *terms = pop(p, &count);

    return th_env_room(p->scanner.env, count + 1) ? th_make_tuple(p->scanner.env, terms, count)
                                                  : TH_NONE;
}

static th_term make_map(struct parser *p)
{
    size_t count;
    const th_term *terms = pop(p, &count);
    size_t pairs = count / 2;
    th_term few[2 * TH_MAP_SMALL] = {0};
    th_term *apart = pairs <= TH_MAP_SMALL ? few : th_try_alloc(count * sizeof *apart);
    th_term map = TH_NONE;

    if (!apart)
        return TH_NONE;
    for (size_t i = 0; i < pairs; i++) {
        apart[i] = terms[2 * i];
        apart[pairs + i] = terms[2 * i + 1];
    }
    if (th_env_room(p->scanner.env, th_map_room(apart, pairs)))
        map = th_make_map(p->scanner.env, apart, apart + pairs, pairs, true);
    if (apart != few)
        th_try_free(apart, count * sizeof *apart);
    return map;
}

static th_term make_bits(struct parser *p)
{
    struct th_segments *segments = &p->segments;
    const struct bracket *bracket = top_of(p);
    size_t bytes = segments->bytes.size - segments->start;
    unsigned char *data;
    th_term t;

    if (!th_env_room(p->scanner.env, th_term_heap_binary_words(segments->bits)))
        return TH_NONE;
    t = th_make_heap_binary(p->scanner.env, segments->bits, &data);
    if (bytes > 0)
        memcpy(data, segments->bytes.data + segments->start, bytes);
    segments->bytes.size = segments->start;
    segments->start = bracket->start;
    segments->bits = bracket->bits;
    p->brackets.depth--;
    return t;
}

/* Stores T, or returns the error that was raised if T is TH_NONE. */
static enum th_status made(th_term t, th_term *value)
{
    *value = t;
    return t != TH_NONE ? TH_OK : th_error_status();
}

/* Adds a term to the innermost bracket. Not for parentheses, signs and bits. */
static enum th_status text_parse_add(struct parser *p, th_term t)
{
    th_term *place = th_stack_try_push(&p->terms, sizeof t);

    if (!place)
        return th_error_status();
    *place = t;
    top_of(p)->fresh = false;
    return TH_OK;
}

static enum th_status open_bracket(struct parser *p, enum bracket_kind kind)
{
    struct th_segments *segments = &p->segments;
    struct bracket *bracket;

    if (p->brackets.depth == TH_TEXT_DEPTH)
        return th_text_scan_fail(&p->scanner, p->scanner.start, "expected at most %d open brackets",
                                 TH_TEXT_DEPTH);
    bracket = th_stack_try_push(&p->brackets, sizeof *bracket);
    if (!bracket)
        return th_error_status();
    *bracket = (struct bracket){
        kind, true, p->terms.depth, segments->start, segments->bits, p->scanner.start};
    if (kind == OPEN_BITS) {
        segments->start = segments->bytes.size;
        segments->bits = 0;
    }
    return TH_OK;
}

/* Applies a minus to a number. */
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

/* --- The beginning of a term ------------------------------------------------------------------ */

/* Reads the next token, which must be TOKEN. */
static enum th_status expect(struct th_scanner *s, int token, const char *wanted)
{
    enum th_status status = th_text_scan_next(s);

    if (status == TH_OK && s->token != token)
        status = th_text_scan_fail(s, s->start, "expected %s", wanted);
    return status;
}

/* Reads a part of a fun's name; the printer does not quote reserved words there. */
static enum th_status text_parse_read_name(struct th_scanner *s, const char *wanted, th_term *name)
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
    enum th_status status = text_parse_read_name(s, "a module behind fun", &module);

    if (status == TH_OK)
        status = expect(s, ':', "':', as in fun Module:Function/Arity");
    if (status == TH_OK)
        status = text_parse_read_name(s, "the name of a function", &function);
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

/* Handles a closing bracket right behind its opening one. */
static enum th_status close_empty(struct parser *p, th_term *value)
{
    int token = p->scanner.token;
    enum bracket_kind kind =
        p->brackets.depth > 0 && top_of(p)->fresh ? top_of(p)->kind : OPEN_PARENTHESIS;

    if (token == ']' && kind == OPEN_LIST)
        return made(make_list(p, TH_NIL), value);
    if (token == '}' && kind == OPEN_TUPLE)
        return made(make_tuple(p), value);
    if (token == '}' && kind == OPEN_KEY)
        return made(make_map(p), value);
    if (token == TH_TOKEN_CLOSE_BINARY && kind == OPEN_BITS)
        return made(make_bits(p), value);
    return th_text_scan_fail(&p->scanner, p->scanner.start, "expected a term%s",
                             token == TH_TOKEN_VARIABLE ? " (variables have no value here)"
                             : token == TH_TOKEN_RESERVED
                                 ? " (a reserved word is an atom only in single quotes)"
                                 : "");
}

/*
 * Reads a term of one token, and sets *COMPLETE, or opens a bracket. A string stays in the scanner,
 * and *VALUE is TH_NONE: the bracket around it decides if it becomes a list.
 */
static enum th_status begin_term(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    enum th_status status =
        th_env_room(s->env, SHORT_WORDS) ? th_text_scan_next(s) : th_error_status();

    if (status != TH_OK)
        return status;
    if (p->brackets.depth > 0 && top_of(p)->kind == OPEN_BITS)
        top_of(p)->place = s->start;
    *complete = false;
    switch (s->token) {
    case '[':
        return open_bracket(p, OPEN_LIST);
    case '{':
        return open_bracket(p, OPEN_TUPLE);
    case '(':
        return open_bracket(p, OPEN_PARENTHESIS);
    case '+':
        return open_bracket(p, OPEN_PLUS);
    case '-':
        return open_bracket(p, OPEN_MINUS);
    case TH_TOKEN_OPEN_BINARY:
        return open_bracket(p, OPEN_BITS);
    case '#':
        status = expect(s, '{', "'{' behind '#'");
        return status == TH_OK ? open_bracket(p, OPEN_KEY) : status;
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

/* --- The token behind a term ------------------------------------------------------------------ */

static enum th_status fail_behind(const struct th_scanner *s, const char *wanted)
{
    bool is_operator = s->token == TH_TOKEN_OPERATOR ||
                       (s->token > 0 && s->token < 128 && strchr("+-#(/:", s->token));

    return th_text_scan_fail(s, s->start, "expected %s%s", wanted,
                             is_operator ? " (only constants are read, no expressions)" : "");
}

/* As expect(), for the token behind a term. */
static enum th_status expect_behind(struct th_scanner *s, int token, const char *wanted)
{
    enum th_status status = th_text_scan_next(s);

    return status == TH_OK && s->token != token ? fail_behind(s, wanted) : status;
}

static enum th_status put_in_list(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    enum th_status status = text_parse_add(p, *value);

    if (status == TH_OK)
        status = th_text_scan_next(s);
    if (status != TH_OK)
        return status;
    *complete = s->token == ']';
    if (s->token == ']')
        return made(make_list(p, TH_NIL), value);
    if (s->token == '|')
        top_of(p)->kind = OPEN_TAIL;
    else if (s->token != ',')
        return fail_behind(s, "',', '|' or ']'");
    return TH_OK;
}

static enum th_status put_in_braces(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct bracket *top = top_of(p);
    enum th_status status = text_parse_add(p, *value);

    if (status == TH_OK)
        status = th_text_scan_next(s);
    if (status != TH_OK)
        return status;
    *complete = s->token == '}';
    if (s->token != '}' && s->token != ',')
        return fail_behind(s, "',' or '}'");
    if (top->kind == OPEN_VALUE)
        top->kind = OPEN_KEY;
    if (!*complete)
        return TH_OK;
    return made(top->kind == OPEN_KEY ? make_map(p) : make_tuple(p), value);
}

static enum th_status put_in_bits(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct bracket *top = top_of(p);
    enum th_status status = th_text_segment_add(&p->segments, s, top->place, *value);

    if (status != TH_OK)
        return status;
    top->fresh = false;
    *complete = s->token == TH_TOKEN_CLOSE_BINARY;
    if (*complete)
        return made(make_bits(p), value);
    if (s->token != ',')
        return fail_behind(s, "',' or '>>'");
    return TH_OK;
}

/* Puts a complete term into the innermost bracket. If the bracket closes with that term, *VALUE is
 * the term that the bracket makes, which is complete in turn. */
static enum th_status put_term(struct parser *p, th_term *value, bool *complete)
{
    struct th_scanner *s = &p->scanner;
    struct bracket *top = top_of(p);
    enum bracket_kind kind = top->kind;
    enum th_status status;

    if (*value == TH_NONE && kind != OPEN_BITS && kind != OPEN_PARENTHESIS &&
        made(th_text_scan_list(&p->scanner), value) != TH_OK)
        return th_error_status();
    switch (kind) {
    case OPEN_LIST:
        return put_in_list(p, value, complete);
    case OPEN_TUPLE:
    case OPEN_VALUE:
        return put_in_braces(p, value, complete);
    case OPEN_BITS:
        return put_in_bits(p, value, complete);
    case OPEN_TAIL:
        status = expect_behind(s, ']', "']'");
        return status == TH_OK ? made(make_list(p, *value), value) : status;
    case OPEN_KEY:
        top->kind = OPEN_VALUE;
        *complete = false;
        status = text_parse_add(p, *value);
        return status == TH_OK ? expect_behind(s, TH_TOKEN_ARROW, "'=>'") : status;
    case OPEN_PARENTHESIS:
        p->brackets.depth--;
        return expect_behind(s, ')', "')'");
    case OPEN_PLUS:
        p->brackets.depth--;
        return th_is_float(*value) || th_is_integer(*value)
                   ? TH_OK
                   : th_text_scan_fail(s, top->place, "expected a number behind the sign");
    case OPEN_MINUS:
        p->brackets.depth--;
        return negate(s, top->place, value);
    }
    return TH_OK;
}

/* Reads the term at the beginning of the text; *USED gets the number of its bytes. If USED is NULL,
 * only a full stop may follow. */
static enum th_status parse(th_env *env, const char *text, size_t length, th_term *term,
                            size_t *used)
{
    struct parser p;
    th_term value = TH_NONE;
    bool complete = false;
    enum th_status status;

    text_parse_start(&p, env, text, length);
    do
        status = complete ? put_term(&p, &value, &complete) : begin_term(&p, &value, &complete);
    while (status == TH_OK && !(complete && p.brackets.depth == 0));
    if (status == TH_OK && value == TH_NONE)
        status = made(th_text_scan_list(&p.scanner), &value);
    if (status == TH_OK && used) {
        *used = (size_t)(p.scanner.at - text);
    } else if (!used) {
        if (status == TH_OK)
            status = th_text_scan_next(&p.scanner);
        if (status == TH_OK && p.scanner.token == TH_TOKEN_DOT)
            status = th_text_scan_next(&p.scanner);
        if (status == TH_OK && p.scanner.token != TH_TOKEN_END)
            status = fail_behind(&p.scanner, "the end of the term");
    }
    if (status == TH_OK)
        *term = value;
    text_parse_finish(&p);
    return status;
}

enum th_status th_text_parse(th_env *env, const char *text, size_t length, th_term *term)
{
    if (th_text_parse_quickly(env, text, length, term))
        return TH_OK;
    return parse(env, text, length, term, NULL);
}

enum th_status th_text_parse_prefix(th_env *env, const char *text, size_t length, th_term *term,
                                    size_t *used)
{
    return parse(env, text, length, term, used);
}
