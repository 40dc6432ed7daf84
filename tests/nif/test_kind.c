/* Tests the kinds of terms, their order and hashes; unique integers and references. */
#include "host/nif/nif.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

enum { KINDS = 11, MANY = 1000 };

/* Creates a term of each ErlNifTermType, at the index of its number - 1. */
static void one_of_each(ERL_NIF_TERM terms[KINDS])
{
    terms[0] = TH_AM(ok);
    memset(enif_make_new_binary(env, 100, &terms[1]), 1, 100);
    terms[2] = enif_make_double(env, 0.5);
    terms[3] = th_make_export(env, TH_AM(erlang), TH_AM(apply), 2);
    terms[4] = enif_make_ulong(env, UINT64_MAX);
    terms[5] = enif_make_list1(env, TH_NIL);
    terms[6] = enif_make_new_map(env);
    terms[7] = th_local_pid(1, 0);
    terms[8] = th_local_port(1);
    terms[9] = enif_make_ref(env);
    terms[10] = enif_make_tuple(env, 0);
}

static void each_term_has_one_type(void **state)
{
    ERL_NIF_TERM terms[KINDS];

    (void)state;
    one_of_each(terms);
    for (int i = 0; i < KINDS; i++) {
        assert_int_equal(enif_term_type(env, terms[i]), i + 1);
        assert_int_equal(!!enif_is_atom(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_ATOM);
        assert_int_equal(!!enif_is_binary(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_BITSTRING);
        assert_int_equal(!!enif_is_fun(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_FUN);
        assert_int_equal(!!enif_is_list(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_LIST);
        assert_int_equal(!!enif_is_map(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_MAP);
        assert_int_equal(!!enif_is_pid(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_PID);
        assert_int_equal(!!enif_is_port(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_PORT);
        assert_int_equal(!!enif_is_ref(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_REFERENCE);
        assert_int_equal(!!enif_is_tuple(env, terms[i]), i + 1 == ERL_NIF_TERM_TYPE_TUPLE);
        assert_int_equal(!!enif_is_number(env, terms[i]),
                         i + 1 == ERL_NIF_TERM_TYPE_INTEGER || i + 1 == ERL_NIF_TERM_TYPE_FLOAT);
    }
}

static void each_form_of_a_term_has_its_type(void **state)
{
    (void)state;
    assert_int_equal(enif_term_type(env, TH_NIL), ERL_NIF_TERM_TYPE_LIST);
    assert_int_equal(enif_term_type(env, enif_make_int(env, 1)), ERL_NIF_TERM_TYPE_INTEGER);
    assert_int_equal(enif_term_type(env, enif_make_long(env, INT64_MIN)),
                     ERL_NIF_TERM_TYPE_INTEGER);
    assert_int_equal(enif_term_type(env, th_make_pid(env, TH_AM(nonode), 1, 2, 3)),
                     ERL_NIF_TERM_TYPE_PID);
    assert_int_equal(enif_term_type(env, th_make_port(env, TH_AM(nonode), 1, 2)),
                     ERL_NIF_TERM_TYPE_PORT);
    assert_int_equal(enif_term_type(env, th_make_binary(env, "", 0)), ERL_NIF_TERM_TYPE_BITSTRING);
}

static void identity_is_stricter_than_equality(void **state)
{
    ERL_NIF_TERM one = enif_make_int(env, 1);
    ERL_NIF_TERM one_float = enif_make_double(env, 1.0);

    (void)state;
    assert_int_equal(enif_compare(one, one_float), 0);
    assert_false(enif_is_identical(one, one_float));
    assert_true(enif_is_identical(one_float, enif_make_double(env, 1.0)));
    assert_true(enif_is_identical(one, one));
}

static void comparison_follows_the_term_order(void **state)
{
    static const int ascending[] = {5, 1, 10, 4, 9, 8, 11, 7, 6, 2}; /* 3, 0.5, is a number, too */
    ERL_NIF_TERM terms[KINDS];

    (void)state;
    one_of_each(terms);
    for (size_t i = 0; i < 10; i++)
        for (size_t j = 0; j < 10; j++) {
            int order = enif_compare(terms[ascending[i] - 1], terms[ascending[j] - 1]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    assert_order(enif_compare(terms[2], terms[4]), <, 0);
}

static void pids_are_compared_in_the_term_order(void **state)
{
    ErlNifPid a = {th_local_pid(1, 0)}, b = {th_local_pid(2, 0)};

    (void)state;
    assert_order(enif_compare_pids(&a, &b), <, 0);
    assert_int_equal(enif_compare_pids(&a, &a), 0);
}

static void identical_terms_have_the_same_hash(void **state)
{
    static const ErlNifHash kinds[] = {ERL_NIF_INTERNAL_HASH, ERL_NIF_PHASH2};
    ERL_NIF_TERM terms[KINDS];
    ErlNifEnv *other = enif_alloc_env();

    (void)state;
    one_of_each(terms);
    for (size_t kind = 0; kind < 2; kind++)
        for (int i = 0; i < KINDS; i++)
            assert_int_equal(enif_hash(kinds[kind], terms[i], 5),
                             enif_hash(kinds[kind], enif_make_copy(other, terms[i]), 5));
    enif_free_env(other);
}

static void hashes_stay_in_range_and_only_the_internal_hash_is_salted(void **state)
{
    uint64_t bits = 0;
    int salted = 0;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        ERL_NIF_TERM t = enif_make_tuple1(env, enif_make_int(env, i));
        bits |= enif_hash(ERL_NIF_PHASH2, t, 0);
        assert_int_equal(enif_hash(ERL_NIF_PHASH2, t, 0), enif_hash(ERL_NIF_PHASH2, t, 7));
        salted += enif_hash(ERL_NIF_INTERNAL_HASH, t, 0) != enif_hash(ERL_NIF_INTERNAL_HASH, t, 7);
        assert_order(enif_hash(ERL_NIF_INTERNAL_HASH, t, 7), <=, UINT32_MAX);
        assert_int_equal(enif_hash(ERL_NIF_INTERNAL_HASH, t, 7),
                         enif_hash(ERL_NIF_INTERNAL_HASH, t, (uint64_t)1 << 32 | 7));
    }
    assert_int_equal(bits, ((uint64_t)1 << 27) - 1);
    assert_order(salted, >, MANY - 10);
    assert_int_equal(enif_hash((ErlNifHash)9, TH_NIL, 0), 0);
}

static void phash2_has_the_values_of_erlang_phash2(void **state)
{
    (void)state; /* values of erlang:phash2/1 */
    assert_int_equal(enif_hash(ERL_NIF_PHASH2, TH_NIL, 0), 113427502);
    assert_int_equal(enif_hash(ERL_NIF_PHASH2, TH_AM(ok), 0), 1883);
    assert_int_equal(enif_hash(ERL_NIF_PHASH2, enif_make_int(env, 17), 0), 98123014);
    assert_int_equal(enif_hash(ERL_NIF_PHASH2, enif_make_tuple2(env, TH_AM(ok), TH_NIL), 0),
                     127535150);
}

static void each_unique_integer_is_larger_than_the_last(void **state)
{
    static const int properties[] = {0, ERL_NIF_UNIQUE_POSITIVE, ERL_NIF_UNIQUE_MONOTONIC,
                                     ERL_NIF_UNIQUE_POSITIVE | ERL_NIF_UNIQUE_MONOTONIC};
    long last, next;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_true(enif_get_long(env, enif_make_unique_integer(env, properties[i]), &last));
        assert_int_equal(last > 0, properties[i] & ERL_NIF_UNIQUE_POSITIVE);
        for (int j = 0; j < MANY; j++, last = next) {
            assert_true(enif_get_long(env, enif_make_unique_integer(env, properties[i]), &next));
            assert_order(next, >, last);
        }
    }
}

static void references_are_unique(void **state)
{
    ERL_NIF_TERM a = enif_make_ref(env);

    (void)state;
    assert_true(enif_is_ref(env, a));
    assert_false(enif_is_identical(a, enif_make_ref(env)));
    assert_true(enif_is_identical(a, a));
}

/* A term that is not one word has a size; the bytes that a binary refers to do not count. */
static void the_term_size_is_the_size_of_a_copy(void **state)
{
    ERL_NIF_TERM two = enif_make_list2(env, TH_AM(ok), TH_NIL), large, larger;

    (void)state;
    assert_int_equal(enif_term_size(TH_AM(ok)), 0);
    assert_int_equal(enif_term_size(TH_NIL), 0);
    assert_int_equal(enif_term_size(enif_make_int(env, -7)), 0);
    assert_int_equal(enif_term_size(th_local_pid(1, 0)), 0);
    assert_int_equal(enif_term_size(two), 2 * 2 * sizeof(ERL_NIF_TERM));
    assert_int_equal(enif_term_size(enif_make_double(env, 1)), 2 * sizeof(ERL_NIF_TERM));
    assert_int_equal(enif_term_size(enif_make_tuple2(env, two, two)),
                     (3 + 2 * 4) * sizeof(ERL_NIF_TERM));
    memset(enif_make_new_binary(env, 1000, &large), 1, 1000);
    memset(enif_make_new_binary(env, 100000, &larger), 1, 100000);
    assert_int_equal(enif_term_size(large), enif_term_size(larger));
    assert_in_range(enif_term_size(large), 1, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_term_has_one_type, begin, end),
        cmocka_unit_test_setup_teardown(each_form_of_a_term_has_its_type, begin, end),
        cmocka_unit_test_setup_teardown(identity_is_stricter_than_equality, begin, end),
        cmocka_unit_test_setup_teardown(comparison_follows_the_term_order, begin, end),
        cmocka_unit_test_setup_teardown(pids_are_compared_in_the_term_order, begin, end),
        cmocka_unit_test_setup_teardown(identical_terms_have_the_same_hash, begin, end),
        cmocka_unit_test_setup_teardown(hashes_stay_in_range_and_only_the_internal_hash_is_salted,
                                        begin, end),
        cmocka_unit_test_setup_teardown(phash2_has_the_values_of_erlang_phash2, begin, end),
        cmocka_unit_test_setup_teardown(each_unique_integer_is_larger_than_the_last, begin, end),
        cmocka_unit_test_setup_teardown(references_are_unique, begin, end),
        cmocka_unit_test_setup_teardown(the_term_size_is_the_size_of_a_copy, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
