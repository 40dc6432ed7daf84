/* Tests grace periods: sections that delay them, sections that do not, and deferred work. */
#include "host/progress/progress.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { A_WHILE = 50 /* milliseconds; longer than a grace period without open sections */ };

static void sleep_ms(long milliseconds)
{
    struct timespec time = {.tv_nsec = milliseconds * 1000000};

    nanosleep(&time, NULL);
}

static void wait_until(const atomic_bool *flag)
{
    while (!atomic_load(flag))
        sleep_ms(1);
}

/* A thread that is in a section from begin_section() to end_section(). */
struct holder {
    pthread_t thread;
    atomic_bool inside, leave;
};

static void *hold(void *context)
{
    struct holder *holder = context;

    th_progress_enter();
    atomic_store(&holder->inside, true);
    wait_until(&holder->leave);
    th_progress_leave();
    return NULL;
}

static void begin_section(struct holder *holder)
{
    atomic_init(&holder->inside, false);
    atomic_init(&holder->leave, false);
    pthread_create(&holder->thread, NULL, hold, holder);
    wait_until(&holder->inside);
}

static void end_section(struct holder *holder)
{
    atomic_store(&holder->leave, true);
    pthread_join(holder->thread, NULL);
}

/* A thread that waits for a grace period. */
struct waiter {
    pthread_t thread;
    atomic_bool done;
};

static void *wait_for_progress(void *context)
{
    struct waiter *waiter = context;

    th_progress_wait();
    atomic_store(&waiter->done, true);
    return NULL;
}

static void begin_waiting(struct waiter *waiter)
{
    atomic_init(&waiter->done, false);
    pthread_create(&waiter->thread, NULL, wait_for_progress, waiter);
    sleep_ms(A_WHILE);
}

static void reader_sections_may_be_nested(void **state)
{
    (void)state;
    assert_false(th_progress_inside());
    th_progress_enter();
    th_progress_enter();
    th_progress_leave();
    assert_true(th_progress_inside());
    th_progress_leave();
    assert_false(th_progress_inside());
}

static void a_grace_period_passes_without_open_sections(void **state)
{
    (void)state;
    th_progress_enter();
    th_progress_leave();
    for (int i = 0; i < 10; i++)
        th_progress_wait();
}

static void a_grace_period_waits_for_an_open_section(void **state)
{
    struct holder holder;
    struct waiter waiter;

    (void)state;
    begin_section(&holder);
    begin_waiting(&waiter);
    assert_false(atomic_load(&waiter.done));
    end_section(&holder);
    pthread_join(waiter.thread, NULL);
    assert_true(atomic_load(&waiter.done));
}

static void *nest(void *context)
{
    struct holder *holder = context;

    th_progress_enter();
    th_progress_enter();
    th_progress_leave();
    atomic_store(&holder->inside, true);
    wait_until(&holder->leave);
    th_progress_leave();
    return NULL;
}

static void a_grace_period_waits_for_the_outermost_section(void **state)
{
    struct holder holder = {0};
    struct waiter waiter;

    (void)state;
    pthread_create(&holder.thread, NULL, nest, &holder);
    wait_until(&holder.inside);
    begin_waiting(&waiter);
    assert_false(atomic_load(&waiter.done));
    end_section(&holder);
    pthread_join(waiter.thread, NULL);
}

/* True if the waiter finished while a section that began after the wait was still open. */
static bool passes_a_later_section(void)
{
    struct holder early, late;
    struct waiter waiter;
    bool passed = false;

    begin_section(&early);
    begin_waiting(&waiter);
    begin_section(&late);
    atomic_store(&early.leave, true);
    for (int i = 0; i < 1000 && !passed; i++) {
        sleep_ms(1);
        passed = atomic_load(&waiter.done);
    }
    end_section(&late);
    pthread_join(early.thread, NULL);
    pthread_join(waiter.thread, NULL);
    return passed;
}

/* On a busy machine the waiter may start too late, but not each time. */
static void a_grace_period_does_not_wait_for_later_sections(void **state)
{
    bool passed = false;

    (void)state;
    for (int i = 0; i < 5 && !passed; i++)
        passed = passes_a_later_section();
    assert_true(passed);
}

/* --- Deferred work ---------------------------------------------------------------------------- */

enum { WORKS = 1000 };

struct work {
    struct th_later later; /* the first member */
    int number, again;
};

static struct {
    int numbers[WORKS]; /* in the order of execution */
    atomic_int count;
    pthread_t thread;
} done; /* written by the thread that does the work, read after th_progress_settle() */

static void note_work(struct th_later *self)
{
    struct work *work = (struct work *)self;
    int count = atomic_load(&done.count);

    th_progress_enter(); /* as any thread may */
    th_progress_leave();
    done.numbers[count] = work->number;
    done.thread = pthread_self();
    atomic_store(&done.count, count + 1);
    if (work->again-- > 0)
        th_progress_later(self, note_work);
    else
        free(work);
}

static void hand_in(int number, int again)
{
    struct work *work = malloc(sizeof *work);

    *work = (struct work){.number = number, .again = again};
    th_progress_later(&work->later, note_work);
}

static int begin(void **state)
{
    (void)state;
    atomic_store(&done.count, 0);
    return 0;
}

static void deferred_work_runs_in_order_in_another_thread(void **state)
{
    (void)state;
    for (int i = 0; i < WORKS; i++)
        hand_in(i, 0);
    th_progress_settle();
    assert_int_equal(atomic_load(&done.count), WORKS);
    for (int i = 0; i < WORKS; i++)
        assert_int_equal(done.numbers[i], i);
    assert_false(pthread_equal(done.thread, pthread_self()));
}

static void deferred_work_waits_for_open_sections(void **state)
{
    struct holder holder;

    (void)state;
    begin_section(&holder);
    hand_in(1, 0);
    sleep_ms(A_WHILE);
    assert_int_equal(atomic_load(&done.count), 0);
    end_section(&holder);
    th_progress_settle();
    assert_int_equal(atomic_load(&done.count), 1);
}

static void deferred_work_may_be_added_inside_a_section(void **state)
{
    (void)state;
    th_progress_enter();
    hand_in(1, 0);
    sleep_ms(A_WHILE);
    assert_int_equal(atomic_load(&done.count), 0);
    th_progress_leave();
    th_progress_settle();
    assert_int_equal(atomic_load(&done.count), 1);
}

static void deferred_work_may_add_itself_again(void **state)
{
    (void)state;
    hand_in(1, 3);
    for (int i = 0; i < 4; i++)
        th_progress_settle(); /* each waits for work that the previous one has added */
    assert_int_equal(atomic_load(&done.count), 4);
}

/* --- Threads --------------------------------------------------------------------------------- */

enum { GENERATIONS = 50, THREADS = 4 };

static pthread_key_t last_words;

/* Runs when the thread ends, possibly after the thread was unregistered. */
static void enter_once_more(void *value)
{
    (void)value;
    th_progress_enter();
    th_progress_leave();
}

static void *live_shortly(void *unused)
{
    (void)unused;
    pthread_setspecific(last_words, &last_words);
    th_progress_enter();
    th_progress_leave();
    return NULL;
}

/* A thread that stayed in the list of threads would leave freed memory there. */
static void ended_threads_are_unregistered(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    pthread_key_create(&last_words, enter_once_more);
    for (int i = 0; i < GENERATIONS; i++) {
        for (int k = 0; k < THREADS; k++)
            pthread_create(&threads[k], NULL, live_shortly, NULL);
        th_progress_wait();
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
        th_progress_wait();
    }
    pthread_key_delete(last_words);
}

/* --- Replacing data of readers ---------------------------------------------------------------- */

enum { REPLACEMENTS = 3000, FACTOR = 7, POISON = -1 };

/* Plain fields, which sanitizers check. `b` is FACTOR times `a` while the thing is reachable. */
struct thing {
    struct th_later later; /* the first member */
    long a, b;
};

static struct thing *_Atomic shared; /* release: the thing is complete; acquire */
static atomic_bool over;

static struct thing *new_thing(long a)
{
    struct thing *thing = malloc(sizeof *thing);

    thing->a = a;
    thing->b = FACTOR * a;
    return thing;
}

static void free_thing(struct th_later *self)
{
    struct thing *thing = (struct thing *)self;

    thing->a = thing->b = POISON;
    free(thing);
}

static void *read_all_along(void *unused)
{
    size_t wrong = 0;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct thing *thing;

        th_progress_enter();
        thing = atomic_load_explicit(&shared, memory_order_acquire);
        wrong += thing->b != FACTOR * thing->a;
        th_progress_enter();
        wrong += thing->b != FACTOR * thing->a;
        th_progress_leave();
        wrong += thing->b != FACTOR * thing->a;
        th_progress_leave();
    }
    return (void *)wrong;
}

static size_t count_wrong(void (*replace)(void))
{
    pthread_t threads[THREADS];
    size_t wrong = 0;

    atomic_store(&over, false);
    atomic_store(&shared, new_thing(0));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_all_along, NULL);
    replace();
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += (size_t)result;
    }
    th_progress_settle();
    free(atomic_load(&shared));
    return wrong;
}

static struct thing *replace(long a)
{
    return atomic_exchange_explicit(&shared, new_thing(a), memory_order_acq_rel);
}

static void free_later(void)
{
    for (long i = 0; i < REPLACEMENTS; i++)
        th_progress_later(&replace(i)->later, free_thing);
}

static void free_after_waiting(void)
{
    for (long i = 0; i < REPLACEMENTS / 30; i++) {
        struct thing *old = replace(i);
        th_progress_wait();
        free_thing(&old->later);
    }
}

static void readers_never_see_data_freed_by_deferred_work(void **state)
{
    (void)state;
    assert_int_equal(count_wrong(free_later), 0);
}

static void readers_never_see_data_freed_after_a_grace_period(void **state)
{
    (void)state;
    assert_int_equal(count_wrong(free_after_waiting), 0);
}

/* --- Waiting for itself ----------------------------------------------------------------------- */

/* Calls CALL in a section in a child process, which must abort. SAID gets the child's stderr. */
static void die_of(void (*call)(void), char *said, size_t size)
{
    int ends[2], status;
    FILE *from_child;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        th_progress_enter();
        call();
        _exit(0);
    }
    close(ends[1]);
    from_child = fdopen(ends[0], "r");
    assert_non_null(fgets(said, (int)size, from_child));
    fclose(from_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void waiting_inside_a_section_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(th_progress_wait, said, sizeof said);
    assert_non_null(strstr(said, "th_progress_wait() in a read section"));
    die_of(th_progress_settle, said, sizeof said);
    assert_non_null(strstr(said, "th_progress_settle() in a read section"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_inside_a_section_aborts), /* first: forks, needs a single thread */
        cmocka_unit_test(reader_sections_may_be_nested),
        cmocka_unit_test(a_grace_period_passes_without_open_sections),
        cmocka_unit_test(a_grace_period_waits_for_an_open_section),
        cmocka_unit_test(a_grace_period_waits_for_the_outermost_section),
        cmocka_unit_test(a_grace_period_does_not_wait_for_later_sections),
        cmocka_unit_test_setup(deferred_work_runs_in_order_in_another_thread, begin),
        cmocka_unit_test_setup(deferred_work_waits_for_open_sections, begin),
        cmocka_unit_test_setup(deferred_work_may_be_added_inside_a_section, begin),
        cmocka_unit_test_setup(deferred_work_may_add_itself_again, begin),
        cmocka_unit_test(ended_threads_are_unregistered),
        cmocka_unit_test(readers_never_see_data_freed_by_deferred_work),
        cmocka_unit_test(readers_never_see_data_freed_after_a_grace_period),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
