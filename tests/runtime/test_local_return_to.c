/* Tests return_to: the function to which control returns, also after a caught exception. */
#include "tests/runtime/locals.h"

static int begin_returning(void **state)
{
    begin_locals(state);
    th_trace_session_trace_one(session, th_runtime_run_pid(process), true, TH_FLAG_RETURN_TO);
    set_local(NULL, "true");
    return 0;
}

static void return_to_names_the_waiting_caller(void **state)
{
    (void)state;
    local("depth", "[1]");
    assert_log("call {locals,depth,[1]}\ncall {locals,deep,[1]}\ncall {locals,deep,[0]}\n"
               "return_to {locals,deep,1}\nreturn_to {locals,depth,1}\nreturn_to {party,call,3}\n");
    local("wrapped", "[1]");
    assert_log("call {locals,wrapped,[1]}\ncall {locals,wraps,[1]}\n"
               "call {locals,loop,[1]}\ncall {locals,loop,[0]}\n"
               "return_to {locals,wraps,1}\nreturn_to {locals,wrapped,1}\n"
               "return_to {party,call,3}\n");
    local("calling", "[locals,loops,[0]]");
    assert_log("call {locals,calling,[locals,loops,[0]]}\ncall {locals,calls,[locals,loops,[0]]}\n"
               "call {locals,loops,[0]}\ncall {locals,loop,[0]}\n"
               "return_to {locals,loops,1}\nreturn_to {locals,calls,3}\n"
               "return_to {locals,calling,3}\nreturn_to {party,call,3}\n");
    call("tail", "[locals,ends,[x]]");
    assert_callbacks("enabled_call(call,s,P)\n"
                     "trace_call(call,s,P,{locals,ends,[x]},#{}) self\n"
                     "trace_call(return_to,s,P,undefined,#{}) self\n");
}

static void return_to_follows_the_return_from_events(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    local("loops", "[0]");
    assert_log("call {locals,loops,[0]}\ncall {locals,loop,[0]}\n"
               "return_from {locals,loop,1} done\nreturn_to {locals,loops,1}\n"
               "return_from {locals,loops,1} done\nreturn_to {party,call,3}\n");
    local("then", "[locals,ends,[x]]");
    assert_log("call {locals,then,[locals,ends,[x]]}\ncall {locals,ends,[x]}\n"
               "return_from {locals,ends,1} x\nreturn_to {locals,then,3}\n"
               "call {locals,same,[x]}\nreturn_from {locals,same,1} x\n"
               "return_to {locals,then,3}\n"
               "return_from {locals,then,3} x\nreturn_to {party,call,3}\n");
    local("later", "[0,x]");
    assert_log("call {locals,later,[0,x]}\ncall {locals,yields,[x]}\n"
               "return_from {locals,yields,1} x\nreturn_from {locals,later,2} x\n"
               "return_to {party,call,3}\n");
}

/* The frames that the exception passes raise no return_to. */
static void an_exception_raises_return_to_at_the_catching_function(void **state)
{
    (void)state;
    set_local(NULL, EXCEPTIONS);
    local("catching", "[locals,fail,[a]]");
    assert_log("call {locals,catching,[locals,fail,[a]]}\n"
               "call {locals,catches,[locals,fail,[a]]}\ncall {locals,calls,[locals,fail,[a]]}\n"
               "call {locals,fail,[a]}\ncall {locals,fails_below,[a]}\ncall {locals,fails,[a]}\n"
               "exception_from {locals,fails,1} {error,a}\n"
               "exception_from {locals,fails_below,1} {error,a}\n"
               "exception_from {locals,fail,1} {error,a}\n"
               "exception_from {locals,calls,3} {error,a}\n"
               "return_to {locals,catches,3}\n"
               "return_from {locals,catches,3} {caught,error,a}\n"
               "return_to {locals,catching,3}\n"
               "return_from {locals,catching,3} {caught,error,a}\n"
               "return_to {party,call,3}\n");
}

static void a_function_that_continues_after_an_error_has_caught(void **state)
{
    (void)state;
    local("dropping", "[locals,fail,[a]]"); /* returns a term */
    assert_log("call {locals,dropping,[locals,fail,[a]]}\n"
               "call {locals,drops,[locals,fail,[a]]}\ncall {locals,fail,[a]}\n"
               "call {locals,fails_below,[a]}\ncall {locals,fails,[a]}\n"
               "return_to {locals,drops,3}\nreturn_to {locals,dropping,3}\n"
               "return_to {party,call,3}\n");
    assert_string_equal(local("cleaning", "[locals,fail,[a]]"), "error: a"); /* makes a call */
    assert_log("call {locals,cleaning,[locals,fail,[a]]}\n"
               "call {locals,cleans,[locals,fail,[a]]}\ncall {locals,fail,[a]}\n"
               "call {locals,fails_below,[a]}\ncall {locals,fails,[a]}\n"
               "return_to {locals,cleans,3}\n"
               "call {locals,same,[cleaned]}\nreturn_to {locals,cleans,3}\n");
}

/* party:catches/3 catches with th_catch(), then/5 with TH_CATCHES; neither is traced. */
static void an_untraced_catching_function_gets_a_return_to(void **state)
{
    (void)state;
    set_local(NULL, "false");
    set_local("fail", "true");
    call("catches", "[locals,fail,[a]]");
    assert_log("call {locals,fail,[a]}\nreturn_to {party,catches,3}\n");
    call("then", "[1,locals,fail,[a],k]");
    assert_log("call {locals,fail,[a]}\nreturn_to {party,then,5}\n");
    call("drops", "[a]");
    assert_log("");
    assert_string_equal(local("fail", "[a]"), "error: a"); /* the exception is not caught */
    assert_log("call {locals,fail,[a]}\n");
    local("ends", "[x]");
    assert_log("");
}

/* After an exception there is a return_to only if the last function that the exception passes is
 * traced. Here only a function below that one is traced. */
static void an_exception_past_untraced_calls_raises_no_return_to(void **state)
{
    (void)state;
    set_local(NULL, "false");
    set_local("fails", "true");
    call("catches", "[locals,fail,[a]]");
    assert_log("call {locals,fails,[a]}\n");
    local("catching", "[locals,fail,[a]]");
    assert_log("call {locals,fails,[a]}\n");
    local("dropping", "[locals,fail,[a]]");
    assert_log("call {locals,fails,[a]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_returning, end_locals)
        TEST(return_to_names_the_waiting_caller),
        TEST(return_to_follows_the_return_from_events),
        TEST(an_exception_raises_return_to_at_the_catching_function),
        TEST(a_function_that_continues_after_an_error_has_caught),
        TEST(an_untraced_catching_function_gets_a_return_to),
        TEST(an_exception_past_untraced_calls_raises_no_return_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
