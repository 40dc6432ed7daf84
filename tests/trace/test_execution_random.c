/*
 * Runs random programs, trees of calls, tail calls, exceptions and catches, with a stack of the
 * test's own, while th_execution gets the records that a recorder would have written. After each
 * record, its results must be those of that stack.
 */
#include "host/trace/recorded/execution.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Records that a recorder writes. */
enum recorder {
    PHYSICAL, /* `tail`, and one end for each physical frame */
    EACH,     /* `tail`, and one end for each call */
    BEAM      /* one end for each call */
};

static enum recorder recorder;
static bool return_to; /* return_to records, too */
static bool bounded;   /* the stack is full: results may be missing, but not wrong */
static struct th_execution execution;
static struct th_recorded_stack stack;
static int fuel; /* number of calls left */

enum { WORDS = 2, FUNCTIONS = 12, CALLS = 64, DEPTH = 200 };

/* A call in its physical frame. */
struct call {
    struct th_mfa function;
    uint64_t words[WORDS];
    int count;
};

/* A physical frame: calls that are tail calls of each other. */
struct frame {
    struct frame *below;
    struct call calls[CALLS];
    int count;
};

static struct th_mfa a_function(void)
{
    char name[] = {'a' + rand() % FUNCTIONS, 0};

    return (struct th_mfa){TH_AM(erlang), th_atom(name), rand() % 2};
}

static bool is_same(const struct th_mfa *a, const struct th_mfa *b)
{
    return a->module == b->module && a->function == b->function && a->arity == b->arity;
}

static void expect_caller(struct th_caller caller, const struct frame *frame)
{
    if (bounded && caller.kind == TH_CALLER_UNKNOWN)
        return;
    if (!frame) {
        assert_int_equal(caller.kind, TH_CALLER_UNDEFINED);
        return;
    }
    assert_int_equal(caller.kind, TH_CALLER_FUNCTION);
    assert_true(is_same(&caller.function, &frame->calls[frame->count - 1].function));
}

static void enter(struct frame *frame)
{
    struct call *call = &frame->calls[frame->count++];
    struct th_recorded_call entered = {.tail = frame->count > 1 ? TH_YES : TH_NO};

    fuel--;
    *call = (struct call){.function = a_function(), .count = rand() % (WORDS + 1)};
    entered.function = call->function;
    if (recorder == BEAM)
        entered.tail = TH_UNKNOWN;
    th_recorded_enter(&execution, &stack, &entered);
    if (recorder == BEAM)
        assert_int_equal(th_recorded_caller(&execution, &stack).kind, TH_CALLER_UNKNOWN);
    else
        expect_caller(th_recorded_caller(&execution, &stack), frame->below);
    for (int i = 0; i < call->count; i++) {
        call->words[i] = 1 + (uint64_t)rand() % 2;
        th_recorded_want(&execution, &stack, call->words[i], 0);
    }
}

/* The next expected results: calls of FRAME below COUNT, down to LAST. */
struct expected {
    const struct frame *frame;
    int count, last;
    int words; /* the words of calls[count - 1] that are due */
    enum th_ending ending;
};

static void skip_unwanted(struct expected *e)
{
    while (e->words == 0 && e->count > e->last) {
        e->count--;
        e->words = e->count > e->last ? e->frame->calls[e->count - 1].count : 0;
    }
}

/* True if WORD of FUNCTION is the next expected result. */
static bool is_next(const struct expected *e, const struct th_mfa *function, uint64_t word)
{
    const struct call *call = &e->frame->calls[e->count - 1];

    return is_same(function, &call->function) && word == call->words[e->words - 1];
}

static uint64_t check_end(void *context, enum th_ending ending, const struct th_mfa *function,
                          uint64_t word)
{
    struct expected *e = context;

    assert_int_equal(ending, e->ending);
    assert_order(e->count, >, e->last);
    assert_true(is_next(e, function, word));
    e->words--;
    skip_unwanted(e);
    return 0;
}

/* Makes a record that ends the calls of FRAME below COUNT, down to LAST. */
static struct th_caller leave(enum th_tracer_tag tag, const struct th_mfa *function,
                              const struct frame *frame, int count, int last)
{
    struct expected expected = {
        .frame = frame,
        .count = count,
        .last = last,
        .words = count > last ? frame->calls[count - 1].count : 0,
        .ending = tag == TH_TAG_return_from ? TH_ENDED_RETURNED : TH_ENDED_RAISED,
    };
    struct th_execution_end end = {.tag = tag, .ended = check_end, .context = &expected};
    struct th_caller now;

    if (function)
        end.function = (struct th_caller){TH_CALLER_FUNCTION, *function};
    else
        end.function.kind = TH_CALLER_UNDEFINED;
    skip_unwanted(&expected);
    now = th_recorded_leave(&execution, &stack, &end).to;
    if (!bounded)
        assert_int_equal(expected.count, expected.last);
    return now;
}

static void end_frame(const struct frame *frame, bool raised)
{
    enum th_tracer_tag tag = raised ? TH_TAG_exception_from : TH_TAG_return_from;
    int count = frame->count;

    if (recorder == BEAM) {
        for (; count > 0; count--)
            leave(tag, &frame->calls[count - 1].function, frame, count, count - 1);
        return;
    }
    expect_caller(leave(tag, &frame->calls[--count].function, frame, frame->count, 0),
                  frame->below);
    for (; recorder == EACH && count > 0; count--) /* these ended with the first */
        leave(tag, &frame->calls[count - 1].function, frame, 0, 0);
}

/* Continues the executing call of TO; NULL: the process ends. */
static void go_on(const struct frame *to)
{
    expect_caller(leave(TH_TAG_return_to, to ? &to->calls[to->count - 1].function : NULL, to, 0, 0),
                  to);
}

/* Runs a call with its callees until its frame ends. True: by an exception. */
static bool run(struct frame *below, int depth)
{
    struct frame *frame = calloc(1, sizeof *frame);
    bool raised = false;

    frame->below = below;
    enter(frame);
    for (int what = rand() % 16; what > 1 && !raised && fuel > 0; what = rand() % 16) {
        if (what < 7 && frame->count < CALLS) {
            enter(frame);
        } else if (what == 7) {
            raised = true;
        } else if (depth < DEPTH) {
            raised = run(frame, depth + 1) && rand() % 2;
            if (!raised && return_to)
                go_on(frame);
        }
    }
    end_frame(frame, raised);
    free(frame);
    return raised;
}

static void run_programs(int programs)
{
    for (int i = 0; i < programs; i++) {
        srand((unsigned)i);
        fuel = 400;
        th_recorded_spawned(&execution, &stack);
        run(NULL, 0);
        if (return_to)
            go_on(NULL);
        if (!bounded)
            assert_int_equal(stack.frames.count, 0);
    }
    th_recorded_forget(&execution, &stack);
    assert_int_equal(execution.bounds.slots, 0);
}

#ifdef __SANITIZE_THREAD__ /* the test has one thread: more programs show no more races */
enum { PROGRAMS = 100 };
#else
enum { PROGRAMS = 400 };
#endif

static void check(enum recorder by, uint32_t frames)
{
    const struct th_execution_options options = {.frames = frames, .each_returns = by == EACH};
    struct th_execution_counts counts;

    recorder = by;
    bounded = frames > 0;
    for (int i = 0; i < 2; i++) {
        return_to = i;
        th_recorded_start(&execution, &options);
        run_programs(PROGRAMS);
        counts = th_recorded_counts(&execution);
        assert_order(counts.calls, >, 25 * PROGRAMS);
        assert_int_equal(counts.lost + counts.callers_disputed, 0);
        if (bounded)
            assert_true(counts.not_kept > 5 * PROGRAMS / 2 && counts.late > PROGRAMS / 4);
        else
            assert_int_equal(counts.unmatched + counts.late + counts.repaired + counts.untold, 0);
    }
}

static void random_executions_are_reconstructed(void **state)
{
    (void)state;
    check(PHYSICAL, 0);
}

static void random_executions_with_all_returns_are_reconstructed(void **state)
{
    (void)state;
    check(EACH, 0);
}

static void random_recordings_of_a_beam_are_reconstructed(void **state)
{
    (void)state;
    check(BEAM, 0);
}

static void random_executions_on_full_stacks_are_reconstructed(void **state)
{
    (void)state;
    check(PHYSICAL, 8);
    check(EACH, 8);
    check(BEAM, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_executions_are_reconstructed),
        cmocka_unit_test(random_executions_with_all_returns_are_reconstructed),
        cmocka_unit_test(random_recordings_of_a_beam_are_reconstructed),
        cmocka_unit_test(random_executions_on_full_stacks_are_reconstructed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
