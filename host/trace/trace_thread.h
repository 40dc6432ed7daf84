/*
 * Per-thread data for events in a shared tracing: the environment of callbacks, an arena for the
 * terms of the current event, and counters.
 *
 * Each thread has its own counters for each session, so that threads share no cache line; a reader
 * sums them. Counters are relaxed: a reader that must include certain events has waited for these
 * events by other means (for a session by a grace period); else the sum is that of some moment. The
 * tallies of breakpoint/ would not do, as only the owner of the code modification permission may
 * create them: sessions are created in callbacks, too.
 *
 * A thread that ends leaves its struct, with its counters, to a later thread.
 */
#ifndef TH_THREAD_H
#define TH_THREAD_H

#include "tracing.h"

#include "host/library/resource/resource.h"
#include "host/trace/live/live.h"

/* A thread's counters for one session, which has or had a certain index, or belongs to a meta
 * tracer. */
struct th_thread_counts {
    /* Weak id of the session. The thread stores 0, clears the words, then stores the id (release).
     * A reader loads the id (acquire) and uses the words only if the id is that of the wanted
     * session. th_trace_thread_forget() stores 0: the thread may use the struct for another session
     * then. */
    _Atomic th_session_id id;
    _Atomic uint64_t words[TH_COUNTED_ALL];
    struct th_thread_counts *next; /* list of meta tracers; written before other threads can find
                                      the struct */
};

/* Counts of calls, the first of TH_COUNTED(field): each thread counts them by the session's index
 * alone. Other threads read them relaxed. When a session is freed, after the last count for it, all
 * threads' words of its index are set to 0: so a later session begins with 0. */
enum { TH_COUNTED_CALLS = TH_COUNTED(discarded) + 1 };

struct th_trace_thread {
    th_env env;                                                 /* of the current callback */
    th_env arena;                                               /* terms of the current event */
    struct th_trace_thread *next;                               /* written before other threads
                                                                   can find the struct */
    bool taken;                                                 /* under the list's lock */
    _Atomic uint64_t suppressed, strangers;                     /* memory order as words */
    struct th_thread_counts *_Atomic counts[TH_SESSIONS_LIMIT]; /* by index, as
                                                                   th_tracing.sessions */
    /* For meta tracers, whose session has the index of their owner: as many structs as ever existed
     * at a time. */
    struct th_thread_counts *_Atomic meta_counts;
    _Atomic uint64_t calls[TH_COUNTED_CALLS][TH_SESSIONS_LIMIT]; /* not for meta tracers */
};

__attribute__((cold)) struct th_trace_thread *th_thread_begin(void);

/* Returns the calling thread's struct; makes one at the first call. */
static inline struct th_trace_thread *th_trace_thread_own(void)
{
    struct th_trace_thread *thread = th_self.trace_thread;

    return __builtin_expect(thread != NULL, 1) ? thread : th_thread_begin();
}

/* As th_trace_session_count(), in a shared tracing. */
__attribute__((cold)) struct th_thread_counts *
th_trace_thread_begin_counts(struct th_trace_thread *thread, const struct th_session *session);
static inline struct th_thread_counts *th_trace_thread_counts_of(struct th_trace_thread *thread,
                                                                 const struct th_session *session)
{
    struct th_thread_counts *counts =
        atomic_load_explicit(&thread->counts[session->index], memory_order_relaxed);

    if (__builtin_expect(
            !counts || atomic_load_explicit(&counts->id, memory_order_relaxed) != session->id, 0))
        counts = th_trace_thread_begin_counts(thread, session);
    return counts;
}

static inline void th_trace_thread_count_in(struct th_trace_thread *thread,
                                            const struct th_session *session, size_t what)
{
    th_thread_count(&th_trace_thread_counts_of(thread, session)->words[what]);
}

/* Counts WHAT, below TH_COUNTED_CALLS, for a session that is no meta tracer's. */
static inline void th_trace_thread_count_call(struct th_trace_thread *thread,
                                              const struct th_session *session, size_t what)
{
    th_thread_count(&thread->calls[what][session->index]);
}

/* --- Callbacks of calls, in a thread that is in no other callback ----------------------------- */

/* Clears ENV after a callback. Returns ANSWER; TH_NONE after an exception. */
th_term th_trace_thread_tidy(th_env *env, th_term answer);

/* Returns true if a callback has left more than an answer: words on the heap (as those of an object
 * outside of the heap), an exception, or a resource that is due. */
static inline bool th_trace_thread_is_untidy(const struct th_trace_thread *thread)
{
    const th_env *env = &thread->env;
    uintptr_t untidy = ((uintptr_t)env->top ^ (uintptr_t)env->bottom) | env->exception;

    return untidy | (uintptr_t)atomic_load_explicit(&th_resource_due, memory_order_relaxed);
}

/*
 * As th_trace_attachment_call() for enabled_call, in a thread with a struct
 * (th_trace_thread_own()). th_trace_thread_ask_end() is the part after the callback. The struct is
 * looked up again there, so that no register is saved for it.
 */
static inline th_term th_trace_thread_ask_end(th_term answer)
{
    struct th_trace_thread *thread = th_self.trace_thread;

    return __builtin_expect(th_trace_thread_is_untidy(thread), 0)
               ? th_trace_thread_tidy(&thread->env, answer)
               : answer;
}

static inline th_term th_trace_thread_ask(struct th_attachment *attachment, const th_term argv[3])
{
    th_env *env = &th_self.trace_thread->env;
    th_term answer;

    env->library = attachment->library;
    answer = th_trace_attachment_enter(attachment, env, TH_SLOT_enabled_call, argv);
    return th_trace_thread_ask_end(answer);
}

/* As th_trace_thread_ask() for trace_call, with terms in the thread's environment; SELF is the
 * result of enif_self(). After th_trace_thread_deliver_begin(), the caller calls
 * th_trace_thread_deliver_end(). */
static inline void th_trace_thread_deliver_begin(struct th_trace_thread *thread,
                                                 struct th_attachment *attachment,
                                                 const th_term argv[5], th_term self)
{
    thread->env.library = attachment->library;
    thread->env.self = self;
    th_trace_attachment_enter_begin(attachment, &thread->env, TH_SLOT_trace_call, argv);
}

static inline void th_trace_thread_deliver_end(void)
{
    struct th_trace_thread *thread = th_self.trace_thread;

    th_trace_callback_set(NULL);
    thread->env.self = TH_NONE;
    if (__builtin_expect(th_trace_thread_is_untidy(thread), 0))
        th_trace_thread_tidy(&thread->env, TH_NONE);
}

static inline void th_trace_thread_deliver(struct th_attachment *attachment, const th_term argv[5],
                                           th_term self)
{
    th_trace_thread_deliver_begin(th_self.trace_thread, attachment, argv, self);
    th_trace_thread_deliver_end();
}

/* Adds the counters of all threads for SESSION. */
void th_trace_thread_sum(const struct th_session *session, uint64_t sums[TH_COUNTED_ALL]);

/* Lets all threads reuse their counters for SESSION, for which no thread counts and whose counts no
 * thread reads any more. Needed as another tracing may have a session with the same id. */
void th_trace_thread_forget(const struct th_session *session);
struct th_live_counts th_trace_thread_sum_live(void);

#endif
