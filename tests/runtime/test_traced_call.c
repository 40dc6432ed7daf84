/* Tests calls that hit breakpoints in export entries, and the ends of these calls. */
#include "host/check/check.h"
#include "host/code/code.h"
#include "tests/runtime/traced.h"

/* --- Calls that are traced -------------------------------------------------------------------- */

static void external_calls_of_all_kinds_hit_breakpoints(void **state)
{
    (void)state;
    set("echo", 1, "[{'_',[],[{message,{caller}}]}]", TH_BP_GLOBAL);
    assert_string_equal(call("echo", "[1]"), "1");
    assert_log("call {party,echo,[1]} undefined\n");
    assert_string_equal(call("call", "[party,echo,[2]]"), "2");
    assert_log("call {party,echo,[2]} {party,call,3}\n");
    assert_string_equal(call("tail", "[party,echo,[3]]"), "3");
    assert_log("call {party,echo,[3]} undefined\n");
    assert_string_equal(call("call", "[party,tail,[party,echo,[4]]]"), "4");
    assert_log("call {party,echo,[4]} {party,call,3}\n");
    assert_string_equal(call("then", "[0,party,echo,[5],k]"), "{result,5,k}");
    assert_log("call {party,echo,[5]} {party,then,5}\n");
    assert_string_equal(call("then", "[0,party,call,[party,tail,[party,echo,[6]]],k]"),
                        "{result,6,k}");
    assert_log("call {party,echo,[6]} {party,call,3}\n");
    assert_string_equal(call("call_dirty", "[party,echo,[7]]"), "7");
    assert_log("call {party,echo,[7]} {party,call_dirty,3}\n");
    assert_string_equal(call("exported", "[party,echo,[{8}]]"), "{8}");
    assert_log("call {party,echo,[{8}]} {party,exported,3}\n");
}

static void functions_that_are_not_called_hit_no_breakpoint(void **state)
{
    (void)state;
    set(NULL, TH_ANY_ARITY, "true", TH_BP_GLOBAL);
    set("call", 3, "false", TH_BP_GLOBAL);
    set("local", 1, "false", TH_BP_GLOBAL);
    assert_string_equal(call("call", "[party,dirty,[]]"), "error: nested_dirty");
    assert_string_equal(call("call", "[party,nowhere,[]]"), "error: undef");
    assert_string_equal(call("local", "[1]"), "5"); /* calls C functions */
    assert_log("");
    assert_null(
        th_runtime_call_nested(&env, th_atom("party"), th_atom("echo"), 1, &env.self, NULL));
    env.exception = TH_NONE;
    assert_log("");
    assert_int_equal(th_live_counts(scene_tracing()).strangers, 0);
}

static void stacks_contain_the_waiting_functions(void **state)
{
    (void)state;
    set("echo", 1, "[{'_',[],[{message,{current_stacktrace}}]}]", TH_BP_GLOBAL);
    call("then", "[0,party,call,[party,then,[0,party,tail,[party,echo,[1]],k]],l]");
    assert_log("call {party,echo,[1]} [{party,then,5,[]},{party,call,3,[]},{party,then,5,[]}]\n");
    call("echo", "[2]");
    assert_log("call {party,echo,[2]} []\n");
    set("echo", 1, "[{'_',[],[{message,{current_stacktrace,1}}]}]", TH_BP_GLOBAL);
    call("call", "[party,call,[party,echo,[3]]]");
    assert_log("call {party,echo,[3]} [{party,call,3,[]}]\n");
}

/* --- Returns --------------------------------------------------------------------------------- */

static void a_call_returns_once_with_the_final_value(void **state)
{
    (void)state;
    set(NULL, TH_ANY_ARITY, RETURNS, TH_BP_GLOBAL);
    call("yields", "[3,{r}]");
    assert_log("call {party,yields,[3,{r}]}\nreturn_from {party,yields,2} {r}\n");
    call("call", "[party,yields,[2,r]]");
    assert_log("call {party,call,[party,yields,[2,r]]}\ncall {party,yields,[2,r]}\n"
               "return_from {party,yields,2} r\nreturn_from {party,call,3} r\n");
    call("goes_dirty", "[]");
    assert_log("call {party,goes_dirty,[]}\nreturn_from {party,goes_dirty,0} 2\n");
    call("dirty", "[]");
    assert_log("call {party,dirty,[]}\nreturn_from {party,dirty,0} 2\n");
    call("await", "[1]");
    assert_log("call {party,await,[1]}\nreturn_from {party,await,1} timeout\n");
}

static void a_tail_calling_function_returns_with_its_callee(void **state)
{
    (void)state;
    set("loop", 1, RETURNS, TH_BP_GLOBAL);
    set("tail", 3, RETURNS, TH_BP_GLOBAL);
    set("call", 3, RETURNS, TH_BP_GLOBAL);
    call("loop", "[2]");
    assert_log("call {party,loop,[2]}\ncall {party,loop,[1]}\ncall {party,loop,[0]}\n"
               "return_from {party,loop,1} done\nreturn_from {party,loop,1} done\n"
               "return_from {party,loop,1} done\n");
    call("tail", "[party,call,[party,tail,[party,echo,[1]]]]");
    assert_log("call {party,tail,[party,call,[party,tail,[party,echo,[1]]]]}\n"
               "call {party,call,[party,tail,[party,echo,[1]]]}\n"
               "call {party,tail,[party,echo,[1]]}\n"
               "return_from {party,tail,3} 1\n"
               "return_from {party,call,3} 1\nreturn_from {party,tail,3} 1\n");
}

static void a_waiting_function_returns_after_its_callee(void **state)
{
    (void)state;
    set("then", 5, RETURNS, TH_BP_GLOBAL);
    set("deep", 1, RETURNS, TH_BP_GLOBAL);
    call("then", "[0,party,deep,[1],k]");
    assert_log("call {party,then,[0,party,deep,[1],k]}\n"
               "call {party,deep,[1]}\ncall {party,deep,[0]}\n"
               "return_from {party,deep,1} 0\nreturn_from {party,deep,1} 1\n"
               "return_from {party,then,5} {result,1,k}\n");
}

/* --- Exceptions ------------------------------------------------------------------------------ */

static void an_exception_passes_frames_up_to_the_catching_function(void **state)
{
    (void)state;
    set(NULL, TH_ANY_ARITY, EXCEPTIONS, TH_BP_GLOBAL);
    call("catches", "[party,call,[party,fails,[a]]]");
    assert_log("call {party,catches,[party,call,[party,fails,[a]]]}\n"
               "call {party,call,[party,fails,[a]]}\ncall {party,fails,[a]}\n"
               "exception_from {party,fails,1} {error,a}\n"
               "exception_from {party,call,3} {error,a}\n"
               "return_from {party,catches,3} {error,a,[{party,fails,[a],[]},{party,call,3,[]},"
               "{party,catches,3,[]}]}\n");
    call("then", "[1,party,then,[0,party,tail,[party,exits,[b]],k],l]");
    assert_log("call {party,then,[1,party,then,[0,party,tail,[party,exits,[b]],k],l]}\n"
               "call {party,then,[0,party,tail,[party,exits,[b]],k]}\n"
               "call {party,tail,[party,exits,[b]]}\ncall {party,exits,[b]}\n"
               "exception_from {party,exits,1} {exit,b}\n"
               "exception_from {party,tail,3} {exit,b}\n"
               "exception_from {party,then,5} {exit,b}\n"
               "return_from {party,then,5} {exit,b,[{party,exits,[b],[]},{party,then,5,[]},"
               "{party,then,5,[]}],l}\n");
    call("throws", "[c]");
    assert_log("call {party,throws,[c]}\nexception_from {party,throws,1} {throw,c}\n");
    call("tail", "[party,nowhere,[]]");
    assert_log("call {party,tail,[party,nowhere,[]]}\n"
               "exception_from {party,tail,3} {error,undef}\n");
}

static void return_trace_reports_no_exceptions(void **state)
{
    (void)state;
    set(NULL, TH_ANY_ARITY, RETURNS, TH_BP_GLOBAL);
    call("then", "[1,party,then,[0,party,fails,[a],k],l]");
    assert_log("call {party,then,[1,party,then,[0,party,fails,[a],k],l]}\n"
               "call {party,then,[0,party,fails,[a],k]}\ncall {party,fails,[a]}\n"
               "return_from {party,then,5} {error,a,[{party,fails,[a],[]},{party,then,5,[]},"
               "{party,then,5,[]}],l}\n");
    call("drops", "[b]");
    assert_log("call {party,drops,[b]}\ncall {party,fails,[b]}\nreturn_from {party,drops,1} b\n");
}

/* --- Processes ------------------------------------------------------------------------------- */

/* Traces new processes instead of `process`, so that only one thread at a time notes events. */
static void trace_those_to_come(void)
{
    th_trace_session_trace_one(session, th_runtime_run_pid(process), false, TH_FLAG_CALL);
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, TH_FLAG_CALL);
}

/* Waits for the end of a process that `process` monitors; its events have been noted then. */
static void await_end(void)
{
    assert_non_null(strstr(call("await", "[10000]"), "'DOWN'"));
}

static void a_process_begins_with_a_call_and_can_end_by_an_exception(void **state)
{
    (void)state;
    trace_those_to_come();
    set(NULL, TH_ANY_ARITY, "[{'_',[],[{message,{caller}},{exception_trace}]}]", TH_BP_GLOBAL);
    free(callbacks());
    call("spawn", "[party,call,[party,fails,[a]],2]"); /* with a monitor */
    await_end();
    assert_log("call {party,call,[party,fails,[a]]} undefined\n"
               "call {party,fails,[a]} {party,call,3}\n"
               "exception_from {party,fails,1} {error,a}\n"
               "exception_from {party,call,3} {error,a}\n");
}

static void a_killed_process_returns_from_no_function(void **state)
{
    char *pid;

    (void)state;
    trace_those_to_come();
    set("then", 5, EXCEPTIONS, TH_BP_GLOBAL);
    free(callbacks());
    pid = strdup(call("spawn", "[party,then,[0,party,server,[],k],0]"));
    call("ping", "[%s,1]", pid); /* an answer proves that the process waits */
    call("monitor", "[%s]", pid);
    call("signal", "[%s,kill]", pid);
    await_end();
    assert_log("call {party,then,[0,party,server,[],k]}\n");
    free(pid);
}

/* The end of a process comes after those of its calls. */
static void the_exit_event_comes_after_the_exception(void **state)
{
    char *log;

    (void)state;
    th_trace_session_trace_one(session, th_runtime_run_pid(process), false, TH_FLAG_CALL);
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, TH_FLAG_CALL | TH_FLAG_PROCS);
    set("fails", 1, EXCEPTIONS, TH_BP_GLOBAL);
    call("spawn", "[party,fails,[a],2]");
    await_end();
    log = callbacks();
    assert_non_null(strstr(log, "exception_from"));
    assert_non_null(strstr(strstr(log, "exception_from"), "trace_procs(exit,s,"));
    free(log);
}

static void a_destroyed_session_gets_no_returns(void **state)
{
    char *pid;

    (void)state;
    trace_those_to_come();
    set("then", 5, RETURNS, TH_BP_GLOBAL);
    pid = strdup(call("spawn", "[party,then,[0,party,server,[],k],2]"));
    *strchr(pid, ',') = '\0';
    call("ping", "[%s,1]", pid + 1);
    th_trace_session_destroy(session);
    free(callbacks());
    call("sends", "[%s,[stop]]", pid + 1);
    await_end();
    assert_callbacks("");
    free(pid);
}

/* --- Counts, meta ---------------------------------------------------------------------------- */

static void calls_are_counted(void **state)
{
    struct th_bp_info info;

    (void)state;
    set("loop", 1, "true", TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY);
    call("call", "[party,loop,[99]]");
    assert_log("");
    assert_true(th_trace_session_function_info(
        session, &(struct th_mfa){th_atom("party"), th_atom("loop"), 1}, &info));
    assert_int_equal(info.calls, 100);
    assert_int_equal(info.time_count, 1);
    assert_term_equal(info.time[0].process, th_runtime_run_pid(process));
    assert_int_equal(info.time[0].calls, 100);
    assert_order(info.time[0].amount, >, 0);
    assert_int_equal(info.memory_count, 1);
    assert_int_equal(info.memory[0].calls, 100);
    assert_order(info.memory[0].amount, >=, 99 * 5); /* a tuple of four elements each */
    th_breakpoint_info_free(&info);
}

/* Asserts that party:NAME has made WORDS words in CALLS calls. */
static void assert_memory(const char *name, int arity, uint64_t calls, int64_t words)
{
    struct th_mfa mfa = {th_atom("party"), th_atom(name), (unsigned)arity};
    struct th_bp_info info;

    assert_true(th_trace_session_function_info(session, &mfa, &info));
    assert_int_equal(info.memory_count, 1);
    assert_int_equal(info.memory[0].calls, calls);
    assert_int_equal(info.memory[0].amount, words);
    th_breakpoint_info_free(&info);
}

/* Nested calls; the outer ones begin in a heap that is larger than all that `loop` makes. */
static void call_nested_loop(void)
{
    set("call", 3, "true", TH_BP_MEMORY);
    set("loop", 1, "true", TH_BP_MEMORY);
    call("call", "[party,call,[party,loop,[3]]]");
}

static void words_are_charged_to_the_function_that_builds_them(void **state)
{
    (void)state;
    call_nested_loop();
    assert_memory("call", 3, 2, 0);
    assert_memory("loop", 1, 4, 3 * (5 + 1)); /* tuples of four elements, and arguments */
}

static int begin_checked(void **state)
{
    th_check_start();
    return begin(state);
}

static int end_checked(void **state)
{
    end(state);
    return th_check_end() != 0;
}

/* While the checker is on, the arguments of a nested call are first copied in the caller. */
static void the_checker_changes_no_charge_but_for_arguments(void **state)
{
    (void)state;
    call_nested_loop();
    assert_memory("call", 3, 2, 3 + 1);
    assert_memory("loop", 1, 4, 3 * (5 + 1));
}

static void meta_breakpoints_trace_untraced_processes(void **state)
{
    (void)state;
    th_trace_session_trace_one(session, th_runtime_run_pid(process), false, TH_FLAG_CALL);
    set("echo", 1, RETURNS, TH_BP_META);
    call("call", "[party,echo,[1]]");
    assert_callbacks("enabled_call(call,s,P)\n"
                     "trace_call(call,s,P,{party,echo,[1]},#{timestamp => timestamp}) self\n"
                     "trace_call(return_from,s,P,{party,echo,1},"
                     "#{extra => 1,timestamp => timestamp}) self\n");
}

static void a_discarded_call_still_runs(void **state)
{
    (void)state;
    set("echo", 1, RETURNS, TH_BP_GLOBAL);
    scene_answer("enabled_call", "discard");
    assert_string_equal(call("call", "[party,echo,[1]]"), "1");
    assert_callbacks("enabled_call(call,s,P)\n");
}

/* --- Modules that come and go ---------------------------------------------------------------- */

/* The last test, as this setting is final. */
static void without_a_replay_only_loaded_functions_match(void **state)
{
    const struct th_pattern nowhere = {th_atom("party"), th_atom("nowhere"), 1, false};
    const struct th_pattern echo = {th_atom("party"), th_atom("echo"), 1, false};
    size_t matched;

    (void)state;
    th_trace_replay_nothing(scene_tracing());
    assert_int_equal(
        th_trace_session_function(session, &nowhere, TH_AM(true), TH_BP_GLOBAL, &matched), TH_OK);
    assert_int_equal(matched, 0);
    assert_int_equal(th_trace_session_function(session, &echo, TH_AM(true), TH_BP_GLOBAL, &matched),
                     TH_OK);
    assert_int_equal(matched, 1);
    call("echo", "[1]");
    assert_log("call {party,echo,[1]}\n");
}

static void breakpoints_are_removed_with_their_module(void **state)
{
    struct th_export *echo = th_code_export_find(th_atom("party"), th_atom("echo"), 1);
    struct th_pattern to_come = {th_atom("party"), th_atom("echo"), 1, true};

    (void)state;
    set("echo", 1, "true", TH_BP_GLOBAL);
    assert_true(th_code_export_word(echo) & TH_EXPORT_ARMED);
    th_code_module_remove(party);
    assert_int_equal(th_code_export_word(echo), 0);
    th_code_module_add(party);
    assert_string_equal(call("echo", "[1]"), "1");
    assert_log("");
    assert_int_equal(th_trace_session_function(session, &to_come, TH_AM(true), TH_BP_GLOBAL, NULL),
                     TH_OK);
    call("echo", "[2]");
    assert_log("");
    th_code_module_remove(party);
    th_code_module_add(party);
    call("echo", "[3]");
    assert_log("call {party,echo,[3]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(external_calls_of_all_kinds_hit_breakpoints),
        TEST(functions_that_are_not_called_hit_no_breakpoint),
        TEST(stacks_contain_the_waiting_functions),
        TEST(a_call_returns_once_with_the_final_value),
        TEST(a_tail_calling_function_returns_with_its_callee),
        TEST(a_waiting_function_returns_after_its_callee),
        TEST(an_exception_passes_frames_up_to_the_catching_function),
        TEST(return_trace_reports_no_exceptions),
        TEST(a_process_begins_with_a_call_and_can_end_by_an_exception),
        TEST(a_killed_process_returns_from_no_function),
        TEST(the_exit_event_comes_after_the_exception),
        TEST(a_destroyed_session_gets_no_returns),
        TEST(calls_are_counted),
        TEST(words_are_charged_to_the_function_that_builds_them),
        cmocka_unit_test_setup_teardown(the_checker_changes_no_charge_but_for_arguments,
                                        begin_checked, end_checked),
        TEST(meta_breakpoints_trace_untraced_processes),
        TEST(a_discarded_call_still_runs),
        TEST(breakpoints_are_removed_with_their_module),
        TEST(without_a_replay_only_loaded_functions_match),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
