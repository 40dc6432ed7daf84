/* Tests the quick way of th_text_parse() beside th_text_parse_prefix(), which has the general way
 * only: equal terms for usual texts and for changed ones. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/term/text_parse_internal.h"
#include "tests/support/assertions.h"

#include <string.h>

static th_env env;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_error_clear();
    return 0;
}

static const char *const usual[] = {
    "{compile,file,2}",
    "{m,'-f/1-fun-0-',[1,-20,x@y_Z9,[]]}",
    "[]",
    "{}",
    "[a|b]",
    "[{a,[b|c]},[[]]|[d]]",
    "\"\"",
    "{\"ab c\",<<\"text\">>,<<\"\">>,<<>>,<<0,10,255>>}",
    "<0.79.0>",
    "[<0.268435455.268435455>,#Port<0.5>,#Ref<0.1.2.3>]",
    "{1.5,2.0e-3,16#ff,1_000,$a,576460752303423487,576460752303423488,-576460752303423487}",
    "{123456789012345678901234567890,007,-0}",
    "['a\\nb','',\"a\\\"b\",\"\xC3\xA9\",'\xC3\xA9']",
    "{a, b}", /* the scanner skips the blank */
};

/* Texts with another part, or wrong ones. */
static const char *const unusual[] = {
    "",
    "\"a\" \"b\"",
    "<0.12.268435456>",
    "{a ,b}",
    "a.",
    "{",
    "{a",
    "{a,}",
    "{,}",
    "[a,]",
    "[|a]",
    "[a|]",
    "[a|b,c]",
    "[a|b|c]",
    "{a]",
    "a b",
    "if",
    "{fun,1}",
    "fun m:f/1",
    "#{a => 1}",
    "-1.5",
    "-a",
    "- 1",
    "(a)",
    "<<1:3>>",
    "<<256>>",
    "<<1,>>",
    "<<1,2",
    "<<\"a\",1>>",
    "<<\"\xC3\xA9\">>",
    "<<\"a\">",
    "<0.268435456.0>",
    "<0.1.4294967296>",
    "<1.2.3>",
    "<0.1>",
    "1.",
    "1.a",
    "'a",
    "\"a",
    "A",
    "a%b",
    "a\xC3\xA9",
    "\"a\"\"b\"",
};

enum { USUAL = sizeof usual / sizeof *usual, UNUSUAL = sizeof unusual / sizeof *unusual };

/* Returns true if the quick way read the text. */
static bool read_text_both(const char *text, size_t size)
{
    th_term quick = TH_NONE, general = TH_NONE;
    size_t used = 0;
    bool good;

    th_env_clear(&env);
    if (!th_text_parse_quickly(&env, text, size, &quick))
        return false;
    good = th_text_parse_prefix(&env, text, size, &general, &used) == TH_OK;
    if (!good || used != size || !th_identical(quick, general))
        fail_msg("another term: %.*s", (int)size, text);
    return true;
}

static void usual_texts_are_read_quickly(void **state)
{
    (void)state;
    for (size_t i = 0; i < USUAL; i++)
        if (!read_text_both(usual[i], strlen(usual[i])))
            fail_msg("left: %s", usual[i]);
}

static void unusual_texts_are_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNUSUAL; i++)
        if (read_text_both(unusual[i], strlen(unusual[i])))
            fail_msg("read: %s", unusual[i]);
}

/* A text of COUNT times OPEN, "a", and COUNT times CLOSE. */
static bool nest(const char *open, const char *close, size_t count)
{
    struct th_buffer text = {0};
    bool quick;

    for (size_t i = 0; i < count; i++)
        th_buffer_add_text(&text, open);
    th_buffer_add_text(&text, "a");
    for (size_t i = 0; i < count; i++)
        th_buffer_add_text(&text, close);
    quick = read_text_both(th_buffer_text(&text), text.size);
    th_buffer_free(&text);
    return quick;
}

static void deep_wide_and_long_texts_are_left(void **state)
{
    (void)state;
    assert_true(nest("[", "]", 63));
    assert_false(nest("[", "]", 64));
    assert_true(nest("{a,", "}", 63));
    assert_false(nest("{", "}", 64));
    for (size_t wide = 127; wide < 129; wide++) {
        struct th_buffer text = {0};
        th_buffer_add_text(&text, "{1");
        for (size_t i = 1; i <= wide; i++)
            th_buffer_add_text(&text, ",1");
        th_buffer_add_text(&text, "}");
        assert_int_equal(read_text_both(th_buffer_text(&text), text.size), wide < 128);
        th_buffer_free(&text);
    }
    for (size_t size = 1 << 13; size <= (1 << 13) + 1; size++) {
        struct th_buffer text = {0};
        th_buffer_add_text(&text, "\"");
        while (text.size < size - 1)
            th_buffer_add_byte(&text, 'a');
        th_buffer_add_text(&text, "\"");
        assert_int_equal(read_text_both(th_buffer_text(&text), text.size), size == 1 << 13);
        th_buffer_free(&text);
    }
}

static void changed_texts_are_the_same_terms(void **state)
{
    enum { ROUNDS = 100000 };
    static const char bytes[] = "{}[]<>|,.\"'\\#-+_$ %()aZ09ef:\x7F\x80\xC3\xA9";
    uint64_t seed = 1, read = 0;
    char text[256];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const char *from = i % 4 ? usual[(size_t)i % USUAL] : unusual[(size_t)i % UNUSUAL];
        size_t size = strlen(from);
        memcpy(text, from, size);
        for (uint64_t left = 1 + th_hash_mix(++seed) % 3; left > 0 && size > 0; left--) {
            uint64_t chance = th_hash_mix(++seed);
            size_t at = (chance >> 8) % size;
            if (chance % 2 == 0) {
                text[at] = bytes[(chance >> 40) % (sizeof bytes - 1)];
            } else {
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
            }
        }
        read += read_text_both(text, size);
    }
    assert_true(read > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usual_texts_are_read_quickly, begin, end),
        cmocka_unit_test_setup_teardown(unusual_texts_are_left, begin, end),
        cmocka_unit_test_setup_teardown(deep_wide_and_long_texts_are_left, begin, end),
        cmocka_unit_test_setup_teardown(changed_texts_are_the_same_terms, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
