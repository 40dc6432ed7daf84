/*
 * Threads of the host's own, and memory of a thread's own, behind a thread-local pointer.
 *
 * A thread-local array would count for the TLS segment of libtracehost.so, for which a program that
 * opens it with dlopen() has next to no room, and every thread of the program would have one.
 */
#ifndef TH_THREAD_START_H
#define TH_THREAD_START_H

#include <pthread.h>
#include <stddef.h>

/* pthread_create() of a thread that gets no signals: those that are sent to the program are for
 * others. It may unblock some for itself. ATTRIBUTES may be NULL. 0, or an errno. Any thread. */
int th_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                    void *(*run)(void *context), void *context);

/*
 * Allocates SIZE bytes of zeros for the calling thread, and stores their address in *PLACE, a
 * thread-local variable of the same thread that is NULL. When the thread ends, they are freed and
 * *PLACE is NULL again: what uses it later in the thread's end allocates anew.
 *
 * Errors: returns NULL if there is no memory; no error is raised.
 */
void *th_thread_memory(void **place, size_t size) __attribute__((cold));

#endif
