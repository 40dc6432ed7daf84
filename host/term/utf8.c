#include "utf8.h"

size_t th_utf8_put(uint32_t c, char *out)
{
    unsigned char *to = (unsigned char *)out;
    size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = bytes - 1; i > 0; i--, c >>= 6)
        to[i] = (unsigned char)(0x80 | (c & 0x3F));
    to[0] = (unsigned char)(lead[bytes] | c);
    return bytes;
}

size_t th_utf8_get(const char *text, size_t bytes, uint32_t *c)
{
    const unsigned char *from = (const unsigned char *)text;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length;

    if (bytes == 0)
        return 0;
    if (from[0] < 0x80) {
        *c = from[0];
        return 1;
    }
    length = from[0] >= 0xF0 ? 4 : from[0] >= 0xE0 ? 3 : 2;
    if (from[0] < 0xC2 || from[0] > 0xF4 || bytes < length)
        return 0;
    *c = from[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((from[i] & 0xC0) != 0x80)
            return 0;
        *c = *c << 6 | (from[i] & 0x3F);
    }
    return *c >= smallest[length] && th_utf8_valid(*c) ? length : 0;
}

bool th_utf8_count(const char *text, size_t bytes, size_t *characters)
{
    size_t used;
    uint32_t c;

    *characters = 0;
    for (; bytes > 0; text += used, bytes -= used) {
        used = th_utf8_get(text, bytes, &c);
        if (used == 0)
            return false;
        ++*characters;
    }
    return true;
}
