/* Characters behind a backslash. */
#include "text_parse_internal.h"

#include "integer_internal.h"
#include "utf8.h"

static bool is_hexadecimal(const struct th_scanner *s)
{
    return s->at < s->end && th_term_digit_value(*s->at) < 16;
}

/* xHH and x{H...} */
static enum th_status scan_hexadecimal(struct th_scanner *s, uint32_t *c)
{
    bool braces = s->at < s->end && *s->at == '{';
    const char *from = s->at += braces;

    for (*c = 0; is_hexadecimal(s) && (braces || s->at < from + 2); s->at++)
        if (*c < 0x110000)
            *c = *c << 4 | th_term_digit_value(*s->at);
    if (s->at == from || (!braces && s->at != from + 2))
        return th_text_scan_fail(s, s->at, "expected a hexadecimal digit");
    if (braces && (s->at == s->end || *s->at != '}'))
        return th_text_scan_fail(s, s->at, "expected '}'");
    s->at += braces;
    if (!th_utf8_valid(*c))
        return th_text_scan_fail(s, from, "expected the number of a character");
    return TH_OK;
}

/* Up to three digits, the first of which is C. */
static void scan_octal(struct th_scanner *s, uint32_t *c)
{
    *c -= '0';
    for (int i = 0; i < 2 && s->at < s->end && *s->at >= '0' && *s->at <= '7'; i++)
        *c = *c << 3 | (uint32_t)(*s->at++ - '0');
}

/* ^C */
static enum th_status scan_control(struct th_scanner *s, uint32_t *c)
{
    const char *from = s->at;
    enum th_status status = th_text_scan_character(s, c);

    if (status != TH_OK)
        return status;
    if (*c == '?')
        *c = 0x7F;
    else if ((*c >= '@' && *c <= '_') || (*c >= 'a' && *c <= 'z'))
        *c &= 0x1F;
    else
        return th_text_scan_fail(s, from, "expected a letter behind \\^");
    return TH_OK;
}

static enum th_status scan_escape(struct th_scanner *s, uint32_t *c)
{
    static const char plain[][2] = {
        {'n', '\n'}, {'t', '\t'}, {'r', '\r'},   {'s', ' '},    {'b', '\b'},
        {'v', '\v'}, {'f', '\f'}, {'e', '\x1B'}, {'d', '\x7F'},
    };
    enum th_status status = th_text_scan_character(s, c);

    if (status != TH_OK)
        return status;
    if (*c == 'x')
        return scan_hexadecimal(s, c);
    if (*c == '^')
        return scan_control(s, c);
    if (*c >= '0' && *c <= '7') {
        scan_octal(s, c);
        return TH_OK;
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (*c == (uint32_t)plain[i][0]) {
            *c = (uint32_t)plain[i][1];
            break;
        }
    }
    return TH_OK;
}

enum th_status th_text_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c)
{
    if (verbatim || s->at == s->end || *s->at != '\\')
        return th_text_scan_character(s, c);
    s->at++;
    return scan_escape(s, c);
}
