/* Tests the functions on terms, and what the table of functions of tracehost_sql.so promises. */
#include "host/base/base.h"
#include "host/sql/sql.h"
#include "tests/support/assertions.h"
#include "tests/support/skipping.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct th_sql_functions *functions;
static char value[4096]; /* of the first cell of the latest row; NULL is "(null)" */
static enum th_sql_type type;
static size_t rows, most_rows;

static bool take_names(void *context, const char *const *names, size_t count)
{
    (void)context;
    (void)names;
    (void)count;
    rows = 0;
    return true;
}

static bool take_row(void *context, const struct th_sql_cell *cells, size_t count)
{
    (void)context;
    assert_int_equal(count, 1);
    type = cells[0].type;
    snprintf(value, sizeof value, "%.*s", type == TH_SQL_NULL ? 6 : (int)cells[0].size,
             type == TH_SQL_NULL ? "(null)" : cells[0].text);
    return ++rows != most_rows;
}

static const struct th_sql_taker taker = {take_names, take_row, NULL};
static const char *const recordings[] = {"samples/recordings/s13_procs.trace"};
static const struct th_sql_options options = {.recordings = recordings, .count = 1};
static struct th_sql *sql;

/* Runs STATEMENT, and returns the first cell of its latest row, or the text of an error. */
static const char *result(const char *statement)
{
    char *error;

    strcpy(value, "(none)");
    if (!functions->run(sql, statement, &taker, &error))
        snprintf(value, sizeof value, "%s", error ? error : "(ended)");
    functions->free_text(error);
    return value;
}

/* Returns what FUNCTION gives for the text of a term. */
static const char *given(const char *function, const char *term, const char *more)
{
    char *statement = th_printf("select %s('%s'%s)", function, term, more);
    const char *found = result(statement);

    th_free(statement);
    return found;
}

static int begin(void **state)
{
    char *path = th_printf("%s/lib/tracehost/tracehost_sql.so",
                           getenv("BUILD_DIR") ? getenv("BUILD_DIR") : "build/release");
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char *error;

    (void)state;
    if (!object && access(path, F_OK) != 0)
        skip_because("tracehost_sql.so is not built here");
    th_free(path);
    if (!object)
        return -1;
    functions = dlsym(object, "tracehost_sql");
    sql = functions->open(&options, &error);
    most_rows = 0;
    return sql ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    functions->close(sql);
    return 0;
}

static void elements_are_those_of_tuples_and_lists(void **state)
{
    (void)state;
    assert_string_equal(given("term_element", "{a,[1,2],\"x\"}", ",1"), "a");
    assert_string_equal(given("term_element", "{a,[1,2],\"x\"}", ",2"), "[1,2]");
    assert_string_equal(given("term_element", "{a,[1,2],\"x\"}", ",3"), "\"x\"");
    assert_string_equal(given("term_element", "{a}", ",2"), "(null)");
    assert_string_equal(given("term_element", "{a}", ",0"), "(null)");
    assert_string_equal(given("term_element", "{a}", ",-9223372036854775807"), "(null)");
    assert_string_equal(given("term_element", "{a}", ",null"), "(null)");
    assert_string_equal(given("term_element", "[a,b|c]", ",2"), "b");
    assert_string_equal(given("term_element", "[a,b|c]", ",3"), "(null)");
    assert_string_equal(given("term_element", "\"abc\"", ",2"), "98");
    assert_string_equal(given("term_element", "[]", ",1"), "(null)");
    assert_string_equal(given("term_element", "atom", ",1"), "(null)");
    assert_string_equal(result("select term_element(null, 1)"), "(null)");
}

static void texts_that_cannot_be_made_stay_as_they_are(void **state)
{
    static const char *const same[] = {"#Fun<m.0.1>",
                                       "<9.1.0>",
                                       "#Ref<7.1.2.3>",
                                       "#Port<7.1>",
                                       "<0.1.0>",
                                       "#Ref<0.1.2.3>",
                                       "[#Fun<m.0.1>|<9.1.0>]",
                                       "<<1,2>>",
                                       "\"#Fun<m.0.1>\"",
                                       "#{<9.1.0> => #Fun<m.0.1>}"};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char *term = th_printf("{%s,%s}", same[i], same[i]);
        assert_string_equal(given("term_element", term, ",2"), same[i]);
        th_free(term);
    }
    assert_string_equal(given("term_element", "{#Fun<''Elixir.A>''.1.2>}", ",1"),
                        "#Fun<'Elixir.A>'.1.2>");
    assert_string_equal(given("term_json", "{#Fun<m.0.1>,<9.1.0>}", ""),
                        "[\"#Fun<m.0.1>\",\"<9.1.0>\"]");
}

static void bytes_become_text(void **state)
{
    (void)state;
    assert_string_equal(given("term_text", "<<\"abc\">>", ""), "abc");
    assert_string_equal(given("term_text", "[<<\"a\">>,98|<<\"c\">>]", ""), "abc");
    assert_string_equal(given("term_text", "<<195,171>>", ""), "\xC3\xAB");
    assert_string_equal(given("term_text", "<<>>", ""), "");
    assert_int_equal(type, TH_SQL_TEXT);
    assert_string_equal(given("term_text", "<<255>>", ""), "(null)");
    assert_string_equal(given("term_text", "<<1:3>>", ""), "(null)");
    assert_string_equal(given("term_text", "[256]", ""), "(null)");
    assert_string_equal(given("term_text", "atom", ""), "(null)");
}

static void terms_become_json(void **state)
{
    char deep[5000];

    (void)state;
    assert_string_equal(given("term_json", "{a,-1,2.5,true,null,undefined}", ""),
                        "[\"a\",-1,2.5,true,null,null]");
    assert_string_equal(given("term_json", "#{a => [], <<\"b\">> => #{}}", ""),
                        "{\"a\":[],\"b\":{}}");
    assert_string_equal(given("term_json", "[<<\"a\\\"b\">>,<0.1.0>,\"hi\"]", ""),
                        "[\"a\\\"b\",\"<0.1.0>\",[104,105]]");
    assert_string_equal(given("term_json", "18446744073709551616", ""), "18446744073709551616");
    assert_string_equal(given("term_json", "#{1 => 2}", ""), "(null)");
    assert_string_equal(given("term_json", "[a|b]", ""), "(null)");
    assert_string_equal(given("term_json", "<<255>>", ""), "(null)");
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = 0;
    assert_string_equal(given("term_json", deep, ""), "(null)");
}

static void damaged_texts_are_errors(void **state)
{
    (void)state;
    assert_string_equal(given("term_json", "{a", ""), "this is not the text of a term");
    assert_string_equal(given("term_text", "", ""), "this is not the text of a term");
    assert_string_equal(given("term_element", "{a,#Fun<m}", ",1"),
                        "this is not the text of a term");
    assert_string_equal(given("term_element", "{$", ",1"), "this is not the text of a term");
    assert_string_equal(given("term_element", "{''a", ",1"), "this is not the text of a term");
}

static void only_queries_are_allowed(void **state)
{
    static const char *const refused[] = {"attach '/tmp/x' as x",
                                          "create table t(x)",
                                          "create temp table t(x)",
                                          "vacuum into '/tmp/x'",
                                          "pragma journal_mode=wal",
                                          "delete from events",
                                          "drop table events",
                                          "insert into events(tag) values('x')",
                                          "begin",
                                          "update sqlite_master set name = 'x'",
                                          "select load_extension('x')",
                                          "create virtual table c using tracehost_events('x')",
                                          "pragma writable_schema=1"};

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (!strstr(result(refused[i]), "not authorized") &&
            !strstr(value, "may not be modified") && !strstr(value, "authorization denied"))
            fail_msg("%s: %s", refused[i], value);
    assert_string_equal(result("select count(*) from events"), "47");
    assert_string_equal(result("select 1; select 2;"), "2");
    assert_string_equal(result("select name from pragma_table_info('events') limit 1"),
                        "recording");
}

static void a_taker_ends_a_statement(void **state)
{
    (void)state;
    most_rows = 5;
    assert_string_equal(result("select record from events"), "(ended)");
    assert_int_equal(rows, 5);
    most_rows = 0;
    assert_string_equal(result("select count(*) from events"), "47");
    assert_true(functions->is_complete("select 1;"));
    assert_false(functions->is_complete("select ';"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(elements_are_those_of_tuples_and_lists, begin, end),
        cmocka_unit_test_setup_teardown(texts_that_cannot_be_made_stay_as_they_are, begin, end),
        cmocka_unit_test_setup_teardown(bytes_become_text, begin, end),
        cmocka_unit_test_setup_teardown(terms_become_json, begin, end),
        cmocka_unit_test_setup_teardown(damaged_texts_are_errors, begin, end),
        cmocka_unit_test_setup_teardown(only_queries_are_allowed, begin, end),
        cmocka_unit_test_setup_teardown(a_taker_ends_a_statement, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
