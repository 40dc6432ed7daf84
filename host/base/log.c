#include "log.h"

#include "buffer.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned long warnings; /* relaxed: a count, which orders nothing */

static const char *program = "tracehost"; /* written before there are threads */

void th_warn_as(const char *name)
{
    program = name;
}

static void print_log(const char *kind, const char *format, va_list args)
{
    flockfile(stderr); /* keeps lines of several threads apart */
    fprintf(stderr, "%s: %s", program, kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
}

static _Thread_local struct th_buffer *kept;

struct th_buffer *th_warn_into(struct th_buffer *lines)
{
    struct th_buffer *before = kept;

    kept = lines;
    return before;
}

void th_warn(const char *format, ...)
{
    char text[1024];
    va_list args;

    atomic_fetch_add_explicit(&warnings, 1, memory_order_relaxed);
    va_start(args, format);
    if (kept) {
        vsnprintf(text, sizeof text, format, args);
        th_buffer_printf(kept, "%s\n", text);
    } else {
        print_log("warning: ", format, args);
    }
    va_end(args);
}

void th_log_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_log("", format, args);
    va_end(args);
}

unsigned long th_warnings(void)
{
    return atomic_load_explicit(&warnings, memory_order_relaxed);
}
