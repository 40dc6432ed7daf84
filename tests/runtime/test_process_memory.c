/* Tests the memory of ended processes: later processes reuse it, without any of its content. */
#include "host/check/check.h"
#include "host/runtime/process_life.h"

#include "host/base/base.h"
#include "host/runtime/runtime.h"
#include "host/runtime/runtime_internal.h"
#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#ifdef TH_ADDRESS_SANITIZER
static const bool keeps = false;
#else
static const bool keeps = true;
#endif

enum { FULL = 32, MANY = 5000, MOST_KEPT = 128 * FULL, WORDS = 1000 };

static const struct th_scheduler scheduler = {ERL_NIF_THR_NORMAL_SCHEDULER, 1};
static struct th_process *processes[MANY];

static int begin(void **state)
{
    (void)state;
    th_self.scheduler = &scheduler;
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_process_memory_leave();
    th_runtime_process_memory_end();
    th_self.scheduler = NULL;
    return 0;
}

/* Creates COUNT processes that use their heaps. */
static void take(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        processes[i] = th_runtime_process_memory_take();
        th_env_take(processes[i]->env, 1);
    }
}

static void give(size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_runtime_process_memory_give(processes[i]);
}

/* Returns the number of allocations for COUNT processes, which are released then. */
static unsigned long allocations_of(size_t count)
{
    unsigned long before = th_alloc_count();

    take(count);
    before = th_alloc_count() - before;
    give(count);
    return before;
}

static void assert_is_new(const struct th_process *process)
{
    static const struct th_process zeros;
    struct th_process copy;

    memcpy(&copy, process, sizeof copy);
    assert_non_null(copy.env);
    assert_int_equal(copy.env->kind, TH_ENV_CALLBACK);
    assert_null(copy.env->offheap);
    assert_null(copy.env->library);
    assert_term_equal(copy.env->self, TH_NONE);
    assert_term_equal(copy.env->exception, TH_NONE);
    assert_int_equal(th_env_used(copy.env), 0);
    copy.env = NULL;
    assert_memory_equal(&copy, &zeros, sizeof copy);
}

static int released;

static void count_release(struct th_offheap *self)
{
    (void)self;
    released++;
}

/* Writes WORDS of the heap, and all of the process. */
static void use(struct th_process *process, size_t words)
{
    th_env *env = process->env;
    struct th_offheap *held = (struct th_offheap *)th_env_take(env, words);

    memset(process, 0x5A, sizeof *process);
    process->env = env;
    th_env_hold(env, held, count_release);
    env->self = th_local_pid(1, 2);
    env->exception = TH_AM(badarg);
    env->library = &released;
}

static void reused_memory_holds_nothing_of_the_last_process(void **state)
{
    struct th_process *process = th_runtime_process_memory_take(), *next;

    (void)state;
    assert_is_new(process);
    use(process, sizeof(struct th_offheap) / sizeof(th_term));
    released = 0;
    th_runtime_process_memory_give(process);
    assert_int_equal(released, 1);
    next = th_runtime_process_memory_take();
    assert_is_new(next);
    if (keeps)
        assert_ptr_equal(next, process);
    th_runtime_process_memory_give(next);
}

static void processes_in_sequence_reuse_one_allocation(void **state)
{
    (void)state;
    assert_order(allocations_of(1), >, 0);
    for (int i = 0; i < MANY && keeps; i++)
        assert_int_equal(allocations_of(1), 0);
}

/* The most that may be kept: by the scheduler and in the depot. */
static void a_second_crowd_of_processes_allocates_nothing(void **state)
{
    (void)state;
    assert_order(allocations_of(MOST_KEPT), >=, MOST_KEPT);
    for (size_t count = 1; count <= MOST_KEPT && keeps; count = 2 * count + 1)
        assert_int_equal(allocations_of(count), 0);
}

static void memory_beyond_the_limit_is_freed(void **state)
{
    enum { OWN = FULL + MANY % FULL };
    unsigned long first = allocations_of(MANY), second = allocations_of(MANY);

    (void)state;
    assert_int_equal(first % MANY, 0);
    assert_int_equal(second, keeps ? (MANY - MOST_KEPT - OWN) * (first / MANY) : first);
}

static void a_large_heap_is_not_kept(void **state)
{
    struct th_process *process = th_runtime_process_memory_take();

    (void)state;
    use(process, WORDS);
    released = 0;
    th_runtime_process_memory_give(process);
    assert_int_equal(released, 1);
    process = th_runtime_process_memory_take();
    assert_is_new(process);
    assert_int_equal(th_env_footprint(process->env), 0);
    th_runtime_process_memory_give(process);
}

/* Releases processes of others, then creates its own. */
static void *give_all(void *allocated)
{
    th_self.scheduler = &scheduler;
    give(MOST_KEPT);
    *(unsigned long *)allocated = allocations_of(FULL);
    th_runtime_process_memory_leave();
    return NULL;
}

static void memory_of_ended_processes_reaches_other_threads(void **state)
{
    pthread_t other;
    unsigned long allocated = 1;

    (void)state;
    take(MOST_KEPT);
    assert_int_equal(pthread_create(&other, NULL, give_all, &allocated), 0);
    pthread_join(other, NULL);
    if (keeps) {
        assert_int_equal(allocated, 0);
        assert_int_equal(allocations_of(MOST_KEPT - 2 * FULL), 0);
    }
}

static void a_thread_without_a_scheduler_keeps_no_memory(void **state)
{
    struct th_process *process;

    (void)state;
    allocations_of(1);
    th_self.scheduler = NULL;
    assert_order(allocations_of(1), >, 0);
    process = th_runtime_process_memory_take();
    assert_is_new(process);
    th_env_free(process->env);
    process->env = NULL;
    th_runtime_process_memory_give(process);
}

static void the_checker_keeps_no_memory(void **state)
{
    (void)state;
    allocations_of(FULL);
    th_check_start();
    assert_order(allocations_of(FULL), >=, FULL);
    assert_int_equal(th_check_end(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reused_memory_holds_nothing_of_the_last_process, begin,
                                        end),
        cmocka_unit_test_setup_teardown(processes_in_sequence_reuse_one_allocation, begin, end),
        cmocka_unit_test_setup_teardown(a_second_crowd_of_processes_allocates_nothing, begin, end),
        cmocka_unit_test_setup_teardown(memory_beyond_the_limit_is_freed, begin, end),
        cmocka_unit_test_setup_teardown(a_large_heap_is_not_kept, begin, end),
        cmocka_unit_test_setup_teardown(memory_of_ended_processes_reaches_other_threads, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_thread_without_a_scheduler_keeps_no_memory, begin, end),
        cmocka_unit_test_setup_teardown(the_checker_keeps_no_memory, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
