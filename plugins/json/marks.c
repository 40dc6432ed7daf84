/* Marked text: see parts.h. */
#include "parts.h"

#include <string.h>

enum { INTEGER_DIGITS = 19 }; /* integers with fewer digits fit into 64 bits */

/* Spelling in JSON. */
static const char mark[] = "\\u0001", nul[] = "\\u0000", marked_nul[] = "\\u00010",
                  number_begins[] = "\"\\u0001n";

/* State of the copying of a text, which need not be JSON, to its marked form. */
struct copying {
    const char *at, *end;
    char *to;
    bool in_string;
};

static void copy(struct copying *c, size_t bytes)
{
    memmove(c->to, c->at, bytes);
    c->at += bytes;
    c->to += bytes;
}

static void put(struct copying *c, const char *bytes)
{
    size_t size = strlen(bytes);

    memcpy(c->to, bytes, size);
    c->to += size;
}

static bool comes(const struct copying *c, const char *what)
{
    size_t size = strlen(what);

    return (size_t)(c->end - c->at) >= size && memcmp(c->at, what, size) == 0;
}

/* Copies a character, or a backslash with the character that it escapes. */
static void copy_character(struct copying *c)
{
    if (*c->at == '"')
        c->in_string = !c->in_string;
    copy(c, *c->at == '\\' && c->end - c->at > 1 ? 2 : 1);
}

/* --- Putting marks in ------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_one_of(char c, const char *list)
{
    return memchr(list, c, strlen(list)) != NULL;
}

/* Returns whether the SIZE characters at TEXT are an integer that may exceed 64 bits, but not
 * MOST_DIGITS. */
static bool is_large_integer(const char *text, size_t size)
{
    size_t digits = *text == '-' ? size - 1 : size;

    text += size - digits;
    if (digits < INTEGER_DIGITS || digits > MOST_DIGITS || *text == '0')
        return false;
    for (size_t i = 0; i < digits; i++)
        if (!is_digit(text[i]))
            return false;
    return true;
}

/* A number in the place of a key is an error, and must remain one. */
static bool is_key(const char *behind, const char *end)
{
    while (behind < end && is_one_of(*behind, " \t\r\n"))
        behind++;
    return behind < end && *behind == ':';
}

static void mark_number(struct copying *c)
{
    const char *behind = c->at;
    size_t size;

    while (behind < c->end && (is_digit(*behind) || is_one_of(*behind, "+-.eE")))
        behind++;
    size = (size_t)(behind - c->at);
    if (!is_large_integer(c->at, size) || is_key(behind, c->end)) {
        copy(c, size);
        return;
    }
    put(c, number_begins);
    copy(c, size);
    put(c, "\"");
}

static void mark_next(struct copying *c)
{
    if (!c->in_string && (*c->at == '-' || is_digit(*c->at))) {
        mark_number(c);
    } else if (c->in_string && comes(c, mark)) {
        put(c, mark);
        copy(c, strlen(mark));
    } else if (c->in_string && comes(c, nul)) {
        c->at += strlen(nul);
        put(c, marked_nul);
    } else {
        copy_character(c);
    }
}

char *marks_put(const char *text, size_t size, size_t *marked_size)
{
    char *marked = enif_alloc(2 * size + 1); /* a mark doubles in size; numbers grow less */
    struct copying c = {text, text + size, marked, false};

    if (!marked)
        return NULL;
    while (c.at < c.end)
        mark_next(&c);
    *marked_size = (size_t)(c.to - marked);
    return marked;
}

size_t marks_place(const char *text, size_t size, size_t place)
{
    char *marked = enif_alloc(2 * size + 1);
    struct copying c = {text, text + size, marked, false};
    size_t added = 0; /* before the last step */

    if (!marked)
        return 0;
    while (c.at < c.end && (size_t)(c.to - marked) < place) {
        added = (size_t)(c.to - marked) - (size_t)(c.at - text);
        mark_next(&c);
    }
    if ((size_t)(c.to - marked) <= place)
        added = (size_t)(c.to - marked) - (size_t)(c.at - text);
    enif_free(marked);
    return place - added;
}

/* --- Taking marks out ------------------------------------------------------------------------- */

/* Copies a string that stands for a number as this number. */
static void take_number(struct copying *c)
{
    c->at += strlen(number_begins);
    while (*c->at != '"')
        copy(c, 1);
    c->at++;
}

size_t marks_take(char *text, size_t size)
{
    struct copying c = {text, text + size, text, false};

    while (c.at < c.end) {
        if (!c.in_string && comes(&c, number_begins)) {
            take_number(&c);
            continue;
        }
        if (c.in_string && comes(&c, mark)) {
            c.at += strlen(mark);
            copy(&c, strlen(mark));
            continue;
        }
        copy_character(&c);
    }
    return (size_t)(c.to - text);
}
