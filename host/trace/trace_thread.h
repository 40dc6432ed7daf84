/*
 * What a thread needs for its events, in a tracing that is shared: the environment of its
 * callbacks, an arena for the terms of the event at hand, and words to count in.
 *
 * Counts are kept per thread and session, so that threads share no cache line, and summed when
 * asked: relaxed, as a sum tells of what came before by other means (a session's by progress) or of
 * some moment in between. They are not the tallies of breakpoint/, which only who has the code
 * modification permission may create: a session is created in callbacks, too.
 *
 * A thread that ends leaves its struct to one that begins, words and all.
 */
#ifndef TH_THREAD_H
#define TH_THREAD_H

#include "tracing.h"

#include "host/library/resource/resource.h"
#include "host/trace/live/live.h"

/* What a thread has counted for the session that has, or had, an index, or for a meta tracer. */
struct th_thread_counts {
    /* Written by the thread: 0, then the words are 0, then with release the session's id; acquire
     * by others, who look at the words if it is the one that they mean. th_trace_thread_forget()
     * makes it 0: then the thread may take it for another. */
    _Atomic th_session_id id;
    _Atomic uint64_t words[TH_COUNTED_ALL];
    struct th_thread_counts *next; /* of meta tracers'; written before it can be found */
};

struct th_trace_thread {
    th_env env;                                                 /* of the callback that runs */
    th_env arena;                                               /* the terms of the event at hand */
    struct th_trace_thread *next;                               /* written before it can be found */
    bool taken;                                                 /* under the list's lock */
    _Atomic uint64_t suppressed, strangers;                     /* as words */
    struct th_thread_counts *_Atomic counts[TH_SESSIONS_LIMIT]; /* as th_tracing.sessions */
    /* Of meta tracers, which have the index of their session: as many as ever were at a time. */
    struct th_thread_counts *_Atomic meta_counts;
};

__attribute__((cold)) struct th_trace_thread *th_thread_begin(void);

/* The calling thread's. */
static inline struct th_trace_thread *th_trace_thread_own(void)
{
    struct th_trace_thread *thread = th_self.trace_thread;

    return __builtin_expect(thread != NULL, 1) ? thread : th_thread_begin();
}

/* One more. Relaxed, a load and a store: only this thread writes the word. */
static inline void th_trace_thread_add(_Atomic uint64_t *word)
{
    atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + 1,
                          memory_order_relaxed);
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
    th_trace_thread_add(&th_trace_thread_counts_of(thread, session)->words[what]);
}

/* --- Callbacks of calls, where the thread is in none ------------------------------------------ */

static inline th_term th_trace_thread_enter(struct th_attachment *attachment,
                                            enum th_tracer_slot slot, const th_term argv[])
{
    th_env *env = &th_self.trace_thread->env;

    env->library = attachment->library;
    return th_trace_attachment_enter(attachment, env, slot, argv);
}

/* After a callback that was called in ENV: clears it. Returns ANSWER; TH_NONE for an exception. */
th_term th_trace_thread_tidy(th_env *env, th_term answer);

/*
 * th_trace_attachment_call() of enabled_call. The thread has begun (th_trace_thread_own()). The
 * environment is as clear as most callbacks leave it, and nothing is due: then looking is all that
 * it takes. It is looked up again after the callback, so that no register is saved for it.
 */
static inline th_term th_trace_thread_ask(struct th_attachment *attachment, const th_term argv[3])
{
    th_term answer = th_trace_thread_enter(attachment, TH_SLOT_enabled_call, argv);
    const th_env *env = &th_self.trace_thread->env;
    uintptr_t untidy = (uintptr_t)env->top ^ (uintptr_t)env->bottom;

    untidy |= (uintptr_t)env->offheap | env->exception;
    untidy |= (uintptr_t)atomic_load_explicit(&th_resource_due, memory_order_relaxed);
    return __builtin_expect(untidy != 0, 0)
               ? th_trace_thread_tidy(&th_self.trace_thread->env, answer)
               : answer;
}

/* The same of trace_call, with terms that were made in the thread's environment; SELF is what
 * enif_self tells. */
static inline void th_trace_thread_deliver(struct th_attachment *attachment, const th_term argv[5],
                                           th_term self)
{
    th_self.trace_thread->env.self = self;
    th_trace_thread_enter(attachment, TH_SLOT_trace_call, argv);
    th_env_clear(&th_self.trace_thread->env);
    th_resource_reap();
}

/* Adds what all threads have counted for SESSION. */
void th_trace_thread_sum(const struct th_session *session, uint64_t sums[TH_COUNTED_ALL]);

/* Nobody counts for SESSION any more, nor asks what was counted. In another tracing its id may be
 * another's. */
void th_trace_thread_forget(const struct th_session *session);
struct th_live_counts th_trace_thread_sum_live(void);

#endif
