/* Tests the stack of a replayed process: certain and uncertain results. See executed.h. */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/executed.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int begin(void **state)
{
    (void)state;
    executed_begin(NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    executed_end();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* --- All callers ------------------------------------------------------------------------------ */

static size_t callers(struct th_caller found[], size_t most)
{
    return th_recorded_callers(&executed_stack, found, most);
}

static bool is(const struct th_caller *caller, const char *name)
{
    return caller->kind == TH_CALLER_FUNCTION &&
           caller->function.function == executed_function(name).function;
}

static void all_callers_of_a_spawned_process_are_known(void **state)
{
    struct th_caller found[TH_EXECUTION_CALLERS];

    (void)state;
    executed_expect("* +w_ +f +f =g +h", "w<. f<w f<f g<f h<g");
    assert_int_equal(callers(found, 8), 4);
    assert_true(is(&found[0], "g") && is(&found[1], "f") && is(&found[2], "w"));
    assert_int_equal(found[3].kind, TH_CALLER_UNDEFINED);
    assert_int_equal(callers(found, 2), 2);
    assert_int_equal(callers(found, 0), 0);
    executed_expect("+f +f +f +f +f +f +f +f", "f<h f<f f<f f<f f<f f<f f<f f<f");
    assert_int_equal(callers(found, 100), TH_EXECUTION_CALLERS);
    assert_true(is(&found[6], "f") && is(&found[7], "h"));
}

static void callers_are_known_up_to_an_unknown_one(void **state)
{
    struct th_caller found[TH_EXECUTION_CALLERS];

    (void)state;
    executed_expect("+w_ +f ?g +h", "w<? f<w g<? h<g");
    assert_int_equal(callers(found, 8), 2);
    assert_true(is(&found[0], "g"));
    assert_int_equal(found[1].kind, TH_CALLER_UNKNOWN);
}

static void a_recorded_caller_proves_no_further_callers(void **state)
{
    struct th_recorded_call call = {
        executed_function("g"), TH_UNKNOWN, {TH_CALLER_FUNCTION, executed_function("f")}};
    struct th_caller found[TH_EXECUTION_CALLERS];

    (void)state;
    executed_expect("* +w_ +f", "w<. f<w");
    th_recorded_enter(&executed, &executed_stack, &call);
    assert_int_equal(callers(found, 8), 2);
    assert_true(is(&found[0], "f"));
    assert_int_equal(found[1].kind, TH_CALLER_UNKNOWN);
    assert_int_equal(callers(found, 1), 1);
    call.recorded.kind = TH_CALLER_UNDEFINED;
    th_recorded_enter(&executed, &executed_stack, &call);
    assert_int_equal(callers(found, 8), 1);
    assert_int_equal(found[0].kind, TH_CALLER_UNDEFINED);
}

/* --- Executions: recordings with `tail` ------------------------------------------------------- */

static void the_caller_is_the_function_that_a_call_returns_to(void **state)
{
    (void)state;
    executed_expect("+w_ +foo +lots =of =ind =bar =bar -bar -foo",
                    "w<? foo<w lots<foo of<foo ind<foo bar<foo bar<foo "
                    "-bar -bar -ind -of -lots >foo -foo >w");
    assert_int_equal(executed_counts().callers_unknown, 1);
    assert_int_equal(executed_counts().repaired, 0);
}

static void other_tail_calls_lead_to_other_callers(void **state)
{
    (void)state;
    executed_expect("+w_ +foo =lots +of =ind =bar =bar -bar -lots",
                    "w<? foo<w lots<w of<lots ind<lots bar<lots bar<lots "
                    "-bar -bar -ind -of >lots -lots -foo >w");
}

static void calls_after_a_return_have_the_resumed_function_as_caller(void **state)
{
    (void)state;
    executed_expect("+w_ +f +g -g +h =i -i =j -j",
                    "w<? f<w g<f -g >f h<f i<f -i -h >f j<w -j -f >w");
}

static void recursive_calls_have_the_function_itself_as_caller(void **state)
{
    (void)state;
    executed_expect("+w_ +f +f +f -f +f =g -g -f -f",
                    "w<? f<w f<f f<f -f >f f<f g<f -g -f >f -f >f -f >w");
}

static void untraced_calls_end_without_an_event(void **state)
{
    (void)state;
    executed_expect("+w_ +f_ =g =h_ =i_ =j -j +k_ =l -l",
                    "w<? f<w g<w h<w i<w j<w -j -g >w k<w l<w -l >w");
    assert_int_equal(executed_stack.frames.count, 1);
}

static void untraced_tail_calls_take_no_room(void **state)
{
    (void)state;
    executed_expect("+w_ +f_", "w<? f<w");
    for (int i = 0; i < 1000; i++)
        executed_expect("=g_ =h_", "g<w h<w");
    assert_int_equal(executed_stack.frames.count, 2);
}

static void an_exception_ends_frames_up_to_the_catching_one(void **state)
{
    (void)state;
    executed_expect("+mid +caught +b1 +b2 =b3 +b4 =c4 !c4 !b3 !b1 +h -h -caught -mid",
                    "mid<? caught<mid b1<caught b2<b1 b3<b1 b4<b3 c4<b3 !c4 !b4 >b3 !b3 !b2 >b1 "
                    "!b1 >caught h<caught -h >caught -caught >mid -mid >?");
    executed_expect("+mid_ +caught +b1 !b1 >caught =x -x",
                    "mid<? caught<mid b1<caught !b1 >caught >caught x<mid -x -caught >mid");
    assert_int_equal(executed_counts().repaired, 0);
}

static void frames_without_a_record_end_without_an_event(void **state)
{
    (void)state;
    /* The exception ends with the catcher's return_from, or with a return_to the catcher. */
    executed_expect("+w_ +f +g =h +i -f", "w<? f<w g<f h<f i<h ~i ~h ~g -f >w");
    assert_int_equal(executed_counts().repaired, 1);
    assert_int_equal(executed_counts().untold, 3);
    executed_expect("+f +g =h +i !i >f +j", "f<w g<f h<f i<h !i >h ~h ~g >f j<f");
    assert_int_equal(executed_counts().repaired, 2);
}

static void a_lone_return_to_ends_frames_without_an_event(void **state)
{
    (void)state;
    executed_expect("+w_ +f +f =g >f >w_ +h", "w<? f<w f<f g<f ~g ~f >f ~f >w h<w");
    assert_int_equal(executed_counts().repaired, 0);
    assert_int_equal(executed_counts().untold, 3);
}

static void a_return_to_reveals_the_executing_function(void **state)
{
    (void)state;
    executed_expect(">w +f -f >w +g -g =h +i -i -h +j",
                    ">w f<w -f >w >w g<w -g >w h<? i<h -i >h -h >? j<?");
    assert_int_equal(executed_counts().callers_unknown, 2);
}

static void a_return_to_an_unrecorded_function_keeps_open_calls(void **state)
{
    (void)state;
    /* A callback: x was not recorded, f is still open. */
    executed_expect("+w_ +f +g -g >x_ +h -h =i -i -f",
                    "w<? f<w g<f -g >f >x h<x -h >x i<? -i >? -f >w");
}

static void a_process_that_was_spawned_has_no_caller(void **state)
{
    (void)state;
    executed_expect("* +f =g +h -h -g", "f<. g<. h<g -h >g -g -f >.");
    assert_int_equal(executed_counts().callers_unknown, 0);
    executed_expect("* =f -f >", "f<. -f >. >.");
    executed_expect("* ?f", "f<?"); /* another function may have been called first */
}

static void a_process_first_seen_within_calls_has_unknown_callers(void **state)
{
    (void)state;
    executed_expect("-x =f +g -g -f +h", ">? f<? g<f -g >f -f >? h<?");
    assert_int_equal(executed_counts().unmatched, 1);
}

static void returns_of_calls_that_are_not_open_are_counted(void **state)
{
    (void)state;
    executed_expect("+w_ +f -x", "w<? f<w >?");
    assert_int_equal(executed_counts().unmatched, 1);
    executed_expect("+g -g -f +h", "g<? -g >? -f >w h<w"); /* known again */
}

static void the_executing_function_is_no_open_call_of_its_name(void **state)
{
    (void)state;
    executed_expect(">f -f", ">f >?");
    assert_int_equal(executed_counts().unmatched, 1);
}

/* --- Recordings of a BEAM, without `tail` ----------------------------------------------------- */

/* Returns the value in LINE if LINE begins with KEY, else NULL. */
static const char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);

    if (strncmp(line, key, length) != 0)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line + length;
}

/* The cases are also those of the tracers' stacks. */
static void the_cases_shared_with_tracers_hold_for_the_host(void **state)
{
    FILE *table = fopen("tests/support/stack_cases", "r");
    char line[256], events[256] = "";
    int cases = 0;

    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        const char *happens = value_of(line, "events: ");
        const char *answers = value_of(line, "host: ");
        if (happens)
            strcpy(events, happens);
        if (!answers)
            continue;
        end(state);
        begin(state);
        executed_expect(events, answers);
        cases++;
    }
    fclose(table);
    assert_order(cases, >, 20);
}

static void each_call_ends_with_its_own_record(void **state)
{
    (void)state;
    executed_expect("?t1 ?t2 ?t3 -t3 -t2 -t1", "t1<? t2<? t3<? -t3 >? -t2 >? -t1 >?");
    assert_int_equal(executed_counts().callers_unknown, 3);
    assert_int_equal(executed_counts().repaired, 0);
}

static void calls_without_a_record_of_their_end_are_counted(void **state)
{
    (void)state;
    executed_expect("?f ?g ?h_ ?i -f", "f<? g<? h<? i<? ?i ?g -f >?");
    assert_int_equal(executed_counts().untold, 2);
    executed_expect("?f ?g_ ?g_ ?g_ -f", "f<? g<? g<? g<? -f >?");
    assert_int_equal(executed_counts().untold, 2);
}

static void the_nearest_call_of_a_function_returns(void **state)
{
    (void)state;
    executed_expect("?f ?g ?f_ -f ?h -f", "f<? g<? f<? >? h<? ?h ?g -f >?");
}

static void a_return_to_ends_the_frames_above(void **state)
{
    (void)state;
    executed_expect("?f ?g ?h >f ?i >f", "f<? g<? h<? ~h ~g >f i<? ~i >f");
    executed_expect(">w_", "~f >w");
    executed_expect("?a ?b >u_ ?c >u_ -a", "a<? b<? ~b >u c<? ~c >u -a >?");
}

/* The record of a return_to can leave open whether a call has ended. Such a call stays undecided
 * until it has a record of its own, or until a later return_to can end no other call. */
static void a_return_to_an_untraced_function_leaves_calls_undecided(void **state)
{
    (void)state;
    executed_expect("?a ?b >u_ ?c >v_ >w_", "a<? b<? ~b >u c<? ~c >v ~a >w");
    assert_int_equal(executed_undecided, 2);
    executed_expect("?m ?a ?b >u_ >v_ >", "m<? a<? b<? ~b >u ?a >v ~m >.");
    assert_int_equal(executed_undecided, 4);
    assert_int_equal(executed_doubtful, 1);
    executed_expect("?a ?b >u_ -a", "a<? b<? ~b >u -a >?");
}

/* If it did not matter which calls ended, those that may have are taken for open. */
static void an_unrequested_return_to_leaves_possible_calls_open(void **state)
{
    (void)state;
    executed_expect("?m ?a ?b ^u_ ?c ^v_", "m<? a<? b<? ~b >u c<? ~c >v");
    assert_int_equal(executed_undecided, 0);
    executed_expect("?d >w_ >x_ >", "d<? ~d >w ?a >x ~m >.");
    assert_int_equal(executed_undecided, 2);
    executed_expect("?m ?f ?f ?f ?c ^f >f >f >m >",
                    "m<? f<? f<? f<? c<? ~c >f /f >f ~f >f ~f >m ~m >.");
}

static void recorded_callers_decide_what_a_return_to_ends(void **state)
{
    (void)state;
    executed_expect("?a/m ?b/u >u_ ?c/u >u_ >m_", "a<m b<u ~b >u c<u ~c >u ~a >m");
    assert_int_equal(executed_undecided, 0);
    /* a's caller is u, like b's; b was possibly a tail call of a. */
    executed_expect("?m/x ?a/u ?b/u >u_ >x_", "m<x a<u b<u ~b >u ?a ~m >x");
    assert_int_equal(executed_undecided, 1);
    /* u catches: the exception has passed b, which did not return to u. */
    executed_expect("?m/x ?a/u ?b/a >u_ >x_", "m<x a<u b<a ?b ~a >u ~m >x");
    assert_int_equal(executed_undecided, 1);
    /* c's caller is m, so control was back in m; the end of b was not recorded. */
    executed_expect("?m/x ?a/m ?b/u ?c/m >m_ >x_", "m<x a<m b<u c<m ~c ?b ~a >m ~m >x");
}

static void a_return_to_a_recursive_function_ends_one_call_at_a_time(void **state)
{
    (void)state;
    executed_expect("?f ?f ?x ?f ?t >f >f >f >w_",
                    "f<? f<? x<? f<? t<? ~t >f /f /x >f ~f >f ~f >w");
    assert_int_equal(executed_undecided, 2);
}

/* If there are returns, a return_to without one may belong to an exception. */
static void a_lone_return_to_among_returns_can_be_an_exception(void **state)
{
    (void)state;
    executed_expect("?a ?b -b >a", "a<? b<? -b >? >a");
    executed_expect("?b ?c >a", "b<? c<? ?c ~b >a");
    assert_int_equal(executed_undecided, 1);
}

static void exceptions_as_a_beam_records_them_need_no_repair(void **state)
{
    (void)state;
    executed_expect("?mid ?caught ?b1 ?c4 !c4 !b1 >caught -caught >mid -mid >w_",
                    "mid<? caught<? b1<? c4<? !c4 >? !b1 >? >caught -caught >? >mid -mid >? >w");
    assert_int_equal(executed_counts().repaired, 0);
    assert_int_equal(executed_counts().untold, 0);
}

static void recorded_callers_replace_derived_ones(void **state)
{
    struct th_recorded_call call = {.function = executed_function("f"), .tail = TH_UNKNOWN};

    (void)state;
    call.recorded = (struct th_caller){TH_CALLER_FUNCTION, executed_function("g")};
    th_recorded_enter(&executed, &executed_stack, &call);
    assert_int_equal(th_recorded_caller(&executed, &executed_stack).kind, TH_CALLER_FUNCTION);
    call.recorded.kind = TH_CALLER_UNDEFINED;
    th_recorded_enter(&executed, &executed_stack, &call);
    assert_int_equal(th_recorded_caller(&executed, &executed_stack).kind, TH_CALLER_UNDEFINED);
    assert_int_equal(executed_counts().callers_unknown, 0);
    assert_int_equal(executed_counts().callers_disputed, 0);
    call.tail = TH_NO; /* f is executing */
    th_recorded_enter(&executed, &executed_stack, &call);
    assert_int_equal(th_recorded_caller(&executed, &executed_stack).kind, TH_CALLER_UNDEFINED);
    assert_int_equal(executed_counts().callers_disputed, 1);
}

static void match_results_of_the_form_of_a_caller_are_recognized(void **state)
{
    static const struct {
        const char *text;
        enum th_caller_kind kind;
    } results[] = {
        {"{lists,map,2}", TH_CALLER_FUNCTION},  {"undefined", TH_CALLER_UNDEFINED},
        {"{lists,map,2,x}", TH_CALLER_UNKNOWN}, {"{lists,2,map}", TH_CALLER_UNKNOWN},
        {"{lists,map,256}", TH_CALLER_UNKNOWN}, {"true", TH_CALLER_UNKNOWN},
        {"[{lists,map,2}]", TH_CALLER_UNKNOWN},
    };
    th_env env;
    th_term t;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        assert_int_equal(th_text_parse(&env, results[i].text, strlen(results[i].text), &t), TH_OK);
        assert_int_equal(th_recorded_caller_of_result(t).kind, results[i].kind);
    }
    assert_int_equal(th_recorded_caller_of_result(TH_NONE).kind, TH_CALLER_UNKNOWN);
    th_env_release(&env);
}

/* --- Both: recorded tail calls with records of their own -------------------------------------- */

static void tail_calls_with_their_own_returns_are_reconstructed(void **state)
{
    (void)state;
    executed.each_returns = true;
    executed_expect("+w_ +foo +lots =of =bar =bar -bar -bar -of -lots +x -x -foo",
                    "w<? foo<w lots<foo of<foo bar<foo bar<foo -bar -bar -of -lots >foo "
                    ">foo >foo >foo x<foo -x >foo -foo >w");
    assert_int_equal(executed_counts().unmatched, 0);
    assert_int_equal(executed_counts().repaired, 0);
}

static void some_tail_calls_can_have_their_own_returns(void **state)
{
    (void)state;
    executed.each_returns = true;
    /* Only lots; then only bar, where the next record is of another frame. */
    executed_expect("+w_ +foo +lots =of =bar -lots +x",
                    "w<? foo<w lots<foo of<foo bar<foo -bar -of -lots >foo x<foo");
    executed_expect("-x -foo +foo +bar =of =bar -bar -foo",
                    "-x >foo -foo >w foo<w bar<foo of<foo bar<foo -bar -of -bar >foo -foo >w");
    executed_expect("+f +f_ =g -g >f", "f<w f<f g<f -g >f >f");
    executed_expect("+f_ =g -g #", "f<f g<f -g >f");
    executed_expect("+h", "h<?");
    assert_int_equal(executed_counts().lost, 1); /* f; g and f_ had returned */
}

static void exceptions_with_their_own_records_are_reconstructed(void **state)
{
    (void)state;
    executed.each_returns = true;
    executed_expect("+w_ +b3 +b4 =c4 !c4 !b4 !b3 >w_",
                    "w<? b3<w b4<b3 c4<b3 !c4 !b4 >b3 >b3 !b3 >w >w");
}

/* --- Losses ----------------------------------------------------------------------------------- */

static void lost_records_make_callers_unknown(void **state)
{
    (void)state;
    executed_expect("+w_ +f +g # +h -h -g -f", "w<? f<w g<f h<? -h >? >? >?");
    assert_int_equal(executed_counts().lost, 2);
    assert_int_equal(executed_counts().late, 2);
    assert_int_equal(executed_counts().unmatched, 0);
}

static void ended_processes_are_forgotten(void **state)
{
    (void)state;
    executed_expect("+f +g", "f<? g<f");
    th_recorded_forget(&executed, &executed_stack);
    assert_int_equal(executed.bounds.slots, 0);
    executed_expect("+h -g", "h<? >?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_callers_of_a_spawned_process_are_known),
        TEST(callers_are_known_up_to_an_unknown_one),
        TEST(a_recorded_caller_proves_no_further_callers),
        TEST(the_caller_is_the_function_that_a_call_returns_to),
        TEST(other_tail_calls_lead_to_other_callers),
        TEST(calls_after_a_return_have_the_resumed_function_as_caller),
        TEST(recursive_calls_have_the_function_itself_as_caller),
        TEST(untraced_calls_end_without_an_event),
        TEST(untraced_tail_calls_take_no_room),
        TEST(an_exception_ends_frames_up_to_the_catching_one),
        TEST(frames_without_a_record_end_without_an_event),
        TEST(a_lone_return_to_ends_frames_without_an_event),
        TEST(a_return_to_reveals_the_executing_function),
        TEST(a_return_to_an_unrecorded_function_keeps_open_calls),
        TEST(a_process_that_was_spawned_has_no_caller),
        TEST(a_process_first_seen_within_calls_has_unknown_callers),
        TEST(returns_of_calls_that_are_not_open_are_counted),
        TEST(the_executing_function_is_no_open_call_of_its_name),
        TEST(the_cases_shared_with_tracers_hold_for_the_host),
        TEST(each_call_ends_with_its_own_record),
        TEST(calls_without_a_record_of_their_end_are_counted),
        TEST(the_nearest_call_of_a_function_returns),
        TEST(a_return_to_ends_the_frames_above),
        TEST(a_return_to_an_untraced_function_leaves_calls_undecided),
        TEST(an_unrequested_return_to_leaves_possible_calls_open),
        TEST(recorded_callers_decide_what_a_return_to_ends),
        TEST(a_return_to_a_recursive_function_ends_one_call_at_a_time),
        TEST(a_lone_return_to_among_returns_can_be_an_exception),
        TEST(exceptions_as_a_beam_records_them_need_no_repair),
        TEST(recorded_callers_replace_derived_ones),
        TEST(match_results_of_the_form_of_a_caller_are_recognized),
        TEST(tail_calls_with_their_own_returns_are_reconstructed),
        TEST(some_tail_calls_can_have_their_own_returns),
        TEST(exceptions_with_their_own_records_are_reconstructed),
        TEST(lost_records_make_callers_unknown),
        TEST(ended_processes_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
