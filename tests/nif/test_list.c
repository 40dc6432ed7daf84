/* Tests lists and strings. */
#include "host/nif/nif.h"
#include "host/term/term.h"
#include "plugin_api/erl_nif.h"
#include "tests/support/assertions.h"

#include <stddef.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

static ERL_NIF_TERM text(const char *latin1)
{
    return enif_make_string(env, latin1, ERL_NIF_LATIN1);
}

static void all_functions_for_lists_make_identical_lists(void **state)
{
    ERL_NIF_TERM items[] = {TH_AM(ok), TH_NIL, enif_make_int(env, 3)};
    ERL_NIF_TERM list = enif_make_list3(env, items[0], items[1], items[2]);
    ERL_NIF_TERM cells = enif_make_list(env, 0);

    (void)state;
    assert_true(enif_is_identical(list, enif_make_list_from_array(env, items, 3)));
    for (int i = 2; i >= 0; i--)
        cells = enif_make_list_cell(env, items[i], cells);
    assert_true(enif_is_identical(list, cells));
    assert_term_equal(enif_make_list(env, 0), TH_NIL);
    assert_term_equal(enif_make_list_from_array(env, NULL, 0), TH_NIL);
}

static void a_list_cell_has_a_head_and_a_tail(void **state)
{
    ERL_NIF_TERM head = TH_AM(ok), tail = TH_AM(ok);
    ERL_NIF_TERM pair = enif_make_list_cell(env, TH_AM(true), TH_AM(false));

    (void)state;
    assert_false(enif_get_list_cell(env, TH_NIL, &head, &tail));
    assert_false(enif_get_list_cell(env, TH_AM(ok), &head, &tail));
    assert_false(enif_get_list_cell(env, enif_make_tuple1(env, pair), &head, &tail));
    assert_true(head == TH_AM(ok) && tail == TH_AM(ok));
    assert_true(enif_get_list_cell(env, pair, &head, &tail));
    assert_true(head == TH_AM(true) && tail == TH_AM(false));
}

static void only_proper_lists_have_a_length(void **state)
{
    unsigned length = 77;

    (void)state;
    assert_false(enif_get_list_length(env, enif_make_list_cell(env, TH_NIL, TH_AM(ok)), &length));
    assert_false(enif_get_list_length(env, TH_AM(ok), &length));
    assert_false(enif_get_list_length(env, enif_make_int(env, 2), &length)); /* no list, an arity */
    assert_int_equal(length, 77);
    assert_true(enif_get_list_length(env, TH_NIL, &length) && length == 0);
    assert_true(enif_get_list_length(env, text("abc"), &length) && length == 3);
}

static void improper_and_empty_lists_are_lists(void **state)
{
    ERL_NIF_TERM improper = enif_make_list_cell(env, TH_NIL, TH_AM(ok));

    (void)state;
    assert_true(enif_is_list(env, TH_NIL) && enif_is_empty_list(env, TH_NIL));
    assert_true(enif_is_list(env, improper) && !enif_is_empty_list(env, improper));
    assert_false(enif_is_list(env, TH_AM(ok)) || enif_is_empty_list(env, TH_AM(ok)));
    assert_false(enif_is_list(env, enif_make_tuple(env, 0)));
}

static void only_proper_lists_are_reversed(void **state)
{
    ERL_NIF_TERM list = TH_AM(ok);

    (void)state;
    assert_false(enif_make_reverse_list(env, enif_make_list_cell(env, TH_NIL, TH_AM(ok)), &list));
    assert_false(enif_make_reverse_list(env, TH_AM(ok), &list));
    assert_term_equal(list, TH_AM(ok));
    assert_true(enif_make_reverse_list(env, TH_NIL, &list) && list == TH_NIL);
    assert_true(enif_make_reverse_list(env, text("abc"), &list));
    assert_true(enif_is_identical(list, text("cba")));
}

static void a_string_is_cut_to_the_size_of_its_buffer(void **state)
{
    char buffer[4] = "xyz";

    (void)state;
    assert_int_equal(enif_get_string(env, text("abc"), buffer, 4, ERL_NIF_LATIN1), 4);
    assert_string_equal(buffer, "abc");
    assert_int_equal(enif_get_string(env, TH_NIL, buffer, 4, ERL_NIF_LATIN1), 1);
    assert_string_equal(buffer, "");
    assert_int_equal(enif_get_string(env, TH_NIL, buffer, 1, ERL_NIF_LATIN1), 1);
    assert_int_equal(enif_get_string(env, TH_NIL, buffer, 0, ERL_NIF_LATIN1), 0);
    assert_int_equal(enif_get_string(env, text("abcd"), buffer, 4, ERL_NIF_LATIN1), -4);
    assert_string_equal(buffer, "abc");
    assert_int_equal(enif_get_string(env, text("a"), buffer, 1, ERL_NIF_LATIN1), -1);
    assert_string_equal(buffer, "");
}

static void a_term_that_is_no_string_leaves_a_terminated_buffer(void **state)
{
    char buffer[8] = "xyz";
    ERL_NIF_TERM improper = enif_make_list_cell(env, enif_make_int(env, 'a'), TH_AM(ok));
    ERL_NIF_TERM wide = enif_make_list2(env, enif_make_int(env, 'b'), enif_make_int(env, 256));

    (void)state;
    assert_int_equal(enif_get_string(env, improper, buffer, 8, ERL_NIF_LATIN1), 0);
    assert_string_equal(buffer, "a");
    assert_int_equal(enif_get_string(env, wide, buffer, 8, ERL_NIF_LATIN1), 0);
    assert_string_equal(buffer, "b");
    assert_int_equal(enif_get_string(env, wide, buffer, 8, ERL_NIF_UTF8), 4);
    assert_int_equal(enif_get_string(env, improper, buffer, 8, ERL_NIF_UTF8), 0);
    assert_string_equal(buffer, "");
    assert_int_equal(enif_get_string(env, TH_AM(ok), buffer, 8, ERL_NIF_LATIN1), 0);
    assert_string_equal(buffer, "");
    assert_int_equal(enif_get_string(env, text("a"), buffer, 8, (ErlNifCharEncoding)7), 0);
}

static void utf8_strings_are_cut_between_characters(void **state)
{
    ERL_NIF_TERM list = enif_make_string(env, "\xC3\xA5\xF0\x9F\x98\x80", ERL_NIF_UTF8);
    char buffer[8];

    (void)state;
    assert_int_equal(enif_get_string(env, list, buffer, 8, ERL_NIF_UTF8), 7);
    assert_string_equal(buffer, "\xC3\xA5\xF0\x9F\x98\x80");
    assert_int_equal(enif_get_string(env, list, buffer, 6, ERL_NIF_UTF8), -3);
    assert_string_equal(buffer, "\xC3\xA5");
    assert_int_equal(enif_get_string(env, list, buffer, 8, ERL_NIF_LATIN1), 0);
    list = enif_make_list1(env, enif_make_int(env, 0xD800));
    assert_int_equal(enif_get_string(env, list, buffer, 8, ERL_NIF_UTF8), 0);
}

static void the_length_of_a_string_is_in_bytes(void **state)
{
    ERL_NIF_TERM list = enif_make_string(env, "a\xC3\xA5", ERL_NIF_UTF8);
    unsigned length = 77;

    (void)state;
    assert_true(enif_get_string_length(env, list, &length, ERL_NIF_LATIN1) && length == 2);
    assert_true(enif_get_string_length(env, list, &length, ERL_NIF_UTF8) && length == 3);
    assert_true(enif_get_string_length(env, TH_NIL, &length, ERL_NIF_UTF8) && length == 0);
    length = 77;
    assert_false(enif_get_string_length(env, TH_AM(ok), &length, ERL_NIF_UTF8));
    assert_false(enif_get_string_length(env, list, &length, (ErlNifCharEncoding)0));
    list = enif_make_list_cell(env, enif_make_int(env, 'a'), TH_AM(ok));
    assert_false(enif_get_string_length(env, list, &length, ERL_NIF_LATIN1));
    assert_int_equal(length, 77);
}

static void strings_are_made_of_latin1_bytes_or_utf8_characters(void **state)
{
    ERL_NIF_TERM head, tail;
    int c;

    (void)state;
    assert_term_equal(text(""), TH_NIL);
    assert_term_equal(enif_make_string(env, "", ERL_NIF_UTF8), TH_NIL);
    assert_true(enif_get_list_cell(env, text("\xC3\xA5"), &head, &tail));
    assert_true(enif_get_int(env, head, &c) && c == 0xC3);
    assert_true(enif_get_list_cell(env, enif_make_string_len(env, "\xC3\xA5!", 2, ERL_NIF_UTF8),
                                   &head, &tail));
    assert_true(enif_get_int(env, head, &c) && c == 0xE5 && tail == TH_NIL);
    assert_true(enif_is_exception(env, enif_make_string(env, "\xC3", ERL_NIF_UTF8)));
    enif_clear_env(env);
    assert_true(enif_is_exception(env, enif_make_string(env, "a", (ErlNifCharEncoding)3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_functions_for_lists_make_identical_lists, begin, end),
        cmocka_unit_test_setup_teardown(a_list_cell_has_a_head_and_a_tail, begin, end),
        cmocka_unit_test_setup_teardown(only_proper_lists_have_a_length, begin, end),
        cmocka_unit_test_setup_teardown(improper_and_empty_lists_are_lists, begin, end),
        cmocka_unit_test_setup_teardown(only_proper_lists_are_reversed, begin, end),
        cmocka_unit_test_setup_teardown(a_string_is_cut_to_the_size_of_its_buffer, begin, end),
        cmocka_unit_test_setup_teardown(a_term_that_is_no_string_leaves_a_terminated_buffer, begin,
                                        end),
        cmocka_unit_test_setup_teardown(utf8_strings_are_cut_between_characters, begin, end),
        cmocka_unit_test_setup_teardown(the_length_of_a_string_is_in_bytes, begin, end),
        cmocka_unit_test_setup_teardown(strings_are_made_of_latin1_bytes_or_utf8_characters, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
