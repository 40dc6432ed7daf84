/* Characters, and numbers and characters as text. */
#include "text_internal.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum {
    SPACE = TH_CHAR_SPACE,
    SHOWN = TH_CHAR_PRINTABLE,
    SINGLE = TH_CHAR_PRINTABLE | TH_CHAR_SINGLE,
    DIGIT = TH_CHAR_PRINTABLE | TH_CHAR_NAME,
    LOWER = TH_CHAR_PRINTABLE | TH_CHAR_NAME | TH_CHAR_LOWER,
    UPPER = TH_CHAR_PRINTABLE | TH_CHAR_NAME | TH_CHAR_UPPER
};

/* clang-format off: a range a line */
const unsigned char th_text_char_classes[256] = {
    [0 ... 7] = SPACE,       [8 ... 13] = SPACE | SHOWN,
    [14 ... 26] = SPACE,     [27] = SPACE | SHOWN,
    [28 ... 31] = SPACE,     [' '] = SPACE | SHOWN,
    ['!' ... '"'] = SHOWN,   ['#'] = SINGLE,
    ['$' ... '\''] = SHOWN,  ['(' ... ')'] = SINGLE,
    ['*' ... '+'] = SHOWN,   [','] = SINGLE,
    ['-' ... '/'] = SHOWN,   ['0' ... '9'] = DIGIT,
    [':' ... '?'] = SHOWN,   ['@'] = DIGIT,
    ['A' ... 'Z'] = UPPER,   ['['] = SINGLE,
    ['\\'] = SHOWN,          [']'] = SINGLE,
    ['^'] = SHOWN,           ['_'] = UPPER,
    ['`'] = SHOWN,           ['a' ... 'z'] = LOWER,
    ['{'] = SINGLE,          ['|'] = SHOWN,
    ['}'] = SINGLE,          ['~'] = SHOWN,
    [0x80 ... 0x9F] = SPACE, [0xA0] = SPACE | SHOWN,
    [0xA1 ... 0xBF] = SHOWN, [0xC0 ... 0xD6] = UPPER,
    [0xD7] = SHOWN, /* the sign of multiplication */
    [0xD8 ... 0xDE] = UPPER, [0xDF ... 0xF6] = LOWER,
    [0xF7] = SHOWN, /* the sign of division */
    [0xF8 ... 0xFF] = LOWER,
};
/* clang-format on */

const char th_text_char_escapes[128] = {
    ['\b'] = 'b', ['\t'] = 't',   ['\n'] = 'n',  ['\v'] = 'v',   ['\f'] = 'f',
    ['\r'] = 'r', ['\x1B'] = 'e', ['\\'] = '\\', ['\x7F'] = 'd',
};

/* By length, from 2 on. */
static const char *const reserved[][13] = {
    {"if", "of", "or"},
    {"and", "bor", "bsl", "bsr", "div", "end", "fun", "let", "not", "rem", "try", "xor"},
    {"band", "bnot", "bxor", "case", "cond", "when"},
    {"after", "begin", "catch"},
    {"orelse"},
    {"andalso", "receive"},
};

bool th_text_is_reserved(const char *name, size_t bytes)
{
    if (bytes < 2 || bytes - 2 >= sizeof reserved / sizeof reserved[0])
        return false;
    for (const char *const *word = reserved[bytes - 2]; *word != NULL; word++)
        if (name[0] == (*word)[0] && memcmp(name, *word, bytes) == 0)
            return true;
    return false;
}

/* --- Numbers and characters as text ----------------------------------------------------------- */

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
        return to + sprintf(to, "\\x{%X}", c);
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
