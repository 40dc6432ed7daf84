/* Tests environments: which memory they keep and free, and when. */
#include "host/term/term.h"

#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static th_env env;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

/* Takes WORDS words in pieces, and writes to all. */
static void fill(size_t words, size_t piece)
{
    for (; words >= piece; words -= piece)
        memset(th_env_take(&env, piece), 0xA5, piece * sizeof(th_term));
}

static void taken_words_do_not_overlap(void **state)
{
    enum { PIECES = 5000 };
    static th_term *pieces[PIECES];

    (void)state;
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = th_env_take(&env, 1 + i % 7);
        for (size_t k = 0; k < 1 + i % 7; k++)
            pieces[i][k] = i;
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < 1 + i % 7; k++)
            assert_int_equal(pieces[i][k], i);
}

static void clearing_keeps_the_largest_chunk(void **state)
{
    unsigned long allocations;

    (void)state;
    fill(30000, 3);
    th_env_clear(&env);
    assert_in_range(th_env_footprint(&env), 10000 * sizeof(th_term), 60000 * sizeof(th_term));
    allocations = th_alloc_count();
    for (int i = 0; i < 100; i++) {
        fill(9000, 3);
        th_env_clear(&env);
    }
    assert_int_equal(th_alloc_count(), allocations);
}

static void clearing_keeps_no_more_than_its_limit(void **state)
{
    (void)state;
    fill(1, 1);
    fill(3 * TH_ENV_KEEP / sizeof(th_term), 3 * TH_ENV_KEEP / sizeof(th_term));
    assert_order(th_env_footprint(&env), >, 3 * TH_ENV_KEEP);
    th_env_clear(&env);
    assert_order(th_env_footprint(&env), <=, TH_ENV_KEEP + 64);
    fill(100, 10);
}

static void clearing_forgets_exception_and_self(void **state)
{
    int library;

    (void)state;
    env.exception = TH_NIL;
    env.self = th_local_pid(1, 0);
    env.library = &library;
    env.thread = 2;
    th_env_clear(&env);
    assert_term_equal(env.exception, TH_NONE);
    assert_term_equal(env.self, TH_NONE);
    assert_ptr_equal(env.library, &library);
    assert_int_equal(env.thread, 2);
    assert_int_equal(env.kind, TH_ENV_PLAIN);
}

/* Objects outside of the heap, each of which notes its release. */
struct thing {
    struct th_offheap share;
    int number;
};

static int released[16];
static size_t releases;

static void note_release(struct th_offheap *self)
{
    released[releases++] = ((struct thing *)self)->number;
}

static void hold(int number)
{
    struct thing *thing = (struct thing *)th_env_take(&env, sizeof(struct thing) / sizeof(th_term));

    thing->number = number;
    th_env_hold(&env, &thing->share, note_release);
}

static void objects_outside_the_heap_are_released_once(void **state)
{
    (void)state;
    releases = 0;
    hold(1);
    hold(2);
    fill(5000, 10);
    hold(3);
    th_env_clear(&env);
    assert_int_equal(releases, 3);
    assert_int_equal(released[0], 3);
    assert_int_equal(released[1], 2);
    assert_int_equal(released[2], 1);
    hold(4);
    th_env_clear(&env);
    assert_int_equal(releases, 4);
    assert_int_equal(released[3], 4);
    hold(5);
    th_env_release(&env);
    assert_int_equal(releases, 5);
}

static void an_impossible_size_ends_the_program(void **state)
{
    int status;
    pid_t child;

    (void)state;
    child = fork();
    if (child == 0) {
        int quiet = dup(2);
        close(2);
        th_env_take(&env, SIZE_MAX / sizeof(th_term) + 2 - 64);
        dup2(quiet, 2);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), TH_FAILED);
}

static int frees;

static void note_free(struct th_binary *self, void *owner)
{
    assert_ptr_equal(owner, &frees);
    frees++;
    free(self);
}

static void a_binary_is_freed_with_its_last_share(void **state)
{
    unsigned char data[3] = "abc";
    struct th_binary *binary = th_binary_wrap(data, 3, &frees, note_free);

    (void)state;
    frees = 0;
    assert_ptr_equal(binary->data, data);
    assert_int_equal(binary->size, 3);
    th_binary_keep(binary);
    th_binary_release(binary);
    assert_int_equal(frees, 0);
    th_binary_release(binary);
    assert_int_equal(frees, 1);
}

static void a_created_binary_has_its_own_bytes(void **state)
{
    struct th_binary *binary = th_binary_create(1000);

    (void)state;
    memset(binary->data, 1, 1000);
    th_binary_release(binary);
    assert_null(th_binary_create(SIZE_MAX));
    assert_null(th_binary_create(SIZE_MAX - 8));
}

static void *share(void *binary)
{
    for (int i = 0; i < 20000; i++) {
        th_binary_keep(binary);
        ((volatile unsigned char *)((struct th_binary *)binary)->data)[0];
        th_binary_release(binary);
    }
    th_binary_release(binary);
    return NULL;
}

static void shares_are_counted_across_threads(void **state)
{
    enum { THREADS = 4 };
    unsigned char data[1] = {0};
    struct th_binary *binary = th_binary_wrap(data, 1, &frees, note_free);
    pthread_t threads[THREADS];

    (void)state;
    frees = 0;
    for (int i = 0; i < THREADS; i++) {
        th_binary_keep(binary);
        assert_int_equal(pthread_create(&threads[i], NULL, share, binary), 0);
    }
    th_binary_release(binary);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(frees, 1);
}

static void an_allocated_environment_is_freed(void **state)
{
    th_env *made = th_env_create(TH_ENV_MESSAGE);

    (void)state;
    assert_int_equal(made->kind, TH_ENV_MESSAGE);
    th_env_take(made, 100);
    th_env_free(made);
    th_env_free(NULL);
}

static void stretches_contain_the_words_in_use(void **state)
{
    struct th_env_stretch stretch;
    th_term *first = th_env_take(&env, 3), *large = th_env_take(&env, 4000);

    (void)state;
    assert_true(th_env_stretch(&env, first + 2, &stretch));
    assert_ptr_equal(stretch.begin, first);
    assert_true(th_env_stretch(&env, large + 3999, &stretch));
    assert_ptr_equal(stretch.begin, large);
    assert_ptr_equal(stretch.end, large + 4000);
    assert_false(th_env_stretch(&env, large + 4000, &stretch));
    assert_false(th_env_stretch(&env, &stretch, &stretch));
}

static void moving_leaves_an_empty_environment(void **state)
{
    struct th_env_stretch stretch;
    th_term *words = th_env_take(&env, 3);
    th_env *moved;

    (void)state;
    env.library = &env;
    env.exception = TH_NIL;
    moved = th_env_move(&env);
    assert_true(th_env_stretch(moved, words, &stretch));
    assert_false(th_env_stretch(&env, words, &stretch));
    assert_ptr_equal(env.library, &env);
    assert_term_equal(env.exception, TH_NONE);
    assert_ptr_not_equal(th_env_take(&env, 3), words);
    th_env_free(moved);
}

/* Numbers of the watch's callbacks. */
static unsigned got, gone, used;

static void hear_got(const th_env *of, struct th_env_stretch memory)
{
    (void)of;
    got += memory.end > memory.begin;
}

static void hear_freed(struct th_env_stretch memory)
{
    gone += memory.end > memory.begin;
}

static void hear_used(const th_env *retired)
{
    used += retired->kind == TH_ENV_RETIRED;
}

static void a_retired_environment_is_empty_and_watched(void **state)
{
    static const struct th_env_watch watch = {hear_got, hear_freed, hear_used};
    th_env *made = th_env_create(TH_ENV_CALLBACK);
    struct th_env_stretch stretch;
    th_term *words;

    (void)state;
    atomic_store_explicit(&th_env_watch, &watch, memory_order_release);
    frees = 0;
    words = th_env_take(made, 2);
    th_make_shared_binary(made, th_binary_wrap(NULL, 0, &frees, note_free), NULL, 0);
    th_binary_release((struct th_binary *)words[7]);
    assert_int_equal(got, 1);
    th_env_retire(made);
    assert_int_equal(frees, 1);
    assert_true(th_env_stretch(made, words, &stretch));
    assert_int_equal(used, 0);
    for (unsigned i = 1; i <= 3; i++) {
        th_env_take(made, 2)[1] = TH_NIL;
        assert_int_equal(used, i);
    }
    assert_int_equal(gone, 0);
    th_env_free(made);
    assert_int_equal(gone, got);
    atomic_store_explicit(&th_env_watch, NULL, memory_order_release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(taken_words_do_not_overlap, begin, end),
        cmocka_unit_test_setup_teardown(clearing_keeps_the_largest_chunk, begin, end),
        cmocka_unit_test_setup_teardown(clearing_keeps_no_more_than_its_limit, begin, end),
        cmocka_unit_test_setup_teardown(clearing_forgets_exception_and_self, begin, end),
        cmocka_unit_test_setup_teardown(objects_outside_the_heap_are_released_once, begin, end),
        cmocka_unit_test_setup_teardown(an_impossible_size_ends_the_program, begin, end),
        cmocka_unit_test(a_binary_is_freed_with_its_last_share),
        cmocka_unit_test(a_created_binary_has_its_own_bytes),
        cmocka_unit_test(shares_are_counted_across_threads),
        cmocka_unit_test(an_allocated_environment_is_freed),
        cmocka_unit_test_setup_teardown(stretches_contain_the_words_in_use, begin, end),
        cmocka_unit_test_setup_teardown(moving_leaves_an_empty_environment, begin, end),
        cmocka_unit_test(a_retired_environment_is_empty_and_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
