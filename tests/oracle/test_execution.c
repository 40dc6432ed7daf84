/*
 * Runs random programs in a real BEAM under trace: callers, returns, exceptions and return_to
 * events must be those that tracehost computes from a recording of the same program
 * (execution.escript).
 */
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/beam.h"
#include "tests/support/retraced.h"

#include "host/base/base.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/execution-XXXXXX";

/* Returns the path of NAME in the folder, valid until the next call. */
static const char *file(const char *name)
{
    static char path[sizeof folder + 32];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Traces RECORDING again and asserts that the result is the file EXPECTED. */
static void expect(const char *recording, struct retracing retracing, const char *expected)
{
    struct th_execution_counts counts;
    struct th_buffer beam = {0};
    const char *here;

    stream_add_file(&beam, file(expected));
    retracing.module = "r";
    here = retraced(file(recording), &retracing, &counts);
    if (strcmp(th_buffer_text(&beam), here) != 0) {
        fputs(here, stderr);
        fail_msg("%s is not %s: see %s", recording, expected, folder);
    }
    assert_true(counts.calls > 100 || retracing.external_only);
    assert_int_equal(counts.callers_unknown + counts.callers_disputed, 0);
    assert_int_equal(counts.unmatched + counts.untold + counts.repaired, 0);
    th_buffer_free(&beam);
}

static void run_program(int seed)
{
    const struct retracing all = {.exceptions = true, .return_to = true};
    struct retracing each = all;
    char *command = th_printf("escript tests/oracle/execution.escript %d %s", seed, folder);

    assert_int_equal(system(command), 0);
    th_free(command);
    expect("execution.jsonl", all, "local.txt");
    expect("execution.jsonl", (struct retracing){.returns = true}, "returns.txt");
    expect("execution.jsonl", (struct retracing){.exceptions = true, .external_only = true},
           "global.txt");
    each.recorded_callers = true;
    expect("beam.jsonl", each, "local.txt");
    each.options.each_returns = true;
    expect("each.jsonl", each, "local.txt");
}

static void local_events_of_random_programs_equal_those_of_a_beam(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 4; seed++)
        run_program(seed);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char *command = th_printf("rm -r %s", folder);
    int status = system(command);

    (void)state;
    th_free(command);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_events_of_random_programs_equal_those_of_a_beam),
    };

    beam_of_machine();
    if (system("command -v escript >/dev/null") != 0) {
        puts("escript is not installed: executions are not compared with a real BEAM");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
