/* Tests function patterns and match specifications. */
#include "embedding.h"

static tracehost_session session;

static int begin_session(void **state)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "erl_msg_tracer"};

    begin(state);
    good(tracehost_session_create(host, &setup, &session));
    good(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    return 0;
}

static enum tracehost_status set(const char *function, const char *match, uint32_t kinds,
                                 size_t *matched)
{
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = function, .match = match, .kinds = kinds};

    return tracehost_session_set_pattern(host, session, &pattern, matched);
}

/* Sets a pattern whose function and match specification are terms. */
static enum tracehost_status set_terms(const char *function, const char *match, size_t *matched)
{
    struct tracehost_pattern pattern = {.size = sizeof pattern, .kinds = TRACEHOST_CALL_COUNT};
    ErlNifEnv *env = enif_alloc_env();
    enum tracehost_status status;

    good(tracehost_term_parse(env, function, &pattern.function_term));
    good(tracehost_term_parse(env, match, &pattern.match_term));
    status = tracehost_session_set_pattern(host, session, &pattern, matched);
    enif_free_env(env);
    return status;
}

static void show(void *context, const struct tracehost_function *function)
{
    char *module = tracehost_term_to_text(function->module);
    char *name = tracehost_term_to_text(function->function);
    char *spec = tracehost_term_to_text(function->match_spec);

    snprintf((char *)context + strlen(context), 4096 - strlen(context),
             "%s:%s/%u 0x%x 0x%x %s %llu\n", module, name, function->arity, function->kinds,
             function->active, spec, (unsigned long long)function->calls);
    tracehost_free(module);
    tracehost_free(name);
    tracehost_free(spec);
}

static void expect(const char *function, const char *shown)
{
    char text[4096] = "";

    good(tracehost_session_visit_functions(host, session, function, show, text));
    assert_string_equal(text, shown);
}

static void patterns_set_pause_and_remove_breakpoints(void **state)
{
    size_t matched = 77;

    (void)state;
    good(set("lists:reverse/1", "x", 0, &matched));
    assert_int_equal(matched, 1);
    good(set("gen_server:_/_", NULL, TRACEHOST_GLOBAL, &matched));
    assert_int_equal(matched, 0);
    good(set("queue:len/1", NULL, TRACEHOST_LOCAL | TRACEHOST_GLOBAL, &matched));
    assert_int_equal(matched, 1);
    expect("queue:len/1", "queue:len/1 0x1 0x1 true 0\n");
    good(set("queue:len/1", "false", TRACEHOST_LOCAL | TRACEHOST_GLOBAL, NULL));
    good(set_terms("{lists,map,2}", "[{['$1','_'],[],[]}]", &matched));
    assert_int_equal(matched, 1);
    expect(NULL, "lists:reverse/1 0x1 0x1 [{'_',[],[{exception_trace}]}] 0\n"
                 "lists:map/2 0x8 0x8 true 0\n");
    good(set("lists:reverse/1", "false", TRACEHOST_LOCAL, NULL));
    good(set_terms("{lists,'_','_'}", "pause", &matched));
    assert_int_equal(matched, 2);
    expect(NULL, "lists:map/2 0x8 0x0 true 0\n");
    expect("lists:map/2", "lists:map/2 0x8 0x0 true 0\n");
    expect("lists:map/3", "");
    good(set_terms("on_load", "true", &matched));
    assert_int_equal(matched, 0);
    good(play(RECORDING("s22_killed_vm"), NULL, NULL) == TRACEHOST_PARTIAL ? TRACEHOST_OK
                                                                           : TRACEHOST_FAILED);
    expect("wl:id/1", "wl:id/1 0x8 0x8 true 1156\n");
}

static void show_all(void *context, const struct tracehost_function *function)
{
    char *spec = function->meta_match_spec ? tracehost_term_to_text(function->meta_match_spec)
                                           : strdup("none");

    show(context, function);
    strcat(context, spec);
    tracehost_free(spec);
}

static void expect_all(const char *function, const char *shown)
{
    char text[4096] = "";

    good(tracehost_session_visit_functions(host, session, function, show_all, text));
    assert_string_equal(text, shown);
}

/* Kinds that coexist, and the effect of later patterns on earlier ones. */
static void each_kind_of_breakpoint_is_listed(void **state)
{
    (void)state;
    good(set("a:b/1", "r", TRACEHOST_META, NULL));
    expect_all("a:b/1", "a:b/1 0x4 0x4 [{'_',[],[{return_trace}]}] 0\n[{'_',[],[{return_trace}]}]");
    good(set("a:b/1", NULL, TRACEHOST_LOCAL, NULL));
    expect_all("a:b/1", "a:b/1 0x5 0x5 true 0\n[{'_',[],[{return_trace}]}]");
    good(set("a:b/1", "c", TRACEHOST_GLOBAL, NULL));
    expect_all("a:b/1", "a:b/1 0x2 0x2 [{'_',[],[{message,{caller}}]}] 0\nnone");

    expect_all("on_load", "");
    good(set_terms("on_load", "true", NULL));
    expect_all("on_load", "'_':'_'/0 0x8 0x8 true 0\nnone");
    good(set_terms("on_load", "pause", NULL));
    expect_all("on_load", "'_':'_'/0 0x8 0x0 true 0\nnone");
    good(set_terms("on_load", "restart", NULL));
    good(set("_:_/_", NULL, TRACEHOST_META, NULL)); /* clears existing breakpoints only */
    expect_all("on_load", "'_':'_'/0 0x8 0x8 true 0\nnone");
    good(set_terms("on_load", "false", NULL));
    expect_all("on_load", "");
}

static void invalid_patterns_are_refused(void **state)
{
    static const char forms[] = "a pattern must be M:F/A, M:F/_, M:_/_ or _:_/_, such as "
                                "lists:reverse/1 or Elixir's Enum.sort/1";
    size_t matched = 77;

    (void)state;
    misused(set("lists", NULL, 0, &matched), forms);
    misused(set("_:map/2", NULL, 0, &matched), forms);
    misused(set_terms("{lists,map}", "true", &matched), forms);
    misused(set_terms("{lists,map,256}", "true", &matched), forms);
    misused(set(NULL, NULL, 0, &matched), "a pattern needs either `function` or `function_term`");
    assert_int_equal(set("a:b/1", "[{", 0, &matched), TRACEHOST_MALFORMED);
    assert_string_equal(tracehost_error_link(0), "cannot parse the match specification");
    assert_int_equal(set("a:b/1", "[{'_',[{nope}],[]}]", 0, &matched), TRACEHOST_MALFORMED);
    assert_int_equal(set("a:b/1", "pause", TRACEHOST_LOCAL, &matched), TRACEHOST_USAGE);
    assert_int_equal(set("a:b/1", NULL, 0x40, &matched), TRACEHOST_USAGE);
    misused(tracehost_session_visit_functions(host, session, "a:b/_", show, NULL),
            "a function must be M:F/A, not 'a:b/_'");
    misused(tracehost_session_visit_functions(host, session, NULL, NULL, NULL),
            "the function that visits is missing");
    assert_int_equal(matched, 77);
    expect(NULL, "");
}

/* --- Messages --------------------------------------------------------------------------------- */

static void message_patterns_filter_sends_and_receives(void **state)
{
    tracehost_process *process;
    tracehost_session sender;
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM match = 0;
    char *text;

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    sender = send_to(process, TRACEHOST_FLAGS_EVENTS);
    good(tracehost_session_get_send_pattern(host, sender, env, &match));
    assert_term_equal(match, atom("true"));
    good(tracehost_session_set_send_pattern(host, sender, "[{[wlme,'_'],[],[]},{['_',die],[],[]}]",
                                            0));
    good(tracehost_session_set_receive_pattern(host, sender, NULL, atom("false")));
    good(play(RECORDING("s13_procs"), NULL, NULL));
    assert_string_equal(inbox, "{trace,<0.169.0>,<0.170.0>}\n{trace,<0.169.0>,wlme}\n");
    assert_int_equal(counts_of(sender).messages_unmatched, 5 + 10) /* of 7 sends and 10 receives */;
    good(tracehost_session_get_receive_pattern(host, sender, env, &match));
    assert_term_equal(match, atom("false"));
    good(tracehost_session_get_send_pattern(host, sender, env, &match));
    text = tracehost_term_to_text(match);
    assert_string_equal(text, "[{[wlme,'_'],[],[]},{['_',die],[],[]}]");
    tracehost_free(text);
    misused(tracehost_session_set_send_pattern(host, sender, NULL, 0),
            "a pattern must be given either as text or as a term");
    misused(tracehost_session_set_receive_pattern(host, sender, "true", match),
            "a pattern must be given either as text or as a term");
    misused(tracehost_session_get_send_pattern(host, sender, NULL, &match),
            "the environment is missing");
    assert_int_equal(tracehost_session_set_send_pattern(host, sender, "[{'_',[{nope}],[]}]", 0),
                     TRACEHOST_MALFORMED);
    tracehost_process_stop(process);
    enif_free_env(env);
}

/* --- Patterns of the setup -------------------------------------------------------------------- */

static char displayed[256];

static void display(ERL_NIF_TERM term)
{
    char *text = tracehost_term_to_text(term);

    strncat(displayed, text, sizeof displayed - strlen(displayed) - 2);
    strcat(displayed, " ");
    tracehost_free(text);
}

/* An execution: bar(10) calls bar(9), and so on, by tail calls; then all return. */
static struct tracehost_host_counts play_execution(const struct tracehost_setup *setup)
{
    const struct tracehost_session_setup tracer = {
        .size = sizeof tracer, .tracer = "count", .state_options = "output=/dev/null"};
    struct tracehost_host_counts counts = {.size = sizeof counts};

    displayed[0] = 0;
    good(tracehost_host_start(setup, &host));
    good(tracehost_session_create(host, &tracer, &session));
    good(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    good(set("ex:bar/1", "[{['$1'],[{'>','$1',7}],[{display,'$1'},{return_trace}]}]", 0, NULL));
    good(play("samples/executions/tail_calls.jsonl", NULL, NULL));
    good(tracehost_host_get_counts(host, &counts));
    end(NULL);
    return counts;
}

static void a_setup_sets_the_display_function_and_the_frame_limit(void **state)
{
    const char *folder = build_folder("lib/tracehost/tracers");
    struct tracehost_setup setup = {
        .size = sizeof setup, .folders = &folder, .folder_count = 1, .display = display};

    (void)state;
    assert_int_equal(play_execution(&setup).returns_not_kept, 0);
    assert_string_equal(displayed, "10 9 8 ");
    setup.display = NULL;
    setup.frames = 1;
    assert_in_range(play_execution(&setup).returns_not_kept, 1, 3);
    assert_string_equal(displayed, "");
}

/* The callback may destroy the session. */
static void destroy_and_count(void *context, const struct tracehost_function *function)
{
    assert_int_equal(function->kinds, TRACEHOST_LOCAL);
    ++*(int *)context;
    good(tracehost_session_destroy(host, session));
}

static void a_visitor_may_destroy_the_session(void **state)
{
    int visits = 0;

    (void)state;
    good(set("a:b/1", NULL, 0, NULL));
    good(set("a:c/1", NULL, 0, NULL));
    good(tracehost_session_visit_functions(host, session, NULL, destroy_and_count, &visits));
    assert_int_equal(visits, 1);
    misused(set("a:b/1", NULL, 0, NULL), "there is no session 64 any more");
}

/* --- Match specifications --------------------------------------------------------------------- */

static void note_fault(void *context, const struct tracehost_match_fault *fault)
{
    assert_int_equal(fault->clause, 2);
    sprintf((char *)context + strlen(context), "%d %zu %s|%s|%s\n", fault->part, fault->item,
            fault->place, fault->text, fault->term);
}

static void faults_of_match_specifications_name_their_place(void **state)
{
    tracehost_match *match = NULL;
    char faults[1024] = "";

    (void)state;
    assert_int_equal(tracehost_match_compile_text(TRACEHOST_MATCH_CALL,
                                                  "[{[],[],[]},{['$1'],[{foo,'$1'}],['$2']}]",
                                                  note_fault, faults, &match),
                     TRACEHOST_MALFORMED);
    tracehost_error_clear();
    assert_string_equal(faults, "2 1 clause 2, guard 1|Function foo/1 does_not_exist.|"
                                "{foo,'$1'}\n"
                                "3 1 clause 2, body, expression 1|Variable $2 is unbound.|'$2'\n");
    assert_null(match);
    misused(tracehost_match_compile((enum tracehost_match_kind)3, atom("x"), NULL, NULL, &match),
            "the kind must be a tracehost_match_kind, not 3");
    misused(tracehost_match_compile(TRACEHOST_MATCH_CALL, 0, NULL, NULL, &match),
            "the match specification is missing");
    misused(tracehost_match_compile_text(TRACEHOST_MATCH_CALL, NULL, NULL, NULL, &match),
            "the match specification is missing");
    assert_int_equal(tracehost_match_compile_text(TRACEHOST_MATCH_CALL, "[{", NULL, NULL, &match),
                     TRACEHOST_MALFORMED);
    tracehost_match_free(NULL);
}

static void a_match_specification_runs_and_explains_its_result(void **state)
{
    struct tracehost_match_subject subject = {.size = sizeof subject, .arity = 1};
    struct tracehost_match_result result = {.size = sizeof result};
    ErlNifEnv *env = enif_alloc_env();
    tracehost_match *match;
    char *text;

    (void)state;
    good(tracehost_match_compile_text(TRACEHOST_MATCH_CALL,
                                      "[{['$1'],[{is_atom,'$1'}],[{message,{self}}]}]", NULL, NULL,
                                      &match));
    good(tracehost_match_run(match, env, &subject, &result));
    assert_int_equal(result.end, TRACEHOST_MATCH_UNKNOWN);
    assert_int_equal(result.clause, 1);
    subject.target = enif_make_list1(env, atom("a"));
    good(tracehost_match_run(match, env, &subject, &result));
    assert_int_equal(result.end, TRACEHOST_MATCH_YES);
    assert_int_equal(result.message, 0); /* the tracee is unknown */
    good(tracehost_term_parse(env, "<0.94.0>", &subject.self));
    good(tracehost_match_run(match, env, &subject, &result));
    assert_int_equal(result.message, subject.self);
    subject.target = enif_make_list1(env, enif_make_int(env, 1));
    good(tracehost_match_run(match, env, &subject, &result));
    assert_int_equal(result.end, TRACEHOST_MATCH_NO);
    good(tracehost_match_explain(match, &subject, &text));
    assert_string_equal(text, "{ok,false,[],[]}\nclause 1, guard 1: {is_atom,'$1'} gives false\n");
    tracehost_free(text);
    tracehost_match_free(match);
    enif_free_env(env);
}

static void invalid_match_subjects_are_refused(void **state)
{
    struct tracehost_match_subject subject = {.size = sizeof subject, .arity = 256};
    struct tracehost_match_result result = {.size = sizeof result};
    ErlNifEnv *env = enif_alloc_env();
    tracehost_match *match;

    (void)state;
    good(tracehost_match_compile_text(TRACEHOST_MATCH_SEND, "[{['_','_'],[],[]}]", NULL, NULL,
                                      &match));
    misused(tracehost_match_run(match, env, &subject, &result), "an arity must be at most 255");
    subject.arity = 3;
    misused(tracehost_match_run(match, env, &subject, &result),
            "what is to be matched is no list of 2 elements");
    subject.target = atom("x");
    misused(tracehost_match_run(match, env, &subject, &result), "`target` is not a proper list");
    subject.target = enif_make_list2(env, atom("x"), atom("y"));
    subject.self = atom("x");
    misused(tracehost_match_run(match, env, &subject, &result), "`self` must be a pid");
    subject.self = 0;
    subject.caller = atom("x");
    misused(tracehost_match_run(match, env, &subject, &result),
            "`caller` must be {M,F,Arity} or undefined");
    subject.caller = 0;
    misused(tracehost_match_run(match, env, &subject, NULL),
            "the argument struct tracehost_match_result is missing");
    misused(tracehost_match_run(NULL, env, &subject, &result),
            "the match specification is missing");
    misused(tracehost_match_explain(match, &subject, NULL), "the result is missing");
    tracehost_match_free(match);
    enif_free_env(env);
}

int main(void)
{
#define WITH_SESSION(test) cmocka_unit_test_setup_teardown(test, begin_session, end)
    const struct CMUnitTest tests[] = {
        WITH_SESSION(patterns_set_pause_and_remove_breakpoints),
        WITH_SESSION(each_kind_of_breakpoint_is_listed),
        WITH_SESSION(invalid_patterns_are_refused),
        WITH_SESSION(message_patterns_filter_sends_and_receives),
        cmocka_unit_test(a_setup_sets_the_display_function_and_the_frame_limit),
        WITH_SESSION(a_visitor_may_destroy_the_session),
        cmocka_unit_test(faults_of_match_specifications_name_their_place),
        cmocka_unit_test(a_match_specification_runs_and_explains_its_result),
        cmocka_unit_test(invalid_match_subjects_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
