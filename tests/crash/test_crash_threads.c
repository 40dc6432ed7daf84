/* Tests the watchdog: callbacks that hang, in threads that have not installed the guard. */
#include "host/crash/crash.h"
#include "tests/trace/live.h"

#include "tests/support/skipping.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECOND = 1000 * 1000, TIMEOUT = 200 * MILLISECOND };

static void hang(void)
{
    for (;;)
        pause();
}

/* Waits for the watchdog's signal, then takes longer than the timeout again. */
static void take_long(void)
{
    pause();
    nanosleep(&(struct timespec){0, 3 * TIMEOUT}, NULL);
}

static int pipe_ends[2];

/* Reads the other end of the pipe, late. */
static void *read_late(void *unused)
{
    static char bytes[1 << 17];

    nanosleep(&(struct timespec){0, 4 * TIMEOUT}, NULL);
    for (ssize_t left = sizeof bytes; left > 0;)
        left -= read(pipe_ends[0], bytes, (size_t)left);
    return unused;
}

static void write_much(void)
{
    static const char bytes[1 << 17];
    pthread_t reader;

    if (pipe(pipe_ends) == 0 && pthread_create(&reader, NULL, read_late, NULL) == 0 &&
        write(pipe_ends[1], bytes, sizeof bytes) == sizeof bytes)
        pthread_join(reader, NULL);
}

/* Blocks all signals, so that the watchdog's signal has no effect. */
static void hang_deaf(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    hang();
}

/* Blocks all signals, like a scheduler. */
static void *call_once(void *unused)
{
    struct th_live_requests wants;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    th_crash_thread_begin();
    wants = alive_call(me, 0, th_small(1));
    alive_return(me, 0, &wants, "ok");
    th_crash_thread_end();
    return unused;
}

/* Spends more than the timeout outside of callbacks, twice; the watchdog must not send a signal. */
static void *sleep_between_calls(void *undisturbed)
{
    bool *good = undisturbed;

    th_crash_thread_begin();
    for (int i = 0; i < 2; i++) {
        struct th_live_requests wants = alive_call(me, 0, th_small(1));
        alive_return(me, 0, &wants, "ok");
        *good &= nanosleep(&(struct timespec){0, 4 * TIMEOUT}, NULL) == 0;
    }
    th_crash_thread_end();
    return NULL;
}

/* Runs in a child process, under the guard. */
static void guarded(void *(*run)(void *), void (*act)(void), bool lethal)
{
    pthread_t thread;
    bool good = true;

    begin(NULL);
    try(session, "f0", "true", TH_BP_LOCAL);
    if (act)
        scene_act("enabled_call", NULL, act);
    th_crash_install();
    th_crash_set_timeout(TIMEOUT, lethal);
    pthread_create(&thread, NULL, run, &good);
    pthread_join(thread, NULL);
    _exit(good ? 0 : 1);
}

/* Returns the exit status; SAID gets the text on stderr. */
static int run_guarded(void *(*run)(void *), void (*act)(void), bool lethal, char *said,
                       size_t size)
{
    int ends[2], status;
    FILE *from_child;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        guarded(run, act, lethal);
    }
    close(ends[1]);
    from_child = fdopen(ends[0], "r");
    said[fread(said, 1, size - 1, from_child)] = 0;
    fclose(from_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_hanging_callback_in_any_thread_is_named(void **state)
{
    char said[1024];

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip_because("the thread sanitizer holds signals back while code makes no call that it knows");
#endif
    assert_int_equal(run_guarded(call_once, hang, true, said, sizeof said), TH_CRASHED);
    assert_non_null(strstr(said, "hangs: enabled_call took more than 0.2 s"));
}

static void a_hanging_callback_that_blocks_signals_is_reported(void **state)
{
    char said[1024];

    (void)state;
    assert_int_equal(run_guarded(call_once, hang_deaf, true, said, sizeof said), TH_CRASHED);
    assert_non_null(strstr(said, "took more than 0.2 s, and has blocked all signals"));
}

static void code_outside_callbacks_has_no_time_limit(void **state)
{
    char said[1024];

    (void)state;
    assert_int_equal(run_guarded(sleep_between_calls, NULL, true, said, sizeof said), 0);
    assert_string_equal(said, "");
}

static void a_slow_callback_is_reported_once_and_continues(void **state)
{
    char said[1024];

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip_because("the thread sanitizer holds signals back while code makes no call that it knows");
#endif
    assert_int_equal(run_guarded(call_once, take_long, false, said, sizeof said), 0);
    assert_non_null(strstr(said, "is slow: enabled_call has taken more than 0.2 s, and goes on\n"));
    assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said));
}

static void a_callback_that_waits_for_a_pipe_reader_is_not_slow(void **state)
{
    char said[1024];

    (void)state;
    if (emulated())
        skip_because("the kernel shows the emulator's system calls");
    if (access("/proc/self/syscall", R_OK) != 0)
        skip_because("this kernel does not say in which system call a thread is");
    assert_int_equal(run_guarded(call_once, write_much, false, said, sizeof said), 0);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hanging_callback_in_any_thread_is_named),
        cmocka_unit_test(a_hanging_callback_that_blocks_signals_is_reported),
        cmocka_unit_test(a_slow_callback_is_reported_once_and_continues),
        cmocka_unit_test(a_callback_that_waits_for_a_pipe_reader_is_not_slow),
        cmocka_unit_test(code_outside_callbacks_has_no_time_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
