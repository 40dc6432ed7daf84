#include "line_text.h"

#include <string.h>

static bool goes_on(const struct th_line_text *line, size_t at)
{
    return at < line->bytes.size && (line->bytes.data[at] & 0xC0) == 0x80;
}

static bool is_of_word(const struct th_line_text *line, size_t at)
{
    unsigned char c = line->bytes.data[at];

    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

void th_line_set(struct th_line_text *line, const char *text)
{
    line->bytes.size = 0;
    th_buffer_add(&line->bytes, text, strlen(text));
    line->cursor = line->bytes.size;
}

void th_line_insert(struct th_line_text *line, const char *text, size_t size)
{
    unsigned char *at;

    th_buffer_reserve(&line->bytes, size);
    at = line->bytes.data + line->cursor;
    memmove(at + size, at, line->bytes.size - line->cursor);
    memcpy(at, text, size);
    line->bytes.size += size;
    line->cursor += size;
}

size_t th_line_before(const struct th_line_text *line, size_t at)
{
    if (at > 0)
        at--;
    while (at > 0 && goes_on(line, at))
        at--;
    return at;
}

size_t th_line_behind(const struct th_line_text *line, size_t at)
{
    if (at < line->bytes.size)
        at++;
    while (goes_on(line, at))
        at++;
    return at;
}

size_t th_line_word_before(const struct th_line_text *line, size_t at)
{
    while (at > 0 && !is_of_word(line, at - 1))
        at--;
    while (at > 0 && is_of_word(line, at - 1))
        at--;
    return at;
}

size_t th_line_word_behind(const struct th_line_text *line, size_t at)
{
    while (at < line->bytes.size && !is_of_word(line, at))
        at++;
    while (at < line->bytes.size && is_of_word(line, at))
        at++;
    return at;
}

void th_line_cut(struct th_line_text *line, size_t from, size_t to)
{
    memmove(line->bytes.data + from, line->bytes.data + to, line->bytes.size - to);
    line->bytes.size -= to - from;
    line->cursor = from;
}

size_t th_line_columns(const struct th_line_text *line, size_t from, size_t to)
{
    size_t columns = 0;

    for (; from < to; from++)
        columns += !goes_on(line, from);
    return columns;
}
