/* Tests deep copies: independent of the originals, and as compact. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static th_env from;
static th_env to;

static int begin(void **state)
{
    (void)state;
    th_env_init(&from, TH_ENV_PLAIN);
    th_env_init(&to, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&from);
    th_env_release(&to);
    return 0;
}

/* Creates a term of each type but immediates, nested DEPTH times. */
static th_term make_all_types(th_env *env, int depth)
{
    const uint32_t words[] = {1, 2, 3, 4, 5};
    th_term inner = depth ? make_all_types(env, depth - 1) : TH_AM(ok);
    th_term keys[40], values[40];
    const th_term free[] = {inner, TH_NIL};
    const struct th_fun_parts fun = {.module = TH_AM(erlang),
                                     .old_index = th_small(1),
                                     .old_unique = th_make_uint64(env, UINT64_MAX),
                                     .creator = th_make_pid(env, TH_AM(nonode), 1, 2, 3),
                                     .free = free,
                                     .free_count = 2};

    for (int i = 0; i < 40; i++) {
        keys[i] = th_make_tuple_of(env, th_small(40 - i));
        values[i] = th_make_float(env, i);
    }
    values[3] = inner;
    return th_make_tuple_of(
        env, inner, th_make_uint64(env, UINT64_MAX), th_make_float(env, 2.5),
        th_make_binary(env, "0123456789", 10),
        th_make_sub_binary(env, th_make_binary(env, "0123456789", 10), 3, 4),
        th_make_cons(env, inner, th_make_cons(env, th_small(1), th_make_float(env, 1))),
        th_make_latin1_string(env, (const unsigned char *)"string", 6),
        th_make_map(env, keys, values, 40, false), th_make_map(env, keys, values, 7, false),
        th_make_reference(env, TH_AM(nonode), 1, words, 5), th_make_fun(env, &fun),
        th_make_export(env, TH_AM(erlang), TH_AM(send), 2),
        th_make_pid(env, TH_AM(nonode), 1, 2, 3), th_make_port(env, TH_AM(nonode), 1, 2),
        th_make_tuple(env, NULL, 0), th_make_map(env, NULL, NULL, 0, false));
}

/* The original is freed before the copy is compared with a second original. */
static void copies_of_all_types_outlive_the_original(void **state)
{
    th_env other;
    th_term copy;

    (void)state;
    copy = th_copy(&to, make_all_types(&from, 3));
    th_env_release(&from);
    th_env_init(&other, TH_ENV_PLAIN);
    assert_term_identical(copy, make_all_types(&other, 3));
    th_env_release(&other);
    th_env_init(&from, TH_ENV_PLAIN);
}

static void immediates_are_their_own_copies(void **state)
{
    const th_term terms[] = {TH_NIL, TH_AM(ok), th_small(-7), th_local_pid(1, 2), th_local_port(3)};

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        assert_term_equal(th_copy(&to, terms[i]), terms[i]);
    assert_int_equal(th_env_footprint(&to), 0);
}

static void parts_of_binaries_become_binaries(void **state)
{
    th_term whole = th_make_binary(&from, "0123456789", 10);
    th_term copy = th_copy(&to, th_make_sub_binary(&from, whole, 3, 4));
    const unsigned char *data;
    size_t size;

    (void)state;
    assert_true(th_term_is(copy, TH_HEAP_BINARY));
    assert_true(th_get_bytes(copy, &data, &size));
    assert_int_equal(size, 4);
    assert_memory_equal(data, "3456\0\0\0\0", 8);
}

static int frees;

static void note_free(struct th_binary *self, void *owner)
{
    (void)owner;
    frees++;
    free(self);
}

static void shared_binaries_take_a_further_share(void **state)
{
    unsigned char data[100] = {0};
    struct th_binary *binary = th_binary_wrap(data, sizeof data, NULL, note_free);
    th_term t = th_make_shared_binary(&from, binary, data + 5, 83);
    th_term copy = th_copy(&to, th_make_tuple_of(&from, t, t));
    const unsigned char *back;
    size_t size;

    (void)state;
    frees = 0;
    th_binary_release(binary);
    th_env_clear(&from);
    assert_true(th_get_bits(th_tuple_elements(copy)[1], &back, &size));
    assert_ptr_equal(back, data + 5);
    assert_int_equal(size, 83);
    assert_int_equal(frees, 0);
    th_env_clear(&to);
    assert_int_equal(frees, 1);
}

static int shares;

static void keep_share(struct th_magic *object)
{
    (void)object;
    shares++;
}

static struct th_magic shared = {keep_share, {1, 2, 3}};

static void release_share(struct th_offheap *self)
{
    assert_ptr_equal(th_magic_owner(self), &shared);
    shares--;
}

static void magic_references_take_a_further_share(void **state)
{
    th_term t = th_make_magic(&from, &shared, release_share);
    th_term copy;

    (void)state;
    shares = 1;
    copy = th_copy(&to, th_make_list(&from, (const th_term[]){t, TH_NIL, t}, 3));
    assert_int_equal(shares, 3);
    th_env_clear(&from);
    assert_int_equal(shares, 2);
    assert_ptr_equal(th_magic_object(th_cell(copy)[0]), &shared);
    th_env_clear(&to);
    assert_int_equal(shares, 0);
}

static void a_copy_can_be_made_in_the_same_environment(void **state)
{
    th_term t = make_all_types(&from, 2);

    (void)state;
    assert_term_identical(th_copy(&from, t), t);
}

/* Copies T into memory of exactly the counted size, and returns that size in words. */
static size_t copy_into_counted_words(th_term t)
{
    size_t count = th_term_words(t);
    th_term *words = malloc(count * sizeof *words + 1);
    struct th_offheap *offheap = NULL;
    th_term copy = th_copy_into(words, count, &offheap, t);

    assert_term_identical(copy, t);
    for (; offheap; offheap = offheap->next)
        offheap->release(offheap);
    free(words);
    return count;
}

static void the_words_of_a_copy_are_counted_exactly(void **state)
{
    unsigned char data[100] = {0};
    struct th_binary *binary = th_binary_wrap(data, sizeof data, NULL, note_free);
    th_term magic = th_make_magic(&from, &shared, release_share);
    th_term whole = th_make_binary(&from, data, 100);
    th_term pair = th_make_tuple_of(&from, TH_NIL, TH_NIL);

    (void)state;
    shares = 1;
    assert_int_equal(copy_into_counted_words(th_small(1)), 0);
    assert_int_equal(copy_into_counted_words(pair), 3);
    assert_int_equal(copy_into_counted_words(th_make_tuple_of(&from, pair, pair)), 3 + 2 * 3);
    assert_int_equal(copy_into_counted_words(th_make_cons(&from, pair, pair)), 2 + 2 * 3);
    assert_int_equal(copy_into_counted_words(th_make_sub_binary(&from, whole, 1, 0)), 2);
    assert_int_equal(copy_into_counted_words(th_make_sub_binary(&from, whole, 1, 17)), 2 + 3);
    assert_int_equal(copy_into_counted_words(th_make_cons(&from, magic, magic)),
                     2 + 2 * TH_MAGIC_WORDS);
    assert_int_equal(copy_into_counted_words(th_make_shared_binary(&from, binary, data + 5, 83)),
                     6);
    th_env_clear(&from);
    assert_int_equal(shares, 0);
    th_binary_release(binary);
    copy_into_counted_words(make_all_types(&from, 3));
}

static void copying_deep_terms_needs_no_stack(void **state)
{
    th_term t = TH_NIL;

    (void)state;
    for (int i = 0; i < 1000000; i++)
        t = i % 2 ? th_make_tuple_of(&from, th_small(1), t, th_small(2))
                  : th_make_cons(&from, t, th_small(i));
    assert_term_identical(th_copy(&to, t), t);
    assert_int_equal(copy_into_counted_words(t), 500000 * (4 + 2));
}

static void a_long_list_takes_two_words_an_element(void **state)
{
    enum { LENGTH = 1000000 };
    th_term t = TH_NIL;
    size_t length;

    (void)state;
    for (int i = 0; i < LENGTH; i++)
        t = th_make_cons(&from, i % 3 ? TH_AM(ok) : th_make_cons(&from, TH_NIL, TH_NIL), t);
    t = th_copy(&to, t);
    assert_true(th_get_list_length(t, &length));
    assert_int_equal(length, LENGTH);
    assert_order(th_env_footprint(&to), <, 2 * sizeof(th_term) * LENGTH * 3 / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_of_all_types_outlive_the_original),
        TEST(immediates_are_their_own_copies),
        TEST(parts_of_binaries_become_binaries),
        TEST(shared_binaries_take_a_further_share),
        TEST(magic_references_take_a_further_share),
        TEST(a_copy_can_be_made_in_the_same_environment),
        TEST(the_words_of_a_copy_are_counted_exactly),
        TEST(copying_deep_terms_needs_no_stack),
        TEST(a_long_list_takes_two_words_an_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
