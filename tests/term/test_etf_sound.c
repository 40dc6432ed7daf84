/*
 * Tests th_etf_skip_sound(): the skipped bytes are those that the decoder reads, and the decoder
 * decides about everything rare. Records of real nodes are in replay/test_brief.c.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

#define NODE "\x64\0\3a@b"
#define PID "\x58" NODE "\0\0\0\1\0\0\0\0\0\0\0\5"
#define BYTES(text) text, sizeof(text) - 1

static const struct th_etf_options *here(void)
{
    static struct th_etf_options options;

    options.here = (struct th_etf_node){th_atom("a@b"), 5};
    return &options;
}

static const struct {
    const char *bytes;
    size_t size;
    bool skipped; /* false: the decoder decides */
} cases[] = {
    {BYTES("\x61\7"), true},
    {BYTES("\x62\xff\xff\xff\xff"), true},
    {BYTES("\x6a"), true},
    {BYTES("\x64\0\2ab"), true},
    {BYTES("\x77\2\303\251"), true},
    {BYTES("\x77\2\303\303"), false}, /* no UTF-8 */
    {BYTES("\x73\2ab"), false},       /* old tags */
    {BYTES("\x76\0\2ab"), false},
    {BYTES("\x6b\0\3abc"), true},
    {BYTES("\x6d\0\0\0\3abc"), true},
    {BYTES("\x4d\0\0\0\1\3\xff"), false},
    {BYTES("\x6e\2\1\1\2"), true},
    {BYTES("\x6f\0\0\0\2\1\1\2"), false},
    {BYTES("\x46\x3f\xf0\0\0\0\0\0\0"), true},
    {BYTES("\x46\x7f\xf0\0\0\0\0\0\0"), false}, /* infinite */
    {BYTES("\x68\3\x61\1\x61\2\x68\0"), true},
    {BYTES("\x69\0\0\0\2\x61\1\x61\2"), true},
    {BYTES("\x6c\0\0\0\5\x61\1\x61\2\x61\3\x61\4\x61\5\x6a"), true},
    {BYTES("\x6c\0\0\0\2\x62\0\0\0\1\x62\0\0\0\2\x61\3"), true}, /* an improper list */
    {BYTES("\x74\0\0\0\1\x61\1\x61\2"), true},
    {BYTES("\x74\0\0\0\2\x61\1\x61\2\x61\3\x61\4"), false}, /* keys would have to be compared */
    {BYTES("\x74\0\0\0\3\x64\0\1a\x61\1\x64\0\1b\x6a\x64\0\2ab\x68\1\x61\1"), true},
    {BYTES("\x74\0\0\0\2\x77\1a\x61\1\x77\1b\x74\0\0\0\1\x61\1\x61\2"), true},
    {BYTES("\x74\0\0\0\2\x64\0\1a\x61\1\x64\0\1a\x61\2"), false}, /* a key is twice there */
    {BYTES("\x74\0\0\0\2\x64\0\1a\x61\1\x77\1b\x61\2"), false},   /* keys of two tags */
    {BYTES("\x68\2\x74\0\0\0\2\x77\1a\x61\1\x77\1b\x6a\x74\0\0\0\2\x77\1a\x61\1\x77\1b\x6a"), true},
    {BYTES("\x74\0\0\0\2\x77\1a\x61\1\x77\1b\x74\0\0\0\2\x77\1a\x61\1\x77\1b\x6a"),
     false}, /* a map in a map */
    {BYTES(PID), true},
    {BYTES("\x58\x64\0\3x@y\0\0\0\1\0\0\0\0\0\0\0\5"), false}, /* another node */
    {BYTES("\x58" NODE "\0\0\0\1\0\0\0\0\0\0\0\6"), false},    /* another creation */
    {BYTES("\x59" NODE "\0\0\0\1\0\0\0\5"), true},
    {BYTES("\x78" NODE "\0\0\0\0\0\0\0\1\0\0\0\5"), true},
    {BYTES("\x5a\0\2" NODE "\0\0\0\5\0\0\0\1\0\0\0\2"), true},
    {BYTES("\x5a\0\0" NODE "\0\0\0\5"), false}, /* no words */
    {BYTES("\x67" NODE "\0\0\0\1\0\0\0\0\5"), false},
    {BYTES("\x70\0\0\0\0\0"
           "0123456789abcdef"
           "\0\0\0\0\0\0\0\1" NODE "\x61\0\x62\0\0\0\1" PID "\x61\1"),
     true}, /* a fun */
    {BYTES("\x70\0\0\0\0\0"
           "0123456789abcdef"
           "\0\0\0\0\0\0\0\1" NODE "\x6a\x62\0\0\0\1" PID "\x61\1"),
     false}, /* its old index is no integer */
    {BYTES("\x70\0\0\0\0\0"
           "0123456789abcdef"
           "\0\0\0\0\0\0\0\1" NODE "\x61\0\x61\1\x6a\x61\1"),
     false}, /* its creator is no pid */
    {BYTES("\x71" NODE NODE "\x61\1"), false},
    {BYTES("\x83\x6a"), false},
};
static const size_t count = sizeof cases / sizeof cases[0];

/* The skipper agrees with the decoder, on the whole and on each part that is cut off. */
static void agree(const unsigned char *data, size_t size)
{
    th_env env;
    size_t used, skipped;
    th_term t;

    th_env_init(&env, TH_ENV_PLAIN);
    for (size_t left = 0; left <= size; left++) {
        skipped = th_etf_skip_sound(data, left, 1, here());
        if (skipped == 0)
            continue;
        assert_int_equal(th_etf_decode(&env, data, left, false, here(), &t, &used), TH_OK);
        assert_int_equal(skipped, used);
    }
    th_error_clear();
    th_env_release(&env);
}

static void usual_terms_are_skipped(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *data = (const unsigned char *)cases[i].bytes;
        size_t expected = cases[i].skipped ? cases[i].size : 0;
        if (th_etf_skip_sound(data, cases[i].size, 1, here()) != expected)
            fail_msg("case %zu, tag %u", i, data[0]);
        agree(data, cases[i].size);
    }
}

static void changed_terms_are_skipped_only_if_they_can_be_decoded(void **state)
{
    unsigned char data[128];

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < cases[i].size; at++)
            for (unsigned value = 0; value < 256; value++) {
                memcpy(data, cases[i].bytes, cases[i].size);
                data[at] = (unsigned char)value;
                agree(data, cases[i].size);
            }
}

/* Maps of 16 keys are skipped, those of more are decoded. */
static void large_maps_are_decoded(void **state)
{
    unsigned char data[5 + 17 * 4] = {'t'};

    (void)state;
    for (size_t i = 0; i < 17; i++)
        memcpy(data + 5 + 4 * i, (unsigned char[]){'w', 1, (unsigned char)('a' + i), 'j'}, 4);
    data[4] = 16;
    assert_int_equal(th_etf_skip_sound(data, sizeof data, 1, here()), 5 + 16 * 4);
    data[4] = 17;
    assert_int_equal(th_etf_skip_sound(data, sizeof data, 1, here()), 0);
    agree(data, sizeof data);
}

static void several_terms_are_skipped_together(void **state)
{
    static const unsigned char data[] = "\x61\1\x68\1\x61\2\x61\3\x6a";

    (void)state;
    assert_int_equal(th_etf_skip_sound(data, 9, 2, here()), 6);
    assert_int_equal(th_etf_skip_sound(data, 9, 4, here()), 9);
    assert_int_equal(th_etf_skip_sound(data, 9, 5, here()), 0);
}

/* A term that the decoder would refuse as too deep or too large is left to the decoder. */
static void limits_of_the_decoder_hold(void **state)
{
    enum { BIG = TH_ETF_DEPTH + 16, SMALL = 1000 };
    unsigned char *data = th_alloc_zero(BIG);

    (void)state;
    data[0] = 'm';
    th_etf_put32(data + 1, SMALL - 5);
    assert_int_equal(th_etf_skip_sound(data, SMALL, 1, here()), SMALL);
    th_memory_begin(SMALL);
    assert_int_equal(th_etf_skip_sound(data, SMALL, 1, here()), 0);
    th_memory_begin(SIZE_MAX);
    assert_int_equal(th_etf_skip_sound(data, BIG, 1, here()), 0);
    th_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_terms_are_skipped),
        cmocka_unit_test(changed_terms_are_skipped_only_if_they_can_be_decoded),
        cmocka_unit_test(large_maps_are_decoded),
        cmocka_unit_test(several_terms_are_skipped_together),
        cmocka_unit_test(limits_of_the_decoder_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
