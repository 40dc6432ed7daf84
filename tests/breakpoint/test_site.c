/* Sites: what they are made of, and that they stay sites. */
#include "host/breakpoint/breakpoint.h"

#include "host/progress/progress.h"
#include "tests/support/dying.h"
#include "tests/support/noting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void drop_an_armed_one(void)
{
    struct th_site *site = new_site();

    set_kinds(site, noting_create('A'), TH_BP_LOCAL, 0);
    th_site_drop(site);
}

/* First: while there is one thread. */
static void a_site_with_breakpoints_is_not_dropped(void **state)
{
    char said[1000];

    (void)state;
    die_of(drop_an_armed_one, said, sizeof said);
    assert_non_null(strstr(said, "a virtual site is dropped that has breakpoints"));
}

static void a_site_is_a_cache_line_of_its_own(void **state)
{
    int function, place;
    struct th_site *site = th_site_create(&th_site_virtual, &function, &place);

    (void)state;
    assert_int_equal((uintptr_t)site % 64, 0);
    assert_ptr_equal(site->function, &function);
    assert_ptr_equal(site->place, &place);
    assert_string_equal(site->operations->kind, "virtual");
    assert_false(th_site_is_armed(site));
    th_site_drop(site);
    th_progress_settle();
}

/* Who looks at it in a section finds the site that it was. */
static void a_dropped_site_is_another_after_progress(void **state)
{
    enum { MANY = 1000 };
    int first, second;
    struct th_site *site = th_site_create(&th_site_virtual, &first, NULL), *another;
    bool again = false;

    (void)state;
    th_progress_enter();
    th_site_drop(site);
    for (int i = 0; i < MANY; i++)
        assert_ptr_not_equal(th_site_create(&th_site_virtual, &second, NULL), site);
    assert_ptr_equal(site->function, &first);
    th_progress_leave();
    th_progress_settle();
    for (int i = 0; i < MANY && !again; i++) {
        another = th_site_create(&th_site_virtual, &second, NULL);
        again = another == site;
    }
    assert_true(again);
    assert_ptr_equal(site->function, &second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_with_breakpoints_is_not_dropped),
        cmocka_unit_test(a_site_is_a_cache_line_of_its_own),
        cmocka_unit_test(a_dropped_site_is_another_after_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
