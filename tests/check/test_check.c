/* Tests the checker: calls, and the terms that they return. */
#include "host/base/base.h"
#include "host/check/check.h"
#include "tests/support/assertions.h"
#include "tests/support/checked.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Correct calls ---------------------------------------------------------------------------- */

static void correct_calls_have_no_findings(void **state)
{
    (void)state;
    assert_string_equal(
        checked_call("same", "[{[a|b],\"str\",<<1,2:3>>,#{a=>1.5},123456789012345678901}]"),
        "{[a|b],\"str\",<<1,2:3>>,#{a => 1.5},123456789012345678901}");
    for (int i = 0; i < 100; i++) {
        checked_call("all_kinds", "[[#{1=>fun a:b/1,2=><0.1.0>,3=>-12345678901234567890}]]");
        assert_string_equal(checked_call("gives_back", "[<<1,2,3,4>>]"), "ok");
    }
    assert_string_equal(checked_call("same", "[[]]"), "[]");
    checked_expect(0, "");
}

static void unload_may_free_memory_that_load_allocated(void **state)
{
    (void)state;
    checked_begin("keep");
    checked_expect(0, "");
}

/* --- Terms ----------------------------------------------------------------------------------- */

static void results_that_are_not_terms_are_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("nothing", "[]"), "undefined");
    assert_string_equal(checked_call("word", "[]"), "undefined");
    assert_string_equal(checked_call("inner_word", "[]"), "undefined");
    assert_string_equal(checked_call("nowhere", "[]"), "undefined");
    assert_string_equal(checked_call("inside", "[]"), "undefined");
    checked_expect(
        5,
        "sins:nothing(): returns 0: neither a term nor an exception\nsins:word(): returns 0x1230, "
        "which is not a term\nsins:inner_word(): returns a term with the part 0x1b, which is not a "
        "term\nsins:nowhere(): returns a term at 0x_, which is in no environment\nsins:inside(): "
        "returns a term with a broken part: there is no term at 0x_\n");
}

static void returned_terms_of_earlier_calls_are_reported(void **state)
{
    (void)state;
    checked_call("keep", "[{\"first\",1}]");
    assert_string_equal(checked_call("give_kept", "[]"), "undefined");
    assert_string_equal(checked_call("give_kept_inside", "[x]"), "{x,undefined}");
    assert_string_equal(checked_call("raise_kept", "[]"), "raised undefined");
    checked_call("keep", "[atom]");
    assert_string_equal(checked_call("give_kept", "[]"), "atom");
    checked_expect(3, "sins:give_kept(): returns a term of the environment of an earlier call, "
                      "sins:keep({\"first\",1})\n"
                      "sins:give_kept_inside(x): gives enif_make_tuple() a term that lies in the "
                      "environment of an earlier call, sins:keep({\"first\",1})\n"
                      "sins:raise_kept(): raises a term of the environment of an earlier call, "
                      "sins:keep({\"first\",1})\n");
}

/* Ends the run. Each of the COUNT FUNCTIONS of the API, called by CALL, must have been reported for
 * a term of the earlier call KEEPER(ARGUMENTS). */
static void expect_read(const char *keeper, const char *arguments, const char *call,
                        const char *const functions[], size_t count)
{
    struct th_buffer expected = {0};

    for (size_t i = 0; i < count; i++)
        th_buffer_printf(&expected,
                         "sins:%s: gives %s() a term that lies in the environment of an earlier "
                         "call, sins:%s(%s)\n",
                         call, functions[i], keeper, arguments);
    checked_expect(count, th_buffer_text(&expected));
    th_buffer_free(&expected);
}

static void reads_of_kept_terms_by_typed_functions_are_reported(void **state)
{
    static const char *const functions[] = {
        "enif_get_tuple",
        "enif_inspect_binary",
        "enif_get_int",
        "enif_get_uint",
        "enif_get_int64",
        "enif_get_uint64",
        "enif_get_double",
        "enif_get_map_size",
        "enif_get_map_value",
        "enif_make_map_put",
        "enif_make_map_update",
        "enif_make_map_remove",
        "enif_map_iterator_create",
        "enif_get_resource",
    };

    (void)state;
    checked_call("keep", "[{a,1}]");
    assert_string_equal(checked_call("read_kept", "[a]"), "0");
    expect_read("keep", "{a,1}", "read_kept(a)", functions, sizeof functions / sizeof functions[0]);
}

#define TEN_A "a,a,a,a,a,a,a,a,a,a,"

/* The list is long, so the kept cell is far behind the start of its heap. */
static void reads_of_kept_lists_are_reported(void **state)
{
    static const char *const functions[] = {
        "enif_get_list_cell", "enif_get_list_length",
        "enif_get_string",    "enif_inspect_iolist_as_binary",
        "enif_inspect_iovec", "enif_make_reverse_list",
    };
    char arguments[6000] = "[[a";

    (void)state;
    while (strlen(arguments) < sizeof arguments - 8)
        strcat(arguments, ",a");
    strcat(arguments, "]]");
    checked_call("keep_end", arguments);
    assert_string_equal(checked_call("read_kept_list", "[]"), "0");
    expect_read("keep_end", "[" TEN_A TEN_A TEN_A "a,a,a,a,a,a,a,a,a,a...", "read_kept_list()",
                functions, sizeof functions / sizeof functions[0]);
}

static void reads_of_kept_terms_by_generic_functions_are_reported(void **state)
{
    static const char *const functions[] = {
        "enif_snprintf", "enif_term_to_binary", "enif_make_copy",
        "enif_compare",  "enif_hash",           "enif_is_identical",
    };

    (void)state;
    checked_call("keep", "[{a,1}]");
    assert_string_equal(checked_call("read_kept_whole", "[]"), "0");
    expect_read("keep", "{a,1}", "read_kept_whole()", functions,
                sizeof functions / sizeof functions[0]);
}

static void use_of_the_environment_of_an_earlier_call_is_reported(void **state)
{
    (void)state;
    checked_call("keep", "[1]");
    assert_string_equal(checked_call("make_in_kept", "[]"), "ok");
    checked_expect(1, "sins:make_in_kept(): makes a term in the environment of an earlier call, "
                      "sins:keep(1)\n");
}

static void returned_terms_of_other_environments_are_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("of_own", "[]"), "undefined");
    checked_call("free_own", "[]");
    assert_string_equal(checked_call("of_cleared", "[]"), "undefined");
    checked_call("free_own", "[]");
    assert_string_equal(checked_call("of_freed", "[]"), "undefined");
    checked_expect(
        3, "sins:of_own(): returns a term with a part of the environment that enif_alloc_env() "
           "gave to sins:of_own()\n"
           "sins:of_cleared(): returns a term of an environment as it was before it was cleared "
           "by sins:of_cleared()\n"
           "sins:of_freed(): returns a term of an environment that was freed by "
           "sins:of_freed()\n");
}

static void sending_a_term_of_the_call_environment_is_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("send_foreign", "[<0.1.0>,{a,b}]"), "ok");
    assert_string_equal(checked_call("send_foreign", "[<0.1.0>,a]"), "ok");
    checked_expect(1, "sins:send_foreign(<0.1.0>,{a,b}): gives enif_send() a term with a part of "
                      "the environment of this call\n");
}

/* A BEAM builds the second message in the memory of the first. */
static void use_of_a_sent_environment_before_clearing_is_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("send_twice", "[<0.1.0>,clears]"), "ok");
    assert_string_equal(checked_call("send_twice", "[<0.1.0>,does_not]"), "ok");
    checked_expect(
        1, "sins:send_twice(<0.1.0>,does_not): makes a term in the environment of a message that "
           "was sent, without enif_clear_env() before: a BEAM writes the term into the message\n");
}

static void a_result_after_an_exception_is_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_call("raise_and_return", "[]"), "raised badarg");
    checked_expect(1, "sins:raise_and_return(): returns a term after raising an exception; the "
                      "exception counts\n");
}

static void changed_arguments_are_reported(void **state)
{
    (void)state;
    checked_call("change", "[1,<<\"bytes\">>]");
    checked_expect(1,
                   "sins:change(1,<<\"bytes\">>): changed the bytes of a binary in argument 2\n");
}

/* --- Names of callers ------------------------------------------------------------------------- */

static void faults_of_threads_and_destructors_are_reported(void **state)
{
    (void)state;
    checked_call("in_thread", "[]");
    checked_call("in_destructor", "[]");
    checked_expect(3, "a thread of the library: calls enif_free() on memory that enif_alloc() did "
                      "not return\nthe destructor of careless of sins.so: calls "
                      "enif_release_resource() on a resource that was already given back to "
                      "enif_release_resource() by sins:in_destructor()\nthe destructor of careless "
                      "of sins.so: calls enif_free() on memory that enif_alloc() did not return\n");
}

static void a_continuation_is_reported_with_the_called_function(void **state)
{
    (void)state;
    checked_call_as("nothing", "[]", "next step");
    checked_expect(
        1, "sins:'next step'(), scheduled by sins:nothing/0: returns 0: neither a term nor an "
           "exception\n");
}

static void a_repeated_fault_is_printed_ten_times_and_then_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        checked_call("nothing", "[]");
        if (i == 9) {
            fflush(stderr);
            assert_int_equal(ftruncate(fileno(checked_said), 0), 0);
            lseek(2, 0, SEEK_SET);
        }
    }
    checked_expect(1000,
                   "sins:nothing/0: 990 more times: returns 0: neither a term nor an exception\n");
}

enum { THREADS = 4, CALLS = 3000 };

static void *call_often(void *unused)
{
    struct th_buffer text = {0};

    for (int i = 0; i < CALLS; i++) {
        checked_perform("all_kinds", "[{1.5,\"argument\"}]", "all_kinds", &text);
        checked_perform("gives_back", "[<<1>>]", "gives_back", &text);
        text.size = 0;
        if (i % 100 == 0)
            checked_perform("free_env_twice", "[]", "free_env_twice", &text);
    }
    th_buffer_free(&text);
    return unused;
}

/* The threads make more calls than the checker remembers. */
static void concurrent_calls_are_checked(void **state)
{
    pthread_t threads[THREADS];
    uint64_t findings;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    th_free(checked_end(&findings));
    assert_int_equal(findings, THREADS * CALLS / 100);
}

static void long_arguments_are_truncated(void **state)
{
    (void)state;
    checked_call("release_inspected",
                 "[<<\"a binary that is so long that nobody wants to read all of it "
                 "in a line that has something to say besides that\">>]");
    checked_expect(1, "sins:release_inspected(<<\"a binary that is so long that nobody wants to "
                      "read all of it in a line that has ...): calls enif_release_binary() on a "
                      "binary that was only inspected\n");
}

static void a_checker_that_is_off_records_nothing(void **state)
{
    void *memory = malloc(1);

    (void)state;
    assert_false(th_check_on());
    th_check_got(TH_CHECK_MEMORY, memory, 1, NULL, "enif_alloc");
    assert_true(th_check_gave(TH_CHECK_MEMORY, &memory, "enif_free"));
    assert_true(th_check_locks(memory, false, "enif_mutex_lock"));
    assert_true(th_check_unlocks(memory, false, "enif_mutex_unlock"));
    assert_int_equal(th_check_term(NULL, 0x10, "enif_send"), 0x10);
    assert_int_equal(th_check_end(), 0);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checker_that_is_off_records_nothing),
        CHECKED(correct_calls_have_no_findings),
        cmocka_unit_test_teardown(unload_may_free_memory_that_load_allocated, checked_give_up),
        CHECKED(results_that_are_not_terms_are_reported),
        CHECKED(returned_terms_of_earlier_calls_are_reported),
        CHECKED(reads_of_kept_terms_by_typed_functions_are_reported),
        CHECKED(reads_of_kept_lists_are_reported),
        CHECKED(reads_of_kept_terms_by_generic_functions_are_reported),
        CHECKED(use_of_the_environment_of_an_earlier_call_is_reported),
        CHECKED(returned_terms_of_other_environments_are_reported),
        CHECKED(sending_a_term_of_the_call_environment_is_reported),
        CHECKED(use_of_a_sent_environment_before_clearing_is_reported),
        CHECKED(a_result_after_an_exception_is_reported),
        CHECKED(changed_arguments_are_reported),
        CHECKED(faults_of_threads_and_destructors_are_reported),
        CHECKED(a_continuation_is_reported_with_the_called_function),
        CHECKED(a_repeated_fault_is_printed_ten_times_and_then_counted),
        CHECKED(long_arguments_are_truncated),
        CHECKED(concurrent_calls_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
