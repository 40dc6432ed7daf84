/* Tests which files form a wrap set and in which order; guesses are reported. */
#include "host/base/base.h"
#include "host/replay/replay_internal.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE "samples/recordings/wrap/"

static char folder[] = "/tmp/test_wrap_XXXXXX";
static struct th_buffer made; /* names of files, each with a zero byte */

static int begin(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    made.size = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < made.size; i += strlen((char *)made.data + i) + 1)
        unlink((char *)made.data + i);
    rmdir(folder);
    th_buffer_free(&made);
    th_error_clear();
    return 0;
}

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Creates a trace-port file of RECORDS records of 7 bytes. */
static void make(const char *name, int records)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    for (int i = 0; i < records; i++)
        fwrite("\0\0\0\0\2\x83\x6a", 1, 7, file);
    fclose(file);
    th_buffer_add(&made, path_of(name), strlen(path_of(name)) + 1);
}

/* Returns the names in NAME's set, without the folder, then the note or the causes, if any. */
static const char *find(const char *name)
{
    static struct th_buffer found;
    struct th_wrap_set set;

    found.size = 0;
    if (th_replay_wrap_find(path_of(name), &set) != TH_OK)
        return stream_causes();
    for (size_t i = 0; i < set.count; i++)
        th_buffer_printf(&found, "%s%s", i ? " " : "", strrchr(set.names[i], '/') + 1);
    if (set.note)
        th_buffer_add_text(&found, strstr(set.note, "alone") ? " alone" : " together");
    th_replay_wrap_free(&set);
    return th_buffer_text(&found);
}

static void a_pattern_finds_the_files_of_a_set_in_order(void **state)
{
    (void)state;
    make("w0.log", 3);
    assert_string_equal(find("w*.log"), "w0.log");
    make("w1.log", 9);
    make("w2.log", 1);
    assert_string_equal(find("w*.log"), "w0.log w1.log w2.log");
    make("w4.log", 5);
    assert_string_equal(find("w*.log"), "w4.log w0.log w1.log w2.log");
    make("w5.log", 5);
    make("w6.log", 5);
    assert_string_equal(find("w*.log"), "w4.log w5.log w6.log w0.log w1.log w2.log");
}

static void the_gap_may_be_the_first_number(void **state)
{
    (void)state;
    make("w1.log", 3);
    assert_string_equal(find("w*.log"), "w1.log");
    make("w2.log", 3);
    assert_string_equal(find("w*.log"), "w1.log w2.log");
}

/* The order is by number, not by name; other files do not matter. */
static void only_plain_numbers_belong_to_a_set(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        char name[20];
        snprintf(name, sizeof name, "w%d.log", i);
        make(name, 1);
    }
    make("w01.log", 1);
    make("w.log", 1);
    make("w3x.log", 1);
    make("w-1.log", 1);
    make("xw12.log", 1);
    make("w12.logs", 1);
    make("w9999999999.log", 1);
    assert_string_equal(find("w*.log"), "w0.log w1.log w2.log w3.log w4.log w5.log w6.log w7.log "
                                        "w8.log w9.log w10.log w11.log");
}

static void inconsistent_sets_are_refused(void **state)
{
    (void)state;
    make("w2.log", 3);
    assert_string_equal(
        find("w*.log"),
        "the wrap set is inconsistent: the numbers 0-1 are missing; a wrap set has one gap, of one "
        "number; files that belong together in another way must be given one by one");
    make("w0.log", 3);
    make("w5.log", 3);
    make("w6.log", 3);
    make("w8.log", 3);
    assert_non_null(strstr(find("w*.log"), "the numbers 1, 3-4, 7 are missing"));
    assert_non_null(strstr(find("v*.log"), "there is no file "));
    assert_non_null(strstr(find("w*.*"), "only one * is possible"));
    assert_non_null(strstr(find("none/w*.log"), "No such file or directory"));
}

/* A file is closed when a record passes the limit, so sizes differ by less than one record. */
static void the_first_file_stands_for_its_set(void **state)
{
    (void)state;
    make("w0.log", 10);
    make("w1.log", 10);
    make("w2.log", 4);
    assert_string_equal(find("w0.log"), "w0.log w1.log w2.log together");
    assert_string_equal(find("w1.log"), "w1.log alone");
    assert_string_equal(find("w2.log"), "w2.log alone");
    make("w4.log", 10);
    assert_string_equal(find("w4.log"), "w4.log w0.log w1.log w2.log together");
    assert_string_equal(find("w0.log"), "w4.log w0.log w1.log w2.log together");
    assert_string_equal(find("w1.log"), "w1.log alone");
}

static void files_that_resemble_a_set_are_not_joined(void **state)
{
    (void)state;
    make("rec1.trace", 10);
    assert_string_equal(find("rec1.trace"), "rec1.trace");
    make("rec2.trace", 10);
    assert_string_equal(find("rec1.trace"), "rec1.trace alone"); /* possibly by coincidence */
    make("rec3.trace", 11);
    assert_string_equal(find("rec1.trace"), "rec1.trace alone"); /* the newest is too long */
    make("rec4.trace", 5);
    assert_string_equal(find("rec1.trace"), "rec1.trace alone"); /* 11 and 10 were both closed */
    make("rec7.trace", 5);
    assert_string_equal(find("rec1.trace"), "rec1.trace"); /* too many gaps */
    make("2024-rec1.trace", 5);
    make("2025-rec1.trace", 5);
    assert_string_equal(find("2024-rec1.trace"), "2024-rec1.trace");
}

static void a_set_with_damaged_files_needs_a_pattern(void **state)
{
    (void)state;
    make("w0.log", 10);
    make("w1.log", 10);
    make("w2.log", 10);
    assert_int_equal(truncate(path_of("w1.log"), 69), 0);
    assert_string_equal(find("w0.log"), "w0.log alone");
    assert_string_equal(find("w*.log"), "w0.log w1.log w2.log");
}

static void the_newest_file_may_be_incomplete(void **state)
{
    (void)state;
    make("w0.log", 10);
    make("w1.log", 10);
    make("w2.log", 10);
    assert_int_equal(truncate(path_of("w2.log"), 66), 0);
    assert_string_equal(find("w0.log"), "w0.log w1.log w2.log together");
    assert_int_equal(truncate(path_of("w2.log"), 0), 0);
    assert_string_equal(find("w0.log"), "w0.log w1.log w2.log together");
}

static void an_existing_file_is_no_pattern(void **state)
{
    (void)state;
    make("w*.log", 1);
    make("w0.log", 1);
    make("w1.log", 1);
    assert_string_equal(find("w*.log"), "w*.log");
    assert_string_equal(find("nothing.log"), "nothing.log");
}

/* --- Reading ---------------------------------------------------------------------------------- */

static const char *read_set(const char *name, const char *note)
{
    struct th_reader *reader;
    const char *told;

    assert_int_equal(th_replay_reader_open(name, NULL, &reader), TH_OK);
    if (note)
        assert_string_equal(th_replay_reader_info(reader)->note, note);
    else
        assert_null(th_replay_reader_info(reader)->note);
    told = stream_tell(reader);
    th_replay_reader_close(reader);
    return told;
}

/* As in OTP's own reader, positions restart in each file, numbers continue. */
static void a_recorded_set_is_read_as_one_stream(void **state)
{
    struct th_buffer expected = {0};
    size_t number = 0, file_at = 0;
    char *told = th_strdup(read_set(SAMPLE "w*.log", NULL));
    char *line, *rest = told;

    (void)state;
    assert_string_equal(read_set(SAMPLE "w1.log",
                                 "the wrap set " SAMPLE "w*.log is read: 4 files, " SAMPLE
                                 "w1.log first"),
                        told);
    stream_add_file(&expected, SAMPLE "wrapset.term.txt");
    th_buffer_text(&expected);
    for (char *at = (char *)expected.data; (line = strsep(&rest, "\n")) && *line; number++) {
        size_t position, digits;
        int used;
        assert_int_equal(sscanf(line, "%zu@%zu %n", &digits, &position, &used), 2);
        assert_int_equal(digits, number + 1);
        file_at += position == 0;
        assert_memory_equal(line + used, at, strlen(line + used));
        at = strchr(at, '\n') + 1;
    }
    assert_int_equal(number, 184);
    assert_int_equal(file_at, 4);
    th_free(told);
    th_buffer_free(&expected);
}

/* The next file of the set is read. */
static void damage_in_one_file_costs_its_rest_only(void **state)
{
    (void)state;
    make("w0.log", 2);
    make("w1.log", 2);
    make("w2.log", 1);
    assert_int_equal(truncate(path_of("w1.log"), 10), 0);
    assert_string_equal(
        read_set(path_of("w*.log"), NULL),
        "1@0 other []\n2@7 other []\n3@0 other []\npartial: record 4 at byte 7 is truncated: the "
        "input ends after 3 of the 5 bytes of the record's head\n4@0 other []\n");
}

static void a_file_that_disappeared_is_reported(void **state)
{
    struct th_event event = {0};
    struct th_reader *reader;

    (void)state;
    make("w0.log", 1);
    make("w1.log", 1);
    make("w2.log", 1);
    assert_int_equal(th_replay_reader_open(path_of("w*.log"), NULL, &reader), TH_OK);
    unlink(path_of("w1.log"));
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_non_null(strstr(stream_tell(reader),
                           "w1.log of the wrap set: No such file or directory\n"
                           "2@0 other []\n"));
    assert_int_equal(th_replay_reader_info(reader)->bytes, 14);
    assert_string_equal(th_replay_reader_info(reader)->file, path_of("w2.log"));
    th_replay_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pattern_finds_the_files_of_a_set_in_order, begin, end),
        cmocka_unit_test_setup_teardown(the_gap_may_be_the_first_number, begin, end),
        cmocka_unit_test_setup_teardown(only_plain_numbers_belong_to_a_set, begin, end),
        cmocka_unit_test_setup_teardown(inconsistent_sets_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_first_file_stands_for_its_set, begin, end),
        cmocka_unit_test_setup_teardown(files_that_resemble_a_set_are_not_joined, begin, end),
        cmocka_unit_test_setup_teardown(a_set_with_damaged_files_needs_a_pattern, begin, end),
        cmocka_unit_test_setup_teardown(the_newest_file_may_be_incomplete, begin, end),
        cmocka_unit_test_setup_teardown(an_existing_file_is_no_pattern, begin, end),
        cmocka_unit_test_setup_teardown(a_recorded_set_is_read_as_one_stream, begin, end),
        cmocka_unit_test_setup_teardown(damage_in_one_file_costs_its_rest_only, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_disappeared_is_reported, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
