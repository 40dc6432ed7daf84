/*
 * The flushing thread of a tracer that writes while events come: live, the time of the next event
 * is unknown, and bytes in a buffer would be lost if the program is killed.
 */
#ifndef TRACER_OUTPUT_FLUSH_H
#define TRACER_OUTPUT_FLUSH_H

#include "output_file.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Written under the lock; unload writes, too, when no callback runs any more. */
static struct {
    pthread_mutex_t *lock;
    struct output_file *const *files; /* the first file, under the lock */
    ErlNifTid thread;
    pthread_cond_t changed; /* signalled when `ending` is set */
    bool runs, ending;      /* the thread exists, also under `output_flushing`; the thread shall
                               end */
    bool barred;            /* under `output_flushing`: no thread starts any more */
} flusher;

enum { OUTPUT_FLUSH_NS = 50 * 1000 * 1000 };

/* The thread holds this lock while it flushes; the end of the program takes it for ever: exit()
 * flushes files without their locks. */
static pthread_mutex_t output_flushing = PTHREAD_MUTEX_INITIALIZER;

/* Stops flushing for good, before the program ends. Waits at most a second, so that a reader that
 * blocks the thread does not block the end. Without a thread, this may be the unloading of the
 * tracer rather than the end of the program: then the lock is released, as its memory goes. */
__attribute__((destructor)) static void output_flush_no_more(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&output_flushing, &until) != 0)
        return;
    flusher.barred = true;
    if (!flusher.runs)
        pthread_mutex_unlock(&output_flushing);
}

/* Returns whether a flush of DESCRIPTOR would neither wait for the reader nor lack one: waiting,
 * and SIGPIPE, belong to the threads of the tracer. */
static inline bool output_is_ready(int descriptor)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLOUT};

    return poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT;
}

/* Flushes FILE. If its reader ends at this moment, the SIGPIPE of the failed write is blocked in this
 * thread, and is sent to the others. */
static inline void output_flush_file(FILE *file, int descriptor)
{
    if (output_is_ready(descriptor) && fflush(file) != 0 && errno == EPIPE)
        kill(getpid(), SIGPIPE);
}

/* Flushes stdout and the files from FILE on, without the lock, as files stay until the thread has
 * ended, closed ones, too.
 * Thread: the holder of `output_flushing`. */
static inline void output_flush(const struct output_file *file)
{
    output_flush_file(stdout, STDOUT_FILENO);
    for (; file; file = file->next)
        if (!file->whole)
            output_flush_file(file->file, file->descriptor);
}

static inline void *output_flush_again_and_again(void *unused)
{
    struct timespec until;

    pthread_mutex_lock(flusher.lock);
    while (!flusher.ending) {
        const struct output_file *first;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (until.tv_nsec + OUTPUT_FLUSH_NS) / 1000000000;
        until.tv_nsec = (until.tv_nsec + OUTPUT_FLUSH_NS) % 1000000000;
        pthread_cond_timedwait(&flusher.changed, flusher.lock, &until);
        first = *flusher.files;
        pthread_mutex_unlock(flusher.lock);
        pthread_mutex_lock(&output_flushing);
        output_flush(first);
        pthread_mutex_unlock(&output_flushing);
        pthread_mutex_lock(flusher.lock);
    }
    pthread_mutex_unlock(flusher.lock);
    return unused;
}

/* Starts the thread; LOCK protects FILES. Without memory for the thread, lines are written when a
 * buffer is full.
 * Thread: the holder of LOCK. */
static inline void output_start_flushing(pthread_mutex_t *lock, struct output_file *const *files)
{
    static char name[] = "flusher";
    pthread_condattr_t attributes;

    if (flusher.runs)
        return;
    flusher.lock = lock;
    flusher.files = files;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&flusher.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_lock(&output_flushing);
    flusher.runs =
        !flusher.barred &&
        enif_thread_create(name, &flusher.thread, output_flush_again_and_again, NULL, NULL) == 0;
    pthread_mutex_unlock(&output_flushing);
}

/* For unload: ends the thread. */
static inline void output_stop_flushing(void)
{
    if (!flusher.runs)
        return;
    pthread_mutex_lock(flusher.lock);
    flusher.ending = true;
    pthread_cond_signal(&flusher.changed);
    pthread_mutex_unlock(flusher.lock);
    enif_thread_join(flusher.thread, NULL);
    pthread_cond_destroy(&flusher.changed);
    pthread_mutex_lock(&output_flushing);
    flusher.runs = flusher.ending = false;
    pthread_mutex_unlock(&output_flushing);
}

#endif
