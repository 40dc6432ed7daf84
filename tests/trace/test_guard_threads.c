/* The watchdog: callbacks that hang, in threads other than the one that installed the guard. */
#include "live.h"

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

/* Deaf to the watchdog. */
static void hang_deaf(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    hang();
}

/* As a scheduler: signals are for others. */
static void *call_once(void *unused)
{
    struct th_live_wants wants;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    th_guard_thread_begin();
    wants = alive_call(me, 0, th_small(1));
    alive_return(me, 0, &wants, "ok");
    th_guard_thread_end();
    return unused;
}

/* Not in a callback for longer than is allowed, twice; nobody may have disturbed it. */
static void *sleep_between_calls(void *undisturbed)
{
    bool *good = undisturbed;

    th_guard_thread_begin();
    for (int i = 0; i < 2; i++) {
        struct th_live_wants wants = alive_call(me, 0, th_small(1));
        alive_return(me, 0, &wants, "ok");
        *good &= nanosleep(&(struct timespec){0, 4 * TIMEOUT}, NULL) == 0;
    }
    th_guard_thread_end();
    return NULL;
}

/* All in a child process, under the guard. */
static void guarded(void *(*run)(void *), void (*act)(void))
{
    pthread_t thread;
    bool good = true;

    begin(NULL);
    try(session, "f0", "true", TH_BP_LOCAL);
    if (act)
        scene_act("enabled_call", NULL, act);
    th_guard_install();
    th_guard_set_timeout(TIMEOUT);
    pthread_create(&thread, NULL, run, &good);
    pthread_join(thread, NULL);
    _exit(good ? 0 : 1);
}

/* The exit status; SAID gets what it says on stderr. */
static int run_guarded(void *(*run)(void *), void (*act)(void), char *said, size_t size)
{
    int ends[2], status;
    FILE *from_child;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        guarded(run, act);
    }
    close(ends[1]);
    from_child = fdopen(ends[0], "r");
    said[fread(said, 1, size - 1, from_child)] = 0;
    fclose(from_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_callback_that_hangs_is_named_in_any_thread(void **state)
{
    char said[1024];

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip_because("the thread sanitizer holds signals back while code makes no call that it knows");
#endif
    assert_int_equal(run_guarded(call_once, hang, said, sizeof said), TH_CRASHED);
    assert_non_null(strstr(said, "hangs: enabled_call took more than 0.2 s"));
}

static void one_that_is_deaf_is_told(void **state)
{
    char said[1024];

    (void)state;
    assert_int_equal(run_guarded(call_once, hang_deaf, said, sizeof said), TH_CRASHED);
    assert_non_null(strstr(said, "it took more than 0.2 s, and has blocked all signals"));
}

static void what_is_no_callback_takes_as_long_as_it_likes(void **state)
{
    char said[1024];

    (void)state;
    assert_int_equal(run_guarded(sleep_between_calls, NULL, said, sizeof said), 0);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_that_hangs_is_named_in_any_thread),
        cmocka_unit_test(one_that_is_deaf_is_told),
        cmocka_unit_test(what_is_no_callback_takes_as_long_as_it_likes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
