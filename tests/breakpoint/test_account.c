/* Tests the counters of breakpoints: calls, times and memory per process; one set a thread. */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/noting.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static struct noting *a, *b;
static struct th_site *f, *g;
static struct th_account account;

static int begin(void **state)
{
    (void)state;
    a = noting_create('A');
    b = noting_create('B');
    f = new_site();
    g = new_site();
    account = (struct th_account){0};
    a->account = &account;
    a->reading.process = 1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    noting_end(a);
    noting_end(b);
    return things_alive() != 0;
}

static void set(struct th_site *site, struct noting *noting, uint32_t pause, uint32_t restart)
{
    struct th_bp_setting setting = {
        .site = site, .session = &noting->session, .pause = pause, .restart = restart};

    make_settings(&setting, 1);
}

static uint64_t calls_of(struct th_site *site, struct noting *noting)
{
    struct th_bp_info info;
    uint64_t calls;

    th_breakpoint_info(site, &noting->session, &info);
    calls = info.calls;
    th_breakpoint_info_free(&info);
    return calls;
}

static void call_times(struct th_site *site, int times)
{
    for (int i = 0; i < times; i++)
        note_call(site, TH_BP_ALL, NULL);
}

/* --- call_count ------------------------------------------------------------------------------- */

static void each_session_counts_calls_separately(void **state)
{
    (void)state;
    set_kinds(f, a, TH_BP_COUNT, 0);
    call_times(f, 3);
    set_kinds(f, b, TH_BP_COUNT, 0);
    call_times(f, 4);
    assert_int_equal(calls_of(f, a), 7);
    assert_int_equal(calls_of(f, b), 4);
    assert_int_equal(calls_of(g, a), 0);
}

static void a_paused_counter_keeps_its_count_and_a_restart_resets_it(void **state)
{
    (void)state;
    set_kinds(f, a, TH_BP_COUNT, 0);
    call_times(f, 3);
    set(f, a, TH_BP_COUNT, 0);
    assert_false(th_breakpoint_site_is_armed(f));
    call_times(f, 3);
    assert_int_equal(calls_of(f, a), 3);
    set(f, a, 0, TH_BP_COUNT);
    assert_int_equal(calls_of(f, a), 0);
    call_times(f, 2);
    assert_int_equal(calls_of(f, a), 2);
    set_kinds(f, a, TH_BP_COUNT, 0); /* restarts the counter as well */
    assert_int_equal(calls_of(f, a), 0);
}

static void setting_another_kind_keeps_the_call_count(void **state)
{
    (void)state;
    set_kinds(f, a, TH_BP_COUNT, 0);
    call_times(f, 3);
    set_kinds(f, a, TH_BP_LOCAL, 1);
    clear_kinds(f, a, TH_BP_LOCAL);
    call_times(f, 1);
    assert_int_equal(calls_of(f, a), 4);
}

static void reused_counters_begin_at_zero(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        set_kinds(f, a, TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY, 0);
        call_times(f, 2);
        assert_int_equal(calls_of(f, a), 2);
        clear_kinds(f, a, TH_BP_ALL);
    }
}

enum { THREADS = 4, GENERATIONS = 3, TIMES = 5000, FUNCTIONS = 1500 };

static struct th_site *functions[FUNCTIONS];

static void *call_all(void *unused)
{
    struct th_hit hit = {.kinds = TH_BP_COUNT};

    (void)unused;
    for (int i = 0; i < TIMES; i++)
        th_breakpoint_hit(functions[i % FUNCTIONS], &hit);
    return NULL;
}

/* Uses more functions than a page of counters holds, and threads that begin and end. */
static void calls_of_all_threads_are_summed(void **state)
{
    pthread_t threads[THREADS];
    uint64_t sum = 0;

    (void)state;
    for (int i = 0; i < FUNCTIONS; i++) {
        functions[i] = new_site();
        set_kinds(functions[i], a, TH_BP_COUNT, 0);
    }
    for (int i = 0; i < GENERATIONS; i++) {
        for (int k = 0; k < THREADS; k++)
            pthread_create(&threads[k], NULL, call_all, NULL);
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
    }
    for (int i = 0; i < FUNCTIONS; i++)
        sum += calls_of(functions[i], a);
    assert_int_equal(sum, THREADS * GENERATIONS * TIMES);
    assert_int_equal(calls_of(functions[0], a), THREADS * GENERATIONS * (TIMES / FUNCTIONS + 1));
}

/* --- call_time, call_memory ------------------------------------------------------------------- */

static struct th_bp_usage usage(struct th_site *site, bool memory, uint64_t process)
{
    struct th_bp_usage found = {0};
    struct th_bp_info info;

    th_breakpoint_info(site, &a->session, &info);
    for (size_t i = 0; i < (memory ? info.memory_count : info.time_count); i++) {
        struct th_bp_usage *item = memory ? &info.memory[i] : &info.time[i];
        if (item->process == process)
            found = *item;
    }
    th_breakpoint_info_free(&info);
    return found;
}

static void assert_usage(struct th_site *site, bool memory, uint64_t process, uint64_t calls,
                         int64_t amount)
{
    struct th_bp_usage found = usage(site, memory, process);

    assert_int_equal(found.calls, calls);
    assert_int_equal(found.amount, amount);
}

static void at(int64_t now, uint64_t words)
{
    a->reading.now = now;
    a->reading.words = words;
}

/* Returns the frame of the call. */
static struct th_account_frame call(struct th_site *site)
{
    uint32_t asked;

    note_call(site, TH_BP_ALL, &asked);
    assert_true(asked & TH_HIT_ACCOUNTED);
    return a->frame;
}

static void ret(struct th_account_frame frame)
{
    th_breakpoint_account_return(&account, &a->session, &frame, &a->reading);
}

static void time_and_memory_are_charged_to_the_innermost_function(void **state)
{
    struct th_account_frame of_f, of_g, again;

    (void)state;
    set_kinds(f, a, TH_BP_TIME | TH_BP_MEMORY, 0);
    set_kinds(g, a, TH_BP_TIME | TH_BP_MEMORY, 0);
    at(1000, 10);
    of_f = call(f);
    at(1005, 12);
    of_g = call(g);
    at(1100, 20);
    again = call(g); /* a recursive call */
    at(1103, 20);
    ret(again);
    at(1200, 30);
    ret(of_g);
    at(1201, 33);
    ret(of_f);
    at(9999, 99);
    assert_usage(f, false, 1, 1, 5 + 1);
    assert_usage(f, true, 1, 1, 2 + 3);
    assert_usage(g, false, 1, 2, 195);
    assert_usage(g, true, 1, 2, 18);
    assert_null(account.time);
    assert_null(account.memory);
}

static void a_process_is_charged_no_time_while_it_is_not_running(void **state)
{
    struct th_account_frame frame;

    (void)state;
    set_kinds(f, a, TH_BP_TIME, 0);
    at(100, 0);
    frame = call(f);
    at(110, 0);
    th_breakpoint_account_pause(&account, &a->session, &a->reading);
    assert_usage(f, false, 1, 1, 10);
    at(500, 0);
    th_breakpoint_account_resume(&account, &a->reading);
    at(503, 0);
    ret(frame);
    assert_usage(f, false, 1, 1, 13);
}

static void time_and_memory_are_charged_independently(void **state)
{
    struct th_account_frame of_f, of_g;

    (void)state;
    set_kinds(f, a, TH_BP_TIME, 0);
    set_kinds(g, a, TH_BP_MEMORY, 0);
    at(0, 0);
    of_f = call(f);
    at(10, 100);
    of_g = call(g);
    at(30, 101);
    ret(of_g);
    at(60, 200);
    ret(of_f);
    assert_usage(f, false, 1, 1, 60);
    assert_usage(g, true, 1, 1, 1);
    assert_usage(f, true, 1, 0, 0);
    assert_usage(g, false, 1, 0, 0);
}

static void a_breakpoint_removed_or_paused_in_a_call_is_not_charged(void **state)
{
    struct th_account_frame of_f, of_g;

    (void)state;
    set_kinds(f, a, TH_BP_TIME, 0);
    set_kinds(g, a, TH_BP_TIME, 0);
    at(0, 0);
    of_f = call(f);
    at(10, 0);
    of_g = call(g);
    clear_kinds(f, a, TH_BP_TIME);
    at(20, 0);
    ret(of_g);
    set(g, a, TH_BP_TIME, 0);
    at(50, 0);
    ret(of_f);
    assert_usage(g, false, 1, 1, 10);
    set_kinds(f, a, TH_BP_TIME, 0);
    assert_usage(f, false, 1, 0, 0);
}

static void calls_of_an_untraced_process_are_not_charged(void **state)
{
    uint32_t asked;

    (void)state;
    a->account = NULL;
    set_kinds(f, a, TH_BP_TIME, 0);
    note_call(f, TH_BP_ALL, &asked);
    assert_int_equal(asked, 0);
    assert_usage(f, false, 1, 0, 0);
}

static struct {
    struct th_account account;
    int64_t now;
} runners[THREADS];

static _Thread_local int runner;

static struct th_account *account_of(struct th_hit *hit, struct th_bp_session *session,
                                     struct th_account_reading *reading)
{
    (void)session;
    *reading = (struct th_account_reading){.process = (uintptr_t)hit->context,
                                           .now = runners[runner].now += 2};
    return &runners[runner].account;
}

static void entered(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame)
{
    struct th_account_reading reading;
    struct th_account *of = account_of(hit, session, &reading);

    th_breakpoint_account_return(of, session, frame, &reading); /* ends two nanoseconds later */
}

static const struct th_bp_hooks timing = {.account = account_of, .entered = entered};

enum { PROCESSES = 300, ROUNDS = 20 };

static void *run_processes(void *number)
{
    runner = (int)(intptr_t)number;
    for (int i = 0; i < ROUNDS; i++)
        for (uintptr_t k = 1; k <= PROCESSES; k++) {
            struct th_hit hit = {.kinds = TH_BP_TIME, .context = (void *)k};
            th_breakpoint_hit(f, &hit);
        }
    return NULL;
}

static void keep_session(struct th_shared *session)
{
    (void)session;
}

/* This thread reads the tables while the others run and the tables grow. */
static void call_times_of_all_threads_are_summed(void **state)
{
    static struct th_bp_session session;
    struct th_bp_setting setting = {.site = f, .session = &session, .set = TH_BP_TIME};
    struct th_bp_info info;
    pthread_t threads[THREADS];

    (void)state;
    th_breakpoint_session_init(&session, &timing, keep_session);
    make_settings(&setting, 1);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_processes, (void *)i);
    for (int i = 0; i < 200; i++) {
        assert_true(th_breakpoint_info(f, &session, &info));
        th_breakpoint_info_free(&info);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    th_breakpoint_info(f, &session, &info);
    assert_int_equal(info.time_count, PROCESSES);
    for (size_t i = 0; i < info.time_count; i++) {
        assert_int_equal(info.time[i].calls, THREADS * ROUNDS);
        assert_int_equal(info.time[i].amount, 2 * THREADS * ROUNDS);
    }
    th_breakpoint_info_free(&info);
    setting = (struct th_bp_setting){.site = f, .session = &session, .clear = TH_BP_ALL};
    make_settings(&setting, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(each_session_counts_calls_separately),
        TEST(a_paused_counter_keeps_its_count_and_a_restart_resets_it),
        TEST(setting_another_kind_keeps_the_call_count),
        TEST(reused_counters_begin_at_zero),
        TEST(calls_of_all_threads_are_summed),
        TEST(time_and_memory_are_charged_to_the_innermost_function),
        TEST(a_process_is_charged_no_time_while_it_is_not_running),
        TEST(time_and_memory_are_charged_independently),
        TEST(a_breakpoint_removed_or_paused_in_a_call_is_not_charged),
        TEST(calls_of_an_untraced_process_are_not_charged),
        TEST(call_times_of_all_threads_are_summed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
