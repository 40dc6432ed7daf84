/* Tests monitors: `down` is called once at the end, or not at all after a stop. */
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { MANY = 1000, ROUNDS = 2000, RACES = 10000, DELAYS = 500 };

/* The owner of a monitor. */
struct watcher {
    struct th_monitor monitor; /* the first member */
    struct watcher *other;
    _Atomic int told;
    th_term reason;
    bool was_dead;
};

static void down(struct th_monitor *self, th_term reason)
{
    struct watcher *watcher = (struct watcher *)self;

    watcher->told++;
    watcher->reason = reason;
    watcher->was_dead = !th_process_alive(self->watched);
}

static bool watch(struct watcher *watcher, th_term id)
{
    *watcher = (struct watcher){.monitor.down = down};
    return th_process_monitor_start(&watcher->monitor, id);
}

static void ignore(void *context, th_term message)
{
    (void)context;
    (void)message;
}

static struct th_mailbox *start(void)
{
    return th_process_start(ignore, NULL);
}

static int begin(void **state)
{
    (void)state;
    th_process_world_reset(NULL);
    return 0;
}

static void a_monitor_reports_an_exit_once(void **state)
{
    struct th_mailbox *process = start();
    struct watcher watcher;

    (void)state;
    assert_true(watch(&watcher, th_process_pid(process)));
    assert_int_equal(watcher.told, 0);
    th_process_exit(process, TH_AM(error));
    assert_int_equal(watcher.told, 1);
    assert_term_equal(watcher.reason, TH_AM(error));
    assert_true(watcher.was_dead);
    assert_false(th_process_monitor_stop(&watcher.monitor));
}

static void a_normal_exit_has_the_reason_normal(void **state)
{
    struct th_mailbox *process = start();
    struct watcher watcher;

    (void)state;
    watch(&watcher, th_process_pid(process));
    th_process_exit(process, TH_AM(normal));
    assert_term_equal(watcher.reason, TH_AM(normal));
}

static void a_stopped_monitor_reports_nothing(void **state)
{
    struct th_mailbox *process = start();
    struct watcher watcher;

    (void)state;
    watch(&watcher, th_process_pid(process));
    assert_true(th_process_monitor_stop(&watcher.monitor));
    assert_false(th_process_monitor_stop(&watcher.monitor));
    th_process_exit(process, TH_AM(normal));
    assert_int_equal(watcher.told, 0);
}

static void a_monitor_of_a_dead_process_is_refused(void **state)
{
    struct th_mailbox *process = start();
    th_term pid = th_process_pid(process);
    struct watcher watcher;

    (void)state;
    th_process_exit(process, TH_AM(normal));
    assert_false(watch(&watcher, pid));
    assert_false(th_process_monitor_stop(&watcher.monitor));
    th_process_world_end(th_local_pid(5, 0));
    assert_false(watch(&watcher, th_local_pid(5, 0)));
    assert_false(watch(&watcher, TH_AM(ok)));
    assert_int_equal(watcher.told, 0);
}

static void the_end_of_recorded_processes_and_ports_is_reported(void **state)
{
    struct watcher process, port, other;

    (void)state;
    th_process_world_see(th_local_pid(5, 0));
    assert_true(watch(&process, th_local_pid(5, 0)));
    assert_true(watch(&port, th_local_port(5))); /* never seen */
    assert_true(watch(&other, th_local_pid(5, 1)));
    th_process_world_end(th_local_pid(5, 0));
    assert_int_equal(process.told, 1);
    assert_true(process.was_dead);
    assert_term_equal(process.reason, TH_AM(noproc));
    assert_int_equal(port.told, 0);
    th_process_world_end(th_local_port(5));
    assert_int_equal(port.told, 1);
    assert_int_equal(other.told, 0);
    assert_true(th_process_monitor_stop(&other.monitor));
}

static void a_reset_of_the_world_ends_all_recorded_processes(void **state)
{
    struct th_mailbox *process = start();
    struct watcher recorded, own;

    (void)state;
    watch(&recorded, th_local_pid(5, 0));
    watch(&own, th_process_pid(process));
    th_process_world_reset(NULL);
    assert_int_equal(recorded.told, 1);
    assert_term_equal(recorded.reason, th_atom("noconnection"));
    assert_int_equal(own.told, 0);
    th_process_world_end(th_local_pid(5, 0));
    assert_int_equal(recorded.told, 1);
    th_process_exit(process, TH_AM(normal));
    assert_int_equal(own.told, 1);
}

static void many_monitors_can_watch_many_processes(void **state)
{
    static struct watcher watchers[MANY];

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        watch(&watchers[i], th_local_pid(i % 10, 0));
    for (size_t i = 0; i < MANY; i += 4)
        assert_true(th_process_monitor_stop(&watchers[i].monitor));
    for (uint32_t i = 0; i < 5; i++)
        th_process_world_end(th_local_pid(i, 0));
    for (size_t i = 0; i < MANY; i++) {
        bool told = i % 4 != 0 && i % 10 < 5;
        assert_int_equal(watchers[i].told, told);
        assert_int_equal(th_process_monitor_stop(&watchers[i].monitor), i % 4 != 0 && !told);
    }
}

/* Two watchers: the first one that is notified stops the other and monitors another process. */
static void stop_the_other(struct th_monitor *self, th_term reason)
{
    struct watcher *watcher = (struct watcher *)self;

    down(self, reason);
    assert_true(th_process_monitor_stop(&watcher->other->monitor));
    watcher->monitor.down = down;
    assert_true(th_process_monitor_start(self, th_local_pid(6, 0)));
}

static void a_down_callback_can_start_and_stop_monitors(void **state)
{
    struct watcher one, two;

    (void)state;
    watch(&one, th_local_pid(5, 0));
    watch(&two, th_local_pid(5, 0));
    one.other = &two;
    two.other = &one;
    one.monitor.down = two.monitor.down = stop_the_other;
    th_process_world_end(th_local_pid(5, 0));
    assert_int_equal(one.told + two.told, 1);
    th_process_world_end(th_local_pid(6, 0));
    assert_int_equal(one.told + two.told, 2);
}

static void watch_the_next_world(struct th_monitor *self, th_term reason)
{
    down(self, reason);
    self->down = down;
    assert_true(th_process_monitor_start(self, th_local_pid(5, 0)));
}

static void a_down_callback_can_monitor_the_next_world(void **state)
{
    struct watcher watcher;

    (void)state;
    watch(&watcher, th_local_pid(5, 0));
    watcher.monitor.down = watch_the_next_world;
    th_process_world_reset(NULL);
    assert_int_equal(watcher.told, 1);
    th_process_world_end(th_local_pid(5, 0));
    assert_int_equal(watcher.told, 2);
}

static void free_self(struct th_monitor *self, th_term reason)
{
    (void)reason;
    free(self);
}

static void a_down_callback_can_free_its_monitor(void **state)
{
    struct th_mailbox *process = start();

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct th_monitor *monitor = calloc(1, sizeof *monitor);
        monitor->down = free_self;
        assert_true(th_process_monitor_start(monitor, th_process_pid(process)));
    }
    th_process_exit(process, TH_AM(normal));
}

/* --- Threads --------------------------------------------------------------------------------- */

struct race {
    struct watcher watcher;
    th_term pid;
    atomic_int begun, ended, over; /* rounds */
    int started;                   /* number of true results */
    int stopped[2];                /* likewise; [1]: after the end of the process */
};

static void wait_for(const atomic_int *round, int number)
{
    for (int i = 1; atomic_load(round) != number; i++) {
        if (i % 1000 == 0)
            sched_yield();
    }
}

static void *start_and_stop(void *context)
{
    struct race *race = context;

    for (int i = 1; i <= RACES; i++) {
        wait_for(&race->begun, i);
        for (volatile int delay = i * 7 % DELAYS; delay > 0; delay--)
            ; /* varies the point at which both meet */
        race->started += th_process_monitor_start(&race->watcher.monitor, race->pid);
        if (i % 2 == 1)
            wait_for(&race->ended, i);
        race->stopped[i % 2] += th_process_monitor_stop(&race->watcher.monitor);
        atomic_store(&race->over, i);
    }
    return NULL;
}

/* In each interleaving, a started monitor either fires or is stopped, never both. */
static void monitors_start_and_stop_while_processes_end(void **state)
{
    static struct race race;
    pthread_t thread;

    (void)state;
    race.watcher.monitor.down = down;
    pthread_create(&thread, NULL, start_and_stop, &race);
    for (int i = 1; i <= RACES; i++) {
        struct th_mailbox *process = start();
        race.pid = th_process_pid(process);
        atomic_store(&race.begun, i);
        th_process_exit(process, TH_AM(normal));
        atomic_store(&race.ended, i);
        wait_for(&race.over, i);
    }
    pthread_join(thread, NULL);
    assert_int_equal(race.stopped[1], 0);
    assert_int_equal(race.started, race.stopped[0] + race.watcher.told);
}

struct attempt {
    struct watcher watcher;
    bool started, stopped;
};

static void *watch_recorded(void *context)
{
    struct attempt *attempts = context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct attempt *attempt = &attempts[i];
        attempt->started = watch(&attempt->watcher, th_local_pid(i % 100, i / 100));
        attempt->stopped = th_process_monitor_stop(&attempt->watcher.monitor);
    }
    return NULL;
}

static void monitors_start_and_stop_while_a_recording_is_read(void **state)
{
    static struct attempt attempts[2][ROUNDS];
    pthread_t threads[2];

    (void)state;
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, watch_recorded, attempts[i]);
    for (uint32_t i = 0; i < ROUNDS; i++)
        th_process_world_end(th_local_pid(i % 100, i / 100));
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2 * ROUNDS; i++) {
        struct attempt *attempt = &attempts[i / ROUNDS][i % ROUNDS];
        assert_int_equal(attempt->watcher.told, attempt->started && !attempt->stopped);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_monitor_reports_an_exit_once, begin),
        cmocka_unit_test_setup(a_normal_exit_has_the_reason_normal, begin),
        cmocka_unit_test_setup(a_stopped_monitor_reports_nothing, begin),
        cmocka_unit_test_setup(a_monitor_of_a_dead_process_is_refused, begin),
        cmocka_unit_test_setup(the_end_of_recorded_processes_and_ports_is_reported, begin),
        cmocka_unit_test_setup(a_reset_of_the_world_ends_all_recorded_processes, begin),
        cmocka_unit_test_setup(many_monitors_can_watch_many_processes, begin),
        cmocka_unit_test_setup(a_down_callback_can_start_and_stop_monitors, begin),
        cmocka_unit_test_setup(a_down_callback_can_monitor_the_next_world, begin),
        cmocka_unit_test_setup(a_down_callback_can_free_its_monitor, begin),
        cmocka_unit_test_setup(monitors_start_and_stop_while_processes_end, begin),
        cmocka_unit_test_setup(monitors_start_and_stop_while_a_recording_is_read, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
