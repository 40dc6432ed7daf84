#include "interrupt.h"

#include "host/base/output.h"
#include "host/base/thread.h"
#include "host/crash/crash.h"

#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

volatile int th_cli_interrupted;
const int th_cli_interrupt_signals[TH_INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static sem_t news; /* posted at each signal and each wake-up */
/* A further function to call; the release store publishes its data, the acquire load makes them
 * visible. */
static void (*tell)(void);

/* A second signal, of any of the three numbers, ends the program at once; incomplete files are
 * removed. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (th_crash_is_repeated(number, info))
        return;
    if (th_cli_interrupted > 0) {
        th_output_remove_unfinished();
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    __atomic_store_n(&th_cli_interrupted, number, __ATOMIC_RELAXED); /* a flag without data */
    th_cli_interrupt_wake();
}

/* A child that a library has forked must not continue its parent's work. */
static void interrupt_in_child(void)
{
    th_cli_interrupted = TH_INTERRUPT_STOP;
}

void th_cli_interrupt_install(void)
{
    static bool told_of_forks; /* registered once for the program's life */
    struct sigaction old;

    if (!told_of_forks)
        told_of_forks = pthread_atfork(NULL, NULL, interrupt_in_child) == 0;
    th_output_stop = &th_cli_interrupted;
    sem_init(&news, 0, 0);
    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        th_cli_interrupt_handle(th_cli_interrupt_signals[i], on_signal, &old);
}

void th_cli_interrupt_handle(int number,
                             void (*handler)(int number, siginfo_t *info, void *context),
                             struct sigaction *old)
{
    const struct sigaction action = {
        .sa_sigaction = handler,
        .sa_flags = SA_SIGINFO | SA_RESTART, /* tracers need not handle EINTR */
    };

    if (sigaction(number, NULL, old) == 0 && old->sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void th_cli_interrupt_stop_program(void)
{
    struct sigaction ours, by_default = {.sa_handler = SIG_DFL};
    sigset_t stop, mask;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigaction(SIGTSTP, &by_default, &ours);
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, &mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &ours, NULL);
}

void th_cli_interrupt_uninstall(void)
{
    struct sigaction old;

    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        if (sigaction(th_cli_interrupt_signals[i], NULL, &old) == 0 &&
            old.sa_sigaction == on_signal)
            signal(th_cli_interrupt_signals[i], SIG_DFL);
}

void th_cli_interrupt_hold(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        sigaddset(&held, th_cli_interrupt_signals[i]);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

void th_cli_interrupt_wait(int64_t deadline)
{
    enum { SECOND = 1000 * 1000 * 1000 };
    struct timespec until = {deadline / SECOND, deadline % SECOND};

    sem_clockwait(&news, CLOCK_MONOTONIC, &until);
}

void th_cli_interrupt_wake(void)
{
    void (*function)(void) = __atomic_load_n(&tell, __ATOMIC_ACQUIRE);

    sem_post(&news);
    if (function)
        function();
}

void th_cli_interrupt_report(void (*function)(void))
{
    __atomic_store_n(&tell, function, __ATOMIC_RELEASE);
}

/* Does not overwrite a signal that came before. */
void th_cli_interrupt_stop(void)
{
    int none = 0;

    __atomic_compare_exchange_n(&th_cli_interrupted, &none, TH_INTERRUPT_STOP, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    th_cli_interrupt_wake();
}

int th_cli_interrupt_came(void)
{
    return __atomic_load_n(&th_cli_interrupted, __ATOMIC_RELAXED);
}

const char *th_cli_interrupt_name(void)
{
    int came = th_cli_interrupt_came();

    return came == TH_INTERRUPT_STOP ? "a request to stop"
           : came == SIGINT          ? "SIGINT"
           : came == SIGTERM         ? "SIGTERM"
                                     : "SIGHUP";
}

static void *explain_later(void *command)
{
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    th_write_text(STDERR_FILENO,
                  "tracehost %s: received %s; tracers write their remaining output; another signal "
                  "ends the program at once\n",
                  (const char *)command, th_cli_interrupt_name());
    return NULL;
}

void th_cli_interrupt_explain(const char *command)
{
    pthread_t thread;

    if (th_cli_interrupt_came() > 0 &&
        th_thread_start(&thread, NULL, explain_later, (void *)(uintptr_t)command) == 0)
        pthread_detach(thread);
}

int th_cli_interrupt_status(int status)
{
    return th_cli_interrupt_came() > 0 ? 128 + th_cli_interrupt_came() : status;
}
