/* Tests the replacement of code without native sites by code with them, and the reverse, while
 * patterns change. */
#include "tests/runtime/replaced.h"

/* --- Native sites that appear and disappear --------------------------------------------------- */

static void a_new_native_site_gets_the_waiting_breakpoints(void **state)
{
    struct instance *old;

    (void)state;
    replace_and_purge(1, false);
    set_on_load(NULL, "true", TH_PATTERN_EITHER);
    set_twin("outer", 1, "true", TH_PATTERN_EITHER);
    set_twin("outer", 1, "true", TH_BP_COUNT);
    twin("outer", "[a]");
    assert_log("call {twin,outer,[a]}\n");
    assert_int_equal(kinds_of("outer", 1, NULL), TH_BP_GLOBAL | TH_BP_COUNT);
    old = now;
    now = replace_instance(old, 2, true);
    for (int i = 0; i < 2; i++) {
        twin("outer", "[b]"); /* once, despite two sites */
        assert_log("call {twin,outer,[b]}\ncall {twin,inner,[b]}\n");
        if (i == 0)
            purge_instance(old);
    }
    assert_int_equal(kinds_of("inner", 1, NULL), TH_BP_LOCAL);
    assert_int_equal(count_of("outer", 1), 3);
    twin("plain", "[c]"); /* existed untraced; traced from now on */
    assert_log("call {twin,plain,[c]}\n");
}

/* A kind that is set again is set at the function's current site. A kind that is cleared is cleared
 * at its own site. */
static void a_breakpoint_moves_to_the_current_site_of_its_function(void **state)
{
    (void)state;
    replace_and_purge(1, false);
    for (int i = 0; i < 3; i++) {
        set_twin("outer", 1, "true", TH_PATTERN_EITHER);
        set_twin("outer", 1, "true", TH_BP_COUNT);
        set_twin("plain", 1, "true", TH_BP_COUNT);
        replace_and_purge(2 - i % 2, i % 2 == 0);
        assert_int_equal(kinds_of("outer", 1, NULL), TH_BP_GLOBAL | TH_BP_COUNT);
        set_twin("plain", 1, "pause", TH_BP_COUNT);
        twin("plain", "[a]");
        assert_int_equal(count_of("plain", 1), 0);
        set_twin("plain", 1, "restart", TH_BP_COUNT);
        set_twin("outer", 1, "true", TH_PATTERN_EITHER);
        set_twin("outer", 1, "true", TH_BP_COUNT);
        assert_int_equal(kinds_of("outer", 1, NULL),
                         (i % 2 == 0 ? TH_BP_LOCAL : TH_BP_GLOBAL) | TH_BP_COUNT);
        twin("outer", "[a]");
        assert_log("call {twin,outer,[a]}\n");
        assert_int_equal(count_of("outer", 1), 1);
        set_twin("outer", 1, "false", TH_PATTERN_EITHER);
        set_twin("outer", 1, "false", TH_BP_COUNT);
        set_twin("plain", 1, "false", TH_BP_COUNT);
        assert_int_equal(kinds_of("outer", 1, NULL) | kinds_of("plain", 1, NULL), 0);
        twin("outer", "[a]");
        assert_log("");
    }
}

static void a_lost_native_site_keeps_its_breakpoints(void **state)
{
    struct instance *old = now;

    (void)state;
    set_twin("inner", 1, "true", TH_BP_LOCAL | TH_BP_COUNT);
    twin("outer", "[a]");
    assert_log("call {twin,inner,[a]}\n");
    now = replace_instance(old, 2, false);
    twin("outer", "[a]");
    assert_log(""); /* no room for a breakpoint */
    assert_int_equal(kinds_of("inner", 1, NULL), TH_BP_LOCAL | TH_BP_COUNT);
    assert_int_equal(try_in("twin", "inner", 1, "true", TH_BP_LOCAL), TH_USAGE);
    th_error_clear();
    purge_instance(old);
    assert_int_equal(count_of("inner", 1), 1);
    replace_and_purge(1, true);
    twin("outer", "[a]");
    assert_log("call {twin,inner,[a]}\n");
    assert_int_equal(count_of("inner", 1), 2);
}

/* Calls of outer/1 come only from outside, so the export entry replaces the missing native site;
 * calls of inner/1, which other modules cannot reach, are lost. */
static void an_export_entry_replaces_a_lost_native_site(void **state)
{
    struct instance *old = now;

    (void)state;
    set_twin("inner", 1, "true", TH_BP_LOCAL);
    set_twin("outer", 1, RETURNS, TH_BP_LOCAL);
    set_twin("outer", 1, "true", TH_BP_COUNT | TH_BP_TIME);
    set_twin("plain", 1, "true", TH_BP_COUNT);
    set_twin("plain", 1, "pause", TH_BP_COUNT);
    for (int i = 1; i <= 4; i++) {
        bool room = i % 2;
        twin("outer", "[a]");
        assert_log(room ? "call {twin,outer,[a]}\ncall {twin,inner,[a]}\n"
                          "return_from {twin,outer,1} 1\n"
                        : "call {twin,outer,[a]}\nreturn_from {twin,outer,1} 2\n");
        twin("plain", "[a]");
        assert_int_equal(kinds_of("outer", 1, NULL),
                         (room ? TH_BP_LOCAL : TH_BP_GLOBAL) | TH_BP_COUNT | TH_BP_TIME);
        assert_int_equal(count_of("outer", 1), 3 * i - 2);
        assert_int_equal(timed_of("outer", 1), 3 * i - 2);
        old = now;
        now = open_instance(room ? 2 : 1, !room);
        th_code_permission_wait();
        begin_instance(now);
        twin("outer", "[b]"); /* reaches the old code still */
        assert_log(room ? "call {twin,outer,[b]}\ncall {twin,inner,[b]}\n"
                          "return_from {twin,outer,1} 1\n"
                        : "call {twin,outer,[b]}\nreturn_from {twin,outer,1} 2\n");
        reach_instance(old, now);
        th_code_permission_release();
        twin("outer", "[c]");
        free(callbacks());
        assert_int_equal(count_of("outer", 1), 3 * i);
        assert_int_equal(count_of("plain", 1), 0);
        purge_instance(old);
    }
}

/* The breakpoint is cleared in code without native sites and in later code with them. */
static void a_replacing_breakpoint_is_cleared_with_the_local_one(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        set_twin("outer", 1, "true", TH_BP_LOCAL | TH_BP_COUNT);
        replace_and_purge(2, false);
        if (i % 2)
            replace_and_purge(1, true);
        set_twin("outer", 1, "restart", TH_BP_COUNT);
        twin("outer", "[a]");
        assert_log("call {twin,outer,[a]}\n");
        assert_int_equal(count_of("outer", 1), 1);
        set_twin("outer", 1, "false", i < 2 ? TH_BP_LOCAL : TH_PATTERN_EITHER);
        twin("outer", "[a]");
        assert_log("");
        assert_int_equal(kinds_of("outer", 1, NULL), TH_BP_COUNT);
        set_twin("outer", 1, "false", TH_BP_COUNT);
        assert_int_equal(kinds_of("outer", 1, NULL), 0);
        if (i % 2 == 0)
            replace_and_purge(1, true);
        twin("outer", "[a]");
        assert_log("");
    }
}

/* --- Patterns that change meanwhile ----------------------------------------------------------- */

/* Requests PATTERN in a section, which cannot wait: the request is queued on return. */
static size_t ask_meanwhile(struct th_pattern pattern)
{
    size_t matched;

    th_progress_enter();
    assert_int_equal(
        th_trace_session_function(session, &pattern, TH_AM(true), TH_BP_LOCAL, &matched), TH_OK);
    th_progress_leave();
    return matched;
}

/* Releases the permission and waits until the queued changes are done. */
static void release_and_wait(void)
{
    th_code_permission_release();
    th_code_permission_wait();
    th_code_permission_release();
}

static void a_request_during_a_load_reaches_the_new_code(void **state)
{
    struct instance *old = now;

    (void)state;
    now = open_instance(2, true);
    th_code_permission_wait();
    begin_instance(now);
    ask_meanwhile(pattern_of(NULL, TH_ANY_ARITY, false));
    assert_int_equal(kinds_of("only_new", 1, NULL), 0);
    reach_instance(old, now);
    release_and_wait();
    assert_int_equal(kinds_of("only_new", 1, NULL), TH_BP_LOCAL);
    assert_int_equal(kinds_of("only_old", 1, NULL), TH_BP_LOCAL);
    purge_instance(old);
    twin("only_new", "[a]");
    assert_log("call {twin,only_new,[a]}\ncall {twin,inner_new,[a]}\n");
}

/* A local breakpoint is requested while there is room, and becomes a global one without room. */
static void a_breakpoint_set_during_a_load_moves_to_the_export(void **state)
{
    struct instance *old = now;

    (void)state;
    now = open_instance(2, false);
    th_code_permission_wait();
    assert_int_equal(ask_meanwhile(pattern_of("outer", 1, false)), 1);
    begin_instance(now);
    reach_instance(old, now);
    release_and_wait();
    twin("outer", "[a]");
    assert_log("call {twin,outer,[a]}\n");
    assert_int_equal(kinds_of("outer", 1, NULL), TH_BP_GLOBAL);
    purge_instance(old);
}

static void a_request_for_code_that_has_ended_is_void(void **state)
{
    struct instance *old = now;

    (void)state;
    now = replace_instance(old, 2, true);
    th_code_permission_wait();
    assert_int_equal(ask_meanwhile(pattern_of("only_old", 1, false)), 1);
    end_instance(old);
    release_and_wait();
    close_instance(old);
    assert_int_equal(kinds_of("only_old", 1, NULL), 0);
    replace_and_purge(1, true);
    twin("only_old", "[a]");
    assert_log("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_twin, end_twin)
        TEST(a_new_native_site_gets_the_waiting_breakpoints),
        TEST(a_breakpoint_moves_to_the_current_site_of_its_function),
        TEST(a_lost_native_site_keeps_its_breakpoints),
        TEST(an_export_entry_replaces_a_lost_native_site),
        TEST(a_replacing_breakpoint_is_cleared_with_the_local_one),
        TEST(a_breakpoint_set_during_a_load_moves_to_the_export),
        TEST(a_request_during_a_load_reaches_the_new_code),
        TEST(a_request_for_code_that_has_ended_is_void),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, remove_twin_files);
}
