/* Tests the lines of `run --probe`. Lines of files look as in OTP's documentation. */
#include "host/base/base.h"
#include "host/cli/probe_lines.h"
#include "tests/support/assertions.h"
#include <stddef.h>

static struct th_buffer lines;

static void add(const struct th_probe *probe, const union th_probe_value *values)
{
    th_cli_probe_line(&lines, probe, values);
    th_buffer_add_byte(&lines, '\n');
}

static int setup(void **state)
{
    (void)state;
    lines.size = 0;
    th_probe_watch(add);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    th_probe_watch(NULL);
    th_cli_probe_lines_end();
    th_buffer_free(&lines);
    return 0;
}

static void file_probes_print_lines_with_decoded_arguments(void **state)
{
    (void)state;
    assert_int_equal(th_cli_probe_lines_add("efile_drv__*"), 4);
    TH_PROBE(efile_drv__entry, 3, 83, "some-user-tag", 12, "old-name", "new-name", 0, 0, 0, 0,
             "#Port<0.59>");
    TH_PROBE(efile_drv__int_entry, 3, 83, 12);
    TH_PROBE(efile_drv__int_return, 3, 83, 12);
    TH_PROBE(efile_drv__return, 3, 83, "", 12, 0, 2);
    assert_string_equal(th_buffer_text(&lines),
                        "efile_drv enter tag={3,83} user tag some-user-tag | RENAME (12) | args: "
                        "old-name new-name , 0 0 (port #Port<0.59>)\n"
                        "async I/O worker tag={3,83} | RENAME (12) | efile_drv-int_entry\n"
                        "async I/O worker tag={3,83} | RENAME (12) | efile_drv-int_return\n"
                        "efile_drv return tag={3,83} user tag  | RENAME (12) | errno 2\n");
}

static void file_probes_with_missing_arguments_print_lines(void **state)
{
    (void)state;
    th_cli_probe_lines_add("efile_drv__*");
    TH_PROBE(efile_drv__entry, 1, 2, NULL, 31, NULL, NULL, 7, 8, 9, -1, "#Port<0.1>");
    TH_PROBE(efile_drv__return, 1, 2, NULL, 17, 1, 0);
    assert_string_equal(th_buffer_text(&lines),
                        "efile_drv enter tag={1,2} user tag  | FADVISE (31) | args:   , 7 8 9 -1 "
                        "(port #Port<0.1>)\n"
                        "efile_drv return tag={1,2} user tag  | ? (17) | success\n");
}

static void other_probes_print_names_and_values(void **state)
{
    (void)state;
    assert_int_equal(th_cli_probe_lines_add("message__queued"), 1);
    assert_int_equal(th_cli_probe_lines_add("nothing"), 0);
    TH_PROBE(message__queued, "<0.84.0>", 3, 1, 17, -1, 4);
    assert_string_equal(th_buffer_text(&lines),
                        "message__queued receiver=<0.84.0> size=3 queue_len=1 token_label=17 "
                        "token_previous=-1 token_current=4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_probes_print_lines_with_decoded_arguments, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(file_probes_with_missing_arguments_print_lines, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(other_probes_print_names_and_values, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
