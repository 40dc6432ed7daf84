#include "crash.h"

#include "crash_internal.h"

#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/base/thread.h"
#include "host/term/clock.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE_NS = 800 * 1000 * 1000, /* time for a thread to answer; under a second */
    LOOKS = 8                     /* of the watchdog, in the allowed time */
};

const int th_crash_signals[TH_CRASH_SIGNALS] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                                SIGABRT, SIGTRAP, SIGSYS, SIGXCPU};

static struct sigaction old_actions[NSIG];
static bool handled[NSIG]; /* the guard has installed a handler */

static struct th_crash_facts own_facts = {.kind = "tracer"};
static int64_t timeout; /* nanoseconds; set before the watchdog starts */
static bool only_names; /* a slow callback is named and continues; set likewise */
static pid_t guarded_id;
static pthread_t guarded;             /* its other library calls are watched, too */
static const struct th_self *watched; /* of the guarded thread */
/* Set by the guarded thread, read at exit. */
static volatile bool armed;
static bool others_may_exit;
/* Release: the function's data were written before; acquire. */
static void (*_Atomic restore)(void);
/* Relaxed, as no other data depend on it: watchdog signals that threads have taken. */
static _Atomic uint64_t answers;

struct th_crash_facts *th_crash_facts(void)
{
    struct th_crash_page *page = th_crash_page();

    return page ? &page->facts : &own_facts;
}

void th_crash_signal_set(sigset_t *signals)
{
    sigemptyset(signals);
    for (size_t i = 0; i < TH_CRASH_SIGNALS; i++)
        sigaddset(signals, th_crash_signals[i]);
}

/* --- Reports ---------------------------------------------------------------------------------- */

/* Makes stderr visible. */
static void call_restore(void)
{
    void (*function)(void) = atomic_load_explicit(&restore, memory_order_acquire);

    if (function)
        function();
}

static void begin_report(void)
{
    th_crash_begin_report();
    call_restore();
}

/* Writes the first line: SUBJECT is "tracer 'x'" with its kind, VERB and FORMAT what it did. */
static void write_scene(const struct th_self *self, const char *did)
{
    struct th_crash_scene scene = th_crash_scene_of(self, th_crash_facts());

    th_crash_note_report(did, th_write_text(STDERR_FILENO, "tracehost: %s '%s' %s, in %s\n",
                                            scene.kind, scene.name, did, scene.function));
}

static void write_hang(const struct th_self *self, const char *further)
{
    struct th_crash_scene scene = th_crash_scene_of(self, th_crash_facts());

    th_crash_note_report(
        "hangs",
        th_write_text(STDERR_FILENO, "tracehost: %s '%s' hangs: %s took more than %g s%s\n",
                      scene.kind, scene.name, scene.function, (double)timeout / 1e9, further));
}

/* Writes "crashed: SIGSEGV, a bad memory access at address 0x10" to TEXT. */
static void describe_crash(int number, const siginfo_t *info, char *text, size_t size)
{
    char signal[80];

    th_crash_describe_signal(number, signal, sizeof signal);
    if (th_crash_stack_is_used_up(number, info))
        snprintf(text, size, "crashed: %s: the stack is used up", signal);
    else if ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0)
        snprintf(text, size, "crashed: %s at address %p", signal, info->si_addr);
    else
        snprintf(text, size, "crashed: %s", signal);
}

static void find_culprit(void *found)
{
    *(const char **)found = th_crash_culprit();
}

/* Reports a crash of a library's code outside of calls by the host: in a thread that the library
 * has started, in its signal handler. Returns if the stack shows no such code. */
static void report_stray(int number, const void *context, const char *did)
{
    const char *file = NULL;

    th_crash_begin_report();
    th_crash_try(th_crash_unwind, (void *)(uintptr_t)context);
    th_crash_try(find_culprit, &file);
    if (!file) {
        th_crash_abandon_report();
        return;
    }
    th_crash_note(TH_CRASH_SIGNAL, number, &th_self, context);
    call_restore();
    th_crash_note_report(did, th_write_text(STDERR_FILENO, "tracehost: %s of %s %s\n",
                                            th_self.id ? "code" : "a thread", file, did));
    th_crash_end_report(&th_self, context);
}

/* Returns whether another process has sent the signal. */
static bool is_sent(const siginfo_t *info)
{
    return (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL) &&
           info->si_pid != getpid();
}

/* Returns whether a fault happens again by itself when its handler returns. */
static bool happens_again(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    struct th_crash_page *page = th_crash_page();
    char did[160];

    if (!is_sent(info) && !th_crash_is_child()) {
        describe_crash(number, info, did, sizeof did);
        if (th_crash_is_in_library(&th_self)) {
            th_crash_note(TH_CRASH_SIGNAL, number, &th_self, context);
            begin_report();
            th_crash_end_repeated(number, context);
            write_scene(&th_self, did);
            th_crash_end_report(&th_self, context);
        }
        report_stray(number, context, did);
    } else if (page && !th_crash_is_child()) {
        page->sent = number;
    }
    call_restore();
    /* The signal has its former effect, when it happens again. */
    sigaction(number, &old_actions[number], NULL);
    if (info->si_code <= 0 || !happens_again(number))
        raise(number);
}

/* Returns whether the end of the program, or a fork, comes from a library. */
static bool is_guarded(void)
{
    return armed && (!others_may_exit || th_crash_is_in_library(&th_self));
}

/* Otherwise the child would write the contents of stdio buffers again, when it calls exit(). */
static void before_fork(void)
{
    if (is_guarded() && !th_crash_is_child())
        fflush(NULL);
}

static bool may_report_end(void)
{
    return is_guarded() && !th_crash_is_child() && !th_has_given_up();
}

static _Noreturn void report_program_end(const char *did)
{
    armed = false;
    th_crash_note(TH_CRASH_EXIT, 0, &th_self, NULL);
    begin_report();
    if (th_crash_is_in_library(&th_self))
        write_scene(&th_self, did);
    else
        th_crash_note_report(did, th_write_text(STDERR_FILENO, "tracehost: a thread of a %s %s\n",
                                                th_crash_facts()->kind, did));
    th_crash_end_report(&th_self, NULL);
}

static void on_program_exit(int status, void *unused)
{
    char did[64];

    (void)unused;
    if (!may_report_end())
        return;
    snprintf(did, sizeof did, "ended the program: exit(%d)", status);
    report_program_end(did);
}

static void on_quick_exit(void)
{
    if (may_report_end())
        report_program_end("ended the program: quick_exit()");
}

/* --- Installation ----------------------------------------------------------------------------- */

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

/* Under a supervisor the guard reports each signal that would end the program without a word. Others
 * are left to the terminal and to the user, or end nothing. */
void th_crash_handle_further_signals(void)
{
    static const int left[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGPIPE,
                               SIGCHLD, SIGCONT,  SIGTSTP, SIGTTIN, SIGTTOU,
                               SIGURG,  SIGWINCH, SIGKILL, SIGSTOP, TH_CRASH_TIMEOUT_SIGNAL};
    struct sigaction now;
    sigset_t others;

    sigfillset(&others); /* without the C library's own signals */
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        sigdelset(&others, left[i]);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&others, number) == 1 && !handled[number] &&
            sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            handle_signal(number, on_crash, &old_actions[number]);
            handled[number] = true;
        }
}

/* A thread has ended, by pthread_exit() or likewise, in code of a library. */
static void report_lost_thread(const struct th_self *self)
{
    if (!armed || th_crash_is_child())
        return;
    th_crash_note(TH_CRASH_EXIT, 0, self, NULL);
    begin_report();
    write_scene(self, "ended its thread");
    th_crash_end_report(self, NULL);
}

void th_crash_install(void)
{
    static bool told_at_exit, told_of_forks; /* registered for ever */

    th_crash_thread_lost = report_lost_thread;
    th_crash_thread_begin();
    guarded = pthread_self();
    guarded_id = gettid();
    th_crash_owner = getpid();
    watched = &th_self;
    armed = true;
    if (!told_at_exit)
        told_at_exit = on_exit(on_program_exit, NULL) == 0 && at_quick_exit(on_quick_exit) == 0;
    if (!told_of_forks)
        told_of_forks = pthread_atfork(before_fork, NULL, NULL) == 0;
    for (size_t i = 0; i < TH_CRASH_SIGNALS; i++) {
        handle_signal(th_crash_signals[i], on_crash, &old_actions[th_crash_signals[i]]);
        handled[th_crash_signals[i]] = true;
    }
    if (th_crash_is_supervised())
        th_crash_handle_further_signals();
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
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        if (handled[number] && sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_crash)
            sigaction(number, &old_actions[number], NULL);
        handled[number] = false;
    }
    th_crash_thread_end();
}

/* --- The watchdog ----------------------------------------------------------------------------- */

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
        return th_crash_is_in_library(&th_self) && calls_begun() == calls;
    return th_self.attachment &&
           atomic_load_explicit(&th_self.callbacks, memory_order_relaxed) == calls;
}

/* The call that hangs may have ended just before the signal came. */
static void on_timeout(int number, siginfo_t *info, void *context)
{
    (void)number;
    atomic_fetch_add_explicit(&answers, 1, memory_order_relaxed); /* only shows that the thread
                                                                     answers */
    if (th_crash_is_reporting() || !is_still_in((uint64_t)(uintptr_t)info->si_value.sival_ptr))
        return;
    if (only_names) {
        struct th_crash_scene scene = th_crash_scene_of(&th_self, th_crash_facts());
        int error = errno;
        th_write_text(STDERR_FILENO,
                      "tracehost: %s '%s' is slow: %s has taken more than %g s, and goes on\n",
                      scene.kind, scene.name, scene.function, (double)timeout / 1e9);
        errno = error;
        return;
    }
    th_crash_note(TH_CRASH_HANG, 0, &th_self, context);
    begin_report();
    write_hang(&th_self, "");
    th_crash_end_report(&th_self, context);
}

/* Copies SELF of a thread that does not change it, as it hangs. Nothing orders the thread's last
 * stores before these loads, so the thread sanitizer does not watch them. */
static __attribute__((noinline, no_sanitize("thread"))) void copy_self(struct th_self *to,
                                                                       const struct th_self *self)
{
    const volatile long *from = (const volatile long *)self;
    long *words = (long *)to;

    for (size_t i = 0; i < sizeof *to / sizeof *words; i++)
        words[i] = from[i];
}

/* Reports the thread of SELF, which blocks all signals and so cannot report where it is: only a
 * library does that. */
static _Noreturn void report_deaf(const struct th_self *self)
{
    struct th_self seen;

    copy_self(&seen, self);
    th_crash_note(TH_CRASH_HANG, 0, &seen, NULL);
    begin_report();
    write_hang(&seen, ", and has blocked all signals");
    th_crash_end_report(&seen, NULL);
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
    return th_crash_is_reporting();
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
        report_deaf(thread->self);
    return only_names;
}

/*
 * Checks at intervals whether the guarded thread is still in the same call, and other threads in
 * the same callback. Reads are relaxed: an old value only causes a delay, and the thread checks
 * again before it reports.
 */
static void *watch_threads(void *begun)
{
    int64_t pause = timeout / LOOKS;
    struct timespec nap = {pause / 1000000000, pause % 1000000000};
    uint64_t seen = 0;
    int64_t since = th_clock_real_monotonic();

    sem_post(begun);
    while (!th_crash_is_reporting()) {
        uint64_t now = calls_begun();
        if (now != seen || (only_names && since != INT64_MAX && waits_for_reader(guarded_id))) {
            seen = now;
            since = th_clock_real_monotonic();
        } else if (seen && th_clock_real_monotonic() - since >= timeout) {
            if (!ask_thread(guarded, seen) && calls_begun() == seen && !only_names)
                report_deaf(watched);
            /* A thread that is only named is not asked again; others are, after the same time. */
            since = only_names ? INT64_MAX : th_clock_real_monotonic();
        }
        th_crash_threads_look(guarded, timeout, is_excused, ask_other);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

pid_t th_crash_fork(void)
{
    pid_t id = th_crash_threads_fork();

    if (id == 0) {
        guarded_id = gettid();
        if (timeout && th_crash_set_timeout(timeout, !only_names) != TH_OK)
            _exit(TH_FAILED);
    }
    return id;
}

enum th_status th_crash_set_timeout(int64_t nanoseconds, bool ends)
{
    pthread_t watchdog;
    sem_t begun;
    int error;

    only_names = !ends;
    timeout = nanoseconds < LOOKS ? LOOKS : nanoseconds;
    handle_signal(TH_CRASH_TIMEOUT_SIGNAL, on_timeout, NULL);
    sem_init(&begun, 0, 0);
    error = th_thread_start(&watchdog, NULL, watch_threads, &begun);
    if (error)
        return th_error_raise(TH_FAILED, "cannot start the watchdog thread: %s", strerror(error));
    /* A thread that begins allocates; a process that is forked meanwhile could not, with a sanitizer's allocator. */
    while (sem_wait(&begun) != 0)
        ;
    sem_destroy(&begun);
    pthread_detach(watchdog);
    return TH_OK;
}

void th_crash_set_stream(const char *const *name)
{
    th_crash_facts()->stream = name;
}

void th_crash_set_kind(const char *name)
{
    th_crash_facts()->kind = name;
}
