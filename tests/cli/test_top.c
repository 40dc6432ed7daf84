/* Tests --top: rows from counts, lines of a given width, keys. */
#include "host/base/base.h"
#include "host/cli/top/top_terminal.h"
#include "host/cli/top/top_view.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000000 };

/* --- Rows ------------------------------------------------------------------------------------- */

static void add(struct th_top_model *model, const char *name, uint64_t calls, int64_t us)
{
    struct th_mfa function = {th_atom("m"), th_atom(name), 1};
    struct th_top_counted counted = {calls, us * 1000};

    th_top_model_add(model, &function, &counted, us >= 0);
}

/* Adds a reading of a/1 and b/1 at SECONDS. */
static void reading(struct th_top_model *model, int seconds, uint64_t a, int64_t a_us, uint64_t b,
                    int64_t b_us)
{
    th_top_model_begin(model, (int64_t)seconds * SECOND);
    add(model, "a", a, a_us);
    add(model, "b", b, b_us);
    th_top_model_end(model);
}

static void expect_row(const struct th_top_model *model, size_t i, const char *name, uint64_t calls,
                       int64_t us, double rate)
{
    const struct th_top_row *row = model->rows[i];

    assert_string_equal(row->name, name);
    assert_int_equal(row->shown.calls, calls);
    assert_int_equal(row->shown.time, us * 1000);
    assert_true(row->rate == rate);
}

static void rates_cover_the_time_between_two_readings(void **state)
{
    struct th_top_model model = {0};

    (void)state;
    reading(&model, 1, 10, 5, 20, 3);
    expect_row(&model, 0, "m:b/1", 20, 3, 0);
    expect_row(&model, 1, "m:a/1", 10, 5, 0);
    reading(&model, 3, 110, 50, 20, 3);
    expect_row(&model, 0, "m:a/1", 110, 50, 50);
    expect_row(&model, 1, "m:b/1", 20, 3, 0);
    assert_int_equal(model.all.calls, 130);
    assert_int_equal(model.all.time, 53000);
    assert_true(model.rate == 50);
    th_top_model_free(&model);
}

static void rows_are_sorted_by_calls_or_time(void **state)
{
    struct th_top_model model = {0};

    (void)state;
    reading(&model, 1, 1, 9, 2, 3);
    add(&model, "c", 0, 20); /* time of a call that began earlier */
    add(&model, "d", 2, 3);
    th_top_model_sort(&model, TH_TOP_BY_TIME);
    th_top_model_end(&model);
    assert_string_equal(model.rows[0]->name, "m:a/1");
    assert_string_equal(model.rows[1]->name, "m:b/1");
    assert_string_equal(model.rows[2]->name, "m:d/1");
    assert_string_equal(model.rows[3]->name, "m:c/1");
    assert_int_equal(model.called, 3);
    th_top_model_sort(&model, TH_TOP_BY_CALLS);
    assert_string_equal(model.rows[0]->name, "m:b/1");
    assert_string_equal(model.rows[2]->name, "m:a/1");
    th_top_model_free(&model);
}

static void a_restart_counts_from_the_latest_reading(void **state)
{
    struct th_top_model model = {0};

    (void)state;
    reading(&model, 1, 10, 5, 20, 3);
    th_top_model_restart(&model);
    assert_int_equal(model.called, 0);
    assert_int_equal(model.all.calls, 0);
    reading(&model, 2, 14, 6, 20, 3);
    expect_row(&model, 0, "m:a/1", 4, 1, 4);
    assert_int_equal(model.called, 1);
    th_top_model_free(&model);
}

/* Reloaded code counts from 0; the difference must not wrap around to 2^64. */
static void counts_that_restart_at_0_do_not_wrap_around(void **state)
{
    struct th_top_model model = {0};

    (void)state;
    reading(&model, 1, 10, 5, 20, 3);
    th_top_model_restart(&model);
    reading(&model, 2, 3, 2, 20, 3);
    expect_row(&model, 0, "m:a/1", 3, 2, 3);
    th_top_model_free(&model);
}

static void a_row_without_a_new_reading_stays(void **state)
{
    struct th_top_model model = {0};

    (void)state;
    reading(&model, 1, 10, 5, 20, 3);
    reading(&model, 2, 10, 5, 30, 3);
    th_top_model_begin(&model, (int64_t)3 * SECOND);
    add(&model, "a", 10, 5);
    th_top_model_end(&model);
    expect_row(&model, 0, "m:b/1", 30, 3, 0);
    th_top_model_free(&model);
}

/* --- Lines ------------------------------------------------------------------------------------ */

static struct th_buffer lines;

static const char *print(const struct th_top_view *view)
{
    lines.size = 0;
    th_top_view_print(&lines, view);
    return th_buffer_text(&lines);
}

static void fill(struct th_top_model *model)
{
    reading(model, 1, 0, 0, 0, 0);
    reading(model, 2, 1200000, 900000, 1, 300000);
}

static void a_wide_view_has_all_columns(void **state)
{
    struct th_top_model model = {0};
    struct th_top_view view = {.command = "run",
                               .model = &model,
                               .about = {"1 process", "not told: x"},
                               .elapsed = 61ll * SECOND,
                               .width = 90,
                               .height = 8};

    (void)state;
    fill(&model);
    assert_string_equal(
        print(&view),
        "tracehost run  1:01  1200 k calls/s  1200001 calls  2 of 2 functions called\n"
        "1 process\n"
        "not told: x\n"
        "calls/s        calls  own seconds  % time  us a call  function\n"
        " 1200 k      1200000     0.900000    75.0      0.750  m:a/1\n"
        "      1            1     0.300000    25.0 300000.000  m:b/1\n"
        "\n"
        "q end run  c by calls  t by time  r restart  p pause  arrows scroll\n");
    th_top_model_free(&model);
}

static void a_view_without_times_has_no_columns_of_times(void **state)
{
    struct th_top_model model = {0};
    struct th_top_view view = {.command = "replay",
                               .model = &model,
                               .about = {"", ""},
                               .paused = true,
                               .ended = true,
                               .width = 90,
                               .height = 6};

    (void)state;
    reading(&model, 1, 3, -1, 1, -1);
    assert_string_equal(print(&view), "tracehost replay  0:00  0 calls/s  4 calls  2 of 2 "
                                      "functions called  PAUSED  ENDED\n"
                                      "\n\n"
                                      "calls/s        calls % calls  function\n"
                                      "      0            3    75.0  m:a/1\n"
                                      "q end replay  c by calls  t by time  r restart  p go on  "
                                      "arrows scroll\n");
    th_top_model_free(&model);
}

/* At each width, no line is longer, and the name is the last column to disappear. */
static void a_narrow_view_cuts_lines_and_drops_columns(void **state)
{
    struct th_top_model model = {0};
    struct th_top_view view = {
        .command = "run", .model = &model, .about = {"\xc3\xa4\xc3\xa4\xc3\xa4", ""}, .height = 9};

    (void)state;
    fill(&model);
    for (view.width = 1; view.width < 100; view.width++) {
        const char *line = print(&view);
        for (; *line; line += strcspn(line, "\n") + 1) {
            size_t characters = 0;
            for (size_t i = 0; line[i] != '\n'; i++)
                characters += (line[i] & 0xC0) != 0x80;
            assert_order(characters, <=, view.width);
        }
        assert_true(view.width < 20 || strstr(print(&view), "  m:a/1\n"));
    }
    view.width = 2;
    assert_non_null(strstr(print(&view), "\n\xc3\xa4\xc3\xa4\n"));
    view.width = 40;
    assert_non_null(strstr(print(&view), "\n       calls  function\n     1200000  m:a/1\n"));
    view.width = 60;
    assert_non_null(strstr(print(&view), "\n       calls  own seconds  function\n"));
    th_top_model_free(&model);
}

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void a_view_has_at_most_its_height(void **state)
{
    struct th_top_model model = {0};
    struct th_top_view view = {.command = "run", .model = &model, .about = {"", ""}, .width = 80};

    (void)state;
    fill(&model);
    for (view.height = 1; view.height < 12; view.height++)
        assert_int_equal(count_lines(print(&view)), view.height);
    th_top_model_free(&model);
}

static void a_view_scrolls_up_to_its_last_row(void **state)
{
    struct th_top_model model = {0};
    struct th_top_view view = {
        .command = "run", .model = &model, .about = {"", ""}, .width = 80, .height = 6};

    (void)state;
    fill(&model);
    assert_int_equal(th_top_view_rows(&view), 1);
    assert_int_equal(th_top_view_last(&view), 1);
    view.first = 1;
    assert_null(strstr(print(&view), "m:a/1"));
    assert_non_null(strstr(print(&view), "m:b/1"));
    view.height = 60;
    assert_int_equal(th_top_view_last(&view), 0);
    view.height = 3;
    assert_int_equal(th_top_view_rows(&view), 0);
    th_top_model_free(&model);
}

static void numbers_are_printed_in_a_few_characters(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {{0, "0"},          {9999.4, "9999"},     {9999.5, "10 k"}, {9999499, "9999 k"},
                {9999500, "10 M"}, {123456789, "123 M"}, {1e10, "10 G"},   {9.9994e12, "9999 G"},
                {1e15, "1000 T"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lines.size = 0;
        th_top_print_number(&lines, rows[i].number);
        assert_string_equal(th_buffer_text(&lines), rows[i].text);
    }
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void keys_are_read_one_by_one(void **state)
{
    static const struct {
        const char *bytes;
        int key;
        size_t used;
    } rows[] = {
        {"q", 'q', 1},
        {"qc", 'q', 1},
        {"\033[A", TH_KEY_UP, 3},
        {"\033OBx", TH_KEY_DOWN, 3},
        {"\033[5~", TH_KEY_PAGE_UP, 4},
        {"\033[6~", TH_KEY_PAGE_DOWN, 4},
        {"\033[H", TH_KEY_HOME, 3},
        {"\033[4~", TH_KEY_END, 4},
        {"\033[1;5B", TH_KEY_DOWN, 6},
        {"\033[24~q", TH_KEY_NONE, 5},
        {"\033", TH_KEY_NONE, 1},
        {"\033q", TH_KEY_NONE, 1}, /* q is the next key */
        {"\033[", TH_KEY_NONE, 2},
        {"\033[12345678901234567890", TH_KEY_NONE, 22},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t used = 0;
        assert_int_equal(th_top_key_read(rows[i].bytes, strlen(rows[i].bytes), &used), rows[i].key);
        assert_int_equal(used, rows[i].used);
    }
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&lines);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_cover_the_time_between_two_readings),
        cmocka_unit_test(rows_are_sorted_by_calls_or_time),
        cmocka_unit_test(a_restart_counts_from_the_latest_reading),
        cmocka_unit_test(counts_that_restart_at_0_do_not_wrap_around),
        cmocka_unit_test(a_row_without_a_new_reading_stays),
        cmocka_unit_test(a_wide_view_has_all_columns),
        cmocka_unit_test(a_view_without_times_has_no_columns_of_times),
        cmocka_unit_test(a_narrow_view_cuts_lines_and_drops_columns),
        cmocka_unit_test(a_view_has_at_most_its_height),
        cmocka_unit_test(a_view_scrolls_up_to_its_last_row),
        cmocka_unit_test(numbers_are_printed_in_a_few_characters),
        cmocka_unit_test(keys_are_read_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
