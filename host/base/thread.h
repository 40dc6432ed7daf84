/*
 * Threads of the host's own.
 */
#ifndef TH_THREAD_START_H
#define TH_THREAD_START_H

#include <pthread.h>

/* pthread_create() of a thread that gets no signals: those that are sent to the program are for
 * others. It may unblock some for itself. ATTRIBUTES may be NULL. 0, or an errno. Any thread. */
int th_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                    void *(*run)(void *context), void *context);

#endif
