/* What happens in this host takes the way of all events: calls and their ends. */
#include "tests/support/alive.h"

#include "host/process/process.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ME "<0.1.4096>"
#define ASKED_OF(state) "enabled_call(call," state "," ME ")\n"
#define ASKED ASKED_OF("s")
#define TOLD_TO(state, f, x) \
    ASKED_OF(state) "trace_call(call," state "," ME ",{m," f ",[" x "]},#{}) self\n"
#define TOLD(f, x) TOLD_TO("s", f, x)
#define ENDED_FOR(state, f, value) \
    "trace_call(return_from," state "," ME ",{m," f ",1},#{extra => " value "}) self\n"
#define ENDED(f, value) ENDED_FOR("s", f, value)
#define RAISED(f, value) \
    "trace_call(exception_from,s," ME ",{m," f ",1},#{extra => {error," value "}}) self\n"
#define BACK(f) "trace_call(return_to,s," ME ",{m," f ",1},#{}) self\n"

static struct th_session *session, *other;
static struct alive *me;

static struct th_session *add(const char *state, uint32_t flags)
{
    struct th_session *added = scene_create(state);

    th_session_trace(added, TH_PROCESSES_ALL, true, flags);
    scene_log();
    return added;
}

static int begin(void **state)
{
    (void)state;
    alive_begin();
    session = add("s", TH_FLAG_CALL);
    other = NULL;
    me = alive_spawn(1, NULL, false);
    th_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    alive_exit(me);
    alive_end();
    return 0;
}

static enum th_status try(struct th_session *of, const char *function, const char *match,
                          uint32_t kinds)
{
    struct th_pattern pattern = {th_atom("m"), function ? th_atom(function) : TH_NONE,
                                 function ? 1 : TH_ANY_ARITY, false};
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    status = th_session_function(of, &pattern, term, kinds, NULL);
    th_env_release(&env);
    return status;
}

static void set(struct th_session *of, const char *function, const char *match, uint32_t kinds)
{
    assert_int_equal(try(of, function, match, kinds), TH_OK);
}

static struct th_live_wants call(unsigned i, int argument, const char *callbacks)
{
    struct th_live_wants wants = alive_call(me, i, th_small(argument));

    assert_string_equal(scene_log(), callbacks);
    return wants;
}

static void returns(unsigned i, struct th_live_wants *wants, const char *value,
                    const char *callbacks)
{
    alive_return(me, i, wants, value);
    assert_string_equal(scene_log(), callbacks);
    assert_int_equal(wants->count, 0);
}

/* --- calls --- */

static void a_call_meets_breakpoints(void **state)
{
    struct th_live_wants wants;

    (void)state;
    call(0, 7, "");
    set(session, "f0", "true", TH_BP_LOCAL);
    wants = call(0, 7, TOLD("f0", "7"));
    assert_int_equal(wants.count, 0);
    call(1, 7, "");
    set(session, "f0", "false", TH_BP_LOCAL);
    call(0, 7, "");
    assert_int_equal(th_session_counts(session).enabled, 1);
    assert_int_equal(th_session_counts(session).traced, 1);
}

static void discarding_runs_no_specification(void **state)
{
    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace},{message,{set_tcw,5}}]}]", TH_BP_LOCAL);
    scene_answer("enabled_call", "discard");
    assert_int_equal(call(0, 7, ASKED).count, 0);
    assert_int_equal(th_session_counts(session).discarded, 1);
    scene_forget_answers();
    set(session, "f0", "[{'_',[],[{message,{get_tcw}}]}]", TH_BP_LOCAL);
    call(0, 7, ASKED "trace_call(call,s," ME ",{m,f0,[7]},#{match_spec_result => 0}) self\n");
}

static void guards_filter(void **state)
{
    (void)state;
    set(session, "f0", "[{['$1'],[{'>','$1',5}],[]}]", TH_BP_LOCAL);
    call(0, 5, ASKED);
    call(0, 6, TOLD("f0", "6"));
}

static void only_external_calls_meet_global_breakpoints(void **state)
{
    struct th_live_call local = {.external = false};

    (void)state;
    set(session, "f0", "true", TH_BP_GLOBAL);
    alive_call_as(me, 0, th_small(1), &local);
    assert_string_equal(scene_log(), "");
    call(0, 1, TOLD("f0", "1"));
}

static void who_answers_remove_is_gone(void **state)
{
    static const char *const answers[] = {"remove", "banana", "42", "BADARG"};

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        scene_answer("enabled_call", answers[i]);
        call(0, 1, ASKED);
        call(0, 1, "");
        assert_int_equal(th_session_counts(session).removed, i + 1);
        th_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
        scene_forget_answers();
    }
    call(0, 1, TOLD("f0", "1"));
}

static void silence_is_obeyed_after_the_specification(void **state)
{
    (void)state;
    th_session_trace_one(session, me->process.id, true, TH_FLAG_SILENT);
    set(session, "f0", "[{[1],[],[{return_trace}]},{[2],[],[{silent,false}]}]", TH_BP_LOCAL);
    assert_int_equal(call(0, 1, ASKED).count, 0);
    assert_int_equal(th_session_counts(session).silenced, 1);
    call(0, 2, TOLD("f0", "2"));
    assert_false(th_session_flags(session, me->process.id) & TH_FLAG_SILENT);
}

static void flags_say_how_it_looks(void **state)
{
    (void)state;
    me->process.scheduler = 3;
    th_session_trace_one(session, me->process.id, true,
                         TH_FLAG_ARITY | TH_FLAG_SCHEDULER_ID | TH_FLAG_STRICT_MONOTONIC);
    set(session, "f0", "true", TH_BP_LOCAL);
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,1},"
               "#{scheduler_id => 3,timestamp => strict_monotonic}) self\n");
}

/* --- callers --- */

static th_term tell_caller(void *context, th_env *env)
{
    assert_ptr_equal(context, me);
    return th_make_tuple_of(env, th_atom("who"), th_atom("asks"), th_small(0));
}

static void callers_are_known_asked_for_or_unknown(void **state)
{
    static const struct th_match_operations asked = {.caller = tell_caller};
    struct th_caller caller = {TH_CALLER_UNDEFINED, {0}};
    struct th_live_call known = {.external = true, .caller = &caller};

    (void)state;
    set(session, "f0", "[{'_',[],[{message,{caller}}]}]", TH_BP_LOCAL);
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_session_pattern_counts(session).callers_unknown, 1);
    me->process.asked = &asked;
    call(0, 1,
         ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{match_spec_result => {who,asks,0}}) self\n");
    alive_call_as(me, 0, th_small(1), &known);
    assert_string_equal(scene_log(), ASKED "trace_call(call,s," ME
                                           ",{m,f0,[1]},#{match_spec_result => undefined}) self\n");
    assert_int_equal(th_session_pattern_counts(session).callers_unknown, 1);
}

/* --- ends --- */

static void returns_pile_up(void **state)
{
    struct th_live_wants one, two;

    (void)state;
    set(session, NULL, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    one = call(0, 1, TOLD("f0", "1"));
    two = call(1, 2, TOLD("f1", "2"));
    returns(1, &two, "done", ENDED("f1", "done"));
    returns(0, &one, "done", ENDED("f0", "done"));
    returns(0, &one, "done", "");
}

static void exceptions_are_told_to_who_asked(void **state)
{
    struct th_live_wants one, two;

    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    set(session, "f1", "[{'_',[],[{exception_trace}]}]", TH_BP_LOCAL);
    one = call(0, 1, TOLD("f0", "1"));
    two = call(1, 2, TOLD("f1", "2"));
    alive_raise(me, 1, &two, "boom");
    assert_string_equal(scene_log(), RAISED("f1", "boom"));
    alive_raise(me, 0, &one, "boom");
    assert_string_equal(scene_log(), "");
    two = call(1, 2, TOLD("f1", "2"));
    returns(1, &two, "ok", ENDED("f1", "ok"));
}

static void flags_count_when_it_ends(void **state)
{
    struct th_live_wants wants;

    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    wants = call(0, 1, TOLD("f0", "1"));
    th_session_trace_one(session, me->process.id, false, TH_FLAG_CALL);
    returns(0, &wants, "ok", "");
    th_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
    wants = call(0, 1, TOLD("f0", "1"));
    th_session_trace_one(session, me->process.id, true, TH_FLAG_SILENT);
    returns(0, &wants, "ok", ENDED("f0", "ok"));
    assert_int_equal(th_session_counts(session).untraced, 1);
}

static void who_wants_no_call_may_want_its_return(void **state)
{
    struct th_live_wants wants;

    (void)state;
    set(session, "f0", "[{'_',[],[{message,false},{return_trace}]}]", TH_BP_LOCAL);
    wants = call(0, 1, ASKED);
    returns(0, &wants, "ok", ENDED("f0", "ok"));
}

static void control_comes_back(void **state)
{
    struct th_live_wants outer, inner;

    (void)state;
    th_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
    set(session, NULL, "true", TH_BP_LOCAL);
    outer = call(0, 1, TOLD("f0", "1"));
    inner = call(1, 2, TOLD("f1", "2"));
    returns(1, &inner, "ok", "");
    alive_return_to(me, 0);
    assert_string_equal(scene_log(), BACK("f0"));
    alive_return_to(me, 0);
    assert_string_equal(scene_log(), "");
    inner = call(1, 2, TOLD("f1", "2"));
    alive_raise(me, 1, &inner, "boom");
    alive_return_to(me, 0);
    returns(0, &outer, "ok", BACK("f0"));
    th_live_return_to(&me->process, &(struct th_caller){TH_CALLER_UNDEFINED, {0}});
    assert_string_equal(scene_log(), "trace_call(return_to,s," ME ",undefined,#{}) self\n");
}

static void global_breakpoints_tell_no_return_to(void **state)
{
    struct th_live_wants wants;

    (void)state;
    th_session_trace_one(session, me->process.id, true, TH_FLAG_RETURN_TO);
    set(session, "f0", "true", TH_BP_GLOBAL);
    wants = call(0, 1, TOLD("f0", "1"));
    assert_int_equal(wants.count, 0);
}

static void a_later_session_is_not_told_of_what_it_did_not_ask_for(void **state)
{
    struct th_live_wants wants;

    (void)state;
    other = add("t", TH_FLAG_CALL | TH_FLAG_RETURN_TO);
    set(other, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    wants = call(0, 1, TOLD_TO("t", "f0", "1"));
    returns(0, &wants, "ok", ENDED_FOR("t", "f0", "ok"));
    assert_true(th_live_is_returning(&me->process));
    th_session_destroy(other);
    other = add("u", TH_FLAG_CALL | TH_FLAG_RETURN_TO); /* has its index */
    alive_return_to(me, 1);
    assert_string_equal(scene_log(), "");
    wants = call(0, 1, "");
    set(other, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    wants = call(0, 1, TOLD_TO("u", "f0", "1"));
    th_session_destroy(other);
    returns(0, &wants, "ok", "");
}

static void many_sessions_want_one_call(void **state)
{
    enum { MANY = 20 };
    struct th_live_wants wants;
    const char *log;

    (void)state;
    for (int i = 0; i < MANY; i++)
        set(add("t", TH_FLAG_CALL), "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    wants = alive_call(me, 0, th_small(1));
    scene_log();
    assert_int_equal(wants.count, MANY);
    alive_return(me, 0, &wants, "ok");
    log = scene_log();
    for (int i = 0; i < MANY; i++) {
        assert_memory_equal(log, ENDED_FOR("t", "f0", "ok"), strlen(ENDED_FOR("t", "f0", "ok")));
        log += strlen(ENDED_FOR("t", "f0", "ok"));
    }
    wants = alive_call(me, 0, th_small(1));
    assert_int_equal(wants.count, MANY);
    th_live_drop(&me->process, &wants);
    scene_log();
}

/* --- meta --- */

static void meta_is_for_each_process(void **state)
{
    struct th_live_wants wants;

    (void)state;
    th_session_trace_one(session, me->process.id, false, TH_FLAGS_ALL);
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_META);
    wants =
        call(0, 1, ASKED "trace_call(call,s," ME ",{m,f0,[1]},#{timestamp => timestamp}) self\n");
    returns(0, &wants, "ok",
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
    th_session_function_info(session, &alive_functions[0].function.name, &info);
    assert_int_equal(info.calls, 1);
    assert_int_equal(info.time_count, 0);
    th_bp_info_free(&info);
}

/* The tracer goes in a hit; who comes next finds none, and asks for the breakpoint's end. */
static void a_stranger_at_a_meta_breakpoint_without_a_tracer_is_harmless(void **state)
{
    struct th_bp_info info;
    bool there = true;

    (void)state;
    set(session, "f0", "true", TH_BP_META);
    scene_answer("enabled_call", "remove");
    th_progress_enter(); /* what the hit asks for is not done before the stranger comes */
    call(0, 1, ASKED);
    a_stranger();
    th_progress_leave();
    for (int i = 0; i < 1000 && there; i++) {
        th_progress_settle();
        there = th_session_function_info(session, &alive_functions[0].function.name, &info);
        th_bp_info_free(&info);
    }
    assert_false(there);
    assert_string_equal(scene_log(), "");
}

/* --- callbacks that cause events, and that change what is traced --- */

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
        th_session_destroy(other);
    other = NULL;
}

static void destroy_session(void)
{
    if (session)
        th_session_destroy(session);
    session = NULL;
}

static void a_session_destroyed_in_anothers_callback_is_not_called(void **state)
{
    th_session_id id;

    (void)state;
    other = add("t", TH_FLAG_CALL);
    th_session_trace_one(other, me->process.id, true, TH_FLAG_CALL);
    id = th_session_id_of(other);
    set(session, "f0", "true", TH_BP_LOCAL);
    set(other, "f0", "true", TH_BP_LOCAL);
    scene_act("enabled_call", "s", destroy_other);
    call(0, 1, TOLD("f0", "1"));
    while (th_session_state(scene_tracing(), id) != TH_SESSION_DEAD)
        th_progress_settle();
    call(0, 1, TOLD("f0", "1"));
}

static void a_session_destroyed_in_its_own_callback_is_called_no_more(void **state)
{
    (void)state;
    set(session, "f0", "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    scene_act("enabled_call", "s", destroy_session);
    assert_int_equal(call(0, 1, ASKED).count, 0);
    call(0, 1, "");
}

static void set_in_callback(void)
{
    set(session, "f1", "true", TH_BP_LOCAL);
    set(session, "f0", "false", TH_BP_LOCAL);
}

static void patterns_set_in_a_callback_are_soon_in_force(void **state)
{
    struct th_pattern f2 = {th_atom("m"), th_atom("f2"), 1, false};

    (void)state;
    set(session, "f0", "true", TH_BP_LOCAL);
    scene_act("trace_call", "s", set_in_callback);
    call(0, 1, TOLD("f0", "1"));
    th_session_function(session, &f2, TH_AM(true), TH_BP_LOCAL, NULL); /* comes after them */
    call(0, 1, "");
    call(1, 1, TOLD("f1", "1"));
}

/* --- counts --- */

static struct th_bp_usage memory_of(unsigned i)
{
    struct th_bp_usage usage = {0};
    struct th_bp_info info;

    assert_true(th_session_function_info(session, &alive_functions[i].function.name, &info));
    assert_true(info.kinds & TH_BP_MEMORY && info.memory_count <= 1);
    if (info.memory_count)
        usage = info.memory[0];
    th_bp_info_free(&info);
    return usage;
}

static void spend(unsigned i, uint64_t words)
{
    struct th_live_wants wants = alive_call(me, i, th_small(1));

    me->words += words;
    alive_return(me, i, &wants, "ok");
}

static void assert_memory(unsigned i, uint64_t calls, int64_t words)
{
    struct th_bp_usage usage = memory_of(i);

    assert_int_equal(usage.calls, calls);
    assert_int_equal(usage.amount, words);
}

static void call_memory_is_words_by_process(void **state)
{
    struct th_live_wants outer;

    (void)state;
    set(session, "f0", "true", TH_BP_MEMORY);
    set(session, "f1", "true", TH_BP_MEMORY);
    outer = alive_call(me, 0, th_small(1));
    me->words += 10;
    spend(1, 100);
    me->words += 20;
    th_live_pause(&me->process);
    me->words += 1000; /* not its own */
    th_live_resume(&me->process);
    alive_return(me, 0, &outer, "ok");
    assert_memory(0, 1, 30);
    assert_memory(1, 1, 100);
    set(session, "f1", "pause", TH_BP_MEMORY);
    spend(1, 50);
    assert_memory(1, 1, 100);
    set(session, "f1", "restart", TH_BP_MEMORY);
    assert_memory(1, 0, 0);
    spend(1, 5);
    assert_memory(1, 1, 5);
    assert_string_equal(scene_log(), "");
}

static void call_time_is_of_the_real_clock(void **state)
{
    struct th_live_wants wants;
    struct th_bp_info info;
    int64_t before = th_clock_real_monotonic(), spent;

    (void)state;
    set(session, "f0", "true", TH_BP_TIME);
    wants = alive_call(me, 0, th_small(1));
    while (th_clock_real_monotonic() < before + 2000000)
        ;
    alive_return(me, 0, &wants, "ok");
    spent = th_clock_real_monotonic() - before;
    th_session_function_info(session, &alive_functions[0].function.name, &info);
    assert_int_equal(info.time_count, 1);
    assert_true(info.time[0].process == me->process.id && info.time[0].calls == 1);
    assert_in_range(info.time[0].amount, 1, spent);
    th_bp_info_free(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_call_meets_breakpoints),
        TEST(discarding_runs_no_specification),
        TEST(guards_filter),
        TEST(only_external_calls_meet_global_breakpoints),
        TEST(who_answers_remove_is_gone),
        TEST(silence_is_obeyed_after_the_specification),
        TEST(flags_say_how_it_looks),
        TEST(callers_are_known_asked_for_or_unknown),
        TEST(returns_pile_up),
        TEST(exceptions_are_told_to_who_asked),
        TEST(flags_count_when_it_ends),
        TEST(who_wants_no_call_may_want_its_return),
        TEST(control_comes_back),
        TEST(global_breakpoints_tell_no_return_to),
        TEST(a_later_session_is_not_told_of_what_it_did_not_ask_for),
        TEST(many_sessions_want_one_call),
        TEST(meta_is_for_each_process),
        TEST(a_thread_without_a_process_causes_no_event),
        TEST(a_stranger_at_a_meta_breakpoint_without_a_tracer_is_harmless),
        TEST(callbacks_do_not_recurse),
        TEST(a_session_destroyed_in_anothers_callback_is_not_called),
        TEST(a_session_destroyed_in_its_own_callback_is_called_no_more),
        TEST(patterns_set_in_a_callback_are_soon_in_force),
        TEST(call_memory_is_words_by_process),
        TEST(call_time_is_of_the_real_clock),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
