#include "error.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct th_error_chain chain;

static void add_link(const char *format, va_list args)
{
    if (chain.count == TH_ERROR_LINKS) {
        memmove(chain.links[1], chain.links[2], (TH_ERROR_LINKS - 2) * sizeof chain.links[0]);
        chain.count--;
    }
    vsnprintf(chain.links[chain.count++], TH_ERROR_TEXT, format, args);
}

enum th_status th_error_raise(enum th_status status, const char *format, ...)
{
    va_list args;
    char text[TH_ERROR_TEXT];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args); /* an argument may be a link of the old chain */
    va_end(args);
    chain.status = status;
    chain.count = 1;
    memcpy(chain.links[0], text, sizeof text);
    return status;
}

enum th_status th_error_context(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_link(format, args);
    va_end(args);
    return chain.status;
}

enum th_status th_error_status(void)
{
    return chain.count ? chain.status : TH_OK;
}

const char *th_error_link(size_t i)
{
    return i < chain.count ? chain.links[chain.count - 1 - i] : NULL;
}

void th_error_clear(void)
{
    chain.count = 0;
}

void th_error_save(struct th_error_chain *kept)
{
    *kept = chain;
}

void th_error_restore(const struct th_error_chain *kept)
{
    chain = *kept;
}

void th_error_print(FILE *out, const char *prefix)
{
    for (size_t i = 0; i < chain.count; i++) {
        const char *text = th_error_link(i);
        if (i == 0)
            fprintf(out, "%s: %s\n", prefix, text);
        else
            fprintf(out, "  %s\n", text);
    }
}

void th_bug(const char *format, ...)
{
    va_list args;

    fputs("tracehost: internal error: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
