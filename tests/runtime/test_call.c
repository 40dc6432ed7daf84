/* Tests calls: results, exceptions, functions of the API that depend on the call, and which of two
 * contradictory results counts. */
#include "runs.h"

#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/support/skipping.h"

static struct th_process *process;

static void a_call_returns_the_result_of_its_function(void **state)
{
    (void)state;
    assert_string_equal(run(process, "add", "[1,2]"), "3");
    assert_string_equal(run(process, "echo", "[{a,[1,2.5,<<\"x\">>],#{k=>v}}]"),
                        "{a,[1,2.5,<<\"x\">>],#{k => v}}");
    assert_string_equal(run(process, "echo", "[[]]"), "[]");
}

static void exceptions_have_a_reason(void **state)
{
    (void)state;
    assert_string_equal(run(process, "add", "[1,x]"), "error: badarg");
    assert_string_equal(run(process, "fail", "[{why,\"not\"}]"), "error: {why,\"not\"}");
    assert_string_equal(run(process, "add", "[1,1]"), "2"); /* the exception is gone */
}

static void the_last_act_of_a_function_decides_its_result(void **state)
{
    (void)state;
    assert_string_equal(run(process, "fail_and_return", "[x]"), "error: x");
    assert_string_equal(run(process, "schedule_twice", "[x]"), "x");
    assert_string_equal(run(process, "schedule_and_return", "[x]"), "x");
    assert_string_equal(run(process, "schedule_and_fail", "[x]"), "error: x");
    assert_string_equal(run(process, "fail_and_schedule", "[x]"), "x");
    assert_string_equal(run(process, "nothing", "[]"), "error: badarg");
    assert_string_equal(run(process, "add", "[1,1]"), "2");
}

static void a_call_knows_its_process_and_library(void **state)
{
    struct th_buffer expected = {0};

    (void)state;
    th_buffer_add_text(&expected, "{");
    th_text_print(&expected, th_runtime_run_pid(process));
    th_buffer_add_text(&expected, ",1,77}");
    assert_string_equal(run(process, "surroundings", "[]"), th_buffer_text(&expected));
    th_buffer_free(&expected);
    assert_null(th_self.call);
}

static void scheduling_with_invalid_arguments_raises_badarg(void **state)
{
    (void)state;
    assert_string_equal(run(process, "schedule_flags", "[0]"), "1");
    assert_string_equal(run(process, "schedule_flags", "[1]"), "2");
    assert_string_equal(run(process, "schedule_flags", "[2]"), "3");
    assert_string_equal(run(process, "schedule_flags", "[3]"), "3");
    assert_string_equal(run(process, "schedule_flags", "[4]"), "error: badarg");
    assert_string_equal(run(process, "schedule_flags", "[-1]"), "error: badarg");
    assert_string_equal(run(process, "schedule_name", "[255]"), "1");
    assert_string_equal(run(process, "schedule_name", "[256]"), "error: badarg");
    assert_string_equal(run(process, "schedule_arguments", "[3]"), "[0,1,2]");
    assert_string_equal(run(process, "schedule_arguments", "[0]"), "[]");
    assert_int_equal(strncmp(run(process, "schedule_arguments", "[255]"), "[0,1,2,", 7), 0);
    assert_string_equal(run(process, "schedule_arguments", "[256]"), "error: badarg");
    assert_string_equal(run(process, "schedule_arguments", "[-1]"), "error: badarg");
    assert_string_equal(run(process, "schedule_elsewhere", "[]"), "badarg");
}

static void scheduling_outside_of_a_call_fails(void **state)
{
    th_env env;

    (void)state;
    th_env_init(&env, TH_ENV_CALLBACK);
    assert_term_equal(th_runtime_call_schedule(&env, "x", 0, NULL, 0, NULL), TH_NONE);
    assert_term_equal(env.exception, TH_AM(badarg));
    assert_false(th_runtime_call_consume(&env, 100));
    th_env_release(&env);
}

static void a_library_built_with_otp_s_header_runs(void **state)
{
    struct th_library *ours = runner_library;
    struct runner *state_of_ours = runner_state;

    (void)state;
    if (!getenv("OTP_INCLUDE") || !*getenv("OTP_INCLUDE"))
        skip_because("no erl_nif.h of OTP (Debian: erlang-dev)");
    open_runner("otp");
    assert_string_equal(run(process, "add", "[1,2]"), "3");
    assert_string_equal(run(process, "hop", "[[1,2,0],[]]"), "[1,3,2,1]");
    th_library_release(runner_library);
    runner_library = ours;
    runner_state = state_of_ours;
}

static int begin(void **state)
{
    (void)state;
    start_runner(1);
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
        cmocka_unit_test(a_call_returns_the_result_of_its_function),
        cmocka_unit_test(exceptions_have_a_reason),
        cmocka_unit_test(the_last_act_of_a_function_decides_its_result),
        cmocka_unit_test(a_call_knows_its_process_and_library),
        cmocka_unit_test(scheduling_with_invalid_arguments_raises_badarg),
        cmocka_unit_test(scheduling_outside_of_a_call_fails),
        cmocka_unit_test(a_library_built_with_otp_s_header_runs),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
