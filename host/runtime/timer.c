/*
 * Timers of waiting processes: a heap, the earliest first, and a thread that sleeps until the first
 * is due. The first timer starts the thread.
 */

#include "mailbox.h"
#include "queue.h"

#include "host/base/memory.h"
#include "host/process/process.h"

#include <string.h>
#include <time.h>

enum { BILLION = 1000000000 };

/* The lock guards all of it, and `timer_place` and `timer_due` of all processes. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;   /* another timer is the earliest, or the thread must end */
    struct th_process **heap; /* from 1 */
    size_t count, capacity;
    bool started, ending;
    pthread_t thread;
} timers = {.lock = PTHREAD_MUTEX_INITIALIZER};

int64_t th_runtime_timer_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)BILLION + now.tv_nsec;
}

int64_t th_runtime_timer_in(int64_t nanoseconds)
{
    int64_t now = th_runtime_timer_now();

    return nanoseconds < INT64_MAX - now ? now + nanoseconds : -1;
}

struct timespec th_runtime_moment(clockid_t clock, long nanoseconds)
{
    struct timespec moment;

    clock_gettime(clock, &moment);
    moment.tv_nsec += nanoseconds;
    moment.tv_sec += moment.tv_nsec / BILLION;
    moment.tv_nsec %= BILLION;
    return moment;
}

/* --- The heap -------------------------------------------------------------------------------- */

static void timer_put(size_t place, struct th_process *process)
{
    timers.heap[place] = process;
    process->timer_place = place;
}

/* Inserts PROCESS at PLACE, or above. */
static void rise(size_t place, struct th_process *process)
{
    while (place > 1 && timers.heap[place / 2]->timer_due > process->timer_due) {
        timer_put(place, timers.heap[place / 2]);
        place /= 2;
    }
    timer_put(place, process);
}

/* Inserts PROCESS at PLACE, or below. */
static void sink(size_t place, struct th_process *process)
{
    size_t child;

    while ((child = 2 * place) <= timers.count) {
        if (child < timers.count &&
            timers.heap[child + 1]->timer_due < timers.heap[child]->timer_due)
            child++;
        if (timers.heap[child]->timer_due >= process->timer_due)
            break;
        timer_put(place, timers.heap[child]);
        place = child;
    }
    timer_put(place, process);
}

static void timer_take_out(struct th_process *process)
{
    size_t place = process->timer_place;
    struct th_process *last = timers.heap[timers.count--];

    process->timer_place = 0;
    if (last == process)
        return;
    if (place > 1 && timers.heap[place / 2]->timer_due > last->timer_due)
        rise(place, last);
    else
        sink(place, last);
}

/* --- The thread ------------------------------------------------------------------------------ */

static void *timer_run(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "timers");
    pthread_mutex_lock(&timers.lock);
    while (!timers.ending) {
        struct th_process *first = timers.count ? timers.heap[1] : NULL;
        if (!first) {
            pthread_cond_wait(&timers.changed, &timers.lock);
        } else if (first->timer_due > th_runtime_timer_now()) {
            struct timespec due = {.tv_sec = first->timer_due / BILLION,
                                   .tv_nsec = first->timer_due % BILLION};
            pthread_cond_timedwait(&timers.changed, &timers.lock, &due);
        } else {
            timer_take_out(first);
            th_process_with(first->mailbox, th_runtime_mailbox_timed_out, first);
        }
    }
    pthread_mutex_unlock(&timers.lock);
    return NULL;
}

void th_runtime_timer_start(struct th_process *process, int64_t due)
{
    pthread_condattr_t attributes;
    int error;

    pthread_mutex_lock(&timers.lock);
    if (!timers.started) {
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&timers.changed, &attributes);
        pthread_condattr_destroy(&attributes);
        error = th_runtime_thread_create(&timers.thread, timer_run, NULL);
        if (error)
            th_give_up("cannot start a thread: %s", strerror(error));
        timers.started = true;
    }
    process->timer_due = due;
    process->has_timer = true;
    timers.count++;
    if (timers.count >= timers.capacity) {
        timers.capacity = timers.capacity ? 2 * timers.capacity : 64;
        timers.heap = th_realloc(timers.heap, timers.capacity * sizeof *timers.heap);
    }
    rise(timers.count, process);
    if (process->timer_place == 1)
        pthread_cond_signal(&timers.changed);
    pthread_mutex_unlock(&timers.lock);
}

void th_runtime_timer_stop(struct th_process *process)
{
    if (!process->has_timer)
        return;
    process->has_timer = false;
    pthread_mutex_lock(&timers.lock);
    if (process->timer_place)
        timer_take_out(process);
    pthread_mutex_unlock(&timers.lock);
}

void th_runtime_timers_end(void)
{
    pthread_mutex_lock(&timers.lock);
    if (!timers.started) {
        pthread_mutex_unlock(&timers.lock);
        return;
    }
    timers.ending = true;
    pthread_cond_signal(&timers.changed);
    pthread_mutex_unlock(&timers.lock);
    pthread_join(timers.thread, NULL);
    pthread_cond_destroy(&timers.changed);
    th_free(timers.heap);
    timers.heap = NULL;
    timers.capacity = 0;
    timers.started = timers.ending = false;
}
