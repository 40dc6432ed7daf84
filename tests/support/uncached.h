/* Switches malloc()'s caches per thread off for tests that measure memory: freed memory in such a
 * cache counts as in use. */
#ifndef UNCACHED_H
#define UNCACHED_H

#include <stdlib.h>
#include <unistd.h>

/* Executes the program again without such caches. If GLIBC_TUNABLES is set, does nothing.
 * Order: at the beginning of main(). */
static inline void start_uncached(char **argv)
{
    if (getenv("GLIBC_TUNABLES"))
        return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    execv("/proc/self/exe", argv);
}

#endif
