/* The process that is guarded; its threads that run code of libraries, as the watchdog sees them.
 * Inner header of trace/. */
#ifndef TH_CRASH_THREADS_H
#define TH_CRASH_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The calling thread is one; it is none any more. */
void th_crash_threads_enter(void);
void th_crash_threads_leave(void);

struct th_crash_thread {
    pthread_t thread;
    pid_t id;
    const struct th_callback *callback; /* the thread's */
    uint64_t seen;                      /* the watchdog's own, as what follows: its callbacks ... */
    int64_t since;                      /* ... and when it was in this one first */
    struct th_crash_thread *next, **place;
};

/*
 * One look at all of them but SPARED: ASK is called for a thread that has been in one callback for
 * NANOSECONDS, as far as former looks can tell; again when that time has passed once more, unless
 * it returned true. The time of a thread that is EXCUSED begins anew. By one thread. Nobody begins
 * or ends meanwhile.
 */
void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread));

/* The calling process is guarded, not its children. A child of a fork() is whoever's who made it:
 * how it ends says nothing of this program. */
void th_crash_own_process(void);
bool th_crash_is_child(void);

/* It is still in the callback that was seen. */
bool th_crash_thread_is_in(const struct th_crash_thread *thread);

#endif
