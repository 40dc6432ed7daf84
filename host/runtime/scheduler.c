/*
 * Scheduler threads, and the queues of the dirty ones.
 *
 * There are three types of threads. Normal schedulers all exist from the start, each with its own
 * run queue (queue.h). The two dirty types share one queue for each type; the longest waiting
 * process runs first, and a thread is added when more processes wait than threads. A thread without
 * work sleeps.
 *
 * Normal schedulers also call the destructors of resources that other threads have released.
 */
#include "mailbox.h"
#include "process_life.h"
#include "queue.h"

#include "host/base/log.h"
#include "host/base/thread.h"
#include "host/code/instance.h"
#include "host/crash/crash.h"
#include "host/library/load.h"
#include "host/library/resource/resource.h"
#include "host/runtime/traced/native_call.h"
#include "host/runtime/traced/traced_call.h"
#include "host/runtime/traced/tracepoint.h"

#include <string.h>
#include <unistd.h>

enum {
    DIRTY_IO = 10, /* default number of threads, as in a BEAM */
    ASYNC = 10,    /* likewise, as former BEAMs had async threads (+A) */
    PROCESSES = 1 << 20,
    NAME_BYTES = 16, /* of a thread's name, as the kernel limits it */
    GUARD_BYTES = 256 * 1024
};

#define QUEUE(text)                                                                         \
    {                                                                                       \
        .name = (text), .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER \
    }

struct th_queue th_runtime_queues[TH_QUEUES] = {
    [ERL_NIF_THR_NORMAL_SCHEDULER] = QUEUE("scheduler"),
    [ERL_NIF_THR_DIRTY_CPU_SCHEDULER] = QUEUE("dirty cpu"),
    [ERL_NIF_THR_DIRTY_IO_SCHEDULER] = QUEUE("dirty io"),
};

struct th_runtime_setup th_runtime_current = {1, 1, 1, 1, 0, NULL, 0};
static bool started;

/* --- Tasks for all threads -------------------------------------------------------------------- */

/*
 * A task is a function that each thread of the runtime calls once, between two turns.
 *
 * One task runs at a time. A thread of the runtime may itself want to start a task, for example
 * when a destructor has released a library: while it waits, it does its part of the running task,
 * so that no two threads wait for each other.
 *
 *   1. Under the tasks' lock, the task is stored. Each queue's count of tasks goes up by one, under
 *      the queue's lock, beyond the count that its threads have seen.
 *   2. Each thread notices the difference when it looks for work (or starts a task), and calls the
 *      function.
 *   3. The last thread wakes all waiting threads: those that wait for the end of this task, and
 *      those that want to start their own.
 */
static pthread_mutex_t task_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before the queues' locks */
static pthread_cond_t task_ended = PTHREAD_COND_INITIALIZER;
/* The running task; guarded by the lock. */
static struct task {
    void (*function)(void *argument); /* NULL: none */
    void *argument;
    unsigned left; /* threads that have not returned from it */
} task_now;

/* Returns true if the calling thread, of the runtime or not, must still do its part. */
static bool scheduler_take_part(void)
{
    struct th_scheduler_thread *thread = th_runtime_thread_current();
    struct th_queue *queue;
    bool wanted = false;

    if (thread) {
        queue = &th_runtime_queues[thread->self.type];
        pthread_mutex_lock(&queue->lock);
        wanted = thread->tasks != queue->tasks;
        thread->tasks = queue->tasks;
        pthread_mutex_unlock(&queue->lock);
    }
    return wanted;
}

static void do_part(void)
{
    struct task task;

    pthread_mutex_lock(&task_lock);
    task = task_now;
    pthread_mutex_unlock(&task_lock);
    task.function(task.argument);
    pthread_mutex_lock(&task_lock);
    if (--task_now.left == 0)
        pthread_cond_broadcast(&task_ended);
    pthread_mutex_unlock(&task_lock);
}

/* Does the thread's part of a task of another thread. */
static void do_task(void)
{
    if (scheduler_take_part())
        do_part();
}

void th_runtime_task(void (*function)(void *argument), void *argument)
{
    pthread_mutex_lock(&task_lock);
    while (task_now.function) {
        if (scheduler_take_part()) {
            pthread_mutex_unlock(&task_lock);
            do_part();
            pthread_mutex_lock(&task_lock);
        } else {
            pthread_cond_wait(&task_ended, &task_lock);
        }
    }
    task_now = (struct task){function, argument, 0};
    for (int type = ERL_NIF_THR_NORMAL_SCHEDULER; type < TH_QUEUES; type++) {
        struct th_queue *queue = &th_runtime_queues[type];
        pthread_mutex_lock(&queue->lock);
        queue->tasks++;
        task_now.left += queue->running;
        pthread_cond_broadcast(&queue->work);
        pthread_mutex_unlock(&queue->lock);
    }
    th_runtime_queue_poke_schedulers();
    pthread_mutex_unlock(&task_lock);
    do_task();
    pthread_mutex_lock(&task_lock);
    while (task_now.left > 0)
        pthread_cond_wait(&task_ended, &task_lock);
    task_now.function = NULL;
    pthread_cond_broadcast(&task_ended);
    pthread_mutex_unlock(&task_lock);
}

/* --- Threads --------------------------------------------------------------------------------- */

/* Does the thread's work besides processes. Under the queue's lock, released meanwhile. */
static void do_duties(struct th_queue *queue)
{
    pthread_mutex_unlock(&queue->lock);
    do_task();
    if (th_self.scheduler->type == ERL_NIF_THR_NORMAL_SCHEDULER)
        th_resource_reap();
    pthread_mutex_lock(&queue->lock);
}

/* Returns the next process for a dirty thread; NULL: the thread must end. */
static struct th_process *next_dirty(struct th_queue *queue, const struct th_scheduler_thread *self)
{
    struct th_process *process = NULL;

    pthread_mutex_lock(&queue->lock);
    for (;;) {
        if (queue->tasks != self->tasks) {
            do_duties(queue);
        } else if (queue->first) {
            process = queue->first;
            queue->first = process->behind_dirty;
            if (!queue->first)
                queue->end = &queue->first;
            queue->length--;
            break;
        } else if (queue->ending) {
            queue->running--;
            break;
        } else {
            queue->sleeping++;
            pthread_cond_wait(&queue->work, &queue->lock);
            queue->sleeping--;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return process;
}

static void take_turn(struct th_process *process)
{
    th_runtime_process_turn(process);
    if (__builtin_expect(th_self.in_trace_hook == TH_FORKED, false))
        th_crash_end_child();
}

static void run_normal(struct th_queue *queue, const struct th_scheduler_thread *thread)
{
    unsigned own = (unsigned)(thread - queue->threads);
    struct th_process *process;
    bool ends = false;

    while (!ends) {
        process = th_runtime_run_queue_next(own);
        if (process)
            take_turn(process);
        if (th_runtime_run_queue_poked(own)) {
            pthread_mutex_lock(&queue->lock);
            do_duties(queue);
            ends = queue->ending;
            queue->running -= ends;
            pthread_mutex_unlock(&queue->lock);
        }
    }
}

static void *scheduler_run_thread(void *context)
{
    struct th_scheduler_thread *thread = context;
    struct th_queue *queue = &th_runtime_queues[thread->self.type];
    struct th_process *process;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%s %u", queue->name, (unsigned)(thread - queue->threads) + 1);
    pthread_setname_np(pthread_self(), name);
    th_crash_thread_begin();
    th_self.scheduler = &thread->self;
    th_self.code_slot = thread->self.number;
    if (thread->self.type == ERL_NIF_THR_NORMAL_SCHEDULER)
        run_normal(queue, thread);
    else
        while ((process = next_dirty(queue, thread)))
            take_turn(process);
    th_runtime_process_memory_leave();
    th_crash_thread_end();
    return NULL;
}

/* The stack has additional room for native frames, so that traced functions have as much stack as
 * untraced ones. The guard area is larger than a page, so that large frames do not jump over it. */
int th_runtime_thread_create(pthread_t *thread, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    size_t size;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_setstacksize(&attributes, size + th_traced_native_stack());
    pthread_attr_setguardsize(&attributes, GUARD_BYTES);
    error = th_thread_start(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Starts a thread. Under the queue's lock. */
static void add_thread(struct th_queue *queue)
{
    struct th_scheduler_thread *thread = &queue->threads[queue->count];
    int error;

    thread->tasks = queue->tasks;
    error = th_runtime_thread_create(&thread->id, scheduler_run_thread, thread);
    if (!error) {
        queue->count++;
        queue->running++;
    } else if (queue->count > 0) {
        queue->limit = queue->count; /* the existing threads do the work */
        th_warn("cannot start more than %u '%s' threads: %s", queue->count, queue->name,
                strerror(error));
    } else {
        th_give_up("cannot start a thread: %s", strerror(error));
    }
}

void th_runtime_queue_add(struct th_process *process)
{
    struct th_queue *queue = &th_runtime_queues[process->next.where];

    if (process->next.where == ERL_NIF_THR_NORMAL_SCHEDULER) {
        th_runtime_run_queue_add(process);
        return;
    }
    process->behind_dirty = NULL;
    if (!process->told)
        th_runtime_dirty_let_go(process);
    pthread_mutex_lock(&queue->lock);
    *queue->end = process;
    queue->end = &process->behind_dirty;
    queue->length++;
    if (queue->length > queue->sleeping && queue->count < queue->limit)
        add_thread(queue);
    else
        pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

/* A destructor is due. Normal schedulers look after each function that they have run; for other
 * threads, scheduler 0 must be woken. */
static void on_due(void)
{
    if (!th_self.scheduler || th_self.scheduler->type != ERL_NIF_THR_NORMAL_SCHEDULER)
        th_runtime_run_queue_poke(0);
}

/* --- The runtime ----------------------------------------------------------------------------- */

static void open_queue(int type, unsigned limit, unsigned number)
{
    struct th_queue *queue = &th_runtime_queues[type];

    queue->end = &queue->first;
    queue->limit = limit;
    queue->count = 0;
    queue->ending = false;
    queue->threads = th_alloc_zero(limit * sizeof *queue->threads);
    for (unsigned i = 0; i < limit; i++)
        queue->threads[i].self = (struct th_scheduler){type, number + i};
}

void th_runtime_queue_poke_schedulers(void)
{
    for (unsigned i = 0; i < th_runtime_current.schedulers; i++)
        th_runtime_run_queue_poke(i);
}

static void close_queue(struct th_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    if (queue == &th_runtime_queues[ERL_NIF_THR_NORMAL_SCHEDULER])
        th_runtime_queue_poke_schedulers();
    for (unsigned i = 0; i < queue->count; i++)
        pthread_join(queue->threads[i].id, NULL);
    th_free(queue->threads);
    queue->threads = NULL;
}

void th_runtime_start(const struct th_runtime_setup *setup)
{
    struct th_queue *normal = &th_runtime_queues[ERL_NIF_THR_NORMAL_SCHEDULER];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (started)
        th_bug("the runtime is started twice");
    started = true;
    th_runtime_current = *setup;
    if (!th_runtime_current.schedulers)
        th_runtime_current.schedulers = processors > 1 ? (unsigned)processors : 1;
    if (!th_runtime_current.dirty_cpu)
        th_runtime_current.dirty_cpu = th_runtime_current.schedulers;
    if (!th_runtime_current.processes)
        th_runtime_current.processes = PROCESSES;
    if (!th_runtime_current.dirty_io)
        th_runtime_current.dirty_io = DIRTY_IO;
    th_code_slots(1 + th_runtime_current.schedulers + th_runtime_current.dirty_cpu +
                  th_runtime_current.dirty_io);
    th_code_kill_users = th_runtime_processes_purge;
    th_code_show_users = th_runtime_processes_show_inside;
    if (!th_runtime_current.async)
        th_runtime_current.async = ASYNC;
    th_file_pool_start(th_runtime_current.async);
    th_runtime_run_queues_open(th_runtime_current.schedulers);
    open_queue(ERL_NIF_THR_NORMAL_SCHEDULER, th_runtime_current.schedulers, 1);
    open_queue(ERL_NIF_THR_DIRTY_CPU_SCHEDULER, th_runtime_current.dirty_cpu,
               1 + th_runtime_current.schedulers);
    open_queue(ERL_NIF_THR_DIRTY_IO_SCHEDULER, th_runtime_current.dirty_io,
               1 + th_runtime_current.schedulers + th_runtime_current.dirty_cpu);
    th_crash_set_kind("library");
    pthread_mutex_lock(&normal->lock);
    while (normal->count < normal->limit)
        add_thread(normal);
    pthread_mutex_unlock(&normal->lock);
    atomic_store_explicit(&th_resource_on_dying, on_due, memory_order_release);
    th_library_on_schedulers = th_runtime_task;
    th_process_watch(&th_traced_tracepoint_watcher);
    th_traced_calls_begin(setup);
}

/* Dirty threads end first, because normal ones finish the processes that they ran. */
void th_runtime_stop(void)
{
    th_runtime_loader_end();
    th_traced_functions_end();
    th_poll_select_end();
    atomic_store_explicit(&th_resource_on_dying, NULL, memory_order_release);
    close_queue(&th_runtime_queues[ERL_NIF_THR_DIRTY_CPU_SCHEDULER]);
    close_queue(&th_runtime_queues[ERL_NIF_THR_DIRTY_IO_SCHEDULER]);
    close_queue(&th_runtime_queues[ERL_NIF_THR_NORMAL_SCHEDULER]);
    th_runtime_process_memory_end();
    th_file_pool_stop();
    th_runtime_timers_end();
    th_runtime_run_queues_close();
    th_library_on_schedulers = NULL;
    th_process_watch(NULL);
    th_traced_tracepoint_ports_end();
    th_runtime_current = (struct th_runtime_setup){1, 1, 1, 1, 0, NULL, 0};
    started = false;
    th_resource_reap(); /* destructors for which no thread was woken */
}

void th_runtime_each_running(void (*each)(void *context, const char *function), void *context)
{
    for (int type = 1; type < TH_QUEUES; type++) {
        struct th_queue *queue = &th_runtime_queues[type];
        unsigned count;
        pthread_mutex_lock(&queue->lock);
        count = queue->count; /* threads are not removed before the runtime stops */
        pthread_mutex_unlock(&queue->lock);
        for (unsigned i = 0; i < count; i++) {
            const char *runs = atomic_load_explicit(&queue->threads[i].runs, memory_order_relaxed);
            if (runs)
                each(context, runs);
        }
    }
    th_file_pool_each_running(each, context);
    if (th_runtime_loader_orders() > 0)
        each(context, "changes of code");
}

struct th_tracing *th_runtime_tracing(void)
{
    return th_runtime_current.tracing;
}
