#include "crash.h"

#include "crash_internal.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/base/thread.h"
#include "host/library/load.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/callback.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE_NS = 800 * 1000 * 1000, /* time for a thread to answer; under a second */
    REPORT_SECONDS = 5,           /* time limit of a report */
    EVENT_BYTES = 4096,           /* of an event's text */
    LOOKS = 8                     /* of the watchdog, in the allowed time */
};

enum { CRASH_SIGNALS = 5 };
static const struct {
    int number;
    const char *text;
} crash_signals[CRASH_SIGNALS] = {
    {SIGSEGV, "SIGSEGV, a bad memory access"},      {SIGBUS, "SIGBUS, a bad memory access"},
    {SIGFPE, "SIGFPE, a bad arithmetic operation"}, {SIGILL, "SIGILL, a bad instruction"},
    {SIGABRT, "SIGABRT, it called abort()"},
};
static struct sigaction old_actions[CRASH_SIGNALS];

static const char *const *stream;   /* written by the guarded thread, read in its handlers */
static int64_t timeout;             /* nanoseconds; set before the watchdog starts */
static bool only_names;             /* a slow callback is named and continues; set likewise */
static const char *kind = "tracer"; /* word for a library; set before there are threads */
static pid_t guarded_id;
static pthread_t guarded;             /* its other library calls are watched, too */
static const struct th_self *watched; /* of the guarded thread */
/* Set by the guarded thread, read at exit. */
static volatile bool armed;
static bool others_may_exit;
/* Release: the function's data were written before; acquire. */
static void (*_Atomic restore)(void);

/* Relaxed, as no other data depend on them. `answers`: watchdog signals that threads have taken.
 * `reporting`: a report has begun, and other threads must not report. */
static _Atomic uint64_t answers;
static atomic_bool reporting;
static _Thread_local volatile bool reporter; /* the calling thread reports */

void th_crash_signals(sigset_t *signals)
{
    sigemptyset(signals);
    for (size_t i = 0; i < CRASH_SIGNALS; i++)
        sigaddset(signals, crash_signals[i].number);
}

/* Returns the index of signal NUMBER in `crash_signals`. */
static size_t signal_index(int number)
{
    size_t i = 0;

    while (i + 1 < CRASH_SIGNALS && crash_signals[i].number != number)
        i++;
    return i;
}

/* The code that ran at the crash. */
struct scene {
    const char *kind, *name, *function;
};

/* Returns the address of the subject on the stack. The subject of a call that a breakpoint in
 * machine code has met is in the thread's memory: then the stack pointer before the call. */
static uintptr_t address_of_subject(void)
{
    return th_self.subject ? (uintptr_t)th_self.subject : th_self.in_trace_hook;
}

/*
 * A lone call is no callback: load(), a destructor, a function that a process called. A callback
 * and a lone call can run within each other: a callback runs during a function that causes a live
 * event. Both have a struct on the stack, which grows down; so the lower address is the inner one.
 */
static struct scene look_at_scene(void)
{
    const struct th_library_frame *lone = th_self.library_frame;
    const char *tracer = th_trace_callback_tracer();

    if (th_self.attachment && (uintptr_t)lone >= address_of_subject())
        lone = NULL;
    return (struct scene){
        .kind = tracer ? "tracer" : kind,
        .name = tracer ? tracer : lone->library,
        .function = lone ? lone->function : th_trace_callback_name(),
    };
}

static void tell_signal(int number, const siginfo_t *info)
{
    struct scene scene = look_at_scene();
    char address[32] = "";

    if (number == TH_CRASH_TIMEOUT_SIGNAL) {
        th_write_text(STDERR_FILENO, "tracehost: %s '%s' hangs: %s took more than %g s\n",
                      scene.kind, scene.name, scene.function, (double)timeout / 1e9);
        return;
    }
    if (th_crash_stack_is_used_up(number, info))
        strcpy(address, ": the stack is used up");
    else if ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0)
        snprintf(address, sizeof address, " at address %p", info->si_addr);
    th_write_text(STDERR_FILENO, "tracehost: %s '%s' crashed: %s%s, in %s\n", scene.kind,
                  scene.name, crash_signals[signal_index(number)].text, address, scene.function);
}

static void restore_stderr(void)
{
    void (*function)(void) = atomic_load_explicit(&restore, memory_order_acquire);

    if (function)
        function();
}

static void give_up_report(int number)
{
    (void)number;
    _exit(TH_CRASHED);
}

/* Begins a report, limited to REPORT_SECONDS. There is only one report: another thread that crashes
 * meanwhile waits for its end; a second crash of the reporting thread ends it. */
static void begin_report(void)
{
    struct sigaction alarmed = {.sa_handler = give_up_report, .sa_flags = SA_NODEFER};
    sigset_t needed;

    if (reporter)
        _exit(TH_CRASHED);
    while (atomic_exchange_explicit(&reporting, true, memory_order_relaxed))
        pause();
    reporter = true;
    sigaction(SIGALRM, &alarmed, NULL);
    th_crash_signals(&needed);
    sigaddset(&needed, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &needed, NULL);
    alarm(REPORT_SECONDS);
    restore_stderr();
}

/* Completes a report after its first line. Never returns: the code that crashed cannot continue,
 * and the code that hangs will not. */
static _Noreturn void end_report(const void *context)
{
    static th_env env; /* static: decoding may need much memory */
    struct th_event *event = th_trace_callback_event();
    const struct th_library_frame *lone = th_self.library_frame;
    const char *name = stream ? *stream : NULL;
    const char *title = event ? th_trace_callback_session() : NULL;
    struct th_buffer text = {0};
    th_term tuple;

    if (title)
        th_write_text(STDERR_FILENO, "  session '%s'\n", title);
    if (event && event->number)
        th_write_text(STDERR_FILENO, "  record %llu, at byte %llu%s%s\n",
                      (unsigned long long)event->number, (unsigned long long)event->position,
                      name ? " of " : "",
                      !name                    ? ""
                      : strcmp(name, "-") == 0 ? "stdin"
                                               : name);
    fflush(NULL);
    if (event) {
        th_env_init(&env, TH_ENV_PLAIN);
        if (event->source->whole(event, &env, &tuple) == TH_OK) {
            th_text_show_limited(&text, tuple, EVENT_BYTES);
            th_write_text(STDERR_FILENO, "  event: %s\n", th_buffer_text(&text));
        }
    } else if (lone && lone->tell) {
        lone->tell(STDERR_FILENO, lone);
    }
    th_crash_walk(STDERR_FILENO, context);
    _exit(TH_CRASHED);
}

static bool in_tracer(void)
{
    return th_self.attachment || th_self.library_frame;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    bool of_another = info->si_code <= 0 && info->si_pid != getpid(); /* sent by another process */

    if (in_tracer() && !of_another && !th_crash_is_child()) {
        th_crash_note(TH_CRASH_SIGNAL, number, context);
        begin_report();
        tell_signal(number, info);
        end_report(context);
    }
    restore_stderr();
    /* Outside of libraries the signal has its former effect, when it happens again. */
    sigaction(number, &old_actions[signal_index(number)], NULL);
    if (info->si_code <= 0) /* a sent signal does not happen again by itself */
        raise(number);
}

/* Returns whether the end of the program, or a fork, comes from a library. */
static bool is_guarded(void)
{
    return armed && (!others_may_exit || in_tracer());
}

/* Otherwise the child would write the contents of stdio buffers again, when it calls exit(). */
static void before_fork(void)
{
    if (is_guarded() && !th_crash_is_child())
        fflush(NULL);
}

static void on_program_exit(int status, void *unused)
{
    (void)unused;
    if (!is_guarded() || th_crash_is_child() || th_has_given_up())
        return;
    armed = false;
    th_crash_note(TH_CRASH_EXIT, status, NULL);
    begin_report();
    if (in_tracer()) {
        struct scene scene = look_at_scene();
        th_write_text(STDERR_FILENO, "tracehost: %s '%s' ended the program: exit(%d), in %s\n",
                      scene.kind, scene.name, status, scene.function);
    } else {
        th_write_text(STDERR_FILENO, "tracehost: a thread of a %s ended the program: exit(%d)\n",
                      kind, status);
    }
    end_report(NULL);
}

static uint64_t calls_begun(void)
{
    return atomic_load_explicit(&watched->callbacks, memory_order_relaxed) +
           atomic_load_explicit(&watched->library_calls, memory_order_relaxed);
}

/* Returns whether the calling thread is still in the call that CALLS counted last. For threads
 * other than the guarded one only callbacks count: functions of processes have no time limit. */
static bool is_still_in(uint64_t calls)
{
    if (pthread_equal(pthread_self(), guarded))
        return in_tracer() && calls_begun() == calls;
    return th_self.attachment &&
           atomic_load_explicit(&th_self.callbacks, memory_order_relaxed) == calls;
}

/* The call that hangs may have ended just before the signal came. */
static void on_timeout(int number, siginfo_t *info, void *context)
{
    atomic_fetch_add_explicit(&answers, 1, memory_order_relaxed); /* only shows that the thread
                                                                     answers */
    if (reporter || !is_still_in((uint64_t)(uintptr_t)info->si_value.sival_ptr))
        return;
    if (only_names) {
        struct scene scene = look_at_scene();
        int error = errno;
        th_write_text(STDERR_FILENO,
                      "tracehost: %s '%s' is slow: %s has taken more than %g s, and goes on\n",
                      scene.kind, scene.name, scene.function, (double)timeout / 1e9);
        errno = error;
        return;
    }
    th_crash_note(TH_CRASH_HANG, 0, context);
    begin_report();
    tell_signal(number, info);
    end_report(context);
}

/* SA_RESTART, as a late timeout signal must not interrupt system calls. */
static void handle_signal(int number, void (*handler)(int, siginfo_t *, void *),
                          struct sigaction *old)
{
    struct sigaction action = {
        .sa_sigaction = handler,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
    };

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, old);
}

void th_crash_install(void)
{
    static bool told_at_exit, told_of_forks; /* registered for ever */

    th_crash_thread_begin();
    guarded = pthread_self();
    guarded_id = gettid();
    th_crash_owner = getpid();
    watched = &th_self;
    armed = true;
    if (!told_at_exit)
        told_at_exit = on_exit(on_program_exit, NULL) == 0;
    if (!told_of_forks)
        told_of_forks = pthread_atfork(before_fork, NULL, NULL) == 0;
    for (size_t i = 0; i < CRASH_SIGNALS; i++)
        handle_signal(crash_signals[i].number, on_crash, &old_actions[i]);
}

void th_crash_end(void)
{
    armed = false;
}

void th_crash_set_restore(void (*function)(void))
{
    atomic_store_explicit(&restore, function, memory_order_release);
}

void th_crash_allow_exit(void)
{
    others_may_exit = true;
}

void th_crash_remove(void)
{
    th_crash_end();
    others_may_exit = false;
    for (size_t i = 0; i < CRASH_SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(crash_signals[i].number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_crash)
            sigaction(crash_signals[i].number, &old_actions[i], NULL);
    }
    th_crash_thread_end();
}

/* Reports a thread that blocks all signals and so cannot report where it is: only a tracer does
 * that. */
static _Noreturn void report_deaf(const char *whose)
{
    th_crash_note(TH_CRASH_HANG, 0, NULL);
    begin_report();
    th_write_text(STDERR_FILENO,
                  "tracehost: a %s hangs: it took more than %g s, and has blocked all signals\n",
                  whose, (double)timeout / 1e9);
    fflush(NULL);
    _exit(TH_CRASHED);
}

/* Asks THREAD to report if it is still in the call that CALLS counted, and waits for an answer.
 * Returns false if there is none. */
static bool ask_thread(pthread_t thread, uint64_t calls)
{
    struct timespec nap = {0, GRACE_NS / LOOKS};
    uint64_t before = atomic_load_explicit(&answers, memory_order_relaxed);

    pthread_sigqueue(thread, TH_CRASH_TIMEOUT_SIGNAL, (union sigval){.sival_ptr = (void *)calls});
    for (int i = 0; i < LOOKS; i++) {
        nanosleep(&nap, NULL);
        if (atomic_load_explicit(&answers, memory_order_relaxed) != before)
            return true;
    }
    return atomic_load_explicit(&reporting, memory_order_relaxed);
}

/* Returns whether the thread ID is in a system call that writes, and so may wait for a reader such
 * as a pager. False if the kernel does not report system calls. */
static bool waits_for_reader(pid_t id)
{
    char path[64];
    long call = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)id);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (fscanf(file, "%ld", &call) != 1)
        call = -1;
    fclose(file);
    return call == SYS_write || call == SYS_writev;
}

/* A slow thread is named only for its working time; writing does not count. */
static bool is_excused(const struct th_crash_thread *thread)
{
    return only_names && waits_for_reader(thread->id);
}

static bool ask_other(const struct th_crash_thread *thread)
{
    if (!ask_thread(thread->thread, thread->seen) && th_crash_thread_is_in(thread) && !only_names)
        report_deaf("tracer");
    return only_names;
}

/*
 * Checks at intervals whether the guarded thread is still in the same call, and other threads in
 * the same callback. Reads are relaxed: an old value only causes a delay, and the thread checks
 * again before it reports.
 */
static void *watch_threads(void *unused)
{
    int64_t pause = timeout / LOOKS;
    struct timespec nap = {pause / 1000000000, pause % 1000000000};
    uint64_t seen = 0;
    int64_t since = th_clock_real_monotonic();

    (void)unused;
    while (!atomic_load_explicit(&reporting, memory_order_relaxed)) {
        uint64_t now = calls_begun();
        if (now != seen || (only_names && since != INT64_MAX && waits_for_reader(guarded_id))) {
            seen = now;
            since = th_clock_real_monotonic();
        } else if (seen && th_clock_real_monotonic() - since >= timeout) {
            if (!ask_thread(guarded, seen) && calls_begun() == seen && !only_names)
                report_deaf(kind);
            /* A thread that is only named is not asked again; others are, after the same time. */
            since = only_names ? INT64_MAX : th_clock_real_monotonic();
        }
        th_crash_threads_look(guarded, timeout, is_excused, ask_other);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

enum th_status th_crash_set_timeout(int64_t nanoseconds, bool ends)
{
    pthread_t watchdog;
    int error;

    only_names = !ends;
    timeout = nanoseconds < LOOKS ? LOOKS : nanoseconds;
    handle_signal(TH_CRASH_TIMEOUT_SIGNAL, on_timeout, NULL);
    error = th_thread_start(&watchdog, NULL, watch_threads, NULL);
    if (error)
        return th_error_raise(TH_FAILED, "cannot start the watchdog thread: %s", strerror(error));
    pthread_detach(watchdog);
    return TH_OK;
}

void th_crash_set_stream(const char *const *name)
{
    stream = name;
}

void th_crash_set_kind(const char *name)
{
    kind = name;
}
