/* Tests calls by functions: nested calls, tail calls, calls with a continuation; exceptions. */
#include "parties.h"
#include "host/process/process.h"
#include "host/runtime/process_life.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"

static struct th_process *process;

#define call(...) call_in(process, __VA_ARGS__)

/* --- Nested ---------------------------------------------------------------------------------- */

static void a_nested_call_has_a_result(void **state)
{
    (void)state;
    assert_string_equal(call("call", "[party,echo,[{a,[1,\"x\"]}]]"), "{a,[1,\"x\"]}");
    assert_string_equal(call("call", "[party,call,[party,call,[party,self,[]]]]"),
                        show("", th_runtime_run_pid(process)));
    assert_string_equal(call("local", "[10]"), "41");
    assert_string_equal(call("present", "[]"), "1");
}

static void a_nested_function_that_yields_continues_in_place(void **state)
{
    (void)state;
    assert_string_equal(call("call", "[party,yields,[1000,{kept}]]"), "{kept}");
    assert_string_equal(call("call", "[party,loop,[1000]]"), "done");
    assert_string_equal(call("call", "[party,deep,[1000]]"), "1000");
}

static void a_nested_wait_or_change_of_thread_raises_an_exception(void **state)
{
    (void)state;
    assert_string_equal(call("call", "[party,await,[0]]"), "error: nested_await");
    assert_string_equal(call("call", "[party,dirty,[]]"), "error: nested_dirty");
    assert_string_equal(call("call", "[party,goes_dirty,[]]"), "error: nested_dirty");
    assert_string_equal(call("call_dirty", "[party,dirty,[]]"), "2");
    assert_string_equal(call("call_dirty", "[party,goes_dirty,[]]"), "2");
    assert_string_equal(call("catches", "[party,await,[0]]"),
                        "{error,nested_await,[{party,await,[0],[]},{party,catches,3,[]}]}");
}

static void nested_calls_beyond_the_stack_raise_an_exception(void **state)
{
    (void)state;
    assert_string_equal(call("down", "[100,0]"), "100");
#ifndef TH_PROGRESS_TSAN /* keeps at most 65,536 frames of a stack */
    assert_string_equal(call("down", "[100000000,0]"), "error: system_limit");
#endif
    assert_string_equal(call("down", "[1,0]"), "1");
}

static void a_call_of_a_missing_function_raises_undef(void **state)
{
    (void)state;
    assert_string_equal(call("catches", "[party,nowhere,[1,{2}]]"),
                        "{error,undef,[{party,nowhere,[1,{2}],[]},{party,catches,3,[]}]}");
    assert_string_equal(call("call", "[nobody,nowhere,[]]"), "error: undef");
    assert_string_equal(call("tail", "[nobody,nowhere,[]]"), "error: undef");
    assert_string_equal(call("call", "[\"party\",nowhere,[]]"), "error: badarg");
    assert_string_equal(call("tail", "[party,1,[]]"), "error: badarg");
}

/* --- By export entry ------------------------------------------------------------------------- */

static void a_call_by_export_entry_equals_a_call_by_name(void **state)
{
    (void)state;
    assert_string_equal(call("exported", "[party,echo,[{a,[1,\"x\"]}]]"), "{a,[1,\"x\"]}");
    assert_string_equal(call("exported", "[party,exported,[party,call,[party,self,[]]]]"),
                        show("", th_runtime_run_pid(process)));
    assert_string_equal(call("exported", "[party,yields,[1000,{kept}]]"), "{kept}");
    assert_string_equal(call("exported", "[party,await,[0]]"), "error: nested_await");
    assert_string_equal(call("exported", "[party,dirty,[]]"), "error: nested_dirty");
    assert_string_equal(call("exported", "[party,throws,[a]]"), "throw: a");
    assert_string_equal(call("catches", "[party,exported,[party,fails,[a]]]"),
                        "{error,a,[{party,fails,[a],[]},{party,exported,3,[]},"
                        "{party,catches,3,[]}]}");
    assert_string_equal(call("exports", "[1000]"), "1000");
}

static void an_export_entry_without_a_function_raises_undef(void **state)
{
    (void)state;
    assert_string_equal(call("catches", "[party,exported,[party,no_such,[1,{2}]]]"),
                        "{error,undef,[{party,no_such,[1,{2}],[]},{party,exported,3,[]},"
                        "{party,catches,3,[]}]}");
    assert_string_equal(call("catches", "[party,no_such,[1,{2}]]"),
                        "{error,undef,[{party,no_such,[1,{2}],[]},{party,catches,3,[]}]}");
    assert_string_equal(call("no_entry", "[0]"), "error: badarg");
    assert_string_equal(call("no_entry", "[1]"), "none");
    assert_string_equal(call("no_entry", "[2]"), "none");
    assert_string_equal(call("no_entry", "[3]"), "none");
    assert_string_equal(call("no_entry", "[4]"), "4");
}

static struct th_library *load_runner(void)
{
    return loaded_plugin("tests/plugins/runner.so", th_small(0));
}

static void an_export_entry_follows_its_function(void **state)
{
    struct th_library *runner;

    (void)state;
    assert_string_equal(call("exported", "[runner,add,[1,2]]"), "error: undef");
    runner = load_runner();
    th_code_module_add(runner);
    assert_string_equal(call("exported", "[runner,add,[1,2]]"), "3");
    th_code_module_remove(runner);
    assert_string_equal(call("exported", "[runner,add,[1,2]]"), "error: undef");
    th_library_release(runner);
}

/* --- State that a nested call must not change ------------------------------------------------- */

static void a_nested_call_restores_the_caller_s_library(void **state)
{
    struct th_library *runner = load_runner();

    (void)state;
    th_code_module_add(runner);
    assert_string_equal(call("data_after", "[runner,echo,[a]]"), "{a,0}");
    assert_non_null(th_library_private_data(runner));
    th_code_module_remove(runner);
    th_library_release(runner);
}

static void an_earlier_exception_outlives_a_nested_call(void **state)
{
    (void)state;
    assert_string_equal(call("own_first", "[party,echo,[a]]"), "error: own");
    assert_string_equal(call("own_first", "[party,throws,[a]]"), "error: own");
    assert_string_equal(call("own_first", "[party,catches,[party,fails,[a]]]"), "error: own");
}

/* --- Exceptions ------------------------------------------------------------------------------ */

static void exceptions_have_a_class(void **state)
{
    (void)state;
    assert_string_equal(call("fails", "[{a}]"), "error: {a}");
    assert_string_equal(call("exits", "[{a}]"), "exit: {a}");
    assert_string_equal(call("throws", "[{a}]"), "throw: {a}");
    assert_string_equal(call("call", "[party,throws,[a]]"), "throw: a");
    assert_string_equal(call("catches", "[party,exits,[a]]"),
                        "{exit,a,[{party,exits,[a],[]},{party,catches,3,[]}]}");
    assert_string_equal(call("catches", "[party,echo,[a]]"), "{ok,a}");
}

static void an_exception_of_a_callee_can_be_caught_or_dropped(void **state)
{
    (void)state;
    assert_string_equal(call("catches", "[party,call,[party,throws,[a]]]"),
                        "{throw,a,[{party,throws,[a],[]},{party,call,3,[]},"
                        "{party,catches,3,[]}]}");
    assert_string_equal(call("drops", "[a]"), "a");
    assert_string_equal(call("own_counts", "[a]"), "error: own");
    assert_string_equal(call("skips", "[]"), "error: badarg");
}

/* --- Continuations --------------------------------------------------------------------------- */

static void a_continuation_gets_the_result_and_the_kept_term(void **state)
{
    (void)state;
    assert_string_equal(call("then", "[0,party,echo,[{r}],{k}]"), "{result,{r},{k}}");
    assert_string_equal(call("then", "[0,party,dirty,[],k]"), "{result,2,k}");
    assert_string_equal(call("then", "[0,party,await,[1],k]"), "{result,timeout,k}");
    assert_string_equal(call("then", "[0,party,yields,[100000,r],k]"), "{result,r,k}");
}

static void an_exception_passes_continuations_that_do_not_catch(void **state)
{
    (void)state;
    assert_string_equal(call("then", "[0,party,throws,[a],k]"), "throw: a");
    assert_string_equal(call("then", "[1,party,throws,[a],k]"),
                        "{throw,a,[{party,throws,[a],[]},{party,then,5,[]}],k}");
    assert_string_equal(call("then", "[1,party,nowhere,[],k]"),
                        "{error,undef,[{party,nowhere,[],[]},{party,then,5,[]}],k}");
    assert_string_equal(call("then_passes", "[party,throws,[a]]"), "throw: a");
    assert_string_equal(call("then_passes", "[party,then,[0,party,exits,[a],k]]"), "exit: a");
    assert_string_equal(call("then", "[1,party,then_passes,[party,fails,[a]],k]"),
                        "{error,a,[{party,fails,[a],[]},{party,then_passes,3,[]},"
                        "{party,then,5,[]}],k}");
    assert_string_equal(call("catches", "[party,then,[1,party,fails,[a],k]]"),
                        "{ok,{error,a,[{party,fails,[a],[]},{party,then,5,[]},"
                        "{party,catches,3,[]}],k}}");
}

static void a_continuation_can_raise_a_caught_exception_again(void **state)
{
    (void)state;
    assert_string_equal(call("again", "[party,throws,[a]]"), "throw: a");
    assert_string_equal(call("catches", "[party,again,[party,fails,[a]]]"),
                        "{error,a,[{party,fails,[a],[]},{party,again,3,[]},{party,catches,3,[]}]}");
    assert_string_equal(call("catches", "[party,again,[exit,{a},[x]]]"), "{exit,{a},[x]}");
    assert_string_equal(call("again_not", "[a]"), "a");
    assert_string_equal(call("again", "[no_class,{a},[]]"), "error: badarg");
    assert_string_equal(call("again", "[error,{a},[x|y]]"), "error: badarg");
}

static void continuations_need_no_stack(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ /* one thread calls: more calls show no more races */
    assert_string_equal(call("deep", "[200000]"), "200000");
    assert_string_equal(call("loop", "[200000]"), "done");
#else
    assert_string_equal(call("deep", "[1000000]"), "1000000");
    assert_string_equal(call("loop", "[1000000]"), "done");
#endif
}

/* The heap is collected while continuations keep terms. */
static void kept_terms_survive_garbage_collections(void **state)
{
    (void)state;
    assert_string_equal(call("then", "[0,party,loop,[100000],{k,\"abc\",[1.5]}]"),
                        "{result,done,{k,\"abc\",[1.5]}}");
    assert_string_equal(call("then", "[1,party,then_passes,[party,then,[0,party,throws,[{a}],k]],"
                                     "{l}]"),
                        "{throw,{a},[{party,throws,[{a}],[]},{party,then,5,[]},"
                        "{party,then_passes,3,[]},{party,then,5,[]}],{l}}");
}

static void the_heap_reports_its_sizes(void **state)
{
    struct th_process *own = th_runtime_process_create(false, NULL, false);
    struct th_heap_sizes sizes = th_runtime_heap_sizes(own);

    (void)state;
    assert_int_equal(sizes.heap_size, 0);
    th_make_tuple_of(own->env, TH_NIL, TH_NIL);
    sizes = th_runtime_heap_sizes(own);
    assert_int_equal(sizes.heap_size, 3);
    assert_order(sizes.heap_block_size, >, 3);
    own->collect_at = 0;
    own->next.argc = 1;
    own->next.argv = th_env_take(own->env, 1);
    own->next.argv[0] = th_make_tuple_of(own->env, TH_NIL);
    th_runtime_heap_attach(own, th_process_message_create(th_make_tuple_of(own->env, TH_NIL)));
    assert_int_equal(th_runtime_heap_sizes(own).mbuf_size, 2);
    th_runtime_heap_collect(own);
    sizes = th_runtime_heap_sizes(own);
    assert_int_equal(sizes.heap_size, 3); /* the array and the tuple */
    assert_int_equal(sizes.recent_size, 3);
    assert_int_equal(sizes.mbuf_size, 0);
    th_runtime_process_end(own, TH_AM(normal));
}

static int begin(void **state)
{
    (void)state;
    start_party(2);
    process = th_runtime_run_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    stop_party();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nested_call_has_a_result),
        cmocka_unit_test(a_nested_function_that_yields_continues_in_place),
        cmocka_unit_test(a_nested_wait_or_change_of_thread_raises_an_exception),
        cmocka_unit_test(nested_calls_beyond_the_stack_raise_an_exception),
        cmocka_unit_test(a_call_of_a_missing_function_raises_undef),
        cmocka_unit_test(a_call_by_export_entry_equals_a_call_by_name),
        cmocka_unit_test(an_export_entry_without_a_function_raises_undef),
        cmocka_unit_test(an_export_entry_follows_its_function),
        cmocka_unit_test(a_nested_call_restores_the_caller_s_library),
        cmocka_unit_test(an_earlier_exception_outlives_a_nested_call),
        cmocka_unit_test(exceptions_have_a_class),
        cmocka_unit_test(an_exception_of_a_callee_can_be_caught_or_dropped),
        cmocka_unit_test(a_continuation_gets_the_result_and_the_kept_term),
        cmocka_unit_test(an_exception_passes_continuations_that_do_not_catch),
        cmocka_unit_test(a_continuation_can_raise_a_caught_exception_again),
        cmocka_unit_test(continuations_need_no_stack),
        cmocka_unit_test(kept_terms_survive_garbage_collections),
        cmocka_unit_test(the_heap_reports_its_sizes),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
