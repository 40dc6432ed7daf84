/* Tests the contract of allocation, its counters, and the end of the program without memory. */
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/skipping.h"
#include "tests/support/starved.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void memory_is_aligned_and_writable(void **state)
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
        memset(memory, 0xFF, sizeof zeros); /* a later round may get this piece */
        th_free(memory);
    }
    th_free(th_alloc_zero(0));
}

static void realloc_accepts_null_and_keeps_the_content(void **state)
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

static void strdup_copies_and_printf_formats_a_text(void **state)
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

static void freeing_null_does_nothing(void **state)
{
    (void)state;
    th_free(NULL);
}

static void allocations_are_counted_and_frees_are_not(void **state)
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

static void a_thread_counts_its_own_allocations_and_frees_any_memory(void **state)
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

static void allocate_too_much(void)
{
    volatile size_t too_much = PTRDIFF_MAX / 2;

    th_free(th_alloc(too_much));
}

/* Runs END in a child process. Returns the exit status; SAID gets the child's output. */
static int run_out(void (*end)(void), char *said, size_t size)
{
    int pipe_ends[2];
    int status;
    size_t length = 0;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(pipe_ends), 0);
    child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        end();
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

static void out_of_memory_is_reported_and_ends_the_program(void **state)
{
    char said[16384]; /* room for messages of the sanitizers */

    (void)state;
    assert_int_equal(run_out(allocate_too_much, said, sizeof said), TH_FAILED);
    assert_non_null(strstr(said, "tracehost: out of memory (4611686018427387903 bytes wanted)\n"));
}

enum { THREADS = 8 };
static pthread_barrier_t all_there;

static void *give_up(void *context)
{
    (void)context;
    pthread_barrier_wait(&all_there);
    th_give_up("out of thread-specific keys");
}

static void give_up_at_once(void)
{
    pthread_t thread;

    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, give_up, NULL);
    give_up(NULL);
}

static void concurrent_fatal_errors_are_reported_once(void **state)
{
    char said[16384];

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip_because("the sanitizer starts no threads in a child");
#endif
    for (int i = 0; i < 50; i++) {
        assert_int_equal(run_out(give_up_at_once, said, sizeof said), TH_FAILED);
        assert_string_equal(said, "tracehost: out of thread-specific keys\n");
    }
}

static void give_up_again(void)
{
    th_give_up("and no memory");
}

static void give_up_twice(void)
{
    atexit(give_up_again);
    th_give_up("no memory");
}

static void a_fatal_error_in_an_atexit_function_is_reported(void **state)
{
    char said[16384];

    (void)state;
    assert_int_equal(run_out(give_up_twice, said, sizeof said), TH_FAILED);
    assert_string_equal(said, "tracehost: no memory\ntracehost: and no memory\n");
}

/* --- A library's reserve --- */

enum { PIECES = 100, PIECE = TH_MEMORY_RESERVE / 2 / PIECES };

/* Small pieces come from the reserve, keep their content and return to the reserve. */
static bool pieces_come_from_the_reserve(void)
{
    char *pieces[PIECES];
    bool right = !th_memory_is_short();

    for (int i = 0; i < PIECES; i++) {
        pieces[i] = th_printf("%d", i);
        pieces[i] = th_realloc(pieces[i], PIECE);
        right &= (uintptr_t)pieces[i] % 16 == 0;
    }
    right &= th_memory_is_short();
    for (int i = 0; i < PIECES; i++)
        right &= atoi(pieces[i]) == i;
    for (int i = 0; i < PIECES; i += 2)
        th_free(pieces[i]);
    right &= !th_memory_is_short();
    for (int i = 1; i < PIECES; i += 2)
        th_free(pieces[i]);
    pieces[0] = th_alloc_zero(TH_MEMORY_RESERVE - 4096); /* all of the reserve is one piece again */
    right &= pieces[0][0] == 0 && pieces[0][TH_MEMORY_RESERVE - 4097] == 0;
    th_free(pieces[0]);
    return right && !th_memory_refused;
}

static bool what_is_read_does_not(void)
{
    struct th_buffer buffer = {.may_fail = true};
    bool right = true;

    right &= !th_try_alloc(1) && th_error_status() == TH_FAILED && th_memory_refused;
    right &= !th_try_realloc(NULL, 0, 1) && !th_may_realloc(NULL, 1) && !th_buffer_try(&buffer, 1);
    th_buffer_add_text(&buffer, "lost");
    right &= buffer.failed && th_memory_budget.left == SIZE_MAX;
    th_buffer_free(&buffer);
    return right;
}

static bool more_than_the_reserve_ends_the_program(void)
{
    th_free(th_alloc(TH_MEMORY_RESERVE));
    return false;
}

static void give_up_without_reserve(void)
{
    th_memory_last();
    holds_without_memory(more_than_the_reserve_ends_the_program);
}

static void a_library_uses_its_reserve_when_memory_runs_out(void **state)
{
    (void)state;
    assert_true(th_memory_last());
    assert_true(holds_without_memory(pieces_come_from_the_reserve));
    assert_true(holds_without_memory(what_is_read_does_not));
}

static void an_allocation_beyond_the_reserve_ends_the_program(void **state)
{
    char said[16384];

    (void)state;
#if defined(TH_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
    skip_because("the sanitizer has an allocator of its own");
#endif
    if (emulated())
        skip_because("the emulator does not limit the memory of a program");
    run_out(give_up_without_reserve, said, sizeof said);
    assert_string_equal(said, "tracehost: out of memory (33554432 bytes wanted)\n");
}

static void allocations_use_a_budget_and_frees_return_it(void **state)
{
    void *memory;

    (void)state;
    th_memory_begin(100);
    memory = th_try_alloc(60);
    assert_non_null(memory);
    assert_null(th_try_alloc(41));
    assert_int_equal(th_error_status(), TH_MALFORMED);
    assert_null(th_try_realloc(memory, 60, 101));
    memory = th_try_realloc(memory, 60, 100);
    assert_int_equal(th_memory_budget.left, 0);
    th_try_free(memory, 100);
    th_memory_give(1);
    assert_int_equal(th_memory_budget.left, 100);
    th_memory_begin(SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_writable),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(realloc_accepts_null_and_keeps_the_content),
        cmocka_unit_test(strdup_copies_and_printf_formats_a_text),
        cmocka_unit_test(freeing_null_does_nothing),
        cmocka_unit_test(allocations_are_counted_and_frees_are_not),
        cmocka_unit_test(a_thread_counts_its_own_allocations_and_frees_any_memory),
        cmocka_unit_test(out_of_memory_is_reported_and_ends_the_program),
        cmocka_unit_test(concurrent_fatal_errors_are_reported_once),
        cmocka_unit_test(a_fatal_error_in_an_atexit_function_is_reported),
        cmocka_unit_test(a_library_uses_its_reserve_when_memory_runs_out),
        cmocka_unit_test(an_allocation_beyond_the_reserve_ends_the_program),
        cmocka_unit_test(allocations_use_a_budget_and_frees_return_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
