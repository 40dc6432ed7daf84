/*
 * Makes allocations fail in a program into which this library is preloaded: the one numbered
 * $FAULT_AT, counted from 1 over malloc(), calloc(), realloc() and the like, and all later ones if
 * $FAULT_ON is set. At the end of the program, the number of allocations is appended to the file
 * $FAULT_COUNT.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* Written before the program has threads. `calls` is a plain count, so relaxed. */
static unsigned long fails_at;
static bool goes_on;
static atomic_ulong calls;

static bool fails(void)
{
    unsigned long number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;

    if (!fails_at || (goes_on ? number < fails_at : number != fails_at))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);

    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

/* Allocations before this are not counted, so the loader's own never fail. */
__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAULT_AT");

    atomic_store_explicit(&calls, 0, memory_order_relaxed);
    goes_on = getenv("FAULT_ON") != NULL;
    fails_at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("FAULT_COUNT");
    char text[32];
    int file = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    if (file < 0)
        return;
    snprintf(text, sizeof text, "%lu\n", atomic_load_explicit(&calls, memory_order_relaxed));
    if (write(file, text, strlen(text)) < 0)
        abort();
    close(file);
}
