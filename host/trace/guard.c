#include "guard.h"

#include "tracing.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    REPORT_SECONDS = 5,       /* what the useful part of a report may take */
    STACK_BYTES = 512 * 1024, /* for the handler; the printers are iterative */
    EVENT_BYTES = 4096,       /* of an event's text */
    TIMEOUT_SIGNAL =
        SIGVTALRM, /* from the watchdog to the thread that hangs; nobody here sets that timer */
    LOOKS = 8      /* of the watchdog, in the time allowed */
};

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction old_actions[sizeof crash_signals / sizeof crash_signals[0]];

static const char *stream; /* written by the guarded thread, read in its handlers */
static int64_t timeout;    /* nanoseconds; set before the watchdog starts */
static pthread_t guarded;
static struct th_callback *watched; /* the guarded thread's */

static const char *signal_text(int number)
{
    switch (number) {
    case SIGSEGV:
        return "crashed: SIGSEGV, a bad memory access";
    case SIGBUS:
        return "crashed: SIGBUS, a bad memory access";
    case SIGFPE:
        return "crashed: SIGFPE, a bad arithmetic operation";
    case SIGILL:
        return "crashed: SIGILL, a bad instruction";
    default:
        return "crashed: SIGABRT, it called abort()";
    }
}

/* NUMBER is a signal, 0 for a call of exit(). */
static void report_who(const char *tracer, const char *function, int number, const siginfo_t *info)
{
    dprintf(STDERR_FILENO, "tracehost: tracer '%s' ", tracer);
    if (number == 0)
        dprintf(STDERR_FILENO, "called exit() in %s\n", function);
    else if (number == TIMEOUT_SIGNAL)
        dprintf(STDERR_FILENO, "hangs: %s took more than %g s\n", function, (double)timeout / 1e9);
    else if (number == SIGSEGV || number == SIGBUS)
        dprintf(STDERR_FILENO, "%s at address %p, in %s\n", signal_text(number), info->si_addr,
                function);
    else
        dprintf(STDERR_FILENO, "%s, in %s\n", signal_text(number), function);
}

static void report_where(const struct th_event *event)
{
    if (event->number)
        dprintf(STDERR_FILENO, "  record %llu, at byte %llu%s%s\n",
                (unsigned long long)event->number, (unsigned long long)event->position,
                stream ? " of " : "", stream ? stream : "");
}

static void report_event(struct th_event *event)
{
    static th_env env; /* not on this stack: decoding may need much */
    struct th_buffer text = {0};
    th_term tuple;

    th_env_init(&env, TH_ENV_PLAIN);
    if (event->source->whole(event, &env, &tuple) != TH_OK)
        return;
    th_text_print_limited(&text, tuple, EVENT_BYTES);
    dprintf(STDERR_FILENO, "  event: %s\n", th_buffer_text(&text));
}

static void give_up(int number)
{
    (void)number;
    _exit(TH_CRASHED);
}

/* Never returns: the code that crashed cannot go on, and that which hangs will not. */
static void report(int number, siginfo_t *info, void *context)
{
    struct th_callback *callback = &th_callback_current;
    struct th_session *session = callback->session;
    const struct th_library_call *lone = th_library_running; /* load(), a destructor, ... */
    const char *tracer = session ? session->name : lone->library;
    const char *function = lone ? lone->function : th_callback_name();
    struct sigaction alarmed = {.sa_handler = give_up, .sa_flags = SA_NODEFER};
    sigset_t alarms;

    (void)context;
    sigaction(SIGALRM, &alarmed, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    callback->session = NULL; /* a further crash is one of this report */
    report_who(tracer, function, number, info);
    alarm(REPORT_SECONDS);
    if (session && callback->event)
        report_where(callback->event);
    fflush(NULL);
    if (session && callback->event)
        report_event(callback->event);
    _exit(TH_CRASHED);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (th_callback_current.session || th_library_running)
        report(number, info, context);
    /* Not a tracer's: do what would have been done without this handler, when it happens again. */
    for (size_t i = 0; i < sizeof crash_signals / sizeof crash_signals[0]; i++)
        if (crash_signals[i] == number)
            sigaction(number, &old_actions[i], NULL);
    if (info->si_code <= 0) /* sent, not met: it does not happen again by itself */
        raise(number);
}

/* The callback may have ended just before the signal came. */
static void on_timeout(int number, siginfo_t *info, void *context)
{
    if (th_callback_current.session &&
        atomic_load_explicit(&th_callback_current.sequence, memory_order_relaxed) ==
            (uint64_t)(uintptr_t)info->si_value.sival_ptr)
        report(number, info, context);
}

/* Tracers are guests: one that ends the program is no better than one that crashes. */
static void on_exit_call(int status, void *unused)
{
    (void)status;
    if (th_callback_current.session || th_library_running)
        report(0, NULL, unused);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), struct sigaction *old)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, old);
}

void th_guard_install(void)
{
    static char stack[STACK_BYTES];

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    guarded = pthread_self();
    watched = &th_callback_current;
    for (size_t i = 0; i < sizeof crash_signals / sizeof crash_signals[0]; i++)
        handle(crash_signals[i], on_crash, &old_actions[i]);
    on_exit(on_exit_call, NULL);
}

static int64_t monotonic_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Looks again and again whether the guarded thread is still in the same callback. It reads
 * `sequence` relaxed: a late view only makes it late, and the thread itself checks before it
 * reports.
 */
static void *watch(void *unused)
{
    int64_t pause = timeout / LOOKS;
    struct timespec nap = {pause / 1000000000, pause % 1000000000};
    uint64_t seen = 0;
    int64_t since = monotonic_now();

    (void)unused;
    for (;;) {
        uint64_t now = atomic_load_explicit(&watched->sequence, memory_order_relaxed);
        if (now != seen) {
            seen = now;
            since = monotonic_now();
        } else if (seen && monotonic_now() - since >= timeout) {
            pthread_sigqueue(guarded, TIMEOUT_SIGNAL, (union sigval){.sival_ptr = (void *)seen});
            since = monotonic_now();
        }
        nanosleep(&nap, NULL);
    }
    return NULL;
}

enum th_status th_guard_set_timeout(int64_t nanoseconds)
{
    pthread_t watchdog;
    sigset_t all, old;
    int error;

    timeout = nanoseconds < LOOKS ? LOOKS : nanoseconds;
    handle(TIMEOUT_SIGNAL, on_timeout, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* no signal is for the watchdog */
    error = pthread_create(&watchdog, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        return th_error_raise(TH_FAILED, "cannot start the watchdog thread: %s", strerror(error));
    pthread_detach(watchdog);
    return TH_OK;
}

void th_guard_set_stream(const char *name)
{
    stream = name;
}
