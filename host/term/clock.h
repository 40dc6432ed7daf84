/*
 * The clock that code of a library reads: the real one, or a recording's.
 *
 * While a callback runs for a replayed event, enif_monotonic_time() and similar functions read the
 * time of the record. The dispatcher sets the thread's clock, th_self.clock; other threads read
 * real clocks. The clock belongs to the thread and not to an environment, as enif_monotonic_time()
 * takes no environment. The time of a record is decoded only when a callback reads the clock
 * (`fill`).
 * Monotonic time + offset is always the system time. The real offset is read once, at the start,
 * and does not follow later changes of the system's clock.
 */
#ifndef TH_CLOCK_H
#define TH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct th_clock {
    int64_t monotonic; /* nanoseconds */
    int64_t offset;    /* nanoseconds from monotonic to system time (since 1970) */
    int64_t zero;      /* the recording's first time, by the clock of `monotonic` */
    int64_t cpu;       /* nanoseconds of CPU time; if not recorded, the monotonic time */
    bool ready;        /* false: call `fill` before reading the others */
    /* Sets the others; false: the record has no time, use the real clock. */
    bool (*fill)(struct th_clock *self);
};

/* The thread's clock, in nanoseconds. */
int64_t th_clock_monotonic(void);
int64_t th_clock_offset(void);
int64_t th_clock_cpu(void); /* not recorded: of the calling thread, as in a BEAM */

/* Returns true, with *ZERO set to its `zero`, if the thread's clock is that of a recording and the
 * record has a time. */
bool th_clock_zero(int64_t *zero);

/* The real monotonic clock, in nanoseconds, for the host's own timing. Any thread. */
int64_t th_clock_real_monotonic(void);

#endif
