/* Tests the operations that match specifications need from the host, and their actions. Each
 * operation notes its call. */
#include "matching.h"

#include <pthread.h>

static struct th_buffer journal;
static th_term flags_answer = TH_AM(true);

static void note(const char *operation, const th_term *terms, size_t count)
{
    th_buffer_printf(&journal, "%s%s(", journal.size ? " " : "", operation);
    for (size_t i = 0; i < count; i++) {
        th_buffer_add_text(&journal, i ? "," : "");
        if (terms[i] == TH_NONE)
            th_buffer_add_text(&journal, "itself");
        else
            th_text_print(&journal, terms[i]);
    }
    th_buffer_add_byte(&journal, ')');
}

static th_term self(void *context)
{
    return *(th_term *)context;
}

static th_term node(void *context)
{
    (void)context;
    return th_atom("here@home");
}

static th_term caller(void *context, th_env *to)
{
    (void)context;
    return th_make_tuple_of(to, th_atom("m"), th_atom("f"), th_small(1));
}

static th_term caller_line(void *context, th_env *to)
{
    (void)context;
    return th_make_tuple_of(to, th_atom("m"), th_atom("f"), th_small(1), TH_AM(undefined));
}

static th_term stack(void *context, th_env *to, size_t depth)
{
    th_term list = TH_NIL;

    for (size_t i = 0; i < depth && i < 5; i++)
        list = th_make_cons(to, caller(context, to), list);
    return list;
}

static th_term is_seq_trace(void *context)
{
    (void)context;
    return TH_AM(true);
}

static th_term get_seq_token(void *context, th_env *to)
{
    (void)context;
    return th_make_tuple_of(to, th_small(1), th_small(2));
}

static th_term set_seq_token(void *context, th_env *to, th_term component, th_term value)
{
    (void)context;
    (void)to;
    note("set_seq_token", (th_term[]){component, value}, 2);
    return component == th_atom("label") ? TH_NIL : TH_MATCH_RAISED;
}

static th_term get_tcw(void *context, th_env *to)
{
    (void)context;
    (void)to;
    return th_small(7);
}

static th_term set_tcw(void *context, th_env *to, uint32_t value)
{
    note("set_tcw", (th_term[]){th_small(value)}, 1);
    return get_tcw(context, to);
}

static th_term process_dump(void *context, th_env *to)
{
    (void)context;
    return th_make_binary(to, "dump", 4);
}

static void display(void *context, th_term t)
{
    (void)context;
    note("display", &t, 1);
}

static th_term set_flags(void *context, th_term tracee, th_term clear, th_term set)
{
    (void)context;
    note("set_flags", (th_term[]){tracee, clear, set}, 3);
    return flags_answer;
}

static void silence(void *context, bool silent)
{
    (void)context;
    note("silence", (th_term[]){silent ? TH_AM(true) : TH_AM(false)}, 1);
}

static th_term is_silent(void *context)
{
    (void)context;
    return TH_AM(true);
}

static const struct th_match_operations operations = {
    .self = self,
    .node = node,
    .caller = caller,
    .caller_line = caller_line,
    .stack = stack,
    .is_seq_trace = is_seq_trace,
    .get_seq_token = get_seq_token,
    .set_seq_token = set_seq_token,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .process_dump = process_dump,
    .display = display,
    .set_flags = set_flags,
    .silence = silence,
    .is_silent = is_silent,
};

/* Asserts the message of a body {message, EXPRESSION}, and the operations called for it. */
static void assert_does_in(th_term pid, const char *expression, const char *message,
                           const char *done)
{
    const struct th_match_surroundings surroundings = {&operations, &pid};
    char *spec = th_printf("[{['$1','$2'],[],[{message,%s}]}]", expression);
    char *expected = th_printf("yes 1 %s", message);

    journal.size = 0;
    assert_string_equal(run_with(TH_MATCH_CALL, spec, "[{a},unknown]", &surroundings), expected);
    assert_string_equal(th_buffer_text(&journal), done);
    th_free(spec);
    th_free(expected);
}

static void assert_does(const char *expression, const char *message, const char *done)
{
    assert_does_in(th_local_pid(12, 3), expression, message, done);
}

static int end_journal(void **state)
{
    th_buffer_free(&journal);
    journal = (struct th_buffer){0};
    return end(state);
}

/* node() is that of the tracee; identifiers of this node keep theirs. */
static void the_node_of_a_peer_is_its_own(void **state)
{
    th_term pid;

    (void)state;
    assert_int_equal(th_peer_add(th_atom("there@home"), 7), 1);
    pid = th_make_pid(&env, th_atom("there@home"), 7, 5, 0);
    assert_does_in(pid, "{node}", "there@home", "");
    assert_does_in(pid, "{self}", "<1.5.0>", "");
    assert_does_in(pid, "{node,{self}}", "there@home", "");
    assert_does_in(pid, "{node,<0.5.0>}", "here@home", "");
    assert_does("{node,<1.9.0>}", "there@home", "");
    assert_does("{node}", "here@home", "");
}

static void queries_return_values_of_the_host(void **state)
{
    (void)state;
    assert_does("{self}", "<0.12.3>", "");
    assert_does("{node}", "here@home", "");
    assert_does("{node,{self}}", "here@home", "");
    assert_does("{node,'$1'}", "'EXIT'", "");
    assert_does("{caller}", "{m,f,1}", "");
    assert_does("{caller_line}", "{m,f,1,undefined}", "");
    assert_does("{length,{current_stacktrace}}", "5", "");
    assert_does("{length,{current_stacktrace,2}}", "2", "");
    assert_does("{current_stacktrace,0}", "[]", "");
    assert_does("{is_seq_trace}", "true", "");
    assert_does("{get_seq_token}", "{1,2}", "");
    assert_does("{get_tcw}", "7", "");
    assert_does("{set_tcw_fake,9}", "7", "");
    assert_does("{set_tcw_fake,a}", "'EXIT'", "");
    assert_does("{process_dump}", "<<\"dump\">>", "");
    assert_does("{silent}", "true", "");
}

static void actions_call_operations_of_the_host(void **state)
{
    (void)state;
    assert_does("{set_seq_token,label,'$1'}", "[]", "set_seq_token(label,{a})");
    assert_does("{set_seq_token,other,17}", "'EXIT'", "set_seq_token(other,17)");
    assert_does("{set_tcw,4294967295}", "7", "set_tcw(4294967295)");
    assert_does("{set_tcw,4294967296}", "'EXIT'", "");
    assert_does("{set_tcw,-1}", "'EXIT'", "");
    assert_does("{display,'$1'}", "true", "display({a})");
    assert_does("{silent,true}", "true", "silence(true)");
    assert_does("{silent,false}", "true", "silence(false)");
    assert_does("{silent,other}", "true", "");
    assert_does("{return_trace}", "true return_trace", "");
    assert_does("{exception_trace}", "true exception_trace", "");
    assert_does("{message,inner}", "true", "");
    assert_does("{'andalso',{silent,true},{display,1}}", "true", "silence(true) display(1)");
    assert_does("{'andalso',{'=:=',1,2},{display,1}}", "false", "");
    assert_does("{'or',{display,1},{display,2}}", "true", "display(2) display(1)");
}

static void guards_may_read_the_flag_silent(void **state)
{
    const struct th_match_surroundings surroundings = {&operations, NULL};
    const struct th_match_surroundings nothing = {0};
    const char *spec = "[{'_',[{silent},{is_seq_trace}],[]}]";

    (void)state;
    assert_string_equal(run_with(TH_MATCH_CALL, spec, "[]", &surroundings), "yes 1 true");
    assert_string_equal(run_with(TH_MATCH_CALL, spec, "[]", &nothing), "unknown 1");
}

static void actions_set_and_clear_trace_flags(void **state)
{
    (void)state;
    assert_does("{enable_trace,send}", "true", "set_flags(itself,[],[send])");
    assert_does("{disable_trace,send}", "true", "set_flags(itself,[send],[])");
    assert_does("{enable_trace,name,send}", "true", "set_flags(name,[],[send])");
    assert_does("{disable_trace,name,send}", "true", "set_flags(name,[send],[])");
    assert_does("{trace,[call],[send,procs]}", "true", "set_flags(itself,[call],[send,procs])");
    assert_does("{trace,{self},[],[send]}", "true", "set_flags(<0.12.3>,[],[send])");
    flags_answer = TH_AM(false);
    assert_does("{trace,[],[send]}", "false", "set_flags(itself,[],[send])");
    assert_does("{enable_trace,send}", "true", "set_flags(itself,[],[send])");
    flags_answer = TH_MATCH_RAISED;
    assert_does("{trace,[],x}", "'EXIT'", "set_flags(itself,[],x)");
    assert_does("{enable_trace,x}", "'EXIT'", "set_flags(itself,[],[x])");
    flags_answer = TH_AM(true);
}

/* The second argument is unknown. */
static void actions_with_unknown_arguments_are_not_taken(void **state)
{
    (void)state;
    assert_does("{'andalso',{is_atom,'$2'},{display,1}}", "? unsure 1", "");
    assert_does("{'orelse',{is_atom,'$2'},{silent,true}}", "true unsure 1", "");
    assert_does("{set_tcw,'$2'}", "? unsure 1", "");
    assert_does("{set_seq_token,label,'$2'}", "? unsure 1", "");
    assert_does("{trace,'$2',[],[send]}", "? unsure 1", "");
    assert_does("{enable_trace,'$2'}", "? unsure 1", "");
    assert_does("{display,{tl,'$_'}}", "true unsure 1", "");
}

/* --- Threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, RUNS = 5000 };

struct worker {
    pthread_t thread;
    const struct th_match_spec *spec;
    unsigned number, right;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct th_match_surroundings nothing = {0};
    struct th_match_result result;
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    for (unsigned i = 0; i < RUNS; i++) {
        const th_term arguments[2] = {th_small(worker->number), th_small(i)};
        const struct th_match_subject subject = {.arguments = arguments, .count = 2};
        th_match_run(worker->spec, &subject, &nothing, &own, &result);
        worker->right += result.end == TH_MATCH_YES && th_is_tuple(result.message) &&
                         th_tuple_elements(result.message)[1] == th_small(worker->number + i);
        th_env_clear(&own);
    }
    th_env_release(&own);
    return NULL;
}

static void many_threads_run_one_specification(void **state)
{
    struct th_match_spec *spec =
        compile(TH_MATCH_CALL, "[{['$1','$2'],[{'>=','$2',0},{is_map_key,a,{const,#{a => 1}}}],"
                               "[{message,{{{const,{x,<<\"y\">>}},{'+','$1','$2'},'$$'}}}]}]");
    struct worker workers[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.spec = spec, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].right, RUNS);
    }
    th_match_free(spec);
}

static void actions_that_change_later_events_are_known(void **state)
{
    static const struct {
        const char *text;
        bool changes;
    } rows[] = {
        {"[{'_',[],[{return_trace},{message,{caller}},{display,{self}}]}]", false},
        {"[{'_',[{silent}],[]}]", false},
        {"[{['$1'],[],[{message,{{trace,'$1'}}}]}]", false}, /* a tuple, no call */
        {"[{'_',[],[{const,{silent,true}}]}]", false},
        {"[{'_',[],[{silent,true}]}]", true},
        {"[{'_',[],[]},{'_',[],[{trace,[send],[]}]}]", true},
        {"[{'_',[],[{message,{enable_trace,send}}]}]", true},
        {"[{'_',[],[{disable_trace,{self},send}]}]", true},
        {"[{'_',[],[{set_seq_token,label,1}]}]", true},
        {"[{'_',[],[{set_tcw,1}]}]", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct th_match_spec *spec = compile(TH_MATCH_CALL, rows[i].text);
        if (th_match_changes(spec) != rows[i].changes)
            fail_msg("%s", rows[i].text);
        th_match_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(queries_return_values_of_the_host, begin, end_journal),
        cmocka_unit_test_setup_teardown(the_node_of_a_peer_is_its_own, begin, end_journal),
        cmocka_unit_test_setup_teardown(actions_call_operations_of_the_host, begin, end_journal),
        cmocka_unit_test_setup_teardown(guards_may_read_the_flag_silent, begin, end_journal),
        cmocka_unit_test_setup_teardown(actions_set_and_clear_trace_flags, begin, end_journal),
        cmocka_unit_test_setup_teardown(actions_with_unknown_arguments_are_not_taken, begin,
                                        end_journal),
        cmocka_unit_test_setup_teardown(actions_that_change_later_events_are_known, begin, end),
        cmocka_unit_test_setup_teardown(many_threads_run_one_specification, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
