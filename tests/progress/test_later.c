/* Tests deferred work: its order, work added by several threads and by work itself, and delays by
 * reader sections. */
#include "host/progress/progress.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, WORKS = 2000 /* of each thread */ };

struct work {
    struct th_later later; /* the first member */
    int thread, number;
};

/* Written by the worker; read after th_progress_settle(). */
static struct {
    int next[THREADS]; /* the next number in order */
    int wrong;         /* works out of order */
} done;

static void note_turn(struct th_later *later)
{
    struct work *work = (struct work *)later;

    done.wrong += work->number != done.next[work->thread];
    done.next[work->thread] = work->number + 1;
    free(work);
}

/* Adds each third work in a section, each seventh in two. */
static void *hand_in_all(void *thread)
{
    for (int i = 0; i < WORKS; i++) {
        struct work *work = malloc(sizeof *work);
        int sections = (i % 3 == 0) + (i % 7 == 0);

        *work = (struct work){.thread = *(int *)thread, .number = i};
        for (int k = 0; k < sections; k++)
            th_progress_enter();
        th_progress_later(&work->later, note_turn);
        for (int k = 0; k < sections; k++)
            th_progress_leave();
    }
    return NULL;
}

static void work_of_each_thread_runs_in_order(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, hand_in_all, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    th_progress_settle();
    assert_int_equal(done.wrong, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(done.next[i], WORKS);
}

/* --- Work that adds work ---------------------------------------------------------------------- */

enum { TURNS = 3, PLAYERS = 5 };

struct player {
    struct th_later later; /* the first member */
    char name;
    int turns;
};

static char turns[TURNS * PLAYERS + 1];
static size_t turn;

static void take_turn(struct th_later *later)
{
    struct player *player = (struct player *)later;

    turns[turn++] = player->name;
    if (--player->turns > 0)
        th_progress_later(later, take_turn);
}

/* Batches of work do not matter for this order. */
static void work_that_adds_itself_again_runs_last(void **state)
{
    struct player players[PLAYERS];

    (void)state;
    th_progress_enter();
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){.name = (char)('a' + i), .turns = TURNS};
        th_progress_later(&players[i].later, take_turn);
    }
    assert_int_equal(turn, 0); /* no work runs before this section ends */
    th_progress_leave();
    for (int i = 0; i < TURNS; i++)
        th_progress_settle();
    assert_string_equal(turns, "abcdeabcdeabcde");
}

/* --- Work delayed by a section ---------------------------------------------------------------- */

static atomic_bool ran;

static void note_run(struct th_later *later)
{
    (void)later;
    atomic_store(&ran, true);
}

/* The worker sleeps meanwhile: the ends of nested sections do not wake the worker, the end of the
 * outermost section does. */
static void nested_sections_do_not_release_deferred_work(void **state)
{
    struct th_later work;

    (void)state;
    th_progress_enter();
    th_progress_later(&work, note_run);
    for (int i = 0; i < 1000; i++) {
        th_progress_enter();
        th_progress_leave();
        usleep(i % 100 ? 0 : 1000);
        assert_true(th_progress_inside());
        assert_false(atomic_load(&ran));
    }
    th_progress_leave();
    th_progress_settle();
    assert_true(atomic_load(&ran));
}

/* Without open sections, work is done without th_progress_settle() and without other threads. */
static void deferred_work_runs_without_a_settle_call(void **state)
{
    struct th_later work;

    (void)state;
    for (int round = 0; round < 50; round++) {
        atomic_store(&ran, false);
        th_progress_later(&work, note_run);
        while (!atomic_load(&ran))
            ; /* runs for ever if a wake-up is lost */
    }
    th_progress_settle(); /* the worker has released `work` */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_each_thread_runs_in_order),
        cmocka_unit_test(work_that_adds_itself_again_runs_last),
        cmocka_unit_test(nested_sections_do_not_release_deferred_work),
        cmocka_unit_test(deferred_work_runs_without_a_settle_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
