/*
 * Work to do later, and the thread that does it.
 *
 *   1. Who hands work in puts it on a stack, which is one exchange. It never waits or allocates, so
 *      that it may be done anywhere.
 *   2. Who finds the stack empty wakes the worker; starts it, the first time.
 *   3. The worker takes the stack, whole, waits for thread progress, and does the work in the order
 *      in which it was handed in. What is handed in meanwhile is the next batch: so however much
 *      there is, progress is waited for once at a time.
 *
 * This is not call_rcu() of liburcu, whose thread looks for work every 10 ms: a change of
 * breakpoints that waits for three grace periods would take 30 ms.
 *
 * Nothing is collected on purpose: a change of breakpoints that nobody waits for takes its next
 * step as soon as threads have left their sections, which is microseconds.
 */
#include "progress.h"

#include "host/base/memory.h"
#include "host/base/thread.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* The latest first. Pushed with release: what was done before work is handed in comes before it is
 * done; taken with acquire. */
static struct th_later *_Atomic stack;

/* Posted once for each time that the stack was empty and is not, so that who has waited finds
 * something there. Nobody posts twice before it is taken: the value is 0 or 1. */
static sem_t handed_in;

/* Set with release, under the lock, when the semaphore and the thread are there. */
static atomic_bool started;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void wait_semaphore(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ; /* a signal handler ran */
}

static void *do_later(void *unused)
{
    struct th_later *latest, *batch = NULL;

    (void)unused;
    for (;;) {
        wait_semaphore(&handed_in);
        latest = atomic_exchange_explicit(&stack, NULL, memory_order_acquire);
        th_progress_wait();
        while (latest) { /* the first that was handed in becomes the first */
            struct th_later *before = latest->next;
            latest->next = batch;
            batch = latest;
            latest = before;
        }
        /* Work may free, or hand in again, what it is part of: so it is left before it is done. */
        while (batch) {
            struct th_later *work = batch;
            batch = work->next;
            work->run(work);
        }
    }
    return NULL;
}

int th_progress_prepare(void)
{
    pthread_t worker; /* takes no signals, and ends with the program */
    int error = 0;

    if (atomic_load_explicit(&started, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&starting);
    if (!atomic_load_explicit(&started, memory_order_relaxed)) {
        sem_init(&handed_in, 0, 0);
        error = th_thread_start(&worker, NULL, do_later, NULL);
        if (!error)
            pthread_detach(worker);
        atomic_store_explicit(&started, !error, memory_order_release);
    }
    pthread_mutex_unlock(&starting);
    return error;
}

void th_progress_later(struct th_later *self, void (*run)(struct th_later *self))
{
    /* Relaxed: it is only linked to, and compared. */
    struct th_later *latest = atomic_load_explicit(&stack, memory_order_relaxed);
    int error;

    self->run = run;
    do {
        self->next = latest;
    } while (!atomic_compare_exchange_weak_explicit(&stack, &latest, self, memory_order_release,
                                                    memory_order_relaxed));
    if (latest)
        return;
    error = th_progress_prepare();
    if (error)
        th_give_up("cannot start the thread that works later: %s", strerror(error));
    sem_post(&handed_in);
}

/* --- Waiting for work ------------------------------------------------------------------------- */

/* Work is done in order, so all that was handed in before this is done when this is. */
struct settling {
    struct th_later later; /* the first member */
    sem_t done;
};

static void settled(struct th_later *later)
{
    sem_post(&((struct settling *)later)->done);
}

void th_progress_settle(void)
{
    struct settling settling;

    th_progress_must_be_outside("th_progress_settle()");
    sem_init(&settling.done, 0, 0);
    th_progress_later(&settling.later, settled);
    wait_semaphore(&settling.done);
    sem_destroy(&settling.done);
}

bool th_progress_settle_soon(void)
{
    enum { TRIES = 100 };
    struct timespec nap = {0, 1000 * 1000 * 1000 / TRIES};
    struct settling *settling = th_alloc(sizeof *settling); /* for good, if it is not done */
    bool done = false;

    th_progress_must_be_outside("th_progress_settle_soon()");
    sem_init(&settling->done, 0, 0);
    th_progress_later(&settling->later, settled);
    for (int i = 0; i < TRIES && !done; i++) {
        done = sem_trywait(&settling->done) == 0;
        if (!done)
            nanosleep(&nap, NULL);
    }
    if (done)
        th_free(settling);
    return done;
}
