/* Tests the search for the smallest part of a recording, with tests whose smallest answer is known:
 * the answer, and the number of trials. */
#include "host/replay/minimize.h"

#include "host/base/base.h"
#include "tests/support/assertions.h"

enum { MANY = 245000, FEW = 3000 };

/* A recording of `count` records whose class is their number modulo a number; a predicate. */
struct simulated {
    size_t count, tracees, tags, functions;
    /* Returns how many of the units the crash needs; 0: none. */
    size_t (*holds)(const struct simulated *s, const size_t units[], size_t count);
    const size_t *needed; /* ascending */
    size_t needed_count;
    unsigned trials, most; /* the search is stopped after `most`; 0: never */
    bool stopped;
    uint64_t records; /* of all trials */
};

static size_t on_trial(void *context, const size_t units[], size_t count)
{
    struct simulated *s = context;

    s->trials++;
    s->stopped = s->trials == s->most;
    s->records += count;
    return s->holds(s, units, count);
}

/* All needed records, in their order. */
static size_t needs_these(const struct simulated *s, const size_t units[], size_t count)
{
    size_t met = 0;

    for (size_t i = 0; i < count; i++) {
        met += units[i] == s->needed[met];
        if (met == s->needed_count)
            return i + 1;
    }
    return 0;
}

/* Finds the smallest part; *LEFT gets the number of records. Owner: the caller frees the result. */
static size_t *minimize(struct simulated *s, size_t *left)
{
    struct th_replay_classes *classes = th_alloc_zero(s->count * sizeof *classes);
    size_t *records = th_alloc(s->count * sizeof *records);
    size_t needed;

    for (size_t i = 0; i < s->count; i++) {
        classes[i].of[TH_REPLAY_CLASS_TRACEE] = s->tracees ? i % s->tracees : 0;
        classes[i].of[TH_REPLAY_CLASS_TAG] = s->tags ? i % s->tags : 0;
        classes[i].of[TH_REPLAY_CLASS_FUNCTION] = s->functions ? i % s->functions : 0;
        records[i] = i;
    }
    needed = s->holds(s, records, s->count);
    assert_true(needed > 0);
    *left = th_replay_minimize_records(records, needed, classes,
                                       &(struct th_replay_trials){on_trial, s, &s->stopped});
    th_free(classes);
    return records;
}

/* Asserts that exactly the needed records are left, after at most MOST trials. */
static void check_needed(struct simulated s, unsigned most)
{
    size_t left, *records;

    s.holds = needs_these;
    records = minimize(&s, &left);
    print_message("%zu of %zu records: %u trials of %llu records\n", left, s.count, s.trials,
                  (unsigned long long)s.records);
    assert_int_equal(left, s.needed_count);
    for (size_t i = 0; i < left; i++)
        assert_int_equal(records[i], s.needed[i]);
    assert_in_range(s.trials, 1, most);
    th_free(records);
}

static void test_last_record_alone(void **state)
{
    (void)state;
    check_needed(
        (struct simulated){.count = MANY, .needed = (size_t[]){MANY - 1}, .needed_count = 1}, 1);
}

static void test_two_far_apart(void **state)
{
    (void)state;
    check_needed(
        (struct simulated){.count = MANY, .needed = (size_t[]){17, MANY - 1}, .needed_count = 2},
        64);
}

static void test_five_spread(void **state)
{
    (void)state;
    check_needed((struct simulated){.count = MANY,
                                    .needed = (size_t[]){999, 61000, 122000, 190001, MANY - 1},
                                    .needed_count = 5},
                 150);
}

static void test_hundred_in_a_row(void **state)
{
    size_t needed[100];

    (void)state;
    for (size_t i = 0; i < 100; i++)
        needed[i] = 5000 + i;
    check_needed((struct simulated){.count = MANY, .needed = needed, .needed_count = 100}, 130);
}

static void test_hundred_spread(void **state)
{
    size_t needed[100];

    (void)state;
    for (size_t i = 0; i < 100; i++)
        needed[i] = MANY / 100 * (i + 1) - 1;
    check_needed((struct simulated){.count = MANY, .needed = needed, .needed_count = 100}, 2800);
}

/* The needed records are of one tracee of 50 and of one function of 7: few trials find them. */
static void test_classes_are_cut_first(void **state)
{
    const size_t needed[] = {50 * 7 * 3 + 8, MANY - 50 * 7 * 2 + 8};
    struct simulated s = {
        .count = MANY, .tracees = 50, .functions = 7, .needed = needed, .needed_count = 2};

    (void)state;
    check_needed(s, 64);
}

/* --- Crashes after a number of records of one kind --------------------------------------------- */

enum { NEEDED_KIND = 3, KINDS = 11, NEEDED_NUMBER = 100 };

static size_t needs_hundred(const struct simulated *s, const size_t units[], size_t count)
{
    size_t met = 0;

    (void)s;
    for (size_t i = 0; i < count; i++) {
        met += units[i] % KINDS == NEEDED_KIND;
        if (met == NEEDED_NUMBER)
            return i + 1;
    }
    return 0;
}

static void test_hundred_of_a_kind(void **state)
{
    struct simulated s = {.count = FEW, .functions = KINDS, .holds = needs_hundred};
    size_t left, *records = minimize(&s, &left);

    (void)state;
    print_message("100 of a kind: %u trials\n", s.trials);
    assert_int_equal(left, NEEDED_NUMBER);
    for (size_t i = 0; i < left; i++)
        assert_int_equal(records[i] % KINDS, NEEDED_KIND);
    assert_in_range(s.trials, 1, 120);
    th_free(records);
}

/* --- An order of two processes ----------------------------------------------------------------- */

/* A record of process 1 after one of process 0, with no record of process 2 between them. */
static size_t needs_order(const struct simulated *s, const size_t units[], size_t count)
{
    (void)s;
    for (size_t i = 1; i < count; i++)
        if (units[i - 1] % 3 == 0 && units[i] % 3 == 1)
            return i + 1;
    return 0;
}

static void test_order_of_two_processes(void **state)
{
    struct simulated s = {.count = FEW, .tracees = 3, .holds = needs_order};
    size_t left, *records = minimize(&s, &left);

    (void)state;
    assert_int_equal(left, 2);
    assert_int_equal(records[0] % 3, 0);
    assert_int_equal(records[1] % 3, 1);
    th_free(records);
}

/* --- A state built up over ten records, which some records reset -------------------------------- */

static size_t needs_ten(const struct simulated *s, const size_t units[], size_t count)
{
    size_t sum = 0;

    (void)s;
    for (size_t i = 0; i < count; i++) {
        bool resets = units[i] % 500 == 499;
        sum = resets ? 0 : sum + (units[i] % 7 < 2);
        if (sum >= 10 && units[i] > FEW / 2)
            return i + 1;
    }
    return 0;
}

static void test_state_over_ten(void **state)
{
    struct simulated s = {.count = FEW, .holds = needs_ten};
    size_t left, *records = minimize(&s, &left);

    (void)state;
    assert_int_equal(left, 10);
    assert_int_equal(needs_ten(&s, records, left), 10);
    th_free(records);
}

/* --- Answers that are not monotone -------------------------------------------------------------- */

/* An even number of records, with the last one. No record can be left out alone. */
static size_t needs_even(const struct simulated *s, const size_t units[], size_t count)
{
    return count % 2 == 0 && units[count - 1] == s->count - 1 ? count : 0;
}

static void test_each_record_left_is_needed(void **state)
{
    struct simulated s = {.count = FEW, .holds = needs_even};
    size_t left, *records = minimize(&s, &left), *without;

    (void)state;
    assert_int_equal(left % 2, 0);
    assert_in_range(left, 2, 2);
    without = th_alloc(left * sizeof *without);
    for (size_t skipped = 0; skipped + 1 < left; skipped++) {
        size_t count = 0;
        for (size_t i = 0; i < left; i++)
            if (i != skipped)
                without[count++] = records[i];
        assert_int_equal(needs_even(&s, without, count), 0);
    }
    th_free(without);
    th_free(records);
}

/* A search that is stopped has a result for which the test holds. */
static void test_stopped_search(void **state)
{
    const size_t needed[] = {999, 61000, 122000, 190001, MANY - 1};
    struct simulated s = {
        .count = MANY, .needed = needed, .needed_count = 5, .holds = needs_these, .most = 40};
    size_t left, *records = minimize(&s, &left);

    (void)state;
    assert_int_equal(s.trials, 40);
    assert_true(needs_these(&s, records, left) > 0);
    assert_in_range(left, 6, MANY);
    th_free(records);
}

/* --- Units whose last one may go ---------------------------------------------------------------- */

static size_t needs_number_5(void *context, const size_t units[], size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        if (units[i] == 5)
            return count;
    return 0;
}

static void test_last_unit_may_go(void **state)
{
    size_t units[20];

    (void)state;
    for (size_t i = 0; i < 20; i++)
        units[i] = i;
    assert_int_equal(th_replay_minimize_units(
                         units, 20, false, &(struct th_replay_trials){needs_number_5, NULL, NULL}),
                     1);
    assert_int_equal(units[0], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_record_alone), cmocka_unit_test(test_two_far_apart),
        cmocka_unit_test(test_five_spread),       cmocka_unit_test(test_hundred_in_a_row),
        cmocka_unit_test(test_hundred_spread),    cmocka_unit_test(test_classes_are_cut_first),
        cmocka_unit_test(test_hundred_of_a_kind), cmocka_unit_test(test_order_of_two_processes),
        cmocka_unit_test(test_state_over_ten),    cmocka_unit_test(test_each_record_left_is_needed),
        cmocka_unit_test(test_stopped_search),    cmocka_unit_test(test_last_unit_may_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
