/* Tests changes by a thread that holds the permission: of functions that no call can reach yet, and
 * of functions that are gone. */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "host/breakpoint/generic_bp.h"
#include "host/code/code.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/dying.h"
#include "tests/support/noting.h"

#include <semaphore.h>
#include <stddef.h>
#include <string.h>

static struct noting *a, *b;
static struct th_site *site;

static int begin(void **state)
{
    (void)state;
    a = noting_create('A');
    b = noting_create('B');
    site = new_site();
    return 0;
}

static int end(void **state)
{
    (void)state;
    noting_end(a);
    noting_end(b);
    return th_breakpoint_site_is_armed(site) || atomic_load(&site->first) || !things_remain(0);
}

static const char *calls(void)
{
    return note_call(site, TH_BP_ALL, NULL);
}

static struct th_change *change_of(const struct th_bp_setting *settings, size_t count)
{
    struct th_change *change = th_breakpoint_change_create();

    for (size_t i = 0; i < count; i++)
        th_breakpoint_change_add(change, &settings[i]);
    return change;
}

static struct th_change *change_set(struct noting *noting, uint32_t set, uint32_t clear)
{
    return change_of(&(struct th_bp_setting){site, &noting->session, .set = set, .clear = clear},
                     1);
}

/* Starts a change that stays pending until the permission is released. */
static sem_t started;

static void post(struct th_change *change, void *context)
{
    (void)change;
    (void)context;
    sem_post(&started);
}

static void start(struct th_change *change)
{
    sem_init(&started, 0, 0);
    assert_false(th_breakpoint_change_start(change, post, NULL));
}

static void release_and_wait(void)
{
    th_code_permission_release();
    assert_int_equal(sem_wait(&started), 0);
}

/* --- Changes while the permission is held ----------------------------------------------------- */

static void changes_of_the_permission_holder_precede_queued_changes(void **state)
{
    struct th_change_counts counts;

    (void)state;
    th_code_permission_wait();
    start(change_set(a, 0, TH_BP_COUNT));
    counts = th_breakpoint_change_run_held(change_set(a, TH_BP_LOCAL | TH_BP_COUNT, 0));
    assert_int_equal(counts.rounds, 3);
    assert_int_equal(counts.allocated, 1);
    assert_string_equal(calls(), "A local 0");
    counts = th_breakpoint_change_run_held(change_set(b, TH_BP_LOCAL, 0));
    assert_int_equal(counts.rounds, 1);
    counts = th_breakpoint_change_run_held(change_set(b, 0, TH_BP_LOCAL));
    assert_int_equal(counts.rounds, 2);
    assert_true(th_breakpoint_kinds(&th_breakpoint_find(site, &a->session)->data[0]) & TH_BP_COUNT);
    release_and_wait();
    assert_false(th_breakpoint_kinds(&th_breakpoint_find(site, &a->session)->data[0]) &
                 TH_BP_COUNT);
}

static void run_held_in_a_section(void)
{
    th_progress_enter();
    th_breakpoint_change_run_held(th_breakpoint_change_create());
}

/* Runs first, as it forks and needs a single thread. */
static void a_held_change_inside_a_reader_section_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(run_held_in_a_section, said, sizeof said);
    assert_non_null(strstr(said, "in a reader section or a continuation"));
}

/* --- Unreachable functions -------------------------------------------------------------------- */

/* Asserts KINDS and ACTIVE for both generations of a breakpoint. */
static void assert_both(const struct th_generic_bp *bp, uint32_t kinds, uint32_t active)
{
    assert_non_null(bp);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(th_breakpoint_kinds(&bp->data[i]), kinds);
        assert_int_equal(th_breakpoint_active(&bp->data[i]), active);
    }
    assert_memory_equal(&bp->data[0], &bp->data[1], sizeof bp->data[0]);
}

static void breakpoints_of_an_unreachable_function_need_no_grace_period(void **state)
{
    uint32_t kinds = TH_BP_LOCAL | TH_BP_META | TH_BP_COUNTING;
    unsigned generation = th_breakpoint_generation();
    struct th_shared *spec = thing_create(7);
    struct th_bp_setting settings[] = {
        {site, &a->session, .set = kinds, .spec = spec, .meta_spec = spec, .meta_tracer = spec},
        {new_site(), &a->session, .set = TH_BP_LOCAL},
    };
    struct th_change_counts counts;
    struct th_bp_info info;

    (void)state;
    th_code_permission_wait();
    counts = th_breakpoint_change_set_unreached(change_of(settings, 2));
    th_code_permission_release();
    th_breakpoint_shared_drop(spec);
    assert_int_equal(counts.rounds, 0);
    assert_int_equal(counts.allocated, 2);
    assert_int_equal(counts.sites_written, 2);
    assert_int_equal(th_breakpoint_generation(), generation);
    assert_both(th_breakpoint_find(site, &a->session), kinds, kinds);
    assert_true(th_breakpoint_site_is_armed(site) && th_breakpoint_site_is_armed(settings[1].site));
    assert_string_equal(calls(), "A local 7, A meta 7 by 7");
    /* Both generations stay right through the next changes. */
    for (int i = 0; i < 3; i++) {
        set_kinds(site, b, TH_BP_LOCAL, 0);
        assert_string_equal(calls(), "A local 7, A meta 7 by 7, B local 0");
    }
    assert_true(th_breakpoint_info(site, &a->session, &info));
    assert_int_equal(info.calls, 4);
    th_breakpoint_info_free(&info);
}

static void settings_of_an_unreachable_function_are_applied_in_order(void **state)
{
    struct th_shared *first = thing_create(1), *second = thing_create(2);
    const struct th_bp_setting settings[] = {
        {site, &a->session, .set = TH_BP_GLOBAL | TH_BP_COUNT, .spec = first},
        {site, &b->session, .set = TH_BP_COUNT | TH_BP_META, .meta_spec = first,
         .meta_tracer = first},
        {site, &a->session, .clear = TH_BP_COUNT},
        {site, &a->session, .set = TH_BP_LOCAL | TH_BP_COUNT, .spec = second},
        {site, &b->session, .clear = TH_BP_ALL},
        {site, &b->session, .pause = TH_BP_COUNT, .restart = TH_BP_LOCAL},
        {site, &a->session, .pause = TH_BP_COUNT},
    };
    struct th_change_counts counts;

    (void)state;
    th_code_permission_wait();
    counts = th_breakpoint_change_set_unreached(change_of(settings, 7));
    th_code_permission_release();
    th_breakpoint_shared_drop(first);
    th_breakpoint_shared_drop(second);
    assert_int_equal(things_alive(), 3); /* the sessions and the second specification */
    assert_int_equal(counts.allocated, 2);
    assert_int_equal(counts.freed, 1);
    assert_null(th_breakpoint_find(site, &b->session));
    assert_int_equal(b->session.count, 0);
    assert_both(th_breakpoint_find(site, &a->session), TH_BP_LOCAL | TH_BP_COUNT, TH_BP_LOCAL);
    assert_string_equal(calls(), "A local 2");
}

static void existing_breakpoints_of_an_unreachable_function_stay(void **state)
{
    const struct th_bp_setting settings[] = {
        {site, &a->session, .set = TH_BP_COUNT},
        {site, &b->session, .set = TH_BP_LOCAL},
        {site, &a->session, .clear = TH_BP_ALL},
    };

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 5);
    th_code_permission_wait();
    assert_int_equal(th_breakpoint_change_set_unreached(change_of(settings, 3)).allocated, 1);
    th_code_permission_release();
    assert_string_equal(calls(), "A local 5, B local 0");
    assert_both(th_breakpoint_find(site, &a->session), TH_BP_LOCAL, TH_BP_LOCAL);
}

static void a_paused_breakpoint_does_not_arm_its_site(void **state)
{
    const struct th_bp_setting settings[] = {
        {site, &a->session, .set = TH_BP_COUNT},
        {site, &a->session, .pause = TH_BP_COUNT},
        {site, &b->session, .restart = TH_BP_ALL},
    };

    (void)state;
    th_code_permission_wait();
    assert_int_equal(th_breakpoint_change_set_unreached(change_of(settings, 3)).sites_written, 0);
    th_code_permission_release();
    assert_false(th_breakpoint_site_is_armed(site));
    assert_both(th_breakpoint_find(site, &a->session), TH_BP_COUNT, 0);
    assert_null(th_breakpoint_find(site, &b->session));
}

static void an_ended_session_gets_no_breakpoints(void **state)
{
    struct th_change *change = th_breakpoint_change_create();

    (void)state;
    th_breakpoint_change_end_session(change, &a->session);
    th_breakpoint_change_run(change, NULL, NULL);
    th_code_permission_wait();
    assert_int_equal(th_breakpoint_change_set_unreached(change_set(a, TH_BP_LOCAL, 0)).allocated,
                     0);
    th_code_permission_release();
    assert_false(th_breakpoint_site_is_armed(site));
}

/* --- Removed functions ------------------------------------------------------------------------ */

static void clearing_a_site_removes_breakpoints_of_all_sessions(void **state)
{
    struct th_change *change = th_breakpoint_change_create();
    struct th_site *other = new_site();

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    set_kinds(site, b, TH_BP_COUNT, 0);
    set_kinds(other, b, TH_BP_LOCAL, 2);
    th_breakpoint_change_add(change, &(struct th_bp_setting){.site = site, .clear = TH_BP_ALL});
    th_breakpoint_change_run(change, NULL, NULL);
    assert_int_equal(th_breakpoint_sessions(site, NULL, 0), 0);
    assert_false(th_breakpoint_site_is_armed(site));
    assert_string_equal(note_call(other, TH_BP_ALL, NULL), "B local 2");
}

static void a_queued_change_skips_a_removed_function(void **state)
{
    struct th_site *other = new_site();
    const struct th_bp_setting settings[] = {
        {site, &a->session, .set = TH_BP_LOCAL},
        {other, &a->session, .set = TH_BP_LOCAL},
    };

    (void)state;
    set_kinds(site, b, TH_BP_LOCAL, 1);
    th_code_permission_wait();
    start(change_of(settings, 2));
    th_breakpoint_site_end(site);
    release_and_wait();
    assert_string_equal(calls(), "B local 1");
    assert_true(th_breakpoint_site_is_armed(other));
    clear_kinds(site, b, TH_BP_ALL); /* requested after the function was removed */
    assert_string_equal(calls(), "");
    set_kinds(site, a, TH_BP_LOCAL, 2);
    assert_string_equal(calls(), "A local 2");
}

/* A dropped site may be reused for another function before the change runs. */
static void a_queued_change_does_not_affect_a_reused_site(void **state)
{
    struct th_site *mine = new_site(), *another = NULL;

    (void)state;
    th_code_permission_wait();
    start(change_of(&(struct th_bp_setting){mine, &a->session, .set = TH_BP_LOCAL}, 1));
    th_breakpoint_site_end(mine);
    th_breakpoint_site_drop(mine);
    th_progress_settle();
    for (int i = 0; i < 1000 && another != mine; i++)
        another = new_site();
    assert_ptr_equal(another, mine);
    release_and_wait();
    assert_false(th_breakpoint_site_is_armed(another));
    assert_int_equal(a->session.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        cmocka_unit_test(a_held_change_inside_a_reader_section_aborts),
        TEST(changes_of_the_permission_holder_precede_queued_changes),
        TEST(breakpoints_of_an_unreachable_function_need_no_grace_period),
        TEST(settings_of_an_unreachable_function_are_applied_in_order),
        TEST(existing_breakpoints_of_an_unreachable_function_stay),
        TEST(a_paused_breakpoint_does_not_arm_its_site),
        TEST(an_ended_session_gets_no_breakpoints),
        TEST(clearing_a_site_removes_breakpoints_of_all_sessions),
        TEST(a_queued_change_skips_a_removed_function),
        TEST(a_queued_change_does_not_affect_a_reused_site),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
