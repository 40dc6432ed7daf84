/* Tests function patterns: ends of calls, callers, and the example of the specification. */
#include "host/base/base.h"
#include "tests/trace/patterns.h"

/* --- Ends ------------------------------------------------------------------------------------- */

static void returns_and_exceptions_come_on_request(void **state)
{
    (void)state;
    set("m", "f", 1, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 1);
    set("m", "g", 1, "true", TH_BP_LOCAL, 1);
    set("m", "x", 1, "[{'_',[],[{exception_trace}]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[1]}"), TOLD("{m,f,[1]}"));
    expect(CALL("{m,g,[1]}"), TOLD("{m,g,[1]}"));
    expect(RETURN("{m,g,1}", "no"), "");
    expect(RETURN("{m,f,1}", "ok"), ENDED("{m,f,1}", "ok"));
    scene_trace(CALL("{m,f,[2]}"));
    scene_trace(CALL("{m,x,[2]}"));
    scene_log();
    expect(EXCEPTION("{m,x,1}", "{error,bad}"), RAISED("{m,x,1}", "{error,bad}"));
    expect(EXCEPTION("{m,f,1}", "{error,bad}"), "");
}

static void a_later_session_gets_no_returns_of_an_earlier_one(void **state)
{
    (void)state;
    set("m", "f", 1, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 1);
    scene_trace(CALL("{m,f,[1]}"));
    th_trace_session_destroy(session);
    session = scene_create("t");
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    set("m", "f", 1, "true", TH_BP_LOCAL, 1);
    scene_log();
    expect(RETURN("{m,f,1}", "ok"), "");
}

/* --- The example of the specification --------------------------------------------------------- */

/* foo() -> lots(), ok.  lots() -> 'of'(), and tail calls from there down to bar(0). SWAP: lots is
 * the tail call instead of 'of'. */
static void play_example(bool swap)
{
    enum th_fact lots = swap ? TH_YES : TH_NO, of = swap ? TH_NO : TH_YES;
    char tuple[64];

    scene_trace_call(CALL("{sem,w,[]}"), TH_YES, TH_NO);
    scene_trace_call(CALL("{ex,foo,[]}"), TH_YES, TH_NO);
    scene_trace_call(CALL("{ex,lots,[]}"), TH_NO, lots);
    scene_trace_call(CALL("{ex,'of',[]}"), TH_NO, of);
    scene_trace_call(CALL("{ex,indirections,[]}"), TH_NO, TH_YES);
    for (int i = 10; i >= 0; i--) {
        snprintf(tuple, sizeof tuple, CALL("{ex,bar,[%d]}"), i);
        scene_trace_call(tuple, TH_NO, TH_YES);
    }
    scene_trace(RETURN("{ex,bar,1}", "done"));
    scene_trace(RETURN("{ex,foo,0}", "ok"));
}

static const char *example_call(int i)
{
    static const char *const names[] = {"foo", "lots", "'of'", "indirections"};
    static const char *const first[] = {"", "\"\\n\"", "\"\\t\"", "\"\\b\""};
    static char text[64];

    if (i < 4)
        snprintf(text, sizeof text, "{ex,%s,[]}", names[i]);
    else if (i < 7)
        snprintf(text, sizeof text, "{ex,bar,%s}", first[i - 3]);
    else
        snprintf(text, sizeof text, "{ex,bar,[%d]}", 14 - i);
    return text;
}

/* Returns the events of the first COUNT calls of the example, with the callers of foo, of lots, and
 * of all others; NULL: without callers. */
static const char *calls_told(int count, const char *const callers[])
{
    static struct th_buffer text;

    text.size = 0;
    for (int i = 0; i < count; i++) {
        th_buffer_printf(&text, ASKED "trace_call(call,s,<0.1.0>,%s,#{", example_call(i));
        if (callers)
            th_buffer_printf(&text, "match_spec_result => %s", callers[i < 2 ? i : 2]);
        th_buffer_add_text(&text, "}) self\n");
    }
    return th_buffer_text(&text);
}

static const char caller_spec[] = "[{'_',[],[{message,{caller}}]}]";

static void the_example_shows_15_calls_with_their_callers(void **state)
{
    const char *const callers[] = {"{sem,w,0}", "{ex,foo,0}", "{ex,foo,0}"};

    (void)state;
    set("ex", "_", TH_ANY_ARITY, caller_spec, TH_BP_LOCAL, 0);
    play_example(false);
    assert_string_equal(scene_log(), calls_told(15, callers));
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 0);
}

static void other_tail_calls_lead_to_other_callers(void **state)
{
    const char *const callers[] = {"{sem,w,0}", "{sem,w,0}", "{ex,lots,0}"};

    (void)state;
    set("ex", "_", TH_ANY_ARITY, caller_spec, TH_BP_LOCAL, 0);
    play_example(true);
    assert_string_equal(scene_log(), calls_told(15, callers));
}

static void the_example_shows_one_global_call(void **state)
{
    const char *const callers[] = {"{sem,w,0}", NULL, NULL};

    (void)state;
    set("ex", "_", TH_ANY_ARITY, caller_spec, TH_BP_GLOBAL, 0);
    play_example(false);
    assert_string_equal(scene_log(), calls_told(1, callers));
    assert_int_equal(th_trace_session_pattern_counts(session).external_unknown, 0);
    scene_trace(CALL("{ex,foo,[]}"));
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_trace_session_pattern_counts(session).external_unknown, 1);
}

static void an_unknown_caller_is_counted(void **state)
{
    (void)state;
    set("m", "f", 0, caller_spec, TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[]}"),
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 1);
}

static void recorded_callers_are_used_on_request(void **state)
{
    (void)state;
    set("m", "f", 0, caller_spec, TH_BP_LOCAL, 1);
    th_trace_use_recorded_callers(scene_tracing());
    expect("{trace,<0.1.0>,call,{m,f,[]},{m,a,3}}",
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{match_spec_result => {m,a,3}}) self\n");
    expect("{trace,<0.1.0>,call,{m,f,[]},undefined}",
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 0);
    expect("{trace,<0.1.0>,call,{m,f,[]},other}",
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 1);
}

static void the_example_shows_15_returns(void **state)
{
    struct th_buffer expected = {0};

    (void)state;
    set("ex", "_", TH_ANY_ARITY, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 0);
    th_buffer_add_text(&expected, calls_told(15, NULL));
    for (int i = 0; i < 11; i++)
        th_buffer_add_text(&expected, ENDED("{ex,bar,1}", "done"));
    th_buffer_add_text(&expected, ENDED("{ex,indirections,0}", "done"));
    th_buffer_add_text(&expected, ENDED("{ex,'of',0}", "done"));
    th_buffer_add_text(&expected, ENDED("{ex,lots,0}", "done"));
    th_buffer_add_text(&expected, ENDED("{ex,foo,0}", "ok"));
    play_example(false);
    assert_string_equal(scene_log(), th_buffer_text(&expected));
    th_buffer_free(&expected);
}

static void the_example_shows_two_return_to(void **state)
{
    struct th_buffer expected = {0};

    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_RETURN_TO);
    scene_log();
    set("ex", "_", TH_ANY_ARITY, "true", TH_BP_LOCAL, 0);
    th_buffer_add_text(&expected, calls_told(15, NULL));
    th_buffer_add_text(&expected, BACK("{ex,foo,0}"));
    th_buffer_add_text(&expected, BACK("{sem,w,0}"));
    play_example(false);
    assert_string_equal(scene_log(), th_buffer_text(&expected));
    th_buffer_free(&expected);
}

static void a_recorded_return_to_is_used_if_callers_are_unknown(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_RETURN_TO);
    scene_log();
    set("m", "f", 0, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 1);
    scene_trace(CALL("{m,f,[]}"));
    scene_trace(CALL("{m,g,[]}"));
    scene_log();
    expect(RETURN("{m,g,0}", "1"), "");
    expect("{trace,<0.1.0>,return_to,{m,f,0}}", "");
    expect(RETURN("{m,f,0}", "2"), ENDED("{m,f,0}", "2"));
    expect("{trace,<0.1.0>,return_to,{m,e,0}}", BACK("{m,e,0}"));
    expect("{trace,<0.1.0>,return_to,{m,d,0}}", "");
}

static void a_catching_function_gets_return_to_before_return_from(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_RETURN_TO);
    set("m", "_", TH_ANY_ARITY, "[{'_',[],[{exception_trace}]}]", TH_BP_LOCAL, 0);
    scene_trace_call(CALL("{m,a,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,b,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,c,[]}"), TH_NO, TH_NO);
    scene_log();
    expect(EXCEPTION("{m,c,0}", "{error,x}"), RAISED("{m,c,0}", "{error,x}"));
    expect(EXCEPTION("{m,b,0}", "{error,x}"), RAISED("{m,b,0}", "{error,x}"));
    expect(RETURN("{m,a,0}", "ok"), BACK("{m,a,0}") ENDED("{m,a,0}", "ok"));
}

static void the_first_function_of_a_process_has_no_caller(void **state)
{
    (void)state;
    set("m", "f", 0, "[{'_',[],[{message,{{{caller},{current_stacktrace}}}}]}]", TH_BP_LOCAL, 1);
    expect("{trace,<0.1.0>,spawned,<0.2.0>,{m,f,[]}}", ""); /* the session has no flag for it */
    scene_trace_call(CALL("{m,f,[]}"), TH_YES, TH_NO);
    assert_string_equal(scene_log(), ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},"
                                           "#{match_spec_result => {undefined,[]}}) self\n");
    assert_int_equal(th_trace_session_pattern_counts(session).callers_unknown, 0);
}

/* The requests of inner calls are dropped, as in a BEAM. */
static void a_return_to_after_an_exception_needs_the_nearest_call(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_RETURN_TO);
    set("m", "b", 0, "true", TH_BP_LOCAL, 1);
    scene_trace_call(CALL("{m,a,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,b,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,c,[]}"), TH_NO, TH_NO);
    scene_trace(EXCEPTION("{m,c,0}", "{error,x}"));
    scene_trace(EXCEPTION("{m,b,0}", "{error,x}"));
    scene_log();
    expect("{trace,<0.1.0>,return_to,{m,a,0}}", BACK("{m,a,0}"));
    scene_trace_call(CALL("{m,d,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,b,[]}"), TH_NO, TH_NO);
    scene_trace(EXCEPTION("{m,b,0}", "{error,x}"));
    scene_trace(EXCEPTION("{m,d,0}", "{error,x}"));
    scene_log();
    expect("{trace,<0.1.0>,return_to,{m,a,0}}", "");
}

static void a_return_to_is_delivered_in_silence(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_RETURN_TO);
    set("m", "a", 0, "true", TH_BP_LOCAL, 1);
    set("m", "b", 0, "[{'_',[],[{silent,true}]}]", TH_BP_LOCAL, 1);
    scene_trace_call(CALL("{m,z,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,a,[]}"), TH_NO, TH_NO);
    scene_trace_call(CALL("{m,b,[]}"), TH_NO, TH_NO);
    scene_log();
    expect(RETURN("{m,b,0}", "1"), "");
    expect(RETURN("{m,a,0}", "1"), BACK("{m,z,0}"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(returns_and_exceptions_come_on_request),
        TEST(a_later_session_gets_no_returns_of_an_earlier_one),
        TEST(the_example_shows_15_calls_with_their_callers),
        TEST(other_tail_calls_lead_to_other_callers),
        TEST(the_example_shows_one_global_call),
        TEST(an_unknown_caller_is_counted),
        TEST(recorded_callers_are_used_on_request),
        TEST(a_return_to_after_an_exception_needs_the_nearest_call),
        TEST(a_return_to_is_delivered_in_silence),
        TEST(the_first_function_of_a_process_has_no_caller),
        TEST(the_example_shows_15_returns),
        TEST(the_example_shows_two_return_to),
        TEST(a_recorded_return_to_is_used_if_callers_are_unknown),
        TEST(a_catching_function_gets_return_to_before_return_from),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
