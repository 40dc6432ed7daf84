#include "line_key.h"

#include <string.h>

enum { ESCAPE = 27, DELETE_BYTE = 127 };

/* What terminals of the xterm family send behind ESC. */
static const struct {
    const char *bytes;
    enum th_key key;
} sequences[] = {
    {"[A", TH_KEY_UP},
    {"[B", TH_KEY_DOWN},
    {"[C", TH_KEY_RIGHT},
    {"[D", TH_KEY_LEFT},
    {"[H", TH_KEY_HOME},
    {"[F", TH_KEY_END},
    {"OA", TH_KEY_UP},
    {"OB", TH_KEY_DOWN},
    {"OC", TH_KEY_RIGHT},
    {"OD", TH_KEY_LEFT},
    {"OH", TH_KEY_HOME},
    {"OF", TH_KEY_END},
    {"[1~", TH_KEY_HOME},
    {"[7~", TH_KEY_HOME},
    {"[4~", TH_KEY_END},
    {"[8~", TH_KEY_END},
    {"[3~", TH_KEY_DELETE},
    {"[1;5C", TH_KEY_WORD_RIGHT},
    {"[1;5D", TH_KEY_WORD_LEFT},
    {"f", TH_KEY_WORD_RIGHT},
    {"b", TH_KEY_WORD_LEFT},
    {"d", TH_KEY_KILL_WORD_BEHIND},
    {"\177", TH_KEY_KILL_WORD_BEFORE},
};

static const enum th_key controls[32] = {
    ['A' - 64] = TH_KEY_HOME,
    ['B' - 64] = TH_KEY_LEFT,
    ['D' - 64] = TH_KEY_END_OF_INPUT,
    ['E' - 64] = TH_KEY_END,
    ['F' - 64] = TH_KEY_RIGHT,
    ['H' - 64] = TH_KEY_BACKSPACE,
    ['I' - 64] = TH_KEY_TAB,
    ['J' - 64] = TH_KEY_ENTER,
    ['K' - 64] = TH_KEY_KILL_TO_END,
    ['L' - 64] = TH_KEY_CLEAR,
    ['M' - 64] = TH_KEY_ENTER,
    ['N' - 64] = TH_KEY_DOWN,
    ['P' - 64] = TH_KEY_UP,
    ['U' - 64] = TH_KEY_KILL_TO_BEGIN,
    ['W' - 64] = TH_KEY_KILL_WORD_BEFORE,
};

/* The bytes of an escape sequence that nothing is done for; 0: its end has not come. */
static size_t length_of_unknown(const unsigned char *bytes, size_t size)
{
    if (size < 2)
        return 0;
    if (bytes[1] != '[')
        return 2;
    for (size_t i = 2; i < size; i++)
        if (bytes[i] >= 0x40 && bytes[i] <= 0x7E)
            return i + 1;
    return 0;
}

static enum th_key read_escape(const unsigned char *bytes, size_t size, size_t *used)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        size_t length = strlen(sequences[i].bytes);
        if (size > length && memcmp(bytes + 1, sequences[i].bytes, length) == 0) {
            *used = length + 1;
            return sequences[i].key;
        }
    }
    *used = length_of_unknown(bytes, size);
    return *used > 0 ? TH_KEY_NONE : TH_KEY_PART;
}

/* As many characters as there are, whole ones. */
static enum th_key read_text(const unsigned char *bytes, size_t size, size_t *used)
{
    size_t end = 0, length;

    while (end < size && bytes[end] >= 32 && bytes[end] != DELETE_BYTE) {
        unsigned char c = bytes[end];
        length = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        if (end + length > size)
            break;
        end += length;
    }
    *used = end;
    return end > 0 ? TH_KEY_TEXT : TH_KEY_PART;
}

enum th_key th_key_read(const unsigned char *bytes, size_t size, size_t *used)
{
    *used = 1;
    if (bytes[0] == ESCAPE)
        return read_escape(bytes, size, used);
    if (bytes[0] == DELETE_BYTE)
        return TH_KEY_BACKSPACE;
    if (bytes[0] < 32)
        return controls[bytes[0]];
    return read_text(bytes, size, used);
}
