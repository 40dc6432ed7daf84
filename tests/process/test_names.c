/* Tests names of the host's own processes, of recorded ones, and look-ups from any thread. */
#include "host/process/process_internal.h"
#include "host/process/process.h"
#include "host/progress/progress.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

enum { MANY = 10000, VERY_MANY = 1000000, READERS = 3, ROUNDS = 20000 };

static void ignore(void *context, th_term message)
{
    (void)context;
    (void)message;
}

static struct th_mailbox *start(void)
{
    return th_process_start(ignore, NULL);
}

static th_term name(size_t i)
{
    char text[32];

    snprintf(text, sizeof text, "name%zu", i);
    return th_atom(text);
}

static int begin(void **state)
{
    (void)state;
    th_process_world_reset(NULL);
    return 0;
}

static void a_host_process_can_have_a_name(void **state)
{
    struct th_mailbox *process = start();
    th_term pid = th_process_pid(process);

    (void)state;
    assert_true(th_process_name_register(TH_AM(ok), pid));
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid);
    assert_true(th_process_name_unregister(TH_AM(ok)));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    assert_false(th_process_name_unregister(TH_AM(ok)));
    assert_true(th_process_name_register(TH_AM(error), pid));
    th_process_exit(process, TH_AM(normal));
}

static void invalid_and_taken_names_are_refused(void **state)
{
    struct th_mailbox *one = start(), *two = start();
    th_term a = th_process_pid(one), b = th_process_pid(two);

    (void)state;
    assert_false(th_process_name_register(TH_AM(undefined), a));
    assert_false(th_process_name_register(th_small(1), a));
    assert_false(th_process_name_register(TH_NONE, a));
    assert_true(th_process_name_register(TH_AM(ok), a));
    assert_false(th_process_name_register(TH_AM(ok), b));                     /* name taken */
    assert_false(th_process_name_register(TH_AM(ok), a));                     /* even so */
    assert_false(th_process_name_register(TH_AM(error), a));                  /* has a name */
    assert_false(th_process_name_register(TH_AM(error), th_local_pid(1, 0))); /* recorded */
    assert_false(th_process_name_register(TH_AM(error), TH_NIL));
    assert_false(th_process_name_unregister(TH_NIL));
    th_process_exit(two, TH_AM(normal));
    assert_false(th_process_name_register(TH_AM(error), b)); /* a dead process */
    assert_term_equal(th_process_whereis(TH_AM(ok)), a);
    assert_term_equal(th_process_whereis(TH_AM(error)), TH_NONE);
    assert_term_equal(th_process_whereis(TH_NONE), TH_NONE);
    assert_term_equal(th_process_whereis(th_small(1)), TH_NONE);
    th_process_exit(one, TH_AM(normal));
}

static void a_name_is_free_after_its_process_has_ended(void **state)
{
    struct th_mailbox *one = start(), *two;

    (void)state;
    assert_true(th_process_name_register(TH_AM(ok), th_process_pid(one)));
    th_process_exit(one, TH_AM(normal));
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    two = start();
    assert_true(th_process_name_register(TH_AM(ok), th_process_pid(two)));
    th_process_exit(two, TH_AM(normal));
}

static void names_of_the_recording_hide_the_host_s(void **state)
{
    struct th_mailbox *process = start();
    th_term pid = th_process_pid(process);

    (void)state;
    assert_true(th_process_name_register(TH_AM(ok), pid));
    th_process_world_register(th_local_pid(7, 0), TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), th_local_pid(7, 0));
    th_process_world_end(th_local_pid(7, 0));
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid);
    th_process_world_register(th_local_pid(8, 0), TH_AM(ok));
    th_process_world_reset(NULL);
    assert_term_equal(th_process_whereis(TH_AM(ok)), pid);
    th_process_exit(process, TH_AM(normal));
}

static void a_pid_number_beyond_a_beam_s_range_gets_no_name(void **state)
{
    th_env env;
    th_term big;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    big = th_make_pid(&env, 0, 0, 0xFFFFFFFFu, 1);
    th_process_world_register(th_local_pid(7, 0), TH_AM(ok));
    th_process_world_register(big, TH_AM(ok)); /* process 7 nevertheless no longer has the name */
    assert_term_equal(th_process_whereis(TH_AM(ok)), TH_NONE);
    th_process_world_register(th_local_pid(7, 0), TH_AM(ok));
    assert_term_equal(th_process_whereis(TH_AM(ok)), th_local_pid(7, 0));
    th_env_release(&env);
}

static void each_of_many_names_finds_its_process(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        th_process_world_register(th_local_pid((uint32_t)i, 0), name(i));
    for (size_t i = 0; i < MANY; i += 2)
        th_process_world_unregister(th_local_pid((uint32_t)i, 0), name(i));
    for (size_t i = 0; i < MANY; i++)
        assert_term_equal(th_process_whereis(name(i)),
                          (i % 2 ? th_local_pid((uint32_t)i, 0) : TH_NONE));
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Names that were removed leave nothing behind that later look-ups would have to skip. */
static void a_million_registrations_take_little_time(void **state)
{
    static th_term names[MANY];
    double before;

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        names[i] = name(i);
    before = seconds();
    for (size_t i = 0; i < VERY_MANY; i++) {
        th_process_world_register(th_local_pid((uint32_t)i, 0), names[i % MANY]);
        th_process_world_end(th_local_pid((uint32_t)i, 0));
    }
    assert_true(seconds() - before < 30); /* 0.2 s; more with sanitizers, an hour if quadratic */
    th_progress_settle();
}

static struct th_name_table table;
static atomic_bool over;

/* Name I belongs to pid I or to none; name 0 always belongs to pid 0. */
static void *read_all_along(void *unused)
{
    const th_term steady = name(0);
    th_term changing[16];
    size_t wrong = 0;

    (void)unused;
    for (size_t i = 0; i < 16; i++)
        changing[i] = name(i + 1);
    while (!atomic_load(&over)) {
        th_progress_enter();
        wrong += th_process_name_table_get(&table, steady) != th_local_pid(0, 0);
        for (size_t i = 0; i < 16; i++) {
            th_term id = th_process_name_table_get(&table, changing[i]);
            wrong += id != TH_NONE && id != th_local_pid((uint32_t)i + 1, 0);
        }
        th_progress_leave();
    }
    return (void *)wrong;
}

static void a_name_is_found_while_other_names_change(void **state)
{
    static th_term names[MANY];
    pthread_t threads[READERS];

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        names[i] = name(i);
    th_process_name_table_set(&table, names[0], th_local_pid(0, 0));
    for (size_t i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, read_all_along, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t n = 1 + i * 7919 % (MANY - 1);
        bool there = th_process_name_table_get(&table, names[n]) != TH_NONE;
        th_process_name_table_set(&table, names[n], there ? TH_NONE : th_local_pid(n, 0));
    }
    atomic_store(&over, true);
    for (size_t i = 0; i < READERS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_int_equal((size_t)wrong, 0);
    }
    th_process_name_table_clear(&table);
    assert_term_equal(th_process_name_table_get(&table, names[0]), TH_NONE);
    th_progress_settle();
}

static void *ask_all_along(void *context)
{
    const th_term *pid = context;
    size_t wrong = 0;

    while (!atomic_load(&over)) {
        th_term found = th_process_whereis(TH_AM(ok));
        wrong += found != TH_NONE && found != *pid && found != th_local_pid(7, 0);
    }
    return (void *)wrong;
}

/* One thread changes names of the host and of the recording while another looks names up. */
static void names_can_be_looked_up_while_they_change(void **state)
{
    struct th_mailbox *process = start();
    th_term pid = th_process_pid(process);
    pthread_t thread;
    void *wrong;

    (void)state;
    atomic_store(&over, false);
    pthread_create(&thread, NULL, ask_all_along, &pid);
    for (size_t i = 0; i < ROUNDS; i++) {
        th_process_name_register(TH_AM(ok), pid);
        th_process_world_register(th_local_pid(7, 0), TH_AM(ok));
        th_process_name_unregister(TH_AM(ok));
        if (i % 100 == 0)
            th_process_world_reset(NULL);
    }
    atomic_store(&over, true);
    pthread_join(thread, &wrong);
    assert_int_equal((size_t)wrong, 0);
    th_process_exit(process, TH_AM(normal));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_host_process_can_have_a_name, begin),
        cmocka_unit_test_setup(invalid_and_taken_names_are_refused, begin),
        cmocka_unit_test_setup(a_name_is_free_after_its_process_has_ended, begin),
        cmocka_unit_test_setup(names_of_the_recording_hide_the_host_s, begin),
        cmocka_unit_test_setup(a_pid_number_beyond_a_beam_s_range_gets_no_name, begin),
        cmocka_unit_test_setup(each_of_many_names_finds_its_process, begin),
        cmocka_unit_test_setup(a_million_registrations_take_little_time, begin),
        cmocka_unit_test_setup(a_name_is_found_while_other_names_change, begin),
        cmocka_unit_test_setup(names_can_be_looked_up_while_they_change, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
