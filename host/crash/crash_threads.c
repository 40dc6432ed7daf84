#include "crash_internal.h"

#include "host/self/self.h"
#include "host/trace/trace.h"

#include <stdatomic.h>
#include <unistd.h>

/* Held while the list is changed or looked at; nothing else is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_crash_thread *threads;
static _Thread_local struct th_crash_thread own;

void th_crash_threads_enter(void)
{
    own = (struct th_crash_thread){.thread = pthread_self(), .id = gettid(), .self = &th_self};
    pthread_mutex_lock(&lock);
    own.next = threads;
    own.place = &threads;
    if (threads)
        threads->place = &own.next;
    threads = &own;
    pthread_mutex_unlock(&lock);
}

void th_crash_threads_leave(void)
{
    pthread_mutex_lock(&lock);
    *own.place = own.next;
    if (own.next)
        own.next->place = own.place;
    pthread_mutex_unlock(&lock);
}

/* Both relaxed: a late view makes the watchdog late, and the thread itself looks before it reports.
 */
static uint64_t callbacks_of(const struct th_crash_thread *thread)
{
    return atomic_load_explicit(&thread->self->callbacks, memory_order_relaxed);
}

bool th_crash_thread_is_in(const struct th_crash_thread *thread)
{
    return __atomic_load_n(&thread->self->attachment, __ATOMIC_RELAXED) &&
           callbacks_of(thread) == thread->seen;
}

void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread))
{
    int64_t now = th_clock_real_monotonic();

    pthread_mutex_lock(&lock);
    for (struct th_crash_thread *t = threads; t; t = t->next) {
        bool done = false;
        if (pthread_equal(t->thread, spared))
            continue;
        if (th_crash_thread_is_in(t) && (t->since == INT64_MAX || !excused(t))) {
            if (now - t->since < nanoseconds)
                continue;
            done = ask(t);
        }
        t->seen = callbacks_of(t);
        t->since = done ? INT64_MAX : now;
    }
    pthread_mutex_unlock(&lock);
}

/* --- The process ------------------------------------------------------------------------------ */

static pid_t owner; /* the process that is guarded, not its children; set with the handlers */

void th_crash_own_process(void)
{
    owner = getpid();
}

bool th_crash_is_child(void)
{
    return getpid() != owner;
}

void th_crash_end_child(void)
{
    if (!th_crash_is_child())
        return;
    th_write_text(STDERR_FILENO,
                  "tracehost: a process that a library has forked came back to the host, and is "
                  "ended\n");
    _exit(TH_CRASHED);
}
