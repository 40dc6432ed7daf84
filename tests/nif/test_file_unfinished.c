/* Tests files that tracers declare as unfinished, when the program ends. */
#include "host/base/base.h"
#include "plugin_api/nif_module.h"
#include "tests/support/assertions.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/unfinished.XXXXXX";

/* Runs END in a child process, which END ends. Returns whether the file still exists. */
static bool stays(void (*end)(void))
{
    int file, status;
    pid_t child;

    strcpy(path + sizeof path - 7, "XXXXXX");
    file = mkstemp(path);
    assert_order(file, >=, 0);
    close(file);
    child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        end();
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= TH_FAILED);
    return unlink(path) == 0;
}

static void exit_with_it(void)
{
    exit(!th_file_unfinished(path, 1));
}

static void give_up_with_it(void)
{
    th_file_unfinished(path, 1);
    th_give_up("out of memory");
}

static void exit_without_it(void)
{
    th_file_unfinished(path, 1);
    exit(!th_file_unfinished(path, 0));
}

/* One of two files; the other is complete. */
static void exit_with_another(void)
{
    th_file_unfinished(path, 1);
    th_file_unfinished("/tmp/unfinished.another", 1);
    th_file_unfinished(path, 0);
    exit(0);
}

static void exit_from_a_child(void)
{
    int status;

    th_file_unfinished(path, 1);
    if (fork() == 0)
        exit(0);
    wait(&status);
    _exit(status); /* the file is still unfinished, but a child must not remove it */
}

/* The program is already exiting, so the result is false and the file stays. */
static void begin_at_the_end(void)
{
    if (th_file_unfinished(path, 1))
        _exit(99);
}

static void exit_and_begin(void)
{
    atexit(begin_at_the_end); /* runs after the function that removes files */
    th_file_unfinished("/tmp/unfinished.another", 1);
    exit(0);
}

static void an_unfinished_file_is_removed_when_the_program_ends(void **state)
{
    (void)state;
    assert_false(stays(exit_with_it));
    assert_false(stays(give_up_with_it));
}

static void a_complete_file_is_kept_when_the_program_ends(void **state)
{
    (void)state;
    assert_true(stays(exit_without_it));
    assert_true(stays(exit_with_another));
}

static void a_child_process_removes_no_unfinished_file(void **state)
{
    (void)state;
    assert_true(stays(exit_from_a_child));
}

static void a_file_declared_during_exit_is_kept(void **state)
{
    (void)state;
    assert_true(stays(exit_and_begin));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unfinished_file_is_removed_when_the_program_ends),
        cmocka_unit_test(a_complete_file_is_kept_when_the_program_ends),
        cmocka_unit_test(a_child_process_removes_no_unfinished_file),
        cmocka_unit_test(a_file_declared_during_exit_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
