/* Tests replaced code: breakpoints, their counters and patterns for code to come belong to
 * functions, not to their code. */
#include "host/code/code.h"
#include "tests/runtime/replaced.h"

#include "host/runtime/traced/native_call.h"

#include <pthread.h>
#include <time.h>

/* --- Functions of both versions --------------------------------------------------------------- */

static void breakpoints_stay_when_code_is_replaced(void **state)
{
    struct instance *old = now;

    (void)state;
    set_twin("inner", 1, RETURNS, TH_BP_LOCAL);
    set_twin("plain", 1, RETURNS, TH_BP_GLOBAL);
    assert_string_equal(twin("outer", "[a]"), "1");
    assert_string_equal(twin("plain", "[a]"), "1");
    assert_log("call {twin,inner,[a]}\nreturn_from {twin,inner,1} 1\n"
               "call {twin,plain,[a]}\nreturn_from {twin,plain,1} 1\n");
    now = replace_instance(old, 2, true);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(twin("outer", "[b]"), "2");
        assert_string_equal(twin("plain", "[b]"), "2");
        assert_log("call {twin,inner,[b]}\nreturn_from {twin,inner,1} 2\n"
                   "call {twin,plain,[b]}\nreturn_from {twin,plain,1} 2\n");
        if (i == 0)
            purge_instance(old);
    }
    set_twin("inner", 1, "false", TH_BP_LOCAL);
    set_twin("plain", 1, "false", TH_BP_GLOBAL);
    twin("outer", "[c]");
    twin("plain", "[c]");
    assert_log("");
}

/* Breakpoints that were set before, and breakpoints set while two instances exist. */
static void a_change_of_breakpoints_reaches_old_and_new_code(void **state)
{
    struct instance *old = now;
    long words[2] = {0, 1};
    char stay[64];

    (void)state;
    now = replace_instance(old, 2, true);
    set_twin("inner", 1, "true", TH_BP_LOCAL);
    twin("outer", "[a]");
    assert_log("call {twin,inner,[a]}\n");
    th_code_permission_wait();
    reach_instance(now, old); /* like a call by old code */
    th_code_permission_release();
    snprintf(stay, sizeof stay, "[%lu]", (unsigned long)words);
    assert_string_equal(twin("stay", stay), "1");
    assert_int_equal(words[0], 1);
    free(callbacks());
    set_twin("inner", 1, "false", TH_BP_LOCAL);
    twin("outer", "[a]");
    assert_log("");
    th_code_permission_wait();
    reach_instance(old, now);
    th_code_permission_release();
    twin("outer", "[a]");
    assert_log("");
    purge_instance(old);
}

static void counts_continue_in_new_code(void **state)
{
    struct instance *old = now;

    (void)state;
    set_twin("inner", 1, "true", TH_BP_COUNT);
    set_twin("plain", 1, "true", TH_BP_COUNT | TH_BP_TIME);
    for (int i = 1; i <= 3; i++) {
        twin("outer", "[a]");
        twin("plain", "[a]");
        assert_int_equal(count_of("inner", 1), 2 * i - 1);
        if (i == 3)
            break;
        old = now;
        now = replace_instance(old, 3 - i, true);
        twin("outer", "[a]");
        assert_int_equal(count_of("inner", 1), 2 * i);
        purge_instance(old);
        assert_int_equal(count_of("inner", 1), 2 * i);
    }
    assert_int_equal(count_of("plain", 1), 3);
    set_twin("inner", 1, "restart", TH_BP_COUNT);
    twin("outer", "[a]");
    assert_int_equal(count_of("inner", 1), 1);
}

/* Two functions share code in the old instance, and have code of their own in the new one. */
static void functions_that_share_code_can_part_in_new_code(void **state)
{
    (void)state;
    set_twin("one", 2, "true", TH_BP_LOCAL);
    set_twin("other", 2, "true", TH_BP_LOCAL);
    for (int i = 1; i <= 3; i++) {
        assert_string_equal(twin("one", "[a,b]"), "{a,b}");
        assert_log("call {twin,one,[a,b]}\n");
        assert_string_equal(twin("other", "[a,b]"), i == 2 ? "{b,a}" : "{a,b}");
        assert_log("call {twin,other,[a,b]}\n");
        if (i < 3)
            replace_and_purge(3 - i, true);
    }
}

/* --- Calls in old code ------------------------------------------------------------------------ */

static struct {
    _Atomic long made, over; /* the words of twin:stay/1 */
} staying;

static _Atomic long told_inner, told_plain;

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *in, int argc, const ERL_NIF_TERM argv[])
{
    (void)callback;
    (void)in;
    if (argc == 3)
        return TH_AM(trace);
    if (argv[0] == TH_AM(call) && th_tuple_elements(argv[3])[1] == th_atom("inner"))
        atomic_fetch_add(&told_inner, 1);
    if (argv[0] == TH_AM(call) && th_tuple_elements(argv[3])[1] == th_atom("plain"))
        atomic_fetch_add(&told_plain, 1);
    return TH_AM(ok);
}

static void *stay(void *context)
{
    return (void *)(uintptr_t)(strcmp(call_in(context, "call", "[twin,stay,[%lu]]",
                                              (unsigned long)&staying),
                                      "1") == 0);
}

/* Waits for COUNT more calls. */
static void await_calls(long count)
{
    long least = atomic_load(&staying.made) + count;

    for (int i = 0; i < 60000 && atomic_load(&staying.made) < least; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_order(atomic_load(&staying.made), >=, least);
}

static void old_code_is_traced_while_it_runs(void **state)
{
    struct th_process *other = th_runtime_run_start();
    hooked_function *hook = loaded_hook(note);
    struct instance *old = now;
    pthread_t thread;
    void *was_old;
    long new = 0;

    (void)state;
    th_trace_session_trace_one(session, th_runtime_run_pid(other), true, TH_FLAG_CALL);
    set_twin("inner", 1, RETURNS, TH_BP_LOCAL);
    set_twin("inner", 1, "true", TH_BP_COUNT);
    pthread_create(&thread, NULL, stay, other);
    await_calls(10);
    now = open_instance(2, true);
    th_code_permission_wait();
    begin_instance(now);
    await_calls(10);
    reach_instance(old, now);
    th_code_permission_release();
    for (; new < 10; new ++)
        assert_string_equal(twin("outer", "[a]"), "2");
    await_calls(10);
    atomic_store(&staying.over, 1);
    pthread_join(thread, &was_old);
    assert_non_null(was_old);
    purge_instance(old);
    for (; new < 20; new ++)
        assert_string_equal(twin("outer", "[a]"), "2");
    assert_int_equal(atomic_load(&told_inner), atomic_load(&staying.made) + new);
    assert_int_equal(count_of("inner", 1), atomic_load(&staying.made) + new);
    loaded_hook(hook);
    th_runtime_run_exit(other, TH_AM(normal));
}

static void *call_plain(void *context)
{
    bool right = true;

    while (!atomic_load(&staying.over)) {
        right &= strstr("12", call_in(context, "call", "[twin,plain,[a]]")) != NULL;
        atomic_fetch_add(&staying.made, 1);
    }
    return (void *)(uintptr_t)right;
}

/* Another thread makes calls during the whole replacement. */
static void each_external_call_hits_one_breakpoint(void **state)
{
    enum { TIMES = 40 };
    struct th_process *other = th_runtime_run_start();
    hooked_function *hook = loaded_hook(note);
    pthread_t thread;
    void *right;

    (void)state;
    atomic_store(&staying.made, 0);
    atomic_store(&staying.over, 0);
    atomic_store(&told_plain, 0);
    th_trace_session_trace_one(session, th_runtime_run_pid(other), true, TH_FLAG_CALL);
    set_twin("plain", 1, "true", TH_BP_LOCAL | TH_BP_COUNT);
    pthread_create(&thread, NULL, call_plain, other);
    for (int i = 0; i < TIMES; i++) {
        struct instance *old = now;
        now = replace_instance(old, 2 - i % 2, i % 2);
        await_calls(3); /* the last of these has begun in the new code */
        purge_instance(old);
    }
    atomic_store(&staying.over, 1);
    pthread_join(thread, &right);
    assert_non_null(right);
    assert_int_equal(count_of("plain", 1), atomic_load(&staying.made));
    assert_int_equal(atomic_load(&told_plain), atomic_load(&staying.made));
    loaded_hook(hook);
    th_runtime_run_exit(other, TH_AM(normal));
}

/* --- Functions of one version ----------------------------------------------------------------- */

static void on_load_patterns_apply_to_new_functions_only(void **state)
{
    struct instance *old = now;

    (void)state;
    set_on_load(NULL, "true", TH_BP_LOCAL);
    twin("outer", "[a]");
    twin("only_old", "[a]");
    assert_log("");
    now = open_instance(2, true);
    th_code_permission_wait();
    begin_instance(now);
    assert_int_equal(kinds_of("only_new", 1, NULL), TH_BP_LOCAL);
    assert_int_equal(kinds_of("inner_new", 1, NULL), TH_BP_LOCAL);
    assert_int_equal(kinds_of("outer", 1, NULL), 0); /* it was set before */
    reach_instance(old, now);
    th_code_permission_release();
    assert_string_equal(twin("only_new", "[b]"), "b");
    assert_log("call {twin,only_new,[b]}\ncall {twin,inner_new,[b]}\n");
    purge_instance(old);
    twin("outer", "[a]");
    twin("only_new", "[c]");
    assert_log("call {twin,only_new,[c]}\ncall {twin,inner_new,[c]}\n");
}

static bool is_armed(const char *function, unsigned arity)
{
    return th_code_export_word(th_code_export_find(th_atom("twin"), th_atom(function), arity)) &
           TH_EXPORT_ARMED;
}

static void a_removed_function_keeps_breakpoints_until_the_purge(void **state)
{
    struct instance *old = now;

    (void)state;
    set_twin("only_old", 1, "true", TH_BP_GLOBAL);
    set_twin("inner_old", 1, "true", TH_BP_COUNT);
    twin("only_old", "[a]");
    assert_log("call {twin,only_old,[a]}\n");
    now = replace_instance(old, 2, true);
    assert_int_equal(kinds_of("only_old", 1, NULL), TH_BP_GLOBAL);
    assert_int_equal(count_of("inner_old", 1), 1);
    assert_true(is_armed("only_old", 1));
    assert_string_equal(twin("only_old", "[a]"), "error: undef");
    free(callbacks());
    purge_instance(old);
    assert_int_equal(kinds_of("only_old", 1, NULL) | kinds_of("inner_old", 1, NULL), 0);
    assert_false(is_armed("only_old", 1));
    replace_and_purge(1, true);
    assert_string_equal(twin("only_old", "[a]"), "a");
    assert_log("");
    assert_int_equal(kinds_of("only_old", 1, NULL) | kinds_of("inner_old", 1, NULL), 0);
}

static void an_abandoned_instance_leaves_no_breakpoints(void **state)
{
    struct instance *never = open_instance(2, true);

    (void)state;
    set_on_load("only_new", "true", TH_BP_LOCAL);
    set_twin("outer", 1, "true", TH_BP_LOCAL);
    th_code_permission_wait();
    begin_instance(never);
    assert_int_equal(kinds_of("only_new", 1, NULL), TH_BP_LOCAL);
    th_code_permission_release();
    purge_instance(never);
    assert_int_equal(kinds_of("only_new", 1, NULL), 0);
    assert_string_equal(twin("outer", "[a]"), "1");
    assert_log("call {twin,outer,[a]}\n");
    never = open_instance(2, false); /* would have had no native sites */
    th_code_permission_wait();
    begin_instance(never);
    th_code_permission_release();
    assert_int_equal(try_in("twin", "inner", 1, "true", TH_BP_LOCAL), TH_USAGE);
    th_error_clear();
    purge_instance(never);
    set_twin("inner", 1, "true", TH_BP_LOCAL);
    twin("outer", "[a]");
    assert_log("call {twin,outer,[a]}\ncall {twin,inner,[a]}\n");
    set_twin("inner", 1, "false", TH_BP_LOCAL);
    never = open_instance(2, false); /* never begun */
    purge_instance(never);
    assert_string_equal(twin("outer", "[a]"), "1");
    assert_log("call {twin,outer,[a]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_twin, end_twin)
        TEST(breakpoints_stay_when_code_is_replaced),
        TEST(a_change_of_breakpoints_reaches_old_and_new_code),
        TEST(counts_continue_in_new_code),
        TEST(functions_that_share_code_can_part_in_new_code),
        TEST(old_code_is_traced_while_it_runs),
        TEST(each_external_call_hits_one_breakpoint),
        TEST(on_load_patterns_apply_to_new_functions_only),
        TEST(a_removed_function_keeps_breakpoints_until_the_purge),
        TEST(an_abandoned_instance_leaves_no_breakpoints),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, remove_twin_files);
}
