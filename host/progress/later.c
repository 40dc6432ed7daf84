/*
 * Deferred work, and the worker thread that does the work.
 *
 *   1. th_progress_later() pushes the work onto a stack by one exchange, and never waits or
 *      allocates. So any code may call the function.
 *   2. The thread that finds the stack empty wakes the worker; the first such thread starts the
 *      worker.
 *   3. The worker takes the whole stack, waits for a grace period, and does the work in the order
 *      of queueing. Work that is queued meanwhile is the next batch: one grace period serves a
 *      batch of any size.
 *
 * call_rcu() of liburcu does not serve: its thread looks for work every 10 ms, and a change of
 * breakpoints that waits for three grace periods would take 30 ms.
 *
 * The worker does not wait to collect more work: a change of breakpoints that nobody waits for
 * takes its next step as soon as threads have left their sections, within microseconds.
 */
#include "progress.h"

#include "host/base/memory.h"
#include "host/base/thread.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Latest work first. Release on push: accesses before the queueing come before the work; acquire on
 * taking. */
static struct th_later *_Atomic stack;

/* Posted each time the stack becomes non-empty, so a thread that has waited finds work. There is no
 * second post before the stack is taken: the value is 0 or 1. */
static sem_t handed_in;

/* Set with release, under the lock, after the semaphore and the thread exist. */
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
        while (latest) { /* reverses the stack into the order of queueing */
            struct th_later *before = latest->next;
            latest->next = batch;
            batch = latest;
            latest = before;
        }
        /* RUN may free or queue again the object that holds WORK: so `next` is read first. */
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
    pthread_t worker; /* detached; blocks signals; ends with the program */
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
    /* Relaxed: the pointer is only linked and compared, not followed. */
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

/* Work is done in order: when this work runs, all work that was queued before is done. */
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
    struct settling *settling = th_alloc(sizeof *settling); /* leaked if the wait times out */
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
