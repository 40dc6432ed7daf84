/*
 * Scans quoted atoms, strings and sigils, and the characters in them.
 *
 * Text without escapes is used in place; other text is built in the scanner's buffers.
 */
#include "atom.h"
#include "integer_internal.h"
#include "make.h"
#include "term_internal.h"
#include "text_internal.h"
#include "text_parse_internal.h"
#include "text_token.h"
#include "utf8.h"

#include <string.h>

/* --- Characters behind a backslash ------------------------------------------------------------ */

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

enum th_status th_text_scan_quoted(struct th_scanner *s, bool verbatim, uint32_t *c)
{
    static const char letters[] = "ntrsbvfed", plain[] = "\n\t\r \b\v\f\x1B\x7F";
    bool escaped = !verbatim && s->at < s->end && *s->at == '\\';
    const char *from = s->at += escaped, *letter;
    enum th_status status = th_text_scan_character(s, c);

    if (status != TH_OK || !escaped)
        return status;
    if (*c == 'x')
        return scan_hexadecimal(s, c);
    if (*c == '^') {
        from = s->at;
        status = th_text_scan_character(s, c);
        if (status != TH_OK)
            return status;
        if (*c == '?')
            *c = 0x7F;
        else if ((*c >= '@' && *c <= '_') || (*c >= 'a' && *c <= 'z'))
            *c &= 0x1F;
        else
            return th_text_scan_fail(s, from, "expected a letter behind \\^");
    } else if (*c >= '0' && *c <= '7') {
        *c -= '0';
        while (s->at < from + 3 && s->at < s->end && *s->at >= '0' && *s->at <= '7')
            *c = *c << 3 | (uint32_t)(*s->at++ - '0');
    } else if (*c > 0 && *c < 0x80 && (letter = strchr(letters, (int)*c)) != NULL) {
        *c = (uint32_t)plain[letter - letters];
    }
    return TH_OK;
}

/* --- One pair of quotes ----------------------------------------------------------------------- */

/* Appends C, from the budget of base/memory.h. */
static enum th_status add_character(struct th_buffer *to, uint32_t c)
{
    if (!th_buffer_try(to, TH_UTF8_MAX))
        return th_error_status();
    to->size += th_utf8_put(c, (char *)to->data + to->size);
    return TH_OK;
}

static struct th_characters all_of(const struct th_buffer *b)
{
    return (struct th_characters){b->size > 0 ? (const char *)b->data : "", b->size};
}

/* Raises an error for quotes at `start` that CLOSING does not close. */
__attribute__((cold)) static enum th_status fail_open(struct th_scanner *s, const char *closing)
{
    s->unclosed = true;
    return th_text_scan_fail(s, s->end, "expected %s at the end of what begins with %.*s", closing,
                             (int)(s->end - s->start < 16 ? s->end - s->start : 16), s->start);
}

/* Appends the characters up to QUOTE to TO. In verbatim text a backslash is an ordinary character,
 * unless QUOTE follows: then the backslash is dropped, and the quote does not end the text. */
static enum th_status scan_to_quote(struct th_scanner *s, char quote, bool verbatim,
                                    struct th_buffer *to)
{
    enum th_status status;
    uint32_t c;

    while (s->at < s->end && *s->at != quote) {
        if (verbatim && *s->at == '\\' && s->at + 1 < s->end && s->at[1] == quote)
            s->at++;
        status = th_text_scan_quoted(s, verbatim, &c);
        if (status == TH_OK)
            status = add_character(to, c);
        if (status != TH_OK)
            return status;
    }
    if (s->at == s->end)
        return fail_open(s, (char[]){quote, 0});
    s->at++;
    return TH_OK;
}

/* If no escape comes before QUOTE, uses the characters in place and returns true. */
static bool take_as_is(struct th_scanner *s, char quote, struct th_characters *characters)
{
    const char *at = s->at;
    unsigned char seen = 0;
    size_t count;

    for (; at < s->end && *at != quote && *at != '\\'; at++)
        seen |= (unsigned char)*at;
    if (at == s->end || *at != quote)
        return false;
    *characters = (struct th_characters){s->at, (size_t)(at - s->at)};
    if (seen >= 0x80 && !th_utf8_count(characters->data, characters->size, &count))
        return false;
    s->at = at + 1;
    return true;
}

enum th_status th_text_scan_quoted_atom(struct th_scanner *s)
{
    struct th_characters name;
    enum th_status status;

    s->at++;
    if (!take_as_is(s, '\'', &name)) {
        s->atom.size = 0;
        status = scan_to_quote(s, '\'', false, &s->atom);
        if (status != TH_OK)
            return status;
        name = all_of(&s->atom);
    }
    s->token = TH_TOKEN_TERM;
    s->value = th_atom_utf8(name.data, name.size);
    return s->value != TH_NONE ? TH_OK : th_text_scan_fail_atom(s);
}

/* --- Triple quotes ---------------------------------------------------------------------------- */

/*
 * Three quotes or more, then lines, then as many quotes again on a line of their own. The white
 * space before the closing quotes is the indentation, which is removed from every line that is not
 * empty. The new line before the last line does not count.
 */

/* Counts the '"' at the scanner's place. */
static size_t count_quotes(const struct th_scanner *s)
{
    const char *at = s->at;

    while (at < s->end && *at == '"')
        at++;
    return (size_t)(at - s->at);
}

static bool is_blank(char c)
{
    return (c & 0x80) == 0 && th_text_char_is((unsigned char)c, TH_CHAR_SPACE);
}

/* Counts the bytes of white space between AT and QUOTES quotes; SIZE_MAX if other text comes
 * first. */
static size_t closing_indent(const struct th_scanner *s, const char *at, size_t quotes)
{
    const char *from = at;

    while (at < s->end && *at != '\n' && is_blank(*at))
        at++;
    if ((size_t)(s->end - at) < quotes)
        return SIZE_MAX;
    for (size_t i = 0; i < quotes; i++)
        if (at[i] != '"')
            return SIZE_MAX;
    return (size_t)(at - from);
}

static const char *line_end(const struct th_scanner *s, const char *at)
{
    while (at < s->end && *at != '\n')
        at++;
    return at;
}

/* Appends one line. */
static enum th_status scan_line(struct th_scanner *s, const char *end, bool verbatim)
{
    enum th_status status;
    uint32_t c;

    while (s->at < end) {
        if (*s->at == '\\' && s->at + 1 == end && !verbatim) {
            s->at = end; /* an escaped new line is a new line */
            break;
        }
        status = th_text_scan_quoted(s, verbatim, &c);
        if (status == TH_OK)
            status = add_character(&s->string, c);
        if (status != TH_OK)
            return status;
    }
    return TH_OK;
}

/* Appends the lines up to CLOSING, the last line, which has INDENT bytes in front of its quotes. */
static enum th_status scan_lines(struct th_scanner *s, const char *closing, size_t indent,
                                 bool verbatim)
{
    enum th_status status;

    while (s->at < closing) {
        const char *end = line_end(s, s->at);
        bool last = end + 1 == closing;
        bool returns = end > s->at && end[-1] == '\r';
        if (end - returns > s->at) {
            if ((size_t)(end - s->at) < indent || memcmp(s->at, closing, indent) != 0)
                return th_text_scan_fail(s, s->at,
                                         "expected the indentation of the closing quotes");
            s->at += indent;
        }
        status = scan_line(s, end - (last && returns && end > s->at), verbatim);
        if (status == TH_OK && !last)
            status = add_character(&s->string, '\n');
        if (status != TH_OK)
            return status;
        s->at = end + 1;
    }
    return TH_OK;
}

/* Scans from three quotes or more; appends to `string`. */
static enum th_status scan_triple(struct th_scanner *s, bool verbatim)
{
    size_t quotes = count_quotes(s);
    size_t indent = SIZE_MAX;
    const char *closing;
    enum th_status status;

    s->at += quotes;
    closing = line_end(s, s->at);
    for (const char *c = s->at; c < closing; c++)
        if (!is_blank(*c))
            return th_text_scan_fail(s, c, "expected a new line behind the triple quotes");
    s->at = closing + (closing < s->end);
    while (closing < s->end && indent == SIZE_MAX) {
        closing++;
        indent = closing_indent(s, closing, quotes);
        if (indent == SIZE_MAX)
            closing = line_end(s, closing);
    }
    if (indent == SIZE_MAX)
        return fail_open(s, "as many quotes on a line of their own");
    status = scan_lines(s, closing, indent, verbatim);
    s->at = closing + indent + quotes;
    return status;
}

/* --- Strings and sigils ----------------------------------------------------------------------- */

static bool is_string_next(struct th_scanner *s)
{
    const char *behind = s->at;

    th_text_scan_blank(s);
    if (s->at < s->end && *s->at == '"')
        return true;
    s->at = behind;
    return false;
}

enum th_status th_text_scan_string(struct th_scanner *s)
{
    enum th_status status = TH_OK;

    s->token = TH_TOKEN_STRING;
    s->string.size = 0;
    if (count_quotes(s) < 3) {
        s->at++;
        if (take_as_is(s, '"', &s->characters)) {
            if (!is_string_next(s))
                return TH_OK;
            if (!th_buffer_try(&s->string, s->characters.size))
                return th_error_status();
            th_buffer_add(&s->string, s->characters.data, s->characters.size);
        } else {
            status = scan_to_quote(s, '"', false, &s->string);
        }
    } else {
        status = scan_triple(s, true);
    }
    while (status == TH_OK && is_string_next(s)) {
        if (count_quotes(s) >= 3) {
            status = scan_triple(s, true);
        } else {
            s->at++;
            status = scan_to_quote(s, '"', false, &s->string);
        }
    }
    s->characters = all_of(&s->string);
    return status;
}

/* ~ ~b ~B make a binary, ~s ~S a string. The capitals, and ~ with triple quotes, are verbatim. */
enum th_status th_text_scan_sigil(struct th_scanner *s)
{
    static const char opening[] = "([{</|'\"`#", closing[] = ")]}>/|'\"`#";
    const char *quote;
    enum th_status status;
    char kind = 0;

    s->at++;
    if (s->at < s->end && memchr("bBsS", *s->at, 4) != NULL)
        kind = *s->at++;
    s->string.size = 0;
    quote = s->at < s->end && *s->at ? strchr(opening, *s->at) : NULL;
    if (!quote)
        return th_text_scan_fail(s, s->at, "expected b, B, s, S or a quote behind '~'");
    if (count_quotes(s) >= 3) {
        status = scan_triple(s, kind != 'b' && kind != 's');
    } else {
        s->at++;
        status = scan_to_quote(s, closing[quote - opening], kind == 'B' || kind == 'S', &s->string);
    }
    if (status != TH_OK)
        return status;
    if (s->at < s->end && th_text_char_is((unsigned char)*s->at, TH_CHAR_NAME))
        return th_text_scan_fail(s, s->at, "expected no suffix behind a sigil");
    s->characters = all_of(&s->string);
    s->token = TH_TOKEN_STRING;
    if (kind != 's' && kind != 'S') {
        if (!th_env_room(s->env, th_term_heap_binary_words(8 * s->string.size)))
            return th_error_status();
        s->token = TH_TOKEN_TERM;
        s->value = th_make_binary(s->env, s->string.data, s->string.size);
    }
    return TH_OK;
}

th_term th_text_scan_list(const struct th_scanner *s)
{
    const char *at = s->characters.data;
    const char *end = at + s->characters.size;
    size_t count = 0;
    th_term *cells;
    uint32_t c;

    th_utf8_count(at, s->characters.size, &count);
    if (count == 0)
        return TH_NIL;
    cells = th_env_try(s->env, 2 * count);
    if (!cells)
        return TH_NONE;
    for (size_t i = 0; i < count; i++) {
        at += th_utf8_get(at, (size_t)(end - at), &c);
        cells[2 * i] = th_small(c);
        cells[2 * i + 1] = i + 1 < count ? th_listed(cells + 2 * i + 2) : TH_NIL;
    }
    return th_listed(cells);
}
