#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned long warnings; /* relaxed: a figure, ordered with nothing */

static const char *program = "tracehost"; /* written before there are threads */

void th_warn_as(const char *name)
{
    program = name;
}

void th_warn(const char *format, ...)
{
    va_list args;

    atomic_fetch_add_explicit(&warnings, 1, memory_order_relaxed);
    flockfile(stderr); /* so that lines of several threads do not mix */
    fprintf(stderr, "%s: warning: ", program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    funlockfile(stderr);
}

unsigned long th_warnings(void)
{
    return atomic_load_explicit(&warnings, memory_order_relaxed);
}
