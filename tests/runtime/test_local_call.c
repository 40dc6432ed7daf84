/* Tests local calls that hit breakpoints in machine code: their callers and their ends. */
#include "tests/runtime/locals.h"

/* --- Calls that are traced -------------------------------------------------------------------- */

static void all_forms_of_functions_hit_breakpoints(void **state)
{
    const char *result = "[none,1,{1,2},{1,2,3},{1,2,3,4},{1,2,3,4,5},{1,2},1,1]";

    (void)state;
    assert_string_equal(local("forms", "[1,2,3,4,5]"), result);
    assert_log("");
    set_local(NULL, CALLERS);
    assert_string_equal(local("forms", "[1,2,3,4,5]"), result);
    assert_log("call {locals,forms,[1,2,3,4,5]} {party,call,3}\n"
               "call {locals,none,[]} {locals,forms,5}\n"
               "call {locals,same,[1]} {locals,forms,5}\n"
               "call {locals,two,[1,2]} {locals,forms,5}\n"
               "call {locals,three,[1,2,3]} {locals,forms,5}\n"
               "call {locals,four,[1,2,3,4]} {locals,forms,5}\n"
               "call {locals,five,[1,2,3,4,5]} {locals,forms,5}\n"
               "call {locals,pair,[1,2]} {locals,forms,5}\n"
               "call {locals,single,[1]} {locals,forms,5}\n");
    assert_int_equal(th_runtime_no_calls(), 1);
    set_local(NULL, RETURNS);
    assert_string_equal(local("forms", "[1,2,3,4,5]"), result);
    assert_log("call {locals,forms,[1,2,3,4,5]}\n"
               "call {locals,none,[]}\nreturn_from {locals,none,0} none\n"
               "call {locals,same,[1]}\nreturn_from {locals,same,1} 1\n"
               "call {locals,two,[1,2]}\nreturn_from {locals,two,2} {1,2}\n"
               "call {locals,three,[1,2,3]}\nreturn_from {locals,three,3} {1,2,3}\n"
               "call {locals,four,[1,2,3,4]}\nreturn_from {locals,four,4} {1,2,3,4}\n"
               "call {locals,five,[1,2,3,4,5]}\nreturn_from {locals,five,5} {1,2,3,4,5}\n"
               "call {locals,pair,[1,2]}\nreturn_from {locals,pair,2} {1,2}\n"
               "call {locals,single,[1]}\nreturn_from {locals,single,1} 1\n"
               "return_from {locals,forms,5} "
               "[none,1,{1,2},{1,2,3},{1,2,3,4},{1,2,3,4,5},{1,2},1,1]\n");
    set_local(NULL, "false");
    assert_string_equal(local("forms", "[1,2,3,4,5]"), result);
    assert_log("");
}

/* Two functions share their code. */
static void an_external_call_reports_the_function_that_it_names(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    local("twin", "[1,2]");
    assert_log("call {locals,twin,[1,2]}\nreturn_from {locals,twin,2} {1,2}\n");
    local("pair", "[1,2]");
    assert_log("call {locals,pair,[1,2]}\nreturn_from {locals,pair,2} {1,2}\n");
    set_local("twin", "false");
    local("twin", "[1,2]");
    assert_log("");
}

/* Only external calls hit global breakpoints, before the local ones of other sessions. */
static void an_external_call_hits_global_and_local_breakpoints(void **state)
{
    struct th_session *other = scene_create("t"), *first = session;

    (void)state;
    th_trace_session_trace_one(other, th_runtime_run_pid(process), true, TH_FLAG_CALL);
    session = other;
    assert_int_equal(try_in("locals", NULL, TH_ANY_ARITY, RETURNS, TH_BP_GLOBAL), TH_OK);
    session = first;
    set_local("ends", RETURNS);
    free(callbacks());
    local("ends", "[1]");
    assert_callbacks("enabled_call(call,t,P)\n"
                     "trace_call(call,t,P,{locals,ends,[1]},#{}) self\n"
                     "enabled_call(call,s,P)\n"
                     "trace_call(call,s,P,{locals,ends,[1]},#{}) self\n"
                     "trace_call(return_from,s,P,{locals,ends,1},#{extra => 1}) self\n"
                     "trace_call(return_from,t,P,{locals,ends,1},#{extra => 1}) self\n");
}

static void a_continuation_is_no_call(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    assert_string_equal(local("again", "[2]"), "done");
    assert_log("call {locals,again,[2]}\n"
               "call {locals,same,[2]}\nreturn_from {locals,same,1} 2\n"
               "call {locals,same,[1]}\nreturn_from {locals,same,1} 1\n"
               "call {locals,same,[0]}\nreturn_from {locals,same,1} 0\n"
               "return_from {locals,again,1} done\n");
    assert_string_equal(call("then", "[0,locals,again,[0],k]"), "{result,done,k}");
    assert_log("call {locals,again,[0]}\n"
               "call {locals,same,[0]}\nreturn_from {locals,same,1} 0\n"
               "return_from {locals,again,1} done\n");
}

/* --- Facts in callbacks ----------------------------------------------------------------------- */

static struct th_buffer facts;

/* Adds the event of the callback, and what is known only of a call: whether the call is external. */
static void note_facts(void)
{
    struct th_event *event = th_trace_callback_event();
    th_term tuple;
    th_env own;

    assert_non_null(event);
    th_env_init(&own, TH_ENV_PLAIN);
    assert_int_equal(event->source->whole(event, &own, &tuple), TH_OK);
    th_text_show(&facts, tuple);
    th_buffer_add_text(&facts, th_trace_callback_external() == TH_UNKNOWN ? "\n" : " call\n");
    th_env_release(&own);
}

/* From the second call of a thread on, the request is kept, and the return is sent, in the shortest
 * way. */
static void a_callback_knows_the_event_that_it_is_about(void **state)
{
    char *noted;

    (void)state;
    set_local("deep", RETURNS);
    scene_act("trace_call", "s", note_facts);
    local("depth", "[2]");
    noted = strdup(th_buffer_text(&facts));
    th_buffer_free(&facts);
    replace(noted, show("", th_runtime_run_pid(process)), "P");
    assert_string_equal(noted, "{trace,P,call,{locals,deep,[2]}} call\n"
                               "{trace,P,call,{locals,deep,[1]}} call\n"
                               "{trace,P,call,{locals,deep,[0]}} call\n"
                               "{trace,P,return_from,{locals,deep,1},0}\n"
                               "{trace,P,return_from,{locals,deep,1},1}\n"
                               "{trace,P,return_from,{locals,deep,1},2}\n");
    free(noted);
}

/* --- Callers ---------------------------------------------------------------------------------- */

static void stacks_contain_the_waiting_callers(void **state)
{
    (void)state;
    set_local("same", STACKS);
    set_local("ends", STACKS);
    local("calling", "[locals,calling,[locals,ends,[x]]]");
    assert_log("call {locals,ends,[x]} [{locals,calls,3,[]},{locals,calling,3,[]},"
               "{locals,calls,3,[]},{locals,calling,3,[]},{party,call,3,[]}]\n");
    local("then", "[locals,calling,[locals,again,[0]]]");
    assert_log("call {locals,same,[0]} [{locals,again,1,[]},{locals,calls,3,[]},"
               "{locals,calling,3,[]},{locals,then,3,[]},{party,call,3,[]}]\n"
               "call {locals,same,[done]} [{locals,then,3,[]},{party,call,3,[]}]\n");
    set_local("deep", STACKS);
    local("depth", "[1]");
    assert_log("call {locals,deep,[1]} [{locals,depth,1,[]},{party,call,3,[]}]\n"
               "call {locals,deep,[0]} [{locals,deep,1,[]},{locals,depth,1,[]},"
               "{party,call,3,[]}]\n");
}

static void external_calls_report_local_callers(void **state)
{
    (void)state;
    set("echo", 1, CALLERS, TH_BP_GLOBAL);
    local("calling", "[party,echo,[1]]");
    assert_log("call {party,echo,[1]} {locals,calls,3}\n");
    set("echo", 1, CALLERS, TH_BP_LOCAL);
    local("calling", "[party,echo,[2]]");
    assert_log("call {party,echo,[2]} {locals,calls,3}\n");
}

static void a_function_that_ended_with_a_jump_is_no_caller(void **state)
{
    (void)state;
    set_local("loop", STACKS);
    local("loops", "[1]");
    assert_log("call {locals,loop,[1]} [{locals,loops,1,[]},{party,call,3,[]}]\n"
               "call {locals,loop,[0]} [{locals,loops,1,[]},{party,call,3,[]}]\n");
    local("jumps", "[1]");
    assert_log("call {locals,loop,[1]} [{party,call,3,[]}]\n"
               "call {locals,loop,[0]} [{party,call,3,[]}]\n");
    local("wrapped", "[0]");
    assert_log("call {locals,loop,[0]} [{locals,wraps,1,[]},{locals,wrapped,1,[]},"
               "{party,call,3,[]}]\n");
}

/* --- Ends of calls ---------------------------------------------------------------------------- */

static void a_jumping_caller_returns_with_its_callee(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    local("loops", "[1]");
    assert_log("call {locals,loops,[1]}\ncall {locals,loop,[1]}\ncall {locals,loop,[0]}\n"
               "return_from {locals,loop,1} done\nreturn_from {locals,loop,1} done\n"
               "return_from {locals,loops,1} done\n");
    local("jumps", "[1]");
    assert_log("call {locals,jumps,[1]}\ncall {locals,loop,[1]}\ncall {locals,loop,[0]}\n"
               "return_from {locals,loop,1} done\nreturn_from {locals,loop,1} done\n"
               "return_from {locals,jumps,1} done\n");
    local("wrapped", "[1]");
    assert_log("call {locals,wrapped,[1]}\ncall {locals,wraps,[1]}\n"
               "call {locals,loop,[1]}\ncall {locals,loop,[0]}\n"
               "return_from {locals,loop,1} done\nreturn_from {locals,loop,1} done\n"
               "return_from {locals,wraps,1} {done}\nreturn_from {locals,wrapped,1} {done}\n");
}

static void a_function_that_schedules_returns_after_its_successor(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    assert_string_equal(local("later", "[0,x]"), "x");
    assert_log("call {locals,later,[0,x]}\ncall {locals,yields,[x]}\n"
               "return_from {locals,yields,1} x\nreturn_from {locals,later,2} x\n");
    assert_string_equal(local("later", "[1,x]"), "x");
    assert_log("call {locals,later,[1,x]}\ncall {locals,tails,[x]}\ncall {locals,ends,[x]}\n"
               "return_from {locals,ends,1} x\n"
               "return_from {locals,tails,1} x\nreturn_from {locals,later,2} x\n");
    assert_string_equal(local("not_later", "[x]"), "x");
    assert_log("call {locals,not_later,[x]}\ncall {locals,yields,[x]}\n"
               "call {locals,same,[x]}\nreturn_from {locals,same,1} x\n"
               "return_from {locals,yields,1} x\nreturn_from {locals,not_later,1} x\n");
    set_local(NULL, EXCEPTIONS);
    assert_string_equal(local("later", "[2,x]"), "error: badarg");
    assert_log("call {locals,later,[2,x]}\ncall {locals,says_nothing,[]}\n"
               "exception_from {locals,says_nothing,0} {error,badarg}\n"
               "exception_from {locals,later,2} {error,badarg}\n");
    assert_int_equal(th_runtime_calls_left(), 0);
}

static void local_and_nested_calls_end_in_order(void **state)
{
    (void)state;
    set_local(NULL, RETURNS);
    set("call", 3, RETURNS, TH_BP_GLOBAL);
    local("calling", "[party,call,[locals,calling,[locals,loops,[0]]]]");
    assert_log("call {party,call,[locals,calling,[party,call,[locals,calling,[locals,loops,[0]]]]]}"
               "\ncall {locals,calling,[party,call,[locals,calling,[locals,loops,[0]]]]}\n"
               "call {locals,calls,[party,call,[locals,calling,[locals,loops,[0]]]]}\n"
               "call {party,call,[locals,calling,[locals,loops,[0]]]}\n"
               "call {locals,calling,[locals,loops,[0]]}\ncall {locals,calls,[locals,loops,[0]]}\n"
               "call {locals,loops,[0]}\ncall {locals,loop,[0]}\n"
               "return_from {locals,loop,1} done\nreturn_from {locals,loops,1} done\n"
               "return_from {locals,calls,3} done\nreturn_from {locals,calling,3} done\n"
               "return_from {party,call,3} done\nreturn_from {locals,calls,3} done\n"
               "return_from {locals,calling,3} done\nreturn_from {party,call,3} done\n");
}

static void an_exception_passes_local_and_external_frames(void **state)
{
    (void)state;
    set_local(NULL, EXCEPTIONS);
    assert_string_equal(local("fail", "[a]"), "error: a");
    assert_log("call {locals,fail,[a]}\ncall {locals,fails_below,[a]}\ncall {locals,fails,[a]}\n"
               "exception_from {locals,fails,1} {error,a}\n"
               "exception_from {locals,fails_below,1} {error,a}\n"
               "exception_from {locals,fail,1} {error,a}\n");
    assert_string_equal(local("catching", "[locals,calling,[locals,fail,[b]]]"),
                        "{caught,error,b}");
    assert_log("call {locals,catching,[locals,calling,[locals,fail,[b]]]}\n"
               "call {locals,catches,[locals,calling,[locals,fail,[b]]]}\n"
               "call {locals,calls,[locals,calling,[locals,fail,[b]]]}\n"
               "call {locals,calling,[locals,fail,[b]]}\ncall {locals,calls,[locals,fail,[b]]}\n"
               "call {locals,fail,[b]}\ncall {locals,fails_below,[b]}\ncall {locals,fails,[b]}\n"
               "exception_from {locals,fails,1} {error,b}\n"
               "exception_from {locals,fails_below,1} {error,b}\n"
               "exception_from {locals,fail,1} {error,b}\n"
               "exception_from {locals,calls,3} {error,b}\n"
               "exception_from {locals,calling,3} {error,b}\n"
               "exception_from {locals,calls,3} {error,b}\n"
               "return_from {locals,catches,3} {caught,error,b}\n"
               "return_from {locals,catching,3} {caught,error,b}\n");
    assert_string_equal(local("dropping", "[locals,fail,[c]]"), "dropped");
    free(callbacks());
    set_local(NULL, RETURNS);
    local("catching", "[locals,fail,[b]]");
    assert_log("call {locals,catching,[locals,fail,[b]]}\n"
               "call {locals,catches,[locals,fail,[b]]}\ncall {locals,calls,[locals,fail,[b]]}\n"
               "call {locals,fail,[b]}\ncall {locals,fails_below,[b]}\ncall {locals,fails,[b]}\n"
               "return_from {locals,catches,3} {caught,error,b}\n"
               "return_from {locals,catching,3} {caught,error,b}\n");
}

/* --- longjmp() ------------------------------------------------------------------------------- */

static void frames_left_by_longjmp_are_dropped(void **state)
{
    (void)state;
    set_local(NULL, EXCEPTIONS);
    assert_string_equal(local("leap", "[2,1,1]"), "done");
    assert_log("call {locals,leap,[2,1,1]}\ncall {locals,leaps,[1]}\ncall {locals,leaps,[0]}\n"
               "call {locals,same,[landed]}\nreturn_from {locals,same,1} landed\n"
               "call {locals,leaps,[1]}\ncall {locals,leaps,[0]}\n"
               "call {locals,same,[landed]}\nreturn_from {locals,same,1} landed\n"
               "return_from {locals,leap,3} done\n");
    assert_int_equal(th_runtime_calls_left(), 4);
    local("leap", "[3,2,0]");
    assert_int_equal(th_runtime_calls_left(), 4 + 9);
    assert_int_equal(th_runtime_calls_not_kept(), 0);
}

enum { ROOM = 8 }; /* for open calls */

static int begin_small(void **state)
{
    (void)state;
    begin_with(ROOM);
    locals = add_module("gcc-O2", "locals");
    return 0;
}

static void frames_left_by_longjmp_take_no_room(void **state)
{
    (void)state;
    set_local("leaps", EXCEPTIONS);
    assert_string_equal(local("leap", "[%d,0,0]", 10 * ROOM), "done");
    assert_int_equal(th_runtime_calls_left(), 10 * ROOM);
    assert_int_equal(th_runtime_calls_not_kept(), 0);
}

/* --- Counters --------------------------------------------------------------------------------- */

static uint64_t counted(const char *function, unsigned arity, uint32_t kinds)
{
    struct th_mfa name = {th_atom("locals"), th_atom(function), arity};
    struct th_bp_info info;
    uint64_t count;

    assert_true(th_trace_session_function_info(session, &name, &info));
    count = kinds == TH_BP_COUNT ? info.calls : info.time_count ? info.time[0].calls : 0;
    th_breakpoint_info_free(&info);
    return count;
}

static void calls_are_counted_and_timed(void **state)
{
    (void)state;
    assert_int_equal(try_in("locals", NULL, TH_ANY_ARITY, "true", TH_BP_COUNT), TH_OK);
    assert_int_equal(try_in("locals", NULL, TH_ANY_ARITY, "true", TH_BP_TIME), TH_OK);
    local("depth", "[99]");
    local("loops", "[99]");
    assert_int_equal(counted("deep", 1, TH_BP_COUNT), 100);
    assert_int_equal(counted("deep", 1, TH_BP_TIME), 100);
    assert_int_equal(counted("depth", 1, TH_BP_TIME), 1);
    assert_int_equal(counted("loop", 1, TH_BP_COUNT), 100);
    assert_int_equal(counted("loop", 1, TH_BP_TIME), 100);
    assert_log("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_locals, end_locals)
        TEST(all_forms_of_functions_hit_breakpoints),
        TEST(an_external_call_reports_the_function_that_it_names),
        TEST(an_external_call_hits_global_and_local_breakpoints),
        TEST(a_continuation_is_no_call),
        TEST(a_callback_knows_the_event_that_it_is_about),
        TEST(stacks_contain_the_waiting_callers),
        TEST(external_calls_report_local_callers),
        TEST(a_function_that_ended_with_a_jump_is_no_caller),
        TEST(a_jumping_caller_returns_with_its_callee),
        TEST(a_function_that_schedules_returns_after_its_successor),
        TEST(local_and_nested_calls_end_in_order),
        TEST(an_exception_passes_local_and_external_frames),
        TEST(frames_left_by_longjmp_are_dropped),
        cmocka_unit_test_setup_teardown(frames_left_by_longjmp_take_no_room, begin_small,
                                        end_locals),
        TEST(calls_are_counted_and_timed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
