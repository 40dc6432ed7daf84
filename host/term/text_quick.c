/*
 * The usual terms from text, in one pass without tokens: tuples, lists, strings, binaries that are
 * text, words, integers of few digits and pids, without white space. The scanner reads any other
 * term of one token. If a text has anything else, the function stops, and the parser
 * (text_parse.c) reads the text from its beginning, and raises the errors.
 */
#include "atom.h"
#include "make.h"
#include "term_internal.h"
#include "text_internal.h"
#include "text_token.h"

#include <string.h>

enum {
    LONGEST = 1 << 13, /* bytes of a text: a second reading takes no memory that matters */
    DEEPEST = 64,      /* open brackets */
    WAITING = 128,     /* elements of all open tuples */
    FEW_DIGITS = 18    /* of an integer: its value fits a word */
};

struct quick {
    th_env *env;
    const char *text, *at, *end;
    unsigned depth;
    unsigned waiting; /* number of ELEMENTS */
    th_term elements[WAITING];
};

static bool read_quickly(struct quick *q, th_term *term);

/* Reads any term of one token. */
static bool read_token(struct quick *q, th_term *term)
{
    struct th_scanner s = th_text_scanner(q->env, q->text, (size_t)(q->end - q->text));

    s.at = q->at;
    *term = TH_NONE;
    if (th_text_scan_next(&s) != TH_OK)
        s.token = TH_TOKEN_END;
    if (s.token == TH_TOKEN_TERM)
        *term = s.value;
    else if (s.token == TH_TOKEN_STRING)
        *term = th_text_scan_list(&s);
    q->at = s.at;
    th_text_scanner_free(&s);
    return *term != TH_NONE;
}

/* Returns the next byte without consuming it; 0 at the end. */
static inline char peek(const struct quick *q)
{
    return q->at < q->end ? *q->at : 0;
}

static inline bool skip_byte(struct quick *q, char byte)
{
    if (q->at == q->end || *q->at != byte)
        return false;
    q->at++;
    return true;
}

/* Reads 1 to MOST decimal digits. */
static inline bool read_digits(struct quick *q, int most, uint64_t *number)
{
    const char *from = q->at;

    *number = 0;
    for (; q->at < q->end && *q->at >= '0' && *q->at <= '9'; q->at++)
        *number = *number * 10 + (uint64_t)(*q->at - '0');
    return q->at > from && q->at - from <= most;
}

/* Leaves numbers with a point, a radix, underscores or many digits to the scanner. */
static bool read_integer(struct quick *q, th_term *term)
{
    bool negative = skip_byte(q, '-');
    const char *from = q->at;
    uint64_t number;

    if (!read_digits(q, FEW_DIGITS, &number) || number > (uint64_t)TH_SMALL_MAX || peek(q) == '.' ||
        peek(q) == '#' || peek(q) == '_') {
        q->at = from;
        return !negative && read_token(q, term);
    }
    *term = th_small(negative ? -(int64_t)number : (int64_t)number);
    return true;
}

static bool read_quick_word(struct quick *q, th_term *term)
{
    const char *from = q->at;
    size_t bytes;

    while (q->at < q->end && th_text_char_is((unsigned char)*q->at, TH_CHAR_NAME) &&
           (*q->at & 0x80) == 0)
        q->at++;
    bytes = (size_t)(q->at - from);
    if (th_text_is_reserved(from, bytes))
        return false;
    *term = th_atom_utf8(from, bytes);
    return *term != TH_NONE;
}

/* Finds QUOTE behind the opening one: ASCII without escapes. Returns the number of bytes between
 * the quotes, SIZE_MAX for other text. */
static size_t skip_quoted(struct quick *q, char quote, const char **from)
{
    const char *at = *from = q->at + 1;

    while (at < q->end && *at != quote && *at != '\\' && (*at & 0x80) == 0)
        at++;
    if (at == q->end || *at != quote)
        return SIZE_MAX;
    q->at = at + 1;
    return (size_t)(at - *from);
}

static bool read_string(struct quick *q, th_term *term)
{
    const char *from;
    size_t count = skip_quoted(q, '"', &from);
    th_term *cells;

    if (count == SIZE_MAX)
        return read_token(q, term);
    *term = TH_NIL;
    if (count == 0)
        return true;
    cells = th_env_try(q->env, 2 * count);
    if (!cells)
        return false;
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = th_small(from[i]);
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
    }
    cells[2 * count - 1] = TH_NIL;
    *term = th_listed(cells);
    return true;
}

/* <0.N.S> */
static bool read_pid(struct quick *q, th_term *term)
{
    uint64_t number, serial;

    q->at += 3;
    if (!read_digits(q, 9, &number) || number > TH_PID_NUMBER_MAX || !skip_byte(q, '.') ||
        !read_digits(q, 10, &serial) || serial > TH_PID_SERIAL_MAX || !skip_byte(q, '>'))
        return false;
    *term = th_local_pid((uint32_t)number, (uint32_t)serial);
    return true;
}

/* <<"text">> or <<1,2,3>> */
static bool read_binary(struct quick *q, th_term *term)
{
    const char *from, *end;
    unsigned char *data;
    uint64_t byte;
    size_t bytes;

    q->at += 2;
    if (peek(q) == '"') {
        bytes = skip_quoted(q, '"', &from);
        if (bytes == SIZE_MAX || !th_env_room(q->env, th_term_heap_binary_words(8 * bytes)))
            return false;
        *term = th_make_heap_binary(q->env, 8 * bytes, &data);
        memcpy(data, from, bytes);
    } else {
        end = memchr(q->at, '>', (size_t)(q->end - q->at));
        bytes = end > q->at;
        for (const char *c = q->at; c < end; c++)
            bytes += *c == ',';
        if (!end || !th_env_room(q->env, th_term_heap_binary_words(8 * bytes)))
            return false;
        *term = th_make_heap_binary(q->env, 8 * bytes, &data);
        for (size_t i = 0; i < bytes; i++) {
            if ((i > 0 && !skip_byte(q, ',')) || !read_digits(q, 3, &byte) || byte > UINT8_MAX)
                return false;
            data[i] = (unsigned char)byte;
        }
    }
    return skip_byte(q, '>') && skip_byte(q, '>');
}

static bool read_tuple(struct quick *q, th_term *term)
{
    const unsigned first = q->waiting;
    unsigned count;
    th_term *words, element;

    q->at++;
    if (!skip_byte(q, '}')) {
        do {
            if (!read_quickly(q, &element) || q->waiting == WAITING)
                return false;
            q->elements[q->waiting++] = element;
        } while (skip_byte(q, ','));
        if (!skip_byte(q, '}'))
            return false;
    }
    count = q->waiting - first;
    words = th_env_try(q->env, count + 1);
    if (!words)
        return false;
    words[0] = th_header(TH_TUPLE, count);
    for (unsigned i = 0; i < count; i++)
        words[i + 1] = q->elements[first + i];
    q->waiting = first;
    *term = th_boxed(words);
    return true;
}

/* Links each cell to the list before its element is read: lists of any length need no room. */
static bool read_list(struct quick *q, th_term *list)
{
    th_term *tail = list;

    q->at++;
    if (skip_byte(q, ']')) {
        *list = TH_NIL;
        return true;
    }
    do {
        th_term *cell = th_env_try(q->env, 2);
        if (!cell)
            return false;
        *tail = th_listed(cell);
        tail = &cell[1];
        if (!read_quickly(q, &cell[0]))
            return false;
    } while (skip_byte(q, ','));
    *tail = TH_NIL;
    if (skip_byte(q, '|') && !read_quickly(q, tail))
        return false;
    return skip_byte(q, ']');
}

static bool read_by_first(struct quick *q, th_term *term)
{
    const char *from;
    size_t bytes;

    switch (peek(q)) {
    case 'a' ... 'z':
        return read_quick_word(q, term);
    case '-':
    case '0' ... '9':
        return read_integer(q, term);
    case '{':
        return read_tuple(q, term);
    case '[':
        return read_list(q, term);
    case '"':
        return read_string(q, term);
    case '<':
        if (q->end - q->at >= 3 && memcmp(q->at, "<0.", 3) == 0)
            return read_pid(q, term);
        if (q->end - q->at >= 2 && q->at[1] == '<')
            return read_binary(q, term);
        return false;
    case '\'':
        bytes = skip_quoted(q, '\'', &from);
        if (bytes == SIZE_MAX)
            return read_token(q, term);
        *term = th_atom_utf8(from, bytes);
        return *term != TH_NONE;
    default:
        return read_token(q, term);
    }
}

static bool read_quickly(struct quick *q, th_term *term)
{
    bool good;

    if (q->depth == DEEPEST)
        return false;
    q->depth++;
    good = read_by_first(q, term);
    q->depth--;
    return good;
}

bool th_text_parse_quickly(th_env *env, const char *text, size_t length, th_term *term)
{
    struct quick q; /* not cleared: most of it is room */
    th_term value;

    if (length > LONGEST)
        return false;
    q.env = env;
    q.text = q.at = text;
    q.end = text + length;
    q.depth = q.waiting = 0;
    if (!read_quickly(&q, &value) || q.at != q.end)
        return false;
    *term = value;
    return true;
}
