#include "run_limit.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/runtime/runtime.h"

#include <unistd.h>

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

/* True: all has ended before DEADLINE. */
static bool ends_before(const struct th_run_limit *limit, int64_t deadline)
{
    while (!has_ended(limit) && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    return has_ended(limit);
}

static void show_hanging(void *context, const char *function)
{
    const struct th_run_limit *limit = context;

    fprintf(stderr, "tracehost %s: %s has not returned after %g s, and is not waited for\n",
            limit->command, function, (double)limit->grace / 1e9);
}

/* A function that runs is not interrupted. Nothing is ended that may be in use. */
static void watch_end(struct th_run_limit *limit)
{
    int64_t now = th_clock_real_monotonic();
    int64_t end = limit->grace < 0 ? INT64_MAX : now + limit->grace;

    if (end > now + patience) {
        if (ends_before(limit, now + patience))
            return;
        th_cli_interrupt_uninstall();
        fprintf(
            stderr,
            "tracehost %s: waiting for functions that run to return; a signal ends it at once\n",
            limit->command);
    }
    if (ends_before(limit, end))
        return;
    has_passed(limit); /* if the call has ended, the lock brings what it has left behind */
    if (limit->give_up)
        limit->give_up(limit->context);
    fflush(NULL);
    th_runtime_each_running(show_hanging, limit);
    _exit(th_cli_interrupt_status(TH_CRASHED));
}

static void *watch(void *context)
{
    struct th_run_limit *limit = context;
    int64_t deadline =
        limit->duration < 0 ? INT64_MAX : th_clock_real_monotonic() + limit->duration;

    while (!has_passed(limit) && !th_cli_interrupt_came() && th_clock_real_monotonic() < deadline)
        th_cli_interrupt_wait(deadline);
    pthread_mutex_lock(&limit->lock);
    if (!limit->passed) {
        limit->stopped = true;
        limit->stop(limit->context);
    }
    pthread_mutex_unlock(&limit->lock);
    watch_end(limit);
    return NULL;
}

enum th_status th_cli_run_limit_begin(struct th_run_limit *limit)
{
    enum th_status status;

    pthread_mutex_init(&limit->lock, NULL);
    status = th_cli_thread_start(&limit->thread, watch, limit);
    if (status != TH_OK)
        pthread_mutex_destroy(&limit->lock);
    return status;
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
