/*
 * Tests a tracer's results and missing callbacks against a real BEAM: a test for each row of the
 * tables that were measured on OTP 25, named after the row. test_tags.c tests the arguments.
 * // Long because: each result of a callback, and each way in which a call ends, is a scene of its
 * own.
 */
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"

#include <stddef.h>

static int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

static int begin(void **state)
{
    (void)state;
    scene_begin(NULL);
    return 0;
}

static void expect(const char *tuple, const char *callbacks)
{
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_string_equal(scene_log(), callbacks);
}

static struct th_session_counts counts(void)
{
    return th_trace_session_counts(th_trace_session(scene_tracing(), 0));
}

/* Asserts that the tracee has lost its tracer and all flags, while others have theirs. */
static void expect_removed(void)
{
    expect("{trace,<0.1.0>,call,{m,f,[]}}", "");
    expect("{trace,<0.1.0>,send,hi,<0.2.0>}", "");
    expect("{trace,<0.2.0>,in,0}", "enabled(trace_status,s,<0.2.0>)\n"
                                   "enabled_running_procs(in,s,<0.2.0>)\n"
                                   "trace_running_procs(in,s,<0.2.0>,0,#{}) self\n");
    assert_int_equal(counts().removed, 1);
}

static void expect_kept(void)
{
    expect("{trace,<0.1.0>,return_to,{m,f,0}}",
           "trace_call(return_to,s,<0.1.0>,{m,f,0},#{}) self\n");
    assert_int_equal(counts().removed, 0);
    assert_int_equal(counts().kept, 1);
}

/* --- Results of callbacks --------------------------------------------------------------------- */

static void trace_status_remove(void **state)
{
    (void)state;
    scene_answer("enabled trace_status", "remove");
    expect("{trace,<0.1.0>,in,0}", "enabled(trace_status,s,<0.1.0>)\n");
    scene_answer("enabled trace_status", "trace");
    expect_removed();
}

static void trace_status_discard_or_banana(void **state)
{
    static const char *const answers[] = {"discard", "banana"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        scene_answer("enabled trace_status", answers[i]);
        expect("{trace,<0.1.0>,in,0}", "enabled(trace_status,s,<0.1.0>)\n"
                                       "enabled_running_procs(in,s,<0.1.0>)\n"
                                       "trace_running_procs(in,s,<0.1.0>,0,#{}) self\n");
    }
}

static void enabled_call_discard(void **state)
{
    (void)state;
    scene_answer("enabled_call", "discard");
    expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled_call(call,s,<0.1.0>)\n");
    expect("{trace,<0.1.0>,return_from,{m,f,1},ok}", "");
    expect("{trace,<0.1.0>,return_to,{m,g,0}}", "");
    expect("{trace,<0.1.0>,exception_from,{m,f,1},{error,x}}", "");
    assert_int_equal(counts().untraced, 3);
}

static void enabled_call_remove_unknown_atom_42_or_badarg(void **state)
{
    static const char *const answers[] = {"remove", "unknown", "42", "BADARG"};

    for (size_t i = 0; i < 4; i++) {
        if (i)
            begin(state);
        scene_answer("enabled_call", answers[i]);
        expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled_call(call,s,<0.1.0>)\n");
        expect_removed();
        if (i < 3)
            end(state);
    }
}

static void enabled_send_remove(void **state)
{
    (void)state;
    scene_answer("enabled_send", "remove");
    expect("{trace,<0.1.0>,send,hi,<0.2.0>}", "enabled_send(send,s,<0.1.0>)\n");
    expect_removed();
}

static void enabled_running_procs_remove(void **state)
{
    (void)state;
    scene_answer("enabled_running_procs out", "remove");
    expect("{trace,<0.1.0>,out,0}", "enabled_running_procs(out,s,<0.1.0>)\n");
    expect_removed();
}

static void enabled_garbage_collection_remove(void **state)
{
    (void)state;
    scene_answer("enabled_garbage_collection", "remove");
    expect("{trace,<0.1.0>,gc_minor_start,[]}",
           "enabled_garbage_collection(gc_minor_start,s,<0.1.0>)\n");
    expect_removed();
}

static void enabled_ports_remove(void **state)
{
    (void)state;
    scene_answer("enabled_ports", "remove");
    expect("{trace,#Port<0.5>,closed,normal}", "enabled_ports(closed,s,#Port<0.5>)\n");
    expect("{trace,#Port<0.5>,link,<0.1.0>}", "");
    assert_int_equal(counts().removed, 1);
}

static void enabled_procs_remove_only_discards(void **state)
{
    (void)state;
    scene_answer("enabled_procs", "remove");
    expect("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}", "enabled_procs(spawn,s,<0.1.0>)\n");
    expect_kept();
}

static void enabled_receive_remove_only_discards(void **state)
{
    (void)state;
    scene_answer("enabled_receive", "remove");
    expect("{trace,<0.1.0>,'receive',hi}", "enabled_receive('receive',s,<0.1.0>)\n");
    expect_kept();
}

static void the_result_of_trace_call_is_ignored(void **state)
{
    static const char *const answers[] = {"remove", "BADARG", "{error,x}"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        scene_answer("trace_call", answers[i]);
        expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled_call(call,s,<0.1.0>)\n"
                                                 "trace_call(call,s,<0.1.0>,{m,f,[1]},#{}) self\n");
    }
    assert_int_equal(counts().removed, 0);
}

/* --- Missing callbacks ------------------------------------------------------------------------ */

static void enabled_and_trace_stand_in_for_all_missing_callbacks(void **state)
{
    scene_begin(" enabled trace ");
    expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled(call,s,<0.1.0>)\n"
                                             "trace(call,s,<0.1.0>,{m,f,[1]},#{}) self\n");
    expect("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}",
           "enabled(spawn,s,<0.1.0>)\ntrace(spawn,s,<0.1.0>,<0.2.0>,#{extra => {m,f,[]}})\n");
    (void)state;
}

static void enabled_call_without_trace_call(void **state)
{
    scene_begin(" enabled trace enabled_call ");
    expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled_call(call,s,<0.1.0>)\n"
                                             "trace(call,s,<0.1.0>,{m,f,[1]},#{}) self\n");
    (void)state;
}

static void trace_call_without_enabled_call(void **state)
{
    scene_begin(" enabled trace trace_call ");
    expect("{trace,<0.1.0>,call,{m,f,[1]}}", "enabled(call,s,<0.1.0>)\n"
                                             "trace_call(call,s,<0.1.0>,{m,f,[1]},#{}) self\n");
    (void)state;
}

/* --- Flags ------------------------------------------------------------------------------------ */

static void missing_flags_hold_events_back(void **state)
{
    (void)state;
    scene_answer("enabled", "trace");
    scene_attach("t", TH_FLAG_RETURN_TO | TH_FLAG_EXITING);
    expect("{trace,<0.1.0>,return_to,{m,f,1}}",
           "trace_call(return_to,s,<0.1.0>,{m,f,1},#{}) self\n"
           "trace_call(return_to,t,<0.1.0>,{m,f,1},#{}) self\n");
    expect("{trace,<0.1.0>,'receive',hi}", "enabled_receive('receive',s,<0.1.0>)\n"
                                           "trace_receive('receive',s,<0.1.0>,hi,#{})\n");
    assert_int_equal(th_trace_session_counts(th_trace_session(scene_tracing(), 1)).filtered, 1);
}

static void flags_decide_how_events_look(void **state)
{
    (void)state;
    scene_attach("t", TH_FLAG_CALL | TH_FLAG_ARITY | TH_FLAG_TIMESTAMP | TH_FLAG_MONOTONIC);
    expect("{trace,<0.1.0>,call,{m,f,[a,b]},x,3}",
           "enabled_call(call,s,<0.1.0>)\n"
           "trace_call(call,s,<0.1.0>,{m,f,[a,b]},#{match_spec_result => x,scheduler_id => 3}) "
           "self\n"
           "enabled_call(call,t,<0.1.0>)\n"
           "trace_call(call,t,<0.1.0>,{m,f,2},"
           "#{match_spec_result => x,timestamp => timestamp}) self\n");
}

/* --- Cost of a discarded event ---------------------------------------------------------------- */

static void discarded_events_decode_and_allocate_nothing(void **state)
{
    static const char *const tuples[] = {
        "{trace,<0.1.0>,call,{m,f,[1]}}", "{trace,<0.1.0>,return_from,{m,f,1},ok}",
        "{trace,<0.1.0>,send,hi,<0.2.0>}", "{trace,<0.1.0>,'receive',hi}",
        "{trace,<0.1.0>,exit,normal}"};
    unsigned long before;

    (void)state;
    scene_answer("enabled", "discard");
    scene_answer("enabled_call", "discard");
    scene_answer("enabled_send", "discard");
    scene_answer("enabled_receive", "discard");
    scene_answer("enabled_procs", "discard");
    for (size_t i = 0; i < 5; i++)
        scene_trace(tuples[i]);
    before = counts().enabled;
    assert_int_equal(before, 4); /* a return has no `enabled` */
    assert_int_equal(counts().discarded, 4);
    assert_int_equal(scene_decoded(), 0);
    assert_int_equal(counts().traced, 0);
}

static void terms_are_decoded_once_for_all_sessions(void **state)
{
    (void)state;
    scene_attach("t", TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
    scene_attach("u", TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
    scene_trace("{trace,<0.1.0>,send,hi,<0.2.0>}");
    assert_int_equal(scene_decoded(), 1);
}

/* --- Sessions --------------------------------------------------------------------------------- */

static void remove_ends_the_tracing_of_one_session_only(void **state)
{
    (void)state;
    scene_attach("t", TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
    scene_answer("enabled_send", "remove");
    expect("{trace,<0.1.0>,send,hi,<0.2.0>}",
           "enabled_send(send,s,<0.1.0>)\nenabled_send(send,t,<0.1.0>)\n");
    expect("{trace,<0.1.0>,send,hi,<0.2.0>}", "");
    expect("{trace,<0.2.0>,'receive',hi}", "enabled_receive('receive',s,<0.2.0>)\n"
                                           "trace_receive('receive',s,<0.2.0>,hi,#{})\n"
                                           "enabled_receive('receive',t,<0.2.0>)\n"
                                           "trace_receive('receive',t,<0.2.0>,hi,#{})\n");
}

static void a_session_is_asked_for_its_status_when_its_state_ends(void **state)
{
    (void)state;
    scene_attach("<0.7.0>", TH_FLAG_SEND);
    scene_answer("enabled trace_status", "remove");
    th_trace_ended(scene_tracing(), th_local_pid(6, 0));
    assert_string_equal(scene_log(), "");
    th_trace_ended(scene_tracing(), th_local_pid(7, 0));
    assert_string_equal(scene_log(), "enabled(trace_status,<0.7.0>,undefined)\n");
    assert_false(th_trace_session_attached(th_trace_session(scene_tracing(), 1)));
    expect("{trace,<0.1.0>,send,hi,<0.2.0>}",
           "enabled_send(send,s,<0.1.0>)\n"
           "trace_send(send,s,<0.1.0>,hi,#{extra => <0.2.0>}) self\n");
}

static void a_port_has_no_calls(void **state)
{
    (void)state;
    assert_int_equal(scene_trace("{trace,#Port<0.1>,call,{m,f,0}}"), TH_MALFORMED);
    assert_string_equal(scene_log(), "");
}

/* --- Returns of discarded calls among others -------------------------------------------------- */

static void only_traced_calls_get_their_returns(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,call,{m,a,0}}", "enabled_call(call,s,<0.1.0>)\n"
                                           "trace_call(call,s,<0.1.0>,{m,a,0},#{}) self\n");
    scene_answer("enabled_call", "discard");
    expect("{trace,<0.1.0>,call,{m,b,0}}", "enabled_call(call,s,<0.1.0>)\n");
    expect("{trace,<0.1.0>,call,{m,a,0}}", "enabled_call(call,s,<0.1.0>)\n");
    scene_answer("enabled_call", "trace");
    expect("{trace,<0.1.0>,call,{m,c,0}}", "enabled_call(call,s,<0.1.0>)\n"
                                           "trace_call(call,s,<0.1.0>,{m,c,0},#{}) self\n");
    expect("{trace,<0.1.0>,return_from,{m,c,0},1}",
           "trace_call(return_from,s,<0.1.0>,{m,c,0},#{extra => 1}) self\n");
    expect("{trace,<0.1.0>,return_to,{m,a,0}}",
           "trace_call(return_to,s,<0.1.0>,{m,a,0},#{}) self\n");
    expect("{trace,<0.1.0>,return_from,{m,a,0},2}", "");
    expect("{trace,<0.1.0>,return_to,{m,b,0}}", "");
    expect("{trace,<0.1.0>,return_from,{m,b,0},3}", "");
    expect("{trace,<0.1.0>,return_to,{m,a,0}}", "");
    expect("{trace,<0.1.0>,return_from,{m,a,0},4}",
           "trace_call(return_from,s,<0.1.0>,{m,a,0},#{extra => 4}) self\n");
    expect("{trace,<0.1.0>,return_to,{m,z,0}}",
           "trace_call(return_to,s,<0.1.0>,{m,z,0},#{}) self\n");
}

/* For tail calls with one common return, one traced call suffices for a return_to. */
static void a_return_to_comes_if_one_of_its_calls_was_traced(void **state)
{
    (void)state;
    scene_answer("enabled_call", "discard");
    scene_trace("{trace,<0.1.0>,call,{m,a,0}}");
    scene_answer("enabled_call", "trace");
    scene_trace("{trace,<0.1.0>,call,{m,b,0}}");
    scene_trace("{trace,<0.1.0>,return_from,{m,b,0},1}");
    scene_log();
    expect("{trace,<0.1.0>,return_from,{m,a,0},1}", "");
    expect("{trace,<0.1.0>,return_to,{m,z,0}}",
           "trace_call(return_to,s,<0.1.0>,{m,z,0},#{}) self\n");
}

/* Without return_from records, a return_to ends the calls above its function, or the top one. */
static void a_lone_return_to_ends_the_calls_above(void **state)
{
    (void)state;
    scene_trace("{trace,<0.1.0>,call,{m,a,0}}");
    scene_answer("enabled_call", "discard");
    scene_trace("{trace,<0.1.0>,call,{m,b,0}}");
    scene_trace("{trace,<0.1.0>,call,{m,c,0}}");
    scene_log();
    expect("{trace,<0.1.0>,return_to,{m,b,0}}", "");
    expect("{trace,<0.1.0>,return_to,{x,y,0}}", "");
    expect("{trace,<0.1.0>,return_to,{x,z,0}}",
           "trace_call(return_to,s,<0.1.0>,{x,z,0},#{}) self\n");
}

/* Calls m:NAME/0 for each letter; a capital is a traced call. Stacks are kept from the first change
 * between traced and discarded on. */
static void call_all(const char *names)
{
    char tuple[64];

    for (; *names; names++) {
        scene_answer("enabled_call", *names < 'a' ? "trace" : "discard");
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,call,{m,%c,0}}", *names | 0x20);
        scene_trace(tuple);
    }
    scene_log();
}

static void expect_return_to(char name, bool comes)
{
    char tuple[64], log[128];

    snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,return_to,{m,%c,0}}", name);
    snprintf(log, sizeof log, "trace_call(return_to,s,<0.1.0>,{m,%c,0},#{}) self\n", name);
    expect(tuple, comes ? log : "");
}

/* Raises an exception through the calls NAMES, innermost first. */
static void except_all(const char *names)
{
    char tuple[64];

    for (; *names; names++) {
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,exception_from,{m,%c,0},{error,x}}", *names);
        scene_trace(tuple);
    }
    scene_log();
}

/* After an exception, the call nearest to the catching one decides, not the others. */
static void a_return_to_after_an_exception_needs_the_nearest_call(void **state)
{
    (void)state;
    call_all("HhAbCd");
    except_all("dcb");
    expect_return_to('a', false);
    call_all("Bcd");
    except_all("dcb");
    expect_return_to('a', true);
    call_all("BcD"); /* only the innermost function has exception_trace */
    except_all("d");
    expect_return_to('a', true);
    expect_return_to('z', true);
}

static void a_return_after_an_exception_depends_on_its_own_call(void **state)
{
    (void)state;
    call_all("HhzaB");
    except_all("b");
    expect("{trace,<0.1.0>,return_from,{m,a,0},caught}", "");
    expect_return_to('z', false);
}

/* If there are return_from records, a return_to without one belongs to an exception. */
static void a_lone_return_to_among_returns_belongs_to_an_exception(void **state)
{
    (void)state;
    call_all("HhAb");
    scene_trace("{trace,<0.1.0>,return_from,{m,b,0},1}");
    expect_return_to('a', false);
    call_all("bC");
    expect_return_to('a', false);
    call_all("Bc");
    expect_return_to('a', true);
}

static void a_lone_return_to_of_tail_calls_needs_one_traced_call(void **state)
{
    (void)state;
    call_all("HhaBc");
    expect_return_to('a', true);
    call_all("bc");
    expect_return_to('a', false);
}

static uint64_t doubtful(void)
{
    return th_trace_session_pattern_counts(th_trace_session(scene_tracing(), 0)).returns_doubtful;
}

/* A discarded call has ended, and possibly a traced one. */
static void a_lone_return_to_of_possibly_traced_calls_is_doubtful(void **state)
{
    (void)state;
    call_all("HhAb");
    expect_return_to('x', false);
    assert_int_equal(doubtful(), 1);
    call_all("C");
    expect_return_to('y', true);
    assert_int_equal(doubtful(), 1);
}

/* A function at the top that is returned to has called itself, unless it has returned before. */
static void a_lone_return_to_of_a_recursion_ends_one_call(void **state)
{
    (void)state;
    call_all("HhzaAaaA");
    expect_return_to('a', true);
    expect_return_to('a', false);
    expect_return_to('a', false);
    expect_return_to('a', true);
    expect_return_to('z', false);
    assert_int_equal(doubtful(), 2); /* either may be the return of the traced call */
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define OWN_SCENE(test) cmocka_unit_test_teardown(test, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(trace_status_remove),
        WITH_SCENE(trace_status_discard_or_banana),
        WITH_SCENE(enabled_call_discard),
        WITH_SCENE(enabled_call_remove_unknown_atom_42_or_badarg),
        WITH_SCENE(enabled_send_remove),
        WITH_SCENE(enabled_running_procs_remove),
        WITH_SCENE(enabled_garbage_collection_remove),
        WITH_SCENE(enabled_ports_remove),
        WITH_SCENE(enabled_procs_remove_only_discards),
        WITH_SCENE(enabled_receive_remove_only_discards),
        WITH_SCENE(the_result_of_trace_call_is_ignored),
        OWN_SCENE(enabled_and_trace_stand_in_for_all_missing_callbacks),
        OWN_SCENE(enabled_call_without_trace_call),
        OWN_SCENE(trace_call_without_enabled_call),
        WITH_SCENE(missing_flags_hold_events_back),
        WITH_SCENE(flags_decide_how_events_look),
        WITH_SCENE(discarded_events_decode_and_allocate_nothing),
        WITH_SCENE(terms_are_decoded_once_for_all_sessions),
        WITH_SCENE(remove_ends_the_tracing_of_one_session_only),
        WITH_SCENE(a_session_is_asked_for_its_status_when_its_state_ends),
        WITH_SCENE(a_port_has_no_calls),
        WITH_SCENE(only_traced_calls_get_their_returns),
        WITH_SCENE(a_return_to_comes_if_one_of_its_calls_was_traced),
        WITH_SCENE(a_lone_return_to_ends_the_calls_above),
        WITH_SCENE(a_return_to_after_an_exception_needs_the_nearest_call),
        WITH_SCENE(a_return_after_an_exception_depends_on_its_own_call),
        WITH_SCENE(a_lone_return_to_among_returns_belongs_to_an_exception),
        WITH_SCENE(a_lone_return_to_of_tail_calls_needs_one_traced_call),
        WITH_SCENE(a_lone_return_to_of_possibly_traced_calls_is_doubtful),
        WITH_SCENE(a_lone_return_to_of_a_recursion_ends_one_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
