/* Numbers, characters as numbers, and the pids, ports and references that the printer writes. */
#include "text_parse_internal.h"

#include "integer_internal.h"
#include "make.h"
#include "text_internal.h"

#include <string.h>

/* --- Numbers ---------------------------------------------------------------------------------- */

static bool is_digit(const struct th_scanner *s, const char *at, unsigned radix)
{
    return at < s->end && th_term_digit_value(*at) < radix;
}

/* Moves behind digits, between which single underscores may stand. */
static void skip_digits(struct th_scanner *s, unsigned radix)
{
    while (is_digit(s, s->at, radix) ||
           (s->at < s->end && *s->at == '_' && is_digit(s, s->at + 1, radix)))
        s->at++;
}

/* Words for an integer of so many digits, and for its digits while it is made: a limb has 12 of
 * radix 36 at least. */
#define ROOM(digits) (2 * ((digits) / 12 + 2))

/* The digits from FROM to where the scanner is. */
static enum th_status make_integer(struct th_scanner *s, const char *from, unsigned radix)
{
    size_t bytes = (size_t)(s->at - from);
    size_t count = 0;
    char few[64];
    char *digits;

    if (bytes > 2 * TH_TEXT_DIGITS)
        return th_text_scan_fail(s, from, "expected an integer of at most %d digits",
                                 TH_TEXT_DIGITS);
    digits = bytes <= sizeof few ? few : th_try_alloc(bytes);
    if (!digits || !th_env_room(s->env, ROOM(bytes))) {
        if (digits != few)
            th_try_free(digits, bytes);
        return th_error_status();
    }
    for (const char *c = from; c < s->at; c++)
        if (*c != '_')
            digits[count++] = *c;
    s->value = TH_NONE;
    if (count <= TH_TEXT_DIGITS)
        s->value = th_term_big_from_digits(s->env, false, digits, count, radix);
    if (digits != few)
        th_try_free(digits, bytes);
    if (count > TH_TEXT_DIGITS)
        return th_text_scan_fail(s, from, "expected an integer of at most %d digits",
                                 TH_TEXT_DIGITS);
    return TH_OK;
}

static enum th_status scan_radix(struct th_scanner *s)
{
    unsigned radix = 0;
    const char *from;

    for (const char *c = s->start; c < s->at && radix <= 36; c++)
        if (*c != '_')
            radix = 10 * radix + th_term_digit_value(*c);
    if (radix < 2 || radix > 36)
        return th_text_scan_fail(s, s->start, "expected a radix from 2 to 36");
    from = ++s->at;
    if (!is_digit(s, from, radix))
        return th_text_scan_fail(s, from, "expected a digit of radix %u", radix);
    skip_digits(s, radix);
    return make_integer(s, from, radix);
}

static enum th_status scan_fraction(struct th_scanner *s)
{
    char few[128];
    char *digits = few;
    size_t bytes;
    double d;
    bool fits;

    s->at++;
    skip_digits(s, 10);
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '-' || *s->at == '+'))
            s->at++;
        if (!is_digit(s, s->at, 10))
            return th_text_scan_fail(s, s->at, "expected an exponent");
        skip_digits(s, 10);
    }
    bytes = (size_t)(s->at - s->start) + TH_FLOAT_TEXT;
    if (bytes > sizeof few && !(digits = th_try_alloc(bytes)))
        return th_error_status();
    fits = th_float_read(s->start, bytes - TH_FLOAT_TEXT, digits, &d);
    if (digits != few)
        th_try_free(digits, bytes);
    if (!fits)
        return th_text_scan_fail(s, s->start, "expected a float that a double can hold");
    s->value = th_make_float(s->env, d);
    return TH_OK;
}

enum th_status th_text_scan_number(struct th_scanner *s)
{
    uint64_t n = 0;

    s->token = TH_TOKEN_TERM;
    skip_digits(s, 10);
    if (s->at < s->end && *s->at == '#')
        return scan_radix(s);
    if (s->at < s->end && *s->at == '.' && is_digit(s, s->at + 1, 10))
        return scan_fraction(s);
    if (s->at - s->start > 18)
        return make_integer(s, s->start, 10);
    for (const char *c = s->start; c < s->at; c++)
        if (*c != '_')
            n = 10 * n + (unsigned)(*c - '0');
    s->value = th_make_int64(s->env, (int64_t)n);
    return TH_OK;
}

enum th_status th_text_scan_dollar(struct th_scanner *s)
{
    enum th_status status;
    uint32_t c;

    s->at++;
    status = th_text_scan_quoted(s, false, &c);
    if (status != TH_OK)
        return status;
    s->token = TH_TOKEN_TERM;
    s->value = th_small(c);
    return TH_OK;
}

/* --- Identifiers ------------------------------------------------------------------------------ */

enum { PARTS = 1 + TH_REF_WORDS };

struct parts {
    uint64_t values[PARTS]; /* the node first */
    size_t count;
};

static enum th_status scan_part(struct th_scanner *s, uint64_t *value)
{
    const char *from = s->at;

    *value = 0;
    while (is_digit(s, s->at, 10)) {
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, th_term_digit_value(*s->at), value))
            return th_text_scan_fail(s, from, "expected a smaller number");
        s->at++;
    }
    if (s->at == from)
        return th_text_scan_fail(s, s->at, "expected a number of a pid, port or reference");
    return TH_OK;
}

/* 0.1.2> */
static enum th_status scan_parts(struct th_scanner *s, struct parts *parts)
{
    enum th_status status;

    parts->count = 0;
    do {
        if (parts->count == PARTS)
            return th_text_scan_fail(s, s->at, "expected '>'");
        status = scan_part(s, &parts->values[parts->count++]);
        if (status != TH_OK)
            return status;
    } while (s->at < s->end && *s->at == '.' && s->at++);
    if (s->at == s->end || *s->at != '>')
        return th_text_scan_fail(s, s->at, "expected '.' or '>'");
    s->at++;
    if (parts->values[0] != 0)
        return th_text_scan_fail(
            s, s->start, "expected an identifier of this node (no other can be read from text)");
    return TH_OK;
}

/* True if the parts after the node fit 32 bits. */
static bool fit_words(const struct parts *parts)
{
    for (size_t i = 1; i < parts->count; i++)
        if (parts->values[i] > UINT32_MAX)
            return false;
    return true;
}

static th_term make_pid(th_env *env, const struct parts *parts)
{
    if (parts->count != 3 || !fit_words(parts))
        return TH_NONE;
    return th_make_pid(env, TH_NONE, 0, (uint32_t)parts->values[1], (uint32_t)parts->values[2]);
}

static th_term make_port(th_env *env, const struct parts *parts)
{
    if (parts->count != 2)
        return TH_NONE;
    return th_make_port(env, TH_NONE, 0, parts->values[1]);
}

static th_term make_ref(th_env *env, const struct parts *parts)
{
    uint32_t words[TH_REF_WORDS];
    size_t count = parts->count - 1;

    if (count == 0 || !fit_words(parts))
        return TH_NONE;
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)parts->values[count - i];
    return th_make_reference(env, TH_NONE, 0, words, count);
}

enum th_status th_text_scan_identifier(struct th_scanner *s)
{
    th_term (*make)(th_env * env, const struct parts *parts) = make_pid;
    struct parts parts;
    enum th_status status;

    if (s->at[0] == '#') {
        if (s->at[1] == 'F')
            return th_text_scan_fail(s, s->at, "expected a term (a fun cannot be read from text)");
        make = s->at[1] == 'P' ? make_port : make_ref;
    }
    while (*s->at++ != '<') {
    }
    status = scan_parts(s, &parts);
    if (status != TH_OK)
        return status;
    s->token = TH_TOKEN_TERM;
    s->value = make(s->env, &parts);
    if (s->value == TH_NONE)
        return th_text_scan_fail(s, s->start, "expected <0.N.N>, #Port<0.N> or #Ref<0.N.N.N>");
    return TH_OK;
}
