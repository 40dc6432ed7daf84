/* Tests threads that libraries create. */
#include "host/nif/nif.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ErlNifTid create(char *name, void *(*function)(void *), void *argument, int stack)
{
    ErlNifThreadOpts *opts = enif_thread_opts_create("options");
    ErlNifTid tid = NULL;

    assert_int_equal(opts->suggested_stack_size, -1);
    opts->suggested_stack_size = stack;
    assert_int_equal(enif_thread_create(name, &tid, function, argument, opts), 0);
    enif_thread_opts_destroy(opts);
    return tid;
}

static void *join(ErlNifTid tid)
{
    void *result = NULL;

    assert_int_equal(enif_thread_join(tid, &result), 0);
    return result;
}

static void *add_one(void *number)
{
    ++*(int *)number;
    return number;
}

static void a_thread_runs_and_is_joined(void **state)
{
    ErlNifTid tid;
    int number = 1;

    (void)state;
    assert_ptr_equal(join(create("adder", add_one, &number, -1)), &number);
    assert_int_equal(number, 2);
    assert_int_equal(enif_thread_create("adder", &tid, add_one, &number, NULL), 0);
    assert_int_equal(enif_thread_join(tid, NULL), 0);
    assert_int_equal(number, 3);
}

/* Keeps the compiler from removing the code after a call as unreachable. */
static volatile int deepest = 10;

static __attribute__((noinline)) int exit_deeply(int depth, void *result)
{
    if (depth == deepest)
        enif_thread_exit(result);
    return depth > deepest ? 0 : exit_deeply(depth + 1, result) + 1;
}

static void *exit_early(void *result)
{
    exit_deeply(0, result);
    return NULL;
}

static void a_thread_may_exit_in_a_nested_call(void **state)
{
    int result;

    (void)state;
    assert_ptr_equal(join(create(NULL, exit_early, &result, -1)), &result);
}

/* --- Identity --------------------------------------------------------------------------------- */

struct seen {
    ErlNifTid *tid; /* the place in which the creator gets the identity */
    bool is_self, is_equal, is_creator;
    ErlNifTid creator;
    char name[64], shown[16];
    size_t stack;
    sigset_t blocked;
};

static void *look(void *argument)
{
    struct seen *seen = argument;
    pthread_attr_t attributes;

    seen->is_self = *seen->tid == enif_thread_self();
    seen->is_equal = enif_equal_tids(*seen->tid, enif_thread_self());
    seen->is_creator = enif_equal_tids(seen->creator, enif_thread_self());
    snprintf(seen->name, sizeof seen->name, "%s", enif_thread_name(enif_thread_self()));
    pthread_getname_np(pthread_self(), seen->shown, sizeof seen->shown);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &seen->stack);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
    return NULL;
}

static struct seen look_from(char *name, int stack)
{
    ErlNifThreadOpts opts = {.suggested_stack_size = stack};
    struct seen seen = {.creator = enif_thread_self()};
    ErlNifTid tid;

    seen.tid = &tid;
    assert_int_equal(enif_thread_create(name, &tid, look, &seen, &opts), 0);
    join(tid);
    return seen;
}

static void a_thread_knows_its_identity_and_name(void **state)
{
    struct seen seen = look_from("the_name_of_the_thread", -1);

    (void)state;
    assert_true(seen.is_self && seen.is_equal);
    assert_false(seen.is_creator);
    assert_string_equal(seen.name, "the_name_of_the_thread");
    assert_string_equal(seen.shown, "the_name_of_the");
    seen = look_from(NULL, -1);
    assert_string_equal(seen.name, "unknown");
}

static void stack_sizes_are_in_kilowords(void **state)
{
    size_t usual = look_from(NULL, -1).stack;

    (void)state;
    assert_in_range(look_from(NULL, 64).stack, 64 * 8192, 64 * 8192 + (1 << 20));
    assert_in_range(look_from(NULL, 0).stack, 8 * 8192, 8 * 8192 + (1 << 20));
    assert_in_range(look_from(NULL, 1 << 30).stack, 64 << 20, 65 << 20);
    assert_int_equal(look_from(NULL, -5).stack, usual);
}

static void threads_of_a_library_block_asynchronous_signals(void **state)
{
    struct seen seen = look_from(NULL, -1);
    sigset_t own;

    (void)state;
    assert_true(sigismember(&seen.blocked, SIGINT));
    assert_true(sigismember(&seen.blocked, SIGALRM));
    assert_false(sigismember(&seen.blocked, SIGSEGV));
    pthread_sigmask(SIG_SETMASK, NULL, &own);
    assert_false(sigismember(&own, SIGINT));
}

static void *self_of(void *tid)
{
    *(ErlNifTid *)tid = enif_thread_self();
    return enif_equal_tids(*(ErlNifTid *)tid, enif_thread_self()) &&
                   strcmp(enif_thread_name(enif_thread_self()), "unknown") == 0
               ? tid
               : NULL;
}

/* Identities of a thread that the program created, and of the thread that runs tests. */
static void every_thread_has_an_identity(void **state)
{
    ErlNifTid tid;
    pthread_t thread;
    void *good;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, self_of, &tid), 0);
    pthread_join(thread, &good);
    assert_ptr_equal(good, &tid);
    assert_non_null(self_of(&tid));
    assert_false(enif_equal_tids(NULL, enif_thread_self()));
    assert_null(enif_thread_name(NULL));
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void *join_itself(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)enif_thread_join(enif_thread_self(), NULL);
}

static void a_thread_cannot_join_itself_or_an_unknown_thread(void **state)
{
    void *untouched = state;

    (void)state;
    assert_int_equal(enif_thread_join(enif_thread_self(), &untouched), EINVAL);
    assert_int_equal(enif_thread_join(NULL, &untouched), EINVAL);
    assert_ptr_equal(untouched, state);
    assert_int_equal((intptr_t)join(create(NULL, join_itself, NULL, -1)), EDEADLK);
}

static void thread_creation_without_function_or_tid_fails(void **state)
{
    ErlNifTid tid;

    (void)state;
    assert_int_equal(enif_thread_create("x", NULL, add_one, NULL, NULL), EINVAL);
    assert_int_equal(enif_thread_create("x", &tid, NULL, NULL, NULL), EINVAL);
    enif_thread_opts_destroy(NULL);
}

/* Returns whether a thread of this process is shown as NAME. */
static bool is_shown(const char *name)
{
    bool found = false;
    glob_t tasks;

    assert_int_equal(glob("/proc/self/task/*/comm", 0, NULL, &tasks), 0);
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        char shown[32] = "";
        FILE *file = fopen(tasks.gl_pathv[i], "r");
        if (!file)
            continue; /* it has ended */
        if (fgets(shown, sizeof shown, file))
            shown[strcspn(shown, "\n")] = 0;
        found |= strcmp(shown, name) == 0;
        fclose(file);
    }
    globfree(&tasks);
    return found;
}

static void *wait_for(void *end)
{
    while (sem_wait(end) != 0)
        ;
    return end;
}

/* On one processor, a thread that nobody waits for begins late. */
static void creation_returns_when_the_thread_has_begun(void **state)
{
    cpu_set_t before, one;
    sem_t end;

    (void)state;
    sem_init(&end, 0, 0);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < 100; i++) {
        ErlNifTid tid = create("has_begun", wait_for, &end, -1);
        bool shown = is_shown("has_begun");
        sem_post(&end);
        assert_ptr_equal(join(tid), &end);
        assert_true(shown);
    }
    sched_setaffinity(0, sizeof before, &before);
}

/* In a thread of the program, the call ends the program, as it cannot return an error. */
static void thread_exit_in_a_thread_of_the_program_aborts(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        fclose(stderr);
        enif_thread_exit(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_runs_and_is_joined),
        cmocka_unit_test(a_thread_may_exit_in_a_nested_call),
        cmocka_unit_test(a_thread_knows_its_identity_and_name),
        cmocka_unit_test(stack_sizes_are_in_kilowords),
        cmocka_unit_test(threads_of_a_library_block_asynchronous_signals),
        cmocka_unit_test(every_thread_has_an_identity),
        cmocka_unit_test(a_thread_cannot_join_itself_or_an_unknown_thread),
        cmocka_unit_test(thread_creation_without_function_or_tid_fails),
        cmocka_unit_test(creation_returns_when_the_thread_has_begun),
        cmocka_unit_test(thread_exit_in_a_thread_of_the_program_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
