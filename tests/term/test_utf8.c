/* Tests UTF-8: each character encoded and decoded, and each wrong sequence of up to three bytes. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

static void every_character_survives_encoding_and_decoding(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char text[TH_UTF8_MAX];
        uint32_t read = 0;
        size_t bytes;

        if (!th_utf8_valid(c))
            continue;
        bytes = th_utf8_put(c, text);
        assert_int_equal(bytes, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        assert_int_equal(th_utf8_get(text, bytes, &read), bytes);
        assert_int_equal(read, c);
        assert_int_equal(th_utf8_get(text, bytes - 1, &read), 0);
    }
}

static void surrogates_and_numbers_above_unicode_are_invalid(void **state)
{
    (void)state;
    assert_true(th_utf8_valid(0));
    assert_true(th_utf8_valid(0xD7FF));
    assert_false(th_utf8_valid(0xD800));
    assert_false(th_utf8_valid(0xDFFF));
    assert_true(th_utf8_valid(0xE000));
    assert_true(th_utf8_valid(0xFFFF));
    assert_true(th_utf8_valid(0x10FFFF));
    assert_false(th_utf8_valid(0x110000));
    assert_false(th_utf8_valid(UINT32_MAX));
}

/* A sequence is right if encoding the decoded character returns the sequence. */
static void assert_sound(const char *text, size_t bytes)
{
    char again[TH_UTF8_MAX];
    uint32_t c = 0;
    size_t used = th_utf8_get(text, bytes, &c);

    if (used == 0)
        return;
    assert_true(th_utf8_valid(c));
    assert_int_equal(th_utf8_put(c, again), used);
    assert_memory_equal(text, again, used);
}

static void invalid_sequences_are_refused(void **state)
{
    size_t right = 0;

    (void)state;
    for (uint32_t i = 0; i < 0x1000000; i++) {
        const char text[3] = {(char)(i >> 16), (char)(i >> 8), (char)i};
        uint32_t c;

        if ((i & 0xFF) == 0x80)
            assert_sound(text, 3);
        right += th_utf8_get(text, 3, &c) == 3;
    }
    assert_int_equal(right, 0x10000 - 0x800 - 0x800);
}

static void invalid_sequences_of_four_bytes_are_refused(void **state)
{
    static const char *const wrong[] = {
        "\xF0\x8F\xBF\xBF", /* overlong */
        "\xF4\x90\x80\x80", /* 110000 */
        "\xF5\x80\x80\x80", "\xF8\x88\x80\x80", "\xFF\xBF\xBF\xBF",
        "\xF0\x9F\x98\x41", "\xF0\x9F\x41\x80", "\xF0\x41\x98\x80",
    };
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(th_utf8_get(wrong[i], 4, &c), 0);
}

static void characters_are_counted(void **state)
{
    size_t characters = 99;

    (void)state;
    assert_true(th_utf8_count("", 0, &characters));
    assert_int_equal(characters, 0);
    assert_true(th_utf8_count("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10, &characters));
    assert_int_equal(characters, 4);
    assert_false(th_utf8_count("a\xC3\xA9\xE2\x82", 5, &characters));
    assert_false(th_utf8_count("\xED\xA0\x80", 3, &characters));
    assert_true(th_utf8_count("a\0b", 3, &characters));
    assert_int_equal(characters, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_survives_encoding_and_decoding),
        cmocka_unit_test(surrogates_and_numbers_above_unicode_are_invalid),
        cmocka_unit_test(invalid_sequences_are_refused),
        cmocka_unit_test(invalid_sequences_of_four_bytes_are_refused),
        cmocka_unit_test(characters_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
