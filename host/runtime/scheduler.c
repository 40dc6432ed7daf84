/*
 * Scheduler threads, and the queues that they take processes from.
 *
 * There are three queues, one for each type of thread: normal schedulers, all of which are there
 * from the start, and the two dirty types, whose threads are made when more processes wait than
 * threads do. All threads of a type share one queue; who waits longest runs first. A thread without
 * work sleeps.
 *
 * Normal schedulers also destroy the resources that other threads let go of.
 */
#include "running.h"

#include "host/trace/trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
    TYPES = ERL_NIF_THR_DIRTY_IO_SCHEDULER + 1, /* 0 is no scheduler's */
    DIRTY_IO = 10,                              /* threads unless told otherwise, as in a BEAM */
    NAME_BYTES = 16                             /* of a thread's name: the kernel keeps no more */
};

struct thread {
    struct th_scheduler self;
    pthread_t id;
};

struct queue {
    const char *name;
    pthread_mutex_t lock; /* guards what follows; the innermost */
    pthread_cond_t work;
    struct th_process_run *first, **end; /* END is where the next one goes */
    unsigned length;                     /* processes in it */
    unsigned sleeping;                   /* threads that wait for WORK */
    unsigned count, limit;               /* of threads; constant while the runtime is not started */
    struct thread *threads;              /* LIMIT of them; one is written before it starts */
    bool ending;                         /* the threads are to end */
    bool dying;                          /* resources are to be destroyed */
};

static struct queue queues[TYPES] = {
    [ERL_NIF_THR_NORMAL_SCHEDULER] = {.name = "scheduler",
                                      .lock = PTHREAD_MUTEX_INITIALIZER,
                                      .work = PTHREAD_COND_INITIALIZER},
    [ERL_NIF_THR_DIRTY_CPU_SCHEDULER] = {.name = "dirty cpu",
                                         .lock = PTHREAD_MUTEX_INITIALIZER,
                                         .work = PTHREAD_COND_INITIALIZER},
    [ERL_NIF_THR_DIRTY_IO_SCHEDULER] = {.name = "dirty io",
                                        .lock = PTHREAD_MUTEX_INITIALIZER,
                                        .work = PTHREAD_COND_INITIALIZER},
};

_Thread_local const struct th_scheduler *th_scheduler_current;

/* Written by th_runtime_start() before there are threads, and by th_runtime_stop() after. Read by
 * code of libraries that these run. */
static struct th_runtime_setup threads = {1, 1, 1};
static bool started;

/* --- Threads --------------------------------------------------------------------------------- */

/* The next process of QUEUE, NULL if the thread is to end. What else a thread of the queue has to
 * do is done meanwhile. */
static struct th_process_run *take(struct queue *queue)
{
    struct th_process_run *process;

    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->ending) {
        if (queue->dying) {
            queue->dying = false;
            pthread_mutex_unlock(&queue->lock);
            th_resource_reap();
            pthread_mutex_lock(&queue->lock);
        } else {
            queue->sleeping++;
            pthread_cond_wait(&queue->work, &queue->lock);
            queue->sleeping--;
        }
    }
    process = queue->first;
    if (process) {
        queue->first = process->behind;
        if (!queue->first)
            queue->end = &queue->first;
        queue->length--;
    }
    pthread_mutex_unlock(&queue->lock);
    return process;
}

static void *run_thread(void *context)
{
    struct thread *thread = context;
    struct queue *queue = &queues[thread->self.type];
    struct th_process_run *process;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%s %u", queue->name, (unsigned)(thread - queue->threads) + 1);
    pthread_setname_np(pthread_self(), name);
    th_guard_thread_begin();
    th_scheduler_current = &thread->self;
    while ((process = take(queue)))
        th_process_turn(process);
    th_guard_thread_end();
    return NULL;
}

/* Starts one more thread. Under the queue's lock, or before there are threads. Signals from outside
 * are not for it. */
static void add_thread(struct queue *queue)
{
    sigset_t all, old;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&queue->threads[queue->count].id, NULL, run_thread,
                           &queue->threads[queue->count]);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!error) {
        queue->count++;
    } else if (queue->count > 0) {
        queue->limit = queue->count; /* those that are there do the work */
        th_warn("no more than %u '%s' threads: %s", queue->count, queue->name, strerror(error));
    } else {
        fprintf(stderr, "tracehost: cannot start a thread: %s\n", strerror(error));
        exit(TH_FAILED);
    }
}

void th_queue_add(struct th_process_run *process)
{
    struct queue *queue = &queues[process->next.where];

    process->behind = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->end = process;
    queue->end = &process->behind;
    queue->length++;
    if (queue->length > queue->sleeping && queue->count < queue->limit)
        add_thread(queue);
    else
        pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

/* A resource's last share is gone, on the calling thread. Normal schedulers look after each
 * function that they have run; for who runs none of them, one has to be woken. */
static void on_dying(void)
{
    struct queue *queue = &queues[ERL_NIF_THR_NORMAL_SCHEDULER];

    if (th_scheduler_current && th_scheduler_current->type == ERL_NIF_THR_NORMAL_SCHEDULER)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->dying = true;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

/* --- The runtime ----------------------------------------------------------------------------- */

static void open_queue(int type, unsigned limit, unsigned number)
{
    struct queue *queue = &queues[type];

    queue->end = &queue->first;
    queue->limit = limit;
    queue->count = 0;
    queue->ending = false;
    queue->threads = th_alloc_zero(limit * sizeof *queue->threads);
    for (unsigned i = 0; i < limit; i++)
        queue->threads[i].self = (struct th_scheduler){type, number + i};
}

static void close_queue(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    for (unsigned i = 0; i < queue->count; i++)
        pthread_join(queue->threads[i].id, NULL);
    th_free(queue->threads);
    queue->threads = NULL;
}

void th_runtime_start(const struct th_runtime_setup *setup)
{
    struct queue *normal = &queues[ERL_NIF_THR_NORMAL_SCHEDULER];

    if (started)
        th_bug("the runtime is started twice");
    started = true;
    threads = *setup;
    if (!threads.schedulers)
        threads.schedulers = 1;
    if (!threads.dirty_cpu)
        threads.dirty_cpu = threads.schedulers;
    if (!threads.dirty_io)
        threads.dirty_io = DIRTY_IO;
    open_queue(ERL_NIF_THR_NORMAL_SCHEDULER, threads.schedulers, 1);
    open_queue(ERL_NIF_THR_DIRTY_CPU_SCHEDULER, threads.dirty_cpu, 1 + threads.schedulers);
    open_queue(ERL_NIF_THR_DIRTY_IO_SCHEDULER, threads.dirty_io,
               1 + threads.schedulers + threads.dirty_cpu);
    th_guard_set_kind("library");
    pthread_mutex_lock(&normal->lock);
    while (normal->count < normal->limit)
        add_thread(normal);
    pthread_mutex_unlock(&normal->lock);
    atomic_store_explicit(&th_resource_on_dying, on_dying, memory_order_release);
}

/* Dirty threads first, as what they have run is finished by normal ones. */
void th_runtime_stop(void)
{
    atomic_store_explicit(&th_resource_on_dying, NULL, memory_order_release);
    close_queue(&queues[ERL_NIF_THR_DIRTY_CPU_SCHEDULER]);
    close_queue(&queues[ERL_NIF_THR_DIRTY_IO_SCHEDULER]);
    close_queue(&queues[ERL_NIF_THR_NORMAL_SCHEDULER]);
    threads = (struct th_runtime_setup){1, 1, 1};
    started = false;
    th_resource_reap(); /* what nobody was woken for */
}

struct th_runtime_setup th_runtime_threads(void)
{
    return threads;
}
