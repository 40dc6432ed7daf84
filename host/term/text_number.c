/* Scans numbers, characters as numbers, and the pids, ports and references that the printer
 * writes. */
#include "integer_internal.h"
#include "make.h"
#include "peer.h"
#include "text_internal.h"
#include "text_parse_internal.h"
#include "text_token.h"

#include <string.h>

/* --- Numbers ---------------------------------------------------------------------------------- */

static bool is_digit(const struct th_scanner *s, const char *at, unsigned radix)
{
    return at < s->end && th_term_digit_value(*at) < radix;
}

/* Skips digits, with single underscores between them. */
static void text_number_skip_digits(struct th_scanner *s, unsigned radix)
{
    while (is_digit(s, s->at, radix) ||
           (s->at < s->end && *s->at == '_' && is_digit(s, s->at + 1, radix)))
        s->at++;
}

/* Words for an integer of DIGITS digits, and for its digits during conversion: a limb has at least
 * 12 digits of radix 36. */
#define ROOM(digits) (2 * ((digits) / 12 + 2))

/* Makes the integer of the digits from FROM up to the scanner's place. */
static enum th_status make_integer(struct th_scanner *s, const char *from, unsigned radix)
{
    size_t bytes = (size_t)(s->at - from);
    size_t count = 0;
    char few[64] = {0};
    char *digits = few;
    bool room;

    for (const char *c = from; c < s->at; c++)
        count += *c != '_';
    if (count > TH_TEXT_DIGITS)
        return th_text_scan_fail(s, from, "expected an integer of at most %d digits",
                                 TH_TEXT_DIGITS);
    if (bytes > sizeof few && !(digits = th_try_alloc(bytes)))
        return th_error_status();
    count = 0;
    for (const char *c = from; c < s->at; c++)
        if (*c != '_')
            digits[count++] = *c;
    room = th_env_room(s->env, ROOM(bytes));
    if (room)
        s->value = th_term_big_from_digits(s->env, false, digits, count, radix);
    if (digits != few)
        th_try_free(digits, bytes);
    return room ? TH_OK : th_error_status();
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
    text_number_skip_digits(s, radix);
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
    text_number_skip_digits(s, 10);
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '-' || *s->at == '+'))
            s->at++;
        if (!is_digit(s, s->at, 10))
            return th_text_scan_fail(s, s->at, "expected an exponent");
        text_number_skip_digits(s, 10);
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
    text_number_skip_digits(s, 10);
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

/* 0.1.2> */
static enum th_status scan_parts(struct th_scanner *s, struct parts *parts)
{
    parts->count = 0;
    do {
        const char *from = s->at;
        uint64_t value = 0;

        if (parts->count == PARTS)
            return th_text_scan_fail(s, s->at, "expected '>'");
        for (; is_digit(s, s->at, 10); s->at++)
            if (__builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, th_term_digit_value(*s->at), &value))
                return th_text_scan_fail(s, from, "expected a smaller number");
        if (s->at == from)
            return th_text_scan_fail(s, s->at, "expected a number of a pid, port or reference");
        parts->values[parts->count++] = value;
    } while (s->at < s->end && *s->at == '.' && s->at++);
    if (s->at == s->end || *s->at != '>')
        return th_text_scan_fail(s, s->at, "expected '.' or '>'");
    s->at++;
    if (parts->values[0] > TH_PEERS_MAX || !th_peer_is_known((unsigned)parts->values[0]))
        return th_text_scan_fail(
            s, s->start, "expected an identifier of this node (no other can be read from text)");
    return TH_OK;
}

/* Makes the identifier that begins with SIGN; TH_NONE if PARTS do not suit it. */
static th_term make_identifier(th_env *env, char sign, const struct parts *parts)
{
    uint32_t words[TH_REF_WORDS] = {0};
    size_t count = parts->count - 1;
    struct th_peer of = th_term_peers[parts->values[0]];

    if (sign == 'P')
        return count == 1 ? th_make_port(env, of.node, of.creation, parts->values[1]) : TH_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts->values[count - i] > UINT32_MAX)
            return TH_NONE;
        words[i] = (uint32_t)parts->values[count - i];
    }
    if (sign == '<')
        return count == 2 ? th_make_pid(env, of.node, of.creation, words[1], words[0]) : TH_NONE;
    return count > 0 ? th_make_reference(env, of.node, of.creation, words, count) : TH_NONE;
}

enum th_status th_text_scan_identifier(struct th_scanner *s)
{
    char sign = s->at[0] == '#' ? s->at[1] : '<';
    struct parts parts;
    enum th_status status;

    if (sign == 'F')
        return th_text_scan_fail(s, s->at, "expected a term (a fun cannot be read from text)");
    while (*s->at++ != '<') {
    }
    status = scan_parts(s, &parts);
    if (status != TH_OK)
        return status;
    s->token = TH_TOKEN_TERM;
    s->value = make_identifier(s->env, sign, &parts);
    if (s->value == TH_NONE)
        return th_text_scan_fail(s, s->start, "expected <0.N.N>, #Port<0.N> or #Ref<0.N.N.N>");
    return TH_OK;
}
