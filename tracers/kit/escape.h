/* Writes text for XML, JSON and other formats: converts any bytes to well-formed UTF-8. */
#ifndef TRACER_ESCAPE_H
#define TRACER_ESCAPE_H

#include "line.h"

#include <stdint.h>

static inline void line_add_bytes(struct line *line, const char *bytes, size_t size)
{
    if (line->size - line->used <= size && !line_grow(line, size))
        return;
    memcpy(line->text + line->used, bytes, size);
    line->used += size;
    line->text[line->used] = 0;
}

/* Returns the size in bytes of the character at TEXT, which has LEFT bytes, at least 1. Returns 0
 * for bytes that are no UTF-8, for U+FFFE and U+FFFF, which XML refuses, and for all characters
 * below U+0020, although XML allows tabs and ends of lines. */
static inline size_t character_size(const unsigned char *text, size_t left)
{
    size_t size = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    uint32_t code = size == 1 ? text[0] : text[0] & (0x7Fu >> size);
    static const uint32_t least[] = {0, 0x20, 0x80, 0x800, 0x10000};

    if (size > left || (text[0] >= 0x80 && text[0] < 0xC0) || text[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3F);
    }
    return code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ||
                   (code >= 0xFFFE && code < 0x10000)
               ? 0
               : size;
}

/* A character, and the text that replaces it. */
struct mark {
    char character;
    const char *text;
};

/* Adds TEXT with MARKS applied. MARKS end with a character 0, whose text replaces invalid bytes. At
 * most MOST characters, then "...". */
static inline void line_add_marked(struct line *line, const char *text, size_t size, size_t most,
                                   const struct mark *marks)
{
    const struct mark *mark;
    size_t length;

    for (; size > 0 && most > 0; text += length, size -= length, most--) {
        length = character_size((const unsigned char *)text, size);
        for (mark = marks; mark->character && (!length || mark->character != *text); mark++)
            ;
        if (mark->character || !length)
            line_add_bytes(line, mark->text, strlen(mark->text));
        else
            line_add_bytes(line, text, length);
        length += !length;
    }
    if (size > 0)
        line_add_bytes(line, "...", 3);
}

static inline void line_add_xml(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {0, "\xEF\xBF\xBD"}};

    line_add_marked(line, text, size, most, marks);
}

/* Adds TEXT as it is, but for bytes that are no character. */
static inline void line_add_utf8(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {{0, "\xEF\xBF\xBD"}};

    line_add_marked(line, text, size, most, marks);
}

static inline void line_add_json(struct line *line, const char *text, size_t size, size_t most)
{
    static const struct mark marks[] = {{'"', "\\\""}, {'\\', "\\\\"}, {0, "\\ufffd"}};

    line_add_marked(line, text, size, most, marks);
}

#endif
