/* Tests suggestions for misspelt names. */
#include "host/library/name_list.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

static void the_distance_counts_typing_errors(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } table[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"trace", "trace", 0},
        {"trace", "tace", 1},
        {"trace", "tracce", 1},
        {"trace", "trade", 1},
        {"trace", "tarce", 1},
        {"receive", "recieve", 1},
        {"abc", "xyz", 3},
        {"ca", "abc", 3},
        {"count", "cuont", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_int_equal(th_library_suggest_distance(table[i].a, table[i].b), table[i].distance);
        assert_int_equal(th_library_suggest_distance(table[i].b, table[i].a), table[i].distance);
    }
}

static void names_that_are_too_long_get_no_suggestion(void **state)
{
    char name[TH_SUGGEST_MAX + 2];

    (void)state;
    memset(name, 'a', sizeof name);
    name[TH_SUGGEST_MAX] = 0;
    assert_int_equal(th_library_suggest_distance(name, name), 0);
    name[TH_SUGGEST_MAX] = 'a';
    name[TH_SUGGEST_MAX + 1] = 0;
    assert_order(th_library_suggest_distance(name, name), >, TH_SUGGEST_MAX);
    assert_null(th_library_suggest_nearest(name, (const char *const[]){name}, 1));
}

static void the_nearest_name_is_suggested_if_it_is_similar(void **state)
{
    static const char *const names[] = {"count", "text", "messages", "logger", "all", "call"};

    (void)state;
    assert_string_equal(th_library_suggest_nearest("cuont", names, 4), "count");
    assert_string_equal(th_library_suggest_nearest("text", names, 4), "text");
    assert_string_equal(th_library_suggest_nearest("message", names, 4), "messages");
    assert_string_equal(th_library_suggest_nearest("mes", names, 4), "messages");
    assert_string_equal(th_library_suggest_nearest("text_tracer", names, 4), "text");
    assert_string_equal(th_library_suggest_nearest("Call", names, 6), "call");
    assert_string_equal(th_library_suggest_nearest("COUNT", names, 6), "count");
    assert_null(th_library_suggest_nearest("me", names, 4));
    assert_null(th_library_suggest_nearest("profile", names, 4));
    assert_null(th_library_suggest_nearest("count", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_counts_typing_errors),
        cmocka_unit_test(names_that_are_too_long_get_no_suggestion),
        cmocka_unit_test(the_nearest_name_is_suggested_if_it_is_similar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
