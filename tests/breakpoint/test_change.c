/* Tests changes: their effects and their cost. */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/noting.h"

#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

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

/* Checks that the end of the sessions leaves no breakpoint, whatever the test did. */
static int end(void **state)
{
    (void)state;
    noting_end(a);
    noting_end(b);
    return th_breakpoint_site_is_armed(site) || atomic_load(&site->first) || things_alive() != 0;
}

static const char *calls(uint32_t kinds)
{
    return note_call(site, kinds, NULL);
}

static void assert_kinds(struct noting *noting, uint32_t kinds, uint32_t active)
{
    struct th_bp_info info;
    bool there = th_breakpoint_info(site, &noting->session, &info);
    uint32_t had = info.kinds, was_active = info.active;

    th_breakpoint_info_free(&info);
    assert_int_equal(there, kinds != 0);
    assert_int_equal(had, kinds);
    assert_int_equal(was_active, active);
}

/* --- Effects ---------------------------------------------------------------------------------- */

static void a_site_is_armed_while_it_has_an_active_breakpoint(void **state)
{
    (void)state;
    assert_false(th_breakpoint_site_is_armed(site));
    set_kinds(site, a, TH_BP_LOCAL, 0);
    set_kinds(site, b, TH_BP_LOCAL, 0);
    assert_true(th_breakpoint_site_is_armed(site));
    clear_kinds(site, a, TH_BP_LOCAL);
    assert_true(th_breakpoint_site_is_armed(site));
    clear_kinds(site, b, TH_BP_LOCAL);
    assert_false(th_breakpoint_site_is_armed(site));
}

static void a_later_specification_replaces_an_earlier_one(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    assert_string_equal(calls(TH_BP_ALL), "A local 1");
    set_kinds(site, a, TH_BP_LOCAL, 2);
    assert_string_equal(calls(TH_BP_ALL), "A local 2");
    set_kinds(site, a, TH_BP_LOCAL, 0);
    assert_string_equal(calls(TH_BP_ALL), "A local 0");
    clear_kinds(site, a, TH_BP_LOCAL);
    assert_string_equal(calls(TH_BP_ALL), "");
}

static void local_and_global_kinds_exclude_each_other(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_META, 1);
    set_kinds(site, a, TH_BP_GLOBAL, 2);
    assert_kinds(a, TH_BP_GLOBAL | TH_BP_META, TH_BP_GLOBAL | TH_BP_META);
    assert_string_equal(calls(TH_BP_ALL), "A global 2, A meta 1 by 1");
    clear_kinds(site, a, TH_BP_LOCAL); /* there is no such breakpoint */
    assert_string_equal(calls(TH_BP_ALL), "A global 2, A meta 1 by 1");
    set_kinds(site, a, TH_BP_LOCAL, 3);
    assert_kinds(a, TH_BP_LOCAL | TH_BP_META, TH_BP_LOCAL | TH_BP_META);
}

static void kinds_are_set_and_cleared_independently(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_ALL & ~(uint32_t)TH_BP_GLOBAL, 1);
    assert_kinds(a, TH_BP_ALL & ~TH_BP_GLOBAL, TH_BP_ALL & ~TH_BP_GLOBAL);
    clear_kinds(site, a, TH_BP_LOCAL | TH_BP_COUNT);
    assert_kinds(a, TH_BP_META | TH_BP_TIME | TH_BP_MEMORY, TH_BP_META | TH_BP_TIME | TH_BP_MEMORY);
    clear_kinds(site, a, TH_BP_META | TH_BP_MEMORY);
    assert_kinds(a, TH_BP_TIME, TH_BP_TIME);
    clear_kinds(site, a, TH_BP_ALL);
    assert_kinds(a, 0, 0);
}

static void a_paused_breakpoint_stays_and_disarms_its_site(void **state)
{
    struct th_bp_setting setting = {.site = site, .session = &a->session};

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_META, 5);
    setting.pause = TH_BP_LOCAL;
    make_settings(&setting, 1);
    assert_kinds(a, TH_BP_LOCAL | TH_BP_META, TH_BP_META);
    assert_string_equal(calls(TH_BP_ALL), "A meta 5 by 5");
    setting.pause = TH_BP_META;
    make_settings(&setting, 1);
    assert_false(th_breakpoint_site_is_armed(site));
    setting.pause = 0;
    setting.restart = TH_BP_ALL;
    make_settings(&setting, 1);
    assert_kinds(a, TH_BP_LOCAL | TH_BP_META, TH_BP_LOCAL | TH_BP_META);
    assert_string_equal(calls(TH_BP_ALL), "A local 5, A meta 5 by 5");
}

static void clearing_a_missing_breakpoint_creates_nothing(void **state)
{
    struct th_bp_setting setting = {.site = site,
                                    .session = &a->session,
                                    .clear = TH_BP_ALL,
                                    .pause = TH_BP_ALL,
                                    .restart = TH_BP_ALL};
    struct th_change_counts counts = make_settings(&setting, 1);

    (void)state;
    assert_int_equal(counts.visited + counts.allocated + counts.sites_written + counts.rounds, 0);
    assert_kinds(a, 0, 0);
    assert_int_equal(th_breakpoint_sessions(site, NULL, 0), 0);
}

static void settings_of_a_change_are_applied_in_order(void **state)
{
    struct th_shared *first = thing_create(1), *second = thing_create(2);
    const struct th_bp_setting settings[] = {
        {.site = site, .session = &a->session, .set = TH_BP_GLOBAL | TH_BP_COUNT, .spec = first},
        {.site = site, .session = &a->session, .clear = TH_BP_COUNT},
        {.site = site, .session = &a->session, .set = TH_BP_LOCAL | TH_BP_COUNT, .spec = second},
        {.site = site, .session = &b->session, .set = TH_BP_COUNT},
        {.site = site, .session = &b->session, .clear = TH_BP_COUNT},
    };
    struct th_change_counts counts = make_settings(settings, 5);

    (void)state;
    th_breakpoint_shared_drop(first);
    th_breakpoint_shared_drop(second);
    assert_int_equal(things_alive(), 3); /* the sessions and the second specification */
    assert_int_equal(counts.visited, 2);
    assert_int_equal(counts.allocated, 2);
    assert_int_equal(counts.freed, 1);
    assert_string_equal(calls(TH_BP_ALL), "A local 2");
    assert_kinds(b, 0, 0);
}

static void hooks_run_in_the_order_of_their_breakpoints(void **state)
{
    struct th_bp_session *sessions[2];

    (void)state;
    set_kinds(site, b, TH_BP_META | TH_BP_LOCAL, 1);
    set_kinds(site, a, TH_BP_LOCAL, 2);
    assert_string_equal(calls(TH_BP_ALL), "B local 1, B meta 1 by 1, A local 2");
    assert_int_equal(th_breakpoint_sessions(site, sessions, 2), 2);
    assert_ptr_equal(sessions[0], &b->session);
    assert_ptr_equal(sessions[1], &a->session);
    th_breakpoint_shared_drop(&sessions[0]->shared);
    th_breakpoint_shared_drop(&sessions[1]->shared);
    assert_int_equal(th_breakpoint_sessions(site, sessions, 0), 2);
}

static void an_ended_session_gets_no_breakpoints(void **state)
{
    struct th_change *change = th_breakpoint_change_create();

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    th_breakpoint_change_add(change,
                             &(struct th_bp_setting){.session = &a->session, .clear = TH_BP_ALL});
    th_breakpoint_change_add(change,
                             &(struct th_bp_setting){site, &a->session, .set = TH_BP_COUNT});
    th_breakpoint_change_run(change, NULL, NULL);
    assert_kinds(a, TH_BP_COUNT, TH_BP_COUNT);
    change = th_breakpoint_change_create();
    th_breakpoint_change_end_session(change, &a->session);
    th_breakpoint_change_add(change,
                             &(struct th_bp_setting){site, &a->session, .set = TH_BP_COUNT});
    th_breakpoint_change_run(change, NULL, NULL);
    assert_kinds(a, 0, 0);
    set_kinds(site, a, TH_BP_LOCAL, 1);
    assert_kinds(a, 0, 0);
    assert_int_equal(a->session.count, 0);
}

/* --- Cost ------------------------------------------------------------------------------------- */

enum { MANY = 10000 };

static struct th_site *sites[MANY];

static struct th_change_counts set_all(struct noting *noting, uint32_t set, uint32_t clear)
{
    struct th_bp_setting *settings = calloc(MANY, sizeof *settings);
    struct th_change_counts counts;

    for (int i = 0; i < MANY; i++)
        settings[i] =
            (struct th_bp_setting){sites[i], &noting->session, .set = set, .clear = clear};
    counts = make_settings(settings, MANY);
    free(settings);
    return counts;
}

static void assert_counts(struct th_change_counts counts, size_t visited, size_t allocated,
                          size_t freed, size_t written, unsigned rounds)
{
    assert_int_equal(counts.visited, visited);
    assert_int_equal(counts.allocated, allocated);
    assert_int_equal(counts.freed, freed);
    assert_int_equal(counts.sites_written, written);
    assert_int_equal(counts.rounds, rounds);
}

static struct th_change_counts set_one(struct noting *noting, uint32_t set, uint32_t clear)
{
    struct th_bp_setting setting = {sites[MANY / 2], &noting->session, .set = set, .clear = clear};

    return make_settings(&setting, 1);
}

static void a_change_visits_only_its_own_sites(void **state)
{
    struct th_change_counts counts;
    struct th_bp_setting both[] = {{sites[0], &a->session, .clear = TH_BP_ALL},
                                   {site, &a->session, .set = TH_BP_LOCAL}};

    (void)state;
    counts = set_all(a, TH_BP_LOCAL, 0);
    assert_counts(counts, MANY, MANY, 0, MANY, 3);
    counts = set_one(a, TH_BP_LOCAL, 0); /* an update */
    assert_counts(counts, 1, 0, 0, 0, 1);
    counts = set_one(b, TH_BP_LOCAL, 0); /* a second one on an armed site */
    assert_counts(counts, 1, 1, 0, 0, 1);
    counts = set_one(b, 0, TH_BP_LOCAL); /* it remains armed */
    assert_counts(counts, 1, 0, 1, 0, 2);
    counts = make_settings(both, 2); /* one is set, one is removed */
    assert_counts(counts, 2, 1, 1, 2, 4);
    counts = set_all(a, TH_BP_LOCAL, 0);
    assert_counts(counts, MANY, 1, 0, 1, 3);
    counts = set_all(a, 0, TH_BP_LOCAL);
    assert_counts(counts, MANY, 0, MANY, MANY, 2);
    clear_kinds(site, a, TH_BP_ALL);
}

static void pausing_writes_the_site_and_frees_nothing(void **state)
{
    struct th_bp_setting setting = {site, &a->session, .pause = TH_BP_LOCAL};

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 0);
    assert_counts(make_settings(&setting, 1), 1, 0, 0, 1, 1);
    setting = (struct th_bp_setting){site, &a->session, .restart = TH_BP_LOCAL};
    assert_counts(make_settings(&setting, 1), 1, 0, 0, 1, 3);
}

static void keep_counts(struct th_change *change, void *counts)
{
    *(struct th_change_counts *)counts = th_breakpoint_change_counts(change);
}

static void ending_a_session_visits_only_its_breakpoints(void **state)
{
    struct th_change *change = th_breakpoint_change_create();
    struct th_change_counts counts;

    (void)state;
    set_all(a, TH_BP_LOCAL, 0);
    set_one(b, TH_BP_LOCAL, 0);
    set_kinds(site, b, TH_BP_COUNT, 0);
    assert_int_equal(b->session.count, 2);
    th_breakpoint_change_end_session(change, &b->session);
    assert_true(th_breakpoint_change_run(change, keep_counts, &counts));
    assert_counts(counts, 2, 0, 2, 1, 2);
    assert_int_equal(b->session.count, 0);
    assert_int_equal(a->session.count, MANY);
    assert_string_equal(note_call(sites[MANY / 2], TH_BP_ALL, NULL), "A local 0");
}

/* --- Kinds of sites --------------------------------------------------------------------------- */

static size_t batches, armed_sites, disarmed_sites;

static void write_places(struct th_site *const *sites, size_t count, bool arm)
{
    batches++;
    *(arm ? &armed_sites : &disarmed_sites) += count;
    for (size_t i = 0; i < count; i++)
        *(bool *)sites[i]->place = arm;
}

static const struct th_site_operations counting = {
    .kind = "counting", .kinds = TH_BP_ALL, .write = write_places};

static void sites_of_one_kind_are_armed_in_one_batch(void **state)
{
    bool armed[4] = {0};
    struct th_bp_setting settings[5];

    (void)state;
    for (int i = 0; i < 4; i++)
        settings[i] = (struct th_bp_setting){th_breakpoint_site_create(&counting, NULL, &armed[i]),
                                             &a->session, .set = TH_BP_LOCAL};
    settings[4] = (struct th_bp_setting){site, &a->session, .set = TH_BP_LOCAL};
    assert_int_equal(make_settings(settings, 5).sites_written, 5);
    assert_int_equal(batches, 1);
    assert_int_equal(armed_sites, 4);
    assert_true(armed[0] && armed[3] && th_breakpoint_site_is_armed(site));
    for (int i = 0; i < 5; i++)
        settings[i].set = 0, settings[i].clear = TH_BP_LOCAL;
    assert_int_equal(make_settings(settings, 5).sites_written, 5);
    assert_int_equal(disarmed_sites, 4);
    assert_false(armed[0] || armed[3] || th_breakpoint_site_is_armed(site));
}

/* --- Pending ---------------------------------------------------------------------------------- */

static void post(struct th_change *change, void *done)
{
    assert_order(th_breakpoint_change_counts(change).rounds, >, 0);
    sem_post(done);
}

static void a_change_inside_a_reader_section_is_pending(void **state)
{
    struct th_change *change = th_breakpoint_change_create();
    sem_t done;

    (void)state;
    sem_init(&done, 0, 0);
    th_breakpoint_change_add(change,
                             &(struct th_bp_setting){site, &a->session, .set = TH_BP_LOCAL});
    th_progress_enter();
    assert_false(th_breakpoint_change_run(change, post, &done));
    assert_false(th_breakpoint_site_is_armed(site)); /* this thread holds the change up */
    th_progress_leave();
    sem_wait(&done);
    assert_string_equal(calls(TH_BP_ALL), "A local 0");
}

static void queued_changes_are_applied_in_order(void **state)
{
    enum { CHANGES = 20 };
    sem_t done;

    (void)state;
    sem_init(&done, 0, 0);
    for (int i = 0; i < CHANGES; i++) {
        struct th_change *change = th_breakpoint_change_create();
        struct th_shared *spec = thing_create(i + 1);
        th_breakpoint_change_add(
            change, &(struct th_bp_setting){site, &a->session, .set = TH_BP_LOCAL, .spec = spec});
        th_breakpoint_shared_drop(spec);
        assert_false(th_breakpoint_change_start(change, post, &done));
    }
    set_kinds(site, b, TH_BP_LOCAL, 0); /* waits for all changes before it */
    for (int i = 0; i < CHANGES; i++)
        assert_int_equal(sem_wait(&done), 0);
    assert_string_equal(calls(TH_BP_ALL), "A local 20, B local 0");
}

static void an_empty_change_completes_at_once(void **state)
{
    (void)state;
    th_progress_enter();
    assert_true(th_breakpoint_change_run(th_breakpoint_change_create(), NULL, NULL));
    th_progress_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_site_is_armed_while_it_has_an_active_breakpoint, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_later_specification_replaces_an_earlier_one, begin, end),
        cmocka_unit_test_setup_teardown(local_and_global_kinds_exclude_each_other, begin, end),
        cmocka_unit_test_setup_teardown(kinds_are_set_and_cleared_independently, begin, end),
        cmocka_unit_test_setup_teardown(a_paused_breakpoint_stays_and_disarms_its_site, begin, end),
        cmocka_unit_test_setup_teardown(clearing_a_missing_breakpoint_creates_nothing, begin, end),
        cmocka_unit_test_setup_teardown(settings_of_a_change_are_applied_in_order, begin, end),
        cmocka_unit_test_setup_teardown(hooks_run_in_the_order_of_their_breakpoints, begin, end),
        cmocka_unit_test_setup_teardown(an_ended_session_gets_no_breakpoints, begin, end),
        cmocka_unit_test_setup_teardown(a_change_visits_only_its_own_sites, begin, end),
        cmocka_unit_test_setup_teardown(pausing_writes_the_site_and_frees_nothing, begin, end),
        cmocka_unit_test_setup_teardown(ending_a_session_visits_only_its_breakpoints, begin, end),
        cmocka_unit_test_setup_teardown(sites_of_one_kind_are_armed_in_one_batch, begin, end),
        cmocka_unit_test_setup_teardown(a_change_inside_a_reader_section_is_pending, begin, end),
        cmocka_unit_test_setup_teardown(queued_changes_are_applied_in_order, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_change_completes_at_once, begin, end),
    };

    for (int i = 0; i < MANY; i++)
        sites[i] = new_site();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
