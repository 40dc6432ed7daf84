/* Work to do later: its order, by several threads and by work itself, and what a section holds up.
 */
#include "host/progress/progress.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, WORKS = 2000 /* of each thread */ };

struct work {
    struct th_later later; /* the first member */
    int thread, number;
};

/* Written by the worker, read after th_progress_settle(). */
static struct {
    int next[THREADS]; /* the number that is due */
    int wrong;         /* works that were not due */
} done;

static void note_turn(struct th_later *later)
{
    struct work *work = (struct work *)later;

    done.wrong += work->number != done.next[work->thread];
    done.next[work->thread] = work->number + 1;
    free(work);
}

/* Each third in a section, each seventh in two. */
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

static void each_threads_order_is_kept(void **state)
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

/* --- Work that hands in ----------------------------------------------------------------------- */

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

/* However what is handed in falls into batches: who has had its turn is behind all others. */
static void who_hands_itself_in_again_is_the_last(void **state)
{
    struct player players[PLAYERS];

    (void)state;
    th_progress_enter();
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){.name = (char)('a' + i), .turns = TURNS};
        th_progress_later(&players[i].later, take_turn);
    }
    assert_int_equal(turn, 0); /* none is due before this section ends */
    th_progress_leave();
    for (int i = 0; i < TURNS; i++)
        th_progress_settle();
    assert_string_equal(turns, "abcdeabcdeabcde");
}

/* --- What a section holds up ------------------------------------------------------------------ */

static atomic_bool ran;

static void note_run(struct th_later *later)
{
    (void)later;
    atomic_store(&ran, true);
}

/* The worker sleeps meanwhile: sections inside of ours end, and are none that it waits for; the end
 * of ours wakes it. */
static void sections_inside_of_one_let_nothing_pass(void **state)
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

/* Nobody is in a section: then it takes no settling, nor anybody's help. */
static void work_is_done_by_itself(void **state)
{
    struct th_later work;

    (void)state;
    for (int round = 0; round < 50; round++) {
        atomic_store(&ran, false);
        th_progress_later(&work, note_run);
        while (!atomic_load(&ran))
            ; /* for ever, if a wake-up is lost */
    }
    th_progress_settle(); /* it has let go of `work` */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_threads_order_is_kept),
        cmocka_unit_test(who_hands_itself_in_again_is_the_last),
        cmocka_unit_test(sections_inside_of_one_let_nothing_pass),
        cmocka_unit_test(work_is_done_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
