/* Tests match specifications with unknown arguments; `unknown` in a list stands for one. */
#include "matching.h"

/* Evaluates a guard over '$1' and '$2': true, false, or unknown. */
static const char *guard(const char *text, const char *list)
{
    char *spec = th_printf("[{['$1','$2'],[%s],[]}]", text);
    const char *result = run(spec, list);

    th_free(spec);
    return strcmp(result, "yes 1 true") == 0  ? "true"
           : strcmp(result, "unknown 1") == 0 ? "unknown"
                                              : "false";
}

static void a_head_gives_unknown_only_if_an_unknown_argument_matters(void **state)
{
    (void)state;
    assert_string_equal(run("[{['$1','_'],[],[]}]", "[unknown,unknown]"), "yes 1 true");
    assert_string_equal(run("[{[a,'_'],[],[]}]", "[unknown,b]"), "unknown 1");
    assert_string_equal(run("[{[a,c],[],[]}]", "[unknown,b]"), "no");
    assert_string_equal(run("[{[{'$1','$2'},c],[],[]}]", "[unknown,b]"), "no");
    assert_string_equal(run("[{[{'$1','$2'},b],[],[]}]", "[unknown,b]"), "unknown 1");
    assert_string_equal(run("[{[a],[],[]}]", "[unknown,b]"), "no");
    assert_string_equal(run("[{['$1','$1'],[],[]}]", "[unknown,b]"), "unknown 1");
    assert_string_equal(run("[{['$1','$1'],[],[]}]", "[a,unknown]"), "unknown 1");
    assert_string_equal(run("[{['$1','$1',c],[],[]}]", "[a,unknown,d]"), "no");
    assert_string_equal(run("[{[{'$1'},'$1'],[],[]}]", "[unknown,a]"), "unknown 1");
    assert_string_equal(run("[{[{'$1'},'$2'],[{'==','$2',b}],[]}]", "[unknown,a]"), "no");
}

static void a_clause_with_an_unknown_result_ends_the_search(void **state)
{
    (void)state;
    assert_string_equal(run("[{[a],[],[]},{'_',[],[{message,other}]}]", "[unknown]"), "unknown 1");
    assert_string_equal(run("[{[a,b],[],[]},{[a],[],[]},{'_',[],[]}]", "[unknown]"), "unknown 2");
    assert_string_equal(run("[{'_',[{hd,[]}],[]},{'_',[],[{message,other}]}]", "[unknown]"),
                        "yes 2 other");
}

static void a_guard_that_certainly_fails_overrides_unknown_guards(void **state)
{
    (void)state;
    assert_string_equal(guard("{is_atom,'$1'}", "[unknown,b]"), "unknown");
    assert_string_equal(guard("{is_atom,'$1'},{is_integer,'$2'}", "[unknown,b]"), "false");
    assert_string_equal(guard("{is_atom,'$1'},{hd,'$2'}", "[unknown,b]"), "false");
    assert_string_equal(guard("{is_atom,'$1'},{hd,'$1'}", "[unknown,b]"), "unknown");
    assert_string_equal(guard("'$1'", "[unknown,b]"), "unknown");
}

static void boolean_operators_handle_unknown_operands(void **state)
{
    static const char *const expected[][3] = {
        {"{'and',{is_atom,'$1'},false}", "false"},
        {"{'and',{is_atom,'$1'},true}", "unknown"},
        {"{'and',{is_atom,'$1'},17}", "false"},
        {"{'and','$1',false}", "false"},
        {"{'or',{is_atom,'$1'},true}", "true"},
        {"{'or',{is_atom,'$1'},false}", "unknown"},
        {"{'or','$1',true}", "unknown"}, /* raises an exception if '$1' is not a boolean */
        {"{'or',{hd,'$1'},true}", "unknown"},
        {"{'not',{'and',{is_atom,'$1'},false}}", "true"},
        {"{'not',{'and','$1',false}}", "unknown"},
        {"{'not',{is_atom,'$1'}}", "unknown"},
        {"{'not',{'or',{is_atom,'$1'},true}}", "false"},
        {"{'xor',{is_atom,'$1'},true}", "unknown"},
        {"{'xor',{is_atom,'$1'},17}", "false"},
        {"{'andalso',{is_atom,'$1'},false}", "false"},
        {"{'andalso',{is_atom,'$1'},{hd,[]}}", "false"},
        {"{'andalso',{is_atom,'$1'},{is_atom,'$2'}}", "unknown"},
        {"{'andalso','$1',false}", "false"},
        {"{'andalso','$1',true}", "unknown"},
        {"{'andalso',{is_atom,'$1'},true,{is_integer,'$2'}}", "false"},
        {"{'andalso',false,{is_atom,'$1'}}", "false"},
        {"{'andalso',true,{is_atom,'$1'}}", "unknown"},
        {"{'orelse',{is_atom,'$1'},true}", "true"},
        {"{'orelse',{is_atom,'$1'},false}", "unknown"},
        {"{'orelse',{is_atom,'$1'},{hd,[]}}", "unknown"},
        {"{'orelse','$1',true}", "unknown"},
        {"{'orelse',true,{is_atom,'$1'}}", "true"},
        {"{'orelse',{'andalso',{is_atom,'$1'},{hd,[]}},true}", "unknown"},
        {"{'orelse',{'andalso',{is_atom,'$1'},{hd,[]}},false}", "false"},
        {"{'not',{'orelse',{is_atom,'$1'},true}}", "false"},
        {"{is_atom,{'orelse',{is_atom,'$1'},{is_list,'$1'}}}", "unknown"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strcmp(guard(expected[i][0], "[unknown,b]"), expected[i][1]) != 0)
            fail_msg("%s is not %s", expected[i][0], expected[i][1]);
}

/* The first of two arguments is unknown. */
static void guards_use_the_known_part_of_the_argument_list(void **state)
{
    static const char *const expected[][2] = {
        {"{'==',{length,'$_'},2}", "true"},  {"{'>',{length,'$_'},2}", "false"},
        {"{is_list,'$_'}", "true"},          {"{is_tuple,'$_'}", "false"},
        {"{is_atom,{hd,'$_'}}", "unknown"},  {"{'==',{tl,'$_'},[b]}", "true"},
        {"{'==',{hd,{tl,'$_'}},b}", "true"}, {"{'=:=','$_',[a,b]}", "unknown"},
        {"{'=:=','$_',[a,c]}", "false"},     {"{'=:=','$_',[a]}", "false"},
        {"{'=/=','$_',[a,c]}", "true"},      {"{'==','$_','$_'}", "true"},
        {"{'==','$_',a}", "false"},          {"{'<','$_',[]}", "unknown"},
        {"{is_tuple,{{'$_'}}}", "unknown"},  {"{is_map_key,'$_',#{a => 1}}", "unknown"},
        {"{'==','$$','$_'}", "unknown"},     {"{'=:=',{max,'$_',a},a}", "unknown"},
        {"{is_record,'$_',a,2}", "false"},   {"{is_record,'$1',a,2}", "unknown"},
        {"{is_record,'$1',1,2}", "false"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strcmp(guard(expected[i][0], "[unknown,b]"), expected[i][1]) != 0)
            fail_msg("%s is not %s", expected[i][0], expected[i][1]);
}

static void messages_with_unknown_values_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(run("[{['$1'],[],[{message,'$1'}]}]", "[unknown]"), "yes 1 ?");
    assert_string_equal(run("[{['$1'],[],[{message,{{a,'$1'}}}]}]", "[unknown]"), "yes 1 ?");
    assert_string_equal(run("[{['$1'],[],[{message,'$_'}]}]", "[unknown]"), "yes 1 ?");
    assert_string_equal(run("[{['$1'],[],[{message,'$1'},{message,b}]}]", "[unknown]"), "yes 1 b");
    assert_string_equal(run("[{'$1',[],[{message,{length,'$1'}}]}]", "[unknown,b]"), "yes 1 2");
    assert_string_equal(
        run("[{['$1'],[],[{message,{'*',{'bsl',1,60000},{'bsl',1,60000}}}]}]", "[a]"), "yes 1 ?");
    assert_string_equal(run("[{['$1'],[],[{message,{caller}}]}]", "[a]"),
                        "yes 1 undefined callers unknown 1");
    assert_string_equal(run("[{'_',[],[{caller},{message,[{caller_line}]}]}]", "[a]"),
                        "yes 1 [undefined] callers unknown 2");
    assert_string_equal(run("[{'_',[],[{message,{current_stacktrace,3}}]}]", "[a]"),
                        "yes 1 ? callers unknown 1");
    assert_string_equal(run("[{'_',[],[{message,{self}}]}]", "[a]"), "yes 1 ?");
    assert_string_equal(run("[{'_',[],[{message,{process_dump}}]}]", "[a]"), "yes 1 ?");
}

/* The condition of an action or its argument is unknown. */
static void uncertain_actions_are_skipped_and_counted(void **state)
{
    (void)state;
    assert_string_equal(
        run("[{['$1'],[],[{'andalso',{is_atom,'$1'},{return_trace}}]}]", "[unknown]"),
        "yes 1 true unsure 1");
    assert_string_equal(
        run("[{['$1'],[],[{'orelse',{is_atom,'$1'},{exception_trace}}]}]", "[unknown]"),
        "yes 1 true unsure 1");
    assert_string_equal(run("[{['$1'],[],[{'andalso',{is_atom,'$1'},{message,x}}]}]", "[unknown]"),
                        "yes 1 ?");
    assert_string_equal(
        run("[{['$1'],[],[{'andalso',{is_atom,'$1'},{return_trace}},{return_trace}]}]",
            "[unknown]"),
        "yes 1 true return_trace unsure 1");
    assert_string_equal(run("[{['$1'],[],[{display,'$1'}]}]", "[unknown]"), "yes 1 true unsure 1");
    assert_string_equal(run("[{['$1'],[],[{silent,'$1'}]}]", "[unknown]"), "yes 1 true unsure 1");
    assert_string_equal(run("[{['$1'],[],[{set_tcw,'$1'}]}]", "[unknown]"), "yes 1 true unsure 1");
    assert_string_equal(run("[{['$1'],[],[{message,{set_tcw,x}}]}]", "[a]"), "yes 1 'EXIT'");
    assert_string_equal(run("[{['$1'],[],[{trace,[],['$1']}]}]", "[unknown]"),
                        "yes 1 true unsure 1");
}

/* Only the number of arguments is known. */
static void clauses_are_decided_by_arity_if_arguments_are_unknown(void **state)
{
    struct th_match_spec *spec =
        compile(TH_MATCH_CALL, "[{['_','_'],[],[{message,two}]},{'$1',[{'==',{length,'$1'},3}],"
                               "[{message,three}]},{'_',[],[{message,other}]}]");
    const struct th_match_surroundings nothing = {0};
    static const char *const messages[] = {"other", "other", "two", "three", "other"};
    struct th_match_result result;

    (void)state;
    for (size_t count = 0; count < 5; count++) {
        const struct th_match_subject subject = {.count = count};
        th_match_run(spec, &subject, &nothing, &env, &result);
        assert_int_equal(result.end, TH_MATCH_YES);
        assert_term_equal(result.message, th_atom(messages[count]));
    }
    th_match_free(spec);
}

static void the_first_unknown_guard_is_reported(void **state)
{
    struct th_match_spec *spec =
        compile(TH_MATCH_CALL, "[{[a],[],[]},{['_','$2'],[{is_atom,'$2'},{is_list,'$2'}],[]}]");
    const th_term arguments[2] = {TH_AM(ok), TH_NONE};
    const struct th_match_subject subject = {.arguments = arguments, .count = 2};
    const struct th_match_surroundings nothing = {0};
    struct th_match_attempt attempts[2];
    struct th_match_result result;

    (void)state;
    assert_int_equal(th_match_explain(spec, &subject, &nothing, &env, &result, attempts), 2);
    assert_int_equal(attempts[1].end, TH_MATCH_UNKNOWN);
    assert_int_equal(attempts[1].place.part, TH_MATCH_GUARD);
    assert_int_equal(attempts[1].place.item, 1);
    assert_term_equal(attempts[1].value, TH_NONE);
    th_match_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_head_gives_unknown_only_if_an_unknown_argument_matters,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_clause_with_an_unknown_result_ends_the_search, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_guard_that_certainly_fails_overrides_unknown_guards,
                                        begin, end),
        cmocka_unit_test_setup_teardown(boolean_operators_handle_unknown_operands, begin, end),
        cmocka_unit_test_setup_teardown(guards_use_the_known_part_of_the_argument_list, begin, end),
        cmocka_unit_test_setup_teardown(messages_with_unknown_values_are_unknown, begin, end),
        cmocka_unit_test_setup_teardown(uncertain_actions_are_skipped_and_counted, begin, end),
        cmocka_unit_test_setup_teardown(clauses_are_decided_by_arity_if_arguments_are_unknown,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_first_unknown_guard_is_reported, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
