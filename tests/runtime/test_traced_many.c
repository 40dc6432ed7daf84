/* Tests calls with return requests in unusual numbers, and beyond the limit. */
#include "tests/runtime/traced.h"

#include "host/runtime/traced/traced_call.h"

#include <sys/resource.h>

static int begin_with_few(void **state)
{
    (void)state;
    begin_with(4);
    return 0;
}

static size_t lines_with(const char *text)
{
    const char *at = scene_log();
    size_t count = 0;

    for (; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void the_oldest_return_requests_are_dropped(void **state)
{
    (void)state;
    set("deep", 1, RETURNS, TH_BP_GLOBAL);
    set("loop", 1, RETURNS, TH_BP_GLOBAL);
    assert_string_equal(call("deep", "[10]"), "10");
    assert_int_equal(lines_with("return_from"), 4);
    assert_int_equal(th_runtime_calls_not_kept(), 7);
    call("deep", "[5]");
    assert_log("call {party,deep,[5]}\ncall {party,deep,[4]}\ncall {party,deep,[3]}\n"
               "call {party,deep,[2]}\ncall {party,deep,[1]}\ncall {party,deep,[0]}\n"
               "return_from {party,deep,1} 0\nreturn_from {party,deep,1} 1\n"
               "return_from {party,deep,1} 2\nreturn_from {party,deep,1} 3\n");
    assert_int_equal(th_runtime_calls_not_kept(), 9);
    call("loop", "[5]");
    assert_int_equal(lines_with("return_from"), 4);
    assert_int_equal(th_runtime_calls_not_kept(), 11);
    call("loop", "[3]");
    assert_int_equal(lines_with("return_from"), 4);
    assert_int_equal(th_runtime_calls_not_kept(), 11);
}

static int64_t words_of(const char *name, int arity)
{
    struct th_mfa function = {th_atom("party"), th_atom(name), arity};
    struct th_bp_info info;
    int64_t words;

    assert_true(th_trace_session_function_info(session, &function, &info));
    assert_int_equal(info.memory_count, 1);
    words = info.memory[0].amount;
    th_breakpoint_info_free(&info);
    return words;
}

/* The oldest call of four is dropped at each further call. Each call of deep() but the last
 * allocates two words before the next call, each call of loop() but the last six. */
static void calls_beyond_the_limit_are_charged_until_they_are_dropped(void **state)
{
    (void)state;
    set("deep", 1, "true", TH_BP_MEMORY);
    set("loop", 1, "true", TH_BP_MEMORY);
    set("then", 5, "true", TH_BP_MEMORY);
    call("deep", "[100]");
    assert_int_equal(words_of("deep", 1), 100 * 2);
    call("then", "[0,party,loop,[2],k]");
    assert_int_equal(words_of("loop", 1), 2 * 6);
    assert_int_equal(words_of("then", 5), 7); /* three words of arguments, four of the result */
    call("then", "[0,party,loop,[20],k]");
    assert_int_equal(words_of("loop", 1), 22 * 6);
    assert_int_equal(words_of("then", 5), 7 + 3); /* dropped: its result is charged to nobody */
}

/* Calls beyond the limit are counted, too. What runs when they have ended is not charged to them. */
static void an_ended_call_beyond_the_limit_is_charged_nothing(void **state)
{
    struct th_mfa deep = {th_atom("party"), th_atom("deep"), 1};
    struct th_bp_info before, after;

    (void)state;
    set("deep", 1, "true", TH_BP_TIME | TH_BP_MEMORY);
    call("deep", "[100]");
    assert_true(th_trace_session_function_info(session, &deep, &before));
    assert_int_equal(before.time_count, 1);
    assert_int_equal(before.time[0].calls, 101);
    assert_order(before.time[0].amount, >, 0);
    call("loop", "[1000]"); /* 5000 words, no breakpoint */
    assert_true(th_trace_session_function_info(session, &deep, &after));
    assert_int_equal(after.time[0].calls, 101);
    assert_int_equal(after.time[0].amount, before.time[0].amount);
    assert_int_equal(after.memory[0].amount, before.memory[0].amount);
    th_breakpoint_info_free(&before);
    th_breakpoint_info_free(&after);
}

/* Room grows while calls of several frames are open, and is reused afterwards. */
static void many_return_requests_are_kept(void **state)
{
    enum { MANY = 5000 };

    (void)state;
    set("deep", 1, RETURNS, TH_BP_GLOBAL);
    set("loop", 1, RETURNS, TH_BP_GLOBAL);
    for (int i = 0; i < 3; i++) {
        call("deep", "[%d]", MANY);
        assert_int_equal(lines_with("return_from"), MANY + 1);
        call("then", "[0,party,loop,[%d],k]", MANY);
        assert_int_equal(lines_with("return_from"), MANY + 1);
        call("call", "[party,deep,[%d]]", i);
        assert_int_equal(lines_with("return_from"), i + 1);
    }
    assert_int_equal(th_runtime_calls_not_kept(), 0);
}

/* --- Room without calls ----------------------------------------------------------------------- */

static void add(struct th_process *process, size_t number)
{
    *th_traced_open_add(process) = (struct th_open_call){.frames = number};
}

/* Asserts that the last calls, up to LAST, are in order. */
static void assert_in_order(const struct th_process *process, size_t last)
{
    const struct th_open_calls *open = &process->open;

    for (size_t i = 0; i < open->count; i++)
        assert_int_equal(th_traced_open_at(open, i)->frames, last + 1 - open->count + i);
}

static long faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

/* Page faults measure new memory; unlike time, they do not depend on other work of the machine. */
static void no_single_call_pays_for_the_room_of_many(void **state)
{
    enum { MANY = 1000000, FEW = 2000 };
    struct th_process process = {0};
    long most = 0;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        long before = faults();
        add(&process, i);
        most = faults() - before > most ? faults() - before : most;
    }
    assert_int_equal(process.open.count, MANY);
    assert_in_order(&process, MANY - 1);
    assert_in_range(most, 1, FEW);
    add(&process, MANY);
    assert_int_equal(process.open.count, MANY);
    assert_in_order(&process, MANY);
    th_traced_open_drop_all(&process);
}

/* Takes room for 2^LOG2 calls. */
static void take_room(struct th_process *process, unsigned log2)
{
    while (process->open.capacity < (size_t)1 << log2) {
        size_t had = process->open.capacity;
        add(process, 0);
        assert_order(process->open.capacity, >, had);
        process->open.count = process->open.limit; /* as if calls had been added */
    }
}

/* All other room is taken, so a process has dropped calls by the time room is free again. The room
 * suffices for 16 processes; all numbers are powers of two. */
static void room_grows_when_the_oldest_requests_have_wrapped(void **state)
{
    enum { OWN = 14, MOST = 20, ROUND = 1000 };
    struct th_process process = {0}, others[15 + MOST - OWN] = {0};
    size_t count = 0, number = 0;

    (void)state;
    while (number < (size_t)1 << OWN)
        add(&process, number++);
    for (; count < 15; count++)
        take_room(&others[count], MOST);
    for (unsigned log2 = OWN; log2 < MOST; log2++)
        take_room(&others[count++], log2);
    for (; number < (1 << OWN) + ROUND; number++)
        add(&process, number);
    assert_int_equal(process.open.count, 1 << OWN);
    assert_in_order(&process, number - 1);
    for (size_t i = 0; i < count; i++) {
        others[i].open.count = 0;
        th_traced_open_drop_all(&others[i]);
    }
    for (; number < 4 << OWN; number++)
        add(&process, number);
    assert_int_equal(process.open.count, (4 << OWN) - ROUND);
    assert_in_order(&process, number - 1);
    th_traced_open_drop_all(&process);
}

static void an_exception_passes_many_traced_calls(void **state)
{
    enum { MANY = 500 };

    (void)state;
    set("down", 2, EXCEPTIONS, TH_BP_GLOBAL);
#ifndef TH_PROGRESS_TSAN /* keeps at most 65,536 frames of a stack */
    assert_string_equal(call("down", "[100000000,0]"), "error: system_limit");
    assert_order(lines_with("{error,system_limit}"), >, MANY);
#endif
    assert_string_equal(call("down", "[%d,0]", MANY), "500");
    assert_int_equal(lines_with("return_from"), MANY + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_return_requests_are_dropped, begin_with_few,
                                        end),
        cmocka_unit_test_setup_teardown(an_ended_call_beyond_the_limit_is_charged_nothing,
                                        begin_with_few, end),
        cmocka_unit_test_setup_teardown(calls_beyond_the_limit_are_charged_until_they_are_dropped,
                                        begin_with_few, end),
        cmocka_unit_test_setup_teardown(many_return_requests_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(no_single_call_pays_for_the_room_of_many, begin, end),
        cmocka_unit_test_setup_teardown(room_grows_when_the_oldest_requests_have_wrapped, begin,
                                        end),
        cmocka_unit_test_setup_teardown(an_exception_passes_many_traced_calls, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
