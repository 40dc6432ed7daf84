/* A process that does as it is told, killed by who tells it. */
#include "parties.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static struct th_process_run *process;

static void *kill_soon(void *unused)
{
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    th_run_kill(process);
    return unused;
}

/* Whatever it does, though it traps exits; once it has ended, nothing comes of it. */
static void killed_in(const char *name, const char *arguments)
{
    pthread_t killer;

    process = th_run_start();
    assert_string_equal(call_in(process, "trap", "[1]"), "0");
    pthread_create(&killer, NULL, kill_soon, NULL);
    assert_string_equal(call_in(process, name, "%s", arguments), "ended: killed");
    pthread_join(killer, NULL);
    th_run_kill(process);
    assert_string_equal(call_in(process, "self", "[]"), "ended: killed");
    assert_null(th_run_receive(process, -1));
    th_run_exit(process, TH_AM(normal));
}

static void one_that_waits(void **state)
{
    (void)state;
    killed_in("server", "[]");
}

static void one_that_goes_on_and_on(void **state)
{
    (void)state;
    killed_in("loop", "[100000000000]");
}

static void one_that_does_nothing(void **state)
{
    (void)state;
    process = th_run_start();
    th_run_kill(process);
    assert_string_equal(call_in(process, "self", "[]"), "ended: killed");
    th_run_exit(process, TH_AM(normal));
}

/* --- In a dirty function ---------------------------------------------------------------------- */

static char *ended;

static void *poll_until_dead(void *watcher)
{
    ended = th_strdup(call_in(process, "until_dead", "[%s]", (const char *)watcher));
    return NULL;
}

/* The process, which TRAPS exits or not, has begun until_dead(); WATCHER sends it exit signals,
 * each of a list of REASONS. */
static void told_in_dirty_function(const char *traps, const char *const reasons[], const char *end)
{
    struct th_process_run *watcher = th_run_start();
    char *pid = text_of_pid(th_run_pid(watcher));
    char *target;
    pthread_t thread;

    process = th_run_start();
    target = text_of_pid(th_run_pid(process));
    call_in(process, "trap", "[%s]", traps);
    pthread_create(&thread, NULL, poll_until_dead, pid);
    assert_string_equal(message_to(watcher), "began");
    for (; *reasons; reasons++)
        call_in(watcher, "signal", "[%s,%s]", target, *reasons);
    assert_string_equal(message_to(watcher), "dead");
    pthread_join(thread, NULL);
    assert_string_equal(ended, end);
    th_run_exit(process, TH_AM(normal));
    th_run_exit(watcher, TH_AM(normal));
    th_free(ended);
    th_free(target);
    th_free(pid);
}

static void a_dirty_function_sees_its_process_end(void **state)
{
    (void)state;
    told_in_dirty_function("1", (const char *const[]){"one", "normal", "kill", NULL},
                           "ended: killed");
    told_in_dirty_function("0", (const char *const[]){"normal", "why", "kill", NULL}, "ended: why");
}

static int begin(void **state)
{
    (void)state;
    start_party(2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    stop_party();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_waits),
        cmocka_unit_test(one_that_goes_on_and_on),
        cmocka_unit_test(one_that_does_nothing),
        cmocka_unit_test(a_dirty_function_sees_its_process_end),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
