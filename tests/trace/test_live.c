/* Tests live calls, which take the path of all events. */
#include "host/match/match.h"
#include "host/term/term.h"
#include "tests/trace/live.h"

#include "host/code/code.h"

/* --- Calls ------------------------------------------------------------------------------------ */

static void a_call_hits_breakpoints(void **state)
{
    struct th_live_requests requests;

    (void)state;
    call(0, 7, "");
    set(session, "f0", "true", TH_BP_LOCAL);
    requests = call(0, 7, TOLD("f0", "7"));
    assert_int_equal(requests.count, 0);
    call(1, 7, "");
    set(session, "f0", "false", TH_BP_LOCAL);
    call(0, 7, "");
    assert_int_equal(th_trace_session_counts(session).enabled, 1);
    assert_int_equal(th_trace_session_counts(session).traced, 1);
}

static void discarding_runs_no_specification(void **state)
{
    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace},{message,{set_tcw,5}}]}]", TH_BP_LOCAL);
    scene_answer("enabled_call", "discard");
    assert_int_equal(call(0, 7, ASKED).count, 0);
    assert_int_equal(th_trace_session_counts(session).discarded, 1);
    scene_forget_answers();
    set(session, "f0", "[{'_',[],[{message,{get_tcw}}]}]", TH_BP_LOCAL);
    call(0, 7, ASKED "trace_call(call,s," ME ",{m,f0,[7]},#{match_spec_result => 0}) self\n");
}

static void guards_filter_calls(void **state)
{
    (void)state;
    set(session, "f0", "[{['$1'],[{'>','$1',5}],[]}]", TH_BP_LOCAL);
    call(0, 5, ASKED);
    call(0, 6, TOLD("f0", "6"));
}

static void only_external_calls_hit_global_breakpoints(void **state)
{
    struct th_call_event local = {.external = false};

    (void)state;
    set(session, "f0", "true", TH_BP_GLOBAL);
    alive_call_as(me, 0, th_small(1), &local);
    assert_string_equal(scene_log(), "");
    call(0, 1, TOLD("f0", "1"));
}

static void remove_and_invalid_results_end_the_tracing_of_a_process(void **state)
{
    static const char *const answers[] = {"remove", "banana", "42", "BADARG"};

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        scene_answer("enabled_call", answers[i]);
        call(0, 1, ASKED);
        call(0, 1, "");
        assert_int_equal(th_trace_session_counts(session).removed, i + 1);
        th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
        scene_forget_answers();
    }
    call(0, 1, TOLD("f0", "1"));
}

static void silence_takes_effect_after_the_specification(void **state)
{
    (void)state;
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_SILENT);
    set(session, "f0", "[{[1],[],[{return_trace}]},{[2],[],[{silent,false}]}]", TH_BP_LOCAL);
    assert_int_equal(call(0, 1, ASKED).count, 0);
    assert_int_equal(th_trace_session_counts(session).silenced, 1);
    call(0, 2, TOLD("f0", "2"));
    assert_false(th_trace_session_flags(session, me->process.id) & TH_FLAG_SILENT);
}

static void flags_decide_how_a_call_looks(void **state)
{
    (void)state;
    me->process.scheduler = 3;
    th_trace_session_trace_one(session, me->process.id, true,
                               TH_FLAG_ARITY | TH_FLAG_SCHEDULER_ID | TH_FLAG_STRICT_MONOTONIC);
    set(session, "f0", "true", TH_BP_LOCAL);
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,1},"
               "#{scheduler_id => 3,timestamp => strict_monotonic}) self\n");
}

/* --- Callers ---------------------------------------------------------------------------------- */

static th_term tell_caller(void *context, th_env *env)
{
    assert_ptr_equal(context, me);
    return th_make_tuple_of(env, th_atom("who"), th_atom("asks"), th_small(0));
}

static void callers_come_with_the_call_or_on_request_or_are_unknown(void **state)
{
    static const struct th_match_operations asked = {.caller = tell_caller};
    struct th_caller caller = {TH_CALLER_UNDEFINED, {0}};
    struct th_call_event known = {.external = true, .caller = &caller};

    (void)state;
    set(session, "f0", "[{'_',[],[{message,{caller}}]}]", TH_BP_LOCAL);
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 1);
    me->process.asked = &asked;
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{match_spec_result => {who,asks,0}}) self\n");
    alive_call_as(me, 0, th_small(1), &known);
    assert_string_equal(scene_log(), ASKED "trace_call(call,s," ME
                                           ",{m,f0,[1]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 1);
}

/* --- Meta breakpoints ------------------------------------------------------------------------- */

static void meta_breakpoints_trace_every_process(void **state)
{
    struct th_live_requests requests;

    (void)state;
    th_trace_session_trace_one(session, me->process.id, false, TH_FLAGS_ALL);
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_META);
    requests =
        call(0, 1, ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{timestamp => timestamp}) self\n");
    returns(0, &requests, "ok",
            "trace_call(return_from,s," ME
            ",{m,f0,1},#{extra => ok,timestamp => timestamp}) self\n");
    scene_answer("enabled_call", "remove");
    call(0, 1, ASKED);
    call(0, 1, "");
}

static void *call_from_a_stranger(void *unused)
{
    (void)unused;
    alive_call(NULL, 0, th_small(1));
    return NULL;
}

static void a_stranger(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, call_from_a_stranger, NULL);
    pthread_join(thread, NULL);
}

static void a_thread_without_a_process_causes_no_event(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL | TH_BP_META | TH_BP_COUNT | TH_BP_TIME);
    a_stranger();
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_live_counts(scene_tracing()).strangers, 1);
    th_trace_session_function_info(session, &alive_functions[0].function.name, &info);
    assert_int_equal(info.calls, 1);
    assert_int_equal(info.time_count, 0);
    th_breakpoint_info_free(&info);
}

/* The tracer ends in a hit; the next thread finds none, and requests the end of the breakpoint. */
static void a_foreign_thread_at_a_removed_meta_tracer_is_harmless(void **state)
{
    (void)state;
    set(session, "f0", "true", TH_BP_META);
    scene_answer("enabled_call", "remove");
    th_progress_enter(); /* delays the hit's request until the stranger comes */
    call(0, 1, ASKED);
    a_stranger();
    th_progress_leave();
    for (int i = 0; i < 1000 && th_live_function_is_armed(&alive_functions[0]); i++)
        th_progress_settle();
    assert_false(th_live_function_is_armed(&alive_functions[0]));
    assert_string_equal(scene_log(), "");
}

/* --- Callbacks that cause events, or change what is traced ------------------------------------ */

static void call_again(void)
{
    alive_call(me, 0, th_small(2));
}

static void callbacks_do_not_recurse(void **state)
{
    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    scene_act("trace_call", "s", call_again);
    call(0, 1, TOLD("f0", "1"));
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 1);
}

static void destroy_other(void)
{
    if (other)
        th_trace_session_destroy(other);
    other = NULL;
}

static void destroy_session(void)
{
    if (session)
        th_trace_session_destroy(session);
    session = NULL;
}

static void a_session_destroyed_in_another_s_callback_is_not_called(void **state)
{
    th_session_id id;

    (void)state;
    other = add("t", TH_FLAG_CALL);
    th_trace_session_trace_one(other, me->process.id, true, TH_FLAG_CALL);
    id = th_trace_session_id_of(other);
    set(session, "f0", "true", TH_BP_LOCAL);
    set(other, "f0", "true", TH_BP_LOCAL);
    scene_act("enabled_call", "s", destroy_other);
    call(0, 1, TOLD("f0", "1"));
    while (th_trace_session_state(scene_tracing(), id) != TH_SESSION_DEAD)
        th_progress_settle();
    call(0, 1, TOLD("f0", "1"));
}

static void a_session_that_destroys_itself_is_not_called_again(void **state)
{
    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    scene_act("enabled_call", "s", destroy_session);
    assert_int_equal(call(0, 1, ASKED).count, 0);
    call(0, 1, "");
}

/* Outside of reader sections, the result is true while at least one session has the flag call for
 * the process. */
static void th_live_is_calling_follows_the_call_flags(void **state)
{
    struct alive *as_all = alive_spawn(70, NULL, false), *later;
    th_term id = me->process.id;

    (void)state;
    assert_true(th_live_is_calling(&me->process));
    th_trace_session_trace_one(session, id, true, TH_FLAG_SEND);
    th_trace_session_trace_one(session, id, false, TH_FLAG_CALL);
    assert_false(th_live_is_calling(&me->process));
    set(session, "f0", "true", TH_BP_LOCAL);
    call(0, 1, "");
    other = add("o", TH_FLAG_NONE);
    th_trace_session_trace_one(other, id, true, TH_FLAG_CALL);
    assert_true(th_live_is_calling(&me->process));
    th_trace_session_destroy(other);
    assert_false(th_live_is_calling(&me->process));
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAGS_ALL);
    assert_false(th_live_is_calling(&as_all->process));
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    assert_true(th_live_is_calling(&as_all->process));
    later = alive_spawn(71, NULL, false);
    assert_true(th_live_is_calling(&later->process));
    call(0, 1, TOLD("f0", "1"));
    th_trace_session_destroy(session);
    assert_false(th_live_is_calling(&as_all->process));
    assert_false(th_live_is_calling(&later->process));
    assert_false(th_live_is_calling(&me->process));
    alive_exit(as_all);
    alive_exit(later);
}

/* Specifications with the same result for each call are not run. */
static void constant_specifications_take_effect(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set(session, "f0", "[{'_',[],[{message,false},{exception_trace}]}]", TH_BP_LOCAL);
    requests = call(0, 1, ASKED);
    assert_int_equal(requests.count, 1);
    alive_raise(me, 0, &requests, "x");
    assert_string_equal(scene_log(), RAISED("f0", "x"));
    set(session, "f0", "[{'_',[],[{message,why}]}]", TH_BP_LOCAL);
    call(0, 1, ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{match_spec_result => why}) self\n");
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_SILENT);
    call(0, 1, ASKED);
}

static void set_in_callback(void)
{
    set(session, "f1", "true", TH_BP_LOCAL);
    set(session, "f0", "false", TH_BP_LOCAL);
}

static void patterns_set_in_a_callback_apply_soon_afterwards(void **state)
{
    struct th_pattern f2 = {th_atom("m"), th_atom("f2"), 1, false};

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    scene_act("trace_call", "s", set_in_callback);
    call(0, 1, TOLD("f0", "1"));
    th_trace_session_function(session, &f2, TH_AM(true), TH_BP_LOCAL, NULL); /* queued behind */
    call(0, 1, "");
    call(1, 1, TOLD("f1", "1"));
}

/* The pattern could never trace a call. */
static void local_patterns_need_a_site_for_local_calls(void **state)
{
    struct th_pattern one = {th_atom("late"), th_atom("f"), 0, false};
    struct th_pattern any = {TH_NONE, TH_NONE, TH_ANY_ARITY, false};
    struct th_export entry = {0};
    struct th_traceable_function f = {.function.name = {th_atom("late"), th_atom("f"), 0}};
    struct th_traceable_function *const functions[] = {&f};
    size_t matched;

    (void)state;
    f.function.site = th_breakpoint_site_create(&th_breakpoint_site_export, &f, &entry);
    scene_begin_functions(functions, 1);
    assert_int_equal(th_trace_session_function(session, &one, TH_AM(true), TH_BP_LOCAL, &matched),
                     TH_USAGE);
    assert_string_equal(th_error_link(0), "no function can have a breakpoint for local calls: "
                                          "trace calls from other modules with a global pattern");
    assert_string_equal(th_error_link(1),
                        "late:f/0: the only breakpoint is for calls from other modules");
    th_error_clear();
    assert_int_equal(
        th_trace_session_function(session, &one, TH_AM(true), TH_BP_LOCAL | TH_BP_COUNT, &matched),
        TH_USAGE);
    th_error_clear();
    assert_int_equal(th_code_export_word(&entry), 0);
    assert_int_equal(th_trace_session_function(session, &one, TH_AM(true), TH_BP_GLOBAL, &matched),
                     TH_OK);
    assert_int_equal(matched, 1);
    assert_int_equal(th_code_export_word(&entry), TH_EXPORT_ARMED);
    assert_int_equal(th_trace_session_function(session, &any, TH_AM(true), TH_BP_LOCAL, &matched),
                     TH_OK);
    assert_int_equal(matched, 1 + ALIVE_FUNCTIONS); /* the recorded one, and the virtual ones */
    assert_int_equal(th_trace_session_function(session, &one, TH_AM(false), TH_BP_GLOBAL, &matched),
                     TH_OK);
    assert_int_equal(th_code_export_word(&entry), 0);
    th_trace_session_function(session, &any, TH_AM(false), TH_BP_LOCAL, NULL);
    scene_end_functions(functions, 1);
    th_breakpoint_site_drop(f.function.site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_call_hits_breakpoints),
        TEST(discarding_runs_no_specification),
        TEST(guards_filter_calls),
        TEST(only_external_calls_hit_global_breakpoints),
        TEST(remove_and_invalid_results_end_the_tracing_of_a_process),
        TEST(silence_takes_effect_after_the_specification),
        TEST(flags_decide_how_a_call_looks),
        TEST(callers_come_with_the_call_or_on_request_or_are_unknown),
        TEST(meta_breakpoints_trace_every_process),
        TEST(a_thread_without_a_process_causes_no_event),
        TEST(a_foreign_thread_at_a_removed_meta_tracer_is_harmless),
        TEST(callbacks_do_not_recurse),
        TEST(a_session_destroyed_in_another_s_callback_is_not_called),
        TEST(a_session_that_destroys_itself_is_not_called_again),
        TEST(th_live_is_calling_follows_the_call_flags),
        TEST(constant_specifications_take_effect),
        TEST(patterns_set_in_a_callback_apply_soon_afterwards),
        TEST(local_patterns_need_a_site_for_local_calls),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
