/* Tests function patterns: traced calls, counters, effects of match specifications. */
#include "tests/trace/patterns.h"

/* --- Traced calls ----------------------------------------------------------------------------- */

static void calls_without_patterns_are_traced_as_recorded(void **state)
{
    (void)state;
    expect(CALL("{m,f,[1]}"), TOLD("{m,f,[1]}"));
    expect(RETURN("{m,f,1}", "ok"), ENDED("{m,f,1}", "ok"));
}

static void a_pattern_passes_calls_of_the_named_function(void **state)
{
    (void)state;
    set("m", "f", 1, "true", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[1]}"), TOLD("{m,f,[1]}"));
    expect(CALL("{m,f,[1,2]}"), "");
    expect(CALL("{m,g,[1]}"), "");
    expect(CALL("{n,f,[1]}"), "");
    expect(CALL("{m,f,1}"), TOLD("{m,f,1}"));
    expect(RETURN("{m,f,1}", "ok"), "");
}

static void wildcards_apply_to_functions_seen_later(void **state)
{
    (void)state;
    set("m", "_", TH_ANY_ARITY, "true", TH_BP_LOCAL, 0);
    expect(CALL("{m,f,[1]}"), TOLD("{m,f,[1]}"));
    expect(CALL("{n,f,[1]}"), "");
    set("_", "_", TH_ANY_ARITY, "true", TH_BP_LOCAL, 2);
    expect(CALL("{n,f,[1]}"), TOLD("{n,f,[1]}"));
    set("n", "_", TH_ANY_ARITY, "false", TH_BP_LOCAL, 1);
    expect(CALL("{n,f,[1]}"), "");
    expect(CALL("{n,g,[]}"), "");
    expect(CALL("{o,g,[]}"), TOLD("{o,g,[]}"));
    set("n", "g", TH_ANY_ARITY, "true", TH_BP_LOCAL, 1);
    expect(CALL("{n,g,[]}"), TOLD("{n,g,[]}"));
    expect(CALL("{n,g,[1]}"), TOLD("{n,g,[1]}"));
}

static void on_load_patterns_leave_known_functions_unchanged(void **state)
{
    struct th_pattern later = {TH_NONE, TH_NONE, TH_ANY_ARITY, true};
    size_t matched;

    (void)state;
    set("m", "f", 0, "false", TH_BP_LOCAL, 1);
    assert_int_equal(th_trace_session_function(session, &later, TH_AM(true), TH_BP_LOCAL, &matched),
                     TH_OK);
    assert_int_equal(matched, 0);
    expect(CALL("{m,f,[]}"), "");
    expect(CALL("{m,g,[]}"), TOLD("{m,g,[]}"));
}

static void an_untraced_process_calls_no_enabled(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    expect(CALL("{m,f,[]}"), "");
}

static void each_session_has_its_own_patterns(void **state)
{
    struct th_session *other = scene_create("t");
    struct th_pattern all = pattern("_", "_", TH_ANY_ARITY);

    (void)state;
    th_trace_session_trace(other, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    scene_log();
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    expect(CALL("{m,g,[]}"), "enabled_call(call,t,<0.1.0>)\n"
                             "trace_call(call,t,<0.1.0>,{m,g,[]},#{}) self\n");
    th_trace_session_function(other, &all, TH_AM(true), TH_BP_LOCAL, NULL);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}") "enabled_call(call,t,<0.1.0>)\n"
                                              "trace_call(call,t,<0.1.0>,{m,f,[]},#{}) self\n");
    th_trace_session_destroy(session);
    expect(CALL("{m,f,[]}"), "enabled_call(call,t,<0.1.0>)\n"
                             "trace_call(call,t,<0.1.0>,{m,f,[]},#{}) self\n");
}

static struct th_session *other_session;

static void destroy_other(void)
{
    if (other_session)
        th_trace_session_destroy(other_session);
    other_session = NULL;
}

static void a_session_destroyed_by_a_hit_is_not_hit(void **state)
{
    struct th_pattern all = pattern("_", "_", TH_ANY_ARITY);

    (void)state;
    other_session = scene_create("t");
    th_trace_session_trace(other_session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    th_trace_session_function(other_session, &all, TH_AM(true), TH_BP_LOCAL, NULL);
    th_trace_session_function(session, &all, TH_AM(true), TH_BP_LOCAL, NULL);
    scene_act("trace_call", "s", destroy_other);
    /* Breakpoints are hit in the order in which they were added. */
    scene_act("enabled_call", "t", destroy_other);
    scene_log();
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    expect(CALL("{m,g,[]}"), TOLD("{m,g,[]}"));
}

static void clear_in_callback(void)
{
    struct th_pattern all = pattern("_", "_", TH_ANY_ARITY);

    assert_int_equal(th_trace_session_function(session, &all, TH_AM(false), TH_BP_LOCAL, NULL),
                     TH_OK);
}

static void a_pattern_cleared_in_a_callback_is_cleared(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    scene_act("trace_call", "s", clear_in_callback);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    set("m", "h", 0, "true", TH_BP_LOCAL, 1); /* queued behind it */
    expect(CALL("{m,f,[]}"), "");
}

static void enabled_can_discard_a_call_or_remove_the_tracee(void **state)
{
    (void)state;
    set("m", "f", 0, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL, 1);
    scene_answer("enabled_call", "discard");
    expect(CALL("{m,f,[]}"), ASKED);
    expect(RETURN("{m,f,0}", "ok"), "");
    assert_int_equal(scene_decoded(), 0);
    scene_answer("enabled_call", "remove");
    expect(CALL("{m,f,[]}"), ASKED);
    expect(CALL("{m,f,[]}"), "");
    assert_int_equal(th_trace_session_counts(session).removed, 1);
}

/* --- Match specifications --------------------------------------------------------------------- */

static void a_guard_is_obeyed(void **state)
{
    (void)state;
    set("m", "f", 1, "[{['$1'],[{'>','$1',3}],[{message,{{big,'$1'}}}]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[4]}"), ASKED "trace_call(call,s,<0.1.0>,{m,f,[4]},"
                                    "#{match_spec_result => {big,4}}) self\n");
    expect(CALL("{m,f,[3]}"), ASKED);
    assert_int_equal(th_trace_session_pattern_counts(session).undecided, 0);
    expect(CALL("{m,f,1}"), ASKED);
    assert_int_equal(th_trace_session_pattern_counts(session).undecided, 1);
}

static void a_recorded_match_result_is_not_passed_on(void **state)
{
    (void)state;
    set("m", "f", 1, "true", TH_BP_LOCAL, 1);
    expect("{trace,<0.1.0>,call,{m,f,[1]},old}", TOLD("{m,f,[1]}"));
}

static void message_false_holds_the_call_back_but_not_its_return(void **state)
{
    (void)state;
    set("m", "f", 1, "[{'_',[],[{message,false},{return_trace}]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,f,[1]}"), ASKED);
    expect(RETURN("{m,f,1}", "ok"), ENDED("{m,f,1}", "ok"));
}

static void silence_takes_effect_at_once(void **state)
{
    (void)state;
    set("m", "off", 0, "[{'_',[],[{silent,true}]}]", TH_BP_LOCAL, 1);
    set("m", "on", 0, "[{'_',[],[{silent,false},{return_trace}]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,off,[]}"), ASKED);
    expect(CALL("{m,on,[]}"), TOLD("{m,on,[]}"));
    expect(CALL("{m,off,[]}"), ASKED);
    expect(RETURN("{m,on,0}", "ok"), ENDED("{m,on,0}", "ok"));
    assert_int_equal(th_trace_session_counts(session).silenced, 2);
}

static void local_and_global_breakpoints_are_cleared_separately(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_LOCAL, 1);
    set("m", "f", 0, "false", TH_BP_GLOBAL, 1);
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    set("m", "f", 0, "true", TH_BP_GLOBAL, 1);
    set("m", "f", 0, "false", TH_BP_LOCAL, 1);
    assert_int_equal(info_of("m", "f", 0).kinds, TH_BP_GLOBAL);
    set("m", "f", 0, "false", TH_BP_GLOBAL, 1);
    assert_int_equal(info_of("m", "f", 0).kinds, 0);
}

/* A recorded function can have either kind. */
static void the_kind_either_sets_a_local_breakpoint(void **state)
{
    (void)state;
    set("m", "f", 0, "true", TH_BP_GLOBAL, 1);
    set("m", "f", 0, "true", TH_PATTERN_EITHER, 1);
    assert_int_equal(info_of("m", "f", 0).kinds, TH_BP_LOCAL);
    set("m", "f", 0, "true", TH_BP_GLOBAL, 1);
    set("m", "f", 0, "false", TH_PATTERN_EITHER, 1);
    assert_int_equal(info_of("m", "f", 0).kinds, 0);
}

static void trace_and_disable_trace_change_flags(void **state)
{
    (void)state;
    set("m", "f", 0, "[{'_',[],[{message,{trace,[],[send,timestamp]}}]}]", TH_BP_LOCAL, 1);
    set("m", "g", 0, "[{'_',[],[{disable_trace,call}]}]", TH_BP_LOCAL, 1);
    expect("{trace,<0.1.0>,send,hi,<0.9.0>}", "");
    expect(CALL("{m,f,[]}"),
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{timestamp => timestamp}) self\n");
    expect("{trace,<0.1.0>,send,hi,<0.9.0>}",
           "enabled_send(send,s,<0.1.0>)\n"
           "trace_send(send,s,<0.1.0>,hi,#{extra => <0.9.0>,timestamp => timestamp}) self\n");
    scene_trace(CALL("{m,g,[]}"));
    scene_log();
    expect(CALL("{m,f,[]}"), "");
}

static void all_functions_share_one_control_word(void **state)
{
    (void)state;
    set("m", "f", 0, "[{'_',[],[{message,{set_tcw,5}}]}]", TH_BP_LOCAL, 1);
    set("m", "g", 0, "[{'_',[{'==',{get_tcw},5}],[]}]", TH_BP_LOCAL, 1);
    expect(CALL("{m,g,[]}"), ASKED);
    scene_trace(CALL("{m,f,[]}"));
    scene_log();
    expect(CALL("{m,g,[]}"), TOLD("{m,g,[]}"));
}

/* --- Meta breakpoints and counters ------------------------------------------------------------ */

static void meta_traces_every_process_with_timestamps(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    set("m", "f", 0, "[{'_',[],[{return_trace}]}]", TH_BP_META, 1);
    expect(CALL("{m,f,[]}"),
           ASKED "trace_call(call,s,<0.1.0>,{m,f,[]},#{timestamp => timestamp}) self\n");
    expect(RETURN("{m,f,0}", "ok"), "trace_call(return_from,s,<0.1.0>,{m,f,0},"
                                    "#{extra => ok,timestamp => timestamp}) self\n");
    scene_answer("enabled_call", "remove");
    expect(CALL("{m,f,[]}"), ASKED);
    expect(CALL("{m,f,[]}"), "");
    assert_int_equal(th_trace_session_counts(session).removed, 0);
}

static void counters_call_no_tracer(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    set("m", "_", TH_ANY_ARITY, "true", TH_BP_COUNT, 0);
    for (int i = 0; i < 3; i++)
        expect(CALL("{m,f,[1]}"), "");
    expect(CALL("{m,g,[]}"), "");
    assert_int_equal(calls_of("m", "f", 1), 3);
    assert_int_equal(calls_of("m", "g", 0), 1);
    set("m", "_", TH_ANY_ARITY, "pause", TH_BP_COUNT, 2);
    expect(CALL("{m,f,[1]}"), "");
    assert_int_equal(calls_of("m", "f", 1), 3);
    set("m", "f", 1, "restart", TH_BP_COUNT, 1);
    expect(CALL("{m,f,[1]}"), "");
    assert_int_equal(calls_of("m", "f", 1), 1);
    assert_int_equal(calls_of("m", "g", 0), 1);
}

/* Returns the nanoseconds that FUNCTION took in <0.1.0>. */
static int64_t time_of(const char *function, uint64_t calls)
{
    struct th_bp_info info = info_of("m", function, 0);
    int64_t time;

    assert_int_equal(info.time_count, 1);
    assert_term_equal(info.time[0].process, th_local_pid(1, 0));
    assert_int_equal(info.time[0].calls, calls);
    time = info.time[0].amount;
    th_breakpoint_info_free(&info);
    return time;
}

#define AT(what, us) "{trace_ts,<0.1.0>," what ",{1,0," us "}}"

static void call_time_follows_the_recorded_timestamps(void **state)
{
    (void)state;
    set("m", "_", TH_ANY_ARITY, "true", TH_BP_TIME, 0);
    expect(AT("call,{m,a,[]}", "0"), "");
    expect(AT("call,{m,b,[]}", "100"), "");
    expect(AT("out,{m,b,0}", "110"), "");
    expect(AT("in,{m,b,0}", "500"), "enabled(trace_status,s,<0.1.0>)\n");
    expect(AT("return_from,{m,b,0},ok", "520"), "");
    expect(AT("return_from,{m,a,0},ok", "600"), "");
    expect(AT("call,{n,c,[]}", "700"), "");
    assert_int_equal(time_of("a", 1), 180000);
    assert_int_equal(time_of("b", 1), 30000);
}

static void call_time_runs_until_the_exit(void **state)
{
    (void)state;
    set("m", "_", TH_ANY_ARITY, "true", TH_BP_TIME, 0);
    expect(AT("call,{m,a,[]}", "0"), "");
    scene_trace_skip(AT("call,{m,x,[]}", "10"));
    scene_trace_skip(AT("return_from,{m,x,0},ok", "20"));
    expect(AT("exit,normal", "50"), "");
    assert_int_equal(time_of("a", 1), 50000);
}

static void calls_without_a_timestamp_are_counted(void **state)
{
    (void)state;
    set("m", "a", 0, "true", TH_BP_TIME, 1);
    expect(CALL("{m,a,[]}"), "");
    assert_int_equal(th_trace_session_pattern_counts(session).untimed, 1);
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    expect(CALL("{m,a,[]}"), "");
    assert_int_equal(th_trace_session_pattern_counts(session).untimed, 1);
}

/* The session gets no event, although it has flags; the events of others do not concern it. */
static void a_session_without_a_tracer_counts_calls(void **state)
{
    struct th_session_setup setup = {.name = "counts", .state = TH_NIL};
    struct th_session *told = session;

    (void)state;
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &session), TH_OK);
    assert_false(th_trace_session_has_tracer(session));
    assert_true(th_trace_session_has_tracer(told));
    th_trace_session_trace(session, TH_PROCESSES_ALL, true,
                           TH_FLAG_CALL | TH_FLAG_SEND | TH_FLAG_RUNNING);
    set("m", "_", TH_ANY_ARITY, "true", TH_BP_COUNT | TH_BP_TIME | TH_BP_LOCAL, 0);
    th_trace_session_trace(told, TH_PROCESSES_ALL, false, TH_FLAG_CALL);
    expect(AT("call,{m,a,[]}", "0"), "");
    expect(AT("send,x,<0.2.0>", "5"), "");
    expect(AT("out,{m,a,0}", "10"), "");
    expect(AT("in,{m,a,0}", "20"), "");
    expect(AT("return_from,{m,a,0},ok", "40"), "");
    assert_int_equal(calls_of("m", "a", 0), 1);
    assert_int_equal(time_of("a", 1), 30000);
    assert_int_equal(th_trace_session_counts(session).removed, 0);
    assert_true(th_trace_session_status(session));
    th_trace_session_destroy(session);
}

static void a_session_returns_the_breakpoints_of_a_function(void **state)
{
    struct th_bp_info info;

    (void)state;
    set("m", "f", 0, "[{'_',[],[{message,{caller}}]}]", TH_BP_LOCAL | TH_BP_COUNT, 1);
    info = info_of("m", "f", 0);
    assert_int_equal(info.kinds, TH_BP_LOCAL | TH_BP_COUNT);
    assert_true(th_is_list(th_trace_pattern_spec_source(info.spec)));
    th_breakpoint_info_free(&info);
    set("m", "f", 0, "false", TH_BP_LOCAL | TH_BP_COUNT, 1);
    info = info_of("m", "f", 0);
    assert_int_equal(info.kinds, 0);
    info = info_of("m", "g", 0);
    assert_int_equal(info.kinds, 0);
    th_breakpoint_info_free(&info);
}

/* --- Patterns as text ------------------------------------------------------------------------- */

/* Parses TEXT, and returns the pattern as it is printed; NULL: it is none. */
static const char *parsed(struct th_buffer *out, const char *text)
{
    struct th_pattern pattern;

    out->size = 0;
    if (!th_trace_pattern_parse(text, &pattern))
        return NULL;
    th_trace_pattern_print(out, &pattern);
    return th_buffer_text(out);
}

static void a_pattern_is_read_as_erlang_or_elixir_writes_it(void **state)
{
    static const char *const pairs[][2] = {
        {"lists:sort/1", "lists:sort/1"},
        {"lists:sort", "lists:sort/_"},
        {"_:_", "_:_/_"},
        {"'Elixir.Enum':sort/1", "'Elixir.Enum':sort/1"},
        {"Enum.sort/1", "'Elixir.Enum':sort/1"},
        {"Enum.sort", "'Elixir.Enum':sort/_"},
        {"Enum.sort/_", "'Elixir.Enum':sort/_"},
        {"Enum._", "'Elixir.Enum':_/_"},
        {"Enum._/_", "'Elixir.Enum':_/_"},
        {"MyApp.Shop.Cart.valid?/2", "'Elixir.MyApp.Shop.Cart':'valid?'/2"},
        {"Enum.\"odd/1 name\"/1", "'Elixir.Enum':'odd/1 name'/1"},
        {"Kernel.+/2", "'Elixir.Kernel':'+'/2"},
        {"Kernel.//2", "'Elixir.Kernel':'/'/2"},
        {"Kernel./", "'Elixir.Kernel':'/'/_"},
        {":lists.sort/1", "lists:sort/1"},
        {"Enum", NULL},
        {"Enum.Sort/1", NULL},
        {"Enum.sort/", NULL},
        {"Enum.sort/x", NULL},
        {"Enum.sort/256", NULL},
        {"Enum.sort/1/2", NULL},
        {"Enum.sort:a", NULL},
        {"Enum._/1", NULL},
        {"Enum:sort/1", NULL},
        {":lists:sort/1", NULL},
        {"_.sort/1", NULL},
        {"lists.sort/1", NULL},
        {"a:b:c", NULL},
    };
    struct th_buffer out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *text = parsed(&out, pairs[i][0]);
        assert_int_equal(!text, !pairs[i][1]);
        if (text)
            assert_string_equal(text, pairs[i][1]);
    }
    th_buffer_free(&out);
}

/* --- Senseless patterns ----------------------------------------------------------------------- */

static void invalid_patterns_are_refused(void **state)
{
    const char *name = "a pattern must be M:F/A, M:F/_, M:_/_ or _:_/_";

    (void)state;
    expect_refused("_", "f", TH_ANY_ARITY, "true", TH_BP_LOCAL, TH_USAGE, name);
    expect_refused("m", "_", 1, "true", TH_BP_LOCAL, TH_USAGE, name);
    expect_refused("m", "f", 256, "true", TH_BP_LOCAL, TH_USAGE, "an arity must be at most 255");
    expect_refused("m", "f", 1, "true", 0, TH_USAGE, "a pattern needs at least one kind");
    expect_refused("m", "f", 1, "true", TH_BP_GLOBAL | TH_BP_COUNT, TH_USAGE,
                   "the kind global cannot be combined with other kinds");
    expect_refused("m", "f", 1, "true", TH_PATTERN_EITHER | TH_BP_COUNT, TH_USAGE,
                   "the kind global cannot be combined with other kinds");
    expect_refused("m", "f", 1, "pause", TH_PATTERN_EITHER, TH_USAGE,
                   "only patterns that count or measure can be paused");
    expect_refused("m", "f", 1, "pause", TH_BP_LOCAL, TH_USAGE,
                   "only patterns that count or measure can be paused");
    assert_false(th_trace_session_patterned(session));
    assert_int_equal(try("m", "f", 1, "[{['$1'],[{nix,'$1'}],[]}]", TH_BP_LOCAL, NULL),
                     TH_MALFORMED);
    th_error_clear();
    assert_false(th_trace_session_patterned(session));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_pattern_is_read_as_erlang_or_elixir_writes_it),
        TEST(calls_without_patterns_are_traced_as_recorded),
        TEST(a_pattern_passes_calls_of_the_named_function),
        TEST(wildcards_apply_to_functions_seen_later),
        TEST(on_load_patterns_leave_known_functions_unchanged),
        TEST(an_untraced_process_calls_no_enabled),
        TEST(each_session_has_its_own_patterns),
        TEST(a_session_destroyed_by_a_hit_is_not_hit),
        TEST(a_pattern_cleared_in_a_callback_is_cleared),
        TEST(enabled_can_discard_a_call_or_remove_the_tracee),
        TEST(a_guard_is_obeyed),
        TEST(a_recorded_match_result_is_not_passed_on),
        TEST(message_false_holds_the_call_back_but_not_its_return),
        TEST(silence_takes_effect_at_once),
        TEST(local_and_global_breakpoints_are_cleared_separately),
        TEST(the_kind_either_sets_a_local_breakpoint),
        TEST(trace_and_disable_trace_change_flags),
        TEST(all_functions_share_one_control_word),
        TEST(meta_traces_every_process_with_timestamps),
        TEST(counters_call_no_tracer),
        TEST(call_time_follows_the_recorded_timestamps),
        TEST(call_time_runs_until_the_exit),
        TEST(calls_without_a_timestamp_are_counted),
        TEST(a_session_without_a_tracer_counts_calls),
        TEST(a_session_returns_the_breakpoints_of_a_function),
        TEST(invalid_patterns_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
