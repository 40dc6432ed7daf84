/* Tests the host as a watcher of its own probes: the values that it gets, and when. */
#include "host/base/base.h"
#include "host/probe/probe.h"
#include "tests/support/assertions.h"
#include <string.h>

static struct th_buffer seen;
static int evaluated;

static void note(const struct th_probe *probe, const union th_probe_value *values)
{
    th_buffer_add_text(&seen, probe->name);
    for (unsigned i = 0; i < probe->count; i++)
        if (probe->arguments[i].type != TH_PROBE_string)
            th_buffer_printf(&seen, " %lld", (long long)values[i].integer);
        else
            th_buffer_printf(&seen, " %s", values[i].string ? values[i].string : "-");
    th_buffer_add_text(&seen, "\n");
}

static int evaluate(int value)
{
    evaluated++;
    return value;
}

/* Raises the semaphores of the probes that match PATTERN and returns their number. */
static size_t raise_matching(const char *pattern)
{
    size_t raised = 0;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (th_probe_matches(&th_probe_probes[i], pattern)) {
            th_probe_raise(&th_probe_probes[i]);
            raised++;
        }
    return raised;
}

static int setup(void **state)
{
    (void)state;
    seen.size = 0;
    evaluated = 0;
    th_probe_watch(note);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    th_probe_watch(NULL);
    th_buffer_free(&seen);
    return 0;
}

static void a_watcher_gets_the_arguments_of_a_hit(void **state)
{
    (void)state;
    assert_int_equal(raise_matching("efile_drv__entry"), 1);
    TH_PROBE(efile_drv__entry, evaluate(3), 83, "some-user-tag", 12, "old-name", NULL, -1,
             INT64_MIN, INT64_MAX, 0, "#Port<0.59>");
    th_probe_lower(th_probe_find("efile_drv__entry"));
    TH_PROBE(efile_drv__entry, evaluate(3), 84, "", 12, "", "", 0, 0, 0, 0, "");
    assert_int_equal(evaluated, 1);
    assert_string_equal(th_buffer_text(&seen),
                        "efile_drv__entry 3 83 some-user-tag 12 old-name - -1 -9223372036854775808 "
                        "9223372036854775807 0 #Port<0.59>\n");
}

static void arguments_keep_their_size_and_sign(void **state)
{
    (void)state;
    assert_int_equal(raise_matching("message__queued"), 1);
    TH_PROBE(message__queued, "<0.84.0>", UINT32_MAX, 1, -1, -2, INT32_MAX);
    th_probe_lower(th_probe_find("message__queued"));
    assert_string_equal(th_buffer_text(&seen),
                        "message__queued <0.84.0> 4294967295 1 -1 -2 2147483647\n");
}

static void a_pattern_raises_the_probes_that_it_matches(void **state)
{
    size_t raised = 0;

    (void)state;
    assert_int_equal(raise_matching("nothing__*"), 0);
    assert_int_equal(raise_matching("efile_drv__*"), 4);
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        if (*th_probe_probes[i].semaphore) {
            assert_memory_equal(th_probe_probes[i].name, "efile_drv__", 11);
            th_probe_lower(&th_probe_probes[i]);
            raised++;
        }
    assert_int_equal(raised, 4);
}

/* Another program may have raised the semaphore, so a probe may be hit without a watcher. */
static void a_hit_without_a_watcher_is_ignored(void **state)
{
    (void)state;
    th_probe_watch(NULL);
    th_probe_raise(th_probe_find("copy__struct"));
    TH_PROBE(copy__struct, (uint32_t)evaluate(3));
    th_probe_lower(th_probe_find("copy__struct"));
    assert_int_equal(evaluated, 1);
    assert_int_equal(seen.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_watcher_gets_the_arguments_of_a_hit, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_keep_their_size_and_sign, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pattern_raises_the_probes_that_it_matches, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_hit_without_a_watcher_is_ignored, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
