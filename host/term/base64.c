#include "base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The values of the alphabet's characters, plus 1; 0 for others. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

void th_base64_encode(struct th_buffer *out, const unsigned char *data, size_t size)
{
    unsigned char *to = th_buffer_reserve(out, (size / 3 + 1) * 4);

    for (; size > 0; data += 3, to += 4, out->size += 4) {
        uint32_t group = (uint32_t)data[0] << 16 | (uint32_t)(size > 1 ? data[1] : 0) << 8 |
                         (size > 2 ? data[2] : 0);
        to[0] = (unsigned char)alphabet[group >> 18];
        to[1] = (unsigned char)alphabet[group >> 12 & 63];
        to[2] = (unsigned char)(size > 1 ? alphabet[group >> 6 & 63] : '=');
        to[3] = (unsigned char)(size > 2 ? alphabet[group & 63] : '=');
        size -= size < 3 ? size : 3;
    }
}

static enum th_status broken(size_t at, const char *why)
{
    return th_error_raise(TH_MALFORMED, "base64, character %zu: %s", at + 1, why);
}

/* How many '=' the text ends with. */
static size_t fill_of(const char *text, size_t length)
{
    if (length == 0 || text[length - 1] != '=')
        return 0;
    return text[length - 2] == '=' ? 2 : 1;
}

enum th_status th_base64_decode(struct th_buffer *out, const char *text, size_t length)
{
    size_t characters, before = out->size;
    uint32_t bits = 0;

    if (length % 4 != 0)
        return broken(length, "the text ends within a group of four");
    characters = length - fill_of(text, length);
    th_buffer_reserve(out, length / 4 * 3 + 1);
    for (size_t i = 0; i < characters; i++) {
        unsigned value = values[(unsigned char)text[i]];
        if (value == 0) {
            out->size = before;
            return broken(i, "not of the alphabet");
        }
        bits = bits << 6 | (value - 1);
        if (i % 4 > 0) /* the second character of a group ends a byte, with 4 bits left over, ... */
            out->data[out->size++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    if (characters % 4 > 0 && (bits & (characters % 4 == 2 ? 15 : 3)) != 0) {
        out->size = before;
        return broken(characters - 1, "bits left over are not 0");
    }
    return TH_OK;
}
