/* Tests patterns for functions with two sites, and with one: breakpoints set, refusals. */
#include "host/base/base.h"
#include "tests/trace/sites.h"

/* --- Breakpoints of each function ------------------------------------------------------------- */

static void wildcards_match_the_functions_that_can_have_the_kind(void **state)
{
    (void)state;
    assert_int_equal(set_all("true", TH_BP_LOCAL), EACH - 1);
    assert_int_equal(kinds_of(both), TH_BP_LOCAL);
    assert_int_equal(kinds_of(shown), 0);
    assert_int_equal(kinds_of(hidden), TH_BP_LOCAL);
    assert_int_equal(set_all("true", TH_BP_GLOBAL), EACH - 1);
    assert_int_equal(kinds_of(both), TH_BP_GLOBAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
    assert_int_equal(kinds_of(hidden), 0); /* cannot have one, and the local one is cleared */
    assert_int_equal(set_all("false", TH_BP_GLOBAL), EACH - 1);
    assert_int_equal(set_all("false", TH_BP_LOCAL), EACH);
    assert_int_equal(set_all("true", TH_PATTERN_EITHER), EACH);
    assert_int_equal(kinds_of(both), TH_BP_LOCAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
    assert_int_equal(kinds_of(hidden), TH_BP_LOCAL);
    calls(both, true, TOLD("both", "1"));
    calls(shown, true, TOLD("shown", "1"));
    calls(hidden, false, TOLD("hidden", "1"));
    assert_int_equal(set_all("restart", TH_PATTERN_EITHER), EACH);
    assert_int_equal(set_all("true", TH_BP_COUNT), EACH);
    assert_int_equal(set_all("false", TH_PATTERN_EITHER), EACH);
    assert_int_equal(kinds_of(both), TH_BP_COUNT);
    assert_int_equal(kinds_of(shown), TH_BP_COUNT);
    assert_int_equal(kinds_of(hidden), TH_BP_COUNT);
}

struct visits {
    unsigned count[SITED_FUNCTIONS];
    uint32_t kinds[SITED_FUNCTIONS];
};

static void visit(void *context, const struct th_mfa *function, const struct th_bp_info *info)
{
    struct visits *visits = context;

    for (int i = 0; i < SITED_FUNCTIONS; i++)
        if (sited_functions[i].live.function.name.function == function->function) {
            visits->count[i]++;
            visits->kinds[i] = info->kinds;
        }
}

static void a_function_is_listed_once(void **state)
{
    struct visits visits = {0};

    (void)state;
    set_all("true", TH_PATTERN_EITHER);
    set_all("true", TH_BP_META | TH_BP_COUNT);
    th_trace_session_functions(session, visit, &visits);
    for (int i = 0; i < SITED_FUNCTIONS; i++) {
        assert_int_equal(visits.count[i], 1);
        assert_int_equal(visits.kinds[i],
                         TH_BP_META | TH_BP_COUNT | (i == SHOWN ? TH_BP_GLOBAL : TH_BP_LOCAL));
    }
}

/* A pattern for a named function is also set for the recorded function of that name. */
static void a_function_with_a_pattern_of_its_own_is_listed_once(void **state)
{
    struct visits visits = {0};

    (void)state;
    set(session, "shown", "true", TH_PATTERN_EITHER);
    th_trace_session_functions(session, visit, &visits);
    assert_int_equal(visits.count[SHOWN], 1);
    assert_int_equal(visits.kinds[SHOWN], TH_BP_GLOBAL);
    sited_end();
    th_trace_session_functions(session, visit, &visits);
    assert_int_equal(visits.count[SHOWN], 2);
    assert_int_equal(visits.kinds[SHOWN], TH_BP_LOCAL); /* the recorded one */
}

static void load(struct th_pattern pattern, uint32_t kinds, bool exported, bool native,
                 uint32_t expected)
{
    struct sited late;
    struct th_traceable_function *functions[] = {&late.live};

    pattern.on_load = true;
    assert_int_equal(th_trace_session_function(session, &pattern, TH_AM(true), kinds, NULL), TH_OK);
    sited_init(&late, th_atom("late"), "f", exported, native);
    scene_begin_functions(functions, 1);
    assert_int_equal(sited_armed(&late), expected);
    assert_int_equal(kinds_of(&late), expected);
    scene_end_functions(functions, 1);
    assert_int_equal(sited_armed(&late), 0);
    sited_release(&late);
    assert_int_equal(th_trace_session_function(session, &pattern, TH_AM(false), kinds, NULL),
                     TH_OK);
}

static void loaded_functions_get_the_kinds_that_they_can_have(void **state)
{
    const struct th_pattern late = {th_atom("late"), TH_NONE, TH_ANY_ARITY, true};

    (void)state;
    load(late, TH_PATTERN_EITHER, true, true, TH_BP_LOCAL);
    load(late, TH_PATTERN_EITHER, true, false, TH_BP_GLOBAL);
    load(late, TH_PATTERN_EITHER, false, true, TH_BP_LOCAL);
    load(late, TH_BP_GLOBAL, true, true, TH_BP_GLOBAL);
    load(late, TH_BP_GLOBAL, false, true, 0);
    load(late, TH_BP_LOCAL, true, true, TH_BP_LOCAL);
    load(late, TH_BP_LOCAL, true, false, 0);
}

/* Local patterns after patterns for any kind: the last one counts. */
static void the_last_of_several_waiting_wildcards_wins(void **state)
{
    struct th_pattern late = {th_atom("late"), TH_NONE, TH_ANY_ARITY, true};

    (void)state;
    th_trace_session_function(session, &late, TH_AM(true), TH_PATTERN_EITHER, NULL);
    load(late, TH_BP_GLOBAL, true, true, TH_BP_GLOBAL);
    th_trace_session_function(session, &late, TH_AM(true), TH_BP_GLOBAL, NULL);
    load(late, TH_PATTERN_EITHER, true, true, TH_BP_LOCAL);
}

static void expect_late(uint32_t expected)
{
    struct sited late;
    struct th_traceable_function *functions[] = {&late.live};

    sited_init(&late, th_atom("late"), "f", true, true);
    scene_begin_functions(functions, 1);
    assert_int_equal(kinds_of(&late), expected);
    scene_end_functions(functions, 1);
    sited_release(&late);
}

static void add_waiting(void *context, const struct th_pattern *pattern)
{
    th_trace_pattern_print(context, pattern);
    th_buffer_add_byte(context, ' ');
}

static void expect_waiting(const char *expected)
{
    struct th_buffer text = {0};

    th_trace_session_waiting(session, add_waiting, &text);
    assert_string_equal(th_buffer_text(&text), expected);
    th_buffer_free(&text);
}

static void set_late(const char *text, const char *match, uint32_t kinds)
{
    struct th_pattern pattern;
    size_t matched = 77;

    assert_true(th_trace_pattern_parse(text, &pattern));
    assert_int_equal(th_trace_session_function(session, &pattern, th_atom(match), kinds, &matched),
                     TH_OK);
    assert_int_equal(matched, 0);
}

static void patterns_wait_for_modules_that_are_not_there(void **state)
{
    (void)state;
    th_trace_replay_nothing(scene_tracing());
    set_late("late:f/1", "true", TH_BP_LOCAL);
    set_late("late:g/2", "true", TH_PATTERN_EITHER);
    set_late("late:_/_", "true", TH_BP_COUNT);
    expect_waiting("late:f/1 late:g/2 late:_/_ ");
    expect_late(TH_BP_LOCAL | TH_BP_COUNT);
    expect_waiting("late:g/2 ");
    expect_late(TH_BP_LOCAL | TH_BP_COUNT); /* unless they are cleared */
    set_late("late:f/1", "false", TH_BP_COUNT);
    expect_late(TH_BP_LOCAL);
    set_late("late:f/1", "true", TH_BP_GLOBAL);
    expect_late(TH_BP_GLOBAL);
    set_late("late:_/_", "false", TH_BP_GLOBAL);
    set_late("late:_/_", "false", TH_BP_COUNT);
    set_late("late:g/2", "false", TH_PATTERN_EITHER);
    expect_waiting("");
    expect_late(0);
    set_late("late:f/1", "true", TH_BP_LOCAL);
    set_all("false", TH_BP_LOCAL); /* those of another module */
    expect_late(TH_BP_LOCAL);
}

/* Patterns for all code to come are not cleared by patterns for existing code. */
static void on_load_patterns_are_separate_from_other_wildcards(void **state)
{
    struct th_pattern any = {.arity = TH_ANY_ARITY, .on_load = true};

    (void)state;
    th_trace_replay_nothing(scene_tracing());
    assert_int_equal(th_trace_session_function(session, &any, TH_AM(true), TH_BP_LOCAL, NULL),
                     TH_OK);
    assert_int_equal(kinds_of(both), 0);
    expect_waiting("on_load ");
    any.on_load = false;
    assert_int_equal(th_trace_session_function(session, &any, TH_AM(false), TH_BP_LOCAL, NULL),
                     TH_OK);
    expect_late(TH_BP_LOCAL);
    any.on_load = true;
    assert_int_equal(th_trace_session_function(session, &any, TH_AM(false), TH_BP_LOCAL, NULL),
                     TH_OK);
    expect_late(0);
    expect_waiting("");
}

static void the_end_of_functions_clears_both_sites(void **state)
{
    (void)state;
    other = add("t", TH_FLAG_CALL);
    set_all("true", TH_BP_GLOBAL);
    set(other, "both", "true", TH_BP_COUNT);
    set(other, "hidden", "true", TH_BP_COUNT);
    assert_int_equal(sited_armed(both), TH_PATTERN_EITHER);
    sited_end(); /* sites with breakpoints cannot be dropped */
    assert_int_equal(sited_armed(both), 0);
    assert_int_equal(sited_armed(shown), 0);
    assert_int_equal(sited_armed(hidden), 0);
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void refused(const char *function, uint32_t kinds, const char *why, const char *reason)
{
    assert_int_equal(try(session, function, "true", kinds), TH_USAGE);
    assert_string_equal(th_error_link(0), why);
    assert_string_equal(th_error_link(1), reason);
    assert_null(th_error_link(2));
    th_error_clear();
}

static void a_pattern_that_can_never_match_is_refused_with_a_reason(void **state)
{
    (void)state;
    refused("shown", TH_BP_LOCAL,
            "no function can have a breakpoint for local calls: trace calls from other modules "
            "with a global pattern",
            "m:shown/1: it stands in stone");
    refused("hidden", TH_BP_GLOBAL,
            "no function can have a breakpoint for calls from other modules alone: trace all calls "
            "with a local pattern",
            "m:hidden/1: no other modules call the function");
    assert_int_equal(sited_armed(shown) | sited_armed(hidden), 0);
    set(session, "shown", "true", TH_PATTERN_EITHER);
    set(session, "hidden", "true", TH_PATTERN_EITHER);
    set(session, "shown", "false", TH_BP_LOCAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
    set(session, "hidden", "true", TH_BP_GLOBAL); /* not refused, as it clears the local one */
    assert_int_equal(sited_armed(hidden), 0);
}

/* A site that no call can reach does not count. */
static void a_function_without_sites_is_refused(void **state)
{
    const uint32_t kinds[] = {TH_BP_LOCAL, TH_PATTERN_EITHER, TH_BP_COUNT, TH_BP_META};
    struct sited sealed;
    struct th_traceable_function *function = &sealed.live;

    (void)state;
    sited_init(&sealed, th_atom("m"), "sealed", false, false);
    function->function.no_local = "it stands in stone";
    scene_begin_functions(&function, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(try(session, "sealed", "true", kinds[i]), TH_USAGE);
        assert_string_equal(th_error_link(1), "m:sealed/1: it stands in stone");
        th_error_clear();
    }
    assert_int_equal(try(session, "sealed", "true", TH_BP_GLOBAL), TH_USAGE);
    assert_string_equal(th_error_link(1), "m:sealed/1: no other modules call the function");
    th_error_clear();
    set(session, "sealed", "false", TH_PATTERN_EITHER);
    scene_end_functions(&function, 1);
    sited_release(&sealed);
}

/* A common reason is reported once; of many reasons, the first few are. */
static void reasons_of_a_refusal_are_reported_together(void **state)
{
    enum { MANY = TH_PATTERN_REFUSALS + 3 };
    static const char *const reasons[TH_PATTERN_REFUSALS + 1] = {"a", "b", "c", "d", "e"};
    struct sited items[MANY];
    struct th_traceable_function *functions[MANY];
    struct th_pattern each = {th_atom("n"), TH_NONE, TH_ANY_ARITY, false};
    struct th_pattern_refusals refusals;
    char name[16];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        sited_init(&items[i], th_atom("n"), name, true, false);
        items[i].live.function.no_local = i < 3 ? "a" : reasons[i - 2];
        functions[i] = &items[i].live;
    }
    scene_begin_functions(functions, MANY);
    assert_int_equal(th_trace_session_function(session, &each, TH_AM(true), TH_BP_LOCAL, NULL),
                     TH_USAGE);
    assert_int_equal(th_error_status(), TH_USAGE);
    assert_string_equal(th_error_link(1), "n:f0/1 and 2 more: a");
    assert_string_equal(th_error_link(TH_PATTERN_REFUSALS), "n:f5/1: d");
    assert_null(th_error_link(TH_PATTERN_REFUSALS + 1));
    th_error_clear();
    th_trace_session_pattern_refusals(session, &each, TH_BP_LOCAL, &refusals);
    assert_int_equal(refusals.functions, MANY);
    assert_int_equal(refusals.count, TH_PATTERN_REFUSALS);
    th_trace_session_pattern_refusals(session, &each, TH_PATTERN_EITHER, &refusals);
    assert_int_equal(refusals.functions, 0);
    scene_end_functions(functions, MANY);
    for (int i = 0; i < MANY; i++)
        sited_release(&items[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_sited, end_sited)
        TEST(wildcards_match_the_functions_that_can_have_the_kind),
        TEST(a_function_is_listed_once),
        TEST(a_function_with_a_pattern_of_its_own_is_listed_once),
        TEST(loaded_functions_get_the_kinds_that_they_can_have),
        TEST(the_last_of_several_waiting_wildcards_wins),
        TEST(patterns_wait_for_modules_that_are_not_there),
        TEST(on_load_patterns_are_separate_from_other_wildcards),
        TEST(the_end_of_functions_clears_both_sites),
        TEST(a_pattern_that_can_never_match_is_refused_with_a_reason),
        TEST(a_function_without_sites_is_refused),
        TEST(reasons_of_a_refusal_are_reported_together),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
