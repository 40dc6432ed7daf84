/* Tests external terms: depth, memory, compression, threads. */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/starved.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const struct th_etf_options plain;
static struct th_buffer input;
static th_env env;

static int start(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_buffer_free(&input);
    th_error_clear();
    return 0;
}

static void add32(uint32_t x)
{
    const unsigned char bytes[] = {x >> 24 & 255, x >> 16 & 255, x >> 8 & 255, x & 255};

    th_buffer_add(&input, bytes, sizeof bytes);
}

static enum th_status decode(th_term *t)
{
    size_t used = 0;
    enum th_status status = th_etf_decode(&env, input.data, input.size, false, &plain, t, &used);

    if (status == TH_OK)
        assert_int_equal(used, input.size);
    return status;
}

/* Appends COUNT times BEGINNING, nil, and COUNT times ENDING. */
static void nest(size_t count, const char *beginning, size_t size, const char *ending)
{
    for (size_t i = 0; i < count; i++)
        th_buffer_add(&input, beginning, size);
    th_buffer_add_byte(&input, 'j');
    for (size_t i = 0; i < count; i++)
        th_buffer_add_text(&input, ending);
}

static const struct {
    const char *beginning;
    size_t size;
    const char *ending;
} shapes[] = {
    {"h\1", 2, ""},           /* {{{...}}} */
    {"l\0\0\0\1", 5, "j"},    /* [[[...]]] */
    {"t\0\0\0\1j", 6, ""},    /* #{[] => #{[] => ...}} */
    {"t\0\0\0\1", 5, "j"},    /* #{#{... => []} => []} */
    {"i\0\0\0\3jj", 7, ""},   /* {[], [], {[], [], ...}} */
    {"l\0\0\0\2jh\1", 8, "j"} /* [[], {[[], {...}]}], two containers a time */
};

static void terms_nested_up_to_the_limit_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t times = i < 5 ? TH_ETF_DEPTH : TH_ETF_DEPTH / 2;
        struct th_buffer out = {0};
        th_term t;
        nest(times, shapes[i].beginning, shapes[i].size, shapes[i].ending);
        assert_int_equal(decode(&t), TH_OK);
        assert_int_equal(th_etf_skip(input.data, input.size), input.size);
        assert_int_equal(th_etf_encode(&out, t, false, &plain), TH_OK);
        if (input.data[0] != 'i') { /* encoded as a small tuple */
            assert_int_equal(out.size, input.size);
            assert_memory_equal(out.data, input.data, out.size);
        }
        th_buffer_free(&out);
        th_buffer_free(&input);
        th_env_clear(&env);
    }
}

static void terms_nested_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t times = i < 5 ? TH_ETF_DEPTH + 1 : TH_ETF_DEPTH / 2 + 1;
        th_term t;
        nest(times, shapes[i].beginning, shapes[i].size, shapes[i].ending);
        assert_int_equal(decode(&t), TH_MALFORMED);
        assert_non_null(strstr(th_error_link(0), "nested deeper than 1048576"));
        assert_int_equal(th_etf_skip(input.data, input.size), input.size);
        th_buffer_free(&input);
        th_env_clear(&env);
    }
}

/* [[] | [[] | ...]], where each tail is encoded as a list of its own. */
static void nested_tails_make_one_list(void **state)
{
    th_term t;
    size_t length;

    (void)state;
    nest(1000, "l\0\0\0\1j", 6, "");
    assert_int_equal(decode(&t), TH_OK);
    assert_true(th_get_list_length(t, &length));
    assert_int_equal(length, 1000);
}

/* Each of these announces as many elements as there are bytes after it. */
static void announced_elements_take_no_memory(void **state)
{
    static const char tags[] = {'i', 'l', 't'};
    enum { TIMES = 20000, EACH = 5 };
    th_term t;

    (void)state;
    for (size_t i = 0; i < sizeof tags; i++) {
        for (size_t left = TIMES - 1; left > 0; left--) {
            th_buffer_add_byte(&input, (unsigned char)tags[i]);
            add32((uint32_t)(left * EACH / (tags[i] == 't' ? 2 : 1) - 1));
        }
        assert_int_equal(decode(&t), TH_MALFORMED);
        assert_non_null(
            strstr(th_error_link(0), "parts, more than the bytes after the tag can hold"));
        assert_order(th_env_footprint(&env), <=, 24 * input.size);
        th_buffer_free(&input);
        th_env_release(&env);
    }
}

static void announced_lengths_take_no_memory(void **state)
{
    static const char tags[] = {'m', 'M', 'o', 'k', 'n', 'd', 'w'};
    th_term t;

    (void)state;
    for (size_t i = 0; i < sizeof tags; i++) {
        th_buffer_add_byte(&input, (unsigned char)tags[i]);
        add32(0xFFFFFFFF);
        th_buffer_add_text(&input, "\1xxxxxxxxxx");
        assert_int_equal(decode(&t), TH_MALFORMED);
        assert_int_equal(th_env_footprint(&env), 0);
        th_buffer_free(&input);
    }
}

static void integers_have_the_size_limit_of_the_beam(void **state)
{
    enum { MOST = 4194296 };
    struct th_limbs n;
    th_term t;

    (void)state;
    th_buffer_add_byte(&input, 'o');
    add32(MOST);
    th_buffer_add_byte(&input, 1);
    memset(th_buffer_reserve(&input, MOST + 1), 0xFF, MOST + 1);
    input.size += MOST;
    assert_int_equal(decode(&t), TH_OK);
    assert_true(th_get_limbs(t, &n));
    assert_int_equal(n.count, MOST / 8);
    assert_true(n.negative);
    input.data[4]++;
    input.size++;
    assert_int_equal(decode(&t), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "the integer has 4194297 bytes"));
}

/* Builds 131, 80, the size SAYS, and TERM compressed. */
static void compress_term(const void *term, size_t size, size_t says)
{
    uLongf packed = compressBound(size);

    th_buffer_free(&input);
    th_buffer_add(&input, "\x83P", 2);
    add32((uint32_t)says);
    th_buffer_reserve(&input, packed);
    assert_int_equal(compress(input.data + 6, &packed, term, size), Z_OK);
    input.size += packed;
}

static enum th_status inflate_term(size_t limit, th_term *t, size_t *used)
{
    struct th_etf_options options = {.inflate_limit = limit};

    return th_etf_decode(&env, input.data, input.size, true, &options, t, used);
}

static void compressed_terms_are_read(void **state)
{
    size_t used = 0;
    size_t whole;
    th_term t;

    (void)state;
    compress_term("h\2d\0\2oka\5", 9, 9);
    whole = input.size;
    th_buffer_add_text(&input, "behind it");
    assert_int_equal(inflate_term(0, &t, &used), TH_OK);
    assert_int_equal(used, whole);
    assert_term_equal(th_tuple_elements(t)[0], TH_AM(ok));
    assert_int_equal(inflate_term(9, &t, &used), TH_OK);
    compress_term("a\5junk", 6, 6); /* a BEAM accepts this */
    assert_int_equal(inflate_term(0, &t, &used), TH_OK);
    assert_term_equal(t, th_small(5));
    assert_int_equal(th_etf_decode(&env, input.data + 1, input.size - 1, false, &plain, &t, &used),
                     TH_MALFORMED);
}

static void damaged_compression_is_refused(void **state)
{
    static const char term[] = "m\0\0\0\7content";
    size_t size = sizeof term - 1;
    size_t used;
    th_term t;

    (void)state;
    compress_term(term, size, size);
    for (size_t cut = input.size - 1; cut >= 2; cut--) {
        input.size = cut;
        assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
        assert_non_null(strstr(th_error_link(0), "truncated"));
    }
    compress_term(term, size, size);
    assert_int_equal(inflate_term(size - 1, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "12 bytes inflated, the limit is 11"));
    compress_term(term, size, size - 1);
    assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "content is longer than its length"));
    compress_term(term, size, size + 1);
    assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "content is shorter than its length"));
    compress_term(term, size, 200 << 20);
    assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "so few bytes"));
    compress_term(term, size, size);
    input.data[6] ^= 0xFF;
    assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "not a zlib stream"));
    compress_term("h\1\0", 3, 3);
    assert_int_equal(inflate_term(0, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "in a compressed term"));
    assert_string_equal(th_error_link(1), "external term, byte 2, tag 0: there is no such tag");
}

static void a_steady_stream_allocates_nothing(void **state)
{
    static const char event[] = "h\5d\0\10trace_tsXd\0\15nonode@nohost\0\0\0\x4F\0\0\0\0\0\0\0\0"
                                "d\0\4callh\3d\0\5listsd\0\3mapl\0\0\0\1n\5\0\1\2\3\4\5"
                                "jh\3b\0\0\6\x84"
                                "b\0\1\2\3a\5";
    struct th_buffer out = {0};
    unsigned long before = 0;

    (void)state;
    th_buffer_add(&input, event, sizeof event - 1);
    for (int i = 0; i < 100; i++) {
        th_term t;
        assert_int_equal(decode(&t), TH_OK);
        out.size = 0;
        assert_int_equal(th_etf_encode(&out, t, false, &plain), TH_OK);
        assert_int_equal(out.size, input.size);
        th_env_clear(&env);
        if (i == 10)
            before = th_alloc_count();
    }
    assert_int_equal(th_alloc_count(), before);
    th_buffer_free(&out);
}

/* Decodes more names than the cache has entries, in another order in each thread. */
static void *decode_names(void *argument)
{
    unsigned seed = *(unsigned *)argument;
    th_env own;
    bool right = true;

    th_env_init(&own, TH_ENV_PLAIN);
    for (unsigned i = 0; i < 200000; i++) {
        char term[32];
        unsigned number = (i * seed + seed) % 3001;
        int length = snprintf(term + 3, sizeof term - 3, "thread_name_%u", number);
        th_term t = TH_NONE;
        size_t used;
        term[0] = 'd';
        term[1] = 0;
        term[2] = (char)length;
        th_etf_decode(&own, (unsigned char *)term, sizeof term, false, &plain, &t, &used);
        right = right && th_is_atom(t) && strcmp(th_atom_name(t)->text, term + 3) == 0;
    }
    th_env_release(&own);
    return right ? argument : NULL;
}

static void threads_decode_atoms_at_once(void **state)
{
    unsigned seeds[] = {7, 11, 13};
    pthread_t threads[3];
    void *result;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode_names, &seeds[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &seeds[i]);
    }
}

/* Decodes atoms that exist. */
static bool decodes_atoms(void)
{
    static const unsigned char terms[][8] = {"d\0\4true", "d\0\5false", "d\0\4true"};
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    for (size_t i = 0; i < 3; i++) {
        th_term t = TH_NONE;
        size_t used;
        if (th_etf_decode(&own, terms[i], sizeof terms[i], false, &plain, &t, &used) != TH_OK ||
            t != (i == 1 ? TH_AM(false) : TH_AM(true)))
            return false;
    }
    return true;
}

static void a_thread_without_memory_for_its_cache_decodes(void **state)
{
    (void)state;
    assert_true(holds_without_memory(decodes_atoms));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(terms_nested_up_to_the_limit_are_read),
        TEST(terms_nested_beyond_the_limit_are_refused),
        TEST(nested_tails_make_one_list),
        TEST(announced_elements_take_no_memory),
        TEST(announced_lengths_take_no_memory),
        TEST(integers_have_the_size_limit_of_the_beam),
        TEST(compressed_terms_are_read),
        TEST(damaged_compression_is_refused),
        TEST(a_steady_stream_allocates_nothing),
        TEST(threads_decode_atoms_at_once),
        TEST(a_thread_without_memory_for_its_cache_decodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
