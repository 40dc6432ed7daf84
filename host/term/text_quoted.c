/*
 * Quoted atoms, strings and sigils.
 *
 * The characters of what has no escapes are taken where they stand; others are put together in the
 * scanner's buffers.
 */
#include "text_parse_internal.h"

#include "env_internal.h"
#include "atom.h"
#include "make.h"
#include "text_internal.h"
#include "utf8.h"

#include <string.h>

/* --- One pair of quotes ----------------------------------------------------------------------- */

enum th_status th_text_scan_add(struct th_buffer *to, uint32_t c)
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

enum th_status th_text_scan_fail_open(struct th_scanner *s, const char *closing)
{
    s->unclosed = true;
    return th_text_scan_fail(s, s->end, "expected %s at the end of what begins with %.*s", closing,
                             (int)(s->end - s->start < 16 ? s->end - s->start : 16), s->start);
}

/* Appends the characters up to QUOTE to TO. In verbatim text a backslash is a character like any
 * other, but keeps the quote from ending it. */
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
            status = th_text_scan_add(to, c);
        if (status != TH_OK)
            return status;
    }
    if (s->at == s->end)
        return th_text_scan_fail_open(s, (char[]){quote, 0});
    s->at++;
    return TH_OK;
}

/* If no escape comes before QUOTE, takes the characters as they stand and returns true. */
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

/* --- Strings and sigils ----------------------------------------------------------------------- */

/* At a quote; appends to the string. */
static enum th_status scan_more(struct th_scanner *s)
{
    if (th_text_scan_count_quotes(s) >= 3)
        return th_text_scan_triple(s, true);
    s->at++;
    return scan_to_quote(s, '"', false, &s->string);
}

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
    if (th_text_scan_count_quotes(s) < 3) {
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
        status = th_text_scan_triple(s, true);
    }
    while (status == TH_OK && is_string_next(s))
        status = scan_more(s);
    s->characters = all_of(&s->string);
    return status;
}

/* The quote that ends what C begins, 0 if it begins nothing. */
static char closing_quote(char c)
{
    static const char quotes[] = "()[]{}<>//||''\"\"``##";

    for (size_t i = 0; quotes[i] != 0; i += 2)
        if (quotes[i] == c)
            return quotes[i + 1];
    return 0;
}

static enum th_status scan_sigil_quotes(struct th_scanner *s, char kind)
{
    char quote = s->at < s->end ? closing_quote(*s->at) : 0;

    if (quote == 0)
        return th_text_scan_fail(s, s->at, "expected b, B, s, S or a quote behind '~'");
    if (th_text_scan_count_quotes(s) >= 3)
        return th_text_scan_triple(s, kind != 'b' && kind != 's');
    s->at++;
    return scan_to_quote(s, quote, kind == 'B' || kind == 'S', &s->string);
}

/* ~ ~b ~B make a binary, ~s ~S a string; the capitals, and ~ with triple quotes, take backslashes
 * as they are. */
enum th_status th_text_scan_sigil(struct th_scanner *s)
{
    enum th_status status;
    char kind = 0;

    s->at++;
    if (s->at < s->end && memchr("bBsS", *s->at, 4) != NULL)
        kind = *s->at++;
    s->string.size = 0;
    status = scan_sigil_quotes(s, kind);
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
