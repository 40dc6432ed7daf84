/*
 * Counts what a tracer leaves out for want of memory, in one place; output.h reports the count as
 * the tracer's failure.
 */
#ifndef TRACER_LOSS_H
#define TRACER_LOSS_H

#include <stdatomic.h>

/* One variable for all of the tracer's files, merged by the linker. Relaxed: a count. */
__attribute__((weak, visibility("hidden"))) atomic_ullong losses;

static inline void loss_add(void)
{
    atomic_fetch_add_explicit(&losses, 1, memory_order_relaxed);
}

#endif
