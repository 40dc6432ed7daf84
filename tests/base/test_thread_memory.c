/* Tests memory of a thread: one allocation, the free at its end, errors without memory. */
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/starved.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 5000 };

static _Thread_local void *first, *second;

static void *use_both(void *unused)
{
    static const unsigned char zeros[SIZE];

    (void)unused;
    th_thread_memory(&first, SIZE);
    th_thread_memory(&second, SIZE);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    assert_int_equal((uintptr_t)first % 16, 0);
    assert_memory_equal(first, zeros, SIZE);
    assert_memory_equal(second, zeros, SIZE);
    memset(first, 1, SIZE);
    memset(second, 2, SIZE);
    return first;
}

static void in_a_thread(void *(*run)(void *unused))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void each_thread_gets_its_own_zeroed_memory(void **state)
{
    (void)state;
    in_a_thread(use_both);
    assert_null(first);
    use_both(NULL);
    in_a_thread(use_both);
    assert_non_null(first);
}

/* --- A thread's end --- */

static pthread_key_t key;
static unsigned rounds, gone;

/* Runs before and after the memory is freed, in whatever order destructors run: sets its key
 * again. */
static void use_at_the_end(void *again)
{
    gone += first == NULL;
    if (!first)
        th_thread_memory(&first, SIZE);
    memset(first, 3, SIZE);
    th_error_raise(TH_PARTIAL, "at the thread's end");
    assert_string_equal(th_error_link(0), "at the thread's end");
    if (++rounds == 1)
        pthread_setspecific(key, again);
}

static void *end_late(void *unused)
{
    (void)unused;
    th_thread_memory(&first, SIZE);
    th_error_raise(TH_FAILED, "before the thread's end");
    pthread_setspecific(key, &key);
    return NULL;
}

static void thread_memory_is_reallocated_for_late_destructors(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&key, use_at_the_end), 0);
    in_a_thread(end_late);
    assert_int_equal(rounds, 2);
    assert_order(gone, >=, 1);
}

/* --- Without memory --- */

static bool no_memory_is_null(void)
{
    return !th_thread_memory(&first, SIZE) && !first;
}

static bool an_error_keeps_its_status(void)
{
    struct th_error_chain kept;

    if (th_error_status() != TH_OK || th_error_link(0) ||
        th_error_raise(TH_MALFORMED, "byte %d", 7) != TH_MALFORMED ||
        th_error_context("in a file") != TH_MALFORMED || th_error_status() != TH_MALFORMED ||
        !strstr(th_error_link(0), "out of memory") || th_error_link(1))
        return false;
    th_error_save(&kept);
    th_error_clear();
    if (th_error_status() != TH_OK || th_error_link(0))
        return false;
    th_error_restore(&kept);
    return kept.count == 1 && th_error_status() == TH_MALFORMED;
}

static void thread_memory_is_null_if_memory_runs_out(void **state)
{
    (void)state;
    assert_true(holds_without_memory(no_memory_is_null));
}

static void an_error_keeps_its_status_if_memory_runs_out(void **state)
{
    (void)state;
    assert_true(holds_without_memory(an_error_keeps_its_status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_gets_its_own_zeroed_memory),
        cmocka_unit_test(thread_memory_is_reallocated_for_late_destructors),
        cmocka_unit_test(thread_memory_is_null_if_memory_runs_out),
        cmocka_unit_test(an_error_keeps_its_status_if_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
