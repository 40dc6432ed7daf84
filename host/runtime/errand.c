/*
 * Errands: what each thread of the runtime is to do once, between two turns.
 *
 * One errand goes on at a time. Who wants to begin another may be a thread of the runtime itself,
 * as when a destructor has let go of a library: it does its part of the errand that goes on while
 * it waits, so that no two wait for each other.
 *
 *   1. Under the errands' lock, the errand is put down, and each queue is told under its own that
 *      there is one more than its threads have seen.
 *   2. Each thread meets that when it looks for work (or begins an errand), and does it.
 *   3. The last one wakes all who wait: for this errand's end, or to begin their own.
 */
#include "queue.h"

#include "host/self/self.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* outside of the queues' */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
/* What goes on; guarded by the lock. */
static struct errand {
    void (*function)(void *argument); /* NULL: no errand */
    void *argument;
    unsigned left; /* threads that have not returned from it */
} current;

/* The calling thread's part of the runtime, NULL if it has none. */
static struct th_scheduler_thread *own_thread(struct th_queue **queue)
{
    const struct th_scheduler *self = th_self.scheduler;

    if (!self)
        return NULL;
    *queue = &th_runtime_queues[self->type];
    return &(*queue)->threads[self->number - (*queue)->threads[0].self.number];
}

/* True if the calling thread has not yet done its part; then it must. */
static bool take_part(void)
{
    struct th_queue *queue;
    struct th_scheduler_thread *thread = own_thread(&queue);
    bool wanted = false;

    if (thread) {
        pthread_mutex_lock(&queue->lock);
        wanted = thread->errands != queue->errands;
        thread->errands = queue->errands;
        pthread_mutex_unlock(&queue->lock);
    }
    return wanted;
}

static void do_part(void)
{
    struct errand errand;

    pthread_mutex_lock(&lock);
    errand = current;
    pthread_mutex_unlock(&lock);
    errand.function(errand.argument);
    pthread_mutex_lock(&lock);
    if (--current.left == 0)
        pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}

void th_runtime_errand_do(void)
{
    if (take_part())
        do_part();
}

/* Under the lock. */
static void announce(void)
{
    for (int type = ERL_NIF_THR_NORMAL_SCHEDULER; type < TH_QUEUES; type++) {
        struct th_queue *queue = &th_runtime_queues[type];

        pthread_mutex_lock(&queue->lock);
        queue->errands++;
        current.left += queue->running;
        pthread_cond_broadcast(&queue->work);
        pthread_mutex_unlock(&queue->lock);
    }
    th_runtime_queue_poke_schedulers();
}

void th_runtime_errand(void (*function)(void *argument), void *argument)
{
    pthread_mutex_lock(&lock);
    while (current.function) {
        if (take_part()) {
            pthread_mutex_unlock(&lock);
            do_part();
            pthread_mutex_lock(&lock);
        } else {
            pthread_cond_wait(&ended, &lock);
        }
    }
    current = (struct errand){function, argument, 0};
    announce();
    pthread_mutex_unlock(&lock);
    th_runtime_errand_do();
    pthread_mutex_lock(&lock);
    while (current.left > 0)
        pthread_cond_wait(&ended, &lock);
    current.function = NULL;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}
