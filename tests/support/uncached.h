/* For tests that measure memory: what threads keep of memory that was freed counts as in use, so
 * they are to keep none. */
#ifndef UNCACHED_H
#define UNCACHED_H

#include <stdlib.h>
#include <unistd.h>

/* Starts the program once more, if it was started with such caches. At its beginning. */
static inline void start_uncached(char **argv)
{
    if (getenv("GLIBC_TUNABLES"))
        return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    execv("/proc/self/exe", argv);
}

#endif
