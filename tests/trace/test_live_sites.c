/* Tests functions with two sites: one has global breakpoints, the other has all others. */
#include "tests/trace/sites.h"

#include "host/trace/tracing.h"
#include "plugin_api/nif_module.h"

#include <time.h>

/* --- Choice of the site ----------------------------------------------------------------------- */

static void each_kind_of_breakpoint_has_its_site(void **state)
{
    (void)state;
    set(session, "both", "true", TH_BP_GLOBAL);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    calls(both, false, "");
    set(session, "both", "true", TH_BP_LOCAL);
    assert_int_equal(sited_armed(both), TH_BP_LOCAL);
    calls(both, true, TOLD("both", "1"));
    calls(both, false, TOLD("both", "1"));
    set(session, "both", "true", TH_BP_GLOBAL);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    calls(both, false, "");
}

static void false_clears_only_the_kinds_that_it_names(void **state)
{
    (void)state;
    set(session, "both", "true", TH_BP_GLOBAL);
    set(session, "both", "false", TH_BP_LOCAL);
    assert_int_equal(kinds_of(both), TH_BP_GLOBAL);
    set(session, "both", "false", TH_BP_GLOBAL);
    assert_int_equal(kinds_of(both), 0);
    set(session, "both", "true", TH_BP_LOCAL);
    set(session, "both", "false", TH_BP_GLOBAL);
    assert_int_equal(kinds_of(both), TH_BP_LOCAL);
    set(session, "both", "false", TH_PATTERN_EITHER);
    assert_int_equal(kinds_of(both), 0);
    set(session, "both", "true", TH_BP_GLOBAL);
    set(session, "both", "false", TH_PATTERN_EITHER);
    assert_int_equal(kinds_of(both), 0);
    assert_int_equal(sited_armed(both), 0);
}

/* Breakpoints of another session stay. */
static void each_session_selects_its_own_sites(void **state)
{
    (void)state;
    other = add("t", TH_FLAG_CALL);
    th_trace_session_trace_one(other, me->process.id, true, TH_FLAG_CALL);
    set(session, "both", "true", TH_BP_GLOBAL);
    set(other, "both", "true", TH_BP_GLOBAL);
    set(other, "both", "true", TH_BP_LOCAL);
    assert_int_equal(sited_armed(both), TH_PATTERN_EITHER);
    calls(both, true, TOLD("both", "1") TOLD_TO("t", "both", "1"));
    calls(both, false, TOLD_TO("t", "both", "1"));
    th_trace_session_destroy(other);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    th_trace_session_destroy(session);
    assert_int_equal(sited_armed(both), 0);
}

/* --- Specifications and ends ------------------------------------------------------------------ */

static void a_specification_is_cleared_with_its_kind(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "[{'_',[],[{return_trace}]}]", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1") ENDED("both", "ok"));
    set(session, "both", "true", TH_BP_LOCAL);
    info = info_of(both);
    assert_null(info.spec);
    th_breakpoint_info_free(&info);
    calls(both, true, TOLD("both", "1"));
    set(session, "both", "[{[2],[],[]}]", TH_BP_GLOBAL);
    info = info_of(both);
    assert_non_null(info.spec);
    th_breakpoint_info_free(&info);
    calls(both, true, ASKED);
    set(session, "both", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    calls(both, false, TOLD("both", "1") ENDED("both", "ok"));
}

static void only_local_breakpoints_request_return_to(void **state)
{
    struct sited_wants wants;

    (void)state;
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
    set(session, "both", "true", TH_BP_GLOBAL);
    sited_call(&me->process, both, th_small(1), true, &wants);
    assert_int_equal(wants.exported.count + wants.local.count, 0);
    set(session, "both", "true", TH_BP_LOCAL);
    sited_call(&me->process, both, th_small(1), true, &wants);
    assert_int_equal(wants.exported.count, 0);
    assert_int_equal(wants.local.count, 1);
    scene_log();
    sited_return(&me->process, both, &wants, th_atom("ok"));
    alive_return_to(me, 0);
    assert_string_equal(scene_log(), BACK("f0"));
}

/* --- Meta breakpoints and counters ------------------------------------------------------------ */

#define META(f) ASKED "trace_call(call,s," ME ",{m," f ",[1]},#{timestamp => timestamp}) self\n"

static void each_call_hits_all_kinds_except_global_once(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_META | TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY);
    assert_int_equal(sited_armed(both), TH_BP_LOCAL);
    calls(both, true, META("both"));
    calls(both, false, META("both"));
    set(session, "both", "true", TH_BP_LOCAL);
    calls(both, true, TOLD("both", "1") META("both"));
    info = info_of(both);
    assert_int_equal(info.kinds, TH_BP_ALL & ~TH_BP_GLOBAL);
    assert_int_equal(info.active, info.kinds);
    assert_int_equal(info.calls, 3);
    assert_int_equal(info.time[0].calls, 3);
    assert_int_equal(info.memory[0].calls, 3);
    th_breakpoint_info_free(&info);
}

static void a_global_breakpoint_excludes_all_other_kinds(void **state)
{
    static const uint32_t kinds[] = {TH_BP_LOCAL, TH_BP_META, TH_BP_COUNT, TH_BP_TIME,
                                     TH_BP_MEMORY};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        set(session, "both", "true", TH_BP_GLOBAL);
        set(session, "both", "true", kinds[i]);
        assert_int_equal(kinds_of(both), kinds[i]);
        assert_int_equal(sited_armed(both), TH_BP_LOCAL);
        set(session, "both", "true", TH_BP_GLOBAL);
        assert_int_equal(kinds_of(both), TH_BP_GLOBAL);
        assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
        set(session, "both", "false", kinds[i]);
        assert_int_equal(kinds_of(both), TH_BP_GLOBAL);
    }
    set(session, "both", "pause", TH_BP_COUNT);
    assert_int_equal(kinds_of(both), 0);
    set(session, "both", "true", TH_BP_GLOBAL);
    set(session, "both", "restart", TH_BP_TIME);
    assert_int_equal(kinds_of(both), 0);
}

/* Such a global breakpoint coexists with other kinds, as a local one does. */
static void a_global_breakpoint_in_place_of_a_local_excludes_none(void **state)
{
    (void)state;
    set(session, "shown", "true", TH_PATTERN_EITHER);
    set(session, "shown", "true", TH_BP_COUNT);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL | TH_BP_COUNT);
    set(session, "shown", "true", TH_PATTERN_EITHER);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL | TH_BP_COUNT);
    set(session, "shown", "true", TH_BP_GLOBAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
}

static void counters_are_paused_at_the_site_of_their_breakpoint(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_LOCAL | TH_BP_COUNT);
    calls(both, true, TOLD("both", "1"));
    set(session, "both", "pause", TH_BP_COUNT);
    calls(both, true, TOLD("both", "1"));
    info = info_of(both);
    assert_int_equal(info.kinds, TH_BP_LOCAL | TH_BP_COUNT);
    assert_int_equal(info.active, TH_BP_LOCAL);
    assert_int_equal(info.calls, 1);
    th_breakpoint_info_free(&info);
    set(session, "both", "restart", TH_BP_COUNT);
    calls(both, false, TOLD("both", "1"));
    info = info_of(both);
    assert_int_equal(info.calls, 1);
    th_breakpoint_info_free(&info);
}

static void a_meta_tracer_is_at_the_native_site(void **state)
{
    struct th_session_setup setup = {
        .name = "a", .library = scene_library(), .state = th_atom("a")};
    struct th_pattern pattern = {th_atom("m"), TH_NONE, TH_ANY_ARITY, false};
    size_t matched;

    (void)state;
    assert_int_equal(
        th_trace_session_meta_function(session, &pattern, TH_AM(true), &setup, &matched), TH_OK);
    scene_log();
    assert_int_equal(matched, EACH);
    set(session, "both", "true", TH_BP_LOCAL);
    calls(both, true,
          TOLD("both", "1") ASKED_OF("a") "trace_call(call,a," ME
                                          ",{m,both,[1]},#{timestamp => timestamp}) self\n");
    set(session, "both", "true", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    calls(shown, true,
          ASKED_OF("a") "trace_call(call,a," ME ",{m,shown,[1]},#{timestamp => timestamp}) self\n");
    scene_answer("enabled_call", "remove");
    calls(hidden, false, ASKED_OF("a"));
    calls(hidden, false, "");
}

/* A call by a thread without a process is counted at the native site. */
static void calls_of_foreign_threads_are_counted(void **state)
{
    struct sited_wants wants;
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_LOCAL | TH_BP_COUNT);
    sited_call(NULL, both, th_small(1), true, &wants);
    assert_string_equal(scene_log(), "");
    info = info_of(both);
    assert_int_equal(info.calls, 1);
    th_breakpoint_info_free(&info);
}

/* --- Disarming from inside -------------------------------------------------------------------- */

static void disarm(void)
{
    th_disarm(&th_trace_session_attachment(session)->env);
}

static bool wait_for_armed(const struct sited *sited, uint32_t armed)
{
    for (int i = 0; i < 1000 && sited_armed(sited) != armed; i++)
        th_progress_settle();
    return sited_armed(sited) == armed;
}

static void a_tracer_disarms_the_site_that_was_hit(void **state)
{
    struct th_bp_info info;

    (void)state;
    scene_act("trace_call", "s", disarm);
    set(session, "both", "true", TH_BP_LOCAL);
    calls(both, false, TOLD("both", "1"));
    assert_true(wait_for_armed(both, 0));
    calls(both, true, "");
    info = info_of(both);
    assert_int_equal(info.kinds, TH_BP_LOCAL);
    assert_int_equal(info.active, 0);
    th_breakpoint_info_free(&info);
    set(session, "both", "restart", TH_BP_LOCAL);
    calls(both, false, TOLD("both", "1"));
    assert_true(wait_for_armed(both, 0));
    set(session, "both", "true", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    assert_true(wait_for_armed(both, 0));
}

static void *destroy_session(void *unused)
{
    th_trace_session_destroy(session);
    return unused;
}

/* The thread that destroys the session waits for the lock while the first pattern is set. */
static void a_pattern_set_in_an_ending_session_is_cleared(void **state)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    pthread_t thread;

    (void)state;
    th_trace_lock(scene_tracing());
    assert_int_equal(pthread_create(&thread, NULL, destroy_session, NULL), 0);
    nanosleep(&moment, NULL);
    set(session, "both", "true", TH_BP_GLOBAL);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    th_trace_unlock(scene_tracing());
    pthread_join(thread, NULL);
    assert_int_equal(sited_armed(both), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_sited, end_sited)
        TEST(each_kind_of_breakpoint_has_its_site),
        TEST(false_clears_only_the_kinds_that_it_names),
        TEST(each_session_selects_its_own_sites),
        TEST(a_specification_is_cleared_with_its_kind),
        TEST(only_local_breakpoints_request_return_to),
        TEST(each_call_hits_all_kinds_except_global_once),
        TEST(a_global_breakpoint_excludes_all_other_kinds),
        TEST(a_global_breakpoint_in_place_of_a_local_excludes_none),
        TEST(counters_are_paused_at_the_site_of_their_breakpoint),
        TEST(a_meta_tracer_is_at_the_native_site),
        TEST(calls_of_foreign_threads_are_counted),
        TEST(a_tracer_disarms_the_site_that_was_hit),
        TEST(a_pattern_set_in_an_ending_session_is_cleared),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
