/* Tests the permission: one owner at a time, in order, without blocking a thread; and modifications
 * that continue by themselves or for which a thread waits. */
#include "host/code/code.h"
#include "host/base/base.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/dying.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct th_permission_request requests[3];
static int order[3], count;

static void note(struct th_permission_request *request)
{
    order[count++] = (int)(request - requests);
}

static void note_and_release(struct th_permission_request *request)
{
    note(request);
    th_code_permission_release();
}

static int begin(void **state)
{
    (void)state;
    count = 0;
    return 0;
}

static void a_free_permission_is_granted_at_once(void **state)
{
    (void)state;
    assert_true(th_code_permission_seize(&requests[0], note));
    assert_int_equal(count, 1);
    th_code_permission_release();
    assert_true(th_code_permission_seize(&requests[1], note_and_release));
    assert_int_equal(count, 2);
}

static void queued_requests_are_granted_in_order(void **state)
{
    (void)state;
    th_code_permission_seize(&requests[2], note);
    assert_false(th_code_permission_seize(&requests[0], note));
    assert_false(th_code_permission_seize(&requests[1], note_and_release));
    assert_int_equal(count, 1);
    th_code_permission_release(); /* passes to the first request, which keeps the permission */
    assert_int_equal(count, 2);
    assert_int_equal(order[1], 0);
    th_code_permission_release(); /* passes to the second, which does not */
    assert_int_equal(count, 3);
    assert_int_equal(order[2], 1);
}

enum { QUEUE = 200000 };

static size_t released;
static char *lowest, *highest; /* bounds of the stack in count_and_release() */

static void count_and_release(struct th_permission_request *request)
{
    char here;

    (void)request;
    lowest = lowest && lowest < &here ? lowest : &here;
    highest = highest > &here ? highest : &here;
    released++;
    th_code_permission_release();
}

static void a_long_queue_needs_no_stack(void **state)
{
    struct th_permission_request *queue = calloc(QUEUE, sizeof *queue);

    (void)state;
    th_code_permission_seize(&requests[0], note);
    for (size_t i = 0; i < QUEUE; i++)
        th_code_permission_seize(&queue[i], count_and_release);
    assert_int_equal(released, 0);
    th_code_permission_release();
    assert_int_equal(released, QUEUE);
    assert_order(highest - lowest, <, 4096);
    free(queue);
}

/* --- Many threads ----------------------------------------------------------------------------- */

enum { THREADS = 4, TIMES = 2000, WAYS = 3 };

static long guarded; /* not atomic: the permission guards this word */
static atomic_bool has_it;
static atomic_int outstanding;

/* An error shows in `guarded`, in `has_it`, or in a report of the thread sanitizer. */
static void use(void)
{
    if (atomic_exchange(&has_it, true))
        abort();
    guarded++;
    atomic_store(&has_it, false);
}

struct use {
    struct th_permission_request request; /* the first member */
    struct th_later later;
};

static void use_and_release(struct th_permission_request *request)
{
    use();
    th_code_permission_release();
    free(request);
    atomic_fetch_sub(&outstanding, 1);
}

static void finish_later(struct th_later *later)
{
    struct use *self = (struct use *)((char *)later - offsetof(struct use, later));

    use_and_release(&self->request);
}

static void use_later(struct th_permission_request *request)
{
    th_progress_later(&((struct use *)request)->later, finish_later);
}

static void *seize_in_all_ways(void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        struct use *continued = calloc(1, sizeof *continued);
        struct use *later = calloc(1, sizeof *later);
        atomic_fetch_add(&outstanding, 2);
        th_code_permission_seize(&continued->request, use_and_release);
        th_progress_enter();
        th_code_permission_seize(&later->request, i % 100 ? use_and_release : use_later);
        th_progress_leave();
        th_code_permission_wait();
        use();
        th_code_permission_release();
    }
    return NULL;
}

static void one_thread_at_a_time_holds_the_permission(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, seize_in_all_ways, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (atomic_load(&outstanding) > 0)
        th_progress_settle();
    assert_int_equal(guarded, THREADS * TIMES * WAYS);
}

/* --- Threads that may wait -------------------------------------------------------------------- */

static bool may_wait_when_granted;

static void ask_if_it_may_wait(struct th_permission_request *request)
{
    (void)request;
    may_wait_when_granted = th_code_permission_may_wait();
    th_code_permission_release();
}

static void waiting_is_forbidden_in_reader_sections_and_continuations(void **state)
{
    (void)state;
    assert_true(th_code_permission_may_wait());
    th_progress_enter();
    assert_false(th_code_permission_may_wait());
    th_progress_leave();
    may_wait_when_granted = true;
    th_code_permission_seize(&requests[0], ask_if_it_may_wait);
    assert_false(may_wait_when_granted);
    assert_true(th_code_permission_may_wait());
}

static void wait_in_a_section(void)
{
    th_progress_enter();
    th_code_permission_wait();
}

static void misuse_of_the_permission_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(wait_in_a_section, said, sizeof said);
    assert_non_null(strstr(said, "th_code_permission_wait() was called in a reader section"));
    die_of(th_code_permission_release, said, sizeof said);
    assert_non_null(strstr(said, "no thread has the permission"));
}

/* --- Modifications ---------------------------------------------------------------------------- */

struct counting {
    struct th_modification modification; /* the first member */
    unsigned waits, steps;
    pthread_t thread; /* thread of the last step */
    sem_t over;
};

static bool count_step(struct th_modification *self)
{
    struct counting *counting = (struct counting *)self;

    use();
    counting->thread = pthread_self();
    return counting->steps++ < counting->waits;
}

static void say_over(struct th_modification *self)
{
    sem_post(&((struct counting *)self)->over);
}

static void start_counting(struct counting *counting, unsigned waits)
{
    *counting = (struct counting){.waits = waits};
    counting->modification.step = count_step;
    counting->modification.done = say_over;
    sem_init(&counting->over, 0, 0);
}

static void a_caller_outside_sections_waits_for_its_modification(void **state)
{
    struct counting counting;

    (void)state;
    start_counting(&counting, 3);
    assert_true(th_code_modification_run(&counting.modification));
    assert_int_equal(sem_trywait(&counting.over), 0);
    assert_int_equal(counting.steps, 4);
    assert_int_equal(counting.modification.rounds, 3);
    assert_true(pthread_equal(counting.thread, pthread_self()));
}

static void a_modification_from_a_reader_section_continues_later(void **state)
{
    struct counting counting;

    (void)state;
    start_counting(&counting, 2);
    th_progress_enter(); /* as in a callback */
    assert_false(th_code_modification_run(&counting.modification));
    assert_int_equal(counting.steps, 1);
    th_progress_leave();
    sem_wait(&counting.over);
    assert_int_equal(counting.steps, 3);
    assert_int_equal(counting.modification.rounds, 2);
    assert_false(pthread_equal(counting.thread, pthread_self()));
}

static void a_modification_without_waits_completes_at_once(void **state)
{
    struct counting first, second;

    (void)state;
    start_counting(&first, 0);
    assert_true(th_code_modification_start(&first.modification));
    start_counting(&first, 0);
    start_counting(&second, 1);
    th_code_permission_seize(&requests[0], note);
    assert_false(th_code_modification_start(&first.modification));
    assert_false(th_code_modification_start(&second.modification));
    assert_int_equal(first.steps, 0);
    th_code_permission_release();
    assert_int_equal(sem_trywait(&first.over), 0);
    sem_wait(&second.over);
    assert_int_equal(second.steps, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_of_the_permission_aborts), /* forks, so runs first */
        cmocka_unit_test_setup(a_free_permission_is_granted_at_once, begin),
        cmocka_unit_test_setup(queued_requests_are_granted_in_order, begin),
        cmocka_unit_test_setup(a_long_queue_needs_no_stack, begin),
        cmocka_unit_test(one_thread_at_a_time_holds_the_permission),
        cmocka_unit_test(waiting_is_forbidden_in_reader_sections_and_continuations),
        cmocka_unit_test(a_caller_outside_sections_waits_for_its_modification),
        cmocka_unit_test(a_modification_from_a_reader_section_continues_later),
        cmocka_unit_test_setup(a_modification_without_waits_completes_at_once, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
