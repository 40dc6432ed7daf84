/*
 * Triple-quoted strings: three quotes or more, then lines, then on a line of its own as many quotes
 * again. What stands in front of those is the indentation: it is taken off every line that is not
 * empty. The new line in front of the last line does not count.
 */
#include "text_parse_internal.h"

#include "text_internal.h"
#include "utf8.h"

#include <string.h>

size_t th_text_scan_count_quotes(const struct th_scanner *s)
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

/* The bytes of white space in front of QUOTES quotes at AT, if that is all there is before them;
 * else SIZE_MAX. */
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
            status = th_text_scan_add(&s->string, c);
        if (status != TH_OK)
            return status;
    }
    return TH_OK;
}

/* The lines up to CLOSING, the last line, which has INDENT bytes in front of its quotes. */
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
            status = th_text_scan_add(&s->string, '\n');
        if (status != TH_OK)
            return status;
        s->at = end + 1;
    }
    return TH_OK;
}

enum th_status th_text_scan_triple(struct th_scanner *s, bool verbatim)
{
    size_t quotes = th_text_scan_count_quotes(s);
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
        return th_text_scan_fail_open(s, "as many quotes on a line of their own");
    status = scan_lines(s, closing, indent, verbatim);
    s->at = closing + indent + quotes;
    return status;
}
