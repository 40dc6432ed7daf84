/* Tests meta tracers other than their session's tracer. */
#include "host/base/base.h"
#include "host/library/library.h"
#include "host/self/self.h"
#include "tests/trace/patterns.h"

#include "host/progress/progress.h"
#include "host/trace/tracing.h"

#include <dlfcn.h>
#include <stdlib.h>

#define META_ASKED(state) "enabled_call(call," state ",<0.1.0>)\n"
#define META_TOLD(state, mfa)                                               \
    META_ASKED(state)                                                       \
    "trace_call(call," state ",<0.1.0>," mfa ",#{timestamp => timestamp}) " \
    "self\n"
#define STATUS(state) "enabled(trace_status," state ",undefined)\n"

static enum th_status try_meta_of(struct th_session *owner, struct th_library *library,
                                  const char *function, const char *match, const char *state)
{
    struct th_pattern made = pattern("m", function, TH_ANY_ARITY);
    struct th_session_setup setup = {.name = state, .library = library};
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, state, strlen(state), &setup.state), TH_OK);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    if (function[0] != '_')
        made.arity = 0;
    status = th_trace_session_meta_function(owner, &made, term, &setup, NULL);
    th_env_release(&env);
    return status;
}

/* Sets a meta breakpoint at m:FUNCTION/0, or at all of m for "_". */
static void set_meta_of(struct th_session *owner, const char *function, const char *match,
                        const char *state)
{
    assert_int_equal(try_meta_of(owner, scene_library(), function, match, state), TH_OK);
}

static void set_meta(const char *function, const char *state)
{
    set_meta_of(session, function, "true", state);
    scene_log();
}

/* --- Deliveries ------------------------------------------------------------------------------- */

static void a_meta_tracer_gets_events_in_place_of_its_session(void **state)
{
    (void)state;
    set_meta_of(session, "f", "true", "a");
    assert_string_equal(scene_log(), STATUS("a"));
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") META_TOLD("a", "{m,f,[]}"));
    expect(CALL("{m,g,[]}"), "");
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}"));
}

static void a_later_meta_tracer_replaces_an_earlier_one(void **state)
{
    (void)state;
    set_meta("f", "a");
    set_meta("f", "b");
    expect(CALL("{m,f,[]}"), META_TOLD("b", "{m,f,[]}"));
    set("m", "f", 0, "true", TH_BP_META, 1);
    expect(CALL("{m,f,[]}"), META_TOLD("s", "{m,f,[]}"));
    set("m", "f", 0, "false", TH_BP_META, 1);
    expect(CALL("{m,f,[]}"), "");
}

static void each_session_has_its_own_meta_tracer(void **state)
{
    struct th_session *other = scene_create("t");

    (void)state;
    set_meta("f", "a");
    set_meta_of(other, "f", "[{'_',[],[{message,other}]}]", "b");
    scene_log();
    expect(CALL("{m,f,[]}"),
           META_TOLD("a", "{m,f,[]}") META_ASKED("b") "trace_call(call,b,<0.1.0>,{m,f,[]},"
                                                      "#{match_spec_result => other,"
                                                      "timestamp => timestamp}) self\n");
    th_trace_session_destroy(session);
    scene_log();
    assert_int_equal(scene_trace(CALL("{m,f,[]}")), TH_OK);
    assert_null(strstr(scene_log(), ",a,"));
    th_trace_session_destroy(other);
}

static void wildcards_set_a_meta_tracer_for_later_functions(void **state)
{
    (void)state;
    set_meta("_", "a");
    expect(CALL("{m,g,[1]}"), META_TOLD("a", "{m,g,[1]}"));
    expect(CALL("{n,g,[1]}"), "");
}

static void requested_returns_go_to_the_meta_tracer(void **state)
{
    (void)state;
    set_meta_of(session, "f", "[{'_',[],[{exception_trace}]}]", "a");
    scene_log();
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}"));
    expect(RETURN("{m,f,0}", "ok"), "trace_call(return_from,a,<0.1.0>,{m,f,0},"
                                    "#{extra => ok,timestamp => timestamp}) self\n");
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}"));
    expect(EXCEPTION("{m,f,0}", "{error,a}"),
           "trace_call(exception_from,a,<0.1.0>,{m,f,0},"
           "#{extra => {error,a},timestamp => timestamp}) self\n");
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}"));
    set("m", "f", 0, "false", TH_BP_META, 1);
    expect(RETURN("{m,f,0}", "ok"), ""); /* no tracer is left */
    assert_int_equal(th_trace_session_pattern_counts(session).meta_untold, 1);
}

static void discarded_calls_raise_no_events(void **state)
{
    (void)state;
    set_meta_of(session, "f", "[{'_',[],[{return_trace}]}]", "a");
    scene_log();
    scene_answer("enabled_call", "discard");
    expect(CALL("{m,f,[]}"), META_ASKED("a"));
    expect(RETURN("{m,f,0}", "ok"), "");
}

static void a_breakpoint_names_its_meta_tracer(void **state)
{
    struct th_bp_info info;
    const char *name;
    th_term term;

    (void)state;
    set_meta("f", "a");
    info = info_of("m", "f", 0);
    assert_true(th_trace_pattern_meta_tracer(session, &info, &name, &term));
    assert_string_equal(name, "a");
    assert_term_equal(term, th_atom("a"));
    th_breakpoint_info_free(&info);
    set("m", "f", 0, "true", TH_BP_META, 1);
    info = info_of("m", "f", 0);
    assert_false(th_trace_pattern_meta_tracer(session, &info, &name, &term));
    th_breakpoint_info_free(&info);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static bool wait_for_kinds(const char *function, uint32_t kinds)
{
    struct th_bp_info info = {.kinds = ~kinds};

    for (int i = 0; i < 1000 && info.kinds != kinds; i++) {
        th_progress_settle();
        info = info_of("m", function, 0);
        th_breakpoint_shared_drop(info.spec);
        th_breakpoint_shared_drop(info.meta_spec);
        th_breakpoint_shared_drop(info.meta_tracer);
    }
    return info.kinds == kinds;
}

static void remove_clears_the_meta_tracer_of_a_breakpoint(void **state)
{
    (void)state;
    set_meta("_", "a");
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") META_TOLD("a", "{m,f,[]}"));
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    scene_answer("enabled_call", "remove");
    expect(CALL("{m,f,[]}"), META_ASKED("a"));
    expect(CALL("{m,f,[]}"), "");
    scene_forget_answers();
    expect(CALL("{m,f,[]}"), "");
    expect(CALL("{m,g,[]}"), META_TOLD("a", "{m,g,[]}"));
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_true(wait_for_kinds("f", TH_BP_LOCAL));
    assert_int_equal(th_trace_session_counts(session).removed, 0);
}

static void an_invalid_result_counts_as_remove(void **state)
{
    (void)state;
    set_meta("f", "a");
    scene_answer("enabled_call", "BADARG");
    expect(CALL("{m,f,[]}"), META_ASKED("a"));
    expect(CALL("{m,f,[]}"), "");
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
}

static void a_meta_tracer_that_returns_remove_at_first_is_refused(void **state)
{
    (void)state;
    scene_answer("enabled", "remove");
    assert_int_equal(try_meta_of(session, scene_library(), "f", "true", "a"), TH_FAILED);
    th_error_clear();
    assert_string_equal(scene_log(), STATUS("a"));
    assert_false(th_trace_session_patterned(session));
}

static void a_meta_tracer_ends_with_the_process_of_its_state(void **state)
{
    (void)state;
    set_meta("f", "<0.7.0>");
    th_trace_ended(scene_tracing(), th_local_pid(7, 0));
    assert_string_equal(scene_log(), STATUS("<0.7.0>"));
    expect(CALL("{m,f,[]}"), META_TOLD("<0.7.0>", "{m,f,[]}"));
    scene_answer("enabled trace_status", "remove");
    th_trace_ended(scene_tracing(), th_local_pid(7, 0));
    assert_string_equal(scene_log(), STATUS("<0.7.0>"));
    expect(CALL("{m,f,[]}"), "");
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_true(th_trace_session_attached(session));
}

static void clear_meta(void)
{
    struct th_pattern all = pattern("m", "_", TH_ANY_ARITY);

    th_trace_session_function(session, &all, TH_AM(false), TH_BP_META, NULL);
}

static void a_meta_tracer_is_cleared_in_its_own_callback(void **state)
{
    (void)state;
    set_meta("f", "a");
    scene_act("enabled_call", "a", clear_meta);
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}"));
    assert_true(wait_for_kinds("f", 0));
    expect(CALL("{m,f,[]}"), "");
}

static void replace_meta(void)
{
    set_meta_of(session, "f", "true", "b");
}

static bool replaced;

static void replace_meta_once(void)
{
    if (!replaced)
        replace_meta();
    replaced = true;
}

static void a_meta_tracer_is_replaced_in_its_own_callback(void **state)
{
    (void)state;
    replaced = false;
    set_meta("f", "a");
    scene_act("trace_call", "a", replace_meta_once);
    expect(CALL("{m,f,[]}"), META_TOLD("a", "{m,f,[]}") STATUS("b"));
    set("m", "g", 0, "true", TH_BP_LOCAL, 1); /* queued behind it */
    expect(CALL("{m,f,[]}"), META_TOLD("b", "{m,f,[]}"));
}

static void destroy_session(void)
{
    if (session)
        th_trace_session_destroy(session);
    session = NULL;
}

static void a_meta_tracer_destroys_its_session_in_a_callback(void **state)
{
    struct th_session *other = scene_create("t");

    (void)state;
    set_meta_of(other, "f", "true", "b");
    set_meta("f", "a");
    scene_act("enabled_call", "a", destroy_session);
    scene_act("enabled_call", "b", destroy_session);
    /* b comes first; a, whose session is being cleared then, gets no further calls. */
    expect(CALL("{m,f,[]}"), META_TOLD("b", "{m,f,[]}"));
    expect(CALL("{m,f,[]}"), META_TOLD("b", "{m,f,[]}"));
    assert_int_equal(th_trace_sessions(scene_tracing()), 1);
}

static int disarmed;

static void disarm(void)
{
    disarmed = th_trace_callback_disarm(&th_self.attachment->env);
}

static void a_meta_tracer_disarms_its_meta_breakpoint_only(void **state)
{
    (void)state;
    set_meta("f", "a");
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    scene_act("trace_call", "a", disarm);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") META_TOLD("a", "{m,f,[]}"));
    assert_int_equal(disarmed, 1);
    th_progress_settle();
    set("m", "g", 0, "true", TH_BP_LOCAL, 1); /* queued behind it */
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
}

/* --- Loading and unloading -------------------------------------------------------------------- */

static char *other_path(void)
{
    return th_printf("%s/tests/tracers/every_slot.so", getenv("BUILD_DIR"));
}

/* Opens a tracer that no other session uses here. */
static struct th_library *other_library(void)
{
    char *path = other_path();
    struct th_library *library;

    assert_int_equal(th_library_open(path, &library), TH_OK);
    assert_int_equal(th_library_load(library, NULL, th_small(0)), TH_OK);
    th_free(path);
    return library;
}

static bool is_loaded(void)
{
    char *path = other_path();
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    th_free(path);
    if (handle)
        dlclose(handle);
    return handle;
}

static void a_meta_tracer_is_unloaded_with_its_last_breakpoint(void **state)
{
    (void)state;
    assert_int_equal(try_meta_of(session, other_library(), "_", "true", "a"), TH_OK);
    set("m", "f", 0, "true", TH_BP_COUNT, 1); /* the function exists from now on */
    set("m", "f", 0, "false", TH_BP_META, 1);
    assert_true(is_loaded()); /* for other functions of m */
    set("m", "_", TH_ANY_ARITY, "false", TH_BP_META, 1);
    assert_false(is_loaded());
}

static void a_meta_tracer_is_unloaded_with_its_session(void **state)
{
    (void)state;
    assert_int_equal(try_meta_of(session, other_library(), "f", "true", "a"), TH_OK);
    assert_true(is_loaded());
    th_trace_session_destroy(session);
    assert_false(is_loaded());
}

static void a_meta_tracer_is_unloaded_after_a_remove(void **state)
{
    struct th_session *other = scene_create("t");

    (void)state;
    assert_int_equal(try_meta_of(session, other_library(), "f", "true", "a"), TH_OK);
    scene_trace(CALL("{m,f,[]}")); /* results of every_slot make no sense */
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_true(wait_for_kinds("f", 0));
    for (int i = 0; i < 1000 && is_loaded(); i++) {
        th_progress_settle();
        scene_trace(CALL("{m,f,[]}"));
    }
    assert_false(is_loaded());
    th_trace_session_destroy(other);
}

static void a_refused_meta_tracer_is_unloaded(void **state)
{
    (void)state;
    assert_int_equal(try_meta_of(session, other_library(), "f", "false", "a"), TH_USAGE);
    assert_string_equal(th_error_link(0),
                        "a meta tracer is possible only for a pattern that is set");
    th_error_clear();
    assert_false(is_loaded());
    assert_int_equal(try_meta_of(session, other_library(), "f", "[{x}]", "a"), TH_MALFORMED);
    th_error_clear();
    assert_false(is_loaded());
}

static void the_end_of_the_tracing_unloads_a_meta_tracer(void **state)
{
    (void)state;
    assert_int_equal(try_meta_of(session, other_library(), "_", "true", "a"), TH_OK);
    scene_trace(CALL("{m,f,[]}"));
    scene_end();
    assert_false(is_loaded());
    scene_begin_empty(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_meta_tracer_gets_events_in_place_of_its_session),
        TEST(a_later_meta_tracer_replaces_an_earlier_one),
        TEST(each_session_has_its_own_meta_tracer),
        TEST(wildcards_set_a_meta_tracer_for_later_functions),
        TEST(requested_returns_go_to_the_meta_tracer),
        TEST(discarded_calls_raise_no_events),
        TEST(a_breakpoint_names_its_meta_tracer),
        TEST(remove_clears_the_meta_tracer_of_a_breakpoint),
        TEST(an_invalid_result_counts_as_remove),
        TEST(a_meta_tracer_that_returns_remove_at_first_is_refused),
        TEST(a_meta_tracer_ends_with_the_process_of_its_state),
        TEST(a_meta_tracer_is_cleared_in_its_own_callback),
        TEST(a_meta_tracer_is_replaced_in_its_own_callback),
        TEST(a_meta_tracer_destroys_its_session_in_a_callback),
        TEST(a_meta_tracer_disarms_its_meta_breakpoint_only),
        TEST(a_meta_tracer_is_unloaded_with_its_last_breakpoint),
        TEST(a_meta_tracer_is_unloaded_with_its_session),
        TEST(a_meta_tracer_is_unloaded_after_a_remove),
        TEST(a_refused_meta_tracer_is_unloaded),
        TEST(the_end_of_the_tracing_unloads_a_meta_tracer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
