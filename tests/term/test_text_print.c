/* Tests the printer without a BEAM: each kind of term, peculiarities of a BEAM, and limits. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static th_env env;

static int open_env(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int close_env(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

/* Returns the text of T, valid until the next call. */
static const char *printed(th_term t)
{
    static char text[4096];
    struct th_buffer b = {0};

    th_text_print(&b, t);
    assert_order(b.size, <, sizeof text);
    memcpy(text, b.data, b.size);
    text[b.size] = 0;
    th_buffer_free(&b);
    return text;
}

static const char *limited(th_term t, size_t limit)
{
    static char text[4096];
    struct th_buffer b = {0};

    th_text_print_limited(&b, t, limit);
    assert_order(b.size, <, sizeof text);
    memcpy(text, b.data, b.size);
    text[b.size] = 0;
    th_buffer_free(&b);
    return text;
}

static th_term string(const char *latin1)
{
    return th_make_latin1_string(&env, (const unsigned char *)latin1, strlen(latin1));
}

static void integers_are_printed(void **state)
{
    (void)state;
    assert_string_equal(printed(th_small(0)), "0");
    assert_string_equal(printed(th_small(-7)), "-7");
    assert_string_equal(printed(th_small(100)), "100");
    assert_string_equal(printed(th_make_int64(&env, INT64_MIN)), "-9223372036854775808");
    assert_string_equal(printed(th_make_uint64(&env, UINT64_MAX)), "18446744073709551615");
    assert_string_equal(printed(th_make_integer(&env, true, (uint64_t[]){0, 1}, 2)),
                        "-18446744073709551616");
}

static void floats_take_the_shorter_form(void **state)
{
    static const struct {
        double d;
        const char *text;
    } floats[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {100.0, "100.0"},
        {1000.0, "1.0e3"},
        {1234.0, "1234.0"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00012, "1.2e-4"},
        {1e-5, "1.0e-5"},
        {123456.789, "123456.789"},
        {9007199254740991.0, "9007199254740991.0"},
        {9007199254740992.0, "9.007199254740992e15"},
        {123456789012345680.0, "1.2345678901234568e17"},
        {1e300, "1.0e300"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5.0e-324"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {0x1p-1017, "7.120236347223045e-307"}, /* the nearest 16 digits are those of a neighbour */
    };

    (void)state;
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        assert_string_equal(printed(th_make_float(&env, floats[i].d)), floats[i].text);
}

static void atoms_are_quoted_where_they_must_be(void **state)
{
    static const char *const atoms[][2] = {
        {"a", "a"},
        {"aB_1@x", "aB_1@x"},
        {"", "''"},
        {"A", "'A'"},
        {"_a", "'_a'"},
        {"1a", "'1a'"},
        {"a b", "'a b'"},
        {"a.b", "'a.b'"},
        {"receive", "'receive'"},
        {"receives", "receives"},
        {"maybe", "maybe"},
        {"it's", "'it\\'s'"},
        {"\\", "'\\\\'"},
        {"\n\x1b\x7f\x01", "'\\n\\e\\d\\001'"},
        {"\"", "'\"'"},
        {"é", "é"},
        {"É", "'É'"},
        {"a×b", "'a×b'"},
        {"\xC2\x80", "'\\200'"},
        {"α", "'\\x{3B1}'"},
        {"😀", "'\\x{1F600}'"},
    };
    struct th_buffer b = {0};

    (void)state;
    for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++)
        assert_string_equal(printed(th_atom_utf8(atoms[i][0], strlen(atoms[i][0]))), atoms[i][1]);
    th_text_print_atom(&b, TH_AM(receive));
    assert_string_equal(th_buffer_text(&b), "'receive'");
    th_buffer_free(&b);
}

static void lists_of_printable_characters_are_strings(void **state)
{
    (void)state;
    assert_string_equal(printed(TH_NIL), "[]");
    assert_string_equal(printed(string("a\"\\\b\t\n\v\f\r\x1b")),
                        "\"a\\\"\\\\\\b\\t\\n\\v\\f\\r\\e\"");
    assert_string_equal(printed(string("\xA0\xFF")), "\"\u00A0ÿ\"");
    assert_string_equal(printed(string("a\x7F")), "[97,127]");
    assert_string_equal(printed(string("\x80")), "[128]");
    assert_string_equal(printed(th_make_cons(&env, th_small(256), TH_NIL)), "[256]");
    assert_string_equal(printed(th_make_cons(&env, th_small(-1), string("a"))), "[-1,97]");
}

static void only_a_whole_list_is_a_string(void **state)
{
    (void)state;
    assert_string_equal(printed(th_make_cons(&env, TH_AM(ok), string("ab"))), "[ok,97,98]");
    assert_string_equal(printed(th_make_cons(&env, string("ab"), string("cd"))), "[\"ab\",99,100]");
    assert_string_equal(printed(th_make_cons(&env, th_small('a'), TH_AM(ok))), "[97|ok]");
    assert_string_equal(printed(th_make_cons(&env, TH_NIL, TH_NIL)), "[[]]");
}

static void binaries_are_printed(void **state)
{
    unsigned char *data;
    th_term bits;

    (void)state;
    assert_string_equal(printed(th_make_binary(&env, "", 0)), "<<>>");
    assert_string_equal(printed(th_make_binary(&env, "a\"\xE9", 3)), "<<\"a\\\"é\">>");
    assert_string_equal(printed(th_make_binary(&env, "a\0\xFF", 3)), "<<97,0,255>>");
    bits = th_make_heap_binary(&env, 19, &data);
    memcpy(data, "ab\xA0", 3);
    assert_string_equal(printed(bits), "<<97,98,5:3>>");
    assert_string_equal(printed(th_make_sub_binary(&env, bits, 1, 1)), "<<\"b\">>");
    bits = th_make_heap_binary(&env, 7, &data);
    data[0] = 0;
    assert_string_equal(printed(bits), "<<0:7>>");
}

static void tuples_and_maps_are_printed(void **state)
{
    th_term key = th_make_tuple_of(&env, TH_AM(ok), th_small(1));

    (void)state;
    assert_string_equal(printed(th_make_tuple(&env, NULL, 0)), "{}");
    assert_string_equal(printed(th_make_tuple_of(&env, key, string("x"))), "{{ok,1},\"x\"}");
    assert_string_equal(printed(th_make_map(&env, NULL, NULL, 0, true)), "#{}");
    assert_string_equal(printed(th_make_map(&env, (th_term[]){key, TH_AM(ok)},
                                            (th_term[]){TH_NIL, string("x")}, 2, true)),
                        "#{ok => \"x\",{ok,1} => []}");
}

static void large_maps_keep_their_order(void **state)
{
    th_term keys[TH_MAP_SMALL + 1];
    const char *text;

    (void)state;
    for (int i = 0; i <= TH_MAP_SMALL; i++)
        keys[i] = th_small(TH_MAP_SMALL - i);
    text = printed(th_make_map(&env, keys, keys, TH_MAP_SMALL, true));
    assert_memory_equal(text, "#{1 => 1,2 => 2,", 16);
    text = printed(th_make_map(&env, keys, keys, TH_MAP_SMALL + 1, true));
    assert_memory_equal(text, "#{32 => 32,31 => 31,", 20);
    assert_string_equal(text + strlen(text) - 8, ",0 => 0}");
}

static void identifiers_of_this_node_are_printed(void **state)
{
    const uint32_t words[] = {1, 2, 3, 4, 5};

    (void)state;
    assert_string_equal(printed(th_make_pid(&env, TH_NONE, 0, 94, 3)), "<0.94.3>");
    assert_string_equal(printed(th_make_pid(&env, TH_NONE, 0, UINT32_MAX, UINT32_MAX)),
                        "<0.4294967295.4294967295>");
    assert_string_equal(printed(th_make_port(&env, TH_NONE, 0, 5)), "#Port<0.5>");
    assert_string_equal(printed(th_make_port(&env, TH_NONE, 0, UINT64_MAX)),
                        "#Port<0.18446744073709551615>");
    assert_string_equal(printed(th_make_reference(&env, TH_NONE, 0, words, 3)), "#Ref<0.3.2.1>");
    assert_string_equal(printed(th_make_reference(&env, TH_NONE, 0, words, 5)),
                        "#Ref<0.5.4.3.2.1>");
    assert_string_equal(printed(th_make_reference(&env, TH_NONE, 0, words, 1)), "#Ref<0.0.0.1>");
}

static void identifiers_of_other_nodes_show_a_hash_of_its_name(void **state)
{
    th_term node = th_atom("a@b"), other = th_atom("b@a");

    (void)state;
    assert_string_equal(printed(th_make_pid(&env, node, 1, 94, 3)), "<2710200233.94.3>");
    assert_string_equal(printed(th_make_port(&env, node, 1, 7)), "#Port<2710200233.7>");
    assert_string_equal(printed(th_make_reference(&env, node, 1, (uint32_t[]){1, 2}, 2)),
                        "#Ref<2710200233.2.1>");
    assert_string_equal(printed(th_make_pid(&env, other, 1, 94, 3)), "<3636047767.94.3>");
}

static void keep_nothing(struct th_magic *object)
{
    (void)object;
}

static void release_nothing(struct th_offheap *self)
{
    (void)self;
}

static void magic_references_print_as_plain_ones(void **state)
{
    struct th_magic object = {keep_nothing, {1, 2, 3}};

    (void)state;
    assert_string_equal(printed(th_make_magic(&env, &object, release_nothing)), "#Ref<0.3.2.1>");
}

static void exports_are_quoted_by_their_own_rule(void **state)
{
    static const char *const names[][2] = {
        {"map", "map"},       {"+", "'+'"},       {"a b", "'a b'"}, {"begin", "begin"},
        {"a@b", "'a@b'"},     {"A", "'A'"},       {"", "''"},       {"it's", "'it\\'s'"},
        {"\x1b", "'\\033'"},  {"\x7f", "'\x7f'"}, {"\n", "'\\n'"},  {"é", "Ã©"},
        {"É", "'Ã\xC2\x89'"}, {"α", "'Î±'"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        th_term name = th_atom_utf8(names[i][0], strlen(names[i][0]));
        snprintf(text, sizeof text, "fun lists:%s/2", names[i][1]);
        assert_string_equal(printed(th_make_export(&env, th_atom("lists"), name, 2)), text);
    }
}

static void funs_show_the_low_words_of_old_numbers(void **state)
{
    struct th_fun_parts parts = {.module = th_atom("my mod"),
                                 .index = 9,
                                 .old_index = th_small(2),
                                 .old_unique = th_small(108605527),
                                 .creator = th_local_pid(1, 0)};

    (void)state;
    assert_string_equal(printed(th_make_fun(&env, &parts)), "#Fun<my mod.2.108605527>");
    parts.old_unique = th_small(UINT32_MAX);
    assert_string_equal(printed(th_make_fun(&env, &parts)), "#Fun<my mod.2.-1>");
}

static void printing_deep_terms_needs_no_stack(void **state)
{
    enum { DEPTH = 1000000 };
    struct th_buffer b = {0};
    th_term t = TH_NIL;

    (void)state;
    for (int i = 0; i < DEPTH; i++)
        t = i % 2 ? th_make_cons(&env, t, TH_NIL) : th_make_tuple(&env, &t, 1);
    th_text_print(&b, t);
    assert_int_equal(b.size, 2 * DEPTH + 2);
    b.size = 0;
    th_text_print_limited(&b, t, 4);
    assert_string_equal(th_buffer_text(&b), "[{[{...");
    th_buffer_free(&b);
}

static void a_limit_cuts_inside_long_leaves(void **state)
{
    th_term text = string("abcdefghijklmnopqrstuvwxyz");
    uint64_t limbs[100];

    (void)state;
    memset(limbs, 0xFF, sizeof limbs);
    assert_string_equal(limited(text, 5), "\"abcde...");
    assert_string_equal(limited(text, 26), "\"abcdefghijklmnopqrstuvwxyz\"");
    assert_string_equal(limited(th_make_binary(&env, "abcdefghij", 10), 5), "<<\"abcde...");
    assert_string_equal(limited(th_make_binary(&env, "\1\2\3\4\5\6\7", 7), 3), "<<1,2,3...");
    assert_string_equal(limited(th_make_integer(&env, false, limbs, 100), 10), "...");
}

static void a_limit_stops_between_elements(void **state)
{
    th_term pair = th_make_tuple_of(&env, TH_AM(ok), TH_AM(error));

    (void)state;
    assert_string_equal(limited(pair, 0), "{...");
    assert_string_equal(limited(pair, 4), "{ok,error...");
    assert_string_equal(limited(pair, 3), "{ok...");
    assert_string_equal(limited(pair, 100), "{ok,error}");
    assert_string_equal(limited(pair, SIZE_MAX), "{ok,error}");
    assert_string_equal(limited(TH_AM(ok), 0), "ok");
}

static void printed_text_is_appended(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_add_text(&b, "x = ");
    th_text_print(&b, TH_AM(ok));
    th_text_print_limited(&b, TH_AM(ok), 1);
    assert_string_equal(th_buffer_text(&b), "x = okok");
    th_buffer_free(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(integers_are_printed),
        TEST(floats_take_the_shorter_form),
        TEST(atoms_are_quoted_where_they_must_be),
        TEST(lists_of_printable_characters_are_strings),
        TEST(only_a_whole_list_is_a_string),
        TEST(binaries_are_printed),
        TEST(tuples_and_maps_are_printed),
        TEST(large_maps_keep_their_order),
        TEST(identifiers_of_this_node_are_printed),
        TEST(identifiers_of_other_nodes_show_a_hash_of_its_name),
        TEST(magic_references_print_as_plain_ones),
        TEST(exports_are_quoted_by_their_own_rule),
        TEST(funs_show_the_low_words_of_old_numbers),
        TEST(printing_deep_terms_needs_no_stack),
        TEST(a_limit_cuts_inside_long_leaves),
        TEST(a_limit_stops_between_elements),
        TEST(printed_text_is_appended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
