/* Tests clocks: real ones, recorded ones, and which thread uses which. */
#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

enum { SECOND = 1000000000 };

static int forget_clock(void **state)
{
    (void)state;
    th_self.clock = NULL;
    return 0;
}

static void the_real_clocks_agree(void **state)
{
    struct timespec now;
    int64_t first = th_clock_monotonic();
    int64_t offset = th_clock_offset();
    int64_t difference;

    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    difference = (int64_t)now.tv_sec * SECOND + now.tv_nsec - (first + offset);
    assert_order(llabs(difference), <, SECOND);
    assert_order(th_clock_monotonic(), >=, first);
    assert_order(th_clock_cpu(), >=, 0);
}

static void the_real_offset_stays_constant(void **state)
{
    int64_t offset = th_clock_offset();

    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(th_clock_offset(), offset);
}

static void a_recorded_clock_is_read(void **state)
{
    struct th_clock clock = {.monotonic = 5, .offset = 7, .cpu = 11, .ready = true};

    (void)state;
    th_self.clock = &clock;
    assert_int_equal(th_clock_monotonic(), 5);
    assert_int_equal(th_clock_offset(), 7);
    assert_int_equal(th_clock_cpu(), 11);
}

static int fills;

static bool fill(struct th_clock *self)
{
    fills++;
    self->monotonic = 5;
    self->offset = 7;
    self->cpu = 11;
    self->ready = true;
    return true;
}

static bool fill_nothing(struct th_clock *self)
{
    (void)self;
    fills++;
    return false;
}

static void a_recorded_clock_is_filled_once_when_read(void **state)
{
    struct th_clock clock = {.fill = fill};

    (void)state;
    fills = 0;
    th_self.clock = &clock;
    assert_int_equal(fills, 0);
    assert_int_equal(th_clock_cpu(), 11);
    assert_int_equal(th_clock_monotonic(), 5);
    assert_int_equal(th_clock_offset(), 7);
    assert_int_equal(fills, 1);
}

static void a_record_without_time_leaves_the_real_clock(void **state)
{
    struct th_clock clock = {.fill = fill_nothing};
    int64_t real = th_clock_monotonic();

    (void)state;
    fills = 0;
    th_self.clock = &clock;
    assert_order(th_clock_monotonic(), >=, real);
    assert_order(fills, >, 0);
}

static void *read_elsewhere(void *result)
{
    *(int64_t *)result = th_clock_monotonic();
    return NULL;
}

static void other_threads_read_real_clocks(void **state)
{
    struct th_clock clock = {.monotonic = 5, .ready = true};
    int64_t before = th_clock_monotonic();
    int64_t elsewhere = 0;
    pthread_t thread;

    (void)state;
    th_self.clock = &clock;
    assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &elsewhere), 0);
    pthread_join(thread, NULL);
    assert_order(elsewhere, >=, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_real_clocks_agree, forget_clock),
        cmocka_unit_test_teardown(the_real_offset_stays_constant, forget_clock),
        cmocka_unit_test_teardown(a_recorded_clock_is_read, forget_clock),
        cmocka_unit_test_teardown(a_recorded_clock_is_filled_once_when_read, forget_clock),
        cmocka_unit_test_teardown(a_record_without_time_leaves_the_real_clock, forget_clock),
        cmocka_unit_test_teardown(other_threads_read_real_clocks, forget_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
