#include "text_internal.h"

#include <string.h>

enum {
    SPACE = TH_CHAR_SPACE,
    SHOWN = TH_CHAR_PRINTABLE,
    SINGLE = TH_CHAR_PRINTABLE | TH_CHAR_SINGLE,
    DIGIT = TH_CHAR_PRINTABLE | TH_CHAR_NAME,
    LOWER = TH_CHAR_PRINTABLE | TH_CHAR_NAME | TH_CHAR_LOWER,
    UPPER = TH_CHAR_PRINTABLE | TH_CHAR_NAME | TH_CHAR_UPPER
};

/* clang-format off: two ranges a line */
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
