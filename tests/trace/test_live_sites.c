/* Functions of this host with two sites: global breakpoints at the one, all others at the other. */
#include "tests/trace/live.h"

#include "tests/support/sited.h"

#include "host/trace/tracing.h"
#include "plugin_api/nif_module.h"

enum { EACH = ALIVE_FUNCTIONS + SITED_FUNCTIONS };

static int begin_sited(void **state)
{
    begin(state);
    sited_begin();
    return 0;
}

static int end_sited(void **state)
{
    sited_end();
    return end(state);
}

static const struct sited *const both = &sited_functions[BOTH],
                                 *const shown = &sited_functions[SHOWN],
                                 *const hidden = &sited_functions[HIDDEN];

/* A call, to be told to the callbacks; it ends at once. */
static void calls(const struct sited *sited, bool external, const char *callbacks)
{
    struct sited_wants wants;

    sited_call(&me->process, sited, th_small(1), external, &wants);
    sited_return(&me->process, sited, &wants, th_atom("ok"));
    assert_string_equal(scene_log(), callbacks);
}

static struct th_bp_info info_of(const struct sited *sited)
{
    struct th_bp_info info;

    th_session_function_info(session, &sited->live.function.name, &info);
    return info;
}

static uint32_t kinds_of(const struct sited *sited)
{
    struct th_bp_info info = info_of(sited);
    uint32_t kinds = info.kinds;

    th_bp_info_free(&info);
    return kinds;
}

/* All functions of module m. */
static size_t set_all(const char *match, uint32_t kinds)
{
    struct th_pattern all = {th_atom("m"), TH_NONE, TH_ANY_ARITY, false};
    size_t matched = 77;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_session_function(session, &all, term, kinds, &matched), TH_OK);
    th_env_release(&env);
    return matched;
}

/* --- which site --- */

static void each_kind_has_its_site(void **state)
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

static void false_clears_what_it_names(void **state)
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

/* Those of another session stay. */
static void sessions_have_sites_of_their_own_choice(void **state)
{
    (void)state;
    other = add("t", TH_FLAG_CALL);
    th_session_trace_one(other, me->process.id, true, TH_FLAG_CALL);
    set(session, "both", "true", TH_BP_GLOBAL);
    set(other, "both", "true", TH_BP_GLOBAL);
    set(other, "both", "true", TH_BP_LOCAL);
    assert_int_equal(sited_armed(both), TH_PATTERN_EITHER);
    calls(both, true, TOLD("both", "1") TOLD_TO("t", "both", "1"));
    calls(both, false, TOLD_TO("t", "both", "1"));
    th_session_destroy(other);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    th_session_destroy(session);
    assert_int_equal(sited_armed(both), 0);
}

/* --- specifications and ends --- */

static void specifications_go_with_their_kind(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "[{'_',[],[{return_trace}]}]", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1") ENDED("both", "ok"));
    set(session, "both", "true", TH_BP_LOCAL);
    info = info_of(both);
    assert_null(info.spec);
    th_bp_info_free(&info);
    calls(both, true, TOLD("both", "1"));
    set(session, "both", "[{[2],[],[]}]", TH_BP_GLOBAL);
    info = info_of(both);
    assert_non_null(info.spec);
    th_bp_info_free(&info);
    calls(both, true, ASKED);
    set(session, "both", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    calls(both, false, TOLD("both", "1") ENDED("both", "ok"));
}

static void return_to_is_of_local_breakpoints(void **state)
{
    struct sited_wants wants;

    (void)state;
    th_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
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

/* --- meta and counts --- */

#define META(f) ASKED "trace_call(call,s," ME ",{m," f ",[1]},#{timestamp => timestamp}) self\n"

static void all_but_global_ones_meet_each_call_once(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_META | TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY);
    assert_int_equal(sited_armed(both), TH_BP_LOCAL);
    set(session, "both", "true", TH_BP_GLOBAL);
    assert_int_equal(sited_armed(both), TH_PATTERN_EITHER);
    calls(both, true, TOLD("both", "1") META("both"));
    calls(both, false, META("both"));
    set(session, "both", "true", TH_BP_LOCAL);
    calls(both, true, TOLD("both", "1") META("both"));
    info = info_of(both);
    assert_int_equal(info.kinds, TH_BP_ALL & ~TH_BP_GLOBAL);
    assert_int_equal(info.active, info.kinds);
    assert_int_equal(info.calls, 3);
    assert_int_equal(info.time[0].calls, 3);
    assert_int_equal(info.memory[0].calls, 3);
    th_bp_info_free(&info);
}

static void counts_are_paused_where_they_are(void **state)
{
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_COUNT);
    set(session, "both", "true", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    set(session, "both", "pause", TH_BP_COUNT);
    assert_int_equal(sited_armed(both), TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    info = info_of(both);
    assert_int_equal(info.kinds, TH_BP_GLOBAL | TH_BP_COUNT);
    assert_int_equal(info.active, TH_BP_GLOBAL);
    assert_int_equal(info.calls, 1);
    th_bp_info_free(&info);
    set(session, "both", "restart", TH_BP_COUNT);
    calls(both, false, "");
    info = info_of(both);
    assert_int_equal(info.calls, 1);
    th_bp_info_free(&info);
}

static void a_meta_tracer_is_at_the_native_site(void **state)
{
    struct th_session_setup setup = {
        .name = "a", .library = scene_library(), .state = th_atom("a")};
    struct th_pattern pattern = {th_atom("m"), TH_NONE, TH_ANY_ARITY, false};
    size_t matched;

    (void)state;
    assert_int_equal(th_session_meta_function(session, &pattern, TH_AM(true), &setup, &matched),
                     TH_OK);
    scene_log();
    assert_int_equal(matched, EACH);
    set(session, "both", "true", TH_BP_GLOBAL);
    calls(both, true,
          TOLD("both", "1") ASKED_OF("a") "trace_call(call,a," ME
                                          ",{m,both,[1]},#{timestamp => timestamp}) self\n");
    calls(shown, true,
          ASKED_OF("a") "trace_call(call,a," ME ",{m,shown,[1]},#{timestamp => timestamp}) self\n");
    scene_answer("enabled_call", "remove");
    calls(hidden, false, ASKED_OF("a"));
    calls(hidden, false, "");
}

/* A thread that runs no process is counted at the native site. */
static void strangers_are_counted(void **state)
{
    struct sited_wants wants;
    struct th_bp_info info;

    (void)state;
    set(session, "both", "true", TH_BP_LOCAL | TH_BP_COUNT);
    sited_call(NULL, both, th_small(1), true, &wants);
    assert_string_equal(scene_log(), "");
    info = info_of(both);
    assert_int_equal(info.calls, 1);
    th_bp_info_free(&info);
}

/* --- patterns for several functions --- */

static void wildcards_match_what_can_have_them(void **state)
{
    (void)state;
    assert_int_equal(set_all("true", TH_BP_LOCAL), EACH - 1);
    assert_int_equal(kinds_of(both), TH_BP_LOCAL);
    assert_int_equal(kinds_of(shown), 0);
    assert_int_equal(kinds_of(hidden), TH_BP_LOCAL);
    assert_int_equal(set_all("true", TH_BP_GLOBAL), EACH - 1);
    assert_int_equal(kinds_of(both), TH_BP_GLOBAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
    assert_int_equal(kinds_of(hidden), TH_BP_LOCAL); /* it was none of that pattern's */
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

static void visit(void *context, const struct th_function *function, const struct th_bp_info *info)
{
    struct visits *visits = context;

    for (int i = 0; i < SITED_FUNCTIONS; i++)
        if (sited_functions[i].live.function.name.function == function->function) {
            visits->count[i]++;
            visits->kinds[i] = info->kinds;
        }
}

static void a_function_is_shown_once(void **state)
{
    struct visits visits = {0};

    (void)state;
    set_all("true", TH_BP_META | TH_BP_COUNT);
    set_all("true", TH_BP_GLOBAL);
    th_session_functions(session, visit, &visits);
    for (int i = 0; i < SITED_FUNCTIONS; i++) {
        assert_int_equal(visits.count[i], 1);
        assert_int_equal(visits.kinds[i],
                         TH_BP_META | TH_BP_COUNT | (i == HIDDEN ? 0 : TH_BP_GLOBAL));
    }
}

/* A pattern that names a function is for a recorded one of that name, too. */
static void a_function_that_is_named_is_shown_once(void **state)
{
    struct visits visits = {0};

    (void)state;
    set(session, "shown", "true", TH_PATTERN_EITHER);
    th_session_functions(session, visit, &visits);
    assert_int_equal(visits.count[SHOWN], 1);
    assert_int_equal(visits.kinds[SHOWN], TH_BP_GLOBAL);
    sited_end();
    th_session_functions(session, visit, &visits);
    assert_int_equal(visits.count[SHOWN], 2);
    assert_int_equal(visits.kinds[SHOWN], TH_BP_LOCAL); /* the recorded one */
}

static void load(struct th_pattern pattern, uint32_t kinds, bool exported, bool native,
                 uint32_t expected)
{
    struct sited late;
    struct th_live_function *functions[] = {&late.live};

    pattern.on_load = true;
    assert_int_equal(th_session_function(session, &pattern, TH_AM(true), kinds, NULL), TH_OK);
    sited_init(&late, th_atom("late"), "f", exported, native);
    th_live_functions_begin(scene_tracing(), functions, 1);
    assert_int_equal(sited_armed(&late), expected);
    assert_int_equal(kinds_of(&late), expected);
    th_live_functions_end(scene_tracing(), functions, 1);
    assert_int_equal(sited_armed(&late), 0);
    sited_release(&late);
    assert_int_equal(th_session_function(session, &pattern, TH_AM(false), kinds, NULL), TH_OK);
}

static void functions_that_are_loaded_get_what_they_can_have(void **state)
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

/* Local ones on top of such as each can have: the last word counts. */
static void kept_wildcards_keep_their_order(void **state)
{
    struct th_pattern late = {th_atom("late"), TH_NONE, TH_ANY_ARITY, true};

    (void)state;
    th_session_function(session, &late, TH_AM(true), TH_PATTERN_EITHER, NULL);
    load(late, TH_BP_GLOBAL, true, true, TH_BP_GLOBAL);
    th_session_function(session, &late, TH_AM(true), TH_BP_GLOBAL, NULL);
    load(late, TH_PATTERN_EITHER, true, true, TH_BP_LOCAL);
}

static void an_end_clears_both_sites(void **state)
{
    (void)state;
    set_all("true", TH_BP_COUNT);
    set_all("true", TH_BP_GLOBAL);
    assert_int_equal(sited_armed(both), TH_PATTERN_EITHER);
    sited_end(); /* sites with breakpoints cannot be dropped */
    assert_int_equal(sited_armed(both), 0);
    assert_int_equal(sited_armed(shown), 0);
    assert_int_equal(sited_armed(hidden), 0);
}

/* --- what is refused --- */

static void refused(const char *function, uint32_t kinds, const char *why, const char *reason)
{
    assert_int_equal(try(session, function, "true", kinds), TH_USAGE);
    assert_string_equal(th_error_link(0), why);
    assert_string_equal(th_error_link(1), reason);
    assert_null(th_error_link(2));
    th_error_clear();
}

static void what_never_comes_is_refused_with_the_reason(void **state)
{
    (void)state;
    refused("shown", TH_BP_LOCAL,
            "no function has a breakpoint for local calls: trace those from other modules with a "
            "global pattern",
            "m:shown/1: it stands in stone");
    refused("hidden", TH_BP_GLOBAL,
            "no function has a breakpoint for calls from other modules alone: trace all its calls "
            "with a local pattern",
            "m:hidden/1: no other modules call it");
    assert_int_equal(sited_armed(shown) | sited_armed(hidden), 0);
    set(session, "shown", "true", TH_PATTERN_EITHER);
    set(session, "hidden", "true", TH_PATTERN_EITHER);
    set(session, "shown", "false", TH_BP_LOCAL);
    assert_int_equal(kinds_of(shown), TH_BP_GLOBAL);
}

/* Reasons in common are told once; of more than a few, the first few. */
static void reasons_are_told_together(void **state)
{
    enum { MANY = TH_PATTERN_REFUSALS + 3 };
    static const char *const reasons[TH_PATTERN_REFUSALS + 1] = {"a", "b", "c", "d", "e"};
    struct sited items[MANY];
    struct th_live_function *functions[MANY];
    struct th_pattern each = {th_atom("n"), TH_NONE, TH_ANY_ARITY, false};
    struct th_pattern_refusals refusals;
    char name[8];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%d", i);
        sited_init(&items[i], th_atom("n"), name, true, false);
        items[i].live.function.no_local = i < 3 ? "a" : reasons[i - 2];
        functions[i] = &items[i].live;
    }
    th_live_functions_begin(scene_tracing(), functions, MANY);
    assert_int_equal(th_session_function(session, &each, TH_AM(true), TH_BP_LOCAL, NULL), TH_USAGE);
    assert_int_equal(th_error_status(), TH_USAGE);
    assert_string_equal(th_error_link(1), "n:f0/1 and 2 more: a");
    assert_string_equal(th_error_link(TH_PATTERN_REFUSALS), "n:f5/1: d");
    assert_null(th_error_link(TH_PATTERN_REFUSALS + 1));
    th_error_clear();
    th_session_pattern_refusals(session, &each, TH_BP_LOCAL, &refusals);
    assert_int_equal(refusals.functions, MANY);
    assert_int_equal(refusals.count, TH_PATTERN_REFUSALS);
    th_session_pattern_refusals(session, &each, TH_PATTERN_EITHER, &refusals);
    assert_int_equal(refusals.functions, 0);
    th_live_functions_end(scene_tracing(), functions, MANY);
    for (int i = 0; i < MANY; i++)
        sited_release(&items[i]);
}

/* --- disarming from inside --- */

static void disarm(void)
{
    th_disarm(&session->env);
}

static bool wait_for_armed(const struct sited *sited, uint32_t armed)
{
    for (int i = 0; i < 1000 && sited_armed(sited) != armed; i++)
        th_progress_settle();
    return sited_armed(sited) == armed;
}

static void a_tracer_disarms_the_site_that_was_met(void **state)
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
    th_bp_info_free(&info);
    set(session, "both", "restart", TH_BP_LOCAL);
    calls(both, false, TOLD("both", "1"));
    assert_true(wait_for_armed(both, 0));
    set(session, "both", "true", TH_BP_COUNT);
    set(session, "both", "true", TH_BP_GLOBAL);
    calls(both, true, TOLD("both", "1"));
    assert_true(wait_for_armed(both, TH_BP_LOCAL)); /* for the count */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_sited, end_sited)
        TEST(each_kind_has_its_site),
        TEST(false_clears_what_it_names),
        TEST(sessions_have_sites_of_their_own_choice),
        TEST(specifications_go_with_their_kind),
        TEST(return_to_is_of_local_breakpoints),
        TEST(all_but_global_ones_meet_each_call_once),
        TEST(counts_are_paused_where_they_are),
        TEST(a_meta_tracer_is_at_the_native_site),
        TEST(strangers_are_counted),
        TEST(wildcards_match_what_can_have_them),
        TEST(a_function_is_shown_once),
        TEST(a_function_that_is_named_is_shown_once),
        TEST(functions_that_are_loaded_get_what_they_can_have),
        TEST(kept_wildcards_keep_their_order),
        TEST(an_end_clears_both_sites),
        TEST(what_never_comes_is_refused_with_the_reason),
        TEST(reasons_are_told_together),
        TEST(a_tracer_disarms_the_site_that_was_met),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
