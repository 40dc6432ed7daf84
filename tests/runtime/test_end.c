/* Tests ends: of a library whose callback runs on the scheduler threads, and of the program, which
 * ends chains. The latter is final, so its test is the last. */
#include "runs.h"

#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/tracers/options.h"

#include <pthread.h>
#include <sched.h>

/* --- End of a library ------------------------------------------------------------------------- */

static _Atomic int left, left_by[16];

static void on_left(void *unused)
{
    (void)unused;
    assert_non_null(th_self.scheduler);
    left++;
    left_by[th_self.scheduler->number]++;
}

static void on_unloaded(void *unused)
{
    (void)unused;
    assert_int_equal(left, 4);
}

static void all_threads_call_a_library_s_unload_callback(void **state)
{
    struct options options = {
        .set = 1u << ERL_NIF_OPT_ON_UNLOAD_THREAD, .left = on_left, .unloaded = on_unloaded};
    char *path = th_printf("%s/tests/tracers/options.so", getenv("BUILD_DIR"));
    struct th_process *process = th_runtime_run_start();
    struct th_library *library;

    (void)state;
    run(process, "where_dirty_cpu", "[]"); /* starts a dirty thread */
    assert_int_equal(th_library_open(path, &library), TH_OK);
    assert_int_equal(th_library_load(library, NULL, th_small((int64_t)(uintptr_t)&options / 16)),
                     TH_OK);
    th_library_release(library);
    for (int i = 1; i <= 4; i++) /* three schedulers, the first dirty thread */
        assert_int_equal(left_by[i], 1);
    th_runtime_run_exit(process, TH_AM(normal));
    th_free(path);
}

/* --- End of the program ----------------------------------------------------------------------- */

static void *run_for_ever(void *unused)
{
    struct th_process *process = th_runtime_run_start();

    (void)unused;
    assert_string_equal(run(process, "tick", "[1,-1,100]"), "error: halting");
    th_runtime_run_exit(process, TH_AM(normal));
    return NULL;
}

static void a_halt_ends_chains_of_scheduled_functions(void **state)
{
    struct th_process *process = th_runtime_run_start();
    pthread_t threads[4];

    (void)state;
    runner_state->tick_count = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run_for_ever, NULL);
    while (runner_state->tick_count < 100)
        sched_yield();
    th_library_halt();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_string_equal(run(process, "add", "[1,2]"), "3");
    th_runtime_run_exit(process, TH_AM(normal));
}

static int begin(void **state)
{
    (void)state;
    start_runner(3);
    return 0;
}

static int end(void **state)
{
    (void)state;
    stop_runner();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_call_a_library_s_unload_callback),
        cmocka_unit_test(a_halt_ends_chains_of_scheduled_functions),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
