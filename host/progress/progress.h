/*
 * The face of progress/: thread progress, and work to do later.
 *
 * A thread that looks at what others may replace does so in a read section. Whoever has replaced
 * something waits for thread progress before it frees, or reuses, what was there: until every
 * thread that was in a read section has left it. Threads that begin a section after the replacement
 * see the new and hold nobody up.
 *
 *   th_progress_enter();                              struct table *old = table;
 *   struct table *t = atomic_load(&table, acquire);   atomic_store(&table, new, release);
 *   ... look ...                                      th_progress_later(&old->later, free_table);
 *   th_progress_leave();
 *
 * Sections nest, cost about 2 ns and never block; they must be short: no lock that is held for
 * long, no waiting, no code of a plugin or tracer other than the callbacks of one event. A thread
 * is registered at its first section and unregistered when it ends, by itself.
 *
 * It is liburcu's memb flavour, whose read side is inlined here: a section is two plain stores, the
 * barriers are made by whoever waits (membarrier). The thread sanitizer does not know such
 * barriers. It gets the read side as a call into liburcu, into which it does not see, and is told
 * here what that orders.
 */
#ifndef TH_PROGRESS_H
#define TH_PROGRESS_H

#include <stdbool.h>

#ifdef __SANITIZE_THREAD__
#define TH_PROGRESS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TH_PROGRESS_TSAN 1
#endif
#endif

#if !defined(TH_PROGRESS_TSAN) && !defined(_LGPL_SOURCE)
#define _LGPL_SOURCE /* asks liburcu for its inline read side */
#endif
#include <urcu/urcu-memb.h>

/* Begins a read section; ends it. Any thread. */
static inline void th_progress_enter(void);
static inline void th_progress_leave(void);

/* True if the calling thread is in a read section. */
static inline bool th_progress_inside(void);

/*
 * Waits until all read sections that are open now have ended: milliseconds, as a rule. Never in a
 * read section, nor while holding a lock that somebody takes in one; a bug of ours that is told.
 */
void th_progress_wait(void);

/* Work to do later; part of what it is about. */
struct th_later {
    struct rcu_head head;
    void (*run)(struct th_later *self);
};

/*
 * Has RUN(SELF) called after thread progress, by a thread of its own, one at a time and in the
 * order in which they were handed in. Returns at once; may be called anywhere, in a read section
 * too. RUN may free SELF, or hand it in again; it may wait for locks, not for progress.
 */
void th_progress_later(struct th_later *self, void (*run)(struct th_later *self));

/* Waits until all work that was handed in before has been done. Not from such work, nor in a read
 * section. */
void th_progress_settle(void);

/* --- Inline parts ---------------------------------------------------------------------------- */

extern _Thread_local bool th_progress_registered;
void th_progress_register(void);

#ifdef TH_PROGRESS_TSAN
extern char th_progress_order; /* stands for what liburcu orders */
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif

static inline void th_progress_enter(void)
{
    if (__builtin_expect(!th_progress_registered, 0))
        th_progress_register();
    urcu_memb_read_lock();
}

static inline void th_progress_leave(void)
{
#ifdef TH_PROGRESS_TSAN
    __tsan_release(&th_progress_order); /* what was read here comes before what waits for it */
#endif
    urcu_memb_read_unlock();
}

static inline bool th_progress_inside(void)
{
    return th_progress_registered && urcu_memb_read_ongoing();
}

#endif
