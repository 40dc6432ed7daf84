#include "memory.h"

#include "error.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct th_memory_budget th_memory_budget = {SIZE_MAX, SIZE_MAX};

static _Thread_local unsigned long allocations;
static atomic_bool given_up; /* relaxed: the thread that sets it reads it as it exits */

static void *checked(void *memory, size_t size)
{
    allocations++;
    if (memory)
        return memory;
    th_give_up("out of memory (%zu bytes wanted)", size);
}

void *th_alloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *th_alloc_zero(size_t size)
{
    return checked(calloc(1, size ? size : 1), size);
}

void *th_alloc_aligned(size_t alignment, size_t size)
{
    return checked(aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment), size);
}

void *th_realloc(void *old, size_t size)
{
    return checked(realloc(old, size), size);
}

char *th_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(th_alloc(size), text, size);
}

char *th_printf(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = th_vprintf(format, args);
    va_end(args);
    return text;
}

char *th_vprintf(const char *format, va_list args)
{
    char *text = NULL;
    int length = vasprintf(&text, format, args);

    return checked(length < 0 ? NULL : text, 0);
}

void th_free(void *memory)
{
    free(memory);
}

bool th_memory_take(size_t bytes)
{
    if (bytes > th_memory_budget.left) {
        th_error_raise(TH_MALFORMED,
                       "it takes more memory to read than the %zu bytes that an event may take "
                       "(--max-memory)",
                       th_memory_budget.most);
        return false;
    }
    th_memory_budget.left -= bytes;
    return true;
}

void th_memory_give(size_t bytes)
{
    size_t taken = th_memory_budget.most - th_memory_budget.left;

    th_memory_budget.left += bytes < taken ? bytes : taken;
}

void *th_try_alloc(size_t size)
{
    return th_memory_take(size) ? th_alloc(size) : NULL;
}

void *th_try_realloc(void *old, size_t old_size, size_t size)
{
    return th_memory_take(size - old_size) ? th_realloc(old, size) : NULL;
}

void th_try_free(void *memory, size_t size)
{
    th_memory_give(size);
    th_free(memory);
}

void th_give_up(const char *format, ...)
{
    va_list args;

    fputs("tracehost: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    atomic_store_explicit(&given_up, true, memory_order_relaxed);
    exit(TH_FAILED);
}

void th_give_up_if_lacking(const char *what)
{
    if (errno == ENOMEM || errno == EMFILE || errno == ENFILE)
        th_give_up("%s: %s", what, strerror(errno));
}

bool th_has_given_up(void)
{
    return atomic_load_explicit(&given_up, memory_order_relaxed);
}

unsigned long th_alloc_count(void)
{
    return allocations;
}
