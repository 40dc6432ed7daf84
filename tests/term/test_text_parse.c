/* Tests the parser without a BEAM: syntax that oracle/ cannot compare (newer syntax, identifiers),
 * refusals and their places, limits, and which terms text can represent. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

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

static th_term parsed(const char *text)
{
    th_term t = TH_NONE;

    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s in %s", th_error_link(0), text);
    return t;
}

struct sample {
    const char *text;
    const char *wanted;
};

/* Asserts that each TEXT is parsed to a term that is printed as WANTED. */
static void check_read(const struct sample *samples, size_t count)
{
    struct th_buffer b = {0};

    for (size_t i = 0; i < count; i++) {
        b.size = 0;
        th_text_print(&b, parsed(samples[i].text));
        if (strcmp(th_buffer_text(&b), samples[i].wanted) != 0)
            fail_msg("%s is read as %s, not %s", samples[i].text, th_buffer_text(&b),
                     samples[i].wanted);
    }
    th_buffer_free(&b);
}

/* Asserts that each TEXT is refused with WANTED. */
static void check_refused(const struct sample *samples, size_t count)
{
    th_term t = TH_AM(ok);

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(th_text_parse(&env, samples[i].text, strlen(samples[i].text), &t),
                         TH_MALFORMED);
        assert_string_equal(th_error_link(0), samples[i].wanted);
        assert_term_equal(t, TH_AM(ok));
    }
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void terms_of_each_kind_are_read(void **state)
{
    static const struct sample samples[] = {
        {"ok", "ok"},
        {" 'two words' % comment", "'two words'"},
        {"-16#ff", "-255"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1.5e3", "1.5e3"},
        {"$\\n", "10"},
        {"\"a\" \"b\"\n\"c\"", "\"abc\""},
        {"[a, \"b\" | c]", "[a,\"b\"|c]"},
        {"{{}, {a}}", "{{},{a}}"},
        {"#{k => v, 1 => #{}}", "#{1 => #{},k => v}"},
        {"<<1, 2:4, \"x\", 3:4>>", "<<1,39,131>>"},
        {"fun lists:map/2", "fun lists:map/2"},
        {"((a))", "a"},
        {"- -1", "1"},
    };

    (void)state;
    check_read(samples, COUNT(samples));
}

static void a_full_stop_after_the_term_is_accepted(void **state)
{
    static const struct sample samples[] = {
        {"a.", "a"}, {"1. ", "1"}, {"1.5.\n", "1.5"}, {"[].% end", "[]"}, {"a . ", "a"}};
    static const struct sample refused[] = {
        {"a.b", "line 1, column 2: expected the end of the term (only constants are read, no "
                "expressions), found \".b\""},
        {"a. b", "line 1, column 4: expected the end of the term, found \"b\""},
    };

    (void)state;
    check_read(samples, COUNT(samples));
    check_refused(refused, COUNT(refused));
}

static void identifiers_are_read_as_printed(void **state)
{
    const uint32_t words[] = {1, 2, 3};

    (void)state;
    assert_term_equal(parsed("<0.94.3>"), th_local_pid(94, 3));
    assert_term_equal(parsed("#Port<0.5>"), th_local_port(5));
    assert_term_identical(parsed("#Ref<0.3.2.1>"), th_make_reference(&env, TH_NONE, 0, words, 3));
    assert_term_identical(parsed("<0.4294967295.0>"), th_make_pid(&env, TH_NONE, 0, UINT32_MAX, 0));
}

static void a_large_map_keeps_its_order(void **state)
{
    struct th_buffer text = {0};
    struct th_buffer again = {0};
    th_term map;

    (void)state;
    th_buffer_add_text(&text, "#{");
    for (int i = 0; i < 100; i++)
        th_buffer_printf(&text, "%s%d => a", i ? "," : "", i * 37 % 100);
    th_buffer_add_text(&text, "}");
    map = parsed(th_buffer_text(&text));
    th_text_print(&again, map);
    assert_string_equal(th_buffer_text(&again), th_buffer_text(&text));
    text.size--;
    th_buffer_add_text(&text, ",37 => b}");
    assert_term_equal(th_map_get(parsed(th_buffer_text(&text)), th_small(37)), th_atom("b"));
    th_buffer_free(&text);
    th_buffer_free(&again);
}

static void triple_quoted_strings_are_read(void **state)
{
    static const struct sample samples[] = {
        {"\"\"\"\n  a\n   b\n  \"\"\"", "\"a\\n b\""},
        {"\"\"\"\n\"\"\"", "[]"},
        {"\"\"\"\n\n\"\"\"", "[]"},
        {"\"\"\" \t\n  a\n\n  b\n  \"\"\"", "\"a\\n\\nb\""},
        {"\"\"\"\nno \\n \"escape\"\n\"\"\"", "\"no \\\\n \\\"escape\\\"\""},
        {"\"\"\"\"\n\"\"\"\n\"\"\"\"", "\"\\\"\\\"\\\"\""},
        {"\"\"\"\r\n  a\r\n  b\r\n  \"\"\"", "\"a\\r\\nb\""},
        {"\"a\" \"\"\"\nb\n\"\"\"", "\"ab\""},
        {"<<\"\"\"\nab\n\"\"\">>", "<<\"ab\">>"},
    };
    static const struct sample refused[] = {
        {"\"\"\"a\n\"\"\"", "line 1, column 4: expected a new line behind the triple quotes, found "
                            "\"a\""},
        {"\"\"\"\n  a\n b\n  \"\"\"",
         "line 3, column 1: expected the indentation of the closing quotes, found \" b\""},
    };

    (void)state;
    check_read(samples, COUNT(samples));
    check_refused(refused, COUNT(refused));
}

static void sigils_are_read(void **state)
{
    static const struct sample samples[] = {
        {"~\"a\\tb\"", "<<\"a\\tb\">>"},
        {"~b\"\\x{20AC}\"", "<<226,130,172>>"},
        {"~B\"a\\tb\\\"\"", "<<\"a\\\\tb\\\"\">>"},
        {"~s\"a\\tb\"", "\"a\\tb\""},
        {"~S\"a\\tb\"", "\"a\\\\tb\""},
        {"[~(a),~[a],~{a},~<a>,~/a/,~|a|,~'a',~`a`,~#a#]",
         "[<<\"a\">>,<<\"a\">>,<<\"a\">>,<<\"a\">>,<<\"a\">>,<<\"a\">>,<<\"a\">>,<<\"a\">>,"
         "<<\"a\">>]"},
        {"~\"\"\"\n a\\t\n \"\"\"", "<<\"a\\\\t\">>"},
        {"~b\"\"\"\n a\\t\n \"\"\"", "<<\"a\\t\">>"},
        {"<<~s\"ab\", ~\"cd\"/binary>>", "<<\"abcd\">>"},
    };
    static const struct sample refused[] = {
        {"~x\"a\"",
         "line 1, column 2: expected b, B, s, S or a quote behind '~', found \"x\"a\"\""},
        {"~\"a\"x", "line 1, column 5: expected no suffix behind a sigil, found \"x\""},
        {"~\"a\" \"b\"", "line 1, column 6: expected the end of the term, found \"\"b\"\""},
    };

    (void)state;
    check_read(samples, COUNT(samples));
    check_refused(refused, COUNT(refused));
}

static void texts_that_are_no_constants_are_refused(void **state)
{
    static const struct sample refused[] = {
        {"", "line 1, column 1: expected a term, found the end of the text"},
        {"{a,\n Xyz}",
         "line 2, column 2: expected a term (variables have no value here), found \"Xyz}\""},
        {"begin", "line 1, column 1: expected a term (a reserved word is an atom only in single "
                  "quotes), found \"begin\""},
        {"1 + 2", "line 1, column 3: expected the end of the term (only constants are read, no "
                  "expressions), found \"+ 2\""},
        {"f(x)", "line 1, column 2: expected the end of the term (only constants are read, no "
                 "expressions), found \"(x)\""},
        {"#rec{}", "line 1, column 2: expected '{' behind '#', found \"rec{}\""},
        {"#Fun<m.1.2>", "line 1, column 1: expected a term (a fun cannot be read from text), found "
                        "\"#Fun<m.1.2>\""},
        {"<7.1.2>", "line 1, column 1: expected an identifier of this node (no other can be read "
                    "from text), found \"<7.1.2>\""},
        {"-a", "line 1, column 1: expected a number behind the sign, found \"-a\""},
    };

    (void)state;
    check_refused(refused, COUNT(refused));
}

static void a_refusal_names_the_position_and_the_cause(void **state)
{
    static const struct sample refused[] = {
        {"[a b]", "line 1, column 4: expected ',', '|' or ']', found \"b]\""},
        {"[a|b c]", "line 1, column 6: expected ']', found \"c]\""},
        {"{a]", "line 1, column 3: expected ',' or '}', found \"]\""},
        {"#{a}", "line 1, column 4: expected '=>', found \"}\""},
        {"(a", "line 1, column 3: expected ')', found the end of the text"},
        {"'é\\x{D800}'", "line 1, column 6: expected the number of a character, found \"D800}'\""},
        {"[a,\n\"bc", "line 2, column 4: expected \" at the end of what begins with \"bc, found "
                      "the end of the text"},
        {"[\xFF]", "line 1, column 2: expected a term; other characters than Latin-1's must stand "
                   "between quotes, found the byte FF"},
        {"\"\xC3\"", "line 1, column 2: expected UTF-8, found the byte C3"},
        {"1.0e999", "line 1, column 1: expected a float that a double can hold, found \"1.0e999\""},
        {"<<1:8/binary-float>>", "line 1, column 14: expected a type that goes with those before "
                                 "it, found \"float>>\""},
        {"<<(<<1>>)>>",
         "line 1, column 3: expected an integer, or another type, found \"(<<1>>)>>\""},
        {"fun m:f/256", "line 1, column 9: expected an arity from 0 to 255, found \"256\""},
    };

    (void)state;
    check_refused(refused, COUNT(refused));
}

static void a_prefix_ends_with_the_term(void **state)
{
    static const struct {
        const char *text;
        size_t used;
    } samples[] = {
        {"console,output=x", 7},
        {"1,a=b", 1},
        {"[a,b] , c", 5},
        {"\"a\" , \"b\"", 3},
        {"\"a\" \"b\",c", 7},
        {"<<\"a,b\">>,c", 9},
        {"'a,b',c", 5},
        {" {a},b", 4},
        {"1.5,x", 3},
        {"1.", 1},
        {"-1,x", 2},
        {"fun m:f/1,x", 9},
        {"<0.1.2>,x", 7},
        {"$,,x", 2},
        {"ok \xFF", 2},
        {"#{a=>b}}", 7},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        th_term t;
        size_t used = 0;
        assert_int_equal(
            th_text_parse_prefix(&env, samples[i].text, strlen(samples[i].text), &t, &used), TH_OK);
        assert_int_equal(used, samples[i].used);
    }
}

/* Parses OPEN DEPTH times, then CLOSE as often. */
static enum th_status parse_deep(const char *open, const char *close, size_t depth)
{
    struct th_buffer b = {0};
    enum th_status status;
    th_term t;

    for (size_t i = 0; i < depth; i++)
        th_buffer_add_text(&b, open);
    for (size_t i = 0; i < depth; i++)
        th_buffer_add_text(&b, close);
    status = th_text_parse(&env, (char *)b.data, b.size, &t);
    if (status == TH_OK)
        assert_true(th_text_print_exact(&b, t));
    th_buffer_free(&b);
    return status;
}

static void depth_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(parse_deep("[", "]", 1 << 20), TH_OK);
    assert_int_equal(parse_deep("{", "}", 1 << 20), TH_OK);
    assert_int_equal(parse_deep("[", "]", (1 << 20) + 1), TH_MALFORMED);
    assert_int_equal(parse_deep("(", "", (1 << 20) + 1), TH_MALFORMED);
    assert_int_equal(parse_deep("- ", "", (1 << 20) + 1), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "line 1, column 2097153: expected at most 1048576 open "
                                          "brackets, found \"- \"");
}

static enum th_status parse_digits(size_t digits)
{
    struct th_buffer b = {0};
    enum th_status status;
    th_term t;

    memset(th_buffer_reserve(&b, digits), '7', digits);
    b.size = digits;
    status = th_text_parse(&env, (char *)b.data, b.size, &t);
    if (status == TH_OK)
        assert_true(th_text_print_exact(&b, t));
    th_buffer_free(&b);
    return status;
}

static void digits_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(parse_digits(100000), TH_OK);
    assert_int_equal(parse_digits((1 << 20) + 1), TH_MALFORMED);
    assert_int_equal(parse_digits(3 << 20), TH_MALFORMED);
}

static void sizes_of_bit_strings_are_bounded(void **state)
{
    static const struct sample refused[] = {
        {"<<1:4000000000>>", "line 1, column 3: expected bit strings that are not that much longer "
                             "than their text, found \"1:4000000000>>\""},
        {"<<1:99999999999999999999>>", "line 1, column 5: expected a size from 0 to "
                                       "1125899906842624, found \"99999999999999999999\""},
        {"[<<1:100000000>>,<<\"abc\":10000000/unit:256>>]",
         "line 1, column 20: expected bit strings that are not that much longer than their text, "
         "found \"\"abc\":10000000/unit:\""},
    };
    const unsigned char *data;
    size_t bits;

    (void)state;
    check_refused(refused, COUNT(refused));
    assert_true(th_get_bits(parsed("<<1:8000000>>"), &data, &bits));
    assert_int_equal(bits, 8000000);
}

static void atoms_beyond_255_characters_are_refused(void **state)
{
    struct th_buffer b = {0};
    th_term t;

    (void)state;
    for (int i = 0; i < 255; i++)
        th_buffer_add_byte(&b, 'a');
    assert_int_equal(th_text_parse(&env, (char *)b.data, b.size, &t), TH_OK);
    th_buffer_add_byte(&b, 'a');
    assert_int_equal(th_text_parse(&env, (char *)b.data, b.size, &t), TH_MALFORMED);
    th_buffer_free(&b);
}

static bool carries(th_term t)
{
    struct th_buffer text = {0};
    bool all =
        th_text_print_exact(&text, t) && th_text_print_exact(&text, th_make_tuple(&env, &t, 1));

    th_buffer_free(&text);
    return all;
}

static void terms_that_text_can_represent_are_recognized(void **state)
{
    const struct th_fun_parts fun = {.module = TH_AM(erlang),
                                     .old_index = th_small(1),
                                     .old_unique = th_small(2),
                                     .creator = th_local_pid(1, 0)};
    const uint32_t words[] = {1, 2, 3};
    th_term node = th_atom("a@b");

    (void)state;
    assert_true(carries(parsed("[a,1.5,-0.0,\"x\",{<<1:3>>,#{k => [v|t]}},<0.1.2>,#Port<0.3>]")));
    assert_true(carries(th_make_reference(&env, TH_NONE, 0, words, 3)));
    assert_true(carries(parsed("fun 'a b':'receive'/1")));
    assert_false(carries(th_make_reference(&env, TH_NONE, 0, words, 1)));
    assert_false(carries(th_make_reference(&env, node, 1, words, 3)));
    assert_false(carries(th_make_pid(&env, node, 1, 1, 2)));
    assert_false(carries(th_make_port(&env, node, 1, 1)));
    assert_false(carries(th_make_fun(&env, &fun)));
    assert_false(carries(parsed("fun m:'\xC3\xA9'/1")));
    assert_false(carries(th_make_cons(&env, TH_AM(ok), th_make_pid(&env, node, 1, 1, 2))));
}

static void short_terms_allocate_nothing(void **state)
{
    static const char text[] = "{trace,<0.94.0>,call,{lists,map,[\"text\",#{a => -1.5}]}}";
    unsigned long before;
    th_term t;

    (void)state;
    parsed(text); /* creates the atoms, and the first chunk */
    before = th_alloc_count();
    assert_int_equal(th_text_parse(&env, text, sizeof text - 1, &t), TH_OK);
    assert_int_equal(th_alloc_count(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(terms_of_each_kind_are_read),
        TEST(a_full_stop_after_the_term_is_accepted),
        TEST(identifiers_are_read_as_printed),
        TEST(a_large_map_keeps_its_order),
        TEST(triple_quoted_strings_are_read),
        TEST(sigils_are_read),
        TEST(texts_that_are_no_constants_are_refused),
        TEST(a_refusal_names_the_position_and_the_cause),
        TEST(a_prefix_ends_with_the_term),
        TEST(depth_is_bounded),
        TEST(digits_are_bounded),
        TEST(sizes_of_bit_strings_are_bounded),
        TEST(atoms_beyond_255_characters_are_refused),
        TEST(terms_that_text_can_represent_are_recognized),
        TEST(short_terms_allocate_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
