/* The threads of the runtime and their queues. Inner header of runtime/. */
#ifndef TH_QUEUE_H
#define TH_QUEUE_H

#include "runtime.h"

#include "host/self/self.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

struct th_scheduler_thread {
    struct th_scheduler self;
    pthread_t id;
    unsigned tasks; /* number of tasks that it has seen; see struct th_queue */
    /* The function that the thread runs for a process, "module:function/arity", constant for that
     * time; NULL: none. Written by the thread. Relaxed: a hint. */
    const char *_Atomic runs;
};

/* Returns the calling thread; NULL if the runtime did not start it. */
static inline struct th_scheduler_thread *th_runtime_thread_current(void)
{
    return (struct th_scheduler_thread *)th_self.scheduler; /* SELF is the first member */
}

/* Records that the calling thread, a thread of the runtime, runs FUNCTION. */
static inline void th_runtime_thread_runs(const char *function)
{
    atomic_store_explicit(&th_runtime_thread_current()->runs, function, memory_order_relaxed);
}

/* The threads of one type and the processes that wait for them. Processes for normal schedulers
 * wait in the run queues of run_queue.c instead. */
struct th_queue {
    const char *name;
    pthread_mutex_t lock; /* guards the following fields; innermost */
    pthread_cond_t work;
    struct th_process *first, **end;     /* END: link that will point to the next process */
    unsigned length;                     /* processes in the queue */
    unsigned sleeping;                   /* threads that wait for WORK */
    unsigned count, limit;               /* threads started, and the most of them */
    unsigned running;                    /* threads that have not begun to end */
    struct th_scheduler_thread *threads; /* LIMIT of them; each is written before it starts */
    bool ending;                         /* the threads must end */
    unsigned tasks;                      /* number of tasks ever given to all threads; see
                                            scheduler.c */
};

enum { TH_QUEUES = ERL_NIF_THR_DIRTY_IO_SCHEDULER + 1 }; /* index: thread type; 0 is no scheduler */
extern struct th_queue th_runtime_queues[TH_QUEUES];

/* Appends PROCESS to a queue of its next thread type. */
void th_runtime_queue_add(struct th_process *process);

/* Creates a thread without signals from outside, with a guarded stack. Returns 0 or an errno. */
int th_runtime_thread_create(pthread_t *thread, void *(*run)(void *context), void *context);

/* Makes each normal scheduler check whether it must end or has a task to do. */
void th_runtime_queue_poke_schedulers(void);

/* Calls FUNCTION(ARGUMENT) once on each thread of the runtime, in parallel, and returns when all
 * calls have returned.
 * Thread: any; no lock may be held. */
void th_runtime_task(void (*function)(void *argument), void *argument);

/* --- The run queues of the normal schedulers (run_queue.c) ------------------------------------ */

/*
 * The run queues of the normal schedulers, one each.
 *
 * A scheduler that makes a process runnable puts it into its own queue; other threads put it into
 * the queue of the scheduler that ran the process last. A scheduler without work takes processes
 * from other queues, looks again for some microseconds, and then sleeps: only for a moment if
 * others work and no other scheduler watches them. A thread that has put a process into a queue
 * wakes a sleeping scheduler if no scheduler looks for work; not if the process is the only one of
 * a scheduler that works and is watched.
 */

void th_runtime_run_queues_open(unsigned count);
void th_runtime_run_queues_close(void);

void th_runtime_run_queue_add(struct th_process *process);

/* Returns the next process for scheduler OWN (from 0) and waits for one. NULL: the scheduler was
 * poked (th_runtime_run_queue_poke()), or must call again. */
struct th_process *th_runtime_run_queue_next(unsigned own);

/* Makes th_runtime_run_queue_next() of scheduler OWN return NULL once, soon.
 * Thread: any. */
void th_runtime_run_queue_poke(unsigned own);

/* Returns true once after th_runtime_run_queue_poke(OWN). */
bool th_runtime_run_queue_poked(unsigned own);

/* Returns the number of processes that wait in queue OWN. For tests. */
unsigned th_runtime_run_queue_length(unsigned own);

#endif
