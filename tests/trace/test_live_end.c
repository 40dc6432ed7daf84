/* Tests the ends and the counters of live calls. */
#include "host/term/term.h"
#include "tests/trace/live.h"

/* --- Ends ------------------------------------------------------------------------------------- */

static void nested_calls_return_in_reverse_order(void **state)
{
    struct th_live_requests one, two;

    (void)state;
    set(session, NULL, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    one = call(0, 1, TOLD("f0", "1"));
    two = call(1, 2, TOLD("f1", "2"));
    returns(1, &two, "done", ENDED("f1", "done"));
    returns(0, &one, "done", ENDED("f0", "done"));
    returns(0, &one, "done", "");
}

static void only_exception_trace_reports_exceptions(void **state)
{
    struct th_live_requests one, two;

    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    set(session, "f1", "[{'_',[],[{exception_trace}]}]", TH_BP_LOCAL);
    one = call(0, 1, TOLD("f0", "1"));
    two = call(1, 2, TOLD("f1", "2"));
    alive_raise(me, 1, &two, "boom");
    assert_string_equal(scene_log(), RAISED("f1", "boom"));
    alive_raise(me, 0, &one, "boom");
    assert_string_equal(scene_log(), "");
    two = call(1, 2, TOLD("f1", "2"));
    returns(1, &two, "ok", ENDED("f1", "ok"));
}

static void flags_at_the_end_of_a_call_decide_on_its_return(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    requests = call(0, 1, TOLD("f0", "1"));
    th_trace_session_trace_one(session, me->process.id, false, TH_FLAG_CALL);
    returns(0, &requests, "ok", "");
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
    requests = call(0, 1, TOLD("f0", "1"));
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_SILENT);
    returns(0, &requests, "ok", ENDED("f0", "ok"));
    assert_int_equal(th_trace_session_counts(session).untraced, 1);
}

static void a_return_can_be_traced_without_its_call(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set(session, "f0", "[{'_',[],[{message,false},{return_trace}]}]", TH_BP_LOCAL);
    requests = call(0, 1, ASKED);
    returns(0, &requests, "ok", ENDED("f0", "ok"));
}

static void return_to_follows_the_end_of_a_call(void **state)
{
    struct th_live_requests outer, inner;

    (void)state;
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
    set(session, NULL, "true", TH_BP_LOCAL);
    outer = call(0, 1, TOLD("f0", "1"));
    inner = call(1, 2, TOLD("f1", "2"));
    returns(1, &inner, "ok", "");
    alive_return_to(me, 0);
    assert_string_equal(scene_log(), BACK("f0"));
    alive_return_to(me, 0);
    assert_string_equal(scene_log(), "");
    inner = call(1, 2, TOLD("f1", "2"));
    alive_raise(me, 1, &inner, "boom");
    alive_return_to(me, 0);
    returns(0, &outer, "ok", BACK("f0"));
    th_live_return_to(&me->process, &(struct th_caller){TH_CALLER_UNDEFINED, {0}});
    assert_string_equal(scene_log(), "trace_call(return_to,s," ME ",undefined,#{}) self\n");
}

static void global_breakpoints_raise_no_return_to(void **state)
{
    struct th_live_requests requests;

    (void)state;
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
    set(session, "f0", "true", TH_BP_GLOBAL);
    requests = call(0, 1, TOLD("f0", "1"));
    assert_int_equal(requests.count, 0);
}

static void a_later_session_gets_no_returns_of_an_earlier_one(void **state)
{
    struct th_live_requests requests;

    (void)state;
    other = add("t", TH_FLAG_CALL | TH_FLAG_RETURN_TO);
    set(other, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    requests = call(0, 1, TOLD_TO("t", "f0", "1"));
    returns(0, &requests, "ok", ENDED_FOR("t", "f0", "ok"));
    assert_true(th_live_is_returning(&me->process));
    th_trace_session_destroy(other);
    other = add("u", TH_FLAG_CALL | TH_FLAG_RETURN_TO); /* reuses the index */
    alive_return_to(me, 1);
    assert_string_equal(scene_log(), "");
    requests = call(0, 1, "");
    set(other, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    requests = call(0, 1, TOLD_TO("u", "f0", "1"));
    th_trace_session_destroy(other);
    returns(0, &requests, "ok", "");
}

static void many_sessions_trace_one_call(void **state)
{
    enum { MANY = 20 };
    struct th_live_requests requests;
    const char *log;

    (void)state;
    for (int i = 0; i < MANY; i++)
        set(add("t", TH_FLAG_CALL), "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    requests = alive_call(me, 0, th_small(1));
    scene_log();
    assert_int_equal(requests.count, MANY);
    alive_return(me, 0, &requests, "ok");
    log = scene_log();
    for (int i = 0; i < MANY; i++) {
        assert_memory_equal(log, ENDED_FOR("t", "f0", "ok"), strlen(ENDED_FOR("t", "f0", "ok")));
        log += strlen(ENDED_FOR("t", "f0", "ok"));
    }
    requests = alive_call(me, 0, th_small(1));
    assert_int_equal(requests.count, MANY);
    th_live_drop(&me->process, &requests);
    scene_log();
}

/* --- Counters --------------------------------------------------------------------------------- */

static struct th_bp_usage memory_of(unsigned i)
{
    struct th_bp_usage usage = {0};
    struct th_bp_info info;

    assert_true(th_trace_session_function_info(session, &alive_functions[i].function.name, &info));
    assert_true(info.kinds & TH_BP_MEMORY && info.memory_count <= 1);
    if (info.memory_count)
        usage = info.memory[0];
    th_breakpoint_info_free(&info);
    return usage;
}

static void spend(unsigned i, uint64_t words)
{
    struct th_live_requests requests = alive_call(me, i, th_small(1));

    me->words += words;
    alive_return(me, i, &requests, "ok");
}

static void assert_memory(unsigned i, uint64_t calls, int64_t words)
{
    struct th_bp_usage usage = memory_of(i);

    assert_int_equal(usage.calls, calls);
    assert_int_equal(usage.amount, words);
}

static void call_memory_counts_words_by_process(void **state)
{
    struct th_live_requests outer;

    (void)state;
    set(session, "f0", "true", TH_BP_MEMORY);
    set(session, "f1", "true", TH_BP_MEMORY);
    outer = alive_call(me, 0, th_small(1));
    me->words += 10;
    spend(1, 100);
    me->words += 20;
    th_live_pause(&me->process);
    me->words += 1000; /* outside of the call */
    th_live_resume(&me->process);
    alive_return(me, 0, &outer, "ok");
    assert_memory(0, 1, 30);
    assert_memory(1, 1, 100);
    set(session, "f1", "pause", TH_BP_MEMORY);
    spend(1, 50);
    assert_memory(1, 1, 100);
    set(session, "f1", "restart", TH_BP_MEMORY);
    assert_memory(1, 0, 0);
    spend(1, 5);
    assert_memory(1, 1, 5);
    assert_string_equal(scene_log(), "");
}

static void call_time_follows_the_real_clock(void **state)
{
    struct th_live_requests requests;
    struct th_bp_info info;
    int64_t before = th_clock_real_monotonic(), spent;

    (void)state;
    set(session, "f0", "true", TH_BP_TIME);
    requests = alive_call(me, 0, th_small(1));
    while (th_clock_real_monotonic() < before + 2000000)
        ;
    alive_return(me, 0, &requests, "ok");
    spent = th_clock_real_monotonic() - before;
    th_trace_session_function_info(session, &alive_functions[0].function.name, &info);
    assert_int_equal(info.time_count, 1);
    assert_true(info.time[0].process == me->process.id && info.time[0].calls == 1);
    assert_in_range(info.time[0].amount, 1, spent);
    th_breakpoint_info_free(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(nested_calls_return_in_reverse_order),
        TEST(only_exception_trace_reports_exceptions),
        TEST(flags_at_the_end_of_a_call_decide_on_its_return),
        TEST(a_return_can_be_traced_without_its_call),
        TEST(return_to_follows_the_end_of_a_call),
        TEST(global_breakpoints_raise_no_return_to),
        TEST(a_later_session_gets_no_returns_of_an_earlier_one),
        TEST(many_sessions_trace_one_call),
        TEST(call_memory_counts_words_by_process),
        TEST(call_time_follows_the_real_clock),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
