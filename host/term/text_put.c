#include "text_internal.h"

#include "utf8.h"

#include <string.h>

static const char two_digits[] = "0001020304050607080910111213141516171819"
                                 "2021222324252627282930313233343536373839"
                                 "4041424344454647484950515253545556575859"
                                 "6061626364656667686970717273747576777879"
                                 "8081828384858687888990919293949596979899";

char *th_text_put_unsigned(char *to, uint64_t n)
{
    char digits[TH_PUT_INTEGER];
    char *first = digits + sizeof digits;
    size_t count;

    for (; n >= 100; n /= 100)
        memcpy(first -= 2, two_digits + 2 * (n % 100), 2);
    if (n >= 10)
        memcpy(first -= 2, two_digits + 2 * n, 2);
    else
        *--first = (char)('0' + n);
    count = (size_t)(digits + sizeof digits - first);
    memcpy(to, first, count);
    return to + count;
}

void th_text_add_unsigned(struct th_buffer *out, uint64_t n)
{
    char *to = (char *)th_buffer_reserve(out, TH_PUT_INTEGER);

    out->size += (size_t)(th_text_put_unsigned(to, n) - to);
}

void th_text_add_signed(struct th_buffer *out, int64_t n)
{
    if (n < 0)
        th_buffer_add_byte(out, '-');
    th_text_add_unsigned(out, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *put_hexadecimal(char *to, uint32_t c)
{
    int digits = 1;

    while (digits < 8 && c >> (4 * digits) != 0)
        digits++;
    while (digits-- > 0)
        *to++ = "0123456789ABCDEF"[c >> (4 * digits) & 0xF];
    return to;
}

char *th_text_put_octal(char *to, uint32_t c)
{
    *to++ = '\\';
    *to++ = (char)('0' + (c >> 6));
    *to++ = (char)('0' + (c >> 3 & 7));
    *to++ = (char)('0' + (c & 7));
    return to;
}

char *th_text_put_escaped(char *to, uint32_t c, char quote)
{
    if (c > 255) {
        memcpy(to, "\\x{", 3);
        to = put_hexadecimal(to + 3, c);
        *to++ = '}';
        return to;
    }
    if (c > 127)
        return c < 0xA0 ? th_text_put_octal(to, c) : to + th_utf8_put(c, to);
    if (c == (unsigned char)quote || th_text_char_escapes[c] != 0) {
        *to++ = '\\';
        *to++ = c == (unsigned char)quote ? quote : th_text_char_escapes[c];
        return to;
    }
    if (c < ' ')
        return th_text_put_octal(to, c);
    *to++ = (char)c;
    return to;
}
