/* The chain of causes: order, limits, what is lost first. */
#include "host/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void raising_returns_the_status(void **state)
{
    (void)state;
    assert_int_equal(th_error_raise(TH_MALFORMED, "byte %d", 7), TH_MALFORMED);
    assert_int_equal(th_error_status(), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "byte 7");
    assert_null(th_error_link(1));
    th_error_clear();
    assert_int_equal(th_error_status(), TH_OK);
    assert_null(th_error_link(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raising_returns_the_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
