/* Tests the stack of a replayed process: several requests for one call, and very many calls. */
#include "tests/support/assertions.h"
#include "tests/support/executed.h"

#include "host/base/base.h"

#include <stddef.h>

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

/* --- Several requests ------------------------------------------------------------------------- */

static struct th_buffer words;

static uint64_t note_word(void *context, enum th_ending ending, const struct th_mfa *function,
                          uint64_t word)
{
    (void)context;
    (void)ending;
    th_buffer_printf(&words, "%s%d ", th_atom_name(function->function)->text, (int)word);
    return 0;
}

static void enter_wanted(enum th_fact tail, const char *name, uint64_t first, uint64_t second)
{
    struct th_recorded_call call = {.function = executed_function(name), .tail = tail};

    th_recorded_enter(&executed, &executed_stack, &call);
    th_recorded_want(&executed, &executed_stack, first, 0);
    if (second)
        th_recorded_want(&executed, &executed_stack, second, 0);
}

static void expect_words(enum th_tracer_tag tag, const char *name, const char *expected)
{
    struct th_execution_end end = {.tag = tag, .ended = note_word};

    end.function = (struct th_caller){TH_CALLER_FUNCTION, executed_function(name)};
    words.size = 0;
    executed.each_matters = true;
    th_recorded_leave(&executed, &executed_stack, &end);
    executed.each_matters = false;
    assert_string_equal(th_buffer_text(&words), expected);
    th_buffer_free(&words);
}

static void a_call_keeps_several_return_requests(void **state)
{
    (void)state;
    enter_wanted(TH_NO, "f", 1, 0);
    enter_wanted(TH_NO, "f", 1, 2); /* shares no entry with the first */
    enter_wanted(TH_YES, "g", 2, 1);
    enter_wanted(TH_YES, "g", 2, 1);
    expect_words(TH_TAG_return_from, "g", "g1 g2 g1 g2 f2 f1 ");
    expect_words(TH_TAG_return_from, "f", "f1 ");
    assert_int_equal(executed_stack.frames.count, 0);
}

static void each_of_several_requests_gets_the_returns_of_a_beam(void **state)
{
    (void)state;
    enter_wanted(TH_UNKNOWN, "f", 1, 2);
    enter_wanted(TH_UNKNOWN, "f", 1, 2);
    enter_wanted(TH_UNKNOWN, "g", 1, 0);
    expect_words(TH_TAG_return_to, "f", "g1 ");
    expect_words(TH_TAG_return_from, "f", "f2 f1 ");
    expect_words(TH_TAG_exception_from, "f", "f2 f1 ");
    expect_words(TH_TAG_return_from, "f", "");
}

static void each_of_several_requests_gets_separate_returns(void **state)
{
    (void)state;
    executed.each_returns = true;
    enter_wanted(TH_NO, "f", 1, 2);
    enter_wanted(TH_YES, "g", 1, 2);
    expect_words(TH_TAG_return_from, "g", "g2 g1 f2 f1 ");
    expect_words(TH_TAG_return_from, "f", "");
    assert_int_equal(executed_stack.frames.count, 0);
    assert_int_equal(executed_counts().unmatched, 0);
}

/* --- Bounds ----------------------------------------------------------------------------------- */

static uint64_t count_end(void *context, enum th_ending ending, const struct th_mfa *function,
                          uint64_t word)
{
    (void)function;
    (void)word;
    assert_int_equal(ending, TH_ENDED_RETURNED);
    ++*(uint64_t *)context;
    return 0;
}

/* Returns the number of calls that a return_from of NAME ends. */
static uint64_t ended_by(const char *name)
{
    uint64_t ended = 0;
    struct th_execution_end end = {
        .tag = TH_TAG_return_from,
        .function = {TH_CALLER_FUNCTION, executed_function(name)},
        .ended = count_end,
        .context = &ended,
    };

    th_recorded_leave(&executed, &executed_stack, &end);
    return ended;
}

#ifdef __SANITIZE_THREAD__ /* the test has one thread: more calls show no more races */
enum { MANY = 2 * TH_EXECUTION_FRAMES };
#else
enum { MANY = 10000000 };
#endif

/* Makes MANY tail calls, alternately of both functions, and returns the number of allocations of
 * the second million. */
static unsigned long tail_calls(const char *one, const char *other)
{
    struct th_recorded_call calls[] = {
        {.function = executed_function(one), .tail = TH_YES},
        {.function = executed_function(other), .tail = TH_YES},
    };
    unsigned long before = 0;

    for (int i = 0; i < MANY; i++) {
        if (i == TH_EXECUTION_FRAMES)
            before = th_alloc_count();
        th_recorded_enter(&executed, &executed_stack, &calls[i % 2]);
        th_recorded_want(&executed, &executed_stack, 1, 0);
    }
    return th_alloc_count() - before;
}

static void ten_million_tail_calls_take_bounded_memory(void **state)
{
    (void)state;
    executed_expect("+w_ +f", "w<? f<w");
    assert_int_equal(tail_calls("a", "b"), 0);
    assert_int_equal(executed_stack.frames.count, TH_EXECUTION_FRAMES);
    assert_order(executed.bounds.slots * 28, <, 32 << 20);
    assert_int_equal(executed_counts().not_kept, 1 + MANY - TH_EXECUTION_FRAMES);
    executed_expect("=c_", "c<w"); /* the caller is known nevertheless */
    assert_int_equal(ended_by("c_"), TH_EXECUTION_FRAMES - 1);
    executed_expect("+g -g -w_", "g<w -g >w >?");
    assert_int_equal(executed_counts().late, 1);
}

static void ten_million_calls_of_one_function_share_memory(void **state)
{
    (void)state;
    executed_expect("+w_ +foo +bar", "w<? foo<w bar<foo");
    tail_calls("bar", "bar");
    assert_int_equal(executed_counts().not_kept, 0);
    assert_order(executed.bounds.slots, <=, 4096);
    assert_int_equal(ended_by("bar"), MANY + 1);
    executed_expect("-foo", "-foo >w");
}

static void returns_of_calls_that_were_not_kept_are_counted(void **state)
{
    const struct th_execution_options options = {.frames = 3};

    (void)state;
    executed_begin(&options);
    executed_expect("?a ?b ?c ?d ?e -e -d -c -b -a -x",
                    "a<? b<? c<? d<? e<? -e >? -d >? -c >? >? >? >?");
    assert_int_equal(executed_counts().not_kept, 2);
    assert_int_equal(executed_counts().late, 2);
    assert_int_equal(executed_counts().unmatched, 1);
}

static void a_recording_without_returns_takes_bounded_memory(void **state)
{
    const struct th_execution_options options = {.frames = 100};

    (void)state;
    executed_begin(&options);
    for (int i = 0; i < 500; i++)
        executed_expect("?f ?g", "f<? g<?");
    assert_int_equal(executed_counts().calls, 1000);
    assert_int_equal(executed_counts().returns, 0);
    assert_int_equal(executed_counts().not_kept, 900);
    assert_int_equal(executed_counts().callers_unknown, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_keeps_several_return_requests),
        TEST(each_of_several_requests_gets_the_returns_of_a_beam),
        TEST(each_of_several_requests_gets_separate_returns),
        TEST(ten_million_tail_calls_take_bounded_memory),
        TEST(ten_million_calls_of_one_function_share_memory),
        TEST(returns_of_calls_that_were_not_kept_are_counted),
        TEST(a_recording_without_returns_takes_bounded_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
