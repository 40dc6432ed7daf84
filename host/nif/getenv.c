/* Variables of the environment. */
#include "nif.h"

int enif_getenv(const char *key, char *value, size_t *value_size)
{
    const char *text = getenv(key);
    size_t length = text ? strlen(text) : 0;

    if (!text)
        return -1;
    if (length >= *value_size) {
        *value_size = length + 1;
        return 1;
    }
    memcpy(value, text, length + 1);
    *value_size = length;
    return 0;
}
