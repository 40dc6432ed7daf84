/* Tests the example of OTP's document on tracing, plugins/spec_example, under global breakpoints:
 * the messages are those of a BEAM. */
#include "tests/runtime/traced.h"

static struct th_library *example;

static int begin_example(void **state)
{
    begin(state);
    example = loaded_plugin("lib/tracehost/plugins/spec_example.so", th_small(0));
    th_code_module_add(example);
    return 0;
}

static int end_example(void **state)
{
    th_code_module_remove(example);
    th_library_release(example);
    return end(state);
}

static void trace_all(const char *match)
{
    assert_int_equal(try_in("spec_example", NULL, TH_ANY_ARITY, match, TH_BP_GLOBAL), TH_OK);
}

static void all_external_calls_have_the_first_function_as_caller(void **state)
{
    (void)state;
    trace_all("[{'_',[],[{message,{caller}}]}]");
    assert_string_equal(call("call", "[spec_example,rfoo,[]]"), "ok");
    assert_log("call {spec_example,rfoo,[]} {party,call,3}\n"
               "call {spec_example,rlots,[]} {spec_example,rfoo,0}\n"
               "call {spec_example,rof,[]} {spec_example,rfoo,0}\n"
               "call {spec_example,rindirections,[]} {spec_example,rfoo,0}\n"
               "call {spec_example,rbar,[3]} {spec_example,rfoo,0}\n"
               "call {spec_example,rbar,[2]} {spec_example,rfoo,0}\n"
               "call {spec_example,rbar,[1]} {spec_example,rfoo,0}\n"
               "call {spec_example,rbar,[0]} {spec_example,rfoo,0}\n");
}

static void global_breakpoints_ignore_local_calls(void **state)
{
    (void)state;
    trace_all("[{'_',[],[{message,{caller}}]}]");
    assert_string_equal(call("call", "[spec_example,foo,[]]"), "ok");
    assert_log("call {spec_example,foo,[]} {party,call,3}\n");
    trace_all(RETURNS);
    assert_string_equal(call("call", "[spec_example,foo,[]]"), "ok");
    assert_log("call {spec_example,foo,[]}\nreturn_from {spec_example,foo,0} ok\n");
}

static void tail_callers_return_the_result_of_the_last_callee(void **state)
{
    (void)state;
    trace_all(RETURNS);
    assert_string_equal(call("call", "[spec_example,rfoo,[]]"), "ok");
    assert_log("call {spec_example,rfoo,[]}\ncall {spec_example,rlots,[]}\n"
               "call {spec_example,rof,[]}\ncall {spec_example,rindirections,[]}\n"
               "call {spec_example,rbar,[3]}\ncall {spec_example,rbar,[2]}\n"
               "call {spec_example,rbar,[1]}\ncall {spec_example,rbar,[0]}\n"
               "return_from {spec_example,rbar,1} done\nreturn_from {spec_example,rbar,1} done\n"
               "return_from {spec_example,rbar,1} done\nreturn_from {spec_example,rbar,1} done\n"
               "return_from {spec_example,rindirections,0} done\n"
               "return_from {spec_example,rof,0} done\nreturn_from {spec_example,rlots,0} done\n"
               "return_from {spec_example,rfoo,0} ok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_external_calls_have_the_first_function_as_caller,
                                        begin_example, end_example),
        cmocka_unit_test_setup_teardown(global_breakpoints_ignore_local_calls, begin_example,
                                        end_example),
        cmocka_unit_test_setup_teardown(tail_callers_return_the_result_of_the_last_callee,
                                        begin_example, end_example),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
