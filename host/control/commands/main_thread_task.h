/*
 * Errands: what a thread asks of another, which works, and looks between two pieces of its work
 * whether anybody wants anything.
 *
 *   status = th_between_ask(&between, errand, argument);      the one
 *   th_between_look(&between);                                the other, now and then
 *   th_between_end(&between);                                it does not look any more
 */
#ifndef TH_BETWEEN_H
#define TH_BETWEEN_H

#include "host/base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct th_errand;

struct th_between {
    pthread_mutex_t lock;
    pthread_cond_t done; /* ->asked is NULL again, or `ended` */
    /* Written under the lock. Relaxed: who sees one takes the lock to look at it. */
    struct th_errand *_Atomic asked;
    bool ended;
};

void th_between_begin(struct th_between *between);

/* Has the other thread call ERRAND(ARGUMENT), and waits for its end; what it returns, with its
 * chain. TH_FAILED if the other thread does not look for TH_BETWEEN_PATIENCE seconds, or has ended:
 * then ERRAND is not called. One thread at a time. */
enum { TH_BETWEEN_PATIENCE = 5 };
enum th_status th_between_ask(struct th_between *between, enum th_status (*errand)(void *argument),
                              void *argument);

void th_between_do(struct th_between *between);
static inline void th_between_look(struct th_between *between)
{
    if (__builtin_expect(atomic_load_explicit(&between->asked, memory_order_relaxed) != NULL, 0))
        th_between_do(between);
}

/* Whoever asks is told so. */
void th_between_end(struct th_between *between);

#endif
