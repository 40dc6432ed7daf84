/* Tests meta tracers other than their session's tracer, with threads that call this host's
 * functions.
 * // Long because: events, end and unloading of a meta tracer share all their steps. */
#include "host/base/base.h"
#include "tests/trace/live.h"

#include "host/library/library.h"
#include "host/progress/progress.h"

#include <stdlib.h>

#define STATUS(state) "enabled(trace_status," state ",undefined)\n"
#define META_TOLD(state, f, x) \
    ASKED_OF(state)            \
    "trace_call(call," state "," ME ",{m," f ",[" x "]},#{timestamp => timestamp}) self\n"

static enum th_status try_meta(struct th_session *of, const char *function, const char *match,
                               const char *name, const char *state, struct th_library *library)
{
    struct th_pattern pattern = {th_atom("m"), function ? th_atom(function) : TH_NONE,
                                 function ? 1 : TH_ANY_ARITY, false};
    struct th_session_setup setup = {.name = name, .library = library};
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_text_parse(&env, state, strlen(state), &setup.state), TH_OK);
    status = th_trace_session_meta_function(of, &pattern, term, &setup, NULL);
    th_env_release(&env);
    return status;
}

/* Sets a meta breakpoint at m:FUNCTION/1 (NULL: at all of m); the tracer's state is its name. */
static void set_meta(const char *function, const char *match, const char *state)
{
    assert_int_equal(try_meta(session, function, match, state, state, scene_library()), TH_OK);
    scene_log();
}

static struct th_meta_tracer_counts counts_of(size_t i)
{
    struct th_meta_tracer_counts counts;

    assert_true(th_trace_session_meta_tracer(session, i, &counts));
    return counts;
}

/* --- Deliveries ------------------------------------------------------------------------------- */

static void a_meta_tracer_gets_calls_of_untraced_processes(void **state)
{
    (void)state;
    th_trace_session_trace_one(session, me->process.id, false, TH_FLAGS_ALL);
    assert_int_equal(try_meta(session, "f0", "true", "a", "a", scene_library()), TH_OK);
    assert_string_equal(scene_log(), STATUS("a"));
    call(0, 1, META_TOLD("a", "f0", "1"));
    call(1, 1, "");
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
    set(session, "f0", "true", TH_BP_LOCAL);
    call(0, 1, TOLD("f0", "1") META_TOLD("a", "f0", "1"));
    set(session, "f0", "true", TH_BP_META);
    call(0, 1,
         TOLD("f0", "1") ASKED "trace_call(call,s," ME
                               ",{m,f0,[1]},#{timestamp => timestamp}) self\n");
    set_meta("f0", "true", "b");
    call(0, 1, TOLD("f0", "1") META_TOLD("b", "f0", "1"));
    set(session, "f0", "false", TH_BP_META);
    call(0, 1, TOLD("f0", "1"));
}

static void *call_as_another(void *another)
{
    alive_call(another, 0, th_small(2));
    return NULL;
}

static void in_thread(void *(*run)(void *), void *context)
{
    pthread_t thread;

    pthread_create(&thread, NULL, run, context);
    pthread_join(thread, NULL);
}

static void a_meta_tracer_is_called_on_any_thread(void **state)
{
    struct alive *another = alive_spawn(2, NULL, false);

    (void)state;
    set_meta("f0", "true", "a");
    call(0, 1, META_TOLD("a", "f0", "1"));
    in_thread(call_as_another, another);
    assert_string_equal(scene_log(),
                        "enabled_call(call,a,<0.2.4096>)\ntrace_call(call,a,<0.2.4096>,"
                        "{m,f0,[2]},#{timestamp => timestamp}) self\n");
    in_thread(call_as_another, NULL); /* a thread without a process */
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_live_counts(scene_tracing()).strangers, 1);
    assert_int_equal(counts_of(0).counts.traced, 2);
    alive_exit(another);
}

static void a_meta_tracer_is_set_for_functions_loaded_later(void **state)
{
    struct th_pattern on_load = {TH_NONE, TH_NONE, TH_ANY_ARITY, true};
    struct th_session_setup setup = {.name = "a", .library = scene_library(), .state = TH_NIL};
    struct th_traceable_function f = {.function.name = {th_atom("late"), th_atom("f"), 0}};
    struct th_traceable_function *functions[] = {&f};
    struct th_call_event made = {.process = &me->process, .function = &f};
    struct th_live_requests requests;
    size_t matched;

    (void)state;
    assert_int_equal(
        th_trace_session_meta_function(session, &on_load, TH_AM(true), &setup, &matched), TH_OK);
    assert_int_equal(matched, 0);
    scene_begin_functions(functions, 1);
    scene_log();
    made.site = f.function.site;
    th_live_call(&made, &requests);
    assert_string_equal(scene_log(), ASKED_OF("[]") "trace_call(call,[]," ME
                                                    ",{late,f,[]},#{timestamp => timestamp}) "
                                                    "self\n");
    scene_end_functions(functions, 1);
    assert_int_equal(counts_of(0).present, 1); /* further events may come */
}

static void requested_returns_go_to_the_meta_tracer(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set_meta("f0", "[{'_',[],[{exception_trace}]}]", "a");
    requests = call(0, 1, META_TOLD("a", "f0", "1"));
    returns(0, &requests, "ok",
            "trace_call(return_from,a," ME
            ",{m,f0,1},#{extra => ok,timestamp => timestamp}) self\n");
    requests = call(0, 1, META_TOLD("a", "f0", "1"));
    alive_raise(me, 0, &requests, "badarg");
    assert_string_equal(scene_log(), "trace_call(exception_from,a," ME
                                     ",{m,f0,1},#{extra => {error,badarg},timestamp => timestamp}) "
                                     "self\n");
    assert_int_equal(counts_of(0).counts.traced, 4);
}

static void returns_for_a_cleared_meta_tracer_are_counted(void **state)
{
    struct th_live_requests before, after, dropped;

    (void)state;
    set_meta("f0", "[{'_',[],[{return_trace}]}]", "a");
    before = call(0, 1, META_TOLD("a", "f0", "1"));
    after = call(0, 1, META_TOLD("a", "f0", "1"));
    dropped = call(0, 1, META_TOLD("a", "f0", "1"));
    set(session, "f0", "false", TH_BP_META);
    returns(0, &before, "ok", "");
    th_progress_settle();
    returns(0, &after, "ok", "");
    assert_int_equal(th_trace_session_pattern_counts(session).meta_untold, 2);
    th_live_drop(&me->process, &dropped);
    assert_int_equal(th_trace_session_pattern_counts(session).meta_untold, 2);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static struct th_bp_info info_of(unsigned i)
{
    struct th_bp_info info = {0};

    th_trace_session_function_info(session, &alive_functions[i].function.name, &info);
    return info;
}

static bool has_meta_breakpoint(unsigned i)
{
    struct th_bp_info info = info_of(i);
    bool has = info.kinds & TH_BP_META;

    th_breakpoint_info_free(&info);
    return has;
}

/* Waits until the change that hits have requested is made. */
static bool are_gone(unsigned i)
{
    for (int n = 0; n < 1000 && has_meta_breakpoint(i); n++)
        th_progress_settle();
    return !has_meta_breakpoint(i);
}

static void remove_clears_a_meta_tracer_for_all_processes(void **state)
{
    struct alive *another = alive_spawn(2, NULL, false);

    (void)state;
    set_meta(NULL, "true", "a");
    scene_answer("enabled_call", "remove");
    call(0, 1, ASKED_OF("a"));
    scene_forget_answers();
    in_thread(call_as_another, another);
    call(0, 1, "");
    call(1, 1, META_TOLD("a", "f1", "1"));
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_int_equal(th_trace_session_counts(session).removed, 0);
    assert_int_equal(counts_of(0).counts.removed, 1);
    assert_true(are_gone(0));
    assert_true(has_meta_breakpoint(1));
    alive_exit(another);
}

static void a_session_counts_its_own_remove_as_a_meta_tracer(void **state)
{
    (void)state;
    set(session, "f0", "true", TH_BP_META);
    scene_answer("enabled_call", "remove");
    call(0, 1, ASKED);
    call(0, 1, "");
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_int_equal(th_trace_session_counts(session).removed, 0);
}

static void a_meta_tracer_ends_with_the_process_of_its_state(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set_meta("f0", "[{'_',[],[{return_trace}]}]", "<0.7.4096>");
    th_trace_ended(scene_tracing(), th_local_pid(7, TH_HOST_SERIAL));
    assert_string_equal(scene_log(), STATUS("<0.7.4096>"));
    requests = call(0, 1, META_TOLD("<0.7.4096>", "f0", "1"));
    scene_answer("enabled trace_status", "remove");
    th_trace_ended(scene_tracing(), th_local_pid(7, TH_HOST_SERIAL));
    assert_string_equal(scene_log(), STATUS("<0.7.4096>"));
    returns(0, &requests, "ok", "");
    call(0, 1, "");
    assert_int_equal(th_trace_session_pattern_counts(session).meta_untold, 1);
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_true(th_trace_session_attached(session));
}

static void clear_meta(void)
{
    set(session, "f0", "false", TH_BP_META);
}

static void a_meta_tracer_is_cleared_in_its_own_callback(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set_meta("f0", "[{'_',[],[{return_trace}]}]", "a");
    scene_act("enabled_call", "a", clear_meta);
    requests = call(0, 1, META_TOLD("a", "f0", "1"));
    set(session, "f1", "false", TH_BP_META); /* queued behind it */
    call(0, 1, "");
    returns(0, &requests, "ok", "");
}

static void replace_meta(void)
{
    assert_int_equal(try_meta(session, "f0", "true", "b", "b", scene_library()), TH_OK);
}

static void a_meta_tracer_is_replaced_in_its_own_callback(void **state)
{
    (void)state;
    set_meta("f0", "true", "a");
    scene_act("trace_call", "a", replace_meta);
    call(0, 1, META_TOLD("a", "f0", "1") STATUS("b"));
    set(session, "f1", "false", TH_BP_META); /* queued behind it */
    call(0, 1, META_TOLD("b", "f0", "1"));
}

static void destroy_session(void)
{
    th_trace_session_destroy(session);
}

static void a_meta_tracer_destroys_its_session_in_a_callback(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set_meta("f0", "[{'_',[],[{return_trace}]}]", "a");
    requests = call(0, 1, META_TOLD("a", "f0", "1"));
    scene_act("enabled_call", "a", destroy_session);
    assert_int_equal(call(0, 1, ASKED_OF("a")).count, 0);
    returns(0, &requests, "ok", "");
    call(0, 1, "");
}

static void *destroy_in_thread(void *unused)
{
    (void)unused;
    destroy_session();
    return NULL;
}

/* The new session has the index of the destroyed owner of the meta tracer. */
static void a_session_that_reuses_an_index_counts_no_old_events(void **state)
{
    struct th_live_requests requests;

    (void)state;
    set_meta("f0", "[{'_',[],[{return_trace}]}]", "a");
    requests = call(0, 1, META_TOLD("a", "f0", "1"));
    in_thread(destroy_in_thread, NULL);
    other = add("t", TH_FLAG_CALL);
    assert_int_equal(th_trace_session_id_of(other) % TH_SESSIONS_LIMIT, 0);
    returns(0, &requests, "ok", "");
    assert_int_equal(th_trace_session_pattern_counts(other).meta_untold, 0);
    call(0, 1, "");
}

/* --- Counters --------------------------------------------------------------------------------- */

static void meta_tracers_of_one_name_are_counted_together(void **state)
{
    struct th_meta_tracer_counts counts;

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    set_meta("f0", "true", "a");
    set_meta("f1", "true", "b");
    scene_answer("enabled_call", "discard");
    alive_call(me, 0, th_small(1));
    scene_forget_answers();
    alive_call(me, 0, th_small(1));
    alive_call(me, 1, th_small(1));
    scene_log();
    assert_int_equal(counts_of(0).present, 1);
    set_meta("f0", "true", "a"); /* replaces the other */
    call(0, 1, TOLD("f0", "1") META_TOLD("a", "f0", "1"));
    for (int i = 0; i < 2; i++) { /* before it is unloaded, and after */
        counts = counts_of(0);
        assert_string_equal(counts.name, "a");
        assert_int_equal(counts.present, 1);
        assert_int_equal(counts.counts.status, 2);
        assert_int_equal(counts.counts.enabled, 3);
        assert_int_equal(counts.counts.discarded, 1);
        assert_int_equal(counts.counts.traced, 2);
        assert_int_equal(counts.counts.filtered, 0);
        th_progress_settle();
        th_progress_settle();
    }
    assert_string_equal(counts_of(1).name, "b");
    assert_int_equal(counts_of(1).counts.traced, 1);
    assert_false(th_trace_session_meta_tracer(session, 2, &counts));
    assert_int_equal(th_trace_session_counts(session).enabled, 3); /* the session's own */
    assert_int_equal(th_trace_session_counts(session).traced, 2);
}

static void a_new_session_changes_no_counts_of_others(void **state)
{
    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    call(0, 1, TOLD("f0", "1"));
    other = add("t", TH_FLAG_CALL);
    assert_int_equal(th_trace_session_counts(session).traced, 1);
    assert_int_equal(th_trace_session_counts(other).status, 1);
}

/* --- Unloading -------------------------------------------------------------------------------- */

static char *other_path(void)
{
    return th_printf("%s/tests/tracers/every_slot.so", getenv("BUILD_DIR"));
}

/* Opens a tracer that no other session uses here. Its results make no sense. */
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
    bool open = th_library_is_open(path);

    th_free(path);
    return open;
}

/* Waits for the two grace periods that its objects need at most. */
static bool is_unloaded_soon(void)
{
    th_progress_settle();
    th_progress_settle();
    return !is_loaded();
}

static void set_other(const char *function)
{
    assert_int_equal(try_meta(session, function, "true", "every_slot", "a", other_library()),
                     TH_OK);
}

static void a_meta_tracer_is_unloaded_with_its_last_breakpoint(void **state)
{
    (void)state;
    set_other(NULL);
    set(session, "f0", "false", TH_BP_META);
    assert_false(is_unloaded_soon());
    set(session, NULL, "false", TH_BP_META);
    assert_true(is_unloaded_soon());
    assert_int_equal(counts_of(0).present, 0);
}

static void a_meta_tracer_is_unloaded_with_its_session(void **state)
{
    (void)state;
    set_other(NULL);
    assert_false(is_unloaded_soon());
    th_trace_session_destroy(session);
    assert_true(is_unloaded_soon());
}

static void a_meta_tracer_is_unloaded_after_a_remove(void **state)
{
    (void)state;
    set_other("f0");
    alive_call(me, 0, th_small(1));
    assert_int_equal(th_trace_session_pattern_counts(session).meta_removed, 1);
    assert_false(is_unloaded_soon()); /* a recorded function with that name exists, too */
    scene_trace("{trace,<0.9.0>,call,{m,f0,[1]}}");
    assert_true(are_gone(0));
    assert_true(is_unloaded_soon());
    assert_int_equal(counts_of(0).counts.removed, 2);
}

static void a_meta_tracer_stays_loaded_while_it_is_referenced(void **state)
{
    struct th_bp_info info;
    const char *name;
    th_term term;

    (void)state;
    set_other("f0");
    info = info_of(0);
    set(session, "f0", "false", TH_BP_META);
    assert_false(is_unloaded_soon());
    assert_true(th_trace_pattern_meta_tracer(session, &info, &name, &term));
    assert_string_equal(name, "every_slot");
    th_breakpoint_info_free(&info);
    assert_true(is_unloaded_soon());
}

static void the_end_of_the_tracing_unloads_a_meta_tracer(void **state)
{
    (void)state;
    set_other(NULL);
    alive_call(me, 0, th_small(1));
    alive_exit(me);
    alive_end();
    assert_false(is_loaded());
    begin(state);
}

/* The tracing was not shared when the meta tracer was set. */
static void a_meta_tracer_set_before_sharing_gets_live_calls(void **state)
{
    struct th_pattern f0 = {th_atom("m"), th_atom("f0"), 1, false};
    struct th_session_setup setup = {.name = "a", .state = TH_NIL};
    struct th_traceable_function f = {.function.name = {th_atom("m"), th_atom("f0"), 1}};
    struct th_traceable_function *functions[] = {&f};
    struct th_live_tracee process = {.id = th_local_pid(1, TH_HOST_SERIAL)};
    th_term one = th_small(1);
    struct th_call_event made = {.process = &process, .function = &f, .arguments = &one};
    struct th_live_requests requests;

    (void)state;
    end(state);
    scene_begin_empty(NULL);
    session = scene_create("s");
    setup.library = scene_library();
    assert_int_equal(th_trace_session_meta_function(session, &f0, TH_AM(true), &setup, NULL),
                     TH_OK);
    setup.library = other_library();
    f0.function = th_atom("f1");
    assert_int_equal(th_trace_session_meta_function(session, &f0, TH_AM(true), &setup, NULL),
                     TH_OK);
    scene_trace("{trace,<0.9.0>,call,{m,f0,[1]}}");
    th_trace_share(scene_tracing());
    scene_trace("{trace,<0.9.0>,call,{m,f0,[1]}}");
    assert_int_equal(counts_of(0).counts.traced, 2);
    th_trace_session_function(session, &f0, TH_AM(false), TH_BP_META, NULL);
    assert_true(is_unloaded_soon());
    scene_begin_functions(functions, 1);
    th_live_process_begin(&process, scene_tracing(), NULL, false);
    setup.library = scene_library();
    f0.function = th_atom("f0");
    assert_int_equal(th_trace_session_meta_function(session, &f0, TH_AM(true), &setup, NULL),
                     TH_OK);
    made.site = f.function.site;
    th_live_call(&made, &requests);
    assert_int_equal(counts_of(0).counts.traced, 3);
    th_live_process_end(&process);
    scene_end_functions(functions, 1);
    scene_end();
    begin(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_meta_tracer_gets_calls_of_untraced_processes),
        TEST(a_meta_tracer_is_called_on_any_thread),
        TEST(a_meta_tracer_is_set_for_functions_loaded_later),
        TEST(requested_returns_go_to_the_meta_tracer),
        TEST(returns_for_a_cleared_meta_tracer_are_counted),
        TEST(remove_clears_a_meta_tracer_for_all_processes),
        TEST(a_session_counts_its_own_remove_as_a_meta_tracer),
        TEST(a_meta_tracer_ends_with_the_process_of_its_state),
        TEST(a_meta_tracer_is_cleared_in_its_own_callback),
        TEST(a_meta_tracer_is_replaced_in_its_own_callback),
        TEST(a_meta_tracer_destroys_its_session_in_a_callback),
        TEST(a_session_that_reuses_an_index_counts_no_old_events),
        TEST(meta_tracers_of_one_name_are_counted_together),
        TEST(a_new_session_changes_no_counts_of_others),
        TEST(a_meta_tracer_is_unloaded_with_its_last_breakpoint),
        TEST(a_meta_tracer_is_unloaded_with_its_session),
        TEST(a_meta_tracer_is_unloaded_after_a_remove),
        TEST(a_meta_tracer_stays_loaded_while_it_is_referenced),
        TEST(the_end_of_the_tracing_unloads_a_meta_tracer),
        TEST(a_meta_tracer_set_before_sharing_gets_live_calls),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
