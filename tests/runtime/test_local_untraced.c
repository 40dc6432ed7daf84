/* Tests local calls of an untraced process, which hit only breakpoints for all processes. */
#include "tests/runtime/locals.h"

static void trace_process(bool on)
{
    th_trace_session_trace_one(session, th_runtime_run_pid(process), on, TH_FLAG_CALL);
}

static void local_breakpoints_ignore_untraced_processes(void **state)
{
    (void)state;
    set_local("same", RETURNS);
    set_local("pair", RETURNS);
    trace_process(false);
    local("forms", "[1,2,3,4,5]");
    assert_callbacks("");
    trace_process(true);
    local("forms", "[1,2,3,4,5]");
    assert_log("call {locals,same,[1]}\nreturn_from {locals,same,1} 1\n"
               "call {locals,pair,[1,2]}\nreturn_from {locals,pair,2} {1,2}\n");
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 0);
}

static uint64_t counted(const char *function, unsigned arity)
{
    struct th_mfa name = {th_atom("locals"), th_atom(function), arity};
    struct th_bp_info info;
    uint64_t count;

    assert_true(th_trace_session_function_info(session, &name, &info));
    count = info.calls;
    th_breakpoint_info_free(&info);
    return count;
}

/* The function also has a local breakpoint, before and after the counter. */
static void calls_of_untraced_processes_are_counted(void **state)
{
    (void)state;
    set_local("deep", "true");
    trace_process(false);
    local("depth", "[9]");
    assert_int_equal(try_in("locals", "deep", 1, "true", TH_BP_COUNT), TH_OK);
    local("depth", "[9]");
    assert_int_equal(counted("deep", 1), 10);
    assert_int_equal(try_in("locals", "deep", 1, "pause", TH_BP_COUNT), TH_OK);
    local("depth", "[9]");
    assert_int_equal(counted("deep", 1), 10);
    assert_int_equal(try_in("locals", "deep", 1, "restart", TH_BP_COUNT), TH_OK);
    local("depth", "[4]");
    assert_int_equal(counted("deep", 1), 5);
    assert_callbacks("");
}

/* Another session has a local breakpoint at the same site. */
static void untraced_processes_hit_meta_breakpoints(void **state)
{
    struct th_session *other = scene_create("t"), *first = session;

    (void)state;
    set_local("same", "true");
    trace_process(false);
    session = other;
    assert_int_equal(try_in("locals", "same", 1, "[]", TH_BP_META), TH_OK);
    session = first;
    free(callbacks());
    local("forms", "[1,2,3,4,5]");
    assert_callbacks("enabled_call(call,t,P)\n"
                     "trace_call(call,t,P,{locals,same,[1]},#{timestamp => timestamp}) self\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_locals, end_locals)
        TEST(local_breakpoints_ignore_untraced_processes),
        TEST(calls_of_untraced_processes_are_counted),
        TEST(untraced_processes_hit_meta_breakpoints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
