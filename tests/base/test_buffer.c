/* Tests growable buffers and arrays: the content survives any number of growths. */
#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void adding_zero_bytes_allocates_nothing(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_add(&b, NULL, 0);
    assert_null(b.data);
    assert_int_equal(b.capacity, 0);
    th_buffer_free(&b);
}

static void appended_pieces_are_joined(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_add_text(&b, "one");
    th_buffer_add_byte(&b, ' ');
    th_buffer_add(&b, "two\0", 4);
    th_buffer_printf(&b, "%d/%s", 3, "x");
    assert_int_equal(b.size, 11);
    assert_memory_equal(b.data, "one two\0003/x", 11);
    th_buffer_free(&b);
}

static void a_format_that_fails_adds_nothing(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_printf(&b, "%lc", (wint_t)0x7fffffff);
    assert_int_equal(b.size, 0);
    th_buffer_add_text(&b, "one");
    th_buffer_printf(&b, "%lc", (wint_t)0x7fffffff);
    assert_int_equal(b.size, 3);
    th_buffer_free(&b);
}

static void bytes_survive_growth(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    for (size_t i = 0; i < 100000; i++) {
        th_buffer_add_byte(&b, (unsigned char)(i * 7));
        assert_true(b.size == i + 1 && b.capacity >= b.size);
    }
    for (size_t i = 0; i < b.size; i++)
        assert_int_equal(b.data[i], (unsigned char)(i * 7));
    th_buffer_free(&b);
}

static void growth_is_geometric(void **state)
{
    struct th_buffer b = {0};
    unsigned long before = th_alloc_count();

    (void)state;
    for (size_t i = 0; i < 1000000; i++)
        th_buffer_add_byte(&b, 0);
    assert_order(th_alloc_count() - before, <, 32);
    th_buffer_free(&b);
}

static void reserve_makes_room_and_leaves_the_size(void **state)
{
    struct th_buffer b = {0};
    unsigned char *place;
    unsigned long before;

    (void)state;
    th_buffer_add_text(&b, "abc");
    place = th_buffer_reserve(&b, 100000);
    assert_ptr_equal(place, b.data + 3);
    assert_int_equal(b.size, 3);
    assert_order(b.capacity, >=, 100003);
    memset(place, 'x', 100000);
    before = th_alloc_count();
    assert_ptr_equal(th_buffer_reserve(&b, 100000), place);
    assert_int_equal(th_alloc_count(), before);
    assert_memory_equal(b.data, "abc", 3);
    th_buffer_free(&b);
}

static void printf_appends_text_of_any_length(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_printf(&b, "%s", "");
    assert_int_equal(b.size, 0);
    th_buffer_printf(&b, "%0*d", 5000, 7);
    th_buffer_printf(&b, "%s", "end");
    assert_int_equal(b.size, 5003);
    assert_memory_equal(b.data + 4998, "07end", 5);
    th_buffer_free(&b);
}

static void the_text_ends_in_a_zero_byte_that_the_size_excludes(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    assert_string_equal(th_buffer_text(&b), "");
    th_buffer_add_text(&b, "abc");
    assert_string_equal(th_buffer_text(&b), "abc");
    assert_int_equal(b.size, 3);
    th_buffer_add_text(&b, "def");
    assert_string_equal(th_buffer_text(&b), "abcdef");
    th_buffer_free(&b);
}

static void the_text_of_a_full_buffer_is_terminated(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_add_byte(&b, 'a');
    while (b.size < b.capacity)
        th_buffer_add_byte(&b, 'a');
    assert_int_equal(strlen(th_buffer_text(&b)), b.size);
    th_buffer_free(&b);
}

static void a_freed_buffer_can_be_used_again(void **state)
{
    struct th_buffer b = {0};

    (void)state;
    th_buffer_add_text(&b, "first");
    th_buffer_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
    th_buffer_add_text(&b, "second");
    assert_string_equal(th_buffer_text(&b), "second");
    th_buffer_free(&b);
    th_buffer_free(&b);
}

static void growing_arrays_keep_their_elements(void **state)
{
    struct pair {
        int a;
        double b;
    } *pairs = NULL;
    size_t count = 0;
    size_t capacity = 0;
    unsigned long before = th_alloc_count();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        TH_ARRAY_GROW(pairs, count, capacity);
        assert_order(count, <, capacity);
        pairs[count++] = (struct pair){i, i / 2.0};
    }
    assert_order(th_alloc_count() - before, <, 16);
    for (int i = 0; i < 10000; i++)
        assert_true(pairs[i].a == i && pairs[i].b == i / 2.0);
    th_free(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_zero_bytes_allocates_nothing),
        cmocka_unit_test(appended_pieces_are_joined),
        cmocka_unit_test(a_format_that_fails_adds_nothing),
        cmocka_unit_test(bytes_survive_growth),
        cmocka_unit_test(growth_is_geometric),
        cmocka_unit_test(reserve_makes_room_and_leaves_the_size),
        cmocka_unit_test(printf_appends_text_of_any_length),
        cmocka_unit_test(the_text_ends_in_a_zero_byte_that_the_size_excludes),
        cmocka_unit_test(the_text_of_a_full_buffer_is_terminated),
        cmocka_unit_test(a_freed_buffer_can_be_used_again),
        cmocka_unit_test(growing_arrays_keep_their_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
