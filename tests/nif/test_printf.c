/* Tests enif_snprintf() and its relatives: the directives of C, and %T. */
#include "host/term/term.h"
#include "plugin_api/erl_nif.h"
#include "tests/support/assertions.h"

#include <stddef.h>

static char text[256];

static void terms_are_printed_as_erlang_text(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM list = enif_make_list2(env, enif_make_int(env, 1), enif_make_atom(env, "A"));

    (void)state;
    assert_int_equal(
        enif_snprintf(text, sizeof text, "<%T|%d|%T>", list, 7, enif_make_int(env, -5)), 14);
    assert_string_equal(text, "<[1,'A']|7|-5>");
    enif_free_env(env);
}

static void a_precision_truncates_a_printed_term(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM atom = enif_make_atom(env, "abcdefghijklmnopqrstuvwxyz");

    (void)state;
    enif_snprintf(text, sizeof text, "%#.4T", atom);
    assert_string_equal(text, "abcd");
    enif_snprintf(text, sizeof text, "%.2T", enif_make_list2(env, atom, atom));
    assert_string_equal(text, "[abcdefghijklmnopqrstuvwxyz... ");
    enif_snprintf(text, sizeof text, "%.*T|", 40, atom);
    assert_string_equal(text, "abcdefghijklmnopqrstuvwxyz|");
    enif_free_env(env);
}

/* %T prints as a BEAM does, %#T as io:format("~0p"). tests/conformance compares with a BEAM. */
static void terms_are_printed_as_a_beam_does_or_as_io_format(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM map = enif_make_new_map(env), atom = enif_make_atom(env, "receive");

    (void)state;
    enif_make_map_put(env, map, atom, enif_make_double(env, 1.5), &map);
    enif_snprintf(text, sizeof text, "%T %#T", map, map);
    assert_string_equal(text, "#{receive=>1.500000e+00} #{'receive' => 1.5}");
    enif_free_env(env);
}

/* tests/conformance compares with a BEAM. */
static void widths_and_pointers_are_printed_as_a_beam_does(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM pair = enif_make_tuple2(env, enif_make_int(env, 12), enif_make_atom(env, "ab"));

    (void)state;
    enif_snprintf(text, sizeof text, "%-10T|%10T|%#10T|%2T", pair, pair, pair, pair);
    assert_string_equal(text, "{12,ab}   |        {12,ab}|   {12,ab}|{12,ab}");
    enif_snprintf(text, sizeof text, "%p|%.4p|%20p", (void *)0x1234, (void *)0x1234, (void *)0);
    assert_string_equal(text, "0x0000000000001234|          0x1234|  0x0000000000000000");
    enif_free_env(env);
}

/* Compares each directive of C but %p with C. */
static void other_directives_are_printed_as_in_c(void **state)
{
    /* Not an array: compilers would check its directives and refuse that %hd truncates. */
    static const char *format = "%d|%5i|%-5u|%05x|%#o|%X|%ld|%llu|%zu|%jd|%hd|%hhd|%c|%s|%.3s|%*d|"
                                "%.*f|%e|%G|%a|%Lf|%%|%+d|% d|%td";
    char expected[sizeof text];
    int wanted, got;

    (void)state;
#define ARGUMENTS                                                                                  \
    -1, 2, 3u, 0xabc, 8, 0xDEF, -5L, 18446744073709551615ull, (size_t)9, (intmax_t)-3, 70000, 300, \
        'x', "string", "string", 6, 42, 2, 3.14159, 1e10, 1e-5, 0.5, (long double)2.5, 5, 6,       \
        (ptrdiff_t)-7
    wanted = snprintf(expected, sizeof expected, format, ARGUMENTS);
    got = enif_snprintf(text, sizeof text, format, ARGUMENTS);
    assert_string_equal(text, expected);
    assert_int_equal(got, wanted);
}

static void output_that_does_not_fit_is_truncated_and_counted(void **state)
{
    char small[4] = "xyz";

    (void)state;
    assert_int_equal(enif_snprintf(small, sizeof small, "%s", "abcdef"), 6);
    assert_string_equal(small, "abc");
    assert_int_equal(enif_snprintf(NULL, 0, "%d", 12345), 5);
}

static void formatted_text_is_printed_to_a_file(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    assert_int_equal(enif_fprintf(file, "%T %s\n", TH_NIL, "end"), 7);
    rewind(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "[] end\n");
    fclose(file);
}

static void an_incomplete_directive_is_printed_as_it_is(void **state)
{
    (void)state;
    enif_snprintf(text, sizeof text, "100%");
    assert_string_equal(text, "100%");
    enif_snprintf(text, sizeof text, "%5");
    assert_string_equal(text, "%5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_printed_as_erlang_text),
        cmocka_unit_test(a_precision_truncates_a_printed_term),
        cmocka_unit_test(terms_are_printed_as_a_beam_does_or_as_io_format),
        cmocka_unit_test(widths_and_pointers_are_printed_as_a_beam_does),
        cmocka_unit_test(other_directives_are_printed_as_in_c),
        cmocka_unit_test(output_that_does_not_fit_is_truncated_and_counted),
        cmocka_unit_test(formatted_text_is_printed_to_a_file),
        cmocka_unit_test(an_incomplete_directive_is_printed_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
