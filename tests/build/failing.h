/* Tests that fail, each by another assertion, for test_assertions.c. */
#ifndef TEST_FAILING_H
#define TEST_FAILING_H

#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <signal.h>

enum colour { RED = 1, GREEN = 2, BLUE = 4 };
enum { ENOUGH = 3 };

static enum th_status refuse(void)
{
    return th_error_raise(TH_REFUSED, "no such file") ? th_error_context("cannot load x.so")
                                                      : TH_REFUSED;
}

static int three(void)
{
    return 3;
}

static void a_status(void **state)
{
    (void)state;
    assert_int_equal(refuse(), TH_OK);
}

static void a_status_by_its_enumeration(void **state)
{
    enum th_status expected = TH_END;

    (void)state;
    assert_enum_equal(th_status, three(), expected);
}

static void flags(void **state)
{
    (void)state;
    assert_int_equal(three(), RED | BLUE);
}

static void a_number(void **state)
{
    (void)state;
    assert_int_equal(-three(), 17);
    assert_int_equal(three(), ENOUGH);
}

/* Neither is an errno value. */
static void a_number_that_is_not_zero(void **state)
{
    (void)state;
    assert_int_equal(three(), 0);
}

static void a_number_of_a_sum(void **state)
{
    (void)state;
    assert_int_equal((uint64_t)-1, ENOUGH + 1);
}

static void a_number_that_is_not_wanted(void **state)
{
    (void)state;
    assert_int_not_equal(three(), ENOUGH);
}

static void an_errno(void **state)
{
    (void)state;
    assert_int_equal(three(), ENOENT);
}

static void a_signal(void **state)
{
    (void)state;
    assert_int_equal(three(), SIGABRT);
}

static void an_order(void **state)
{
    (void)state;
    assert_order(three(), >=, ENOUGH);
    assert_order(three(), >, ENOUGH);
}

static void a_range(void **state)
{
    (void)state;
    assert_in_range(three(), 4, 10);
}

static void a_condition(void **state)
{
    (void)state;
    assert_true(three() == 4 || three() == 5);
}

static void a_condition_that_must_not_hold(void **state)
{
    (void)state;
    assert_false(three());
}

static void a_pointer(void **state)
{
    (void)state;
    assert_ptr_equal(NULL, &errno);
}

static void a_pointer_that_is_not_null(void **state)
{
    (void)state;
    assert_null(state);
}

static void a_string(void **state)
{
    (void)state;
    assert_string_equal("one\ttwo", "one");
}

static void a_text(void **state)
{
    const char *text = "one\ntwo\nthree";

    (void)state;
    assert_string_equal(text, "one\n2\nthree\n");
}

static void bytes(void **state)
{
    const unsigned char term[] = {131, 'a', 'b', 0};

    (void)state;
    assert_memory_equal(term, "\203ab\n", sizeof term);
}

static void an_atom(void **state)
{
    (void)state;
    assert_term_equal(TH_AM(true), TH_NONE);
}

static void a_term(void **state)
{
    th_env env;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_term_identical(th_make_tuple(&env, (th_term[]){TH_AM(ok), th_small(7)}, 2), TH_NIL);
}

static const struct CMUnitTest failing[] = {
    cmocka_unit_test(a_status),
    cmocka_unit_test(a_status_by_its_enumeration),
    cmocka_unit_test(flags),
    cmocka_unit_test(a_number),
    cmocka_unit_test(a_number_that_is_not_zero),
    cmocka_unit_test(a_number_of_a_sum),
    cmocka_unit_test(a_number_that_is_not_wanted),
    cmocka_unit_test(an_errno),
    cmocka_unit_test(a_signal),
    cmocka_unit_test(an_order),
    cmocka_unit_test(a_range),
    cmocka_unit_test(a_condition),
    cmocka_unit_test(a_condition_that_must_not_hold),
    cmocka_unit_test(a_pointer),
    cmocka_unit_test(a_pointer_that_is_not_null),
    cmocka_unit_test(a_string),
    cmocka_unit_test(a_text),
    cmocka_unit_test(bytes),
    cmocka_unit_test(an_atom),
    cmocka_unit_test(a_term),
};

#endif
