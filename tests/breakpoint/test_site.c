/* Tests sites: creation, dropping and reuse. */
#include "host/breakpoint/breakpoint.h"

#include "host/code/code.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/dying.h"
#include "tests/support/noting.h"

#include <stddef.h>
#include <string.h>

static void drop_an_armed_one(void)
{
    struct th_site *site = new_site();

    set_kinds(site, noting_create('A'), TH_BP_LOCAL, 0);
    th_breakpoint_site_drop(site);
}

/* Runs first, as it forks and needs a single thread. */
static void dropping_a_site_with_breakpoints_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(drop_an_armed_one, said, sizeof said);
    assert_non_null(strstr(said, "a virtual site with breakpoints is dropped"));
}

static void each_site_has_its_own_cache_line(void **state)
{
    int function, place;
    struct th_site *site =
        th_breakpoint_site_create(&th_breakpoint_site_virtual, &function, &place);

    (void)state;
    assert_int_equal((uintptr_t)site % 64, 0);
    assert_ptr_equal(site->function, &function);
    assert_ptr_equal(site->place, &place);
    assert_string_equal(site->operations->kind, "virtual");
    assert_false(th_breakpoint_site_is_armed(site));
    th_breakpoint_site_drop(site);
    th_progress_settle();
}

/* A thread in a reader section still finds the old site. */
static void a_dropped_site_is_reused_after_a_grace_period(void **state)
{
    enum { MANY = 1000 };
    int first, second;
    struct th_site *site = th_breakpoint_site_create(&th_breakpoint_site_virtual, &first, NULL),
                   *another;
    bool again = false;

    (void)state;
    th_progress_enter();
    th_breakpoint_site_drop(site);
    for (int i = 0; i < MANY; i++)
        assert_ptr_not_equal(th_breakpoint_site_create(&th_breakpoint_site_virtual, &second, NULL),
                             site);
    assert_ptr_equal(site->function, &first);
    th_progress_leave();
    th_progress_settle();
    for (int i = 0; i < MANY && !again; i++) {
        another = th_breakpoint_site_create(&th_breakpoint_site_virtual, &second, NULL);
        again = another == site;
    }
    assert_true(again);
    assert_ptr_equal(site->function, &second);
}

/* The bit is independent of the callee of the entry, which may change meanwhile. */
static void arming_an_export_site_sets_a_bit_of_its_entry(void **state)
{
    static const struct th_callee callee = {.name = "m:f/0"};
    struct th_export entry = {.word.of[0] = (uintptr_t)&callee};
    struct th_site *site = th_breakpoint_site_create(&th_breakpoint_site_export, NULL, &entry);
    struct noting *a = noting_create('A');

    (void)state;
    assert_false(th_breakpoint_site_is_armed(site));
    set_kinds(site, a, TH_BP_GLOBAL, 3);
    assert_true(th_breakpoint_site_is_armed(site));
    assert_true(th_code_export_word(&entry) & TH_EXPORT_ARMED);
    assert_ptr_equal(th_code_export_callee(&entry), &callee);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A global 3");
    clear_kinds(site, a, TH_BP_GLOBAL);
    assert_int_equal(th_code_export_word(&entry), (uintptr_t)&callee);
    entry.word.of[0] = 0;
    set_kinds(site, a, TH_BP_COUNT | TH_BP_META, 0);
    assert_null(th_code_export_callee(&entry));
    assert_int_equal(th_code_export_word(&entry), TH_EXPORT_ARMED);
    noting_end(a);
    assert_int_equal(th_code_export_word(&entry), 0);
    th_breakpoint_site_drop(site);
    th_progress_settle();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropping_a_site_with_breakpoints_aborts),
        cmocka_unit_test(each_site_has_its_own_cache_line),
        cmocka_unit_test(a_dropped_site_is_reused_after_a_grace_period),
        cmocka_unit_test(arming_an_export_site_sets_a_bit_of_its_entry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
