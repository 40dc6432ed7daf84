#include "run_limit.h"

#include "interrupt.h"

#include "host/term/term.h"

#include <string.h>

static const int64_t patience = 1000000000; /* nanoseconds, before a word on what is waited for */

static bool has_ended(const struct th_run_limit *limit)
{
    return atomic_load_explicit(&limit->ended, memory_order_relaxed);
}

static bool has_passed(struct th_run_limit *limit)
{
    bool passed;

    pthread_mutex_lock(&limit->lock);
    passed = limit->passed;
    pthread_mutex_unlock(&limit->lock);
    return passed;
}

static void stop(struct th_run_limit *limit)
{
    pthread_mutex_lock(&limit->lock);
    if (!limit->passed) {
        limit->stopped = true;
        limit->stop(limit->context);
    }
    pthread_mutex_unlock(&limit->lock);
}

/* A function that runs is not interrupted. */
static void tell_patience(const struct th_run_limit *limit)
{
    th_cli_interrupt_uninstall();
    fprintf(stderr,
            "tracehost %s: waiting for functions that run to return; a signal ends it at once\n",
            limit->command);
}

/* True: all has ended before DEADLINE. */
static bool ends_before(const struct th_run_limit *limit, int64_t deadline)
{
    while (!has_ended(limit) && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    return has_ended(limit);
}

/* If the call has ended, the lock brings what it has left behind. */
static void give_up(struct th_run_limit *limit)
{
    has_passed(limit);
    limit->give_up(limit->context);
}

static void watch_end(struct th_run_limit *limit)
{
    int64_t now = th_clock_real_monotonic();
    int64_t end = limit->grace < 0 ? INT64_MAX : now + limit->grace;

    if (end > now + patience) {
        if (ends_before(limit, now + patience))
            return;
        tell_patience(limit);
    }
    if (!ends_before(limit, end))
        give_up(limit);
}

static void *watch(void *context)
{
    struct th_run_limit *limit = context;
    int64_t deadline =
        limit->duration < 0 ? INT64_MAX : th_clock_real_monotonic() + limit->duration;

    while (!has_passed(limit) && !th_cli_interrupt_came() && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    stop(limit);
    watch_end(limit);
    return NULL;
}

enum th_status th_cli_run_limit_begin(struct th_run_limit *limit)
{
    int error;

    pthread_mutex_init(&limit->lock, NULL);
    error = pthread_create(&limit->thread, NULL, watch, limit);
    if (!error)
        return TH_OK;
    pthread_mutex_destroy(&limit->lock);
    return th_error_raise(TH_FAILED, "cannot start a thread: %s", strerror(error));
}

bool th_cli_run_limit_pass(struct th_run_limit *limit)
{
    bool stopped;

    pthread_mutex_lock(&limit->lock);
    limit->passed = true;
    stopped = limit->stopped;
    pthread_mutex_unlock(&limit->lock);
    th_cli_interrupt_wake();
    return !stopped;
}

void th_cli_run_limit_end(struct th_run_limit *limit)
{
    atomic_store_explicit(&limit->ended, true, memory_order_relaxed);
    th_cli_interrupt_wake();
    pthread_join(limit->thread, NULL);
    pthread_mutex_destroy(&limit->lock);
}
