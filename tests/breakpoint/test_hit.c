/* Tests hits: which hooks run, in which order; requests from inside of hooks; and errors that other
 * systems made here. */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/noting.h"

#include <pthread.h>
#include <sched.h>
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

/* Waits until requests from inside of hooks are done, as these hold references to sessions. */
static int end(void **state)
{
    (void)state;
    noting_end(a);
    noting_end(b);
    return !things_remain(0) || th_breakpoint_site_is_armed(site) || atomic_load(&site->first);
}

/* --- Order of hooks --------------------------------------------------------------------------- */

static void requests_of_all_sessions_are_combined(void **state)
{
    uint32_t asked;

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 0);
    set_kinds(site, b, TH_BP_LOCAL, 0);
    a->answer = TH_HIT_RETURN | TH_HIT_OWN;
    b->answer = TH_HIT_EXCEPTION;
    note_call(site, TH_BP_ALL, &asked);
    assert_int_equal(asked, TH_HIT_RETURN | TH_HIT_OWN | TH_HIT_EXCEPTION);
}

static void a_hit_reaches_only_breakpoints_of_its_kinds(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_GLOBAL | TH_BP_META, 1);
    set_kinds(site, b, TH_BP_LOCAL | TH_BP_COUNT, 2);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A global 1, A meta 1 by 1, B local 2");
    assert_string_equal(note_call(site, TH_BP_ALL & ~TH_BP_GLOBAL, NULL),
                        "A meta 1 by 1, B local 2");
    assert_string_equal(note_call(site, TH_BP_GLOBAL, NULL), "A global 1");
    assert_string_equal(note_call(site, TH_BP_COUNT, NULL), "");
}

static void discarded_hits_allocate_nothing(void **state)
{
    unsigned long before;

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_META | TH_BP_COUNT, 1);
    set_kinds(site, b, TH_BP_LOCAL, 0);
    note_call(site, TH_BP_ALL, NULL);
    before = th_alloc_count();
    for (int i = 0; i < 1000; i++)
        note_call(site, TH_BP_ALL, NULL);
    assert_int_equal(th_alloc_count(), before);
}

static int depth;

static void call_again(struct noting *noting, struct th_hit *hit)
{
    struct th_hit inner = {.kinds = TH_BP_LOCAL};

    (void)noting;
    if (depth++ < 2)
        th_breakpoint_hit(hit->site, &inner);
    assert_ptr_equal(hit->site, site);
}

static void hits_may_be_nested(void **state)
{
    (void)state;
    depth = 0;
    a->act = call_again;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    set_kinds(site, b, TH_BP_LOCAL, 2);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL),
                        "A local 1, A local 1, A local 1, B local 2, B local 2, B local 2");
}

/* --- Disarming from inside -------------------------------------------------------------------- */

static void disarm(struct noting *noting, struct th_hit *hit)
{
    (void)noting;
    th_breakpoint_disarm(hit, TH_BP_TRACING);
}

static void a_hook_disarms_its_breakpoint(void **state)
{
    struct th_bp_setting restart = {.site = site, .session = &a->session, .restart = TH_BP_ALL};
    struct th_bp_info info;

    (void)state;
    a->act = disarm;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_META, 1);
    note_call(site, TH_BP_LOCAL, NULL);
    assert_true(wait_for_site(site, false));
    assert_true(th_breakpoint_info(site, &a->session, &info));
    assert_int_equal(info.kinds, TH_BP_LOCAL | TH_BP_META);
    th_breakpoint_info_free(&info);
    a->act = NULL;
    make_settings(&restart, 1);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 1, A meta 1 by 1");
}

static void disarming_a_breakpoint_affects_no_other_breakpoint(void **state)
{
    struct th_bp_info info = {.active = TH_BP_LOCAL};

    (void)state;
    a->act = disarm;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_COUNT, 1);
    set_kinds(site, b, TH_BP_LOCAL, 2);
    note_call(site, TH_BP_ALL, NULL);
    for (int i = 0; i < 1000 && info.active & TH_BP_LOCAL; i++) {
        th_progress_settle();
        th_breakpoint_info(site, &a->session, &info);
        th_breakpoint_info_free(&(struct th_bp_info){.spec = info.spec});
    }
    assert_int_equal(info.active, TH_BP_COUNT);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "B local 2");
}

static void keep(struct th_permission_request *request)
{
    (void)request;
}

/* Makes the change SETTING between a hit of A that requests its disarming and this disarming. */
static void change_after_hit(const struct th_bp_setting *setting)
{
    static struct th_permission_request request;
    struct th_change *change = th_breakpoint_change_create();

    a->act = disarm;
    th_code_permission_seize(&request, keep);
    th_breakpoint_change_add(change, setting);
    th_breakpoint_change_start(change, NULL, NULL);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 1"); /* requests the disarming */
    th_progress_settle(); /* the change for requests is queued */
    a->act = NULL;
    th_code_permission_release();
    set_kinds(site, b, TH_BP_COUNT, 0); /* queued after it, so done after it */
}

static void a_breakpoint_set_after_the_hit_is_not_disarmed(void **state)
{
    struct th_shared *spec = thing_create(2);

    (void)state;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    change_after_hit(&(struct th_bp_setting){
        .site = site, .session = &a->session, .set = TH_BP_LOCAL, .spec = spec});
    th_breakpoint_shared_drop(spec);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 2");
}

static void a_breakpoint_unchanged_since_the_hit_is_disarmed(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_LOCAL | TH_BP_COUNT, 1);
    change_after_hit(
        &(struct th_bp_setting){.site = site, .session = &a->session, .clear = TH_BP_COUNT});
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "");
}

enum { MANY = 100, HITS = 50 };

static size_t batches, disarmed;

static void write_places(struct th_site *const *sites, size_t count, bool arm)
{
    for (size_t i = 0; i < count; i++)
        *(bool *)sites[i]->place = arm;
    batches += !arm;
    disarmed += arm ? 0 : count;
}

static const struct th_site_operations counting = {
    .kind = "counting", .kinds = TH_BP_ALL, .write = write_places};

static void hit_many_times(struct th_site *const *sites)
{
    unsigned long before;

    for (int i = 0; i < MANY; i++) {
        note_call(sites[i], TH_BP_ALL, NULL);
        before = th_alloc_count();
        for (int k = 0; k < HITS; k++) /* repeats a pending request */
            note_call(sites[i], TH_BP_ALL, NULL);
        assert_int_equal(th_alloc_count(), before);
    }
}

static void requests_of_many_hits_become_one_change(void **state)
{
    static bool armed[MANY];
    struct th_site *sites[MANY];
    struct th_bp_setting settings[MANY];

    (void)state;
    a->act = disarm;
    for (int i = 0; i < MANY; i++) {
        sites[i] = th_breakpoint_site_create(&counting, NULL, &armed[i]);
        settings[i] = (struct th_bp_setting){sites[i], &a->session, .set = TH_BP_LOCAL};
    }
    make_settings(settings, MANY);
    th_progress_enter(); /* as in a callback: no wait for a grace period can begin */
    hit_many_times(sites);
    th_progress_leave();
    th_progress_settle();               /* the change for requests is queued */
    set_kinds(site, b, TH_BP_COUNT, 0); /* queued after it, so its result is visible now */
    assert_int_equal(batches, 1);
    assert_int_equal(disarmed, MANY);
}

/* --- Errors of other systems ------------------------------------------------------------------ */

static void end_b(struct noting *noting, struct th_hit *hit)
{
    struct th_change *change = th_breakpoint_change_create();

    (void)hit;
    noting->act = NULL;
    th_breakpoint_change_end_session(change, &b->session);
    assert_false(th_breakpoint_change_run(change, NULL, NULL));
}

/* The function's list has the breakpoints in the order A, B; in the next test, B, A. */
static void a_hook_ends_the_session_of_a_later_breakpoint(void **state)
{
    (void)state;
    a->act = end_b;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    set_kinds(site, b, TH_BP_LOCAL, 2);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 1, B local 2");
    set_kinds(site, a, TH_BP_LOCAL, 3); /* queued after it */
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 3");
}

static void a_hook_ends_the_session_of_an_earlier_breakpoint(void **state)
{
    (void)state;
    a->act = end_b;
    set_kinds(site, b, TH_BP_LOCAL, 2);
    set_kinds(site, a, TH_BP_LOCAL, 1);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "B local 2, A local 1");
    set_kinds(site, a, TH_BP_LOCAL, 3);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 3");
}

static void a_hook_ends_its_own_session(void **state)
{
    (void)state;
    b->act = end_b;
    set_kinds(site, b, TH_BP_LOCAL, 2);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "B local 2");
    set_kinds(site, a, TH_BP_LOCAL, 3);
    assert_string_equal(note_call(site, TH_BP_ALL, NULL), "A local 3");
}

static sem_t inside, leave;

static void stay(struct noting *noting, struct th_hit *hit)
{
    (void)noting;
    (void)hit;
    sem_post(&inside);
    sem_wait(&leave);
}

static void *call_once(void *unused)
{
    (void)unused;
    note_call(site, TH_BP_ALL, NULL);
    return NULL;
}

/* All others release the session and the specification while the hook runs. */
static void a_running_hook_keeps_its_session_and_specification(void **state)
{
    pthread_t thread;

    (void)state;
    sem_init(&inside, 0, 0);
    sem_init(&leave, 0, 0);
    a->act = stay;
    set_kinds(site, a, TH_BP_LOCAL, 1);
    pthread_create(&thread, NULL, call_once, NULL);
    sem_wait(&inside);
    th_progress_enter(); /* keeps the change pending */
    noting_end(a);
    th_progress_leave();
    for (int i = 0; i < 5; i++)
        sched_yield();
    assert_int_equal(things_alive(), 3); /* both sessions and the specification */
    sem_post(&leave);
    pthread_join(thread, NULL);
    a = noting_create('A');
    set_kinds(site, a, TH_BP_LOCAL, 0); /* queued after it */
    assert_true(things_remain(2));
}

/* --- Meta tracers that end -------------------------------------------------------------------- */

static void a_removed_meta_tracer_gets_no_more_calls(void **state)
{
    struct th_bp_info info;

    (void)state;
    a->answer = TH_HIT_REMOVE | TH_HIT_RETURN;
    set_kinds(site, a, TH_BP_META | TH_BP_COUNT, 1);
    assert_string_equal(note_call(site, TH_BP_META, NULL), "A meta 1 by 1");
    assert_string_equal(note_call(site, TH_BP_META, NULL), "");
    do {
        th_progress_settle();
        assert_true(th_breakpoint_info(site, &a->session, &info));
        assert_null(info.meta_tracer);
        th_breakpoint_info_free(&(struct th_bp_info){.meta_spec = info.meta_spec});
    } while (info.kinds & TH_BP_META);
    assert_int_equal(info.kinds, TH_BP_COUNT);
    set_kinds(site, b, TH_BP_COUNT, 0); /* queued after it */
    assert_true(things_remain(2));
}

static void a_meta_breakpoint_without_a_tracer_is_removed(void **state)
{
    (void)state;
    set_kinds(site, a, TH_BP_META, 0); /* without a tracer */
    assert_string_equal(note_call(site, TH_BP_META, NULL), "");
    assert_true(wait_for_site(site, false));
}

static atomic_int metas, metas_removed;

static uint32_t meta_once(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                          struct th_shared *tracer)
{
    (void)hit;
    (void)session;
    (void)spec;
    if (atomic_load(&tracer->shares) == 0)
        abort();
    return atomic_fetch_add(&metas, 1) < 1000 ? 0 : TH_HIT_REMOVE;
}

static void note_removed(struct th_bp_session *session, struct th_shared *tracer)
{
    (void)session;
    if (atomic_load(&tracer->shares) == 0)
        abort();
    atomic_fetch_add(&metas_removed, 1);
}

static const struct th_bp_hooks meta_hooks = {.meta = meta_once, .meta_removed = note_removed};

static void *hit_until_it_is_disarmed(void *unused)
{
    struct th_hit hit = {.kinds = TH_BP_ALL};

    (void)unused;
    while (th_breakpoint_site_is_armed(site))
        th_breakpoint_hit(site, &hit);
    return NULL;
}

static void keep_session(struct th_shared *session)
{
    (void)session;
}

/* Threads outside the schedulers hit a meta breakpoint; some have read the tracer when another
 * finds it ended. */
static void concurrent_hits_remove_an_ended_meta_tracer_once(void **state)
{
    enum { THREADS = 4 };
    static struct th_bp_session session;
    struct th_shared *tracer = thing_create(1);
    struct th_bp_setting setting = {
        .site = site, .session = &session, .set = TH_BP_META, .meta_tracer = tracer};
    pthread_t threads[THREADS];

    (void)state;
    th_breakpoint_session_init(&session, &meta_hooks, keep_session);
    make_settings(&setting, 1);
    th_breakpoint_shared_drop(tracer);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hit_until_it_is_disarmed, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&metas_removed), 1);
    set_kinds(site, a, TH_BP_COUNT, 0); /* queued after it */
    assert_true(things_remain(2));
    assert_int_equal(session.count, 0);
    for (int i = 0; i < 1000 && atomic_load(&session.shared.shares) > 1; i++)
        th_progress_settle(); /* a request came once more */
    assert_int_equal(atomic_load(&session.shared.shares), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(requests_of_all_sessions_are_combined),
        TEST(a_hit_reaches_only_breakpoints_of_its_kinds),
        TEST(discarded_hits_allocate_nothing),
        TEST(hits_may_be_nested),
        TEST(a_hook_disarms_its_breakpoint),
        TEST(disarming_a_breakpoint_affects_no_other_breakpoint),
        TEST(a_breakpoint_set_after_the_hit_is_not_disarmed),
        TEST(a_breakpoint_unchanged_since_the_hit_is_disarmed),
        TEST(requests_of_many_hits_become_one_change),
        TEST(a_hook_ends_the_session_of_a_later_breakpoint),
        TEST(a_hook_ends_the_session_of_an_earlier_breakpoint),
        TEST(a_hook_ends_its_own_session),
        TEST(a_running_hook_keeps_its_session_and_specification),
        TEST(a_removed_meta_tracer_gets_no_more_calls),
        TEST(a_meta_breakpoint_without_a_tracer_is_removed),
        TEST(concurrent_hits_remove_an_ended_meta_tracer_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
