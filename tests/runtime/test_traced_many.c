/* Calls of which somebody wants the end, more of them than are usual, and than may be. */
#include "tests/runtime/traced.h"

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

static void the_oldest_are_given_up(void **state)
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

/* What was called before it is given up does not go on as something else. */
static void time_is_kept_of_what_is_not_given_up(void **state)
{
    struct th_function deep = {th_atom("party"), th_atom("deep"), 1};
    struct th_bp_info info;

    (void)state;
    set("deep", 1, "true", TH_BP_TIME);
    call("deep", "[100]");
    assert_true(th_session_function_info(session, &deep, &info));
    assert_int_equal(info.time_count, 1);
    assert_int_equal(info.time[0].calls, 101);
    assert_true(info.time[0].amount > 0);
    th_bp_info_free(&info);
}

/* Room grows while calls of several frames are open, and is there again when they are over. */
static void many_are_kept(void **state)
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

static void an_exception_passes_many(void **state)
{
    enum { MANY = 500 };

    (void)state;
    set("down", 2, EXCEPTIONS, TH_BP_GLOBAL);
    assert_string_equal(call("down", "[100000000,0]"), "error: system_limit");
    assert_true(lines_with("{error,system_limit}") > MANY);
    assert_string_equal(call("down", "[%d,0]", MANY), "500");
    assert_int_equal(lines_with("return_from"), MANY + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_are_given_up, begin_with_few, end),
        cmocka_unit_test_setup_teardown(time_is_kept_of_what_is_not_given_up, begin_with_few, end),
        cmocka_unit_test_setup_teardown(many_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(an_exception_passes_many, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
