/*
 * Live processes begin and end without the tracing's lock while no thread has found them. In the
 * stress test two threads begin and end processes, each with a parent that lives on; meanwhile
 * another thread traces all of them or none, sets flags of single processes and of the parents, and
 * creates and destroys sessions. A process that begins and ends while the flags of all stay must
 * have these flags. Runs for STRESS_SECONDS, 1 by default.
 */
#include "host/process/process.h"
#include "host/term/term.h"
#include "host/trace/live/live_table.h"
#include "tests/support/alive.h"
#include "tests/support/assertions.h"

#include "host/base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* --- The table -------------------------------------------------------------------------------- */

static void a_tracee_that_was_found_needs_the_lock_to_end(void **state)
{
    struct th_live_table table = {0};
    struct th_live_tracee one = {.id = th_local_pid(1, TH_HOST_SERIAL)};
    struct th_live_tracee port = {.id = th_local_port(TH_HOST_PORT_ID + 5000)};

    (void)state;
    assert_null(th_live_table_find(&table, one.id));
    th_live_table_begin(&table);
    assert_null(th_live_table_find(&table, one.id));
    th_live_table_add(&table, &one);
    th_live_table_add(&table, &port);
    assert_null(th_live_table_find(&table, th_local_pid(2, TH_HOST_SERIAL)));
    assert_true(th_live_table_remove(&table, &one));
    assert_null(th_live_table_find(&table, one.id));
    th_live_table_add(&table, &one);
    assert_ptr_equal(th_live_table_find(&table, one.id), &one);
    assert_ptr_equal(th_live_table_find(&table, port.id), &port);
    assert_false(th_live_table_remove(&table, &one));
    th_live_table_remove_found(&table, &one);
    th_live_table_remove_found(&table, &port);
    assert_null(th_live_table_find(&table, one.id));
    assert_true(th_live_table_end(&table));
}

/* The identifier of a dead process is no longer found, nor is its place cleared by its end. */
static void a_later_tracee_takes_the_place_of_a_dead_one(void **state)
{
    struct th_live_table table = {0};
    struct th_live_tracee dead = {.id = th_local_pid(1, TH_HOST_SERIAL)};
    struct th_live_tracee later = {.id = th_local_pid(1, TH_HOST_SERIAL + 1)};

    (void)state;
    th_live_table_begin(&table);
    th_live_table_add(&table, &dead);
    assert_ptr_equal(th_live_table_find(&table, dead.id), &dead);
    th_live_table_add(&table, &later);
    assert_null(th_live_table_find(&table, dead.id));
    assert_ptr_equal(th_live_table_find(&table, later.id), &later);
    assert_false(th_live_table_remove(&table, &dead));
    th_live_table_remove_found(&table, &dead);
    assert_ptr_equal(th_live_table_find(&table, later.id), &later);
    assert_false(th_live_table_end(&table));
}

/* --- Births and deaths ------------------------------------------------------------------------ */

enum {
    SPAWNERS = 2,
    CHILDREN = 8, /* numbers of a spawner's children; as many live at once */
    FLAGS = TH_FLAG_CALL,
    OWN_FLAGS = TH_FLAG_RUNNING,
};

/* Phase of the flags of all: CHANGING during a change, ON if all have FLAGS, above these the number
 * of the change. Release before and after a change; acquire. */
enum { CHANGING = 1, ON = 2, NUMBER = 4 };
static _Atomic uint64_t phase;
static atomic_bool over;

struct spawner {
    pthread_t thread;
    unsigned first; /* number of the parent; the children follow */
    uint64_t births, wrong;
    /* Births without a change of the flags meanwhile. Relaxed: another thread waits for one. */
    _Atomic uint64_t checked;
};
static struct spawner spawners[SPAWNERS];

/* True if TRACEE has FLAGS. */
static bool has_flags(const struct th_live_tracee *tracee)
{
    return th_live_is_calling(tracee);
}

static void *spawn_and_end(void *context)
{
    struct spawner *self = context;
    struct th_live_tracee parent = {.id = th_local_pid(self->first, TH_HOST_SERIAL)};
    struct th_live_tracee children[CHILDREN] = {0};
    uint32_t serial = TH_HOST_SERIAL;

    th_live_process_begin(&parent, scene_tracing(), NULL, false);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        unsigned n = (unsigned)(self->births++ % CHILDREN);
        struct th_live_tracee *child = &children[n];
        uint64_t before, after;
        bool had;

        if (child->traced.tracing)
            th_live_process_end(child);
        if (n == 0)
            serial++;
        before = atomic_load_explicit(&phase, memory_order_acquire);
        *child = (struct th_live_tracee){.id = th_local_pid(self->first + 1 + n, serial)};
        th_live_process_begin(child, scene_tracing(), &parent, n % 2);
        had = has_flags(child);
        after = atomic_load_explicit(&phase, memory_order_acquire);
        if (before == after && !(before & CHANGING)) {
            atomic_fetch_add_explicit(&self->checked, 1, memory_order_relaxed);
            self->wrong += had != (bool)(before & ON);
        }
    }
    for (unsigned n = 0; n < CHILDREN; n++)
        if (children[n].traced.tracing)
            th_live_process_end(&children[n]);
    th_live_process_end(&parent);
    return NULL;
}

/* Sets or clears the flags of all, in SESSION. */
static void change_all(struct th_session *session, bool on)
{
    uint64_t now = atomic_load_explicit(&phase, memory_order_relaxed);

    atomic_store_explicit(&phase, now | CHANGING, memory_order_seq_cst);
    th_trace_session_trace(session, TH_PROCESSES_ALL, on, FLAGS);
    atomic_store_explicit(&phase, (now / NUMBER + 1) * NUMBER + (on ? ON : 0),
                          memory_order_release);
}

/* Gives single processes other flags than all have: whether the process is there or not. */
static void change_some(struct th_session *session, unsigned round)
{
    unsigned number = spawners[round % SPAWNERS].first + round % (CHILDREN + 1);

    for (uint32_t serial = TH_HOST_SERIAL; serial < TH_HOST_SERIAL + 100; serial++)
        th_trace_session_trace_one(session, th_local_pid(number, serial), round % 4 < 2, OWN_FLAGS);
    th_error_clear();
}

static unsigned stress_seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    unsigned given = text ? (unsigned)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

/* Waits until each spawner has checked a birth; no flags change meanwhile. */
static void wait_for_checks(void)
{
    for (unsigned i = 0; i < SPAWNERS; i++)
        while (atomic_load_explicit(&spawners[i].checked, memory_order_relaxed) == 0)
            sched_yield();
}

/* OTHERS: flags of single processes are changed, too, so that births take the lock. */
static void change_for(unsigned seconds, bool others)
{
    struct th_session *all = scene_create("all"), *short_lived;
    time_t end = time(NULL) + (time_t)seconds;

    for (unsigned round = 0; time(NULL) <= end; round++) {
        change_all(all, round % 2 == 0);
        if (others && round % 8 == 0) {
            short_lived = scene_create("short_lived");
            change_some(short_lived, round / 8);
            th_trace_session_destroy(short_lived);
        }
    }
    change_all(all, false);
    wait_for_checks();
    th_trace_session_destroy(all);
}

static void stress(bool others)
{
    alive_begin();
    atomic_store(&over, false);
    atomic_store(&phase, 0);
    for (unsigned i = 0; i < SPAWNERS; i++) {
        spawners[i].first = 1 + i * (CHILDREN + 1);
        spawners[i].births = spawners[i].wrong = 0;
        atomic_store(&spawners[i].checked, 0);
        pthread_create(&spawners[i].thread, NULL, spawn_and_end, &spawners[i]);
    }
    change_for(stress_seconds(), others);
    atomic_store(&over, true);
    for (unsigned i = 0; i < SPAWNERS; i++) {
        pthread_join(spawners[i].thread, NULL);
        assert_int_equal(spawners[i].wrong, 0);
    }
    alive_end();
}

static void a_new_process_gets_the_flags_for_new_ones(void **state)
{
    struct alive *before, *after;
    struct th_session *session;

    (void)state;
    alive_begin();
    before = alive_spawn(1, NULL, false);
    session = scene_create("new");
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, FLAGS);
    after = alive_spawn(2, before, false);
    assert_false(has_flags(&before->process));
    assert_true(has_flags(&after->process));
    alive_exit(after);
    alive_exit(before);
    th_trace_session_destroy(session);
    alive_end();
}

static void a_process_has_the_flags_of_all_since_its_birth(void **state)
{
    (void)state;
    stress(false);
}

static void single_processes_are_traced_while_others_begin_and_end(void **state)
{
    (void)state;
    stress(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tracee_that_was_found_needs_the_lock_to_end),
        cmocka_unit_test(a_later_tracee_takes_the_place_of_a_dead_one),
        cmocka_unit_test(a_new_process_gets_the_flags_for_new_ones),
        cmocka_unit_test(a_process_has_the_flags_of_all_since_its_birth),
        cmocka_unit_test(single_processes_are_traced_while_others_begin_and_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
