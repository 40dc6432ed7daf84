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
 * Sections nest, cost about 1 ns and never block; they must be short: no lock that is held for
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
#define _LGPL_SOURCE /* asks liburcu for its inline read side */
#endif
#include <urcu/urcu-memb.h>

/* Begins a read section; ends it. Any thread. */
static inline void th_progress_enter(void);
static inline void th_progress_leave(void);

/*
 * The same for who counts instructions. Where it takes no call, a section is begun, and the answer
 * is what th_progress_leave_quickly() is to be handed; else it is NULL, nothing was done, and it is
 * for th_progress_enter() to do. th_progress_leave_awaited() ends the section, too, and leaves what
 * would take a call to the caller: it is true if th_progress_wake() is to be called, at once.
 */
static inline unsigned long *th_progress_enter_quickly(void);
static inline void th_progress_leave_quickly(unsigned long *word);
static inline bool th_progress_leave_awaited(unsigned long *word);
__attribute__((cold)) void th_progress_wake(void);

/* True if the calling thread is in a read section. */
static inline bool th_progress_inside(void);

/*
 * Waits until all read sections that are open now have ended: microseconds, as a rule. Never in a
 * read section, nor while holding a lock that somebody takes in one; a bug of ours that is told.
 */
void th_progress_wait(void);

/* Work to do later; part of what it is about. */
struct th_later {
    struct th_later *next; /* of what was handed in */
    void (*run)(struct th_later *self);
};

/*
 * Has RUN(SELF) called after thread progress, by a thread of its own, one at a time and in the
 * order in which they were handed in: microseconds later, unless somebody is in a section. Returns
 * at once; may be called anywhere, in a read section too, and allocates nothing. RUN may free SELF,
 * or hand it in again; it may wait for locks, not for progress.
 *
 * The thread is started when there is work for the first time, at the latest, and work that is not
 * done when the program exits is not done any more. A child process that was forked has no such
 * thread, and others' sections stay open there for ever: it may execute another program, or exit. A
 * thread that had been in no section yet must not begin one there, either: it would be registered,
 * under a lock which another thread may have held when the child was forked.
 */
void th_progress_later(struct th_later *self, void (*run)(struct th_later *self));

/* Starts that thread, if it is not there, so that no work finds later that it cannot be started,
 * which would end the program. 0 or an error of errno. */
int th_progress_prepare(void);

/* Waits until all work that was handed in before has been done. Not from such work, nor in a read
 * section. */
void th_progress_settle(void);

/* The same for who cannot wait, as the program is to end. False: it has taken a second, and may
 * take for ever, as somebody stays in a section, or in such work. */
bool th_progress_settle_soon(void);

/* --- Inline parts ---------------------------------------------------------------------------- */

/*
 * th_self.progress_word is liburcu's word of the calling thread: how many sections it is in (in the
 * lower half), and in which phase the outermost began. NULL where the quick way is none: the thread
 * is not registered, or the kernel has no membarrier, or the thread sanitizer is to see calls. So
 * one look tells all of that. It belongs to the inline functions below.
 */

void th_progress_must_be_outside(const char *what); /* or it is a bug of ours */
__attribute__((cold)) void th_progress_enter_slowly(void);
__attribute__((cold)) void th_progress_leave_slowly(void);

/*
 * The stores are volatile and plain. The compiler keeps what is done in a section between them;
 * the processor need not: whoever waits makes it, by membarrier, after it has written and before it
 * looks at the words. That is liburcu's protocol, the same steps as urcu_memb_read_lock() and
 * urcu_memb_read_unlock().
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
