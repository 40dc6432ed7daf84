/* The thread's chain of causes. */
#include "embed.h"

#include "host/base/base.h"

#include <string.h>

enum tracehost_status tracehost_error_status(void)
{
    return (enum tracehost_status)th_error_status();
}

const char *tracehost_error_link(size_t i)
{
    return th_error_link(i);
}

void tracehost_error_print(FILE *out, const char *prefix)
{
    th_error_print(out, prefix);
}

/* Puts TEXT behind the first AT bytes, as far as there is room. Returns where it ends, or would. */
static size_t put_link(char *buffer, size_t size, size_t at, const char *text)
{
    size_t length = strlen(text);

    if (at + 1 < size)
        memcpy(buffer + at, text, length < size - at - 1 ? length : size - at - 1);
    return at + length;
}

size_t tracehost_error_text(char *buffer, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; th_error_link(i); i++) {
        at = put_link(buffer, size, at, i ? ": " : "");
        at = put_link(buffer, size, at, th_error_link(i));
    }
    if (size)
        buffer[at < size ? at : size - 1] = 0;
    return at;
}

void tracehost_error_clear(void)
{
    th_error_clear();
}
