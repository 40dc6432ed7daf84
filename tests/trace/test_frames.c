/* Tests stacks of call frames: against a plain array of calls, at their bounds, and their cost. */
#include "host/trace/recorded/frames.h"

#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct th_frames frames;
static struct th_frames_bounds bounds;

static int begin(void **state)
{
    (void)state;
    bounds = (struct th_frames_bounds){.each = 1000, .all = 100000};
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_recorded_frames_clear(&frames, &bounds);
    assert_int_equal(bounds.slots, 0);
    return 0;
}

enum { F = TH_FRAME_FUNCTION_FIRST, G, H, I };

static void push(th_frame_function function, enum th_frame_link link, uint64_t word)
{
    th_recorded_frames_push(&frames, &bounds, function, link, word, TH_FRAME_UNKNOWN);
}

/* --- Physical frames -------------------------------------------------------------------------- */

static void a_frame_returns_to_the_frame_below(void **state)
{
    (void)state;
    frames.below = I;
    push(F, TH_FRAME_CALLS, 0);
    assert_int_equal(th_recorded_frames_caller(&frames), I);
    push(G, TH_FRAME_CALLS, 1);
    assert_int_equal(th_recorded_frames_caller(&frames), F);
    push(H, TH_FRAME_TAIL, 1);
    push(I, TH_FRAME_TAIL, 0);
    assert_int_equal(th_recorded_frames_caller(&frames), F);
    assert_int_equal(th_recorded_frames_begin(&frames), 1);
    push(G, TH_FRAME_UNCLEAR, 0);
    assert_int_equal(th_recorded_frames_caller(&frames), TH_FRAME_UNKNOWN);
    assert_int_equal(th_recorded_frames_begin(&frames), 4);
}

static void a_replaced_frame_is_not_found(void **state)
{
    (void)state;
    push(F, TH_FRAME_CALLS, 0);
    push(G, TH_FRAME_CALLS, 1);
    push(F, TH_FRAME_TAIL, 1);
    push(G, TH_FRAME_TAIL, 1);
    push(H, TH_FRAME_SAME, 2);
    assert_int_equal(th_recorded_frames_find(&frames, F), 0);
    assert_int_equal(th_recorded_frames_find(&frames, G), TH_FRAMES_NONE);
    assert_int_equal(th_recorded_frames_find(&frames, H), 4);
}

static void equal_calls_share_an_entry(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        push(F, TH_FRAME_CALLS, 1);
    assert_int_equal(frames.count, 1);
    assert_int_equal(th_recorded_frames_caller(&frames), F); /* the second has called the third */
    for (int i = 0; i < TH_FRAME_TIMES_MAX + 2; i++)
        push(G, TH_FRAME_TAIL, 1);
    /* The third call of F is in another frame than the two below it. */
    assert_int_equal(frames.count, 4);
    assert_int_equal(th_recorded_frames_at(&frames, 0)->times, 2);
    assert_int_equal(th_recorded_frames_begin(&frames), 1);
    assert_int_equal(th_recorded_frames_caller(&frames), F);
    assert_int_equal(th_recorded_frames_find(&frames, F), 0);
    assert_int_equal(th_recorded_frames_wanted(&frames), 3 + TH_FRAME_TIMES_MAX + 2);
    th_recorded_frames_pop_call(&frames, &bounds);
    th_recorded_frames_pop_call(&frames, &bounds);
    assert_int_equal(frames.count, 3);
}

static void calls_that_differ_share_no_entry(void **state)
{
    (void)state;
    push(F, TH_FRAME_CALLS, 1);
    push(F, TH_FRAME_CALLS, 2);
    push(F, TH_FRAME_TAIL, 2);
    push(F, TH_FRAME_UNCLEAR, 2);
    push(F, TH_FRAME_SAME, 3);
    push(F, TH_FRAME_SAME, 3);
    assert_int_equal(frames.count, 6);
}

/* --- Bounds ----------------------------------------------------------------------------------- */

static void a_full_stack_drops_its_oldest_frame(void **state)
{
    (void)state;
    bounds.each = 3;
    frames.below = I;
    push(F, TH_FRAME_CALLS, 1);
    push(G, TH_FRAME_CALLS, 0);
    push(H, TH_FRAME_CALLS, 1);
    push(F, TH_FRAME_CALLS, 1);
    assert_int_equal(frames.count, 3);
    assert_int_equal(frames.forgotten, 1);
    assert_int_equal(bounds.not_kept, 1);
    assert_int_equal(frames.below, F); /* G still returns to F */
    push(F, TH_FRAME_UNCLEAR, 0);
    assert_int_equal(bounds.not_kept, 1); /* no request for G */
    assert_int_equal(frames.below, G);
    push(F, TH_FRAME_UNCLEAR, 1);
    push(F, TH_FRAME_UNCLEAR, 0);
    assert_int_equal(frames.below, TH_FRAME_UNKNOWN);
}

static void callers_below_the_oldest_frame_are_unknown(void **state)
{
    th_frame_function callers[4];

    (void)state;
    bounds.each = 2;
    frames.below = TH_FRAME_NOBODY;
    push(F, TH_FRAME_CALLS, 1);
    push(G, TH_FRAME_CALLS, 1);
    assert_int_equal(th_recorded_frames_callers(&frames, callers, 4), 2);
    assert_int_equal(callers[0], F);
    assert_int_equal(callers[1], TH_FRAME_NOBODY);
    push(H, TH_FRAME_CALLS, 1);
    assert_int_equal(th_recorded_frames_callers(&frames, callers, 4), 3);
    assert_int_equal(callers[0], G);
    assert_int_equal(callers[1], F);
    assert_int_equal(callers[2], TH_FRAME_UNKNOWN);
    assert_int_equal(th_recorded_frames_callers(&frames, callers, 2), 2);
    assert_int_equal(th_recorded_frames_callers(&frames, callers, 0), 0);
}

static void the_caller_of_endless_tail_calls_is_remembered(void **state)
{
    (void)state;
    bounds.each = 10;
    push(F, TH_FRAME_CALLS, 0);
    push(G, TH_FRAME_CALLS, 1);
    for (int i = 0; i < 1000; i++)
        push(i % 2 ? G : H, TH_FRAME_TAIL, 1);
    assert_int_equal(frames.count, 10);
    assert_int_equal(bounds.not_kept, 991);
    assert_int_equal(th_recorded_frames_begin(&frames), 0);
    assert_int_equal(th_recorded_frames_caller(&frames), F);
    assert_int_equal(th_recorded_frames_find(&frames, F), TH_FRAMES_NONE);
    assert_int_equal(th_recorded_frames_find(&frames, G), 9);
}

static void the_memory_of_all_stacks_together_is_bounded(void **state)
{
    struct th_frames other = {0};

    (void)state;
    bounds.all = 64;
    for (int i = 0; i < 100; i++)
        push(F + i, TH_FRAME_CALLS, 0);
    assert_int_equal(frames.count, 64);
    for (int i = 0; i < 100; i++)
        th_recorded_frames_push(&other, &bounds, F + i, TH_FRAME_CALLS, 0, TH_FRAME_UNKNOWN);
    assert_int_equal(other.count, 8);
    th_recorded_frames_clear(&other, &bounds);
    assert_int_equal(bounds.slots, 64);
}

static void memory_of_a_deep_recursion_is_freed(void **state)
{
    (void)state;
    bounds.each = 100000;
    for (int i = 0; i < 50000; i++)
        push(F + i % 2, TH_FRAME_CALLS, 0);
    assert_order(bounds.slots, >=, 50000);
    while (frames.count > 10)
        th_recorded_frames_pop(&frames, &bounds);
    assert_in_range(bounds.slots, 10, 1024);
    assert_int_equal(th_recorded_frames_find(&frames, F), 8);
    assert_int_equal(th_recorded_frames_find(&frames, F + 1), 9);
}

static void a_steady_stack_allocates_nothing(void **state)
{
    unsigned long before;

    (void)state;
    bounds.each = 100;
    for (int i = 0; i < 200; i++)
        push(F + i % 2, TH_FRAME_CALLS, 1);
    before = th_alloc_count();
    for (int i = 0; i < 10000; i++) {
        push(F + i % 3, TH_FRAME_CALLS, 1);
        if (i % 3 == 0)
            th_recorded_frames_pop(&frames, &bounds);
    }
    assert_int_equal(th_alloc_count(), before);
}

static void an_entry_takes_24_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct th_frame), 24);
}

/* --- Against a plain array of calls without shared entries ------------------------------------ */

enum { MODEL_CALLS = 4000, FUNCTIONS = 40 };

static struct call {
    th_frame_function function;
    enum th_frame_link link;
    uint64_t word;
} model[MODEL_CALLS];
static int depth;

/* Returns the index of the first call in the physical frame of the call at I. */
static int model_begin(int i)
{
    while (model[i].link == TH_FRAME_TAIL || model[i].link == TH_FRAME_SAME)
        i--;
    return i;
}

static th_frame_function model_caller(void)
{
    int i = model_begin(depth - 1);

    if (model[i].link == TH_FRAME_UNCLEAR)
        return TH_FRAME_UNKNOWN;
    return i ? model[i - 1].function : TH_FRAME_NOBODY;
}

/* Returns the number of calls above the last frame in which FUNCTION executes; -1: none. */
static int model_find(th_frame_function function)
{
    for (int i = depth - 1; i >= 0; i = model_begin(i) - 1)
        if (model[i].function == function)
            return depth - 1 - i;
    return -1;
}

/* The same number, from the stack. */
static int find(th_frame_function function)
{
    uint32_t entry = th_recorded_frames_find(&frames, function);
    int above = 0;

    if (entry == TH_FRAMES_NONE)
        return -1;
    for (uint32_t i = entry + 1; i < frames.count; i++)
        above += th_recorded_frames_at(&frames, i)->times;
    return above;
}

static void model_push(void)
{
    struct call call = {F + rand() % FUNCTIONS, rand() % 4, rand() % 4 ? 1 : rand() % 3};

    if (depth == 0)
        call.link = TH_FRAME_CALLS;
    else if (rand() % 2) /* adds one more */
        call = model[depth - 1];
    if (call.link == TH_FRAME_SAME)
        call.function = model[depth - 1].function;
    model[depth++] = call;
    push(call.function, call.link, call.word);
}

/* Removes a frame with all its calls. */
static void model_pop_frame(void)
{
    int begin = model_begin(depth - 1);

    for (; depth > begin; depth--)
        th_recorded_frames_pop_call(&frames, &bounds);
}

static size_t model_callers(th_frame_function callers[], size_t most)
{
    size_t count = 0;

    for (int i = model_begin(depth - 1); count < most; i = model_begin(i - 1)) {
        callers[count++] = model[i].link == TH_FRAME_UNCLEAR ? TH_FRAME_UNKNOWN
                           : i                               ? model[i - 1].function
                                                             : TH_FRAME_NOBODY;
        if (callers[count - 1] < TH_FRAME_FUNCTION_FIRST)
            break;
    }
    return count;
}

static void compare_callers(void)
{
    th_frame_function here[12], expected[12];
    size_t most = (size_t)rand() % 12;
    size_t count = th_recorded_frames_callers(&frames, here, most);

    assert_int_equal(count, model_callers(expected, most));
    assert_memory_equal(here, expected, count * sizeof *here);
}

static void compare(void)
{
    th_frame_function function = F + rand() % FUNCTIONS;

    assert_int_equal(find(function), model_find(function));
    if (depth == 0) {
        assert_null(th_recorded_frames_top(&frames));
        return;
    }
    assert_int_equal(th_recorded_frames_top(&frames)->function, model[depth - 1].function);
    assert_int_equal(th_recorded_frames_caller(&frames), model_caller());
    compare_callers();
}

static void random_calls_and_returns_equal_a_model(void **state)
{
    (void)state;
    srand(1);
    bounds.each = MODEL_CALLS;
    frames.below = TH_FRAME_NOBODY;
    for (int i = 0; i < 200000; i++) {
        bool rising = i / 5000 % 2 == 0;
        if (depth < MODEL_CALLS && rand() % 100 < (rising ? 85 : 60)) {
            model_push();
        } else if (depth > 0) {
            model_pop_frame();
        }
        compare();
    }
    assert_int_equal(frames.forgotten, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frame_returns_to_the_frame_below, begin, end),
        cmocka_unit_test_setup_teardown(a_replaced_frame_is_not_found, begin, end),
        cmocka_unit_test_setup_teardown(equal_calls_share_an_entry, begin, end),
        cmocka_unit_test_setup_teardown(calls_that_differ_share_no_entry, begin, end),
        cmocka_unit_test_setup_teardown(a_full_stack_drops_its_oldest_frame, begin, end),
        cmocka_unit_test_setup_teardown(callers_below_the_oldest_frame_are_unknown, begin, end),
        cmocka_unit_test_setup_teardown(the_caller_of_endless_tail_calls_is_remembered, begin, end),
        cmocka_unit_test_setup_teardown(the_memory_of_all_stacks_together_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(memory_of_a_deep_recursion_is_freed, begin, end),
        cmocka_unit_test_setup_teardown(a_steady_stack_allocates_nothing, begin, end),
        cmocka_unit_test_setup_teardown(an_entry_takes_24_bytes, begin, end),
        cmocka_unit_test_setup_teardown(random_calls_and_returns_equal_a_model, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
