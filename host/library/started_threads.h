/*
 * Whether the threads that come to be while a library is opened are of its making.
 *
 * Others make threads in the meantime: this host, the program around it, libraries that run
 * already. Nobody tells a thread's maker, but a thread starts with its maker's I/O priority. So the
 * thread that opens a library takes one that no other has, and whoever has it afterwards is its
 * descendant. It is of the class that all threads are in, "best effort", at a level next to theirs;
 * it is of no effect but for the reading and writing of disks; and it is taken back. Libraries have
 * no reason to set one.
 *
 * There are eight levels. So as many threads may open libraries at once; others wait for one of
 * them, or, where that might last for ever, are told that threads may have been started.
 *
 * Any thread. Inner header of library/.
 */
#ifndef TH_LIBRARY_STARTED_THREADS_H
#define TH_LIBRARY_STARTED_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Threads, each with when it began, in ticks: the number may be another's later. Start it as {0}.
 */
struct th_threads {
    struct th_thread {
        long number;
        unsigned long long began;
    } * items;
    size_t count, capacity;
};

/* True if one of them has not ended. One that somebody has joined has ended. */
bool th_threads_run(const struct th_threads *threads);
void th_threads_free(struct th_threads *threads);

/* What the calling thread was marked with. */
struct th_started_threads {
    int before, mark; /* I/O priorities; mark 0: the system has none, or all are in use */
    bool crowded;     /* in use by others: nobody knows */
};

void th_started_threads_begin(struct th_started_threads *started);

/* By the same thread: ends it, and tells whether a thread has come to be since by its doing, or by
 * that of such a thread; appends those to THREADS. False where the system does not let us know. */
bool th_started_threads_end(const struct th_started_threads *started, struct th_threads *threads);

#endif
