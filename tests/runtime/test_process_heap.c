/* Tests the heap of a process in long chains, resources and their destructors, messages. */
#include "runs.h"
#include "host/process/process.h"
#include "host/runtime/process_life.h"
#include "host/runtime/runtime.h"
#include "host/runtime/runtime_internal.h"
#include "host/term/term.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static struct th_process *process;

/* --- The heap -------------------------------------------------------------------------------- */

enum { MEGABYTE = 1 << 20 };

/* Freed memory that may stay in use: the address sanitizer keeps some to detect later uses. */
#ifdef __SANITIZE_ADDRESS__
enum { KEPT = 300 * MEGABYTE };
#else
enum { KEPT = 0 };
#endif

/* Returns the memory that the program has in use, in bytes. */
static long resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long size, pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* A million steps make more than a gigabyte of garbage. */
static void a_long_chain_of_calls_keeps_the_heap_small(void **state)
{
    long before;

    (void)state;
    run(process, "count", "[20000,{warm,\"up\"}]");
    before = resident();
    assert_string_equal(run(process, "count", "[1000000,{kept,[\"as it was\",1.5]}]"),
                        "{kept,[\"as it was\",1.5]}");
    assert_order(resident() - before, <, 16 * MEGABYTE + KEPT);
    assert_order(th_env_footprint(process->env), <, 4 * MEGABYTE);
}

static void large_binaries_lead_to_collections(void **state)
{
    long before = resident();

    (void)state;
    assert_string_equal(run(process, "binaries", "[1000]"), "ok");
    assert_order(resident() - before, <, 64 * MEGABYTE + KEPT);
}

/* Returns a tuple of depth DEPTH, in which each tuple contains the next one twice. */
static th_term make_doubled(th_env *env, int depth)
{
    th_term term = TH_NIL;

    while (depth-- > 0)
        term = th_make_tuple(env, (th_term[]){term, term}, 2);
    return term;
}

static void a_heap_that_a_copy_would_multiply_is_not_collected(void **state)
{
    struct th_process *own = th_runtime_process_create(false, NULL, false); /* in no queue */
    th_env *before = own->env;
    th_term argv[1];

    (void)state;
    argv[0] = make_doubled(own->env, 60);
    own->next.argc = 1;
    own->next.argv = argv;
    own->collect_at = 0;
    th_runtime_heap_collect(own);
    assert_ptr_equal(own->env, before);
    assert_order(own->collect_at, >=, 2 * th_env_footprint(before));
    th_runtime_process_end(own, TH_AM(normal));
}

/* --- Destructors ----------------------------------------------------------------------------- */

static void await_destroyed(int count)
{
    while (runner_state->destroyed < count)
        sched_yield();
    assert_int_equal(runner_state->destroyed, count);
    assert_int_equal(runner_state->destroyed_on, ERL_NIF_THR_NORMAL_SCHEDULER);
}

static void a_released_resource_is_destroyed_after_the_call(void **state)
{
    (void)state;
    runner_state->destroyed = 0;
    assert_string_equal(run(process, "let_go", "[]"), "0"); /* not during the function */
    assert_int_equal(runner_state->destroyed, 1);
    run(process, "let_go_dirty", "[]");
    assert_int_equal(runner_state->destroyed, 2);
    assert_int_equal(runner_state->destroyed_on, ERL_NIF_THR_NORMAL_SCHEDULER);
}

static void a_resource_released_by_another_thread_is_destroyed(void **state)
{
    th_term term;
    th_env env;

    (void)state;
    runner_state->destroyed = 0;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(run_in(process, "hold", "[]", &env, &term), TH_CALL_RETURNED);
    assert_int_equal(runner_state->destroyed, 0); /* the result has a reference */
    th_env_release(&env);
    await_destroyed(1); /* without any further call */
    assert_string_equal(run(process, "let_go_elsewhere", "[]"), "ok");
    await_destroyed(2);
}

/* --- Messages -------------------------------------------------------------------------------- */

static void *send_later(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    th_process_send(th_runtime_run_pid(process), TH_AM(ok));
    return NULL;
}

static void expect_message(int64_t nanoseconds, th_term expected)
{
    struct th_message *message = th_runtime_run_receive(process, nanoseconds);

    assert_non_null(message);
    assert_term_equal(message->term, expected);
    th_process_message_free(message);
}

static void messages_come_in_order(void **state)
{
    (void)state;
    assert_null(th_runtime_run_receive(process, 0));
    for (int i = 0; i < 3; i++)
        assert_true(th_process_send(th_runtime_run_pid(process), th_small(i)));
    expect_message(0, th_small(0));
    assert_true(th_process_send(th_runtime_run_pid(process), th_small(3)));
    for (int i = 1; i < 4; i++)
        expect_message(0, th_small(i));
    assert_null(th_runtime_run_receive(process, 0));
}

static void a_receive_waits_for_a_message(void **state)
{
    int64_t before = th_clock_real_monotonic();
    pthread_t sender;

    (void)state;
    assert_null(th_runtime_run_receive(process, 30 * 1000 * 1000));
    assert_order(th_clock_real_monotonic() - before, >=, 30 * 1000 * 1000);
    pthread_create(&sender, NULL, send_later, NULL);
    expect_message(INT64_MAX, TH_AM(ok));
    pthread_join(sender, NULL);
    pthread_create(&sender, NULL, send_later, NULL);
    expect_message(-1, TH_AM(ok));
    pthread_join(sender, NULL);
}

static void unread_messages_are_freed_with_the_process(void **state)
{
    struct th_process *other = th_runtime_run_start();
    th_term pid = th_runtime_run_pid(other);

    (void)state;
    for (int i = 0; i < 3; i++)
        th_process_send(pid, th_small(i));
    th_process_message_free(th_runtime_run_receive(other, 0));
    assert_true(th_process_alive(pid));
    th_runtime_run_exit(other, TH_AM(normal));
    assert_false(th_process_alive(pid));
    assert_false(th_process_send(pid, TH_AM(ok)));
}

static int begin(void **state)
{
    (void)state;
    start_runner(2);
    process = th_runtime_run_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    stop_runner();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_chain_of_calls_keeps_the_heap_small),
        cmocka_unit_test(large_binaries_lead_to_collections),
        cmocka_unit_test(a_heap_that_a_copy_would_multiply_is_not_collected),
        cmocka_unit_test(a_released_resource_is_destroyed_after_the_call),
        cmocka_unit_test(a_resource_released_by_another_thread_is_destroyed),
        cmocka_unit_test(messages_come_in_order),
        cmocka_unit_test(a_receive_waits_for_a_message),
        cmocka_unit_test(unread_messages_are_freed_with_the_process),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
