/*
 * Tasks of the main thread: what another thread asks of the one which works, and which looks
 * between two pieces of its work whether a task is there.
 *
 *   status = th_control_main_thread_ask(&main_thread, task, argument);    another thread
 *   th_control_main_thread_look(&main_thread);                            the main one, now and
 *   then th_control_main_thread_end(&main_thread);                             it looks no more
 */
#ifndef TH_CONTROL_MAIN_THREAD_H
#define TH_CONTROL_MAIN_THREAD_H

#include "host/base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct th_main_thread_task;

struct th_control_main_thread {
    pthread_mutex_t lock;
    pthread_cond_t done; /* ->asked is NULL again, or `ended` */
    /* Written under the lock. Relaxed: who sees one takes the lock to look at it. */
    struct th_main_thread_task *_Atomic asked;
    bool ended;
};

void th_control_main_thread_begin(struct th_control_main_thread *thread);

/* Has the main thread call TASK(ARGUMENT), and waits for its end: what it returns, with its chain.
 * TH_FAILED if the main thread does not look for TH_CONTROL_MAIN_THREAD_PATIENCE seconds, or has
 * ended: then TASK is not called. One thread at a time. */
enum { TH_CONTROL_MAIN_THREAD_PATIENCE = 5 };
enum th_status th_control_main_thread_ask(struct th_control_main_thread *thread,
                                          enum th_status (*task)(void *argument), void *argument);

void th_control_main_thread_do(struct th_control_main_thread *thread);
static inline void th_control_main_thread_look(struct th_control_main_thread *thread)
{
    if (__builtin_expect(atomic_load_explicit(&thread->asked, memory_order_relaxed) != NULL, 0))
        th_control_main_thread_do(thread);
}

/* Whoever asks is told so. */
void th_control_main_thread_end(struct th_control_main_thread *thread);

#endif
