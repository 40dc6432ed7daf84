/* Tests match specifications: structure, places of errors, limits. Most of the language is compared
 * with a real BEAM, in tests/oracle. */
#include "matching.h"

/* Returns the value of EXPRESSION as the message. */
static const char *value(const char *expression)
{
    char *spec = th_printf("[{['$1','$2'],[],[{message,%s}]}]", expression);
    const char *result = run(spec, "[1,two]");

    th_free(spec);
    assert_memory_equal(result, "yes 1 ", 6);
    return result + 6;
}

/* "clause 1, guard 2: text | term" */
static const char *fault(enum th_match_kind kind, const char *text)
{
    static struct th_buffer out;
    struct th_match_faults faults = {0};
    struct th_match_spec *spec;

    assert_int_equal(th_match_compile(kind, parse(text), &faults, &spec), TH_MALFORMED);
    assert_null(spec);
    out.size = 0;
    for (size_t i = 0; i < faults.count; i++) {
        th_buffer_add_text(&out, i ? "; " : "");
        th_match_print_place(&out, faults.items[i].place);
        th_buffer_printf(&out, ": %s", faults.items[i].text);
        if (faults.items[i].term)
            th_buffer_printf(&out, " | %s", faults.items[i].term);
    }
    th_match_faults_free(&faults);
    return th_buffer_text(&out);
}

static void functions_newer_than_otp_25(void **state)
{
    (void)state;
    assert_string_equal(value("{is_boolean,true}"), "true");
    assert_string_equal(value("{is_boolean,x}"), "false");
    assert_string_equal(value("{is_bitstring,<<1:3>>}"), "true");
    assert_string_equal(value("{is_bitstring,x}"), "false");
    assert_string_equal(value("{is_binary,<<1:3>>}"), "false");
    assert_string_equal(value("{floor,-1.5}"), "-2");
    assert_string_equal(value("{ceil,-1.5}"), "-1");
    assert_string_equal(value("{floor,x}"), "'EXIT'");
    assert_string_equal(value("{ceil,x}"), "'EXIT'");
    assert_string_equal(value("{max,1,a}"), "a");
    assert_string_equal(value("{max,1,1.0}"), "1");
    assert_string_equal(value("{max,1.0,1}"), "1.0");
    assert_string_equal(value("{min,1,a}"), "1");
    assert_string_equal(value("{min,1,1.0}"), "1");
    assert_string_equal(value("{min,{{a,b}},{{a,a}}}"), "{a,a}");
    assert_string_equal(value("{tuple_size,{{a,b}}}"), "2");
    assert_string_equal(value("{tuple_size,<<1>>}"), "'EXIT'");
    assert_string_equal(run("[{[a|'_'],[],[]}]", "[a,b,c]"), "yes 1 true");
    assert_string_equal(run("[{[a,b|'_'],[],[]}]", "[a]"), "no");
}

static void the_first_clause_that_matches_decides(void **state)
{
    const char *spec = "[{[a],[],[{message,1}]},{['$1'],[{is_atom,'$1'}],[{message,2}]},"
                       "{'_',[],[{message,3}]}]";

    (void)state;
    assert_string_equal(run(spec, "[a]"), "yes 1 1");
    assert_string_equal(run(spec, "[b]"), "yes 2 2");
    assert_string_equal(run(spec, "[7]"), "yes 3 3");
    assert_string_equal(run(spec, "[a,b]"), "yes 3 3");
}

/* Returns the result without a run, which run() compares with that of a run; "" if there is
 * none. The inlined decision, if there is one, must be the same. */
static const char *at_once(const char *text, const char *arguments)
{
    struct th_match_spec *spec = compile(TH_MATCH_CALL, text);
    th_term terms[16];
    const struct th_match_result *inlined, *quick;
    size_t count = 0;

    for (th_term l = parse(arguments); th_is_list(l); l = th_cell(l)[1])
        terms[count++] = th_cell(l)[0];
    inlined = th_match_at_once(spec, terms, count);
    quick = th_match_quickly(spec, terms, count);
    if (inlined)
        assert_ptr_equal(inlined, quick);
    th_match_free(spec);
    return quick ? run(text, arguments) : "";
}

static void bodies_with_a_constant_result_need_no_run(void **state)
{
    (void)state;
    assert_string_equal(at_once("[{'_',[],[]}]", "[]"), "yes 1 true");
    assert_string_equal(at_once("[{'$1',[],[true]},{['_'],[],[{message,2}]}]", "[1]"),
                        "yes 1 true");
    assert_string_equal(at_once("[{'_',[],[{return_trace}]}]", "[1]"), "yes 1 true return_trace");
    assert_string_equal(at_once("[{'_',[],[{exception_trace},{message,false}]}]", "[1]"),
                        "yes 1 false exception_trace");
    assert_string_equal(at_once("[{'_',[],[{message,[a|b]},{return_trace}]}]", "[]"),
                        "yes 1 [a|b] return_trace");
    assert_string_equal(
        at_once("[{['_'],[],[{message,1}]},{['_','$1'],[],[{message,2}]}]", "[a,b]"), "yes 2 2");
    assert_string_equal(at_once("[{'$1',[],[{message,'$1'}]}]", "[1]"), "");
    assert_string_equal(at_once("[{'_',[],[{message,{caller}}]}]", "[1]"), "");
    assert_string_equal(at_once("[{'_',[],[{message,{self}}]}]", "[1]"), "");
    assert_string_equal(at_once("[{'_',[],[{silent,true}]}]", "[1]"), "");
    assert_string_equal(at_once("[{'_',[],[{'andalso',true,{return_trace}}]}]", "[1]"), "");
}

/* Compares each of VALUES with each of CONSTANTS, in both orders: a result without a run must be
 * that of a run. Returns the number of comparisons that need no run. */
static size_t compare_all(const char *const values[], const char *const constants[])
{
    static const char *const relations[] = {"<", ">", "=<", ">=", "==", "/=", "=:=", "=/="};
    char spec[128], list[128];
    size_t known = 0;

    for (size_t v = 0; values[v]; v++)
        for (size_t c = 0; constants[c]; c++)
            for (size_t i = 0; i < 2 * sizeof relations / sizeof *relations; i++) {
                snprintf(list, sizeof list, "[x,%s]", values[v]);
                snprintf(spec, sizeof spec,
                         i % 2 ? "[{['_','$1'],[{'%s','$1',{const,%s}}],[]}]"
                               : "[{['_','$1'],[{'%s',{const,%s},'$1'}],[]}]",
                         relations[i / 2], constants[c]);
                known += *at_once(spec, list) != '\0';
            }
    return known;
}

static void comparisons_with_constants_need_no_run(void **state)
{
    static const char *const small[] = {"-576460752303423488", "-1", "0", "5", "6",
                                        "576460752303423487",  NULL};
    static const char *const others[] = {
        "5.0",     "a",     "[]", "{5}", "[5]", "576460752303423488", "-576460752303423489",
        "<0.1.0>", "<<5>>", NULL};

    (void)state;
    assert_int_equal(compare_all(small, small), 6 * 6 * 16);
    /* With integers if identical; with atoms, [] and local pids if equal. */
    assert_int_equal(compare_all(others, small), 9 * 6 * 4);
    assert_int_equal(compare_all(small, others), 6 * 3 * 8);
    assert_int_equal(compare_all(others, others), 9 * 3 * 8);
}

static void clauses_that_certainly_fail_need_no_run(void **state)
{
    (void)state;
    assert_string_equal(at_once("[{[a,'$1'],[],[]}]", "[b,c]"), "no");
    assert_string_equal(at_once("[{[a,'$1'],[],[]}]", "[a,c]"), "yes 1 true");
    assert_string_equal(at_once("[{[a,'$1'],[],[]}]", "[a]"), "no");
    assert_string_equal(at_once("[{['$1','$1'],[{'>','$1',5}],[]}]", "[5,5]"), "no");
    assert_string_equal(at_once("[{['$1','$1'],[{'>','$1',5}],[]}]", "[6,6]"), "");
    assert_string_equal(at_once("[{['$1'],[{'>',{'+','$1',1},5}],[]}]", "[1]"), "");
    assert_string_equal(at_once("[{[{'$1','_'}],[{'>','$1',5}],[]}]", "[1]"), "");
    assert_string_equal(at_once("[{['$1'],[{is_list,'$1'},{'>','$1',5}],[]}]", "[1]"), "no");
    assert_string_equal(at_once("[{['$1'],['$1',{'>','$1',5}],[{self}]}]", "[1]"), "no");
    assert_string_equal(at_once("[{['$1'],[{'<','$1',0}],[{self}]},{['$1'],[{'>','$1',5}],"
                                "[{message,large}]},{'_',[],[{message,small}]}]",
                                "[6]"),
                        "yes 2 large");
    assert_string_equal(at_once("[{['$1'],[{'<','$1',0}],[{message,{self}}]},{'_',[],[]}]", "[-1]"),
                        "");
}

/* Integers of any size and floats have one order; no float is identical to an integer. */
static void comparisons_follow_the_term_order(void **state)
{
    (void)state;
    assert_string_equal(value("{'<',-2,-1}"), "true");
    assert_string_equal(value("{'<',-1,1}"), "true");
    assert_string_equal(value("{'>',1,-1}"), "true");
    assert_string_equal(value("{'>=',576460752303423487,-576460752303423488}"), "true");
    assert_string_equal(value("{'<',576460752303423487,576460752303423488}"), "true");
    assert_string_equal(value("{'=<',1,1.0}"), "true");
    assert_string_equal(value("{'<',1,a}"), "true");
    assert_string_equal(value("{'<',[],a}"), "false");
}

static void send_and_receive_specifications_match_their_own_subjects(void **state)
{
    const struct th_match_surroundings nothing = {0};

    (void)state;
    assert_string_equal(run_with(TH_MATCH_SEND,
                                 "[{['$1',{ok,'$2'}],[{is_pid,'$1'}],[{message,'$2'}]}]",
                                 "[<0.1.0>,{ok,17}]", &nothing),
                        "yes 1 17");
    assert_string_equal(run_with(TH_MATCH_RECEIVE,
                                 "[{[nonode@nohost,'$1',{ok,'_'}],[],[{message,'$1'}]}]",
                                 "[nonode@nohost,<0.1.0>,{ok,17}]", &nothing),
                        "yes 1 <0.1.0>");
}

static void errors_name_their_place_in_the_specification(void **state)
{
    (void)state;
    assert_string_equal(
        fault(TH_MATCH_CALL, "[{'_',[],[]},{['$1'],[true,{foo,'$1'},'$9'],[ok,{hd}]}]"),
        "clause 2, guard 2: Function foo/1 does_not_exist. | {foo,'$1'}; "
        "clause 2, guard 3: Variable $9 is unbound. | '$9'; "
        "clause 2, body, expression 2: Function hd/0 does_not_exist. | {hd}");
    assert_string_equal(fault(TH_MATCH_CALL, "[{[a,#{'$1' => 1}],[],[]}]"),
                        "clause 1, head, element 2: Variable found in map key. | #{'$1' => 1}");
    for (int i = 0; i < 5; i++) {
        static const char *const depths[] = {"-1", "a", "'$2'", "{'+',1,2}", "1.0"};
        char *spec = th_printf("[{['$1'],[],[{message,{current_stacktrace,%s}}]}]", depths[i]);
        char *bad = th_printf("clause 1, body, expression 1: Special form 'current_stacktrace' "
                              "called with %s argument. | {current_stacktrace,%s}",
                              i == 0 ? "negative integer" : "non small", depths[i]);
        assert_string_equal(fault(TH_MATCH_CALL, spec), bad);
        th_free(spec);
        th_free(bad);
    }
    assert_string_equal(fault(TH_MATCH_CALL, "[{'_',[]}]"),
                        "clause 1: Match program part is not a tuple of arity 3. | {'_',[]}");
    assert_string_equal(fault(TH_MATCH_CALL, "[{'_',x,[]}]"),
                        "clause 1, guards: Match expression is not a list. | x");
    assert_string_equal(fault(TH_MATCH_CALL, "x"), ": Match programs are not in a list. | x");
    assert_string_equal(th_error_link(0), "Match programs are not in a list.");
    assert_string_equal(
        fault(TH_MATCH_SEND, "[{'_',[],[{caller}]}]"),
        "clause 1, body, expression 1: Special form 'caller' used in wrong dialect. | {caller}");
    assert_string_equal(th_error_link(0),
                        "clause 1, body, expression 1: Special form 'caller' used "
                        "in wrong dialect.");
    assert_string_equal(fault(TH_MATCH_RECEIVE, "[{'_',[{is_seq_trace}],[]}]"),
                        "clause 1, guard 1: Special form 'is_seq_trace' used in wrong dialect. | "
                        "{is_seq_trace}");
}

static void the_numbers_of_errors_and_variables_are_limited(void **state)
{
    struct th_buffer text = {0};
    struct th_match_faults faults = {0};
    struct th_match_spec *spec;

    (void)state;
    th_buffer_add_text(&text, "[{[{");
    for (int i = 100000; i > 0; i--)
        th_buffer_printf(&text, "'$%d',", i);
    th_buffer_add_text(&text, "'$0'}],[],[]}]");
    assert_int_equal(th_match_compile(TH_MATCH_CALL, parse(th_buffer_text(&text)), &faults, &spec),
                     TH_MALFORMED);
    assert_string_equal(th_error_link(0),
                        "clause 1, head, element 1: It is too large: more than 8192 variables.");
    assert_int_equal(faults.count, TH_MATCH_FAULTS);
    th_match_faults_free(&faults);
    th_buffer_free(&text);
}

/* Returns OPEN repeated DEPTH times, INNER, and CLOSE as often. */
static char *nested(size_t depth, const char *open, const char *inner, const char *close)
{
    struct th_buffer out = {0};
    char *text;

    for (size_t i = 0; i < depth; i++)
        th_buffer_add_text(&out, open);
    th_buffer_add_text(&out, inner);
    for (size_t i = 0; i < depth; i++)
        th_buffer_add_text(&out, close);
    text = th_strdup(th_buffer_text(&out));
    th_buffer_free(&out);
    return text;
}

static enum th_status compiles(const char *format, const char *part)
{
    char *text = th_printf(format, part);
    struct th_match_spec *spec;
    enum th_status status = th_match_compile(TH_MATCH_CALL, parse(text), NULL, &spec);

    th_match_free(spec);
    th_free(text);
    return status;
}

static void specifications_nested_too_deep_are_refused(void **state)
{
    char *good = nested(TH_MATCH_DEPTH, "[", "'$1'", "]");
    char *deep = nested(TH_MATCH_DEPTH + 1, "[", "'$1'", "]");
    char *deeper = nested(100000, "[", "", "]");

    (void)state;
    assert_int_equal(compiles("[{['$1'],[],[%s]}]", good), TH_OK);
    assert_int_equal(compiles("[{['$1'],[],[%s]}]", deep), TH_MALFORMED);
    assert_string_equal(th_error_link(0),
                        "clause 1, body, expression 1: It is nested more than 255 deep.");
    assert_int_equal(compiles("[{[%s],[],[]}]", good), TH_OK);
    assert_int_equal(compiles("[{[%s],[],[]}]", deep), TH_MALFORMED);
    assert_int_equal(compiles("[{[%s],[],[]}]", deeper), TH_MALFORMED);
    assert_int_equal(compiles("[{'_',[],[{const,%s}]}]", deeper), TH_OK);
    th_free(good);
    th_free(deep);
    th_free(deeper);
}

static void specifications_that_need_too_much_memory_are_refused(void **state)
{
    char *few = nested(8000, "'$1',", "'$1'", "");
    char *many = nested(8200, "'$1',", "'$1'", "");
    char *zeros = nested(100000, "0,", "0", "");

    (void)state;
    assert_int_equal(compiles("[{['$1'],[],[{{%s}}]}]", few), TH_OK);
    assert_int_equal(compiles("[{['$1'],[],[{{%s}}]}]", many), TH_MALFORMED);
    assert_string_equal(th_error_link(0),
                        "clause 1: It is too large: a run would need more than 8192 words.");
    assert_int_equal(compiles("[{['$1'],[],[{'and',%s}]}]", many), TH_MALFORMED);
    assert_int_equal(compiles("[{['$1'],[],[{'andalso',%s}]}]", many), TH_MALFORMED);
    assert_int_equal(compiles("[{[%s],[],[]}]", few), TH_OK);
    assert_int_equal(compiles("[{[%s],[],[]}]", many), TH_MALFORMED);
    assert_int_equal(compiles("[{[%s],[],[]}]", zeros), TH_MALFORMED);
    assert_int_equal(compiles("[{'_',[],[[%s]]}]", zeros), TH_OK); /* a constant is one word */
    assert_int_equal(compiles("[{[{%s}],[],[]}]", zeros), TH_OK);
    th_free(few);
    th_free(many);
    th_free(zeros);
}

static void a_subject_may_be_given_as_a_list_term(void **state)
{
    struct th_match_spec *spec =
        compile(TH_MATCH_CALL, "[{['$1',x|'_'],[{'==',{length,'$_'},3}],[{message,['$1','$_']}]}]");
    const struct th_match_subject subject = {.target = parse("[1,x,y]")};
    const struct th_match_surroundings nothing = {0};
    struct th_match_result result;

    (void)state;
    th_match_run(spec, &subject, &nothing, &env, &result);
    assert_int_equal(result.end, TH_MATCH_YES);
    assert_term_identical(result.message, parse("[1,[1,x,y]]"));
    assert_term_identical(th_match_source(spec), parse("[{['$1',x|'_'],[{'==',{length,'$_'},3}],"
                                                       "[{message,['$1','$_']}]}]"));
    assert_int_equal(th_match_clause_count(spec), 1);
    th_match_free(spec);
}

/* A head, guards and a body that build no terms take no memory, not even from the heap. */
static void a_run_without_new_terms_allocates_no_memory(void **state)
{
    struct th_match_spec *spec = compile(
        TH_MATCH_CALL,
        "[{[#{a => {'$1',['$2'|'_']}},'$3'],"
        "[{'andalso',{is_atom,'$1'},{'>',{'+','$2',{length,'$3'}},2}},{'=:=',{hd,'$3'},\"x\"}],"
        "[{message,'$3'},{return_trace},{message,{const,{a,b}}}]}]");
    const th_term arguments[2] = {parse("#{a => {x,[1,2]},b => 1}"), parse("[\"x\",y]")};
    const struct th_match_subject subject = {.arguments = arguments, .count = 2};
    const struct th_match_surroundings nothing = {0};
    struct th_match_result result;
    unsigned long before = th_alloc_count();
    const th_term *top = env.top;

    (void)state;
    for (int i = 0; i < 1000; i++)
        th_match_run(spec, &subject, &nothing, &env, &result);
    assert_int_equal(result.end, TH_MATCH_YES);
    assert_true(result.return_trace);
    assert_int_equal(th_alloc_count(), before);
    assert_ptr_equal(env.top, top);
    th_match_free(spec);
}

static void the_reason_is_reported_for_each_clause_that_fails(void **state)
{
    struct th_match_spec *spec =
        compile(TH_MATCH_CALL, "[{[a],[],[]},{[a,{b,c}],[],[]},{['$1','$1'],[],[]},"
                               "{['$1','_'],[true,{is_atom,'$1'}],[]},"
                               "{'_',[{'>',{hd,'$_'},0},{hd,[]}],[]},{'_',[],[]},{'_',[],[]}]");
    static const struct {
        const char *place, *part;
    } expected[] = {{"clause 1, head", "[a]"},
                    {"clause 2, head, element 1", "a"},
                    {"clause 3, head, element 2", "'$1'"},
                    {"clause 4, guard 2", "{is_atom,'$1'}"},
                    {"clause 5, guard 2", "{hd,[]}"},
                    {"clause 6", "{'_',[],[]}"}};
    const struct th_match_subject subject = {.target = parse("[7,{b,d}]")};
    const struct th_match_surroundings nothing = {0};
    struct th_match_attempt attempts[7];
    struct th_match_result result;
    struct th_buffer place = {0};

    (void)state;
    assert_int_equal(th_match_explain(spec, &subject, &nothing, &env, &result, attempts), 6);
    for (size_t i = 0; i < 6; i++) {
        place.size = 0;
        th_match_print_place(&place, attempts[i].place);
        assert_string_equal(th_buffer_text(&place), expected[i].place);
        assert_term_identical(th_match_part(spec, attempts[i].place), parse(expected[i].part));
        assert_int_equal(attempts[i].end, i < 5 ? TH_MATCH_NO : TH_MATCH_YES);
    }
    assert_term_equal(attempts[2].value, TH_NONE);
    assert_term_equal(attempts[3].value, TH_AM(false));
    assert_int_equal(attempts[4].value, TH_MATCH_RAISED);
    th_buffer_free(&place);
    th_match_free(spec);
}

static void short_names_stand_for_specifications(void **state)
{
    (void)state;
    assert_term_identical(th_match_short(&env, "x"), parse("[{'_',[],[{exception_trace}]}]"));
    assert_term_identical(th_match_short(&env, "caller_trace"),
                          parse("[{'_',[],[{message,{caller}}]}]"));
    assert_term_identical(th_match_short(&env, "cx"),
                          parse("[{'_',[],[{exception_trace},{message,{caller}}]}]"));
    assert_term_identical(th_match_short(&env, "r"), parse("[{'_',[],[{return_trace}]}]"));
    assert_term_equal(th_match_short(&env, "y"), TH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(functions_newer_than_otp_25, begin, end),
        cmocka_unit_test_setup_teardown(the_first_clause_that_matches_decides, begin, end),
        cmocka_unit_test_setup_teardown(bodies_with_a_constant_result_need_no_run, begin, end),
        cmocka_unit_test_setup_teardown(comparisons_with_constants_need_no_run, begin, end),
        cmocka_unit_test_setup_teardown(clauses_that_certainly_fail_need_no_run, begin, end),
        cmocka_unit_test_setup_teardown(comparisons_follow_the_term_order, begin, end),
        cmocka_unit_test_setup_teardown(send_and_receive_specifications_match_their_own_subjects,
                                        begin, end),
        cmocka_unit_test_setup_teardown(errors_name_their_place_in_the_specification, begin, end),
        cmocka_unit_test_setup_teardown(the_numbers_of_errors_and_variables_are_limited, begin,
                                        end),
        cmocka_unit_test_setup_teardown(specifications_nested_too_deep_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(specifications_that_need_too_much_memory_are_refused, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_subject_may_be_given_as_a_list_term, begin, end),
        cmocka_unit_test_setup_teardown(a_run_without_new_terms_allocates_no_memory, begin, end),
        cmocka_unit_test_setup_teardown(the_reason_is_reported_for_each_clause_that_fails, begin,
                                        end),
        cmocka_unit_test_setup_teardown(short_names_stand_for_specifications, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
