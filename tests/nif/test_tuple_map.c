/* Tests tuples and maps. */
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

static ERL_NIF_TERM number(int i)
{
    return enif_make_int(env, i);
}

/* Returns #{1 => -1, 2 => -2, ... SIZE => -SIZE}, built in descending order. */
static ERL_NIF_TERM map_of(int size)
{
    ERL_NIF_TERM map = enif_make_new_map(env);

    for (int i = size; i > 0; i--)
        assert_true(enif_make_map_put(env, map, number(i), number(-i), &map));
    return map;
}

static void a_tuple_returns_its_elements(void **state)
{
    ERL_NIF_TERM items[] = {TH_AM(ok), TH_NIL};
    ERL_NIF_TERM tuple = enif_make_tuple2(env, items[0], items[1]);
    const ERL_NIF_TERM *elements = NULL;
    int arity = 77;

    (void)state;
    assert_true(enif_is_tuple(env, tuple));
    assert_true(enif_is_identical(tuple, enif_make_tuple_from_array(env, items, 2)));
    assert_true(enif_get_tuple(env, tuple, &arity, &elements));
    assert_int_equal(arity, 2);
    assert_true(elements[0] == TH_AM(ok) && elements[1] == TH_NIL);
}

static void a_term_that_is_no_tuple_leaves_the_outputs_unchanged(void **state)
{
    ERL_NIF_TERM others[] = {TH_AM(ok), TH_NIL, number(3), enif_make_list1(env, TH_AM(ok)),
                             enif_make_new_map(env)};
    const ERL_NIF_TERM *elements = others;
    int arity = 77;

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(enif_is_tuple(env, others[i]));
        assert_false(enif_get_tuple(env, others[i], &arity, &elements));
    }
    assert_int_equal(arity, 77);
    assert_ptr_equal(elements, others);
}

static void the_empty_tuple_is_a_tuple(void **state)
{
    ERL_NIF_TERM tuple = enif_make_tuple(env, 0);
    const ERL_NIF_TERM *elements;
    int arity;

    (void)state;
    assert_true(enif_get_tuple(env, tuple, &arity, &elements));
    assert_int_equal(arity, 0);
    assert_true(enif_is_identical(tuple, enif_make_tuple_from_array(env, NULL, 0)));
}

static void map_values_are_found_by_their_keys(void **state)
{
    static const int sizes[] = {0, 1, 32, 33, 1000};
    ERL_NIF_TERM value = TH_AM(ok);
    size_t size;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ERL_NIF_TERM map = map_of(sizes[i]);
        assert_true(enif_is_map(env, map));
        assert_true(enif_get_map_size(env, map, &size));
        assert_int_equal(size, sizes[i]);
        for (int key = 1; key <= sizes[i]; key++) {
            assert_true(enif_get_map_value(env, map, number(key), &value));
            assert_term_equal(value, number(-key));
        }
        value = TH_AM(ok);
        assert_false(enif_get_map_value(env, map, number(0), &value));
        assert_false(enif_get_map_value(env, map, enif_make_double(env, 1.0), &value));
        assert_term_equal(value, TH_AM(ok));
    }
}

static void any_term_may_be_a_map_key(void **state)
{
    ERL_NIF_TERM key = enif_make_tuple2(env, enif_make_string(env, "k", ERL_NIF_LATIN1), TH_NIL);
    ERL_NIF_TERM same = enif_make_tuple2(env, enif_make_string(env, "k", ERL_NIF_LATIN1), TH_NIL);
    ERL_NIF_TERM map, value;

    (void)state;
    assert_true(enif_make_map_put(env, enif_make_new_map(env), key, TH_AM(ok), &map));
    assert_true(enif_get_map_value(env, map, same, &value) && value == TH_AM(ok));
}

static void a_term_that_is_no_map_leaves_the_outputs_unchanged(void **state)
{
    ERL_NIF_TERM out = TH_AM(ok);
    ErlNifMapIterator iterator;
    size_t size = 77;

    (void)state;
    assert_false(enif_is_map(env, TH_NIL));
    assert_false(enif_get_map_size(env, TH_NIL, &size));
    assert_false(enif_get_map_value(env, enif_make_tuple1(env, out), out, &out));
    assert_false(enif_make_map_put(env, out, out, TH_NIL, &out));
    assert_false(enif_make_map_update(env, TH_NIL, out, TH_NIL, &out));
    assert_false(enif_make_map_remove(env, number(1), out, &out));
    assert_false(enif_map_iterator_create(env, TH_NIL, &iterator, ERL_NIF_MAP_ITERATOR_FIRST));
    assert_term_equal(out, TH_AM(ok));
    assert_int_equal(size, 77);
}

static void changing_a_map_does_not_change_the_original(void **state)
{
    ERL_NIF_TERM map = map_of(3), changed, value;

    (void)state;
    assert_true(enif_make_map_update(env, map, number(2), TH_AM(ok), &changed));
    assert_true(enif_get_map_value(env, changed, number(2), &value) && value == TH_AM(ok));
    assert_true(enif_get_map_value(env, map, number(2), &value) && value == number(-2));
    changed = TH_NIL;
    assert_false(enif_make_map_update(env, map, number(4), TH_AM(ok), &changed));
    assert_term_equal(changed, TH_NIL);
    assert_true(enif_make_map_remove(env, map, number(2), &changed));
    assert_false(enif_get_map_value(env, changed, number(2), &value));
    assert_true(enif_make_map_remove(env, map, number(4), &changed));
    assert_true(enif_is_identical(changed, map));
}

static void arrays_make_a_map_unless_a_key_is_duplicated(void **state)
{
    ERL_NIF_TERM keys[40], values[40], map;

    (void)state;
    for (int i = 0; i < 40; i++) {
        keys[i] = number(40 - i);
        values[i] = number(i - 40);
    }
    for (int size = 0; size <= 40; size += 20) {
        assert_true(enif_make_map_from_arrays(env, keys + 40 - size, values + 40 - size,
                                              (size_t)size, &map));
        assert_true(enif_is_identical(map, map_of(size)));
    }
    keys[3] = keys[2];
    map = TH_NIL;
    assert_false(enif_make_map_from_arrays(env, keys, values, 20, &map));
    assert_false(enif_make_map_from_arrays(env, keys, values, 40, &map));
    assert_term_equal(map, TH_NIL);
}

static void an_iterator_returns_each_pair_once(void **state)
{
    static const int sizes[] = {0, 1, 2, 32, 33, 100};
    ErlNifMapIterator iterator;
    ERL_NIF_TERM key, value;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int sum = 0;
        ERL_NIF_TERM map = map_of(sizes[i]);
        assert_true(enif_map_iterator_create(env, map, &iterator, ERL_NIF_MAP_ITERATOR_FIRST));
        while (enif_map_iterator_get_pair(env, &iterator, &key, &value)) {
            sum += (int)th_small_value(key);
            assert_int_equal(th_small_value(value), -th_small_value(key));
            enif_map_iterator_next(env, &iterator);
        }
        assert_int_equal(sum, sizes[i] * (sizes[i] + 1) / 2);
        assert_true(enif_map_iterator_is_tail(env, &iterator));
        enif_map_iterator_destroy(env, &iterator);
    }
}

static void an_iterator_moves_forwards_and_backwards(void **state)
{
    ErlNifMapIterator iterator;
    ERL_NIF_TERM key = TH_NIL, value = TH_NIL;

    (void)state;
    assert_true(enif_map_iterator_create(env, map_of(2), &iterator, ERL_NIF_MAP_ITERATOR_LAST));
    assert_true(enif_map_iterator_get_pair(env, &iterator, &key, &value) && key == number(2));
    assert_true(enif_map_iterator_prev(env, &iterator));
    assert_true(enif_map_iterator_get_pair(env, &iterator, &key, &value) && key == number(1));
    assert_false(enif_map_iterator_is_head(env, &iterator));
    assert_false(enif_map_iterator_prev(env, &iterator));
    assert_true(enif_map_iterator_is_head(env, &iterator));
    assert_false(enif_map_iterator_prev(env, &iterator));
    key = TH_NIL;
    assert_false(enif_map_iterator_get_pair(env, &iterator, &key, &value));
    assert_term_equal(key, TH_NIL);
    assert_true(enif_map_iterator_next(env, &iterator));
    assert_true(enif_map_iterator_next(env, &iterator));
    assert_false(enif_map_iterator_next(env, &iterator));
    assert_false(enif_map_iterator_next(env, &iterator));
    assert_true(enif_map_iterator_is_tail(env, &iterator));
    assert_true(enif_map_iterator_prev(env, &iterator));
    enif_map_iterator_destroy(env, &iterator);
}

static void an_iterator_of_an_empty_map_is_at_both_ends(void **state)
{
    ErlNifMapIterator iterator;

    (void)state;
    assert_true(enif_map_iterator_create(env, map_of(0), &iterator, ERL_NIF_MAP_ITERATOR_FIRST));
    assert_true(enif_map_iterator_is_head(env, &iterator));
    assert_true(enif_map_iterator_is_tail(env, &iterator));
    assert_false(enif_map_iterator_next(env, &iterator));
    assert_false(enif_map_iterator_prev(env, &iterator));
    assert_true(enif_map_iterator_is_tail(env, &iterator));
    assert_false(enif_map_iterator_create(env, map_of(0), &iterator, (ErlNifMapIteratorEntry)3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tuple_returns_its_elements, begin, end),
        cmocka_unit_test_setup_teardown(a_term_that_is_no_tuple_leaves_the_outputs_unchanged, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_empty_tuple_is_a_tuple, begin, end),
        cmocka_unit_test_setup_teardown(map_values_are_found_by_their_keys, begin, end),
        cmocka_unit_test_setup_teardown(any_term_may_be_a_map_key, begin, end),
        cmocka_unit_test_setup_teardown(a_term_that_is_no_map_leaves_the_outputs_unchanged, begin,
                                        end),
        cmocka_unit_test_setup_teardown(changing_a_map_does_not_change_the_original, begin, end),
        cmocka_unit_test_setup_teardown(arrays_make_a_map_unless_a_key_is_duplicated, begin, end),
        cmocka_unit_test_setup_teardown(an_iterator_returns_each_pair_once, begin, end),
        cmocka_unit_test_setup_teardown(an_iterator_moves_forwards_and_backwards, begin, end),
        cmocka_unit_test_setup_teardown(an_iterator_of_an_empty_map_is_at_both_ends, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
