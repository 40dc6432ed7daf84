/*
 * Threads that the host starts; memory of one thread behind a thread-local pointer; counts of one
 * thread.
 *
 * A thread-local array would count for the TLS segment of libtracehost.so. A program that opens the
 * library with dlopen() has next to no room for that segment, and every thread of the program would
 * get the array.
 */
#ifndef TH_THREAD_START_H
#define TH_THREAD_START_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Creates a thread, as pthread_create(), that blocks all signals, so that other threads handle the
 * signals of the program. The thread may unblock some itself. ATTRIBUTES may be NULL. Returns 0 or
 * an errno. Any thread. */
int th_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                    void *(*run)(void *context), void *context);

/*
 * Allocates SIZE bytes of zeros for the calling thread and stores their address in *PLACE, a
 * thread-local variable of the same thread, which is NULL.
 *
 * Owner: when the thread ends, the memory is freed and *PLACE is NULL again. Code that runs later
 * at the thread's end allocates anew.
 * Errors: returns NULL if there is no memory, and raises no error. Gives up if the process has no
 * thread-specific key left.
 */
void *th_thread_memory(void **place, size_t size) __attribute__((cold));

/*
 * Adds 1 to *WORD, which only the calling thread writes. Relaxed: other threads read the word at any
 * time; a reader that must see certain counts waits for the thread by other means.
 *
 * One instruction, where the processor has one for this: a compiler makes three of an atomic load
 * and an atomic store. A signal handler of the same thread can then count as well.
 */
static inline void th_thread_count(_Atomic uint64_t *word)
{
#ifdef __x86_64__
    __asm__ volatile("addq $1, %0" : "+m"(*word) : : "cc");
#else
    atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + 1,
                          memory_order_relaxed);
#endif
}

#endif
