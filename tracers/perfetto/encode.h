/* Writes fields of Protocol Buffers. */
#ifndef PERFETTO_ENCODE_H
#define PERFETTO_ENCODE_H

#include "../kit/escape.h"

#include <endian.h>
#include <stdint.h>

enum { ENCODE_VARINT, ENCODE_FIXED64, ENCODE_BYTES }; /* wire types */

static inline void encode_varint(struct line *line, uint64_t number)
{
    char bytes[10];
    size_t size = 0;

    for (; number > 0x7F; number >>= 7)
        bytes[size++] = (char)(number | 0x80);
    bytes[size++] = (char)number;
    line_add_bytes(line, bytes, size);
}

static inline void encode_number(struct line *line, unsigned field, uint64_t number)
{
    encode_varint(line, field << 3 | ENCODE_VARINT);
    encode_varint(line, number);
}

static inline void encode_fixed64(struct line *line, unsigned field, uint64_t number)
{
    uint64_t little = htole64(number);

    encode_varint(line, field << 3 | ENCODE_FIXED64);
    line_add_bytes(line, (const char *)&little, sizeof little);
}

static inline void encode_bytes(struct line *line, unsigned field, const char *bytes, size_t size)
{
    encode_varint(line, field << 3 | ENCODE_BYTES);
    encode_varint(line, size);
    line_add_bytes(line, bytes, size);
}

/* Adds MESSAGE as a field, and discards MESSAGE. */
static inline void encode_message(struct line *line, unsigned field, struct line *message)
{
    encode_bytes(line, field, message->text, message->used);
    line->short_of_memory |= message->short_of_memory;
    line_drop(message);
}

/* Adds TEXT, of which at most MOST characters. */
static inline void encode_text(struct line *line, unsigned field, const char *text, size_t size,
                               size_t most)
{
    struct line valid;

    line_start(&valid);
    line_add_utf8(&valid, text, size, most);
    encode_message(line, field, &valid);
}

#endif
