/* Tests monitors: when `down` is called, and when it is not. The results are those of OTP 25. */
#include "host/library/library.h"
#include "host/nif/nif.h"
#include "host/process/process.h"
#include "host/self/self.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <pthread.h>
#include <string.h>

#include <stddef.h>
#include <stdlib.h>

static struct events_journal *journal;
static struct th_library *library;
static struct events_object *a, *b;
static struct th_mailbox *process;
static ErlNifPid pid; /* the process' pid */
static th_env env;

static void ignore(void *unused, th_term message)
{
    (void)unused, (void)message;
}

static int begin(void **state)
{
    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    journal->name = "x";
    library = events_load(journal, NULL);
    a = events_object(journal, EVENTS_FULL, 1);
    b = events_object(journal, EVENTS_OTHER, 2);
    process = th_process_start(ignore, NULL);
    pid.pid = th_process_pid(process);
    th_env_init(&env, TH_ENV_CALLBACK);
    return 0;
}

static void end_process(void)
{
    if (process)
        th_process_exit(process, TH_AM(normal));
    process = NULL;
}

static void release(struct events_object **object)
{
    if (*object)
        enif_release_resource(*object);
    *object = NULL;
    th_resource_reap();
}

static int end(void **state)
{
    (void)state;
    end_process();
    th_resource_reap();
    release(&a);
    release(&b);
    th_env_release(&env);
    th_library_release(library);
    th_free(journal);
    return 0;
}

static const char *noted(void)
{
    th_resource_reap();
    return events_noted(journal);
}

static void down_is_called_at_a_safe_point(void **state)
{
    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, &a->monitor), 0);
    assert_string_equal(noted(), "");
    end_process();
    assert_string_equal(events_noted(journal), ""); /* not by this thread, which may hold locks */
    assert_string_equal(noted(), "x:down 1");
    assert_null(th_self.library_frame);
    assert_int_not_equal(enif_demonitor_process(&env, a, &a->monitor), 0);
    assert_string_equal(noted(), "");
}

static void each_monitor_of_a_process_calls_down(void **state)
{
    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, &a->monitor), 0);
    assert_int_equal(enif_monitor_process(&env, a, &pid, NULL), 0);
    assert_int_equal(enif_monitor_process(NULL, b, &pid, &b->monitor), 0);
    end_process();
    assert_string_equal(noted(), "x:down 1, x:down 1 another, x:down 2");
}

static void a_removed_monitor_does_not_call_down(void **state)
{
    ErlNifMonitor other;

    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, &a->monitor), 0);
    assert_int_equal(enif_monitor_process(&env, a, &pid, &other), 0);
    assert_int_equal(enif_monitor_process(&env, b, &pid, &b->monitor), 0);
    assert_int_not_equal(enif_demonitor_process(&env, a, &b->monitor), 0);
    assert_int_equal(enif_demonitor_process(&env, a, &other), 0);
    assert_int_not_equal(enif_demonitor_process(&env, a, &other), 0);
    assert_int_equal(enif_demonitor_process(NULL, b, &b->monitor), 0);
    end_process();
    assert_string_equal(noted(), "x:down 1");
}

static void a_monitor_needs_a_down_callback_and_a_live_process(void **state)
{
    struct events_object *plain = events_object(journal, EVENTS_PLAIN, 3);
    ErlNifPid none = {TH_AM(undefined)}, dead = pid;

    (void)state;
    assert_order(enif_monitor_process(&env, plain, &pid, NULL), <, 0);
    assert_order(enif_monitor_process(&env, plain, &none, NULL), <, 0);
    assert_order(enif_monitor_process(&env, a, &none, NULL), >, 0);
    end_process();
    assert_order(enif_monitor_process(&env, a, &dead, NULL), >, 0);
    assert_order(enif_monitor_process(&env, plain, &dead, NULL), <, 0);
    assert_string_equal(noted(), "");
    enif_release_resource(plain);
}

static void monitors_are_removed_with_their_resource(void **state)
{
    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, NULL), 0);
    assert_int_equal(enif_monitor_process(&env, a, &pid, NULL), 0);
    release(&a);
    assert_string_equal(noted(), "x:gone 1");
    end_process();
    assert_string_equal(noted(), "");
}

/* The process ends between the release of the last reference and the destructor. */
static void down_is_not_called_for_a_released_resource(void **state)
{
    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, NULL), 0);
    enif_release_resource(a);
    a = NULL;
    end_process();
    assert_string_equal(noted(), "x:gone 1");
}

/* The process ends before the release: a monitor that has fired keeps its resource. */
static void down_is_called_before_the_destructor(void **state)
{
    (void)state;
    assert_int_equal(enif_monitor_process(&env, a, &pid, &a->monitor), 0);
    end_process();
    enif_release_resource(a);
    a = NULL;
    assert_string_equal(noted(), "x:down 1, x:gone 1");
}

static void monitors_have_an_order_and_terms(void **state)
{
    ERL_NIF_TERM terms[2];

    (void)state;
    memset(&a->monitor, 0xFF, sizeof a->monitor);
    memset(&b->monitor, 0, sizeof b->monitor);
    assert_int_equal(enif_monitor_process(&env, a, &pid, &a->monitor), 0);
    assert_int_equal(enif_monitor_process(&env, b, &pid, &b->monitor), 0);
    assert_int_equal(enif_compare_monitors(&a->monitor, &a->monitor), 0);
    assert_int_not_equal((enif_compare_monitors(&a->monitor, &b->monitor) < 0),
                         (enif_compare_monitors(&b->monitor, &a->monitor) < 0));
    for (int i = 0; i < 2; i++) {
        terms[i] = enif_make_monitor_term(&env, i ? &b->monitor : &a->monitor);
        assert_true(enif_is_ref(&env, terms[i]));
    }
    assert_true(enif_is_identical(terms[0], enif_make_monitor_term(&env, &a->monitor)));
    assert_false(enif_is_identical(terms[0], terms[1]));
}

/* --- Races ------------------------------------------------------------------------------------ */

enum { ROUNDS = 300 };

/* In each round a process ends here; another thread removes its monitor or releases its
 * resource. */
struct race {
    struct events_object *object;
    pthread_barrier_t start;
    int taken; /* monitors that were removed in time */
};

static void *take_away(void *context)
{
    struct race *race = context;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race->start);
        if (i % 2)
            race->taken += enif_demonitor_process(NULL, race->object, &race->object->monitor) == 0;
        enif_release_resource(race->object);
        th_resource_reap();
        pthread_barrier_wait(&race->start);
    }
    return NULL;
}

static unsigned times(const char *text, const char *word)
{
    unsigned count = 0;

    while ((text = strstr(text, word))) {
        count++;
        text += strlen(word);
    }
    return count;
}

static void a_monitor_is_either_removed_or_calls_down(void **state)
{
    struct race race = {.taken = 0};
    pthread_t thread;
    unsigned down = 0, gone = 0;
    int before;

    (void)state;
    pthread_barrier_init(&race.start, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, take_away, &race), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct th_mailbox *short_lived = th_process_start(ignore, NULL);
        ErlNifPid its_pid = {th_process_pid(short_lived)};
        race.object = events_object(journal, EVENTS_FULL, 5);
        before = race.taken;
        assert_int_equal(enif_monitor_process(NULL, race.object, &its_pid, &race.object->monitor),
                         0);
        pthread_barrier_wait(&race.start);
        th_process_exit(short_lived, TH_AM(normal));
        pthread_barrier_wait(&race.start);
        const char *text = noted();
        down = times(text, "down");
        gone += times(text, "gone");
        if (i % 2)
            assert_int_equal(down, race.taken == before);
        else
            assert_order(down, <=, 1);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&race.start);
    assert_int_equal(gone, ROUNDS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(down_is_called_at_a_safe_point),
        TEST(each_monitor_of_a_process_calls_down),
        TEST(a_removed_monitor_does_not_call_down),
        TEST(a_monitor_needs_a_down_callback_and_a_live_process),
        TEST(monitors_are_removed_with_their_resource),
        TEST(down_is_not_called_for_a_released_resource),
        TEST(down_is_called_before_the_destructor),
        TEST(monitors_have_an_order_and_terms),
        TEST(a_monitor_is_either_removed_or_calls_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
