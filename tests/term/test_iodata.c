/* Tests I/O data: size, copy, and refusals. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 1000000 };

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

static th_term cons(th_term head, th_term tail)
{
    return th_make_cons(&env, head, tail);
}

/* Copies into memory of exactly the measured size. */
static void assert_bytes(th_term t, const char *expected)
{
    size_t size;
    unsigned char *bytes;

    assert_true(th_term_iodata_size(t, &size));
    assert_int_equal(size, strlen(expected));
    bytes = malloc(size + 1);
    bytes[size] = '!';
    th_term_iodata_copy(t, bytes);
    assert_memory_equal(bytes, expected, size);
    assert_int_equal(bytes[size], '!');
    free(bytes);
}

static void all_forms_of_iodata_are_accepted(void **state)
{
    th_term binary = th_make_binary(&env, "abc", 3);
    th_term part = th_make_sub_binary(&env, th_make_binary(&env, "0123456789", 10), 3, 4);
    th_term string = th_make_latin1_string(&env, (const unsigned char *)"x\xFFz", 3);
    struct th_binary *shared = th_binary_create(2);

    (void)state;
    memcpy(shared->data, "sh", 2);
    assert_bytes(TH_NIL, "");
    assert_bytes(binary, "abc");
    assert_bytes(part, "3456");
    assert_bytes(string, "x\xFFz");
    assert_bytes(cons(binary, part), "abc3456");
    assert_bytes(cons(cons(TH_NIL, TH_NIL), TH_NIL), "");
    assert_bytes(cons(string, cons(th_small('-'), cons(cons(binary, binary), part))),
                 "x\xFFz-abcabc3456");
    assert_bytes(cons(th_make_shared_binary(&env, shared, shared->data, 16), string), "shx\xFFz");
    th_binary_release(shared);
}

static void terms_that_are_no_iodata_are_refused(void **state)
{
    unsigned char *data;
    const th_term bad[] = {
        th_small(256),
        th_small(-1),
        TH_AM(ok),
        th_make_float(&env, 1),
        th_make_uint64(&env, UINT64_MAX),
        th_make_tuple(&env, NULL, 0),
        th_make_map(&env, NULL, NULL, 0, false),
        th_make_heap_binary(&env, 7, &data),
    };
    size_t size = 4711;

    (void)state;
    *data = 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(th_term_iodata_size(bad[i], &size));
        assert_false(th_term_iodata_size(cons(bad[i], TH_NIL), &size));
        assert_false(th_term_iodata_size(cons(th_small(1), bad[i]), &size));
        assert_false(th_term_iodata_size(cons(cons(cons(bad[i], TH_NIL), TH_NIL), TH_NIL), &size));
    }
    assert_false(th_term_iodata_size(th_small(1), &size));               /* valid in lists, */
    assert_false(th_term_iodata_size(cons(TH_NIL, th_small(1)), &size)); /* not as tails */
    assert_int_equal(size, 4711);
}

static void deeply_nested_iodata_needs_no_stack(void **state)
{
    th_term left = TH_NIL, both = TH_NIL;
    size_t size;

    (void)state;
    for (int i = 0; i < DEPTH; i++) {
        left = cons(left, TH_NIL);
        both = cons(cons(th_small('a'), both), cons(th_small('b'), TH_NIL));
    }
    assert_bytes(left, "");
    assert_true(th_term_iodata_size(both, &size));
    assert_int_equal(size, 2 * DEPTH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_forms_of_iodata_are_accepted),
        TEST(terms_that_are_no_iodata_are_refused),
        TEST(deeply_nested_iodata_needs_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
