/* Measures calls of hit(). A file of its own, so that the compiler cannot see the callee. */
#include "hit.h"

#include <stdio.h>
#include <time.h>

static term sum; /* keeps the compiler from removing calls */

static long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long time_of(unsigned long calls, struct enif_environment_t *env, const term argv[])
{
    long began = now();

    for (unsigned long i = 0; i < calls; i++)
        sum += hit(env, 1, argv);
    return now() - began;
}

void answer(struct enif_environment_t *env, term argument)
{
    const term argv[] = {argument};
    unsigned long calls;

    while (scanf("%*s %lu", &calls) == 1) {
        printf("%ld\n", time_of(calls, env, argv));
        fflush(stdout);
    }
}
