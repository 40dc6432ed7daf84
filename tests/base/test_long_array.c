/* Tests the memory of long arrays: elements survive each growth, and a failure to grow. */
#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdint.h>

enum { MOST = 1 << 20, FIRST = 8 };

static void fill(uint64_t *array, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        array[i] = i;
}

static void assert_filled(const uint64_t *array, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(array[i], i);
}

static uint64_t *grow(uint64_t *array, size_t had, size_t count)
{
    array =
        th_long_array_grow(array, had * sizeof *array, count * sizeof *array, MOST * sizeof *array);
    assert_non_null(array);
    assert_filled(array, had);
    fill(array, had, count);
    return array;
}

/* Grows an array up to each length once, so that an array of each length is freed. */
static void elements_survive_each_growth(void **state)
{
    (void)state;
    for (size_t last = FIRST; last <= MOST; last *= 2) {
        uint64_t *array = NULL;
        size_t had = 0;
        for (size_t count = FIRST; count <= last; had = count, count *= 2)
            array = grow(array, had, count);
        assert_filled(array, had);
        th_long_array_free(array, had * sizeof *array, MOST * sizeof *array);
    }
}

static void a_long_array_grows_in_place(void **state)
{
    uint64_t *array = grow(NULL, 0, MOST / 8), *larger = grow(array, MOST / 8, MOST);

    (void)state;
    assert_ptr_equal(array, larger);
    th_long_array_free(larger, MOST * sizeof *larger, MOST * sizeof *larger);
}

static void an_array_is_unchanged_if_its_growth_fails(void **state)
{
    const size_t none = SIZE_MAX / 2;
    uint64_t *array = th_long_array_grow(NULL, 0, FIRST * sizeof *array, none);

    (void)state;
    fill(array, 0, FIRST);
    assert_null(th_long_array_grow(array, FIRST * sizeof *array, MOST * sizeof *array, none));
    assert_filled(array, FIRST);
    th_long_array_free(array, FIRST * sizeof *array, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_survive_each_growth),
        cmocka_unit_test(a_long_array_grows_in_place),
        cmocka_unit_test(an_array_is_unchanged_if_its_growth_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
