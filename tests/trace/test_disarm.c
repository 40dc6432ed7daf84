/* Tests th_disarm(), by which a tracer ends the tracing of a function. */
#include "host/self/self.h"
#include "tests/trace/patterns.h"

#include "host/trace/pattern_internal.h"
#include "host/trace/tracing.h"
#include "plugin_api/nif_module.h"

#include <pthread.h>

static int answer; /* result of the last th_disarm() */

static int begin_disarm(void **state)
{
    answer = 77;
    return begin(state);
}

static void disarm(void)
{
    answer = th_disarm(&th_trace_session_attachment(session)->env);
}

static struct th_site *site_of(const char *function, unsigned arity)
{
    struct th_mfa name = {th_atom("m"), th_atom(function), arity};

    return th_trace_functions_find(&scene_tracing()->functions, &name)->site;
}

/* A separate thread carries out the requests. */
static bool wait_for_active(const char *function, uint32_t active)
{
    struct th_bp_info info = {.active = ~active};

    for (int i = 0; i < 1000 && info.active != active; i++) {
        th_progress_settle();
        info = info_of("m", function, 0);
        th_breakpoint_info_free(&(struct th_bp_info){
            .spec = info.spec, .meta_spec = info.meta_spec, .meta_tracer = info.meta_tracer});
    }
    th_breakpoint_change_run(th_breakpoint_change_create(), NULL,
                             NULL); /* queued behind it, so both are done */
    return info.active == active;
}

static void a_breakpoint_is_disarmed_in_enabled(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled_call", "s", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}")); /* the result of `enabled_call` still counts */
    assert_int_equal(answer, 1);
    assert_true(wait_for_active("f", 0));
    assert_false(th_breakpoint_site_is_armed(site_of("f", 0)));
    expect(CALL("{m,f,[]}"), "");
}

static void a_breakpoint_is_disarmed_in_trace(void **state)
{
    (void)state;
    set("m", "f", 0, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 1);
    scene_act("trace_call", "s", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_int_equal(answer, 1);
    assert_true(wait_for_active("f", 0));
    expect(RETURN("{m,f,0}", "ok"), ENDED("{m,f,0}", "ok"));
    assert_int_equal(answer, 0); /* the event was a return */
    expect(CALL("{m,f,[]}"), "");
}

static void a_disarmed_breakpoint_can_be_armed_again(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled_call", "s", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_true(wait_for_active("f", 0));
    set("m", "f", 0, "restart", TH_BP_LOCAL, 1);
    assert_true(th_breakpoint_site_is_armed(site_of("f", 0)));
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_true(wait_for_active("f", 0));
    set("m", "_", TH_ANY_ARITY, "[{'_',[],[{message,again}]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[]}"), ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},"
                                   "#{match_spec_result => again}) self\n");
}

static void a_disarm_leaves_other_functions_armed(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    set("m", "g", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled_call", "s", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_true(wait_for_active("f", 0));
    expect(CALL("{m,g,[]}"), TOLD("{m,g,[]}"));
}

/* A function has a local and a meta breakpoint; only the kind of the callback is disarmed. */
#define META ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{timestamp => timestamp}) self\n"

static bool meta_only;
static unsigned asked;

/* The local breakpoint comes first, then the meta breakpoint. */
static void disarm_one(void)
{
    if (++asked == (meta_only ? 2 : 1))
        disarm();
}

static void each_kind_of_breakpoint_is_disarmed_separately(void **state)
{
    (void)state;
    scene_act("enabled_call", "s", disarm_one);
    meta_only = true;
    asked = 0;
    set("m", "f", 0, "true", TH_BP_LOCAL | TH_BP_META | TH_BP_COUNT, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") META);
    assert_true(wait_for_active("f", TH_BP_LOCAL | TH_BP_COUNT));
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    meta_only = false;
    asked = 0;
    set("m", "f", 0, "restart", TH_BP_META, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") META);
    assert_true(wait_for_active("f", TH_BP_META | TH_BP_COUNT));
    expect(CALL("{m,f,[]}"), META);
    assert_int_equal(calls_of("m", "f", 0), 4);
}

static void a_disarm_leaves_other_sessions_armed(void **state)
{
    struct th_session *other = scene_create("t");
    struct th_pattern all = pattern("_", "_", TH_ANY_ARITY);
    const char *other_is_told = "enabled_call(call,t,<0.1.0>)\n"
                                "trace_call(call,t,<0.1.0>,{m,f,[]},#{}) self\n";

    (void)state;
    th_trace_session_trace(other, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    scene_log();
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    th_trace_session_function(other, &all, TH_AM(true), TH_BP_LOCAL, NULL);
    scene_act("trace_call", "s", disarm);
    assert_int_equal(scene_trace(CALL("{m,f,[]}")), TH_OK);
    scene_log();
    assert_int_equal(answer, 1);
    assert_true(wait_for_active("f", 0));
    assert_true(th_breakpoint_site_is_armed(site_of("f", 0)));
    expect(CALL("{m,f,[]}"), other_is_told);
}

/* --- Nothing to disarm ------------------------------------------------------------------------ */

static void a_call_without_patterns_cannot_be_disarmed(void **state)
{
    (void)state;
    scene_act(NULL, "s", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_int_equal(answer, 0);
}

static void events_other_than_calls_disarm_nothing(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_SEND);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    scene_act(NULL, "s", disarm);
    assert_int_equal(scene_trace("{trace,<0.1.0>,send,hello,<0.2.0>}"), TH_OK);
    assert_int_equal(answer, 0);
    assert_true(wait_for_active("f", TH_BP_LOCAL));
}

static void a_disarm_outside_of_callbacks_has_no_effect(void **state)
{
    th_env env;

    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_disarm(&env), 0);
    assert_int_equal(th_disarm(&th_trace_session_attachment(session)->env), 0);
    th_env_release(&env);
}

static void disarm_another_env(void)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    answer = th_disarm(&env);
    th_env_release(&env);
}

static void a_disarm_with_another_environment_has_no_effect(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled_call", "s", disarm_another_env);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_int_equal(answer, 0);
}

static void *disarm_here(void *unused)
{
    (void)unused;
    disarm();
    return NULL;
}

static void disarm_by_another_thread(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, disarm_here, NULL), 0);
    pthread_join(thread, NULL);
}

static void a_disarm_by_another_thread_has_no_effect(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled_call", "s", disarm_by_another_thread);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    assert_int_equal(answer, 0);
    assert_true(wait_for_active("f", TH_BP_LOCAL));
}

static struct th_session *inner;

static void create_inner(void)
{
    if (!inner)
        inner = scene_create("inner");
}

static void disarm_of_inner(void)
{
    answer = th_disarm(th_self.attachment ? &th_self.attachment->env : NULL);
}

/* A session created in a call's callback gets a call for the trace status, not for the call. */
static void a_nested_callback_cannot_disarm_the_outer_call(void **state)
{
    (void)state;
    inner = NULL;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("enabled", "inner", disarm_of_inner);
    scene_act("enabled_call", "s", create_inner);
    assert_int_equal(scene_trace(CALL("{m,f,[]}")), TH_OK);
    assert_non_null(inner);
    assert_int_equal(answer, 0);
    assert_true(wait_for_active("f", TH_BP_LOCAL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_disarm, end)
    const struct CMUnitTest tests[] = {
        TEST(a_breakpoint_is_disarmed_in_enabled),
        TEST(a_breakpoint_is_disarmed_in_trace),
        TEST(a_disarmed_breakpoint_can_be_armed_again),
        TEST(a_disarm_leaves_other_functions_armed),
        TEST(each_kind_of_breakpoint_is_disarmed_separately),
        TEST(a_disarm_leaves_other_sessions_armed),
        TEST(a_call_without_patterns_cannot_be_disarmed),
        TEST(events_other_than_calls_disarm_nothing),
        TEST(a_disarm_outside_of_callbacks_has_no_effect),
        TEST(a_disarm_with_another_environment_has_no_effect),
        TEST(a_disarm_by_another_thread_has_no_effect),
        TEST(a_nested_callback_cannot_disarm_the_outer_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
