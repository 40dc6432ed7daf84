/* Scans tokens, and words without quotes. text_quoted.c scans quoted text, text_number.c scans
 * numbers and identifiers. */
#include "atom.h"
#include "text_internal.h"
#include "text_parse_internal.h"
#include "text_token.h"
#include "utf8.h"

#include <string.h>

/* --- Errors ----------------------------------------------------------------------------------- */

struct th_place th_text_scan_place(const char *text, const char *at)
{
    struct th_place place = {1, 1};

    for (const char *c = text; c < at; c++) {
        if (*c == '\n') {
            place.line++;
            place.column = 1;
        } else if ((*c & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

enum th_status th_text_scan_fail(const struct th_scanner *s, const char *at, const char *format,
                                 ...)
{
    enum { SHOWN = 20 };
    struct th_place place = th_text_scan_place(s->text, at);
    char message[TH_ERROR_TEXT / 2];
    const char *end = at;
    va_list args;
    size_t used;
    uint32_t c;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (at == s->end)
        return th_error_raise(TH_MALFORMED, "line %zu, column %zu: %s, found the end of the text",
                              place.line, place.column, message);

    /* Some characters from AT on, as far as a line can show them. */
    for (int i = 0; i < SHOWN; i++, end += used) {
        used = th_utf8_get(end, (size_t)(s->end - end), &c);
        if (used == 0 || c < ' ' || (c >= 0x7F && c < 0xA0))
            break;
    }
    if (end == at)
        return th_error_raise(TH_MALFORMED, "line %zu, column %zu: %s, found the byte %02X",
                              place.line, place.column, message, (unsigned char)*at);
    return th_error_raise(TH_MALFORMED, "line %zu, column %zu: %s, found \"%.*s\"", place.line,
                          place.column, message, (int)(end - at), at);
}

enum th_status th_text_scan_fail_atom(const struct th_scanner *s)
{
    return th_text_scan_fail(
        s, s->start,
        "expected an atom of at most %d characters, and not a new one when there "
        "are %d",
        TH_ATOM_CHARACTERS, TH_ATOM_LIMIT);
}

/* --- Characters ------------------------------------------------------------------------------- */

enum th_status th_text_scan_character(struct th_scanner *s, uint32_t *c)
{
    size_t used = th_utf8_get(s->at, (size_t)(s->end - s->at), c);

    if (used == 0)
        return th_text_scan_fail(s, s->at,
                                 s->at == s->end ? "expected a character" : "expected UTF-8");
    s->at += used;
    return TH_OK;
}

/* Reads the character of Latin-1 at AT; returns the number of its bytes, 0 if there is none. */
static inline size_t latin1_at(const struct th_scanner *s, const char *at, uint32_t *c)
{
    if (at == s->end)
        return 0;
    *c = (unsigned char)*at;
    if (*c < 0x80)
        return 1;
    if (s->end - at < 2 || (*c & 0xFE) != 0xC2 || (at[1] & 0xC0) != 0x80)
        return 0;
    *c = (*c & 3) << 6 | (at[1] & 0x3F);
    return 2;
}

void th_text_scan_blank(struct th_scanner *s)
{
    size_t used;
    uint32_t c;

    while ((used = latin1_at(s, s->at, &c)) > 0) {
        if (c == '%') {
            const char *line = memchr(s->at, '\n', (size_t)(s->end - s->at));
            s->at = line != NULL ? line : s->end;
        } else if (th_text_char_is(c, TH_CHAR_SPACE)) {
            s->at += used;
        } else {
            break;
        }
    }
}

/* --- Words ------------------------------------------------------------------------------------ */

static void skip_name(struct th_scanner *s)
{
    size_t used;
    uint32_t c;

    while ((used = latin1_at(s, s->at, &c)) > 0 && th_text_char_is(c, TH_CHAR_NAME))
        s->at += used;
}

static enum th_status scan_word(struct th_scanner *s)
{
    size_t bytes;

    skip_name(s);
    bytes = (size_t)(s->at - s->start);
    s->value = th_atom_utf8(s->start, bytes);
    if (s->value == TH_NONE)
        return th_text_scan_fail_atom(s);
    s->token = TH_TOKEN_TERM;
    if (th_text_is_reserved(s->start, bytes))
        s->token = bytes == 3 && memcmp(s->start, "fun", 3) == 0 ? TH_TOKEN_FUN : TH_TOKEN_RESERVED;
    return TH_OK;
}

/* --- Punctuation ------------------------------------------------------------------------------ */

static bool follows(const struct th_scanner *s, const char *text)
{
    size_t bytes = strlen(text);

    return (size_t)(s->end - s->at) >= bytes && memcmp(s->at, text, bytes) == 0;
}

/* Erlang's tokens of several characters, the longer ones first. */
static const struct {
    char text[4];
    int token;
} long_tokens[] = {
    {"...", TH_TOKEN_OPERATOR}, {"..", TH_TOKEN_OPERATOR},  {"<<", TH_TOKEN_OPEN_BINARY},
    {"<-", TH_TOKEN_OPERATOR},  {"<=", TH_TOKEN_OPERATOR},  {">>", TH_TOKEN_CLOSE_BINARY},
    {">=", TH_TOKEN_OPERATOR},  {"->", TH_TOKEN_OPERATOR},  {"--", TH_TOKEN_OPERATOR},
    {"++", TH_TOKEN_OPERATOR},  {"=:=", TH_TOKEN_OPERATOR}, {"=/=", TH_TOKEN_OPERATOR},
    {"=<", TH_TOKEN_OPERATOR},  {"=>", TH_TOKEN_ARROW},     {"==", TH_TOKEN_OPERATOR},
    {"/=", TH_TOKEN_OPERATOR},  {"||", TH_TOKEN_OPERATOR},  {":=", TH_TOKEN_OPERATOR},
    {"::", TH_TOKEN_OPERATOR},
};

static enum th_status text_scan_take(struct th_scanner *s, int token, size_t bytes)
{
    s->token = token;
    s->at += bytes;
    return TH_OK;
}

static enum th_status scan_punctuation(struct th_scanner *s, char c)
{
    uint32_t next;

    if (th_text_char_is((unsigned char)c, TH_CHAR_SINGLE))
        return text_scan_take(s, c, 1);
    if (c == '.' && (s->at + 1 == s->end || s->at[1] == '%' ||
                     (latin1_at(s, s->at + 1, &next) > 0 && th_text_char_is(next, TH_CHAR_SPACE))))
        return text_scan_take(s, TH_TOKEN_DOT, 1);
    for (size_t i = 0; i < sizeof long_tokens / sizeof long_tokens[0]; i++)
        if (long_tokens[i].text[0] == c && follows(s, long_tokens[i].text))
            return text_scan_take(s, long_tokens[i].token, strlen(long_tokens[i].text));
    return text_scan_take(s, strchr("|:/+-", c) != NULL ? c : TH_TOKEN_OPERATOR, 1);
}

static enum th_status scan_by_first(struct th_scanner *s, char c)
{
    if (c >= '0' && c <= '9')
        return th_text_scan_number(s);
    switch (c) {
    case '$':
        return th_text_scan_dollar(s);
    case '\'':
        return th_text_scan_quoted_atom(s);
    case '"':
        return th_text_scan_string(s);
    case '~':
        return th_text_scan_sigil(s);
    case '<':
        if (s->at + 1 < s->end && s->at[1] >= '0' && s->at[1] <= '9')
            return th_text_scan_identifier(s);
        break;
    case '#':
        if (follows(s, "#Port<") || follows(s, "#Ref<") || follows(s, "#Fun<"))
            return th_text_scan_identifier(s);
        break;
    }
    return scan_punctuation(s, c);
}

enum th_status th_text_scan_next(struct th_scanner *s)
{
    size_t used;
    uint32_t c;

    th_text_scan_blank(s);
    s->start = s->at;
    if (s->at == s->end) {
        s->token = TH_TOKEN_END;
        return TH_OK;
    }
    used = latin1_at(s, s->at, &c);
    if (used == 0 || c == 0x7F)
        return th_text_scan_fail(s, s->at,
                                 "expected a term; other characters than Latin-1's must stand "
                                 "between quotes");
    if (th_text_char_is(c, TH_CHAR_LOWER))
        return scan_word(s);
    if (th_text_char_is(c, TH_CHAR_UPPER)) {
        skip_name(s);
        return text_scan_take(s, TH_TOKEN_VARIABLE, 0);
    }
    if (used == 2)
        return text_scan_take(s, TH_TOKEN_OPERATOR, used);
    return scan_by_first(s, (char)c);
}
