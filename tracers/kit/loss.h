/*
 * What a tracer leaves out as there is no memory for it, counted in one place, which output.h
 * reports as the tracer's failure.
 */
#ifndef TRACER_LOSS_H
#define TRACER_LOSS_H

#include <stdatomic.h>

/* The same one in all of the tracer's files, by the linker. Relaxed: a count. */
__attribute__((weak, visibility("hidden"))) atomic_ullong losses;

static inline void loss_add(void)
{
    atomic_fetch_add_explicit(&losses, 1, memory_order_relaxed);
}

#endif
