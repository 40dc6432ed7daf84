/* The threads of the runtime and what they wait for. Inner header of runtime/. */
#ifndef TH_QUEUE_H
#define TH_QUEUE_H

#include "runtime.h"

#include "host/self/self.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

struct th_scheduler_thread {
    struct th_scheduler self;
    pthread_t id;
    unsigned tasks; /* that it has seen; see struct th_queue */
    /* The function that it runs for a process, "module:function/arity", constant while it does;
     * NULL: none. Written by the thread. Relaxed: a hint. */
    const char *_Atomic runs;
};

/* The calling thread; NULL if it is none of these. */
static inline struct th_scheduler_thread *th_runtime_thread_current(void)
{
    return (struct th_scheduler_thread *)th_self.scheduler; /* its first member */
}

/* The calling thread, one of these, runs that now. */
static inline void th_runtime_thread_runs(const char *function)
{
    atomic_store_explicit(&th_runtime_thread_current()->runs, function, memory_order_relaxed);
}

/* All threads of one type, and the processes that are to run on them; those for normal schedulers
 * are in run_queue.c. */
struct th_queue {
    const char *name;
    pthread_mutex_t lock; /* guards what follows; the innermost */
    pthread_cond_t work;
    struct th_process *first, **end;     /* END is where the next one goes */
    unsigned length;                     /* processes in it */
    unsigned sleeping;                   /* threads that wait for WORK */
    unsigned count, limit;               /* of threads */
    unsigned running;                    /* threads that have not begun to end */
    struct th_scheduler_thread *threads; /* LIMIT of them; one is written before it starts */
    bool ending;                         /* the threads are to end */
    unsigned tasks;                      /* that were ever given to all threads; see scheduler.c */
};

enum {
    TH_QUEUES = ERL_NIF_THR_DIRTY_IO_SCHEDULER + 1
}; /* by type of thread; 0 is no scheduler's */
extern struct th_queue th_runtime_queues[TH_QUEUES];

/* Puts PROCESS at the end of a queue of its next thread type. */
void th_runtime_queue_add(struct th_process *process);

/* A thread that takes no signals from outside, with a stack that is guarded (errno, or 0). */
int th_runtime_thread_create(pthread_t *thread, void *(*run)(void *context), void *context);

/* Has each normal scheduler look whether it is to end, or has an task to do. */
void th_runtime_queue_poke_schedulers(void);

/* Calls FUNCTION(ARGUMENT) once on each thread that there is, at once, and returns when all have
 * returned. Any thread; no lock may be held. */
void th_runtime_task(void (*function)(void *argument), void *argument);

/* --- The run queues of the normal schedulers (run_queue.c) ------------------------------------ */

/*
 * The run queues of the normal schedulers, one each.
 *
 * Who makes a process runnable puts it into its own queue, if it is a scheduler; else into that of
 * the scheduler that ran the process last. A scheduler without work takes from others, looks again
 * for some microseconds, and then sleeps, for short if others are at work and nobody else does so;
 * whoever has put a process into a queue while somebody sleeps, and nobody looks for work, wakes
 * one, unless it is the only process of a scheduler at work.
 */

void th_runtime_run_queues_open(unsigned count);
void th_runtime_run_queues_close(void);

void th_runtime_run_queue_add(struct th_process *process);

/* The next process for scheduler OWN, from 0; waits for one. NULL: there is something else to do
 * (th_runtime_run_queue_poke()), or it is to be asked again. */
struct th_process *th_runtime_run_queue_next(unsigned own);

/* Has scheduler OWN's th_runtime_run_queue_next() return NULL once, soon. Any thread. */
void th_runtime_run_queue_poke(unsigned own);

/* True once after th_runtime_run_queue_poke(OWN). */
bool th_runtime_run_queue_poked(unsigned own);

/* How many wait in it: for tests. */
unsigned th_runtime_run_queue_length(unsigned own);

#endif
