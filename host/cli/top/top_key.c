#include "top_key.h"

/* What follows ESC [ or ESC O. */
static int key_of(char final, int number)
{
    switch (final) {
    case 'A':
        return TH_KEY_UP;
    case 'B':
        return TH_KEY_DOWN;
    case 'H':
        return TH_KEY_HOME;
    case 'F':
        return TH_KEY_END;
    case '~':
        return number == 5                  ? TH_KEY_PAGE_UP
               : number == 6                ? TH_KEY_PAGE_DOWN
               : number == 1 || number == 7 ? TH_KEY_HOME
               : number == 4 || number == 8 ? TH_KEY_END
                                            : TH_KEY_NONE;
    default:
        return TH_KEY_NONE;
    }
}

/* A control sequence is ESC, [ or O, bytes below '@', and one from there on (ECMA-48). */
int th_top_key_read(const char *bytes, size_t count, size_t *used)
{
    int number = 0;
    size_t i = 2;

    *used = 1;
    if (bytes[0] != '\033')
        return bytes[0];
    if (count < 2 || (bytes[1] != '[' && bytes[1] != 'O'))
        return TH_KEY_NONE;
    for (; i < count && bytes[i] >= ' ' && bytes[i] < '@'; i++)
        if (bytes[i] >= '0' && bytes[i] <= '9' && number < 100)
            number = 10 * number + bytes[i] - '0';
    *used = i < count ? i + 1 : count;
    return i < count ? key_of(bytes[i], number) : TH_KEY_NONE;
}
