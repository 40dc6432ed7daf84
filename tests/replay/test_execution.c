/* Tests recordings as executions: the example of tail calls, and a BEAM's traced again. */
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/retraced.h"

#include "host/base/base.h"
#include "tests/support/skipping.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define RECORDINGS "samples/recordings/"

/* --- The example: callers and returns as measured in a BEAM ----------------------------------- */

static const char EXAMPLE[] = "samples/executions/tail_calls.jsonl";

#define ELEVEN(line) line line line line line line line line line line line
#define CALLS                      \
    "call ex:foo/0 <- sem:w/0\n"   \
    "call ex:lots/0 <- ex:foo/0\n" \
    "call ex:'of'/0 <- ex:foo/0\n" \
    "call ex:indirections/0 <- ex:foo/0\n" ELEVEN("call ex:bar/1 <- ex:foo/0\n")

static void expect(struct retracing retracing, const char *expected)
{
    struct th_execution_counts counts;

    retracing.module = "ex";
    assert_string_equal(retraced(EXAMPLE, &retracing, &counts), expected);
    assert_int_equal(counts.callers_unknown + counts.untold + counts.repaired, 0);
}

static void callers_of_tail_calls_are_reconstructed(void **state)
{
    (void)state;
    expect((struct retracing){0}, CALLS);
}

static void callers_of_external_calls_are_reconstructed(void **state)
{
    (void)state;
    expect((struct retracing){.external_only = true}, "call ex:foo/0 <- sem:w/0\n");
    expect((struct retracing){.external_only = true, .returns = true},
           "call ex:foo/0 <- sem:w/0\nreturn_from ex:foo/0 ok\n");
}

static void returns_of_tail_calls_are_reconstructed(void **state)
{
    (void)state;
    expect((struct retracing){.returns = true},
           CALLS ELEVEN("return_from ex:bar/1 done\n") "return_from ex:indirections/0 done\n"
                                                       "return_from ex:'of'/0 done\n"
                                                       "return_from ex:lots/0 done\n"
                                                       "return_from ex:foo/0 ok\n");
}

static void returns_are_followed_by_return_to(void **state)
{
    (void)state;
    expect((struct retracing){.return_to = true}, CALLS "return_to ex:foo/0\nreturn_to sem:w/0\n");
}

/* Returns the callers of the example with the fields `tail` of two lines (from 1) swapped. */
static const char *callers_with_swapped(int one, int other)
{
    const struct retracing retracing = {.module = "ex"};
    struct th_buffer example = {0};
    struct th_buffer bytes = {0};
    const char *told;
    int number = 1;
    char *rest;

    stream_add_file(&example, EXAMPLE);
    th_buffer_add_byte(&example, 0);
    rest = (char *)example.data;
    for (char *line; (line = strsep(&rest, "\n")) && *line; number++) {
        char *tail = strstr(line, "\"tail\":");
        bool is_tail = tail && strcmp(tail, "\"tail\":true}") == 0;
        if (number == one || number == other) {
            assert_int_equal(is_tail, number == other);
            strcpy(tail, "\"tail\":");
            th_buffer_printf(&bytes, "%s%s}\n", line, is_tail ? "false" : "true");
        } else {
            th_buffer_printf(&bytes, "%s\n", line);
        }
    }
    told = retraced_bytes(th_buffer_text(&bytes), &retracing, NULL);
    th_buffer_free(&example);
    th_buffer_free(&bytes);
    return told;
}

static void swapped_tail_calls_have_other_callers(void **state)
{
    (void)state;
    /* lots and 'of'; then lots and the first call of bar */
    assert_string_equal(callers_with_swapped(4, 5), "call ex:foo/0 <- sem:w/0\n"
                                                    "call ex:lots/0 <- sem:w/0\n"
                                                    "call ex:'of'/0 <- ex:lots/0\n"
                                                    "call ex:indirections/0 <- ex:lots/0\n" ELEVEN(
                                                        "call ex:bar/1 <- ex:lots/0\n"));
    assert_string_equal(callers_with_swapped(4, 7), "call ex:foo/0 <- sem:w/0\n"
                                                    "call ex:lots/0 <- sem:w/0\n"
                                                    "call ex:'of'/0 <- sem:w/0\n"
                                                    "call ex:indirections/0 <- sem:w/0\n" ELEVEN(
                                                        "call ex:bar/1 <- ex:indirections/0\n"));
}

/* --- Recordings of a BEAM --------------------------------------------------------------------- */

/* Tracing all that was recorded must return the same events. Returns the counts. */
static struct th_execution_counts expect_the_same(const char *file, bool callers, bool exceptions)
{
    const struct retracing retracing = {
        .returns = true,
        .exceptions = exceptions,
        .return_to = true,
        .recorded_callers = callers,
    };
    struct th_execution_counts counts;
    char *recorded = th_strdup(retraced_not(file));

    assert_string_equal(retraced(file, &retracing, &counts), recorded);
    assert_int_equal(counts.not_kept + counts.late + counts.lost + counts.callers_disputed, 0);
    th_free(recorded);
    return counts;
}

static void exceptions_and_return_to_are_reconstructed(void **state)
{
    struct th_execution_counts counts;

    (void)state;
    counts = expect_the_same(RECORDINGS "s03_exceptions_return_to.trace", false, true);
    assert_int_equal(counts.callers_unknown, counts.calls);
    assert_int_equal(counts.repaired + counts.unmatched + counts.untold, 0);
    counts = expect_the_same(RECORDINGS "s19_dbg_server.trace", true, true);
    assert_int_equal(counts.repaired + counts.unmatched + counts.untold, 0);
}

static void recordings_with_all_returns_are_reconstructed(void **state)
{
    struct th_execution_counts counts;

    (void)state;
    counts = expect_the_same(RECORDINGS "s09_collections_return.trace", true, false);
    assert_int_equal(counts.repaired + counts.unmatched + counts.untold, 0);
    assert_in_range(counts.callers_unknown, 1, counts.calls - 1);
    counts = expect_the_same(RECORDINGS "s12_fileio.trace", false, false);
    assert_int_equal(counts.repaired + counts.unmatched + counts.untold, 0);
    counts = expect_the_same(RECORDINGS "s17_meta.trace", true, false);
    assert_int_equal(counts.callers_unknown, 0);
}

static void recordings_with_some_returns_are_reconstructed(void **state)
{
    struct th_execution_counts counts;

    (void)state;
    counts = expect_the_same(RECORDINGS "s04_genserver_pingpong.trace", false, false);
    assert_order(counts.repaired, >, 0);
    counts = expect_the_same(RECORDINGS "s15_kitchen_sink.trace", true, false);
    assert_int_equal(counts.unmatched, 0);
}

static void reconstructed_callers_equal_the_recorded_ones(void **state)
{
    struct th_execution_counts counts;

    (void)state;
    counts = expect_the_same(RECORDINGS "s01_seed_local_caller.trace", true, false);
    assert_int_equal(counts.callers_unknown, 0);
    assert_int_equal(counts.returns, 0);
    counts = expect_the_same(RECORDINGS "s02_seed_global_caller.trace", true, false);
    assert_int_equal(counts.callers_unknown, 0);
}

static void callers_are_unknown_in_recordings_of_arities(void **state)
{
    struct th_execution_counts counts;

    (void)state;
    counts = expect_the_same(RECORDINGS "s11_mnesia_arity.trace", false, false);
    assert_int_equal(counts.callers_unknown, counts.calls);
}

static void large_recordings_are_reconstructed(void **state)
{
    static const char mnesia[] = "../shared/recordings/large/l2_mnesia_full.trace";
    static const char sorts[] = "../shared/recordings/large/l3_sorts_args_return.trace";

    (void)state;
    if (access(mnesia, R_OK) != 0)
        skip_because("no large recordings beside the checkout");
    expect_the_same(mnesia, true, false);
    expect_the_same(sorts, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_of_tail_calls_are_reconstructed),
        cmocka_unit_test(callers_of_external_calls_are_reconstructed),
        cmocka_unit_test(returns_of_tail_calls_are_reconstructed),
        cmocka_unit_test(returns_are_followed_by_return_to),
        cmocka_unit_test(swapped_tail_calls_have_other_callers),
        cmocka_unit_test(exceptions_and_return_to_are_reconstructed),
        cmocka_unit_test(recordings_with_all_returns_are_reconstructed),
        cmocka_unit_test(recordings_with_some_returns_are_reconstructed),
        cmocka_unit_test(reconstructed_callers_equal_the_recorded_ones),
        cmocka_unit_test(callers_are_unknown_in_recordings_of_arities),
        cmocka_unit_test(large_recordings_are_reconstructed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
