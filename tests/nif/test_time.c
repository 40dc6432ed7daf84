/* Tests time units and forms of timestamps. test_callback.c tests clocks of replayed events. */
#include "host/nif/nif.h"
#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <pthread.h>
#include <time.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

static void assert_timestamp(ERL_NIF_TERM term, int64_t *us)
{
    const ERL_NIF_TERM *parts;
    long mega = 0, second = 0, micro = 0;
    int arity;

    assert_true(enif_get_tuple(env, term, &arity, &parts) && arity == 3);
    assert_true(enif_get_long(env, parts[0], &mega) && enif_get_long(env, parts[1], &second) &&
                enif_get_long(env, parts[2], &micro));
    assert_in_range(second, 0, 999999);
    assert_in_range(micro, 0, 999999);
    *us = (mega * 1000000 + second) * 1000000 + micro;
}

static void time_units_are_converted_by_rounding_down(void **state)
{
    (void)state;
    assert_int_equal(enif_convert_time_unit(1999, ERL_NIF_MSEC, ERL_NIF_SEC), 1);
    assert_int_equal(enif_convert_time_unit(-1, ERL_NIF_NSEC, ERL_NIF_USEC), -1);
    assert_int_equal(enif_convert_time_unit(-1000, ERL_NIF_NSEC, ERL_NIF_USEC), -1);
    assert_int_equal(enif_convert_time_unit(-1001, ERL_NIF_NSEC, ERL_NIF_USEC), -2);
    assert_int_equal(enif_convert_time_unit(-3, ERL_NIF_SEC, ERL_NIF_NSEC), -3000000000);
    assert_int_equal(enif_convert_time_unit(7, ERL_NIF_USEC, ERL_NIF_USEC), 7);
    assert_int_equal(enif_convert_time_unit(INT64_MIN, ERL_NIF_NSEC, ERL_NIF_SEC), -9223372037);
}

static void an_unknown_time_unit_is_an_error(void **state)
{
    ErlNifTimeUnit none = (ErlNifTimeUnit)4;

    (void)state;
    assert_int_equal(enif_monotonic_time(none), ERL_NIF_TIME_ERROR);
    assert_int_equal(enif_time_offset(none), ERL_NIF_TIME_ERROR);
    assert_int_equal(enif_convert_time_unit(1, none, ERL_NIF_SEC), ERL_NIF_TIME_ERROR);
    assert_int_equal(enif_convert_time_unit(1, ERL_NIF_SEC, none), ERL_NIF_TIME_ERROR);
}

static void monotonic_time_never_goes_back(void **state)
{
    ErlNifTime last = enif_monotonic_time(ERL_NIF_NSEC);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        ErlNifTime now = enif_monotonic_time(ERL_NIF_NSEC);
        assert_order(now, >=, last);
        last = now;
    }
}

static void monotonic_time_plus_offset_is_system_time(void **state)
{
    ErlNifTime system = enif_monotonic_time(ERL_NIF_SEC) + enif_time_offset(ERL_NIF_SEC);

    (void)state;
    assert_in_range(system, time(NULL) - 2, time(NULL) + 2);
}

static void now_time_is_never_returned_twice(void **state)
{
    int64_t last, now;

    (void)state;
    assert_timestamp(enif_now_time(env), &last);
    for (int i = 0; i < 10000; i++, last = now) {
        assert_timestamp(enif_now_time(env), &now);
        assert_order(now, >, last);
    }
    assert_in_range(now / 1000000, time(NULL) - 2, time(NULL) + 2);
}

static void cpu_time_grows_while_the_program_runs(void **state)
{
    int64_t before, after;

    (void)state;
    assert_timestamp(enif_cpu_time(env), &before);
    for (volatile int i = 0; i < 20000000; i++)
        ;
    assert_timestamp(enif_cpu_time(env), &after);
    assert_order(after, >, before);
}

enum { SPINS_FOR = 50000 }; /* microseconds of its CPU time */

static void *spin(void *unused)
{
    ErlNifEnv *own = enif_alloc_env();
    int64_t began, now;

    (void)unused;
    assert_timestamp(enif_cpu_time(own), &began);
    do {
        enif_clear_env(own);
        assert_timestamp(enif_cpu_time(own), &now);
    } while (now < began + SPINS_FOR);
    enif_free_env(own);
    return NULL;
}

static void cpu_time_is_of_the_calling_thread(void **state)
{
    int64_t before, after;
    pthread_t thread;

    (void)state;
    assert_timestamp(enif_cpu_time(env), &before);
    assert_int_equal(pthread_create(&thread, NULL, spin, NULL), 0);
    pthread_join(thread, NULL);
    assert_timestamp(enif_cpu_time(env), &after);
    assert_order(after - before, <, SPINS_FOR / 2);
}

static bool fill(struct th_clock *clock)
{
    clock->monotonic = -1500;
    clock->offset = 1700000000123457500;
    clock->cpu = 1000001000;
    clock->ready = true;
    return true;
}

static bool fill_nothing(struct th_clock *clock)
{
    (void)clock;
    return false;
}

static void the_recorded_clock_is_returned_unchanged(void **state)
{
    struct th_clock clock = {.fill = fill};
    int64_t now;

    (void)state;
    th_self.clock = &clock;
    assert_int_equal(enif_monotonic_time(ERL_NIF_NSEC), -1500);
    assert_int_equal(enif_monotonic_time(ERL_NIF_USEC), -2);
    assert_int_equal(enif_time_offset(ERL_NIF_NSEC), 1700000000123457500);
    for (int i = 0; i < 2; i++) {
        assert_timestamp(enif_now_time(env), &now);
        assert_int_equal(now, 1700000000123456);
    }
    assert_timestamp(enif_cpu_time(env), &now);
    assert_int_equal(now, 1000001);
    th_self.clock = NULL;
}

static void a_record_without_time_uses_the_real_clock(void **state)
{
    struct th_clock clock = {.fill = fill_nothing};
    int64_t first, second;

    (void)state;
    th_self.clock = &clock;
    assert_timestamp(enif_now_time(env), &first);
    assert_timestamp(enif_now_time(env), &second);
    assert_order(second, >, first);
    assert_in_range(first / 1000000, time(NULL) - 2, time(NULL) + 2);
    th_self.clock = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(time_units_are_converted_by_rounding_down, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_time_unit_is_an_error, begin, end),
        cmocka_unit_test_setup_teardown(monotonic_time_never_goes_back, begin, end),
        cmocka_unit_test_setup_teardown(monotonic_time_plus_offset_is_system_time, begin, end),
        cmocka_unit_test_setup_teardown(now_time_is_never_returned_twice, begin, end),
        cmocka_unit_test_setup_teardown(cpu_time_grows_while_the_program_runs, begin, end),
        cmocka_unit_test_setup_teardown(cpu_time_is_of_the_calling_thread, begin, end),
        cmocka_unit_test_setup_teardown(the_recorded_clock_is_returned_unchanged, begin, end),
        cmocka_unit_test_setup_teardown(a_record_without_time_uses_the_real_clock, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
