/* Tests starts and ends of sessions: outside of callbacks, in their own and in others'. */
#include "host/self/self.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"

#include <stddef.h>

#define CALL "{trace,<0.1.0>,call,{m,f,[]}}"
#define ENABLED(state) "enabled_call(call," state ",<0.1.0>)\n"
#define TRACED(state) ENABLED(state) "trace_call(call," state ",<0.1.0>,{m,f,[]},#{}) self\n"
#define STATUS(state) "enabled(trace_status," state ",undefined)\n"

static struct th_session *a, *b, *c;
static th_session_id id;
static unsigned delivered;

static int begin(void **state)
{
    (void)state;
    scene_begin_empty(NULL);
    delivered = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

static void expect(const char *tuple, const char *callbacks)
{
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_string_equal(scene_log(), callbacks);
}

static struct th_session *calls(const char *state)
{
    struct th_session *session = scene_create(state);

    assert_int_equal(th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL), TH_OK);
    return session;
}

static void begin_three(void)
{
    a = calls("a");
    b = calls("b");
    c = calls("c");
    scene_log();
}

static enum th_session_state state_of(th_session_id which)
{
    return th_trace_session_state(scene_tracing(), which);
}

/* Runs at each callback, but destroys a session only once. */
static void destroy(struct th_session **session)
{
    if (!*session)
        return;
    id = th_trace_session_id_of(*session);
    th_trace_session_destroy(*session);
    *session = NULL;
    assert_int_equal(state_of(id), TH_SESSION_CLEARING);
    assert_null(th_trace_session_find(scene_tracing(), id));
}

static void destroy_a(void)
{
    destroy(&a);
}

static void destroy_b(void)
{
    destroy(&b);
}

static void destroy_c(void)
{
    destroy(&c);
}

/* --- Outside of callbacks --------------------------------------------------------------------- */

static void a_new_session_traces_no_process(void **state)
{
    (void)state;
    a = scene_create("a");
    assert_string_equal(scene_log(), STATUS("a"));
    assert_string_equal(th_trace_session_name(a), "hooked");
    assert_null(th_trace_session_title(a));
    assert_term_equal(th_trace_session_state_term(a), th_atom("a"));
    expect(CALL, "");
    th_trace_session_trace(a, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    expect(CALL, TRACED("a"));
}

static void a_destroyed_session_is_not_called(void **state)
{
    (void)state;
    begin_three();
    id = th_trace_session_id_of(b);
    assert_int_equal(state_of(id), TH_SESSION_ALIVE);
    assert_ptr_equal(th_trace_session_find(scene_tracing(), id), b);
    th_trace_session_destroy(b);
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
    assert_null(th_trace_session_find(scene_tracing(), id));
    assert_int_equal(th_trace_sessions(scene_tracing()), 2);
    expect(CALL, TRACED("a") TRACED("c"));
}

static void an_id_never_names_a_later_session(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        th_session_id old = id;
        a = calls("a");
        id = th_trace_session_id_of(a);
        assert_int_not_equal(id, old);
        assert_int_equal(state_of(old), TH_SESSION_DEAD);
        th_trace_session_destroy(a);
    }
    assert_int_equal(state_of(0), TH_SESSION_DEAD);
}

static void a_stream_without_sessions_ends(void **state)
{
    (void)state;
    a = calls("a");
    expect(CALL, STATUS("a") TRACED("a"));
    th_trace_session_destroy(a);
    assert_int_equal(scene_trace(CALL), TH_END);
    a = calls("a");
    expect(CALL, STATUS("a") TRACED("a"));
}

static void sessions_beyond_the_limit_of_64_are_refused(void **state)
{
    struct th_session *sessions[TH_SESSIONS_LIMIT], *more;
    struct th_session_setup setup = {.name = "more", .state = TH_NIL};

    (void)state;
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        sessions[i] = calls("a");
    setup.library = scene_library();
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &more), TH_USAGE);
    assert_string_equal(th_error_link(1), "there can be at most 64 tracers");
    th_error_clear();
    th_trace_session_destroy(sessions[17]);
    sessions[17] = calls("b");
    scene_log();
    scene_trace(CALL);
    assert_int_equal(th_trace_session_counts(sessions[17]).traced, 1);
    assert_int_equal(th_trace_session_counts(sessions[63]).traced, 1);
}

/* The new session reuses the index of the old one, but not its discarded calls. */
static void a_new_session_gets_no_returns_of_an_earlier_one(void **state)
{
    (void)state;
    a = calls("a");
    b = calls("b");
    scene_answer("enabled_call", "discard");
    scene_trace("{trace,<0.1.0>,call,{m,f,[]}}");
    scene_answer("enabled_call", "trace");
    scene_trace("{trace,<0.1.0>,call,{m,g,[]}}");
    th_trace_session_destroy(b);
    b = calls("b");
    scene_log();
    expect("{trace,<0.1.0>,return_from,{m,g,0},1}",
           "trace_call(return_from,a,<0.1.0>,{m,g,0},#{extra => 1}) self\n"
           "trace_call(return_from,b,<0.1.0>,{m,g,0},#{extra => 1}) self\n");
    expect("{trace,<0.1.0>,return_from,{m,f,0},2}",
           "trace_call(return_from,b,<0.1.0>,{m,f,0},#{extra => 2}) self\n");
}

/* --- In callbacks ----------------------------------------------------------------------------- */

static void a_session_is_destroyed_in_its_own_enabled(void **state)
{
    (void)state;
    begin_three();
    scene_act("enabled_call", "b", destroy_b);
    expect(CALL, TRACED("a") ENABLED("b") TRACED("c"));
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
    expect(CALL, TRACED("a") TRACED("c"));
}

static void a_session_is_destroyed_in_its_own_trace(void **state)
{
    (void)state;
    begin_three();
    scene_act("trace_call", "b", destroy_b);
    expect(CALL, TRACED("a") TRACED("b") TRACED("c"));
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
    expect(CALL, TRACED("a") TRACED("c"));
}

static void a_session_is_destroyed_by_an_earlier_session(void **state)
{
    (void)state;
    begin_three();
    scene_act("enabled_call", "a", destroy_b);
    expect(CALL, TRACED("a") TRACED("c"));
    expect(CALL, TRACED("a") TRACED("c"));
}

static void a_session_is_destroyed_by_a_later_session(void **state)
{
    (void)state;
    begin_three();
    scene_act("trace_call", "c", destroy_a);
    expect(CALL, TRACED("a") TRACED("b") TRACED("c"));
    expect(CALL, TRACED("b") TRACED("c"));
}

static void all_sessions_are_destroyed_in_one_callback(void **state)
{
    (void)state;
    begin_three();
    scene_act("enabled_call", "b", destroy_b);
    scene_act("enabled_call", "b", destroy_a);
    scene_act("enabled_call", "b", destroy_c);
    expect(CALL, TRACED("a") ENABLED("b"));
    assert_int_equal(scene_trace(CALL), TH_END);
    assert_int_equal(th_trace_sessions(scene_tracing()), 0);
}

static void a_session_is_destroyed_during_a_status_call_for_an_event(void **state)
{
    (void)state;
    begin_three();
    for (enum th_tracees which = TH_PROCESSES_EXISTING; which <= TH_PROCESSES_NEW; which++)
        th_trace_session_trace(b, which, true, TH_FLAG_RUNNING);
    scene_act("enabled", "b", destroy_b);
    expect("{trace,<0.1.0>,in,0}",
           "enabled(trace_status,a,<0.1.0>)\nenabled(trace_status,b,<0.1.0>)\n"
           "enabled(trace_status,c,<0.1.0>)\n");
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
}

static void a_session_is_destroyed_during_a_requested_status_call(void **state)
{
    (void)state;
    begin_three();
    scene_act("enabled", "b", destroy_b);
    assert_false(th_trace_session_status(b));
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
    b = calls("b2");
    scene_act("enabled", "b2", destroy_b);
    assert_int_equal(th_trace_session_flags(b, th_local_pid(1, 0)), 0);
    assert_int_equal(state_of(id), TH_SESSION_DEAD);
}

static void create_d(void)
{
    calls("d");
    assert_non_null(th_self.attachment);
    assert_string_equal(th_trace_callback_name(&th_self), "trace_call");
    assert_true(th_trace_callback_refuses(th_local_pid(1, 0)));
}

static void a_session_created_in_a_callback_gets_the_next_event(void **state)
{
    (void)state;
    begin_three();
    th_trace_session_destroy(b);
    th_trace_session_destroy(c);
    scene_act("trace_call", "a", create_d);
    expect(CALL, TRACED("a") STATUS("d"));
    th_trace_session_destroy(a);
    expect(CALL, TRACED("d"));
}

/* --- Delivery --------------------------------------------------------------------------------- */

static void note_delivery(void *context)
{
    assert_ptr_equal(context, &delivered);
    delivered++;
}

static void ask_delivered(void)
{
    th_trace_delivered(scene_tracing(), note_delivery, &delivered);
    assert_int_equal(delivered, 0);
}

static void delivery_is_notified_after_the_traced_event(void **state)
{
    (void)state;
    begin_three();
    scene_act("enabled_call", "a", ask_delivered);
    scene_trace(CALL);
    assert_int_equal(delivered, 1);
    th_trace_delivered(scene_tracing(), note_delivery, &delivered);
    assert_int_equal(delivered, 2);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_session_traces_no_process),
        TEST(a_destroyed_session_is_not_called),
        TEST(an_id_never_names_a_later_session),
        TEST(a_stream_without_sessions_ends),
        TEST(sessions_beyond_the_limit_of_64_are_refused),
        TEST(a_new_session_gets_no_returns_of_an_earlier_one),
        TEST(a_session_is_destroyed_in_its_own_enabled),
        TEST(a_session_is_destroyed_in_its_own_trace),
        TEST(a_session_is_destroyed_by_an_earlier_session),
        TEST(a_session_is_destroyed_by_a_later_session),
        TEST(all_sessions_are_destroyed_in_one_callback),
        TEST(a_session_is_destroyed_during_a_status_call_for_an_event),
        TEST(a_session_is_destroyed_during_a_requested_status_call),
        TEST(a_session_created_in_a_callback_gets_the_next_event),
        TEST(delivery_is_notified_after_the_traced_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
