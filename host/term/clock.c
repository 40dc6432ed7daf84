#include "clock.h"

#include "host/self/self.h"

#include <stddef.h>
#include <time.h>

/* Written before main() and never again: as in the BEAM's default time warp mode, the offset stays
 * the one of the start, so that callers can add it to readings of different times. */
static int64_t real_offset;

static int64_t read_real(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((constructor)) static void read_offset(void)
{
    int64_t before = read_real(CLOCK_MONOTONIC);
    int64_t system = read_real(CLOCK_REALTIME);

    real_offset = system - (before + (read_real(CLOCK_MONOTONIC) - before) / 2);
}

int64_t th_clock_real_monotonic(void)
{
    return read_real(CLOCK_MONOTONIC);
}

/* Returns the recorded clock, NULL if there is none or its record has no time. */
static const struct th_clock *clock_recorded(void)
{
    struct th_clock *clock = th_self.clock;

    if (!clock || (!clock->ready && !clock->fill(clock)))
        return NULL;
    return clock;
}

int64_t th_clock_monotonic(void)
{
    const struct th_clock *clock = clock_recorded();

    return clock ? clock->monotonic : th_clock_real_monotonic();
}

int64_t th_clock_offset(void)
{
    const struct th_clock *clock = clock_recorded();

    return clock ? clock->offset : real_offset;
}

int64_t th_clock_cpu(void)
{
    const struct th_clock *clock = clock_recorded();

    return clock ? clock->cpu : read_real(CLOCK_THREAD_CPUTIME_ID);
}

bool th_clock_zero(int64_t *zero)
{
    const struct th_clock *clock = clock_recorded();

    if (clock)
        *zero = clock->zero;
    return clock;
}
