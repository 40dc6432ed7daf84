/* Tests what failed assertions print. */
#include "failing.h"

#include "tests/support/assertions.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHAIN "the thread's last error: cannot load x.so\n  no such file\n"

static char reported[1 << 14];
static int failures, places;

/* Runs the failing tests in a child, keeps their reports and counts CMocka's lines of places.
 * Thread: before CMocka runs in this process. */
static void run_failing_tests(void)
{
    FILE *file = tmpfile();
    char line[1024];
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(fileno(file), STDOUT_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        _exit(cmocka_run_group_tests(failing, NULL, NULL));
    }
    waitpid(child, &status, 0);
    failures = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    rewind(file);
    while (fgets(line, sizeof line, file) && strncmp(line, "[  PASSED", 9) != 0)
        if (line[0] == '[')
            places += strstr(line, "tests/build/failing.h:") != NULL;
        else
            strncat(reported, line, sizeof reported - strlen(reported) - 1);
    fclose(file);
}

static void each_failure_is_reported_at_its_source_line(void **state)
{
    (void)state;
    assert_int_equal(places, failures);
    assert_int_equal(failures, sizeof failing / sizeof *failing);
}

static void failed_assertions_print_both_values_in_words(void **state)
{
    (void)state;
    assert_string_equal(
        reported,
        "refuse(): expected TH_OK, got TH_REFUSED\n" CHAIN
        "three(): expected TH_END, got TH_MALFORMED\n" CHAIN
        "three(): expected RED | BLUE (5), got RED | GREEN (3)\n"
        "-three(): expected 17, got -3\n"
        "three(): expected 0, got 3\n"
        "(uint64_t)-1: expected 4 (ENOUGH + 1), got 18446744073709551615\n"
        "three(): expected another value than 3 (ENOUGH)\n"
        "three(): expected ENOENT, got ESRCH\n"
        "three(): expected SIGABRT, got SIGQUIT\n"
        "three(): expected > 3 (ENOUGH), got 3\n"
        "three(): expected 4 to 10, got 3\n"
        "three() == 4 || three() == 5: expected true\n" CHAIN
        "three(): expected false\n" CHAIN
        "NULL: expected &errno, got NULL\n"
        "state: expected NULL\n" CHAIN
        "\"one\\ttwo\": expected \"one\", got \"one\ttwo\"\n"
        "text: expected\n"
        "one\n"
        "2\n"
        "three\n"
        "--- got\n"
        "one\n"
        "two\n"
        "three\n"
        "--- the first different line is line 2\n"
        "term: from byte 3 of 4: expected \"\\012\", got \"\\000\"\n"
        "TH_AM(true): expected no term, got true\n"
        "th_make_tuple(&env, (th_term[]){TH_AM(ok), th_small(7)}, 2): expected [], got {ok,7}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_is_reported_at_its_source_line),
        cmocka_unit_test(failed_assertions_print_both_values_in_words),
    };

    run_failing_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
