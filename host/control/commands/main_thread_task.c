#include "commands.h"
#include "commands_internal.h"

#include "host/base/log.h"

#include <time.h>

struct th_main_thread_task {
    enum th_status (*task)(void *argument);
    void *argument;
    enum th_status status;
    struct th_error_chain chain; /* chain of the main thread: chains are thread-local */
    bool begun;
    struct th_buffer *warned; /* the submitter's buffer for warnings, used by the task, too */
};

void th_control_main_thread_begin(struct th_control_main_thread *thread)
{
    pthread_condattr_t attributes;

    *thread = (struct th_control_main_thread){.ended = false};
    pthread_mutex_init(&thread->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* `asked` stays set while the task runs without the lock: the task has begun, and the submitter
 * does not withdraw it. */
void th_control_main_thread_do(struct th_control_main_thread *thread)
{
    struct th_buffer *before;
    struct th_main_thread_task *task;

    pthread_mutex_lock(&thread->lock);
    task = atomic_load_explicit(&thread->asked, memory_order_relaxed);
    if (task)
        task->begun = true;
    pthread_mutex_unlock(&thread->lock);
    if (!task)
        return;
    before = th_warn_into(task->warned);
    task->status = task->task(task->argument);
    th_warn_into(before);
    if (task->status != TH_OK) {
        th_error_save(&task->chain);
        th_error_clear();
    }
    pthread_mutex_lock(&thread->lock);
    atomic_store_explicit(&thread->asked, NULL, memory_order_relaxed);
    pthread_cond_signal(&thread->done);
    pthread_mutex_unlock(&thread->lock);
}

enum th_status th_control_main_thread_ask(struct th_control_main_thread *thread,
                                          enum th_status (*task)(void *argument), void *argument)
{
    struct th_main_thread_task asked = {.task = task, .argument = argument};
    struct timespec until;
    int error = 0;
    bool ended;

    asked.warned = th_warn_into(NULL);
    th_warn_into(asked.warned);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TH_CONTROL_MAIN_THREAD_PATIENCE;
    pthread_mutex_lock(&thread->lock);
    if (!thread->ended)
        atomic_store_explicit(&thread->asked, &asked, memory_order_relaxed);
    while (!asked.begun && !thread->ended && error == 0)
        error = pthread_cond_timedwait(&thread->done, &thread->lock, &until);
    while (asked.begun && atomic_load_explicit(&thread->asked, memory_order_relaxed))
        pthread_cond_wait(&thread->done, &thread->lock);
    atomic_store_explicit(&thread->asked, NULL, memory_order_relaxed); /* also if not begun */
    ended = thread->ended;
    pthread_mutex_unlock(&thread->lock);
    if (asked.begun && asked.status != TH_OK)
        th_error_restore(&asked.chain);
    if (asked.begun)
        return asked.status;
    if (ended)
        return th_error_raise(TH_FAILED, "the host has finished its work and ends");
    return th_error_raise(
        TH_FAILED, "no event has ended in %d seconds: the command can only run between two events",
        TH_CONTROL_MAIN_THREAD_PATIENCE);
}

void th_control_main_thread_end(struct th_control_main_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->ended = true;
    pthread_cond_signal(&thread->done);
    pthread_mutex_unlock(&thread->lock);
}
