#include "commands.h"

#include <time.h>

struct th_main_thread_task {
    enum th_status (*task)(void *argument);
    void *argument;
    enum th_status status;
    char *links[TH_ERROR_LINKS]; /* the chain, the outermost first */
    size_t link_count;
    bool begun;
    struct th_buffer *warned; /* the asking thread's: what the other one warns of goes there, too */
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

/* Chains are threads' own: this one's is carried over. */
static void keep_chain(struct th_main_thread_task *task)
{
    const char *link;

    for (size_t i = 0; i < TH_ERROR_LINKS && (link = th_error_link(i)); i++)
        task->links[task->link_count++] = th_strdup(link);
    th_error_clear();
}

static enum th_status raise_again(struct th_main_thread_task *task)
{
    size_t i = task->link_count;

    if (task->status == TH_OK)
        return TH_OK;
    th_error_raise(task->status, "%s", i > 0 ? task->links[i - 1] : "it has failed");
    while (i-- > 1)
        th_error_context("%s", task->links[i - 1]);
    for (i = 0; i < task->link_count; i++)
        th_free(task->links[i]);
    return task->status;
}

/* The task stays `asked` while it is carried out, without the lock: nobody takes it back then. */
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
    if (task->status != TH_OK)
        keep_chain(task);
    pthread_mutex_lock(&thread->lock);
    atomic_store_explicit(&thread->asked, NULL, memory_order_relaxed);
    pthread_cond_signal(&thread->done);
    pthread_mutex_unlock(&thread->lock);
}

/* Under the lock. False: it was not begun in time, and is not asked any more. */
static bool wait_for(struct th_control_main_thread *thread, const struct th_main_thread_task *task)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TH_CONTROL_MAIN_THREAD_PATIENCE;
    while (!task->begun && !thread->ended && error == 0)
        error = pthread_cond_timedwait(&thread->done, &thread->lock, &until);
    while (task->begun && atomic_load_explicit(&thread->asked, memory_order_relaxed))
        pthread_cond_wait(&thread->done, &thread->lock);
    atomic_store_explicit(&thread->asked, NULL, memory_order_relaxed);
    return task->begun;
}

enum th_status th_control_main_thread_ask(struct th_control_main_thread *thread,
                                          enum th_status (*task)(void *argument), void *argument)
{
    struct th_main_thread_task asked = {.task = task, .argument = argument};
    bool done, ended;

    asked.warned = th_warn_into(NULL);
    th_warn_into(asked.warned);
    pthread_mutex_lock(&thread->lock);
    if (!thread->ended)
        atomic_store_explicit(&thread->asked, &asked, memory_order_relaxed);
    done = !thread->ended && wait_for(thread, &asked);
    ended = thread->ended;
    pthread_mutex_unlock(&thread->lock);
    if (done)
        return raise_again(&asked);
    if (ended)
        return th_error_raise(TH_FAILED, "all that was to be done is done; the host ends");
    return th_error_raise(TH_FAILED,
                          "no event has ended in %d seconds, and this can be done between two "
                          "events alone",
                          TH_CONTROL_MAIN_THREAD_PATIENCE);
}

void th_control_main_thread_end(struct th_control_main_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->ended = true;
    pthread_cond_signal(&thread->done);
    pthread_mutex_unlock(&thread->lock);
}
