/* Processes whose functions run on dirty threads; see dirty_end.c. Inner header of runtime/. */
#ifndef TH_DIRTY_END_H
#define TH_DIRTY_END_H

#include "runtime_internal.h"

/* The process of a function that runs on a dirty thread is ended, or was, by a normal scheduler. */
static inline bool th_runtime_dirty_is_over(const struct th_process *process)
{
    return atomic_load_explicit(&process->dirty, memory_order_relaxed) >= TH_DIRTY_ENDS;
}

/*
 * Around all that a function has the runtime do with its process: th_runtime_dirty_take() keeps
 * signals from ending the process until th_runtime_dirty_let_go(). Callbacks may run in between.
 * These nest. False: the process has ended, or is about to, and is not to be touched or let go of.
 * On a normal scheduler it is false only while that ends the process of a function that still runs.
 */
bool th_runtime_dirty_take_back(struct th_process *process);
static inline bool th_runtime_dirty_take(struct th_process *process)
{
    if (__builtin_expect(
            atomic_load_explicit(&process->dirty, memory_order_relaxed) != TH_DIRTY_HELD, 0))
        return th_runtime_dirty_take_back(process);
    process->takes++;
    return true;
}
void th_runtime_dirty_let_go_at_last(struct th_process *process);
static inline void th_runtime_dirty_let_go(struct th_process *process)
{
    if (__builtin_expect(--process->takes == 0, 0))
        th_runtime_dirty_let_go_at_last(process);
}

/* By a dirty thread that could not take PROCESS back: it is done with the process. */
void th_runtime_dirty_over(struct th_process *process);

/* By a normal scheduler, which has ended PROCESS for all others. True: the dirty thread is not done
 * with the process yet, and brings it to a run queue when it is. */
bool th_runtime_dirty_goes_on(struct th_process *process);

/* SIGNAL has come into the mailbox. Under its lock. */
void th_runtime_dirty_arrived(struct th_process *process, const struct th_message *signal);

#endif
