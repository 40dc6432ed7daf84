/*
 * The face of progress/: reader sections, grace periods (OTP: thread progress), and deferred work.
 *
 * A thread reads data that others may replace only in a reader section. A thread that has replaced
 * such data waits for a grace period before it frees or reuses the old data: until every section
 * that was open has ended. Sections that begin after the replacement see the new data and delay
 * nobody.
 *
 *   th_progress_enter();                              struct table *old = table;
 *   struct table *t = atomic_load(&table, acquire);   atomic_store(&table, new, release);
 *   ... read ...                                      th_progress_later(&old->later, free_table);
 *   th_progress_leave();
 *
 * Sections nest, cost about 1 ns and never block. They must be short: no lock that is held for
 * long, no waiting, no code of a plugin or tracer other than the callbacks of one event. A thread
 * is registered at its first section and unregistered at its end, automatically.
 *
 * The implementation is liburcu's memb flavour, with its read side inlined here: a section is two
 * plain stores; the thread that waits issues the barriers (membarrier). The thread sanitizer does
 * not know such barriers. Under the sanitizer, the read side is a call into liburcu, which is not
 * instrumented, and annotations here describe the order.
 */
#ifndef TH_PROGRESS_H
#define TH_PROGRESS_H

#include "host/self/self.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_THREAD__
#define TH_PROGRESS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TH_PROGRESS_TSAN 1
#endif
#endif

#if !defined(TH_PROGRESS_TSAN) && !defined(_LGPL_SOURCE)
#define _LGPL_SOURCE /* enables liburcu's inline read side */
#endif
#include <urcu/urcu-memb.h>

/* Begins, or ends, a reader section. Any thread. */
static inline void th_progress_enter(void);
static inline void th_progress_leave(void);

/*
 * The same for code that counts instructions: th_progress_enter_quickly() begins a section and
 * returns the word for th_progress_leave_quickly(), if a section needs no function call. Else it
 * returns NULL and does nothing: call th_progress_enter(). th_progress_leave_awaited() ends a
 * section without any function call. If its result is true, the caller must call th_progress_wake()
 * at once.
 */
static inline unsigned long *th_progress_enter_quickly(void);
static inline void th_progress_leave_quickly(unsigned long *word);
static inline bool th_progress_leave_awaited(unsigned long *word);
__attribute__((cold)) void th_progress_wake(void);

/* True if the calling thread is in a reader section. */
static inline bool th_progress_inside(void);

/*
 * Waits for a grace period: until all reader sections that are open now have ended, usually for
 * microseconds.
 * Order: never in a reader section (a bug of the host, which is reported), nor with a lock that
 * another thread takes in a reader section.
 */
void th_progress_wait(void);

/* Deferred work; a member of the object that the work is about. */
struct th_later {
    struct th_later *next; /* the next work in the stack or batch */
    void (*run)(struct th_later *self);
};

/*
 * Queues RUN(SELF), which is called after a grace period: some microseconds later, unless a section
 * stays open. Returns at once, and allocates nothing once the worker thread runs.
 *
 * Owner: RUN may free SELF or queue SELF again.
 * Thread: any, in a reader section, too. A worker thread calls RUN, one at a time, in the order of
 * queueing. RUN may wait for locks, not for grace periods.
 * Errors: ends the program if the worker thread, which the first work starts, cannot be started;
 * see th_progress_prepare(). Work that is still queued when the program exits is not done.
 *
 * A forked child has no worker thread, and sections of other threads stay open there for ever. The
 * child may execute another program, or exit. In the child, a thread that had not been in a section
 * before must not begin one: registration takes a lock that another thread may have held at the
 * fork.
 */
void th_progress_later(struct th_later *self, void (*run)(struct th_later *self));

/* Starts the worker thread if it does not run, so that th_progress_later() cannot fail to start it.
 * Returns 0 or an errno. */
int th_progress_prepare(void);

/* Waits until all work that was queued before is done.
 * Thread: any, but not in RUN of such work, nor in a reader section. */
void th_progress_settle(void);

/* As th_progress_settle(), for at most a second, for a program that is about to end. False: a
 * section stays open, or deferred work takes long, perhaps for ever. */
bool th_progress_settle_soon(void);

/* --- Inline parts ----------------------------------------------------------------------------- */

/*
 * th_self.progress_word is liburcu's word of the calling thread: the depth of sections (lower half)
 * and the phase in which the outermost section began. NULL: no quick path, because the thread is
 * not registered, the kernel has no membarrier, or the thread sanitizer must see calls. So one
 * comparison checks all of these. Only the inline functions below use the word.
 */

void th_progress_must_be_outside(const char *what); /* reports a bug of the host if in a section */
__attribute__((cold)) void th_progress_enter_slowly(void);
__attribute__((cold)) void th_progress_leave_slowly(void);

/*
 * The stores are volatile and plain. The compiler keeps the accesses of a section between the
 * stores. The processor may reorder them: the waiting thread issues a membarrier after its own
 * stores and before it reads the words. Source: liburcu's protocol, the same steps as
 * urcu_memb_read_lock() and urcu_memb_read_unlock().
 */
#ifndef TH_PROGRESS_TSAN

static inline unsigned long *th_progress_enter_quickly(void)
{
    unsigned long *word = th_self.progress_word;
    unsigned long now;

    if (__builtin_expect(!word, 0))
        return NULL;
    now = *word;
    if (__builtin_expect(now & URCU_GP_CTR_NEST_MASK, 0))
        CMM_STORE_SHARED(*word, now + URCU_GP_COUNT);
    else
        CMM_STORE_SHARED(*word, CMM_LOAD_SHARED(urcu_memb_gp.ctr));
    cmm_barrier();
    return word;
}

/* As th_progress_enter_quickly(), in a thread with th_self.progress_word, but only for an outermost
 * section: NULL in a section. */
static inline unsigned long *th_progress_enter_outermost(void)
{
    unsigned long *word = th_self.progress_word;

    if (__builtin_expect(*word & URCU_GP_CTR_NEST_MASK, 0))
        return NULL;
    CMM_STORE_SHARED(*word, CMM_LOAD_SHARED(urcu_memb_gp.ctr));
    cmm_barrier();
    return word;
}

/* Ends the section of th_progress_enter_outermost(). (The phase of a word without depth is not
 * read.) */
static inline bool th_progress_leave_outermost_awaited(unsigned long *word)
{
    cmm_barrier();
    CMM_STORE_SHARED(*word, 0);
    cmm_barrier();
    return __builtin_expect(CMM_LOAD_SHARED(urcu_memb_gp.futex) == -1, 0);
}

static inline bool th_progress_leave_awaited(unsigned long *word)
{
    cmm_barrier();
    CMM_STORE_SHARED(*word, *word - URCU_GP_COUNT);
    cmm_barrier();
    return __builtin_expect(CMM_LOAD_SHARED(urcu_memb_gp.futex) == -1, 0);
}

#else

static inline unsigned long *th_progress_enter_quickly(void)
{
    return NULL;
}

static inline unsigned long *th_progress_enter_outermost(void)
{
    return NULL;
}

static inline bool th_progress_leave_outermost_awaited(unsigned long *word)
{
    (void)word;
    return false;
}

static inline bool th_progress_leave_awaited(unsigned long *word)
{
    (void)word;
    return false;
}

#endif

static inline void th_progress_leave_quickly(unsigned long *word)
{
    if (th_progress_leave_awaited(word))
        th_progress_wake();
}

static inline void th_progress_leave_outermost(void)
{
    if (th_progress_leave_outermost_awaited(th_self.progress_word))
        th_progress_wake();
}

static inline void th_progress_enter(void)
{
    if (!th_progress_enter_quickly())
        th_progress_enter_slowly();
}

static inline void th_progress_leave(void)
{
    unsigned long *word = th_self.progress_word;

    if (__builtin_expect(word != NULL, 1))
        th_progress_leave_quickly(word);
    else
        th_progress_leave_slowly();
}

static inline bool th_progress_inside(void)
{
    return urcu_memb_read_ongoing();
}

#endif
