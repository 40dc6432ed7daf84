/*
 * The clock that code sees: the real one, or a recording's.
 *
 * While a callback runs for a replayed event, enif_monotonic_time() and its kin read the record's
 * own time. The dispatcher sets the thread's clock, th_self.clock; threads that it does not know
 * read real clocks. The clock belongs to the thread and not to an environment, as
 * enif_monotonic_time() is given no environment. A record's time is read only if a callback asks
 * for it (`fill`).
 * monotonic + offset is always the system time; the real offset is taken once, at the start, and
 * does not follow later changes of the system's clock.
 */
#ifndef TH_CLOCK_H
#define TH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct th_clock {
    int64_t monotonic; /* nanoseconds */
    int64_t offset;    /* nanoseconds from monotonic to system time (since 1970) */
    int64_t zero;      /* the recording's first time by the clock that `monotonic` is of */
    int64_t cpu; /* nanoseconds of CPU time; where that was not recorded, the monotonic time */
    bool ready;  /* false: `fill` must be called before the others are read */
    bool (*fill)(struct th_clock *
                     self); /* sets the others; false: the record has no time, use the real clock */
};

/* Nanoseconds by the thread's clock. */
int64_t th_clock_monotonic(void);
int64_t th_clock_offset(void);
int64_t th_clock_cpu(void);

/* True if the thread's clock is a recording's that knows the time; *ZERO is as its `zero` then. */
bool th_clock_zero(int64_t *zero);

/* Nanoseconds by the real monotonic clock, whatever the thread's is: for the host's own timing. Any
 * thread. */
int64_t th_clock_real_monotonic(void);

#endif
