/*
 * What ends a run that does not end by itself: a time that has passed, or a signal.
 *
 *   th_cli_run_limit_begin(&limit);
 *   ... the call ...
 *   if (!th_cli_run_limit_pass(&limit))      it was stopped
 *   ... others end ...
 *   th_cli_run_limit_end(&limit);
 */
#ifndef TH_RUN_LIMIT_H
#define TH_RUN_LIMIT_H

#include "host/base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct th_run_limit {
    const char *command; /* for messages */
    int64_t duration;    /* nanoseconds; below 0: none */
    /* Has the call end, soon: called at most once, by a thread of the limit's own, before
     * th_cli_run_limit_pass() returns. */
    void (*stop)(void *context);
    /* From when it was stopped or has ended on, nanoseconds; below 0: for ever. Then, if not all
     * has ended, it is given up: by the same thread, which names the functions that hang and ends
     * the program. The function is called before; NULL: nothing is. */
    int64_t grace;
    void (*give_up)(void *context);
    void *context;

    pthread_t thread;
    pthread_mutex_t
        lock; /* around the look at `passed` and `stop`, and the writing of both below */
    bool passed, stopped;
    atomic_bool ended; /* relaxed: th_cli_interrupt_wake() comes after it */
};

/* Begins to wait, after th_cli_interrupt_install(). TH_FAILED if there is no thread for it. */
enum th_status th_cli_run_limit_begin(struct th_run_limit *limit);

/* The call has ended: it is not stopped any more. False if it was. */
bool th_cli_run_limit_pass(struct th_run_limit *limit);

/* All has ended. Until then, and for the time since the call was stopped or has ended, it says what
 * is waited for, if that is long; and gives it up. */
void th_cli_run_limit_end(struct th_run_limit *limit);

#endif
