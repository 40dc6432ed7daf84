/* Memory: what allocation promises, what it counts, how it ends when there is none. */
#include "host/base/base.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void memory_is_aligned_and_may_be_written(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        unsigned char *memory = th_alloc(size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, 0xAA, size);
        th_free(memory);
    }
}

static void zeroed_memory_is_zero(void **state)
{
    static const unsigned char zeros[4096];

    (void)state;
    for (int round = 0; round < 20; round++) {
        unsigned char *memory = th_alloc_zero(sizeof zeros);
        assert_memory_equal(memory, zeros, sizeof zeros);
        memset(memory, 0xFF, sizeof zeros); /* what the next round may get */
        th_free(memory);
    }
    th_free(th_alloc_zero(0));
}

static void realloc_starts_from_null_and_keeps_the_content(void **state)
{
    char *memory = th_realloc(NULL, 4);

    (void)state;
    memcpy(memory, "abc", 4);
    memory = th_realloc(memory, 100000);
    assert_string_equal(memory, "abc");
    memory = th_realloc(memory, 2);
    assert_memory_equal(memory, "ab", 2);
    th_free(memory);
}

static void texts_are_copied_and_made(void **state)
{
    char original[] = "name";
    char *copy = th_strdup(original);
    char *made = th_printf("%s/%d", original, 3);
    char *empty = th_printf("%s", "");

    (void)state;
    original[0] = 'X';
    assert_string_equal(copy, "name");
    assert_string_equal(made, "name/3");
    assert_string_equal(empty, "");
    th_free(copy);
    th_free(made);
    th_free(empty);
}

static void null_may_be_freed(void **state)
{
    (void)state;
    th_free(NULL);
}

static void each_allocation_counts_once_and_freeing_never(void **state)
{
    unsigned long before = th_alloc_count();
    void *a = th_alloc(1);
    void *b = th_alloc_zero(1);

    (void)state;
    a = th_realloc(a, 2);
    assert_int_equal(th_alloc_count() - before, 3);
    th_free(a);
    th_free(b);
    assert_int_equal(th_alloc_count() - before, 3);
}

static void *allocate_elsewhere(void *unused)
{
    (void)unused;
    return th_alloc(10);
}

static void each_thread_counts_its_own_and_may_free_any(void **state)
{
    unsigned long before = th_alloc_count();
    void *memory = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
    pthread_join(thread, &memory);
    assert_int_equal(th_alloc_count(), before);
    th_free(memory);
}

/* Allocates far more than there can be, in a child; returns its exit status and what it said. */
static int run_out(char *said, size_t size)
{
    volatile size_t too_much = PTRDIFF_MAX / 2;
    int pipe_ends[2];
    int status;
    size_t length = 0;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(pipe_ends), 0);
    child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        th_free(th_alloc(too_much));
        _exit(99);
    }
    close(pipe_ends[1]);
    while ((got = read(pipe_ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = 0;
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void running_out_is_said_and_ends_the_program(void **state)
{
    char said[16384]; /* the sanitizers talk, too */

    (void)state;
    assert_int_equal(run_out(said, sizeof said), TH_FAILED);
    assert_non_null(strstr(said, "tracehost: out of memory (4611686018427387903 bytes wanted)\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_may_be_written),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(realloc_starts_from_null_and_keeps_the_content),
        cmocka_unit_test(texts_are_copied_and_made),
        cmocka_unit_test(null_may_be_freed),
        cmocka_unit_test(each_allocation_counts_once_and_freeing_never),
        cmocka_unit_test(each_thread_counts_its_own_and_may_free_any),
        cmocka_unit_test(running_out_is_said_and_ends_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
