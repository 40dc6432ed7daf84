/* Tests where and when functions run: types of threads, chains, turns, several processes. */
#include "runs.h"

#include "host/runtime/queue.h"

#include "host/nif/nif.h"
#include "host/self/self.h"
#include "host/term/term.h"

#include <pthread.h>
#include <sched.h>

static struct th_process *process;

/* --- Threads --------------------------------------------------------------------------------- */

static void functions_run_on_the_threads_that_their_flags_name(void **state)
{
    (void)state;
    assert_string_equal(run(process, "where", "[]"), "1");
    assert_string_equal(run(process, "where_dirty_cpu", "[]"), "2");
    assert_string_equal(run(process, "where_dirty_io", "[]"), "3");
    assert_int_equal(enif_thread_type(), ERL_NIF_THR_UNDEFINED);
    assert_int_equal(enif_scheduler_id(), 0);
}

static void a_chain_of_functions_moves_between_threads(void **state)
{
    (void)state;
    assert_string_equal(run(process, "hop", "[[0,0,1,1,2,2,0,2,1,0],[]]"),
                        "[1,2,3,1,3,3,2,2,1,1,1]");
    assert_string_equal(run(process, "hop_dirty", "[[1],[]]"), "[2,3]");
    assert_string_equal(run(process, "hop", "[[2,4],[]]"), "error: badarg");
}

static void the_runtime_reports_its_numbers_of_threads(void **state)
{
    struct th_runtime_setup threads = th_runtime_threads();
    ErlNifSysInfo info;

    (void)state;
    assert_int_equal(threads.schedulers, 1);
    assert_int_equal(threads.dirty_cpu, 1);
    assert_int_equal(threads.dirty_io, 10);
    enif_system_info(&info, sizeof info);
    assert_int_equal(info.scheduler_threads, 1);
}

/* --- Turns ----------------------------------------------------------------------------------- */

static void consumed_time_slices_add_up_to_a_turn(void **state)
{
    (void)state;
    assert_string_equal(run(process, "consume", "[30]"), "[0,0,0,1,1]");
    assert_string_equal(run(process, "consume", "[1000]"), "[1,1,1,1,1]");
    assert_string_equal(run(process, "consume", "[-5]"), "[0,0,0,0,0]");
    assert_string_equal(run(process, "consume_dirty", "[100]"), "[0,0,0,0,0]");
}

/* A call of consume(5) takes slightly more than a quarter of a turn. */
static void four_calls_use_up_a_turn(void)
{
    for (int i = 0; i < 3; i++)
        assert_string_equal(run(process, "consume", "[5]"), "[0,0,0,0,0]");
    assert_string_equal(run(process, "consume", "[5]"), "[0,0,0,0,1]");
}

static void calls_share_a_turn(void **state)
{
    (void)state;
    th_runtime_run_yield(process);
    four_calls_use_up_a_turn();
    four_calls_use_up_a_turn();
    assert_string_equal(run(process, "consume", "[5]"), "[0,0,0,0,0]");
    th_runtime_run_yield(process);
    four_calls_use_up_a_turn();
}

struct request {
    const char *name, *arguments, *expected;
    unsigned times;
    bool failed;
};

static void *run_request(void *context)
{
    struct request *request = context;
    struct th_process *own = th_runtime_run_start();

    for (unsigned i = 0; i < request->times; i++)
        request->failed |=
            strcmp(run(own, request->name, request->arguments), request->expected) != 0;
    th_runtime_run_exit(own, TH_AM(normal));
    return NULL;
}

/* Waits until the queue of the type has LENGTH processes. */
static void await_queue(struct th_queue *queue, unsigned length)
{
    unsigned now;

    do {
        pthread_mutex_lock(&queue->lock);
        now = queue->length;
        pthread_mutex_unlock(&queue->lock);
        sched_yield();
    } while (now < length);
}

static void close_gate(void)
{
    runner_state->open = 0;
    runner_state->waiting = 0;
    runner_state->tick_count = 0;
}

static void await_waiting(int count)
{
    while (runner_state->waiting < count)
        sched_yield();
}

/* Two processes tick on the only scheduler, into whose queue they were added in order. Each tick
 * uses PERCENT of a turn. */
static void tick_in_two_processes(int percent)
{
    char first[32], second[32];
    struct request requests[] = {{"wait", "[]", "ok", 1, false},
                                 {"tick", first, "ok", 1, false},
                                 {"tick", second, "ok", 1, false}};
    pthread_t threads[3];

    snprintf(first, sizeof first, "[1,8,%d]", percent);
    snprintf(second, sizeof second, "[2,8,%d]", percent);
    close_gate();
    pthread_create(&threads[0], NULL, run_request, &requests[0]);
    await_waiting(1);
    for (unsigned i = 1; i < 3; i++) {
        pthread_create(&threads[i], NULL, run_request, &requests[i]);
        while (th_runtime_run_queue_length(0) < i)
            sched_yield();
    }
    runner_state->open = 1;
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_false(requests[i].failed);
    }
    assert_int_equal(runner_state->tick_count, 16);
}

static void expect_ticks(const int expected[16])
{
    for (int i = 0; i < 16; i++)
        assert_int_equal(runner_state->ticks[i], expected[i]);
}

static void a_process_that_used_up_its_turn_waits_for_others(void **state)
{
    (void)state;
    tick_in_two_processes(100);
    expect_ticks((int[]){1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2});
}

static void a_process_continues_until_its_turn_is_used_up(void **state)
{
    (void)state;
    tick_in_two_processes(34); /* three make a turn */
    expect_ticks((int[]){1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2});
    tick_in_two_processes(1);
    expect_ticks((int[]){1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2});
}

/* --- Many ------------------------------------------------------------------------------------ */

static void dirty_threads_are_created_on_demand(void **state)
{
    struct th_queue *queue = &th_runtime_queues[ERL_NIF_THR_DIRTY_IO_SCHEDULER];
    struct request requests[12];
    pthread_t threads[12];

    (void)state;
    assert_true(queue->count >= 1 && queue->count < 10);
    close_gate();
    for (int i = 0; i < 12; i++) {
        requests[i] = (struct request){"wait_dirty", "[]", "ok", 1, false};
        pthread_create(&threads[i], NULL, run_request, &requests[i]);
    }
    await_waiting(10);
    await_queue(queue, 2); /* the limit is 10 */
    assert_int_equal(queue->count, 10);
    assert_string_equal(run(process, "add", "[1,2]"), "3"); /* they do not delay others */
    runner_state->open = 1;
    for (int i = 0; i < 12; i++) {
        pthread_join(threads[i], NULL);
        assert_false(requests[i].failed);
    }
}

static void many_processes_share_a_few_threads(void **state)
{
    static const struct request kinds[] = {
        {"add", "[20,22]", "42", 300, false},
        {"hop", "[[0,1,2,0],[]]", "[1,3,2,1,1]", 60, false},
        {"count", "[5000,{kept}]", "{kept}", 5, false},
        {"let_go_elsewhere", "[]", "ok", 60, false},
    };
    struct request requests[16];
    pthread_t threads[16];

    (void)state;
    for (int i = 0; i < 16; i++) {
        requests[i] = kinds[i % 4];
        pthread_create(&threads[i], NULL, run_request, &requests[i]);
    }
    for (int i = 0; i < 16; i++) {
        pthread_join(threads[i], NULL);
        assert_false(requests[i].failed);
    }
}

/* --- Tasks ------------------------------------------------------------------------------------ */

static _Atomic int visited, visited_normal;

static void visit(void *argument)
{
    assert_ptr_equal(argument, &visited);
    assert_non_null(th_self.scheduler);
    visited++;
    visited_normal += th_self.scheduler->type == ERL_NIF_THR_NORMAL_SCHEDULER;
}

static void *send_all(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++)
        th_runtime_task(visit, &visited);
    return NULL;
}

static void tasks_reach_each_thread_once(void **state)
{
    pthread_t others[3];

    (void)state;
    visited = visited_normal = 0;
    run(process, "where_dirty_cpu", "[]"); /* starts one */
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, send_all, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    assert_int_equal(visited_normal, 60 * 4);
    assert_int_equal(visited, 60 * 5);
}

static int begin(unsigned schedulers)
{
    start_runner(schedulers);
    process = th_runtime_run_start();
    return 0;
}

static int begin_one(void **state)
{
    (void)state;
    return begin(1);
}

static int begin_four(void **state)
{
    (void)state;
    return begin(4);
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
    const struct CMUnitTest with_one[] = {
        cmocka_unit_test(functions_run_on_the_threads_that_their_flags_name),
        cmocka_unit_test(a_chain_of_functions_moves_between_threads),
        cmocka_unit_test(the_runtime_reports_its_numbers_of_threads),
        cmocka_unit_test(consumed_time_slices_add_up_to_a_turn),
        cmocka_unit_test(calls_share_a_turn),
        cmocka_unit_test(a_process_that_used_up_its_turn_waits_for_others),
        cmocka_unit_test(a_process_continues_until_its_turn_is_used_up),
        cmocka_unit_test(dirty_threads_are_created_on_demand),
    };
    const struct CMUnitTest with_four[] = {
        cmocka_unit_test(tasks_reach_each_thread_once),
        cmocka_unit_test(many_processes_share_a_few_threads),
    };

    return cmocka_run_group_tests(with_one, begin_one, end) +
           cmocka_run_group_tests(with_four, begin_four, end);
}
