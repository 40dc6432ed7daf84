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
    };

    return cmocka_run_group_tests(tests, begin, end);
}
