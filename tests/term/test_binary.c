/* Tests bit strings of all three kinds, and their references. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
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
    return 0;
}

static void heap_binaries_are_padded_with_zeros(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 40; bytes++) {
        unsigned char data[40];
        const unsigned char *back;
        size_t size;
        th_term t;

        memset(data, (int)bytes, sizeof data);
        t = th_make_binary(&env, data, bytes);
        assert_true(th_get_bytes(t, &back, &size));
        assert_int_equal(size, bytes);
        assert_memory_equal(back, data, bytes);
        for (size_t i = bytes; i % 8; i++)
            assert_int_equal(back[i], 0);
        assert_int_equal(th_header_words(*th_term_box(t)), 1 + (bytes + 7) / 8);
    }
}

static void a_bit_string_of_odd_bits_is_no_binary(void **state)
{
    unsigned char *data;
    const unsigned char *back;
    size_t size = 99;
    th_term t = th_make_heap_binary(&env, 11, &data);

    (void)state;
    data[0] = 0xAB;
    data[1] = 0x60;
    assert_true(th_is_bitstring(t));
    assert_false(th_get_bytes(t, &back, &size));
    assert_int_equal(size, 99);
    assert_true(th_get_bits(t, &back, &size));
    assert_int_equal(size, 11);
    assert_int_equal(back[1], 0x60);
    assert_false(th_get_bits(TH_NIL, &back, &size));
    assert_false(th_get_bytes(th_make_float(&env, 1), &back, &size));
}

static int frees;

static void note_free(struct th_binary *self, void *owner)
{
    (void)owner;
    frees++;
    free(self);
}

static void shared_binaries_hold_shares(void **state)
{
    unsigned char data[] = "0123456789";
    struct th_binary *binary = th_binary_wrap(data, 10, NULL, note_free);
    th_term whole = th_make_shared_binary(&env, binary, data, 80);
    th_term part = th_make_sub_binary(&env, whole, 2, 5);
    th_term part_of_part = th_make_sub_binary(&env, part, 1, 2);
    const unsigned char *back;
    size_t size;

    (void)state;
    frees = 0;
    th_binary_release(binary);
    assert_ptr_equal(th_shared_binary_of(part_of_part), binary);
    assert_true(th_get_bytes(part_of_part, &back, &size));
    assert_int_equal(size, 2);
    assert_ptr_equal(back, data + 3);
    assert_int_equal(frees, 0);
    th_env_clear(&env);
    assert_int_equal(frees, 1);
}

/* A part holds no reference of its own: the whole in the same environment keeps the bytes. A copy has
 * no whole there, and holds one. */
static void a_copy_of_a_part_holds_the_bytes(void **state)
{
    unsigned char data[] = "0123456789";
    struct th_binary *binary = th_binary_wrap(data, 10, NULL, note_free);
    th_term part = th_make_sub_binary(&env, th_make_shared_binary(&env, binary, data, 80), 2, 5);
    struct th_offheap *first = env.offheap;
    const unsigned char *back;
    th_term copy;
    th_env other;
    size_t size;

    (void)state;
    frees = 0;
    th_binary_release(binary);
    th_make_sub_binary(&env, part, 1, 1);
    assert_ptr_equal(env.offheap, first);
    th_env_init(&other, TH_ENV_PLAIN);
    assert_int_equal(th_term_words(part), 6);
    copy = th_copy(&other, part);
    assert_true(th_term_is(copy, TH_SHARED_BINARY));
    th_env_clear(&env);
    assert_int_equal(frees, 0);
    assert_true(th_get_bytes(copy, &back, &size));
    assert_int_equal(size, 5);
    assert_memory_equal(back, "23456", 5);
    th_env_release(&other);
    assert_int_equal(frees, 1);
}

static void parts_of_heap_binaries_share_their_bytes(void **state)
{
    th_term whole = th_make_binary(&env, "0123456789", 10);
    th_term part = th_make_sub_binary(&env, whole, 2, 5);
    th_term part_of_part = th_make_sub_binary(&env, part, 5, 0);
    const unsigned char *whole_data, *data;
    size_t size;

    (void)state;
    th_get_bytes(whole, &whole_data, &size);
    assert_true(th_term_is(part, TH_SUB_BINARY));
    assert_true(th_is_bitstring(part));
    assert_true(th_get_bytes(part, &data, &size));
    assert_int_equal(size, 5);
    assert_ptr_equal(data, whole_data + 2);
    assert_true(th_get_bytes(part_of_part, &data, &size));
    assert_int_equal(size, 0);
    assert_term_equal(th_term_box(part_of_part)[3], whole);
    assert_null(th_shared_binary_of(part));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(heap_binaries_are_padded_with_zeros),
        TEST(a_bit_string_of_odd_bits_is_no_binary),
        TEST(shared_binaries_hold_shares),
        TEST(a_copy_of_a_part_holds_the_bytes),
        TEST(parts_of_heap_binaries_share_their_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
