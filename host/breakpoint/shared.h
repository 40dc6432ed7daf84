/*
 * Things that breakpoints hold on to and know nothing of: match specifications, tracers, sessions.
 *
 * Such a thing begins with a struct th_shared, or has one in it. Who holds a pointer for longer
 * than a read section has a share. END is called when the last share is gone: by any thread, maybe
 * in the middle of a change; it must neither block nor wait.
 */
#ifndef TH_SHARED_H
#define TH_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

struct th_shared {
    /* Taking one is relaxed, as whoever does has one already, or is in a section in which it is
     * sure that somebody has. Dropping one releases what was done with the thing, and acquires, for
     * END, what all others did. */
    _Atomic uint32_t shares;
    void (*end)(struct th_shared *self);
};

/* One share, the caller's. */
static inline void th_breakpoint_shared_init(struct th_shared *self,
                                             void (*end)(struct th_shared *self))
{
    atomic_init(&self->shares, 1);
    self->end = end;
}

/* Returns SELF. NULL is allowed. */
static inline struct th_shared *th_breakpoint_shared_take(struct th_shared *self)
{
    if (self)
        atomic_fetch_add_explicit(&self->shares, 1, memory_order_relaxed);
    return self;
}

/* NULL is allowed. */
static inline void th_breakpoint_shared_drop(struct th_shared *self)
{
    if (self && atomic_fetch_sub_explicit(&self->shares, 1, memory_order_acq_rel) == 1)
        self->end(self);
}

#endif
